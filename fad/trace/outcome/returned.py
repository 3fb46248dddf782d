"""Objects that a function returns, which it has made or in which traced values are: each call makes them anew, with its
own values.

    class State: ...               State(x=<traced>)  ->  Made(State, ("x",), [<traced>])  ->  leaves, structure

The attributes are parts of the result's tree, as the items of a list are; the class's `__init__` does not run again.
"""
import functools
import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...ir.value import Value
from ...util import tree
from ...util.errors import UnstageableError
from ...util.own import own_dict
from ...util.reach import reached
from ..frontend.expressions import RUNTIME
from ..guards.bytecode import names_used
from ..heap.journal import made
from ..lists.export import plain
from ..objects.containers import CHANGING, contents, is_users
from ..runtime.library import original_of
from ..runtime.name_dicts import AttributeDict
from .leaks import stays

_NO_OBJECTS = (Value, np.ndarray, np.generic, int, float, complex, str, list, type)
_HOLD_NOTHING = (Value, np.ndarray, np.generic, int, float, complex, str, bytes, type, ModuleType, CodeType)


class Made:
    """An object of the result as a node of its tree. take_apart(x) gives the rest and the values, and
    rebuild(cls, rest, values) an object.
    """

    def __init__(self, cls: type, rest: object, values: list, rebuild: Callable):
        self.cls, self.rest, self.values, self.rebuild = cls, rest, values, rebuild


def _rebuilt(static: tuple, values: tuple) -> object:
    cls, rest, rebuild = static
    return made(rebuild(cls, rest, values))


tree.register(Made, lambda m: (tuple(m.values), (m.cls, m.rest, m.rebuild)), _rebuilt)


def in_parts(builder: Builder, result: object, around: tuple = ()) -> Any:
    """A result in which the objects that hold traced values are nodes of its tree. around: the objects that hold it.

    A function within a program gives any other object as it is: a transform says what it needs instead.
    """
    leaves, structure = tree.flatten(result)
    parts = [_in_parts(builder, x, around) for x in leaves]
    return result if all(a is b for a, b in zip(parts, leaves)) else structure.unflatten(parts)


def _in_parts(builder: Builder, x: object, around: tuple) -> Any:
    if isinstance(x, AttributeDict):
        return in_parts(builder, x.copy(), around)
    if isinstance(x, _NO_OBJECTS):
        return x
    is_traced = _holds_traced(builder.root, original_of(x))
    is_spent = isinstance(x, Iterator) and not is_users(x) and not builder.root.live          # by the first caller
    if not is_traced and not is_spent and not _is_new(builder.root, x):
        return x
    taken = None if any(x is y for y in around) else _taken_apart(x)
    if taken is None and (not is_traced and not is_spent or builder.parent is not None and not builder.root.live):
        return x
    if taken is None:
        raise UnstageableError(
            f"the result holds a traced value, in an object of class {type(x).__name__}" if is_traced else
            "the result is an iterator, whose items are there once",
            why="a program returns numbers, arrays, and tuples, lists, dicts and objects of these",
            do="return the value itself" if is_traced else "return a list of them",
        )
    rest, values, rebuild = taken
    return Made(type(x), rest, [in_parts(builder, plain(y), (*around, x)) for y in values], rebuild)


def _taken_apart(x: object) -> "tuple[object, list, Callable] | None":
    """The parts of an object, and how it is made of them; None of one that is more than its attributes."""
    if type(x) is slice:
        return None, [x.start, x.stop, x.step], _of_values
    if type(x) is set:
        return None, list(x), _set
    if type(x) is deque:
        return x.maxlen, list(x), _deque
    if type(x) is functools.partial:
        return tuple(x.keywords), [x.func, *x.args, *x.keywords.values()], _partial
    if is_users(x) and not isinstance(x, type) and _maker(type(x)) in (object, SimpleNamespace):
        inside = contents(x)
        return tuple(inside), list(inside.values()), _object
    return None


def _maker(cls: type) -> type:
    """The class in C that makes the instances of a class."""
    return next(c for c in cls.__mro__ if not isinstance(vars(c).get("__new__", _maker), (FunctionType, staticmethod)))


def _of_values(cls: type, rest: None, values: tuple) -> object:
    return cls(*values)


def _set(cls: type[set], rest: None, values: tuple) -> set:
    return cls(values)


def _deque(cls: type[deque], maxlen: "int | None", values: tuple) -> deque:
    return cls(values, maxlen)


def _partial(cls: type, names: tuple, values: tuple) -> functools.partial:
    end = len(values) - len(names)
    return functools.partial(values[0], *values[1:end], **dict(zip(names, values[end:])))


def _object(cls: type, names: tuple, values: tuple) -> object:
    maker: Any = _maker(cls)
    y = maker.__new__(cls)
    for name, x in zip(names, values):
        object.__setattr__(y, name, x)
    return y


def _is_new(root: Builder, x: object) -> bool:
    """Whether the trace has made x, which the caller may change."""
    return not root.live and not isinstance(x, type) and (isinstance(x, CHANGING) or is_users(x)) and not stays(root, x)


def _holds_traced(root: Builder, x: object) -> bool:
    """Whether a traced value can be reached from x, past what was there before the trace."""
    def parts(y: object) -> Iterable:
        is_of_trace = type(y) is FunctionType and RUNTIME in y.__globals__
        y = y if is_of_trace else original_of(y)
        if isinstance(y, _HOLD_NOTHING) or stays(root, y):
            return ()
        return _parts_of_function(y) if type(y) is FunctionType else _parts(y)
    return any(isinstance(original_of(y), Value) for y in reached([x], parts))


def _parts_of_function(f: FunctionType) -> list:
    """The things that a function reads; a function that the trace makes has global names of its own."""
    names = names_used(f.__code__) & f.__globals__.keys() if RUNTIME in f.__globals__ else ()
    named = [f.__globals__[name] for name in names]
    return [f.__defaults__, f.__kwdefaults__, *f.__dict__.values(), *(f.__closure__ or ()), *named]


def _parts(x: object) -> list:
    """The things that an object refers to; its attributes stand in a dict that nobody else has."""
    own = own_dict(x)
    if not isinstance(own, dict):
        return gc.get_referents(x)
    return [y for y in gc.get_referents(x) if y is not own] + list(own.values())
