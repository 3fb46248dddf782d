"""Reduction recognition: carries of a loop that the iterations only add to, so that their order does not matter."""
from collections import Counter

from ..ir.graph import Equation, Func, Var, free_vars


class Sums:
    """The carries that a loop's body only adds to, and the body's other uses of parts of arrays."""

    def __init__(self, region: Func):
        self.region = region
        self.inside = {*region.inputs, *(v for e in region.equations for v in e.outputs)}
        self.handed_on = Counter(a for a in region.outputs if isinstance(a, Var))
        self.users: dict[Var, list] = {}
        for eqn in region.equations:
            for a in _used(eqn):
                self.users.setdefault(a, []).append(eqn)

    def chain(self, k: int) -> "list | None":
        """The additions that make the next value of the k-th carry; None if anything else happens to it, or depends on
        it.
        """
        steps = self.steps(k)
        return steps if steps is not None and all(map(is_addition, steps)) else None

    def steps(self, k: int) -> "list | None":
        """The additions to the k-th carry, and the reads and writes of its parts, in an iteration; None if anything
        else happens to it.
        """
        state, found = self.region.inputs[1 + k], []
        while not (self.handed_on[state] and state is self.region.outputs[k]):
            users = self.users.get(state, ())
            makers = [e for e in users if not _reads(e, state)]
            if len(makers) != 1 or self.handed_on[state] or not (state in _states(makers[0]) or _writes(makers[0], state)):
                return None
            found += users
            state = makers[0].outputs[0]
        users = self.users.get(state, ())
        return found + [*users] if self.handed_on[state] == 1 and all(_reads(e, state) for e in users) else None


def is_addition(eqn: Equation) -> bool:
    return eqn.op.name in ("add", "index_add")


def _reads(eqn: Equation, state: Var) -> bool:
    """Whether an equation reads a part of an array, and does nothing else with it."""
    return eqn.op.name == "index" and eqn.inputs[0] is state


def _writes(eqn: Equation, state: Var) -> bool:
    return eqn.op.name == "update" and eqn.inputs[0] is state


def _states(eqn: Equation) -> tuple:
    """The operands that an equation adds something to."""
    if not is_addition(eqn):
        return ()
    places = eqn.inputs[:2] if eqn.op.name == "add" else eqn.inputs[:1]
    return tuple([a for a in places if isinstance(a, Var) and a.type.shape == eqn.outputs[0].type.shape and a.type.dtype == eqn.outputs[0].type.dtype])


def _used(eqn: Equation) -> list:
    return [a for a in eqn.inputs if isinstance(a, Var)] + [v for region in eqn.regions for v in free_vars(region)]
