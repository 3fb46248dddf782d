"""Branches by which functions call themselves, and handlers: a recursion ends by sizes that are known while tracing, or
after a number of levels that data decides.
"""
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...util.errors import UnstageableError
from ..heap.state import UnjoinableError
from ..values.constants import of_call, of_sizes, pin
from .branch import choose
from .paths import path_here
from .unroll import attempted

DEEPEST_RECURSION = 8                                        # levels of a recursion that depends on data


class EndsBySize(Exception):
    """The two sides of this branch are not to be traced: it ends a recursion, and its condition is known."""

    def __init__(self, code: object):
        super().__init__(code)
        self.code = code


class _EndlessRecursion(BaseException):
    """This condition stands in itself too often. It is an error of the outermost one alone: each level would else try
    again by all ways that it has.
    """

    def __init__(self, code: object):
        super().__init__(code)
        self.code = code


class Branches:
    """The branches of a program that are being traced. Both sides of each are, unless it stands in itself."""

    def __init__(self) -> None:
        self.open: list[Any] = []                             # the code of branches and `try`s, one in the other
        self.by_size: set[Any] = set()  # of those by which a recursion ends, for sizes of arrays that are known
        self.apart: set[object] = set()                       # of those whose sides no program can join

    def choose(self, code_of: Callable, *branch: Any) -> Any:
        """The result of a branch. In a `try` its test may be a fork (see paths.py)."""
        path = path_here()
        if path is None:
            return self._both(code_of.__code__, *branch)
        test, if_true, if_false, cells = branch[:4]
        both = functools.partial(self._both, code_of.__code__, *branch)
        return path.chosen(code_of.__code__, test, if_true, if_false, both, cells)

    def _both(self, code: object, *branch: Any) -> Any:
        """Trace both sides of a branch, unless it stands in itself: in a recursion, whose levels have no number if it
        ends by data.
        """
        if code in self.by_size or code in self.open:
            known = of_sizes(branch[0])
            if known is not None and code in self.by_size:
                return (branch[1] if known else branch[2])()
            if known is not None:
                raise EndsBySize(code)
        value = of_call(branch[0]) if code in self.apart else None
        if value is not None:
            pin(branch[0], value)
            return (branch[1] if value else branch[2])()
        try:
            with self.entered(code):
                return attempted(functools.partial(choose, *branch), branch[3])
        except EndsBySize as found:
            if found.code is not code or code in self.open:
                raise
            self.by_size.add(code)
        except UnjoinableError:
            if of_call(branch[0]) is None:
                raise
            self.apart.add(code)                              # for this branch, and where one around it is traced again
        return self._both(code, *branch)

    @contextmanager
    def entered(self, code: object) -> Iterator[None]:
        """For this time both sides of a condition are traced. An error if it stands in itself too often."""
        if self.open.count(code) >= DEEPEST_RECURSION:
            raise _EndlessRecursion(code)
        self.open.append(code)
        try:
            yield
        except _EndlessRecursion as found:
            if found.code is not code or self.open.count(code) > 1:
                raise
            raise UnstageableError("a function calls itself under a condition that depends on data",
                                   why="both sides of each condition are traced, and the recursion would have no end",
                                   do="write it as a loop (while)") from None
        finally:
            self.open.pop()
