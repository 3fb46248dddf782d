"""Array privatisation: an array that starts as one number and is touched point by point is filled in the pass over the
points.

    g = zeros((n, 3))                             for block of points:
    for block of points:                  ->          g[:, lanes] = 0
        g[lanes, 0] += ...                            g[0, lanes] += ...
        h[lanes] = g[lanes, 0] * g[lanes, 1]          h[lanes] = g[0, lanes] * g[1, lanes]

Then the array is one of the block: it holds no more than the block's points, which are neighbours in it, and what is
returned is stored at the block's end. In memory of its own size, each addition to a column goes through all of it. (P.
Tu, D. Padua, "Automatic array privatization", 1993.)
"""
from collections.abc import Callable
from typing import Any

from ...ir.graph import Var
from .indexmap import Axis, Elem, at
from .loop_ir import Step
from .simd_blocking import runs_in_lanes
from .views import Views, is_one


def with_private_arrays(steps: list, extent: object, accesses: Callable, views: Views) -> list:
    """The steps, in which arrays that every step touches at points of the long extent are filled point by point."""
    fills = {step.out: step for step in steps if step.kind == "fill" and _has_points(step, extent, views)}
    if not fills:
        return steps
    shared = {access.root for step in steps if step.kind != "fill" for access in accesses(step)
              if access.root in fills and not _is_at_points(step, access.place, extent)}
    private = {root for root in fills if root not in shared}
    return [_filled_by_points(step, views) if step.kind == "fill" and step.out in private else step for step in steps]


def _has_points(step: Step, extent: Any, views: Views) -> bool:
    """Whether the step fills an array of a few numbers a point with one number."""
    numbers = bool(step.args) and not (isinstance(step.args[0], Elem) and step.args[0].at)
    return numbers and isinstance(step.out, Var) and [views.number(n) for n in step.out.type.shape].count(extent) == 1 \
        and len(step.out.type.shape) > 1


def _is_at_points(step: Step, place: Any, extent: object) -> bool:
    """Whether the step runs over the points and touches the array at its own."""
    found = [a for a in step.axes if a.extent == extent]
    return (
        len(found) == 1
        and place is not None
        and runs_in_lanes(step, found[0])
        and any(i == at(found[0]) for i in place)
    )


def _filled_by_points(step: Step, views: Views) -> Step:
    place, axes = [], []
    for n in step.out.type.shape:
        axes += [] if is_one(n) else [Axis(views.number(n))]
        place.append(at(0) if is_one(n) else at(axes[-1]))
    new = Step("map", None, step.out, axes=tuple(axes), target=tuple(place), args=step.args)
    new.order = step.order
    return new
