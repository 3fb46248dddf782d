"""What a function can change outside itself, as it was: lists, dicts, objects and arrays that it reaches.

A trace that fails has run the function up to the line where it failed. Before the function is run again, all of this is put back.
"""
from collections import deque
from collections.abc import Iterable
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..util.where import is_library
from .containers import contents, is_users, put_contents

MOST = 2000                                                   # containers that are looked into; elements of one of them, too
LARGEST = 1 << 20                                             # bytes of an array that is kept


class Outside:
    """A memory of what f (with these arguments) reaches from its globals, its closure, its object and the arguments."""

    def __init__(self, f: Any, arguments: Iterable):
        self.containers: list[tuple] = []
        self.arrays: list[tuple] = []
        self._visit([f, *[x for x in arguments if not isinstance(x, np.ndarray)]])

    def _visit(self, queue: list) -> None:
        seen: set[int] = set()
        while queue and len(seen) < MOST:
            x = queue.pop()
            if id(x) in seen or isinstance(x, (str, bytes, int, float, complex, type)):
                continue
            seen.add(id(x))
            queue += self._note(x)

    def _note(self, x: Any) -> Iterable:
        """Remember what x holds; what is to be looked at next."""
        if isinstance(x, np.ndarray):
            if x.nbytes <= LARGEST and x.flags.writeable and x.dtype.kind in "biufc":
                self.arrays.append((x, x.copy()))
            return ()
        if isinstance(x, FunctionType):
            return () if is_library(x.__code__.co_filename) else _reached(x)
        if isinstance(x, MethodType):
            return x.__self__, x.__func__
        if isinstance(x, (list, dict, set, deque)) or is_users(x):
            inside = contents(x)
            self.containers.append((x, inside))
            items = inside.values() if isinstance(inside, dict) else inside
            return list(items) if len(items) <= MOST else ()
        return x if isinstance(x, tuple) else ()

    def restore(self) -> None:
        """Put back what was changed."""
        for owner, before in self.containers:
            if not _unchanged(contents(owner), before):
                put_contents(owner, before)
        for array, before in self.arrays:
            if array.flags.writeable:
                array[...] = before


def _reached(f: FunctionType) -> list:
    """What a user's function reads: globals by name, and what it closes over."""
    found = [f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__]
    for cell in f.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:                                    # not bound yet
            continue
    return [*found, *(f.__defaults__ or ())]


def _names(code: CodeType) -> set:
    return set(code.co_names).union(*[_names(c) for c in code.co_consts if isinstance(c, CodeType)])


def _unchanged(a: Any, b: Any) -> bool:
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(k in b and a[k] is b[k] for k in a)
    return a == b if isinstance(a, set) else all(x is y for x, y in zip(a, b))
