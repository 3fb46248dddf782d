"""Comprehensions that make functions, which all see the comprehension's variables as its last item has left them."""
from collections.abc import Callable
from typing import Any


class SharedScope:
    """The element (or the condition) of a comprehension that makes functions, which share the comprehension's
    variables: they see the last item.
    """

    def __init__(self, part: Callable):
        self.part = part  # part(item): the element, and a function that has the variables of this item
        self.variables: list = []

    def __call__(self, item: object) -> tuple:
        made, variables = self.part(item)
        self.variables.append(variables.__closure__)
        return made

    def share(self, every: Any) -> None:
        """The items are over; `every` has seen the last one."""
        for cells in self.variables:
            for cell, last in zip(cells, every.variables[-1]):
                cell.cell_contents = last.cell_contents
