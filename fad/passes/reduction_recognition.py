"""Reduction recognition: carries of a loop that the iterations only add to, so that their order does not matter.

`is_summed` answers for numbers. `Sums` answers for arrays, where an iteration may add to a part.
"""

from ..ir.graph import Equation, Func, Var, free_vars, is_branch, is_counted
from ..ir.uses import DefUse, defined_in, operands
from ..ir.views import BranchView, LoopView


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


def is_summed(region: Func, start: Var, end: Var, within: bool = True) -> bool:
    """Whether `end` is `start` with something added to it that does not depend on it, and nothing else reads `start`.

    within: whether loops and branches of the region may add to it, too
    """
    partial = _partial_sums(region, {start})
    if partial is None or end not in partial:
        return False
    if not within and any(e.regions and not partial.isdisjoint(operands(e)) for e in region.equations):
        return False
    return sum(a in partial for a in region.outputs) == 1


def _partial_sums(region: Func, sums: set) -> "set | None":
    """The variables of a region that are these sums with more terms; None if they are read for anything else."""
    found = set(sums)
    for eqn in region.equations:
        if not found.isdisjoint(operands(eqn)) and not _adds(eqn, found):
            return None
    return found


def _adds(eqn: Equation, sums: set) -> bool:
    """Whether an equation only adds to a partial sum. Its result is one then."""
    if is_counted(eqn):
        return _adds_in_loop(LoopView(eqn), sums)
    if is_branch(eqn):
        return _adds_in_branches(BranchView(eqn), sums)
    places = [k for k, a in enumerate(eqn.inputs) if a in sums]
    if eqn.op.name not in ("add", "sub") or len(places) != 1 or (eqn.op.name == "sub" and places != [0]):
        return False
    sums.update(eqn.outputs)
    return True


def _adds_in_loop(loop: LoopView, sums: set) -> bool:
    if any(a in sums for a in loop.bounds) or not sums.isdisjoint(free_vars(loop.body)):
        return False
    for k, a in enumerate(loop.init):
        if a in sums:
            if not is_summed(loop.body, loop.carries[k], loop.next[k]):
                return False
            sums.add(loop.results[k])
    return True


def _adds_in_branches(branch: BranchView, sums: set) -> bool:
    if branch.selector in sums:
        return False
    found = [_partial_sums(region, sums) for region in branch.branches]
    for out in branch.results:
        are_sums = {partial is not None and a in partial for partial, a in zip(found, branch.yielded(out))}
        if len(are_sums) > 1:
            return False
        if are_sums == {True}:
            sums.add(out)
    return None not in found
