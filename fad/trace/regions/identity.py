"""The list, dict or object that a name stands for after a branch or a loop, and those that stay where they are
throughout a loop.

A region hands on values. A container that is the same object on every way through it stays that object, and what was
changed in it is a change of its contents. Where the ways differ (c = a if t else b; best = cur in some iteration), what
follows sees a new container with the right contents, a `twin` of those that it may be. As long as neither is changed,
that makes no difference; where one is, the function is refused (see values/aliases.py).
"""
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...util import tree
from ...util.profiled import unprofiled
from ..guards import guard as of
from ..heap.journal import journal
from ..heap.state import Array, Container, TreeLayout, is_data
from ..lists.elements import Fixed
from ..lists.items import Contents
from ..lists.rows import RowList
from ..values.zero_dim import kind_of


def containers_at(value: object, path: tuple = ()) -> dict:
    """The containers in a value that may be changed, by their paths; what a list or dict held (its `contents`) is none
    itself.
    """
    if isinstance(value, Contents):
        return _inside(value.items, path)
    if isinstance(value, RowList):
        return {} if value.is_element else {path: value}
    found = {path: value} if _may_change(value) else {}
    return found | _inside(tree.children(value) or (), path)


def containers_of(slot: object, value: object) -> dict:
    """The containers in a slot's value (None: a result), by their paths."""
    if isinstance(slot, Array):
        return {}
    found = containers_at(value)
    if isinstance(slot, Container):
        found.pop((), None)
    return found


def _inside(values: Iterable, path: tuple) -> dict:
    return {p: c for k, x in enumerate(values) for p, c in containers_at(x, (*path, k)).items()}


def _may_change(x: object) -> bool:
    if x is None or isinstance(x, (tuple, Fixed)) or tree.children(x) is None:
        return False
    parameters = getattr(type(x), "__dataclass_params__", None)
    return parameters is None or not parameters.frozen


@unprofiled
def note_parts(value: object, kept: "set | tuple" = ()) -> None:
    """Guard what is read of objects from outside that are taken apart, since a region hands them on by value: their
    attributes, and the containers in these. kept: ids of what stays one object.
    """
    queue, seen = [(value, False)], set()
    while queue:
        x, is_part = queue.pop()
        parts = tree.children(x.items if isinstance(x, Contents) else x)
        if parts is None or id(x) in seen or (id(x) in kept and not is_part):
            continue
        seen.add(id(x))
        is_object = not isinstance(x, (list, dict, tuple))
        is_outer = id(x) not in current().trace.inside and journal().is_outer(x)
        if is_outer and (is_object or is_part) and id(x) not in current().trace.taken_apart:
            current().trace.taken_apart[id(x)] = x
            _guard(x, is_object)
        queue += [(y, is_part or (is_outer and is_object)) for y in parts]


def _guard(x: object, is_object: bool) -> None:
    """Guards for the attributes of an object, or for what a container holds, as they were when the trace began."""
    sources, begun = current().trace.sources, journal().begun_as(x)
    before: Any = begun.items() if isinstance(begun, dict) else enumerate(begun)
    if is_object:
        sources += [of.AttributeGuard(x, name, y) for name, y in before if not isinstance(y, Value)]
    elif not journal().is_noted(x):
        sources.append(of.of_contents(x))
    elif not isinstance(x, tuple):
        sources += [of.length_as(x, begun), *[of.of_element(x, k, y) for k, y in before if not isinstance(y, Value)]]


class Standing:
    """The containers and arrays in the values that a loop's slots have before it, by the slot's place and their own
    (of a container the path, of an array the number of the leaf). They stay where they are throughout, as far as is
    known, but for those at `replaced`, in place of which iterations put others. So an array that an object holds, and
    that a name outside holds as well, is written to under both names at once, also if the program has not read any of
    it yet.
    """

    def __init__(self, slots: dict, replaced: set):
        self.slots, self.replaced = slots, replaced
        self.first = self._positions()
        self.arrays: dict[Any, dict] = {}

    def _positions(self) -> dict:
        return {
            (key, path): c for key, slot in self.slots.items() for path, c in containers_of(slot, slot.read()).items()
        }

    def layout(self, key: object) -> TreeLayout:
        """The layout of a slot's value, in which containers and arrays that stay where they are are no data."""
        slot = self.slots[key]
        kept = {id(c) for position, c in self.first.items() if position[0] == key and position not in self.replaced}
        note_parts(slot.read(), kept)
        layout = TreeLayout(slot.read(), kept, with_none=True)
        # arrays of objects from outside may be others, too
        layout.leaves = [current().watch(x) if isinstance(x, np.ndarray) and is_data(x) else x for x in layout.leaves]
        if key not in self.arrays:
            arrays = {k: x for k, x in enumerate(layout.leaves) if _is_an_array(x)}
            self.arrays[key] = {} if isinstance(slot, Array) else arrays
        for k, x in self.arrays[key].items():
            if (key, k) not in self.replaced and k < len(layout.leaves):
                layout.statics[k] = x if _are_one(layout.leaves[k], x) else layout.leaves[k]
        return layout

    def finds_others(self) -> bool:
        """Whether the end of an iteration shows that others stand where some of them did."""
        before, now = len(self.replaced), self._positions()
        for key, arrays in self.arrays.items():
            leaves = self.layout(key).leaves
            self.replaced |= {
                (key, k) for k, x in arrays.items() if k >= len(leaves) or not _are_one(leaves[k], x)
            }
        self.replaced |= {
            p for p, c in self.first.items() if now.get(p) is not c and not (p[1] and self._is_kept(p[0], p[1][:-1]))
        }
        return len(self.replaced) > before

    def _is_kept(self, key: str, path: tuple) -> bool:
        """Whether what is at this path, or around it, is one object throughout."""
        return any((key, path[:n]) in self.first and (key, path[:n]) not in self.replaced for n in range(len(path) + 1))

    def handed(self) -> dict:
        """The containers in the slots now that are handed on by value."""
        return {position: c for position, c in self._positions().items() if not self._is_kept(*position)}


def _is_an_array(x: object) -> bool:
    """Whether x is an array of numbers, traced or from outside."""
    return kind_of(x) is not False and is_data(x)


def _are_one(x: object, y: object) -> bool:
    """Whether these are one array. One of them may be the array outside, and the other the input that stands for it."""
    captured = current().trace.captured
    x, y = [captured[id(z)][1] if id(z) in captured else z for z in (x, y)]
    return x is y
