"""reverse_loops: loop reversal. A loop that runs backward, whose iterations do not wait for each other, runs forward,
so that memory is read in order.

LLVM fills vectors from ascending accesses; of those under a condition, only from ascending ones. One walk over the
program.
"""
from ..ir.graph import Atom, Equation, Func, Literal, has_effect, has_loop, is_counted
from ..ir.op import registry
from ..ir.types import INT, Type
from ..ir.views import LoopView
from .coverage import Accesses
from .reduction_recognition import Sums, is_summed
from .rewrite import Scope, rewrite


def reverse_loops(func: Func) -> Func:
    """An innermost loop of step -1 that checks nothing runs the other way, if iterations only add to what they carry,
    or each has elements of its own.

        for i in range(n - 1, -1, -1): g[i] += x[i]   ->   for i in range(n): g[i] += x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> "Equation | None":
    loop = LoopView(eqn) if is_counted(eqn) else None
    if loop is None or loop.step != -1 or any(has_loop(e) or has_effect(e) for e in loop.body.equations):
        return None
    sums = Sums(loop.body)
    if not all(sums.chain(k) is not None or _is_apart(loop, k) for k in range(len(loop.results))):
        return None
    start, stop, step = loop.bounds
    return loop.replace(bounds=(_next(stop, eqn, scope), _next(start, eqn, scope), Literal(1, step.type)))


def _is_apart(loop: LoopView, k: int) -> bool:
    """Whether iterations do not read what others leave of a carry: it is a sum, or each iteration touches rows or
    elements of its own, on some axis of the array.
    """
    carry = loop.carries[k]
    if not carry.type.shape:
        return carry.type.dtype.kind in "fc" and is_summed(loop.body, carry, loop.next[k])
    accesses = Accesses(loop.body, carry)
    return loop.next[k] in accesses.versions and any(
        accesses.all_at({axis: loop.index}) for axis in range(carry.type.rank))


def _next(n: Atom, loop: Equation, scope: Scope) -> Atom:
    """n + 1"""
    number = Type(INT, (), True)
    if isinstance(n, Literal):
        return Literal(n.value + 1, number)
    made = scope.producer(n)
    if made is not None and made.op.name == "sub" and isinstance(made.inputs[1], Literal) and made.inputs[1].value == 1:
        return made.inputs[0]
    return scope.emit(registry["add"], (n, Literal(1, number)), number, {}, loop.where)
