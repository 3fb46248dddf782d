"""Transforms of a function that were made and traced, kept with the function."""
import functools
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...trace.guards.part_kinds import MEMORY
from ...util.interrupts import is_hashable

OTHERS = 4  # methods and other callables


class Kept(tuple):
    """A weak reference to the function, and its record. A copy of the function in another process has no record yet:
    packages that pickle functions by their code (cloudpickle) pickle the attributes of a function, too."""

    def __reduce__(self) -> tuple:
        return Kept, ((type(None), {}),)                      # type(None)() is no function


class Keeper:
    """A callable of fad's own: what is made of it is kept with it from the first time on."""


def memory_of(f: "FunctionType | Keeper") -> "dict | None":
    """The record kept with a function; None if there is none. Another function may share its attributes
    (functools.wraps)."""
    kept = f.__dict__.get(MEMORY)
    return kept[1] if kept is not None and kept[0]() is f else None


def made_memory(f: "FunctionType | Keeper") -> dict:
    """The record kept with a function, made where there is none."""
    kept = memory_of(f)
    if kept is None:
        f.__dict__[MEMORY] = Kept((weakref.ref(f), (kept := {})))
    return kept


def first_of(f: object, options: tuple) -> Any:
    """The transform with these options that was kept with the function f; None if there is none."""
    kept = memory_of(f) if type(f) is FunctionType and f.__dict__ else None
    return kept.get(options) if kept and is_hashable(options) else None


def keep_first(f: object, options: tuple, made: object) -> None:
    """Keep a transform with the function f for others with the same options, if they can be hashed."""
    if type(f) is FunctionType and is_hashable(options):
        made_memory(f).setdefault(options, made)


def remembered(make: Callable) -> Callable:
    """make(f, *options), kept with the function f once f has been traced.

    Nothing can be kept with a method or an object that is called, but what is made of it keeps it alive, with its data.
    The latest few are remembered for those whose programs other functions of their code do not share (shared.py).
    """
    others = functools.lru_cache(maxsize=OTHERS)(make)

    @functools.wraps(make)
    def get(f: object, *options: object) -> Any:
        if not isinstance(f, FunctionType | Keeper):
            return others(f, *options) if is_hashable(f) else make(f, *options)
        table = made_memory(f) if isinstance(f, Keeper) else memory_of(f) if f.__dict__ else None
        if table is None:  # a function that is made anew at each call should be freed at once
            return make(f, *options)
        key = (get, *options)
        found = table.get(key)
        if found is None:
            found = table[key] = make(f, *options)
        return found
    return get
