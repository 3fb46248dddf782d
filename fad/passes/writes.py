"""The arrays that an equation would write to in place."""
from ..ir.graph import Equation, Var, free_vars, is_loop
from ..ir.views import LoopView


def written(eqn: Equation) -> set:
    """The outside arrays that an equation writes to, if writing to them is allowed. A loop writes to its carries."""
    if eqn.op.traits.in_place:
        return {a for a in eqn.inputs[:1] if isinstance(a, Var)}
    if is_loop(eqn):
        return {a for a in LoopView(eqn).init if isinstance(a, Var) and a.type.shape}
    inside = {a for region in eqn.regions for e in region.equations for a in written(e)}
    return {v for region in eqn.regions for v in free_vars(region) if v in inside}
