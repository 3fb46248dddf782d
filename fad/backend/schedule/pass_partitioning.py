"""Pass partitioning: the steps of a function in as few passes over its long axis as its dependences allow.

A step over the long axis belongs to the first pass in which all that it reads is known. It may follow another step in
the same pass if both touch a part of their own in each iteration; if it reads a sum over the axis, it waits for the
next pass. Every other step goes in front of the first pass that does not wait for it. So a value that does not depend
on the points (a log-determinant) moves before them. A reverse sweep, whose seed does not depend on the sum it is the
derivative of, follows its forward sweep in the same pass.

Ranks along the dependences, in program order: each step looks at the earlier accesses to its arrays. This is typed
fusion for one type (K. Kennedy, K. McKinley, "Maximizing loop parallelism and improving data locality via loop fusion
and distribution", 1993).
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from .conflicts import Access, Touched, apart
from .indexmap import Axis
from .loop_ir import Step
from .privatisation import with_private_arrays
from .simd_blocking import is_long, points_in, runs_in_lanes, worth_it
from .views import Views

_EFFECTS = ("call", "control", "check")


class Phase(NamedTuple):
    """Steps that run in blocks over one axis, or (axis None) as they stand."""

    axis: "Axis | None"
    steps: list


def phases(steps: list, accesses: Callable, views: Views) -> list[Phase]:
    """The phases of a function's steps."""
    extent = _long_extent(steps)
    if extent is None:
        return [Phase(None, steps)]
    original, steps = steps, with_private_arrays(steps, extent, accesses, views)
    found: dict[int, list] = {}
    for step, rank in zip(steps, _ranks(steps, extent, accesses)):
        found.setdefault(rank, []).append(step)
    passes = {rank: _in_one_loop(found[rank], extent) for rank in found if rank % 2}
    if not any(_is_worth_it(p) for p in passes.values()):
        return [Phase(None, original)]
    return _joined([passes[rank] if rank in passes and _is_worth_it(passes[rank]) else Phase(None, found[rank])
                    for rank in sorted(found)])


def _is_worth_it(phase: Phase) -> bool:
    return phase.axis is not None and worth_it(phase.axis, phase.steps)


def _long_extent(steps: list) -> Any:
    """The extent of the long axis: that over which most is done."""
    work: dict[Any, int] = {}
    for step in steps:
        for axis in step.axes:
            if is_long(axis) and runs_in_lanes(step, axis):
                work[axis.extent] = work.get(axis.extent, 0) + points_in(step)
    return max(work, key=lambda extent: work[extent], default=None)


def _long_axis(step: Step, extent: object) -> "Axis | None":
    """The step's axis of this extent, if it may run in blocks along it."""
    found = [a for a in step.axes if a.extent == extent]
    return found[0] if len(found) == 1 and runs_in_lanes(step, found[0]) else None


def _ranks(steps: list, extent: object, accesses: Callable) -> list[int]:
    """The phase of each step: odd for passes over the long axis, even for what stands between them; effects keep their
    order.
    """
    ranks: list[int] = []
    touched = Touched()                                      # by steps of a rank and a long axis
    floor = effects = 0
    for step in steps:
        axis, found = _long_axis(step, extent), accesses(step)
        rank = max(
            [_after(who, place, axis, access) for access in found for who, place in touched.before(access)], default=0
        )
        rank = max(rank, floor, effects if step.kind in _EFFECTS else 0)
        rank += (rank % 2 == 0) == (axis is not None)
        effects = rank if step.kind in _EFFECTS else effects
        floor = rank if step.kind == "check" else floor      # nothing runs before its check
        for access in found:
            touched.add((rank, axis), access)
        ranks.append(rank)
    return ranks


def _after(who: tuple, place: object, axis: "Axis | None", access: Access) -> int:
    """The least rank for an access, given one that it must stay behind: of a step's rank and long axis, and a place."""
    rank, before = who
    return rank if axis is None or before is None or apart(place, access.place, axis, before) else rank + 1


def _in_one_loop(steps: list, extent: object) -> Phase:
    """The steps in terms of one axis."""
    axes = [_long_axis(s, extent) for s in steps]
    return Phase(axes[0], [s.joined(a, axes[0]) for s, a in zip(steps, axes) if a is not None and axes[0] is not None])


def _joined(found: list[Phase]) -> list[Phase]:
    """Phases that do not run in blocks, one behind the other, are one."""
    joined: list[Phase] = []
    for phase in found:
        if joined and phase.axis is None and joined[-1].axis is None:
            joined[-1] = Phase(None, joined[-1].steps + phase.steps)
        else:
            joined.append(phase)
    return joined
