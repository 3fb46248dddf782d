"""New tuples that end at several places outside: each is one object, as in Python.

Only the last place tells that a tuple stands at several. So the stores are collected anew once one is found.
"""
from collections.abc import Callable

from ...util import tree


class FoundSharedTuple(Exception):
    """A tuple turned out to stand at two places."""


class SharedTuples:
    """The new tuples of a trace that stand at several places, by their ids, each with a number."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        """Collect anew."""
        self.met: dict[int, object] = {}
        self.made: dict[int, object] = {}                        # what a program stores for them

    def __contains__(self, x: object) -> bool:
        return id(x) in self.numbers

    def stop_in(self, x: object, was_there: Callable) -> Callable:
        """Whether a part of x is a thing by itself."""
        return lambda y: was_there(y) or (y is not x and y in self)

    def kept(self, x: object, made: object) -> object:
        """Note what a program stores for x, and return it."""
        if x in self:
            self.made[id(x)] = made
        return made

    def meet(self, x: object, was_there: Callable) -> None:
        """Take note of the tuples in x, which is stored somewhere."""
        queue = [x]
        while queue:
            y = queue.pop()
            if was_there(y) or (y is not x and y in self):
                continue
            if isinstance(y, tuple) and y and y not in self:
                if id(y) in self.met:
                    self.numbers[id(y)] = len(self.numbers)
                    raise FoundSharedTuple
                self.met[id(y)] = y
            queue += tree.children(y) or ()
