"""What a function can change outside itself, as it was: lists, dicts, objects, arrays and random generators that it reaches.

A trace that fails has run the function up to the line where it failed. Before the function is run again, all of this is put back.
"""
import functools
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from types import BuiltinMethodType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.errors import SideEffectError, UnstageableError
from ..util.where import Where, is_captured_class, is_library
from .containers import MOST, contents, is_empty, is_users, may_change, put_contents
from .draws import common_generators, goes_on, held_by, put_state, same_state, state_of
from .guards.bytecode import assigned_globals, names_used
from .guards.guard import Guard, Read
from .guards.kinds import is_open
from .pythons import LARGEST, arrays_within, held_in, is_held_in, put_in


class Outside:
    """A memory of what f (with these arguments) reaches from its globals, its closure, its object and the arguments.

    An UnstageableError if that is more than MOST things: the tape takes nothing back, and need not know them.
    """

    def __init__(self, f: Any, arguments: Iterable = (), with_arrays: bool = True):
        self.containers: list[tuple] = []
        self.arrays: list[tuple] = []
        self.generators: list[tuple] = []
        self.variables: list[tuple] = []
        self.names: list[tuple] = []                          # (global names of a module or a cell, name, value)
        self.function, self.with_arrays = f, with_arrays
        self._visit([f, *common_generators(), *[x for x in arguments if not isinstance(x, np.ndarray)]])

    def _visit(self, queue: list) -> None:
        seen: set[int] = set()
        while queue:
            x = queue.pop()
            if id(x) not in seen:
                seen.add(id(x))
                queue += may_change(self._note(x))
            if len(seen) > MOST:
                raise UnstageableError(f"the function can reach more than {MOST:,} lists, dicts, objects and functions", where=self._where,
                                       why="a trace that fails puts them back as they were", do="pass the function only what it needs of them")

    def _note(self, x: Any) -> Iterable:
        """Remember what x holds; what is to be looked at next."""
        if isinstance(x, np.ndarray):
            if self.with_arrays and x.nbytes <= LARGEST and x.flags.writeable:
                self.arrays.append((x, x.copy()))
            return ()
        if goes_on(x):
            self.generators.append((x, state_of(x)))
            return ()
        if isinstance(x, FunctionType) and not is_library(x.__code__.co_filename):
            self.names += [(x.__globals__, name, x.__globals__[name]) for name in assigned_globals(x.__code__) if name in x.__globals__]
            self.names += [(cell, "", cell.cell_contents) for cell in x.__closure__ or () if not is_empty(cell)]
        if isinstance(x, ContextVar):
            self.variables.append((x, held_in(x)))
        if isinstance(x, ModuleType):
            if is_open(x):
                self.containers.append((x, contents(x)))
            return ()
        if isinstance(x, (list, dict, set, deque)) or is_users(x):
            inside = contents(x)
            self.containers.append((x, inside))
            items = inside.values() if isinstance(inside, dict) else inside
            return [*may_change(items), *_parts_of_class(x if isinstance(x, type) else type(x))]
        return parts_of(x)

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
        for variable, value in self.variables:
            put_in(variable, value)
        for place, name, value in self.names:
            if isinstance(place, CellType):
                place.cell_contents = value
            else:
                place[name] = value

    def changes(self) -> list:
        """Sources that say whether what was changed is as it was left: what writes it once must do so again where it is not."""
        return [left_as(owner, contents(owner), before) for owner, before in self.containers if not _unchanged(contents(owner), before)]

    @property
    def is_changed(self) -> bool:
        """Whether anything is not as it was."""
        return (any(not _unchanged(contents(owner), before) for owner, before in self.containers) or any(x.tobytes() != before.tobytes() for x, before in self.arrays)
                or not all(is_held_in(variable, value) for variable, value in self.variables))

    @property
    def _where(self) -> "Where | None":
        code = getattr(self.function, "__code__", None)
        return Where(code.co_filename, code.co_firstlineno) if code else None

    def refuse_changes(self, is_current: bool) -> None:
        """An error if anything has changed, and the program does not know it."""
        if is_current and self.is_changed:
            raise SideEffectError("something outside the function is changed by code that a program does not see", where=self._where,
                                  why="it changes as the function is traced, and not at each call", do="change it in the function itself, or in a method that it names")

    @property
    def has_drawn(self) -> bool:
        """Whether random numbers were drawn from a generator that was there before."""
        return not all(same_state(state_of(generator), state) for generator, state in self.generators)

    def refuse_draws(self) -> None:
        """An error if random numbers were drawn from a generator that was there before."""
        if not self.has_drawn:
            return
        raise SideEffectError("random numbers are drawn while the function is traced", where=self._where,
                              why="a program would have the same numbers at each call",
                              do="draw them before, and pass them as arguments; or make the generator in the function, with a seed")


def left_as(owner: Any, now: Any, before: Any) -> Guard:
    """A container as it is now; of a dict or an object, what is another thing than before."""
    if not isinstance(now, dict):
        return Read(lambda: now if _unchanged(contents(owner), now) else None, now)
    names = [k for k in {**before, **now} if not (k in before and k in now and _same(before[k], now[k]))]
    left = {k: now[k] for k in names if k in now}

    def read() -> Any:
        inside = contents(owner)
        return left if _unchanged({k: inside[k] for k in names if k in inside}, left) else None
    return Read(read, left)


def parts_of(x: Any) -> Iterable:
    """What a function, a method or an object that is no container leads to."""
    if isinstance(x, FunctionType):
        return () if is_library(x.__code__.co_filename) else _reached(x)
    if isinstance(x, MethodType):
        return x.__self__, x.__func__
    if isinstance(x, functools.partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, np.vectorize):
        return (x.pyfunc,)
    if isinstance(x, BuiltinMethodType):
        return () if isinstance(x.__self__, ModuleType) else (x.__self__,)
    if isinstance(x, property):
        return x.fget, x.fset
    if isinstance(x, (staticmethod, classmethod)):
        return (x.__func__,)
    if callable(x) and hasattr(x, "__wrapped__"):             # a transform of fad's
        return (x.__wrapped__,)
    return x if isinstance(x, tuple) else [*held_by(x), *arrays_within(x)]


def _parts_of_class(cls: type) -> Iterable:
    """The methods, properties and values of a class of the user's, and of those it derives from."""
    return [x for c in cls.__mro__ if is_users(c) and is_captured_class(c) for x in vars(c).values()]


def _reached(f: FunctionType) -> list:
    """What a user's function reads: globals by name, and what it closes over."""
    names = names_used(f.__code__)
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    found += [vars(m)[name] for m in found if isinstance(m, ModuleType) and is_open(m) for name in names if name in vars(m)]
    for cell in f.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:                                    # not bound yet
            continue
    return [*found, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]


def _unchanged(a: Any, b: Any) -> bool:
    """Whether two copies of what a container held are of the same things in the same order, or of equal numbers and texts."""
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(_same, a.values(), b.values()))
    return a == b if isinstance(a, set) else all(map(_same, a, b))


def _same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) and isinstance(x, (str, bytes, bool, int, float, complex)) and (x == y or x != x))
