"""SIMD blocking of the long independent axis: a nest over many points runs block by block (strip mining, interchange).

    for p in points:                     for block of points:
        for j: s += x[p, j] * w[j]  ->       for j:
        y[p] = tanh(s)                           for lane: s[lane] += x[j, lane] * w[j]
                                             for lane: y[lane] = tanh(s[lane])

The points of a block are the innermost axis of every step. A point's register becomes a row of the block, and vector
instructions compute many points at a time. The order of independent iterations changes and nothing else, so every nest
qualifies whose iterations touch parts of their own or only add up.
"""
import math
from typing import Any

from ...ir.graph import Var
from ...ir.types import INT, Type
from .buffer_reuse import ArrayOwners
from .conflicts import accesses
from .indexmap import Axis, Elem, Index, at, substitute
from .loop_ir import Loop, Step
from .views import Views

LANES = 128  # points in a block: rows of it should stay in the first cache, all of it in the second
# the extents of small axes, of the one that is worth it, and of small ones that hide no call
FEW, MANY, TINY = 128, 128, 16


class BlockLoop(Loop):
    """for start in range(0, extent, LANES), with count points in each block."""

    __slots__ = ("start", "count")

    def __init__(self, axis: Axis, start: Var, count: Var, nodes: list):
        super().__init__(axis, nodes)
        self.start, self.count = start, count


def is_long(axis: Axis) -> bool:
    """Whether there are points enough along the axis, as far as is known."""
    return _size(axis.extent, 0) >= MANY


def runs_in_lanes(step: Step, axis: Axis) -> bool:
    """Whether the step may run block by block along the axis: in any order, with small axes beside it."""
    return (
        step.kind in ("map", "reduce", "add")
        and not is_scattered(step)
        and all(_size(a.extent, FEW + 1) <= FEW for a in step.axes if a is not axis)
    )


def worth_it(axis: Axis, steps: list) -> bool:
    """Whether steps over a long axis have small ones inside: two deep, or around calls of functions."""
    inner = max([_size(a.extent, FEW + 1) for s in steps for a in s.axes if a is not axis], default=0)
    return any(len(s.axes) >= 3 for s in steps) or (0 < inner <= TINY and any(map(_calls, steps)))


def points_in(step: Step) -> int:
    """The estimated number of points in the step's iteration space."""
    return math.prod(_size(a.extent, MANY) for a in step.axes)


def _calls(step: Step) -> bool:
    """Whether the step calls a function, which is what lanes speed up most."""
    return step.eqn is not None and step.eqn.op.kind == "elementwise" and "(" in (step.eqn.op.text or "")


def _size(extent: Index, unknown: int) -> int:
    total = extent.const
    for s, c in extent.terms:
        if getattr(s, "hint", None) is None:
            return unknown
        total += c * s.hint
    return total


def is_scattered(step: Step) -> bool:
    """Whether the order of the axis's iterations could matter to where the step writes."""
    return any(isinstance(s, Elem) for i in step.target for s, _ in i.terms)


class SimdBlocks:
    """The steps of one pass in terms of a block's lanes.

    Arrays whose rows are points are read from copies of the block in which the points are neighbours, and results that
    others need (`kept`) are written to such copies, too, and stored at the block's end.
    """

    def __init__(self, axis: Axis, steps: list, views: Views, storage: ArrayOwners, kept: dict):
        self.axis, self.views, self.storage = axis, views, storage
        self.start, self.count = Var(Type(INT), "start"), Var(Type(INT), "count")
        self.lane = Axis(at(self.count))
        self.table = {axis: at(self.lane) + at(self.start)}
        self.written = {storage.root(v) for s in steps for v in s.outs}
        self.tiles: dict[tuple, Var] = {}
        self.results = self._results(steps, kept)
        first: list[Step] = []                               # loads of what is known before the block
        moved = [s for step in steps for s in self._moved(step, first)]
        self.steps = (
            first + moved + [self._stored(s) for s in steps if s.kind != "add" and storage.root(s.out) in self.results]
        )
        for order, step in enumerate(self.steps):
            step.order = order

    def _results(self, steps: list, kept: dict) -> dict:
        """root -> tile of results whose rows are points, all of whose accesses in this pass are at the point itself."""
        found: dict[Var, list] = {}
        for step in steps:
            for access in accesses(step, self.views, self.storage):
                if access.root in kept and access.root.type.dtype.kind in "fcb":
                    found.setdefault(access.root, []).append(access)
        return {
            root: self._tile(root)
            for root, touched in found.items()
            if _point_axis([a.place for a in touched], self.axis) is not None
            and {a.mode for a in touched} <= kept[root]
        }

    def _tile(self, var: Var) -> Var:
        tile = Var(var.type, "block")
        self.storage.owned.add(tile)
        return tile

    def _moved(self, step: Step, first: list) -> list:
        """The step in the block, behind the loads that must wait for what stands before it."""
        gathers: list[Step] = []
        args = step.args if len(step.axes) < 2 else tuple([self._from_tile(a, first, gathers) for a in step.args])
        args = tuple([self._from_result(a) for a in args])
        others = tuple([a for a in step.axes if a is not self.axis])
        mine = (self.lane,) if self.axis in step.axes else ()
        reduced = tuple([self.lane if a is self.axis else a for a in step.reduced])
        out = self.results.get(self.storage.root(step.out), step.out)
        return [
            *gathers,
            Step(
                step.kind,
                step.eqn,
                out,
                axes=others + mine,
                reduced=reduced,
                target=tuple([i.substitute(self.table) for i in step.target]),
                args=tuple([substitute(a, self.table) for a in args]),
            ),
        ]

    def _from_result(self, operand: object) -> Any:
        """An element of a result is read from its tile."""
        if isinstance(operand, Elem) and self.storage.root(operand.var) in self.results:
            return Elem(self.results[self.storage.root(operand.var)], operand.at)
        return operand

    def _stored(self, step: Step) -> Step:
        """The step that copies a tile that the step has filled to its place."""
        target = tuple([i.substitute(self.table) for i in step.target])
        inner = tuple([a for a in step.axes if a is not self.axis and a not in step.reduced])
        return Step(
            "map",
            None,
            step.out,
            axes=(*inner, self.lane),
            target=target,
            args=(Elem(self.results[self.storage.root(step.out)], target),),
        )

    def _from_tile(self, operand: Elem, first: list, gathers: list) -> Elem:
        """An element of an array whose rows are points, or are gathered for points, is read from the block's copy of
        it.
        """
        if not isinstance(operand, Elem) or not self.written.isdisjoint(self.storage.arrays_of(operand.var)):
            return operand
        place, loads = _point_axis([operand.at], self.axis), first
        if place is None:
            place, loads = _gathered_axis(operand.at, self.axis), gathers
        if place is None:
            return operand
        where = tuple([None if any(i.axes()) and k != place else i for k, i in enumerate(operand.at)])
        tile = self.tiles.get((operand.var, place, where))
        if tile is None:
            tile = self.tiles[operand.var, place, where] = self._tile(operand.var)
            loads.append(self._loaded(operand.var, tile, place, where))
        return Elem(tile, tuple([at(self.axis) if k == place else i for k, i in enumerate(operand.at)]))

    def _loaded(self, x: Var, tile: Var, place: int, where: tuple) -> Step:
        """The step that copies the block's points to the tile, at these subscripts (None: all along the axis)."""
        inner = tuple([Axis(self.views.number(n)) if i is None else None for n, i in zip(x.type.shape, where)])
        source = tuple([at(a) if a is not None else i.substitute(self.table) for a, i in zip(inner, where)])
        target = tuple([at(self.lane) + at(self.start) if k == place else i for k, i in enumerate(source)])
        return Step(
            "map",
            None,
            tile,
            axes=(*[a for a in inner if a is not None], self.lane),
            target=target,
            args=(Elem(x, source),),
        )


def _point_axis(places: list, axis: Axis) -> "int | None":
    """The array's axis that runs with the points at all of these places, if that is one, and not the last."""
    if any(place is None or len(place) != len(places[0]) for place in places):
        return None
    found = [k for k in range(len(places[0])) if all(place[k] == at(axis) for place in places)]
    return found[0] if len(found) == 1 and found[0] < len(places[0]) - 1 else None


def _gathered_axis(place: tuple, axis: Axis) -> "int | None":
    """The array's axis along which each point has an element of its own, found by an array of indices."""
    moving = [k for k, i in enumerate(place) if axis in i.axes()]
    if len(moving) != 1 or len(place[moving[0]].terms) != 1:
        return None
    index, c = place[moving[0]].terms[0]
    return moving[0] if c == 1 and isinstance(index, Elem) and index.at == (at(axis),) else None
