"""drop_invariant_carries: loop-invariant carries. A carry that no iteration changes is its initial value."""
from typing import Any

from ..ir.graph import Equation, Func, Literal, Var, is_branch, is_loop
from ..ir.uses import defined_by
from ..ir.views import BranchView, LoopView
from .rewrite import Scope, rewrite


def drop_invariant_carries(func: Func) -> Func:
    """A carry that no iteration changes gives way to its first value, in the loop and behind it.

    A result gives way to a value of the surroundings that all branches return for it.

        g2, s2 = for i, (g, s) = (1.0, 0.0): yield g, s + g * x[i]   ->   s2 = for i, s = 0.0: yield s + 1.0 * x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> Any:
    if is_branch(eqn):
        _same_in_all(BranchView(eqn), scope)
    if not is_loop(eqn):
        return None
    loop = LoopView(eqn)
    init = loop.init
    same = [k for k, carry in enumerate(loop.carries) if loop.next[k] is carry and _stands_for(init[k], carry)]
    if not same:
        return None
    scope.replaced.update({loop.results[k]: init[k] for k in same})
    regions = [_given(r, {loop.carries_of(r)[k]: init[k] for k in same}, scope) for r in eqn.regions]
    return eqn.replace(regions=tuple(regions))


def _same_in_all(branch: BranchView, scope: Scope) -> None:
    inside = {v for region in branch.branches for v in defined_by(region.equations)}
    for out in branch.results:
        a, *others = branch.yielded(out)
        if isinstance(a, Var) and a not in inside and all(b is a for b in others) and _stands_for(a, out):
            scope.replaced[out] = a


def _stands_for(a: Any, v: Var) -> bool:
    """Whether an atom may stand for a variable: they are of one type, extents and weakness included."""
    return (isinstance(a, (Var, Literal))
            and (a.type.dtype, a.type.shape, a.type.weak) == (v.type.dtype, v.type.shape, v.type.weak))


def _given(region: Func, values: dict, scope: Scope) -> Func:
    """The region with values for some of its inputs, which it no longer reads."""
    inner = Scope(scope)
    inner.replaced.update(values)
    return rewrite(region, lambda eqn, scope: None, inner)
