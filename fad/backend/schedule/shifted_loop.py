"""Loops whose steps run in ranges of their own, each some iterations ahead of or behind the others."""
from typing import NamedTuple

from .array_contraction import Home
from .indexmap import Axis, Elem, Index
from .loop_ir import Loop, Step

EDGE = 16                                   # iterations at both ends, and elements by which extents differ, at most


class Bound(NamedTuple):
    """An iteration: a number, or (at_end) a number behind the group's extent."""

    at_end: bool
    number: int

    def moved(self, by: int) -> "Bound":
        return Bound(self.at_end, self.number + by)


class Rotated(NamedTuple):
    """An array whose elements wait in registers: iteration j writes element j + first, `depth` iterations later it is
    read last; stored: whether the element is written to memory, too.
    """

    first: int
    depth: int
    stored: bool


class Ranged(NamedTuple):
    """A step, and the iterations low <= j < high in which it runs."""

    step: Step
    low: Bound
    high: Bound


class ShiftedLoop(Loop):
    """A loop over steps that run in ranges of their own: from `start` on, and up to `stop` behind the extent. In
    iterations from `first` on, and up to `last` behind the extent, all steps run that are in a loop. points: before
    this iteration are steps that run once.
    """

    __slots__ = ("ranges", "rotated", "extent", "start", "points", "first", "last", "stop")

    def __init__(self, axis: Axis, ranges: list, rotated: dict, extent: Index):
        super().__init__(axis, [r.step for r in ranges])
        self.ranges, self.rotated, self.extent = ranges, rotated, extent
        self.start = min(r.low.number for r in ranges if not r.low.at_end)
        self.stop = max(r.high.number for r in ranges if r.high.at_end)
        self.points = max([r.high.number for r in ranges if not r.high.at_end], default=self.start)
        self.first = max([self.points, *[r.low.number for r in ranges if not r.low.at_end]])
        self.last = min(r.low.number if r.low.at_end else r.high.number for r in ranges if r.high.at_end)

    @property
    def is_regular(self) -> bool:
        """Whether few iterations are at the ends, and none that is counted from the end comes before the first."""
        return (self.first - self.start <= EDGE and self.stop - self.last <= EDGE
                and all(self._is_behind_start(r) for r in self.ranges if r.low.at_end))

    def _is_behind_start(self, r: Ranged) -> bool:
        """Whether a step that is counted from the end comes in an iteration that is not negative: the extent is at
        least one, or iteration j touches element j or one before that, of which there is none below zero.
        """
        terms, const = self.extent.terms, self.extent.const
        least = min(const, 0) + 1 if len(terms) == 1 and terms[0][1] == 1 else 0
        touched = [place - Index.of(self.axis) for e in (*r.step.args, r.step) if (at := _place(e)) for place in at]
        return r.low.number + least >= 0 or any(not i.terms and i.const <= 0 for i in touched)


def _place(operand: object) -> tuple:
    """The place of an operand, or of a step's result; none for numbers."""
    return operand.target if isinstance(operand, Step) else operand.at if isinstance(operand, Elem) else ()


def in_registers(nodes: list) -> dict:
    """root -> its Home, for the arrays that are in registers alone."""
    loops = [node for node in nodes if isinstance(node, ShiftedLoop)]
    return {root: Home(root, ()) for loop in loops for root, array in loop.rotated.items() if not array.stored}
