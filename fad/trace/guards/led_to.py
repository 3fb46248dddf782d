"""The things that code may reach from those that it is given: what it may write to (heap/opaque.py), and what it may
read (escapes.py).
"""
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from types import FunctionType, MethodType, ModuleType

import numpy as np

from ...ir.build import Builder, Value
from ...util.own import own_dict
from ...util.reach import CALLS, parts_of_call, reached, referents, wrapped_by
from ...util.where import COLLECTED, HEAP_TYPE, is_captured, is_own, package_name
from ..objects.containers import CHANGING, is_users, items_in, keeps_record
from ..objects.draws import goes_on, held_by, is_source
from ..objects.opaque_state import BUFFERS, arrays_within

_KEEP_BOOKS = {"fad", "numpy", "scipy", "numba"}
# classes whose objects Python's collector does not follow
_UNFOLLOWED = (np.ndarray, np.dtype, weakref.finalize, *BUFFERS)

_LEADING = {"__getattr__", "__call__"}                        # names in classes whose objects may lead on


def is_rewritten(f: object) -> bool:
    """Whether this is rewritten code, which says what it reads and writes."""
    f = f.__func__ if type(f) is MethodType else f            # an object's __getattr__ is not asked
    runtime = f.__globals__.get("__fad__") if type(f) is FunctionType else None
    return runtime is not None and runtime.is_rewritten(f)


def is_unseen(f: object) -> bool:
    """Whether this is a function of the user's that is not rewritten: nobody sees what it does."""
    return type(f) is FunctionType and is_captured(f.__code__.co_filename) and not is_rewritten(f)


def have_unseen(calls: Sequence) -> bool:
    """Whether one of these things that are called, or handed on to be called, is such a function, or calls one."""
    wrapped = [x for x in calls if issubclass(type(x), CALLS)]
    found = reached(wrapped, lambda x: parts_of_call(x) if issubclass(type(x), CALLS) else ()) if wrapped else ()
    return any(map(is_unseen, calls)) or any(map(is_unseen, found))


class _InertClasses(dict[type, bool]):
    """Class -> whether its objects can be told at a glance: they neither change nor lead to anything. A table of all
    modules has thousands. It is made anew for each walk, since it would keep classes alive; those of C code live on.
    """

    of_c: "dict[type, bool]" = {}

    def __missing__(self, cls: type) -> bool:
        known = self.of_c if not cls.__flags__ & HEAP_TYPE else self
        if cls not in known:
            known[cls] = is_inert(cls)
        self[cls] = known[cls]
        return known[cls]


def is_inert(cls: type) -> bool:
    """Whether objects of a class hold nothing: Python's collector need not follow them, or they are constants."""
    if issubclass(cls, (Value, ModuleType, re.Pattern, re.Match)):
        return True
    if issubclass(cls, _UNFOLLOWED) or is_source(cls):
        return False
    return not any(c.__flags__ & COLLECTED and vars(c).get("__slots__") != () or not _LEADING.isdisjoint(vars(c))
                   for c in cls.__mro__)


def walked(values: Iterable, parts: Callable) -> Iterator:
    """All that code may reach which is given these values, where parts(x) tells what x leads to."""
    is_inert = _InertClasses()

    def lively(things: Iterable) -> list:
        return [x for x in things if not is_inert[type(x)]]
    return reached(lively(values), lambda x: lively(parts(x)))


def led_to(x: object) -> Iterable:
    """The things that x leads to. Objects of the libraries that fad models keep books of their own."""
    cls = type(x)
    is_fads = cls is FunctionType and is_own(x.__code__.co_filename)         # type: ignore[attr-defined]
    if is_fads or issubclass(cls, (Value, Builder, ModuleType)) or goes_on(x):         # a builder leads to all there is
        return ()
    if isinstance(x, weakref.ref):
        return (weakref.ref.__call__(x),)
    if isinstance(x, weakref.finalize):
        return x.peek() or ()
    wrapped = wrapped_by(x)
    if wrapped is not None:
        return wrapped
    if isinstance(x, ContextVar):
        return [x.get(None), *referents(x)]                   # its default
    if keeps_record(x):
        return items_in(x)
    if isinstance(x, np.dtype):
        return (x.metadata or {}).values()
    own = own_dict(x)
    if cls is np.ufunc:                                       # Python's function, and not the signature that it has
        described = set(map(id, (own or {}).values()))
        return [*[y for y in referents(x) if id(y) not in described], *put_into(x)]
    if package_name(cls) not in _KEEP_BOOKS or own is None:
        return referents(x)
    if "__wrapped__" in own:                                  # a transform of fad's
        return (own["__wrapped__"],)
    items = items_in(x) if isinstance(x, CHANGING) else ()
    return [*held_by(x), *arrays_within(x), *put_into(x), *items]


def put_into(x: object) -> list:
    """The functions and objects of the user's among the attributes of an object of a library's."""
    own, package = own_dict(x) or {}, package_name(type(x))
    return [y for name, y in own.items() if not name.startswith("__") and (
        (callable(y) and not isinstance(y, type)) or (is_users(y) and package_name(type(y)) != package))]
