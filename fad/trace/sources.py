"""What a traced function took from outside, and whether that is still the same: a program whose sources changed is traced anew.

An array is an input of the program: its source is which array it is, and its elements may change freely. All else is part of the program:
of numbers, texts, lists and dicts (and their kin) the contents count, of other objects their identity.
"""
import ctypes
from array import array
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.where import is_library

_NUMBERS = (bool, int, float, complex, str, bytes)
_KEYED = (dict, UserDict, ChainMap, MappingProxyType)
_LISTED = (list, tuple, deque, UserList)
_SETS = (set, frozenset)
BUFFERS = (bytearray, array, ctypes.Array, ctypes.Structure, ctypes.c_double.__base__)        # the last is that of all numbers of C
CONTAINERS = (*_KEYED, *_LISTED, *_SETS, *BUFFERS)             # with the classes that users make of them
_CHANGED = object()
MISSING = object()
DEEPEST = 20


class Source:
    """Where an outside value came from, and what it was. read() is the very `value` for as long as nothing changed.

    attributes: where the value is known by what some attributes of an object are, the object, and {name: that}: a quicker way to see it.
    """

    __slots__ = ("read", "value", "attributes")

    def __init__(self, read: Callable, value: Any, attributes: "tuple | None" = None):
        self.read, self.value, self.attributes = read, value, attributes

    @property
    def unchanged(self) -> bool:
        now = self.read()
        return now is self.value or (type(now) is type(self.value) and isinstance(now, _NUMBERS) and now == self.value)


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
    before = _snapshot(container)
    return Source(lambda: before if _is(container, before) else _CHANGED, before)


def of_all_in(x: Any) -> Source:
    """An object with all that is in it, elements of arrays and attributes of objects too: for code that is not rewritten."""
    before = _snapshot(x, deep=True)
    return Source(lambda: before if _is(x, before) else _CHANGED, before)


def of_attributes(container: Any) -> Source:
    """The attributes of a list or dict of a class of the user's."""
    before = _snapshot(_attributes(container))
    return Source(lambda: before if _is(_attributes(container), before) else _CHANGED, before)


def of_elements(array: np.ndarray) -> Source:
    """An array whose elements were looked at while tracing."""
    return of_all_in(array)


def of_attribute(owner: Any, name: str, value: Any) -> Source:
    """An attribute of an object, a class or a module."""
    own = getattr(owner, "__dict__", None)
    if isinstance(own, dict) and name in own:
        return Source(lambda: own.get(name, MISSING), value)
    return Source(lambda: getattr(owner, name, MISSING), value)


def of_element(container: Any, key: Any, value: Any) -> Source:
    """An element of a list, tuple or dict."""
    return Source(lambda: _element(container, key), value)


def of_presence(owner: Any, name: str, found: bool) -> Source:
    """Whether an object has an attribute of this name."""
    return Source(lambda: hasattr(owner, name), found)


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
    """How many elements there are."""
    return Source(lambda: len(container), len(container))


def _element(container: Any, key: Any) -> Any:
    try:
        return container[key]
    except (IndexError, KeyError):
        return MISSING


def _snapshot(x: Any, depth: int = 0, deep: bool = False) -> Any:
    """The contents: the type with the elements' contents; numbers and texts as they are; for all else the object itself."""
    if isinstance(x, _SETS):
        return Inside(type(x), set(x))
    if isinstance(x, BUFFERS) or (deep and isinstance(x, np.ndarray)):
        return Inside(type(x), x.tobytes() if isinstance(x, np.ndarray) else bytes(x))
    if depth >= DEEPEST:
        return x
    if isinstance(x, _KEYED):
        return Inside(type(x), [(k, _snapshot(v, depth + 1, deep)) for k, v in _pairs(x)], _snapshot(_attributes(x), depth + 1, deep))
    if isinstance(x, _LISTED):
        return Inside(type(x), [_snapshot(v, depth + 1, deep) for v in _elements(x)], _snapshot(_attributes(x), depth + 1, deep))
    if deep and is_open(x) and isinstance(getattr(x, "__dict__", None), dict):
        return Inside(type(x), _snapshot(x.__dict__, depth + 1, deep))
    return x


class Inside:
    """What was in a container (and in its attributes, if its class is a user's), an array or an object."""

    __slots__ = ("attributes", "cls", "elements")

    def __init__(self, cls: type, elements: Any, attributes: Any = None):
        self.cls, self.elements, self.attributes = cls, elements, attributes


def _pairs(x: Any) -> Iterable:
    """The items of a dict, also where a class of the user's gives them out otherwise."""
    return dict.items(x) if isinstance(x, dict) else x.items()


def _elements(x: Any) -> Iterable:
    return list.__iter__(x) if isinstance(x, list) else x


def _attributes(x: Any) -> Any:
    return getattr(x, "__dict__", None) if type(x).__module__ not in ("builtins", "collections", "types") else None


def _is(x: Any, before: Any) -> bool:
    """Whether x has the contents that it had."""
    if not isinstance(before, Inside):
        return x is before or (type(x) is type(before) and isinstance(x, _NUMBERS) and x == before)
    if type(x) is not before.cls:
        return False
    if isinstance(x, (np.ndarray, *BUFFERS)):
        return (x.tobytes() if isinstance(x, np.ndarray) else bytes(x)) == before.elements
    if not isinstance(x, CONTAINERS):
        return _is(x.__dict__, before.elements)
    if len(x) != len(before.elements) or not _is(_attributes(x) if before.attributes is not None else None, before.attributes):
        return False
    if isinstance(x, _KEYED):
        return all((k is j or k == j) and _is(v, w) for (k, v), (j, w) in zip(_pairs(x), before.elements))
    return bool(x == before.elements) if isinstance(x, _SETS) else all(map(_is, _elements(x), before.elements))


_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, *CONTAINERS, FunctionType, MethodType, BuiltinFunctionType, type(None))
_CLOSED = {"builtins", "fad", "numpy", "scipy", "numba", "functools", "math", "cmath", "itertools", "collections", "warnings", "torch", "jax"}


def is_open(x: Any) -> bool:
    """Whether x is an object, a class or a module of the user's, so that its attributes may change."""
    if isinstance(x, _PLAIN):
        return False
    if isinstance(x, ModuleType):
        return not is_library(getattr(x, "__file__", None) or "") and x.__name__.split(".")[0] not in _CLOSED
    cls = x if isinstance(x, type) else type(x)
    return str(cls.__module__).split(".")[0] not in _CLOSED
