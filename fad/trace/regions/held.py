"""Arrays in containers, as a loop sees them: one that no iteration puts another in place of stays that very array, and
is not carried by value.

So an array that an object or a list holds, and that a name outside holds as well, is written to under both names at
once. The same is true of an array from outside, of which the program may not have read anything yet.
"""
from typing import Any

from ...ir.build import current
from ..heap.state import Array, Name, TreeLayout, is_data
from ..values.zero_dim import kind_of


class Held:
    """The arrays within the values that a loop's slots have before it, by the slot's key and the number of the leaf;
    `moved` are the places of those that iterations put others in place of.
    """

    def __init__(self, moved: set):
        self.moved = moved
        self.first: dict[Any, dict] = {}

    def begin(self, key: Any, slot: Any, layout: TreeLayout) -> None:
        """Note what a slot's value holds before the loop. (What a name stands for by itself is the plan's affair.)"""
        is_alone = isinstance(slot, Array) or (isinstance(slot, Name) and layout.structure.cls is None)
        self.first[key] = {} if is_alone else {k: x for k, x in enumerate(layout.leaves) if _is_an_array(x)}

    def hold(self, key: Any, layout: TreeLayout) -> TreeLayout:
        """The layout, in which arrays that stay where they are are no data."""
        for k, x in self.first.get(key, {}).items():
            if (key, k) not in self.moved and k < len(layout.leaves):
                layout.statics[k] = x if _are_one(layout.leaves[k], x) else layout.leaves[k]
        return layout

    def finds_moved(self, key: Any, layout: TreeLayout) -> bool:
        """Whether the end of an iteration shows that other arrays are in this slot's value then."""
        leaves, before = layout.leaves, len(self.moved)
        self.moved |= {(key, k) for k, x in self.first[key].items() if k >= len(leaves) or not _are_one(leaves[k], x)}
        return len(self.moved) > before


def _is_an_array(x: Any) -> bool:
    """Whether x is an array of numbers, traced or from outside."""
    return kind_of(x) is not False and is_data(x)


def _are_one(x: Any, y: Any) -> bool:
    """Whether these are one array, of which one may be seen from outside, and the other as the program has it."""
    captured = current().trace.captured
    x, y = [captured[id(z)][1] if id(z) in captured else z for z in (x, y)]
    return x is y
