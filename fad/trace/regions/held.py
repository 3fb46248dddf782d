"""Arrays in containers, as a loop sees them: one that no iteration puts another in place of stays that very array, and
is not carried by value.

So an array that an object or a list holds, and that a name outside holds as well, is written to under both names at
once.
"""
from typing import Any

from ..heap.state import Array, Name, TreeLayout, is_array


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
        self.first[key] = {} if is_alone else {k: x for k, x in enumerate(layout.leaves) if is_array(x)}

    def hold(self, key: Any, layout: TreeLayout) -> TreeLayout:
        """The layout, in which arrays that stay where they are are no data."""
        for k in self.first.get(key, ()):
            if (key, k) not in self.moved and k < len(layout.leaves):
                layout.statics[k] = layout.leaves[k]
        return layout

    def finds_moved(self, key: Any, layout: TreeLayout) -> bool:
        """Whether the end of an iteration shows that other arrays are in this slot's value then."""
        leaves, before = layout.leaves, len(self.moved)
        self.moved |= {(key, k) for k, x in self.first[key].items() if k >= len(leaves) or leaves[k] is not x}
        return len(self.moved) > before
