"""The shifts of the steps of a joined loop: how many elements each one is ahead of or behind the others.

A step that comes first in the program comes first at each element that two of them touch. That bounds the difference of
their shifts. Within these bounds few values should wait in registers from one iteration to another.
"""
from typing import Any

from ...ir.graph import Var
from .conflicts import READ, Access, in_order
from .indexmap import Axis, Index
from .loop_ir import Step
from .register_rotation import REGISTERS
from .shifted_loop import Bound


class Member:
    """A step of a group: element by element along an axis, or (axis None) once."""

    def __init__(self, step: Step, node: object, axis: "Axis | None", low: Bound, high: Bound, accesses: list):
        self.step, self.node, self.axis, self.low, self.high, self.accesses = step, node, axis, low, high, accesses
        self.shift = 0
        self.before: list[tuple] = []                        # (an earlier member, by how much the shift may exceed its)

    def along(self, place: tuple) -> "int | None":
        """The number of the subscript that moves with the axis."""
        found = [k for k, i in enumerate(place) if self.axis is not None and self.axis in i.axes()]
        return found[0] if len(found) == 1 else None

    def offset(self, index: Index, extent: Index) -> "Index | None":
        """The subscript less the position on the axis, for one that moves with it; None for other places."""
        origin = (extent if self.low.at_end else Index()) if self.axis is None else Index.of(self.axis)
        rest = index - origin
        known = all(isinstance(s, Var) for s, _ in rest.terms)
        return rest if known else None


class _Any:
    """No limit."""


ANY = _Any()


def most_ahead(first: Member, second: Member, extent: "Index | None") -> Any:
    """By how much the second member's shift may exceed the first's, where the first comes first at each element; ANY if
    they do not meet, None if nothing is known. extent: of the group's loops.
    """
    found: Any = ANY
    for a in first.accesses:
        for b in second.accesses:
            if a.root is b.root and in_order(a, b):
                most = _difference(first, a, second, b, extent)
                if most is None:
                    return None
                found = most if found is ANY else min(found, most)
    return found


def _difference(first: Member, a: Access, second: Member, b: Access, extent: "Index | None") -> "int | None":
    if a.place is None or b.place is None or len(a.place) != len(b.place):
        return None
    if not a.place:                                          # a number: all uses of one member come before the other's
        return second.low.number - first.high.number + 1 if first.high.at_end == second.low.at_end else None
    moving = {k for k in (first.along(a.place), second.along(b.place)) if k is not None}
    moving = moving or ({0} if len(a.place) == 1 else set())
    if len(moving) != 1 or extent is None and first.axis is not second.axis:
        return None
    (k,) = moving
    if any(a.place[j] != b.place[j] for j in range(len(a.place)) if j != k):
        return None
    known = extent if extent is not None else Index()
    one, other = first.offset(a.place[k], known), second.offset(b.place[k], known)
    return one.const - other.const if one is not None and other is not None and one.terms == other.terms else None


def choose_shifts(members: list, extent: Index) -> None:
    """Give the members the shifts with which the fewest values wait, within their bounds.

    Each member in turn gets the shift that costs least: from the last one to the first as late as possible, then back
    as early as possible. This is done from the earliest and from the latest shifts.
    """
    behind: dict[Member, list] = {m: [] for m in members}
    for m in members:
        for other, most in m.before:
            behind[other].append((m, most))
    waits = _Waits(members, extent)

    def latest(m: Member) -> int:
        return max([o.shift - most for o, most in behind[m]], default=m.shift)

    def improved() -> tuple:
        for order, step in ((members[::-1], 1), (members, -1)):
            for m in order:
                early = min([o.shift + most for o, most in m.before], default=m.shift)
                waits.choose(m, range(latest(m), early + 1)[::step])
        return waits.total(), [m.shift for m in members]

    for m in members[::-1]:                                  # additions to one array go to one place
        level = waits.level(m)
        m.shift = max(latest(m), level) if behind[m] else level
    found = [improved()]
    for m in members[::-1]:
        m.shift = latest(m)
    found.append(improved())
    for m, shift in zip(members, min(found)[1]):
        m.shift = shift

class _Waits:
    """The number of values that wait in registers, for given shifts."""

    def __init__(self, members: list, extent: Index):
        self.touched: dict[Var, list] = {}                   # root -> (member, whether it writes, its offset)
        self.roots: dict[Member, set] = {m: set() for m in members}
        for m in members:
            for root, place, mode in m.accesses:
                k = m.along(place) if m.axis is not None and place else 0
                rest = m.offset(place[k], extent) if place and k is not None else None
                if rest is not None and len(root.type.shape) == 1:
                    self.touched.setdefault(root, []).append((m, mode != READ, rest.const))
                    self.roots[m].add(root)

    def level(self, member: Member) -> int:
        """The shift with which the member writes where the last one to write to its array does, if that is later."""
        levels = [m.shift + o - at for root in self.roots[member] for me, writes, at in self.touched[root]
                  if me is member and writes for m, also, o in self.touched[root] if also]
        return min(levels, default=member.shift)

    def choose(self, member: Member, shifts: Any) -> None:
        """Give the member the shift that costs least, the first of these."""
        costs = []
        for k, member.shift in enumerate(shifts):
            costs.append((sum(map(self._cost, self.roots[member])), k, member.shift))
        member.shift = min(costs)[2]

    def total(self) -> int:
        """The cost of all arrays."""
        return sum(map(self._cost, self.touched))

    def _cost(self, root: Var) -> int:
        writes = [m.shift + at for m, writes, at in self.touched[root] if writes]
        reads = [m.shift + at for m, writes, at in self.touched[root] if not writes]
        return (max(0, max(writes) - min(reads, default=max(writes))) + REGISTERS * (max(writes) - min(writes))
                if writes else 0)
