"""Loop reversal: an innermost loop that writes an array from its end to its beginning runs the other way.

Processors load and store vectors in ascending order, and each access in descending order costs a shuffle. An element
that is added to is loaded and stored, its addend is loaded once; so the loop had better ascend where it writes. The
iterations of such a loop do not depend on each other, and the order of sums is free (kernels/sums.py).
"""

from .array_contraction import is_stored
from .conflicts import READ
from .fuse import Scheduler
from .indexmap import Axis, Index
from .loop_ir import Loop


def ascending(loop: Loop, scheduler: Scheduler, homes: dict) -> Loop:
    """A loop over steps alone, in the direction in which it writes."""
    stored = [s for s in loop.nodes if s.target and is_stored(scheduler.storage.root(s.out), homes)]
    directions = {_direction(s.target, loop.axis) for s in stored}
    if -1 not in directions or 1 in directions or _reads_what_it_writes(loop, scheduler):
        return loop
    from_the_end = loop.axis.extent.shifted(-1) - Index.of(loop.axis)
    return Loop(loop.axis, [s.substitute({loop.axis: from_the_end}) for s in loop.nodes])


def _direction(place: tuple, axis: Axis) -> int:
    """1 if the place moves on with the axis, -1 if it moves back, 0 if it stays or that is unknown."""
    found = [c for c in [i.coefficient(axis) for i in place] if c]
    return (found[0] > 0) - (found[0] < 0) if len(found) == 1 else 0


def _reads_what_it_writes(loop: Loop, scheduler: Scheduler) -> bool:
    """Whether an iteration touches what another one writes."""
    touched = [a for s in loop.nodes for a in scheduler.accesses(s)]
    written = {a.root: a.place for a in touched if a.mode != READ}
    return any(a.root in written and a.place != written[a.root] for a in touched)
