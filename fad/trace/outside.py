"""What a function can change outside itself, as it was: lists, dicts, objects, arrays and random generators that it reaches.

A trace that fails has run the function up to the line where it failed. Before the function is run again, all of this is put back.
"""
import functools
from collections import deque
from collections.abc import Iterable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.errors import SideEffectError
from ..util.where import Where, is_library
from .containers import contents, is_users, put_contents
from .draws import common_generators, is_generator, put_state, same_state, state_of
from .sources import is_open

MOST = 2000                                                   # containers that are looked into; elements of one of them, too
LARGEST = 1 << 20                                             # bytes of an array that is kept


class Outside:
    """A memory of what f (with these arguments) reaches from its globals, its closure, its object and the arguments."""

    def __init__(self, f: Any, arguments: Iterable):
        self.containers: list[tuple] = []
        self.arrays: list[tuple] = []
        self.generators: list[tuple] = []
        self.function = f
        self._visit([f, *common_generators(), *[x for x in arguments if not isinstance(x, np.ndarray)]])

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
        if is_generator(x):
            self.generators.append((x, state_of(x)))
            return ()
        if isinstance(x, FunctionType):
            return () if is_library(x.__code__.co_filename) else _reached(x)
        if isinstance(x, MethodType):
            return x.__self__, x.__func__
        if isinstance(x, functools.partial):
            return x.func, *x.args, *x.keywords.values()
        if callable(x) and not is_users(x) and hasattr(x, "__wrapped__"):     # a transform of fad's
            return (x.__wrapped__,)
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
        for generator, state in self.generators:
            put_state(generator, state)

    def refuse_draws(self) -> None:
        """An error if random numbers were drawn from a generator that was there before."""
        if all(same_state(state_of(generator), state) for generator, state in self.generators):
            return
        code = getattr(self.function, "__code__", None)
        raise SideEffectError("random numbers are drawn while the function is traced", where=Where(code.co_filename, code.co_firstlineno) if code else None,
                              why="a program would have the same numbers at each call",
                              do="draw them before, and pass them as arguments; or make the generator in the function, with a seed")


def _reached(f: FunctionType) -> list:
    """What a user's function reads: globals by name, and what it closes over."""
    names = _names(f.__code__)
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    found += [vars(m)[name] for m in found if isinstance(m, ModuleType) and is_open(m) for name in names if name in vars(m)]
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
