"""Kinds of things outside: containers, open objects whose attributes may change, and what nothing can be put into."""

import weakref
from collections import ChainMap, UserDict, UserList, deque
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...util.own import own_dict
from ...util.where import is_library, package_name
from ..objects.containers import slots_of
from ..objects.opaque_state import BUFFERS

OPERATORS = {
    f"__{r}{name}__"
    for r in ("", "r", "i")
    for name in ("add", "sub", "mul", "truediv", "matmul", "pow", "floordiv", "mod", "and", "or", "xor")
} | {
    "__getitem__", "__iter__", "__len__", "__contains__", "__neg__", "__abs__", "__float__", "__int__", "__index__",
    "__array__", "__getattr__", "__enter__",
}
VIEWS: tuple[Any, ...] = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_KEYED: tuple[type, ...] = (dict, UserDict, ChainMap, MappingProxyType)
_LISTED = (list, tuple, deque, UserList)
_SETS = (set, frozenset)
CONTAINERS: tuple[type, ...] = (*_KEYED, *_LISTED, *_SETS, *BUFFERS)  # with the classes that users make of them
_NUMBERS = frozenset(
    (str, bytes, int, float, complex, bool, type(None))
)  # a user's class made of one may have attributes
_PLAIN: tuple[type, ...] = (
    np.ndarray,
    np.generic,
    weakref.ref,
    *CONTAINERS,
    FunctionType,
    MethodType,
    BuiltinFunctionType,
)
_CLOSED = {
    "builtins", "fad", "numpy", "scipy", "numba", "functools", "math", "cmath", "itertools", "collections", "warnings",
    "torch", "jax",
}
MISSING = object()


def is_object(x: object) -> bool:
    """Whether x is an object of the user's, and neither a class nor a module."""
    return is_open(x) and not isinstance(x, (type, ModuleType))


def is_open(x: object) -> bool:
    """Whether x is an object, a class or a module of the user's, so that its attributes may change."""
    if type(x) in _NUMBERS or issubclass(type(x), _PLAIN):   # a proxy is an object, whatever it passes for
        return False
    if isinstance(x, ModuleType):
        return not is_library(getattr(x, "__file__", None) or "") and x.__name__.split(".")[0] not in _CLOSED
    cls = x if isinstance(x, type) else type(x)
    return package_name(cls) not in _CLOSED


def has_attributes(x: object) -> bool:
    """Whether x is an object, and no class, module or function, with attributes that Python shows."""
    if isinstance(x, (type, ModuleType, FunctionType)):
        return False
    return type(own_dict(x)) is dict or bool(slots_of(type(x)))
