"""The undo log: a loop saves what it overwrites, and the reverse sweep restores its arrays.

    forward     log = y[k]; y[k] = v            reverse     ... y[k] = log

A sweep may keep the overwritten elements in place of its reads: one element where an iteration reads a hundred. The
reverse sweep starts from the final array and puts the old values back, write by write, last to first, so every read
finds the array as it was (Griewank & Walther, Evaluating Derivatives, SIAM 2008, section 4.2). The cut chooses between
the two (save_or_recompute.py).

A trail is the sequence of an array's versions in a region, if each step can be undone: writes to parts, and loops and
branches of such writes. The old value undoes additions, too; a subtraction would not give it back exactly.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.build import Builder, current
from ..ir.graph import Equation, Func, Var, is_branch, is_loop
from ..ir.uses import DefUse
from ..ir.views import LoopView
from ..ops.index import index, update
from .cost_model import bytes_written, iterations_guess
from .memory_budget import allowance
from .sweeps import ReverseSweep


class Trail(NamedTuple):
    """The versions of an array in a region, each made from the one before.

    versions    what it is at first (which the region does not make), in between, and at last
    cost        of a log of what is overwritten, in bytes
    """

    versions: tuple
    cost: int


def trail_to(region: Func, end: Var, active: set) -> "Trail | None":
    """The trail of the array that is `end` at last, None where something on it cannot be undone."""
    chains = DefUse.of(region)
    versions, cost = [end], 0
    while (eqn := chains.definition(versions[-1])) is not None:
        step = _step_back(eqn, versions[-1], active)
        if step is None:
            return None
        versions.append(step[0])
        cost += step[1]
    return Trail(tuple(versions[::-1]), cost) if isinstance(versions[-1], Var) else None


def carried_trails(loop: LoopView, active: set) -> dict:
    """{number of a carry: its trail}, of the arrays that an iteration of a loop changes and hands on."""
    found = {}
    for k, (carry, end) in enumerate(zip(loop.carries, loop.next)):
        if carry.type.shape and end is not carry and not any(n in loop.body.inputs for n in carry.type.shape):
            trail = trail_to(loop.body, end, active)
            if trail is not None and trail.versions[0] is carry:
                found[k] = trail
    return found


def _step_back(eqn: Equation, v: Var, active: set) -> "tuple | None":
    """The array before this equation made v of it, and the cost of logging the overwritten values."""
    if eqn.writes_part:
        return eqn.inputs[0], bytes_written(eqn)
    if (is_loop(eqn) or is_branch(eqn)) and not active.isdisjoint(eqn.outputs):
        k = eqn.outputs.index(v)
        return _out_of_branches(eqn, k, active) if is_branch(eqn) else _out_of_loop(eqn, k, active)
    return None


def _out_of_loop(eqn: Equation, k: int, active: set) -> "tuple | None":
    """Loops that may run in segments have no log that lasts."""
    if eqn.params.get("checkpoint") or allowance() is not None:
        return None
    loop = LoopView(eqn)
    trail = carried_trails(loop, active).get(k)
    return trail and (loop.init[k], trail.cost * iterations_guess(eqn))


def _out_of_branches(eqn: Equation, k: int, active: set) -> "tuple | None":
    trails = [trail_to(region, region.outputs[k], active) for region in eqn.regions]
    starts = {None if trail is None else trail.versions[0] for trail in trails}
    start = starts.pop()
    return None if starts or start is None else (start, max(trail.cost for trail in trails if trail))


# -- while a region is being differentiated --------------------------------------------------------


class Notes:
    """The trails of a joint program.

    restored    {version: (the next version, what the version is had again as)}
    logged      old values that are there to be put back
    costs       {version: what the log of its trail costs in an iteration, in bytes}
    kept        {what a branch saves: the versions that it is one of}
    """

    def __init__(self) -> None:
        self.restored: dict[Var, tuple] = {}
        self.logged: set[Var] = set()
        self.costs: dict[Var, int] = {}
        self.kept: dict[Var, set] = {}

    def restore(self, earlier: Any, later: Any, again: Any) -> None:
        if later.atom is not earlier.atom:
            self.restored[earlier.atom] = (later.atom, again.atom)


def cost_around(v: Var, builder: Builder) -> "int | None":
    """The cost of logging the trail of v, in an iteration of a loop around; None if v is on no trail."""
    around: Builder | None = builder.parent
    while around is not None:
        notes = around.notes
        if notes is not None and v in notes.costs:
            return notes.costs[v]
        around = around.parent
    return None


def log_write(sweep: ReverseSweep, eqn: Equation) -> Callable:
    """Keep the values that a write overwrites; return the function that puts them back in the reverse sweep."""
    notes, chosen = current().notes, {"spec": eqn.params["spec"], "at": eqn.params["at"]}
    earlier, *operands = [sweep.env.read(a) for a in (eqn.inputs[0], *eqn.inputs[2:])]
    old = index(earlier, *operands, **chosen)
    notes.logged.add(old.atom)

    def put_back() -> None:
        later = sweep.env.read(eqn.outputs[0])
        notes.restore(earlier, later, update(later, old, *operands, **chosen))
    return put_back


class History(NamedTuple):
    """An array of a joint program whose every version can be restored.

    versions    in order of time
    again       {version: the variable that holds it in the reverse half}
    state       the input of the joint program that holds the last version in the reverse half
    """

    versions: tuple
    again: dict
    state: Any

    @property
    def first(self) -> Var:
        """The restored first version."""
        return self.again[self.versions[0]]


def history_of(notes: Notes, start: Var, end: Var, state: Any) -> "History | None":
    """The history from start to end, None where a step was not logged."""
    versions, again = [start], {}
    while versions[-1] is not end:
        step = notes.restored.get(versions[-1])
        if step is None:
            return None
        again[versions[-1]] = step[1]
        versions.append(step[0])
    again[end] = state.atom
    return History(tuple(versions), again, state)
