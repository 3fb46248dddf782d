"""The long independent axis as SIMD lanes: a nest over many points, each with small loops of its own, is run block by block.

The outer loop goes over blocks of points, the small axes become loops outside, and the points of a block are the innermost axis of every
step: what a point kept in a register is then a row of the block, and arithmetic on it is done many points at a time. It is a change of the
order in which independent turns run, so it is open to every nest whose turns touch parts of their own or only add up.
"""
import math
from typing import Any

from ..ir.graph import Var
from ..ir.types import INT, Type
from .indexmap import Axis, Elem, Index, at, substitute
from .steps import Loop, Step

LANES = 64                                  # points in a block: rows of it should stay in the first cache
FEW, MANY, TINY = 64, 128, 16               # the extents of small axes, of the one that is worth it, and of small ones that hide no call


class BlockLoop(Loop):
    """for start in range(0, extent, LANES), with count points in each block."""

    __slots__ = ("start", "count")

    def __init__(self, axis: Axis, start: Var, count: Var, nodes: list):
        super().__init__(axis, nodes)
        self.start, self.count = start, count


def is_long(axis: Axis) -> bool:
    """Whether there are points enough along the axis."""
    return _size(axis.extent, MANY) >= MANY


def runs_in_lanes(step: Step, axis: Axis) -> bool:
    """Whether the step may run block by block along the axis: in any order, with small axes beside it."""
    return step.kind in ("map", "reduce", "add") and not _is_scattered(step) and all(_size(a.extent, FEW + 1) <= FEW for a in step.axes if a is not axis)


def worth_it(axis: Axis, steps: list) -> bool:
    """Whether steps over a long axis have small ones inside: two deep, or around calls of functions."""
    inner = max([_size(a.extent, FEW + 1) for s in steps for a in s.axes if a is not axis], default=0)
    return any(len(s.axes) >= 3 for s in steps) or (0 < inner <= TINY and any(map(_calls, steps)))


def points_in(step: Step) -> int:
    """How many points the step's iteration space has, about."""
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


def _is_scattered(step: Step) -> bool:
    """Whether the order of the axis's turns could matter to where the step writes."""
    return any(isinstance(s, Elem) for i in step.target for s, _ in i.terms)


class Blocks:
    """The steps of one nest in terms of a block's lanes."""

    def __init__(self, axis: Axis, steps: list, views: Any, storage: Any):
        self.axis, self.views, self.storage = axis, views, storage
        self.start, self.count = Var(Type(INT), "start"), Var(Type(INT), "count")
        self.lane = Axis(at(self.count))
        self.written = {storage.root(v) for s in steps for v in s.outs}
        self.tiles: dict[tuple, Var] = {}
        self.loads: list[Step] = []
        moved = [self._moved(s) for s in steps]
        self.steps = self.loads + moved
        for order, step in enumerate(self.steps):
            step.order = order

    def _moved(self, step: Step) -> Step:
        table = {self.axis: Index(((self.lane, 1),)).plus(at(self.start))}
        args = step.args if len(step.axes) < 2 else tuple([self._from_tile(a) for a in step.args])
        others = tuple([a for a in step.axes if a is not self.axis])
        mine = (self.lane,) if self.axis in step.axes else ()
        reduced = tuple([self.lane if a is self.axis else a for a in step.reduced])
        return Step(step.kind, step.eqn, step.out, axes=others + mine, reduced=reduced, outs=step.outs,
                    target=tuple([i.substitute(table) for i in step.target]), args=tuple([substitute(a, table) for a in args]))

    def _from_tile(self, operand: Any) -> Any:
        """An element of an array whose rows are points is read from a copy of the block in which the points are neighbours."""
        if not isinstance(operand, Elem) or self.storage.root(operand.var) in self.written:
            return operand
        places = [k for k, i in enumerate(operand.at) if i == at(self.axis)]
        if len(places) != 1 or places[0] == len(operand.at) - 1:
            return operand
        tile = self.tiles.get((operand.var, places[0]))
        if tile is None:
            tile = self.tiles[operand.var, places[0]] = self._load(operand.var, places[0])
        return Elem(tile, operand.at)

    def _load(self, var: Var, place: int) -> Var:
        tile = Var(var.type, "block")
        self.storage.owned.add(tile)
        axes = [None if k == place else Axis(self.views.number(n)) for k, n in enumerate(var.type.shape)]
        where = tuple([at(self.lane).plus(at(self.start)) if a is None else at(a) for a in axes])
        inner = tuple([a for a in axes if a is not None])
        self.loads.append(Step("map", None, tile, axes=(*inner, self.lane), target=where, args=(Elem(var, where),)))
        return tile
