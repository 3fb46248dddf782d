"""NumPy's and SciPy's namespaces under fad's name, for those who want to say it: fad.numpy.sin is numpy.sin, and
traces.
"""
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ...ir import stack
from ...ops.override import Override, find
from ...util.lazy import imported
from ...util.nearest import MissingName
from ..values.mutation import call_override
from .library import has_traced


def attribute_of(library: str) -> "tuple[Callable, Callable]":
    """__getattr__ and __dir__ for a module that stands for the library of this name."""
    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _looked_up(imported(library), name)
        found = None if isinstance(value, (ModuleType, type)) else find(value)
        return value if found is None else _calling(value, found)

    def names() -> list:
        return [n for n in dir(imported(library)) if not n.startswith("_")]
    return get, names


def _looked_up(module: ModuleType, name: str) -> Any:
    """A name that the library makes on request, or has dropped and explains in its own words."""
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise MissingName(str(error), name, lambda: dir(module)) from None


def _calling(original: Callable, found: Override) -> Callable:
    """The override where an argument is traced (or a program being traced creates an array), else the original."""
    def call(*args: object, **kwargs: object) -> Any:
        if has_traced(args) or has_traced(kwargs.values()) or (found.creation and stack.builders()):
            return call_override(found.name.rpartition(".")[2], found.call, args, kwargs, original)
        return original(*args, **kwargs)
    call.__name__ = call.__qualname__ = getattr(original, "__name__", "call")
    call.__doc__ = original.__doc__
    return call
