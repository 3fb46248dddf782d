"""What a traced function took from outside, and whether that is still the same: a program whose sources changed is traced anew.

An array is an input of the program: its source is which array it is, and its elements may change freely. All else is part of the program:
of numbers, texts, lists and dicts the contents count, of other objects their identity.
"""
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..util.where import is_library

_NUMBERS = (bool, int, float, complex, str, bytes)
_CHANGED = object()
MISSING = object()
DEEPEST = 20


class Source:
    """Where an outside value came from, and what it was. read() is the very `value` for as long as nothing changed."""

    __slots__ = ("read", "value")

    def __init__(self, read: Callable, value: Any):
        self.read, self.value = read, value

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
    if isinstance(x, dict):
        elements: Any = [(k, _snapshot(v, depth + 1, deep)) for k, v in x.items()] if depth < DEEPEST else None
    elif isinstance(x, (set, frozenset)):
        elements = set(x)
    elif isinstance(x, (list, tuple)):
        elements = [_snapshot(v, depth + 1, deep) for v in x] if depth < DEEPEST else None
    elif deep and isinstance(x, np.ndarray):
        elements = x.tobytes()
    elif deep and is_open(x) and isinstance(getattr(x, "__dict__", None), dict) and depth < DEEPEST:
        elements = _snapshot(x.__dict__, depth + 1, deep)
    else:
        return x
    return x if elements is None else _Inside(type(x), elements)


class _Inside:
    """What was in a container, an array or an object."""

    __slots__ = ("cls", "elements")

    def __init__(self, cls: type, elements: Any):
        self.cls, self.elements = cls, elements


def _is(x: Any, before: Any) -> bool:
    """Whether x has the contents that it had."""
    if not isinstance(before, _Inside):
        return x is before or (type(x) is type(before) and isinstance(x, _NUMBERS) and x == before)
    if type(x) is not before.cls:
        return False
    if isinstance(x, np.ndarray):
        return x.tobytes() == before.elements
    if not isinstance(x, (list, tuple, dict, set, frozenset)):
        return _is(x.__dict__, before.elements)
    if len(x) != len(before.elements):
        return False
    if isinstance(x, dict):
        return all(k is j or k == j for k, (j, _) in zip(x, before.elements)) and all(map(_is, x.values(), [v for _, v in before.elements]))
    return bool(x == before.elements) if isinstance(x, (set, frozenset)) else all(map(_is, x, before.elements))


_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, list, tuple, dict, set, frozenset, FunctionType, MethodType, BuiltinFunctionType,
          type(None))
_CLOSED = {"builtins", "fad", "numpy", "scipy", "numba", "functools", "math", "cmath", "itertools", "collections", "torch", "jax"}


def is_open(x: Any) -> bool:
    """Whether x is an object, a class or a module of the user's, so that its attributes may change."""
    if isinstance(x, _PLAIN):
        return False
    if isinstance(x, ModuleType):
        return not is_library(getattr(x, "__file__", None) or "") and x.__name__.split(".")[0] not in _CLOSED
    cls = x if isinstance(x, type) else type(x)
    return str(cls.__module__).split(".")[0] not in _CLOSED
