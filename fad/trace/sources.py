"""What a traced function took from outside, and whether that is still the same: a program whose sources changed is traced anew.

An array is an input of the program: its source is which array it is, and its elements may change freely. All else is part of the program:
of numbers, texts, lists and dicts (and their kin) the contents count, of other objects their identity.
"""
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from itertools import repeat
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.where import is_library
from .pythons import BUFFERS
from .snapshot import MISSING, Snapshot, is_same

_KEYED = (dict, UserDict, ChainMap, MappingProxyType)
_LISTED = (list, tuple, deque, UserList)
_SETS = (set, frozenset)
CONTAINERS = (*_KEYED, *_LISTED, *_SETS, *BUFFERS)             # with the classes that users make of them
_CHANGED = object()


class Source:
    """Where an outside value came from, and what it was. read() is the very `value` for as long as nothing changed.

    attributes: where the value is known by what some attributes of an object are, the object, and {name: that}: a quicker way to see it.
    """

    __slots__ = ("read", "value", "attributes")

    def __init__(self, read: Callable, value: Any, attributes: "tuple | None" = None):
        self.read, self.value, self.attributes = read, value, attributes

    @property
    def unchanged(self) -> bool:
        return is_same(self.read(), self.value)


def of_contents(container: Any) -> Source:
    """A list, tuple, dict or set, by what is in it.

    >>> rates = {"slow": 0.1, "steps": [1, 2]}
    >>> source = of_contents(rates)
    >>> source.unchanged
    True
    >>> rates["steps"].append(3)
    >>> source.unchanged
    False
    """
    return of_snapshot(Snapshot(container))


def of_all_in(x: Any) -> Source:
    """An object with all that is in it, elements of arrays and attributes of objects too: for code that is not rewritten."""
    return of_snapshot(Snapshot(x, deep=True, is_open=is_object))


def of_snapshot(before: Snapshot) -> Source:
    """What a snapshot has kept."""
    return Source(lambda: before if before.is_unchanged() else _CHANGED, before)


def of_attributes(container: Any) -> Source:
    """The attributes of a list or dict of a class of the user's."""
    return of_snapshot(Snapshot(getattr(container, "__dict__", None)))


def of_elements(array: np.ndarray) -> Source:
    """An array whose elements were looked at while tracing."""
    return of_all_in(array)


def of_attribute(owner: Any, name: str, value: Any) -> Source:
    """An attribute of an object, a class or a module."""
    return Source(lambda: getattr(owner, name, MISSING), value)


def of_element(container: Any, key: Any, value: Any) -> Source:
    """An element of a list, tuple or dict."""
    return Source(lambda: _element(container, key), value)


def of_presence(owner: Any, name: str, found: bool) -> Source:
    """Whether an object has an attribute of this name."""
    return Source(lambda: hasattr(owner, name), found)


def of_names(space: Any, names: Iterable) -> Source:
    """What global names, or those of a module or a class, stand for in its dict; of names that are not there, that they are not.

    >>> scope = {"rate": 0.5}
    >>> source = of_names(scope, ["rate", "gain"])
    >>> scope["gain"] = 2.0
    >>> source.unchanged
    False
    """
    names = tuple(names)
    before = tuple(map(space.get, names, repeat(MISSING)))
    return Source(lambda: before if all(map(is_same, map(space.get, names, repeat(MISSING)), before)) else _CHANGED, before)


def of_absence(space: dict, names: Iterable) -> Source:
    """That names are not among these global ones: they are Python's own, or an error."""
    names = frozenset(names)
    return Source(lambda: names if space.keys().isdisjoint(names) else _CHANGED, names)


def of_variable(variable: ContextVar) -> list:
    """What a context variable stands for."""
    value = variable.get(MISSING)
    return [Source(lambda: variable.get(MISSING), value), of_all_in(value)]


def of_answer(ask: Callable, answer: Any) -> Source:
    """What a library said when it was asked."""
    return Source(lambda: answer if ask() == answer else _CHANGED, answer)


def of_class(cls: type, name: str) -> Source:
    """What a class, or a class that it derives from, has under this name: a method, a property, a value."""
    value = in_class(cls, name)
    if getattr(cls, name, MISSING) is value:                  # the quicker way, where it does not make a method of a function
        return Source(lambda: getattr(cls, name, MISSING), value)
    return Source(lambda: in_class(cls, name), value)


def in_class(cls: type, name: str) -> Any:
    """What the instances of a class find there under this name, as it stands; MISSING if they do not."""
    return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), MISSING)


def of_function(f: FunctionType) -> Source:
    """What a function does: its code and its default values (who reloads a module may give an old function new ones)."""
    before = {name: getattr(f, name) for name in ("__code__", "__defaults__", "__kwdefaults__")}
    return Source(lambda: f if all(getattr(f, name) is value for name, value in before.items()) else _CHANGED, f, (f, before))


def of_length(container: Any) -> Source:
    """How many elements there are; of a dict its keys, in their order."""
    if isinstance(container, dict):
        keys = list(container)
        return Source(lambda: keys if list(container) == keys else _CHANGED, keys)
    return Source(lambda: len(container), len(container))


def _element(container: Any, key: Any) -> Any:
    try:
        return container[key]
    except (IndexError, KeyError):
        return MISSING


_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, *CONTAINERS, FunctionType, MethodType, BuiltinFunctionType, type(None))
_CLOSED = {"builtins", "fad", "numpy", "scipy", "numba", "functools", "math", "cmath", "itertools", "collections", "warnings", "torch", "jax"}


def is_object(x: Any) -> bool:
    """Whether x is an object of the user's, and neither a class nor a module."""
    return is_open(x) and not isinstance(x, (type, ModuleType))


def is_open(x: Any) -> bool:
    """Whether x is an object, a class or a module of the user's, so that its attributes may change."""
    if isinstance(x, _PLAIN):
        return False
    if isinstance(x, ModuleType):
        return not is_library(getattr(x, "__file__", None) or "") and x.__name__.split(".")[0] not in _CLOSED
    cls = x if isinstance(x, type) else type(x)
    return str(cls.__module__).split(".")[0] not in _CLOSED
