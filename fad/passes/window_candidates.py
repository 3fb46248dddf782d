"""The elements of arrays that several iterations of a loop touch, for element_windows.py."""
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, is_branch
from ..ir.spec import subscripts_of
from ..ir.uses import defined_in, operands
from ..ir.views import LoopView
from .coverage import Accesses
from .dependence_test import Places
from .rewrite import as_atom, as_extent

WIDEST = 4                                                   # elements that an iteration touches, terms that wait


def shifts_in(loop: LoopView) -> dict:
    """{an integer of the body: what is added to the loop's index}"""
    shifts: dict[Any, int] = {loop.index: 0}

    def collect(region: Func) -> None:
        for e in region.equations:
            if e.op.name in ("add", "sub") and e.inputs[0] in shifts and isinstance(e.inputs[1], Literal):
                more = e.inputs[1].value if e.op.name == "add" else -e.inputs[1].value
                shifts[e.outputs[0]] = shifts[e.inputs[0]] + more
            for inner in e.regions:
                collect(inner)
    collect(loop.body)
    return shifts


class Window(NamedTuple):
    """Elements of the number-th carry that an iteration touches: along an axis index + first, ..., index + last, the
    other subscripts being `others`; final: what is added to the index where an element has its last value; adds:
    if iterations only add to the elements, what is added to the index by each addition; example: an access to one of
    them."""

    number: int
    axis: int
    others: tuple
    first: int
    last: int
    final: int
    adds: tuple
    example: Equation

    @property
    def row(self) -> tuple:
        return self.axis, self.others

    def waiting(self, step: "int | None") -> list:
        """(what is added to the index, the number of the term) of what waits for the next iteration."""
        up = step == 1
        return [(shift, n) for shift in (range(self.first, self.last) if up else range(self.first + 1, self.last + 1))
                for n in range(sum(a > shift if up else a < shift for a in self.adds) if self.adds else 1)]


def place_of(e: Equation, shifts: dict, inside: set) -> "tuple | None":
    """The element that an equation touches: ((the axis of the index, the other subscripts), what is added to the
    index); None if that is no element, or the same one in all iterations.
    """
    if "spec" not in e.params or any(entry != "i" for entry in e.params["spec"]):
        return None
    given = [indices[0] for _, indices in subscripts_of(e)]
    moving = [k for k, i in enumerate(given) if i in inside]
    if len(moving) != 1 or given[moving[0]] not in shifts:
        return None
    return (moving[0], tuple([as_extent(i) for i in given if i not in inside])), shifts[given[moving[0]]]


class Windows:
    """The windows of one carried array. rows: {the axis of the index and the other subscripts: [(what is added to the
    index, an access)]}; empty if the loop does anything else with the array.
    """

    def __init__(self, loop: LoopView, k: int, shifts: dict):
        self.loop, self.number = loop, k
        self.rows: dict[tuple, list] = {}
        self.versions: set[Any] = set()
        accesses = Accesses(loop.body, loop.carries[k])
        if not accesses.are_parts or not self._is_one_chain(accesses.versions):
            return
        self.versions = accesses.versions
        inside = defined_within(loop.body)
        for e in accesses.equations:
            place = place_of(e, shifts, inside)
            if place is None or (e.writes_part and e.inputs[1].type.dtype != e.inputs[0].type.dtype):
                self.rows = {}
                return
            self.rows.setdefault(place[0], []).append((place[1], e))

    def _is_one_chain(self, versions: set) -> bool:
        """Whether the iteration hands on one version of the array, as this carry."""
        return [a for a in self.loop.next if a in versions] == [self.loop.next[self.number]]

    def of_waiting(self) -> list:
        """The windows whose elements an iteration writes, and a later one touches again."""
        found = []
        for (axis, others), touched in self.rows.items():
            numbers = [shift for shift, _ in touched]
            first, last = min(numbers), max(numbers)
            written = [shift for shift, e in touched if e.writes_part]
            waits = any((a - b) * self.loop.step > 0 for a in written for b in numbers)  # type: ignore[operator]
            if not waits or last - first >= WIDEST:
                continue
            entering, final = (last, min(written)) if self.loop.step == 1 else (first, max(written))
            if not self._is_guessed([e for shift, e in touched if shift != entering]):
                is_sum = all(e.adds_part and e in self.loop.body.equations for _, e in touched)
                window = Window(self.number, axis, others, first, last, final, tuple(numbers), touched[0][1])
                few = is_sum and len(window.waiting(self.loop.step)) <= WIDEST
                found.append(window if few else window._replace(adds=()))
        return found

    def _is_guessed(self, accesses: list) -> bool:
        """Whether elements that have waited decide what a branch does to the array. The processor guesses the branch,
        and need not wait; for a number it would."""
        follows = {e.outputs[0] for e in accesses if e.reads_part}
        for e in self.loop.body.equations:
            waits = not follows.isdisjoint(operands(e)) or any(follows & defined_in(r) for r in e.regions)
            if waits and is_branch(e) and not self.versions.isdisjoint(e.outputs):
                return True
            if waits:
                follows.update(v for v in e.outputs if v not in self.versions)
        return False

    def possible(self, places: Places) -> list:
        """The windows whose elements are in the array, and not touched by any other subscripts."""
        nest = places.nests[self.loop.index]
        return [w for w in self.of_waiting() if self._is_apart(w, places) and self._is_there(w, places, nest)]

    def _is_apart(self, window: Window, places: Places) -> bool:
        """Whether all other accesses have another index on some axis, by a number that is known."""
        for axis, others in self.rows:
            if (axis, others) == window.row:
                continue
            if axis != window.axis or not any(_differ(a, b, places) for a, b in zip(others, window.others)):
                return False
        return True

    def _is_there(self, window: Window, places: Places, nest: tuple) -> bool:
        """Whether the array has the elements in every iteration: the loop touches both ends in each, or bounds of the
        index say so."""
        touched = self.rows[window.row]
        sure = {shift for shift, e in touched if e in self.loop.body.equations}
        if {window.first, window.last} <= sure:
            return True
        ends = {shift: e for shift, e in touched if shift in (window.first, window.last)}
        return all(is_inside(e, places, nest) for e in ends.values())


def defined_within(region: Func) -> set:
    """The variables that a region and those in it define."""
    found = defined_in(region)
    for e in region.equations:
        for inner in e.regions:
            found |= defined_within(inner)
    return found


def _differ(a: Any, b: Any, places: Places) -> bool:
    """Whether two integers are known to differ."""
    forms = [places.ranges.exact(as_atom(n), frozenset(places.ranges.loops)) for n in (a, b)]
    if None in forms:
        return False
    gap = forms[0] - forms[1]                                # type: ignore[operator]
    return gap.is_constant and gap.const != 0


def is_inside(e: Equation, places: Places, nest: tuple) -> bool:
    """Whether bounds show that the element that an equation touches is in the array."""
    ranges = places.ranges
    for n, span in zip(e.inputs[0].type.shape, ranges.spans(e, frozenset())):
        end = ranges.exact(as_atom(n), frozenset())
        if not span or end is None:
            return False
        for low, high in span:
            if high is None or not ranges.is_at_least(0, low, nest) or not ranges.is_at_least(1, end - high, nest):
                return False
    return True
