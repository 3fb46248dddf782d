"""drop_invariant_carries: loop-invariant carries. A carry that no iteration changes is its initial value."""

from ..ir.graph import Equation, Func, Var, is_branch, is_loop
from ..ir.views import BranchView, LoopView
from .rewrite import Scope, given, rewrite, stands_for


def drop_invariant_carries(func: Func) -> Func:
    """A carry that no iteration changes gives way to its first value, in the loop and behind it.

    A result gives way to a value of the surroundings that all branches return for it, or all that define it.

        g2, s2 = for i, (g, s) = (1.0, 0.0): yield g, s + g * x[i]   ->   s2 = for i, s = 0.0: yield s + 1.0 * x[i]
    """
    return rewrite(func, _visit)


def _visit(eqn: Equation, scope: Scope) -> "Equation | None":
    if is_branch(eqn):
        _same_in_all(BranchView(eqn), scope)
    if not is_loop(eqn):
        return None
    loop = LoopView(eqn)
    init = loop.init
    same = [k for k, carry in enumerate(loop.carries) if loop.next[k] is carry and stands_for(init[k], carry)]
    if not same:
        return None
    scope.replaced.update({loop.results[k]: init[k] for k in same})
    regions = [given(r, {loop.carries_of(r)[k]: init[k] for k in same}, scope) for r in eqn.regions]
    return eqn.replace(regions=tuple(regions))


def _same_in_all(branch: BranchView, scope: Scope) -> None:
    inside = {v: eqn for region in branch.branches for eqn in region.equations for v in eqn.outputs}
    for out in branch.results:
        found = {a for a in branch.yielded(out) if a not in inside or inside[a].op.name != "undefined"}
        a = found.pop() if len(found) == 1 else None
        if isinstance(a, Var) and a not in inside and stands_for(a, out):
            scope.replaced[out] = a
