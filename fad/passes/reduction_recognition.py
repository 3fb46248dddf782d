"""Reduction recognition: carries of a loop that the iterations only add to, so that their order does not matter."""
from ..ir.graph import Equation, Func, Var
from ..ir.uses import DefUse, defined_in


class Sums:
    """The carries that a loop's body only adds to, and the body's other uses of parts of arrays."""

    def __init__(self, region: Func):
        self.region, self.chains, self.inside = region, DefUse.of(region), defined_in(region)

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
        state, found, outputs = self.region.inputs[1 + k], [], self.region.outputs
        while state is not outputs[k]:
            users = self.chains.users(state)
            makers = [e for e in users if not _reads(e, state)]
            if len(makers) != 1 or state in outputs or not (state in _states(makers[0]) or _writes(makers[0], state)):
                return None
            found += users
            state = makers[0].outputs[0]
        users = self.chains.users(state)
        return found + users if outputs.count(state) == 1 and all(_reads(e, state) for e in users) else None


def is_addition(eqn: Equation) -> bool:
    return eqn.adds_part or eqn.op.name == "add"


def _reads(eqn: Equation, state: Var) -> bool:
    """Whether an equation reads a part of an array, and does nothing else with it."""
    return eqn.reads_part and eqn.inputs[0] is state


def _writes(eqn: Equation, state: Var) -> bool:
    return eqn.replaces_part and eqn.inputs[0] is state


def _states(eqn: Equation) -> tuple:
    """The operands that an equation adds something to."""
    if not is_addition(eqn):
        return ()
    places = eqn.inputs[:1] if eqn.adds_part else eqn.inputs[:2]
    return tuple([a for a in places if isinstance(a, Var) and a.type.shape == eqn.outputs[0].type.shape
                  and a.type.dtype == eqn.outputs[0].type.dtype])
