"""Register rotation: the arrays whose elements a loop hands from iteration to iteration in registers.

    t[j] = …; z[j] = x[j] * t[j - 1]    ->    t = …; z[j] = x[j] * t_before; t_before = t

Source: D. Callahan, S. Carr, K. Kennedy, "Improving register allocation for subscripted variables" (1990).
"""
from typing import NamedTuple

from ...ir.graph import Var
from .conflicts import READ, WRITE
from .fuse import Scheduler
from .indexmap import Axis, Index
from .shifted_loop import Bound, Rotated

FAR = 8                                     # iterations that a value waits in registers
REGISTERS = 24                              # values that wait


class Touch(NamedTuple):
    """An access of one of the steps: the step's number, and where iteration j is on the array's moving axis: j + at."""

    number: int
    mode: str
    at: "int | None"


class Rotation:
    """The handing on, from iteration to iteration, of the arrays that a loop writes to. fit: whether registers do for
    all of them, so that LLVM can make vectors of the loop (an iteration that reads from memory what one shortly before
    has written cannot run beside it).
    """

    def __init__(self, ranges: list, axis: Axis, scheduler: Scheduler):
        self.ranges, self.fit = ranges, True
        self.touched: dict[Var, list[Touch]] = {}
        for k, r in enumerate(ranges):
            for root, place, mode in scheduler.accesses(r.step):
                if place:
                    self.touched.setdefault(root, []).append(Touch(k, mode, _ahead(place, axis)))

    def found(self, outside: set) -> dict:
        """The arrays that wait in registers, by their roots."""
        rotated: dict[Var, Rotated] = {}
        for root, touches in self.touched.items():
            first, *others = {t.at for t in touches if t.mode != READ} or {None}
            if first is not None:
                depth = max([first - t.at for t in touches if t.at is not None])
                self.fit &= not others and depth <= FAR
                if depth > 0:
                    self.fit &= len(root.type.shape) == 1 and self._is_covered(touches, first)
                    rotated[root] = Rotated(first, depth, root in outside)
        self.fit &= sum(t.depth for t in rotated.values()) <= REGISTERS
        return rotated

    def _is_covered(self, touches: list, first: int) -> bool:
        """Whether the loop has written all that it reads of an array."""
        return all(
            t.mode == WRITE or self._reaches([o for o in touches if o.number < t.number and o.mode == WRITE], t, first)
            for t in touches
        )

    def _reaches(self, writes: list, read: Touch, first: int) -> bool:
        """Whether the ranges of the writes, one after the other, reach from the read's first element to its last."""
        if read.at is None:
            return False
        low, high = (b.moved(read.at - first) for b in self.ranges[read.number][1:])
        reached = Bound(False, -first) if low.at_end else low
        intervals = [self.ranges[w.number][1:] for w in writes]
        for _ in intervals:
            for begin, end in intervals:
                if (not begin.at_end if reached.at_end else begin <= reached) or begin.at_end and begin <= reached:
                    reached = max(reached, end)
        return high <= reached


def _ahead(place: tuple, axis: Axis) -> "int | None":
    """The place of iteration j on the axis of the array that moves with it: j plus the number."""
    found = [i for i in place if axis in i.axes()]
    rest = found[0] - Index.of(axis) if len(found) == 1 else None
    return rest.const if rest is not None and all(isinstance(s, Var) for s, _ in rest.terms) else None
