"""Guards for what captured code meets outside, beside lists, attributes and functions of the user's: things of Python's
own library and of others.

Such a thing is used as it stands, and its own code reads it. So its attributes are guarded, with the containers and
arrays in them. Loggers are not: what they do is for people to read (who asks a logger whether it is enabled asks a
setting).
"""

import ctypes
import datetime
import functools
import logging
import re
import sys
import threading
import weakref
from abc import ABC
from collections.abc import Iterator
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from ...ir.build import Value
from ...util.interrupts import reraise_interrupt
from ...util.own import own_dict
from ...util.where import package_name
from ..objects.containers import NEVER_CHANGE, is_users, may_be_changed, slots_of
from ..objects.opaque_state import held_by_c
from . import guard as of
from .kinds import CONTAINERS, MISSING, VIEWS, has_attributes, is_open

_OWN = (
    Value,
    ModuleType,
    type,
    FunctionType,
    MethodType,
    functools.partial,
    np.ufunc,
    type(np.sum),
    np.ndarray,
    np.generic,
    np.dtype,
    logging.Logger,
    logging.Handler,
    SimpleNamespace,  # attributes, read by name as those of the user's objects
    *CONTAINERS,
)
_ARRAYS = (np.ndarray, np.void, np.flatiter, memoryview)       # and what leads to their memory
# holds which classes are registered with an abstract one: isinstance() asks
_REGISTER = type(vars(ABC).get("_abc_impl"))
_CAPSULE = type(datetime.datetime_CAPI)  # type: ignore[attr-defined]  # a pointer that C code hands to C code
LOCKS = {type(threading.Lock()), type(threading.RLock())}
ASK_LOCKS = {"locked", "acquire"}  # methods that say who holds a lock; `with` asks nothing
_CONSTANT = {*NEVER_CHANGE, slice, re.Match, type(Ellipsis), type(NotImplemented), _REGISTER, _CAPSULE}
_CLOSED = ("fad", "numba", "llvmlite")
_NEVER_CHANGE = {"rv_generic"}  # bases of libraries' objects that only their module makes: scipy.stats.norm
TEXTS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")  # of functions


def state_of(x: object) -> list:
    """Guards for what a thing from outside holds that captured code does not look into."""
    if isinstance(x, weakref.ref):
        return [of.ReferenceGuard(x)]
    if isinstance(x, VIEWS):
        return [of.of_all_in(x.mapping)]
    found: list[of.Guard] = of_decimals(x)
    if isinstance(x, type) and is_open(x):
        found.append(of.of_order(x))
    if isinstance(x, BaseException):
        found.append(of.AttributeGuard(x, "args", x.args))
    if isinstance(x, np.vectorize):
        found.append(of.AttributeGuard(x, "pyfunc", x.pyfunc))
    elif _is_librarys(x):
        found.append(of.of_all_in(x, lambda y: y is x or _is_librarys(y)))
    if not isinstance(x, _OWN):                               # a tree of SciPy's keeps its points in C
        found += [of.of_all_in(part) for part in held_by_c(x) if isinstance(part, np.ndarray)]
    return found


def _is_librarys(x: object) -> bool:
    """Whether x is an object of a library's, with attributes."""
    cls = type(x)
    if (
        isinstance(x, _OWN)
        or is_users(x)
        and is_open(x)
        and package_name(cls) not in sys.stdlib_module_names
    ):
        return False
    return (
        has_attributes(x)
        and package_name(cls) not in _CLOSED
        and not any(c.__name__ in _NEVER_CHANGE for c in cls.__mro__)
    )


def of_decimals(x: object) -> list:
    """Guards on the decimal context, if x is a decimal number or the class."""
    decimal = sys.modules.get("decimal")
    if decimal is None or not (x is decimal.Decimal or isinstance(x, decimal.Decimal)):
        return []
    return [of.AnswerGuard(lambda: repr(decimal.getcontext()), repr(decimal.getcontext()))]


def is_closed_box(x: object) -> bool:
    """Whether x is an object of C code that may change, and shows nobody what it holds: a lock, a file, an element of
    XML. A constant has a hash of its value.
    """
    cls = type(x)
    if isinstance(x, (ctypes._Pointer, ctypes._CFuncPtr)):    # type: ignore[attr-defined]
        return True
    if cls in _CONSTANT or callable(x) or isinstance(
        x, (*_OWN, *VIEWS, BaseException, weakref.ref, property, classmethod, staticmethod, CodeType, CellType)
    ):
        return False
    is_valued = cls.__hash__ is not None and cls.__hash__ is not object.__hash__
    return (
        cls is not object
        and not is_valued
        and own_dict(x) is None
        and not slots_of(cls)
        and not hasattr(cls, "__get__")
    )


def container_behind(f: object) -> Any:
    """The list, dict, set, array or record whose method f is, made outside: table.get; None of anything else."""
    if not isinstance(f, (BuiltinMethodType, MethodWrapperType)):
        return None
    owner = f.__self__
    return owner if isinstance(owner, (*CONTAINERS, MappingProxyType, *_ARRAYS)) else None


def held_by(x: object) -> tuple:
    """The parts of a thing that is no container: the dict of a view, the arguments of an exception."""
    behind = container_behind(x)
    if behind is not None:
        return (behind,)
    if isinstance(x, VIEWS):
        return (x.mapping,)
    return x.args if isinstance(x, BaseException) else ()


def of_library(owner: object, name: str, value: object) -> list:
    """Guards for an attribute of a library's module, class or object."""
    if isinstance(owner, ModuleType):
        return of.of_names(vars(owner), [name]) if name in vars(owner) else []
    if isinstance(owner, CONTAINERS) and is_users(owner):      # a list of the user's
        is_of_class = of.in_class(type(owner), name) is not MISSING
        return [*of.of_own(owner, name), *([of.of_class(type(owner), name)] if is_of_class else [])]
    if (
        isinstance(owner, _OWN)
        and not (isinstance(owner, type) and may_be_changed(owner))
        and not isinstance(owner, (logging.Logger, logging.Handler))
    ):
        return []
    if isinstance(value, (MethodType, BuiltinMethodType, MethodWrapperType, Value)):
        return of.of_own(owner, name)
    again = getattr(owner, name)
    if of.is_same(again, value):
        return [(of.AttributeGuard if again is value else of.ValueGuard)(owner, name, value)]
    if is_same_thing(again, value):
        return [of.AnswerGuard(lambda: _place(getattr(owner, name)), _place(value))]
    return [of.AnswerGuard(lambda: getattr(owner, name), value)] if isinstance(value, tuple) and again == value else []


def is_same_thing(x: object, y: object) -> bool:
    """Whether x is y, or another view of the same memory: C code may make one at each read."""
    return x is y or (type(x) is np.ndarray and _place(x) == _place(y))


def _place(x: object) -> object:
    """The memory of an array, and how it lies there."""
    facts = getattr(x, "__array_interface__", {})
    return tuple([facts.get(key) for key in ("data", "shape", "strides", "typestr")])


def along(above: Any, name: str) -> tuple:
    """The attribute that super() finds under a name, and the guards for it on the classes along the MRO."""
    order = above.__self_class__.__mro__
    found: list[of.Guard] = []
    for c in order[order.index(above.__thisclass__) + 1 :]:
        found += of.of_names(c.__dict__, [name])
        if name in c.__dict__:
            return c.__dict__[name], found
    return MISSING, found


def of_import(module: str, name: str, value: object) -> Iterator[of.Guard]:
    """A guard on the result of an import: a module, or an attribute of a module."""
    found = sys.modules.get(module)
    if found is None:
        return
    yield of.ItemGuard(sys.modules, module, found)
    if name and name in vars(found):
        yield of.ItemGuard(vars(found), name, value)


def of_class_asked(x: object, classes: object, is_outer: bool) -> Iterator[of.Guard]:
    """Guards on everything that isinstance(x, classes) depends on. is_outer: whether x was there before the trace, and
    is there at each call.
    """
    cls = type(x)
    if may_be_changed(cls) and is_users(cls):
        yield of.of_order(cls)
        if is_open(x) and own_dict(x) is not None:
            yield of.AttributeGuard(x, "__class__", cls)
    for c in classes if isinstance(classes, tuple) else (classes,):
        if isinstance(c, type) and type(c) is not type and is_users(c) and is_open(c):
            yield _of_metaclass(x, c, is_outer)


def _of_metaclass(x: object, cls: type, is_outer: bool) -> of.Guard:
    """The answers of a metaclass about an instance: a protocol asks for its attributes, others for its class alone."""
    if is_outer:
        return of.AnswerGuard(lambda: isinstance(x, cls), isinstance(x, cls))
    made_of = type(x)
    try:
        return of.AnswerGuard(lambda: issubclass(made_of, cls), issubclass(made_of, cls))
    except TypeError as error:  # a protocol with attributes: those of x are the trace's own
        reraise_interrupt(error)
        return of.of_order(made_of)


def of_making(cls: type) -> Iterator[of.Guard]:
    """The functions that Python calls to make an object of a user's class."""
    for name in ("__new__", "__init__"):
        f = getattr(of.in_class(cls, name), "__func__", of.in_class(cls, name))
        if type(f) is FunctionType and is_users(cls):
            yield from (of.of_class(cls, name), of.CodeGuard(f))


def of_function(f: object, name: str) -> list:
    """Guards for what a function's own attributes say of it."""
    return [of.AttributeGuard(f, name, getattr(f, name))] if name in TEXTS else []
