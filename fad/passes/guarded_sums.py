"""guard_sums: sums over lanes are computed without guards, and again with them if the sum is no number.

A cotangent of 0.0 times a factor that is infinite or no number is 0.0. The test of each product costs a third of the
time of a loop. Without it such a product is no number, nor is the sum, so one test of the sum shows that there is one.
"""
from collections import Counter

from ..ir.graph import Equation, Func, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.uses import use_counts
from .rewrite import Scope, rewrite

LEAST, MOST = 32, 1024                                       # lanes: fewer cost less than the test of their sum


def guard_sums(func: Func) -> Func:
    """The Func with a test of each sum in place of tests of its terms.

        t = guarded_mul(g, x); s = sum(t)   ->   t = mul(g, x); s = sum(t); s = cond(s == s, with guards, s)
    """
    uses = use_counts(func)
    return rewrite(func, lambda eqn, scope: _tested(eqn, scope, uses) if eqn.op.name == "sum" else None)


def _tested(total: Equation, scope: Scope, uses: Counter) -> "list | None":
    terms, out = total.inputs[0], total.outputs[0].type
    made = scope.made_for_one(terms, uses)
    if made is None or made.op.name != "guarded_mul" or out.shape or out.dtype.kind != "f":
        return None
    if not _are_lanes(made) or len(terms.type.shape) != 1:
        return None
    products = scope.emit(registry["mul"], made.inputs, terms.type, {}, made.where)
    plain = scope.emit(total.op, (products,), out, total.params, total.where)
    is_number = scope.emit(registry["equal"], (plain, plain), Type(bool, ()), {}, total.where)
    product, again = Var(terms.type), Var(out)
    guarded = Func("guarded", (), [made.replace(outputs=(product,)),
                                   total.replace(inputs=(product,), outputs=(again,))], (again,))
    cond = Equation(registry["cond"], (is_number,), (Var(out),), {"names": ("",), "extents": ()},
                    (guarded, Func("plain", (), [], (plain,))), total.where)
    scope.add(cond)
    return list(cond.outputs)


def _are_lanes(made: Equation) -> bool:
    """Whether the operands are arrays of so many elements as a block has points."""
    shapes = [x.type.shape for x in made.inputs]
    return all(len(s) == 1 and isinstance(s[0], int) and LEAST <= s[0] <= MOST for s in shapes)
