"""drop_dead_initialisation: dead initialisation. A loop that adds to the elements of a vector of zeros, one by one,
needs no zeros."""

from ..ir.graph import Equation, Func, Literal, Var, is_counted
from ..ir.op import registry
from ..ir.types import Type
from ..ir.views import LoopView
from .reduction_recognition import Sums
from .rewrite import Scope, as_extent, rewrite
from .zeros import adds_nothing, filling, is_number


def drop_dead_initialisation(func: Func) -> Func:
    """If every iteration of a loop over a whole vector of zeros adds to its own element, the first addition becomes an
    assignment.

        g = full(0.0, n); for i in range(n): g[i] += x[i]   ->   g = unwritten(n); for i in range(n): g[i] = x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> "Equation | None":
    loop = LoopView(eqn) if is_counted(eqn) else None
    if loop is None or loop.step != 1 or not isinstance(loop.bounds[0], Literal) or loop.bounds[0].value != 0:
        return None
    sums, init, first = Sums(loop.body), list(loop.init), {}
    for k, (a, out) in enumerate(zip(loop.init, loop.results)):
        adds = sums.chain(k)
        if adds and _covers(loop, out, adds) and is_number(filling(a, scope.producer), 0):
            extent, params = loop.bounds[1], {"dtype": out.type.dtype}
            init[k] = scope.emit(registry["unwritten"], (extent,), out.type, params, eqn.where)
            first[adds[0]] = assigned(adds[0], filling(a, scope.producer))
    if not first:
        return None
    body = loop.body.replace(equations=[new for e in loop.body.equations for new in first.get(e, (e,))])
    return loop.replace(init=tuple(init), body=body)


def assigned(add: Equation, zero: Literal) -> tuple:
    """The assignment in place of an addition to a zero; where that zero is a number, -0.0 becomes 0.0 as before."""
    x, v, *place = add.inputs
    if adds_nothing(zero, x):
        return (add.replace(op=registry["update"]),)
    total = Var(Type(x.type.dtype, v.type.shape))
    return (Equation(registry["add"], (v, Literal(x.type.dtype.type(0), Type(x.type.dtype))), (total,), {}, (),
                     add.where),
            add.replace(op=registry["update"], inputs=(x, total, *place)))


def _covers(loop: LoopView, out: Var, adds: list) -> bool:
    """Whether the loop has one iteration for each element of the vector, and each iteration adds to its own element
    only.
    """
    if out.type.shape != (as_extent(loop.bounds[1]),):
        return False
    own = all(e.adds_part and e.inputs[2:] == (loop.index,) and e.params["spec"] == ("i",) for e in adds)
    return own and all(e.inputs[1].type.dtype == out.type.dtype for e in adds)
