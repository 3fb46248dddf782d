"""Must-alias and may-alias of containers: which list, dict or dataclass a name stands for after a branch or a loop.

A region hands on values. A container that is the same object on every way through it stays that object, and what was
changed in it is a change of its contents. Where the ways differ (c = a if t else b; best = cur in some iteration), what
follows sees a new container with the right contents, a `twin` of those that it may be. As long as neither is changed,
that makes no difference; where one is, the function is refused (see twins.py).
"""
from collections.abc import Callable, Iterable
from typing import Any

from ...util import tree
from ..heap.state import Array, Container, Trial
from ..lists.elements import Fixed
from ..lists.listing import Contents
from ..lists.rows import RowList
from ..objects.containers import contents, same_contents
from ..values.twins import fixed_in, may_be, note_fixed, note_twins, refuse


def containers_at(value: Any, path: tuple = ()) -> dict:
    """The containers in a value that may be changed, by their paths; what a list or dict held (its `contents`) is none
    itself.
    """
    if isinstance(value, Contents):
        return _inside(value.items, path)
    if isinstance(value, RowList):
        return {} if value.is_element else {path: value}
    found = {path: value} if _may_change(value) else {}
    return found | _inside(tree.children(value) or (), path)


def containers_of(slot: Any, value: Any) -> dict:
    """The containers in a slot's value (None: a result), by their paths."""
    if isinstance(slot, Array):
        return {}
    found = containers_at(value)
    if isinstance(slot, Container):
        found.pop((), None)
    return found


def _inside(values: Iterable, path: tuple) -> dict:
    return {p: c for k, x in enumerate(values) for p, c in containers_at(x, (*path, k)).items()}


def _may_change(x: Any) -> bool:
    if x is None or isinstance(x, (tuple, Fixed)) or tree.children(x) is None:
        return False
    parameters = getattr(type(x), "__dataclass_params__", None)
    return parameters is None or not parameters.frozen


class Standing:
    """The containers in the values that a loop's slots have before it, by the slot's key and the path. They stay one
    object throughout, as far as is known, but for those in `by_value`, which iterations hand on by value.
    """

    def __init__(self, slots: dict, by_value: set):
        self.slots, self.by_value = slots, by_value
        self.first = self._positions()

    def _positions(self) -> dict:
        return {
            (key, path): c for key, slot in self.slots.items() for path, c in containers_of(slot, slot.read()).items()
        }

    def kept(self, key: Any) -> set:
        """Ids of the containers in a slot's value that stay one object."""
        return {id(c) for position, c in self.first.items() if position[0] == key and position not in self.by_value}

    def finds_others(self) -> bool:
        """Whether the end of an iteration shows that other containers are another object then."""
        before, now = len(self.by_value), self._positions()
        self.by_value |= {
            p for p, c in self.first.items() if now.get(p) is not c and not (p[1] and self._is_kept(p[0], p[1][:-1]))
        }
        return len(self.by_value) > before

    def _is_kept(self, key: Any, path: tuple) -> bool:
        """Whether what is at this path, or around it, is one object throughout."""
        return any((key, path[:n]) in self.first and (key, path[:n]) not in self.by_value for n in range(len(path) + 1))

    def handed(self, values: "dict | None" = None) -> dict:
        """The containers that are handed on by value: those in these values of the slots, or in the slots now."""
        found = (
            self._positions()
            if values is None
            else {
                (key, path): c
                for key, value in values.items()
                for path, c in containers_of(self.slots[key], value).items()
            }
        )
        return {position: c for position, c in found.items() if not self._is_kept(*position)}


class Handed:
    """The containers that iterations hand on by value, by position (slot's key and path).

    starts: those that an iteration begins with, and what they held; ends: those that it ends with; first: those from
    before the loop.
    """

    def __init__(self, starts: dict, first: dict):
        self.starts = {position: (c, contents(c)) for position, c in starts.items()}
        self.first = {position: c for position, c in first.items() if position in starts}
        self.names = {id(c): position for position, c in starts.items()}

    def end(self, ends: dict, made: Trial) -> None:
        """End an iteration: find what its containers may be at the start of another, and refuse changes of those that
        are unknown.
        """
        fixed = fixed_in(made.builder)
        self.fixed = [position for position in ends if any(ends[position] is x for x in fixed)]
        self.fixed_outside = [x for x in fixed if made.is_outer(x)]
        ways = {
            position: [self._way(x, made.is_outer) for x in may_be(ends[position])] if position in ends else []
            for position in self.starts
        }
        self.outer: dict[Any, dict] = {position: {} for position in ways}
        for position, c in self.first.items():
            self.outer[position][id(c)] = c
        self.pairs = {
            frozenset((a, b)) for a in self.first for b in self.first if a != b and self.first[a] is self.first[b]
        }
        size = -1
        while size != self._size():
            size = self._size()
            self.outer = {position: found | self._outer_of(ways[position]) for position, found in self.outer.items()}
            self.pairs |= self._pairs(ways)
        self.after, self.pairs_after = {p: self._outer_of(ways[p]) for p in ways}, self._pairs(ways)
        ids = {id(c) for c in made.changed_containers()}
        if any(id(x) in ids for x in self.fixed_outside):
            refuse()
        paired = {position for pair in self.pairs for position in pair}
        for position, (c, held) in self.starts.items():
            if not same_contents(contents(c), held) and (position in paired or self.outer[position] or self.fixed):
                refuse()
            if not ids.isdisjoint(self.outer[position]):
                refuse()

    def _way(self, x: Any, is_outer: Callable) -> tuple:
        """The identity of a container at the end of an iteration: that of a position at its start, one from outside, or
        a new one.
        """
        if id(x) in self.names:
            return "start", self.names[id(x)]
        return ("outer", x) if is_outer(x) else ("new", id(x))

    def _outer_of(self, ways: list) -> dict:
        found: dict = {}
        for kind, x in ways:
            found.update(self.outer[x] if kind == "start" else {id(x): x} if kind == "outer" else {})
        return found

    def _pairs(self, ways: dict) -> set:
        return {
            frozenset((a, b))
            for a in ways
            for b in ways
            if a != b and any(self._meet(v, w) for v in ways[a] for w in ways[b])
        }

    def _meet(self, v: tuple, w: tuple) -> bool:
        """Whether two positions that went these ways may have one container."""
        if v[0] == "start" == w[0]:
            return v[1] == w[1] or frozenset((v[1], w[1])) in self.pairs
        if "new" in (v[0], w[0]):
            return v == w
        return not self._outer_of([v]).keys().isdisjoint(self._outer_of([w]))

    def _size(self) -> int:
        return len(self.pairs) + sum(map(len, self.outer.values()))

    def deliver(self, last: dict, has_iterations: "Callable | None") -> None:
        """After the loop: what these containers may be; what they are only where there is no iteration is excused where
        there is one.
        """
        for position, c in last.items():
            for key, x in self.outer.get(position, {}).items():
                note_twins(c, x, None if key in self.after[position] else has_iterations)
        for c in [*[last[position] for position in self.fixed if position in last], *self.fixed_outside]:
            note_fixed(c)
        for pair in self.pairs:
            a, b = [last.get(position) for position in pair]
            if a is not None and b is not None:
                note_twins(a, b, None if pair in self.pairs_after else has_iterations)
