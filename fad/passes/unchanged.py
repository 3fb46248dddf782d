"""unchanged: loop-invariant carries. A carry that no iteration changes is its initial value."""
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var
from .rewrite import Scope, rewrite


def unchanged(func: Func) -> Func:
    """A carry that no iteration changes gives way to its first value, in the loop and behind it.

    A result gives way to a value of the surroundings that all branches return for it.

        g2, s2 = for i, (g, s) = (1.0, 0.0): yield g, s + g * x[i]   ->   s2 = for i, s = 0.0: yield s + 1.0 * x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if eqn.op.name == "cond":
        _same_in_all(eqn, scope)
    if eqn.op.name not in ("for", "while"):
        return None
    count, body = len(eqn.outputs), eqn.regions[-1]
    init, carries = eqn.inputs[len(eqn.inputs) - count:], body.inputs[len(body.inputs) - count:]
    same = [k for k in range(count) if body.outputs[k] is carries[k] and _stands_for(init[k], carries[k])]
    if not same:
        return None
    regions = tuple([_given(r, {r.inputs[len(r.inputs) - count + k]: init[k] for k in same}, scope) for r in eqn.regions])
    scope.replaced.update({eqn.outputs[k]: init[k] for k in same})
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, regions, eqn.where)


def _same_in_all(cond: Equation, scope: Scope) -> None:
    inside = {v for region in cond.regions for e in region.equations for v in e.outputs}
    for k, out in enumerate(cond.outputs):
        a = cond.regions[0].outputs[k]
        if isinstance(a, Var) and a not in inside and all(r.outputs[k] is a for r in cond.regions) and _stands_for(a, out):
            scope.replaced[out] = a


def _stands_for(a: Any, v: Var) -> bool:
    """Whether an atom may stand for a variable: they are of one type, extents and weakness included."""
    return isinstance(a, (Var, Literal)) and (a.type.dtype, a.type.shape, a.type.weak) == (v.type.dtype, v.type.shape, v.type.weak)


def _given(region: Func, values: dict, scope: Scope) -> Func:
    """The region with values for some of its inputs, which it no longer reads."""
    inner = Scope(scope)
    inner.replaced.update(values)
    return rewrite(region, lambda eqn, scope: None, inner)
