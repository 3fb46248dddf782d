"""All that can be reached from some things."""
import functools
import gc
import weakref
from collections.abc import Callable, Iterable, Iterator
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import (
    BuiltinMethodType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    TracebackType,
)
from typing import Any, TypeVar

import numpy as np

from .own import own_dict

T = TypeVar("T")
PROXIES = frozenset(weakref.ProxyTypes)


def reached(start: Iterable[T], parts: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """These things and what parts(x) tells of each, at any depth, each thing once.

    >>> tree = [1, [2, [3]]]
    >>> [x for x in reached([tree], lambda x: x if isinstance(x, list) else ()) if isinstance(x, int)]
    [3, 2, 1]
    """
    seen: dict[int, T] = {}
    queue = list(start)
    while queue:
        x = queue.pop()
        if id(x) not in seen and not (type(x) in PROXIES and is_gone(x)):
            seen[id(x)] = x
            yield x
            queue.extend(parts(x))                           # `+=` would ask a user's class of lists first


def is_gone(proxy: object) -> bool:
    """Whether the thing that a weak proxy stands for is gone."""
    try:
        return proxy.__class__ is None
    except ReferenceError:
        return True


_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))  # a class made of one may have attributes
# what holds no data, or leads to all that there is: the loader of a module of pytest's leads to all tests
_CLOSED = (np.generic, type, ModuleType, ModuleSpec, Loader, CodeType, FrameType, TracebackType)


def referents(x: Any) -> Iterable:
    """The things that x holds: items and keys, attributes, slots, variables of a function, what C code holds for it.
    Neither its class nor its dict of attributes is one of them.
    """
    cls = type(x)                                             # a proxy passes for what it stands for
    if cls in _PLAIN or issubclass(cls, _CLOSED):
        return ()
    if cls is FunctionType or cls.__name__ == "cython_function_or_method":        # and not its global names
        return x.__defaults__, x.__kwdefaults__, *x.__dict__.values(), *(x.__closure__ or ())
    own = own_dict(x)
    found = x.ravel().tolist() if issubclass(cls, np.ndarray) and x.dtype.hasobject else gc.get_referents(x)
    inside = own.values() if type(own) is dict else ()
    return [*[y for y in found if y is not own and y is not cls], *inside]


CALLS = (MethodType, functools.partial)
_NOBODYS = (ModuleType, type(None))                           # what functions in C that are no methods have as __self__


def parts_of_call(x: Any) -> tuple:
    """The function that a method or a partial call calls, and the arguments that it gives."""
    return (x.__self__, x.__func__) if type(x) is MethodType else (x.func, *x.args, *x.keywords.values())


def wrapped_by(x: Any) -> "tuple | None":
    """The things that a method, a partial call, a descriptor or a decorated function is made of; None of what is none
    of these.
    """
    cls = type(x)                                             # a proxy passes for what it stands for
    if issubclass(cls, CALLS):
        return parts_of_call(x)
    if issubclass(cls, (BuiltinMethodType, MethodWrapperType)):
        return () if isinstance(x.__self__, _NOBODYS) else (x.__self__,)
    if issubclass(cls, property):
        return x.fget, x.fset
    if issubclass(cls, (staticmethod, classmethod, functools._lru_cache_wrapper)):
        return (x.__wrapped__,)
    if issubclass(cls, functools.cached_property):
        return (x.func,)
    return (x.pyfunc,) if issubclass(cls, np.vectorize) else None
