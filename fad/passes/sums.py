"""Sums of loops: carries to which the turns only add, so that their order is nobody's business."""
from collections import Counter

from ..ir.graph import Equation, Func, Var, free_vars


class Sums:
    """What a loop's body only adds to."""

    def __init__(self, region: Func):
        self.region = region
        self.inside = {*region.inputs, *(v for e in region.equations for v in e.outputs)}
        self.uses = Counter(a for e in region.equations for a in _used(e)) + Counter(a for a in region.outputs if isinstance(a, Var))
        self.adders = {a: e for e in region.equations for a in _states(e)}

    def chain(self, k: int) -> "list | None":
        """The additions that make of the k-th carry what is handed on; None where anything else happens to it, or depends on it."""
        state, found = self.region.inputs[1 + k], []
        while self.uses[state] == 1 and state in self.adders:
            found.append(self.adders[state])
            state = found[-1].outputs[0]
        return found if state is self.region.outputs[k] and self.uses[state] == 1 else None


def _states(eqn: Equation) -> tuple:
    """The operands that an equation adds something to."""
    if eqn.op.name not in ("add", "index_add"):
        return ()
    places = eqn.inputs[:2] if eqn.op.name == "add" else eqn.inputs[:1]
    return tuple([a for a in places if isinstance(a, Var) and a.type.shape == eqn.outputs[0].type.shape and a.type.dtype == eqn.outputs[0].type.dtype])


def _used(eqn: Equation) -> list:
    return [a for a in eqn.inputs if isinstance(a, Var)] + [v for region in eqn.regions for v in free_vars(region)]
