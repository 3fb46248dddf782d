"""Calls of code that fad neither rewrites nor models: what they may write to goes to the journal before they run.

That is what their arguments reach, and what their object does. A method of a list, dict or set of Python's changes that
alone; functions that only look change nothing.
"""
import functools
from collections.abc import Callable, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ops.records import Record, Records
from ...util.errors import UnstageableError
from ...util.profiled import unprofiled
from ...util.reach import reached
from ...util.where import is_captured_class, is_fads, is_library
from ..frontend.functions import is_partial
from ..guards.bytecode import assigned_globals, names_used, rebound
from ..guards.escapes import LOOK
from ..guards.kinds import is_open
from ..guards.led_to import have_unseen, is_rewritten, led_to, walked
from ..objects.containers import (
    CHANGING,
    Globals,
    is_users,
    items_in,
    keeps_record,
)
from ..objects.draws import goes_on
from ..objects.opaque_state import held_by_c, holds_no_traced
from ..values.iterate import Once
from ..values.outside_views import has_written, note_read
from .deaths import refuse_callbacks
from .journal import all_made, attributes_of, made, note

LOOKING = LOOK | {int, float, bool, complex, str, repr, abs, round}
KEEPING = {
    "get", "keys", "values", "items", "copy", "index", "count", "union", "intersection", "difference",
    "symmetric_difference", "issubset", "issuperset", "isdisjoint", "__getitem__", "__len__", "__contains__",
    "__iter__", "__eq__", "__ne__", "__repr__", "__str__", "__format__", "__hash__", "__reversed__", "__getattribute__",
    "__add__", "__mul__", "__rmul__", "__or__", "__and__", "__sub__", "__xor__", "__lt__", "__le__", "__gt__", "__ge__",
}
FRESH = {
    "copy", "union", "intersection", "difference", "symmetric_difference", "__add__", "__mul__", "__rmul__", "__or__",
    "__and__", "__sub__", "__xor__",
}
CONVERTING = ("__array__", "__float__", "__index__", "__int__", "__complex__", "__len__", "__getitem__")
_METHODS = (BuiltinMethodType, MethodWrapperType)
_DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType)
_CELLS = (*CHANGING, np.ndarray)
_PLAIN = (str, bytes, int, float, complex, tuple, frozenset, range, slice, type(None), Value)


@unprofiled
def noted(f: object, args: Iterable, kwargs: dict) -> Callable:
    """Note what a call of f may write to. To be called with the result: it is the trace's own, as far as it is new."""
    if f is dict and all(type(x) is dict for x in args):      # a copy looks at nothing that stands in it
        return made
    given = (*args, *kwargs.values())
    refuse_callbacks(f, given)
    while is_partial(f):
        given, f = (*f.args, *f.keywords.values(), *given), f.func
    owner = getattr(f, "__self__", None)
    if goes_on(owner):
        note(owner)
    if isinstance(f, _METHODS) and isinstance(owner, (*CHANGING, *_PLAIN)):
        return _method(f, owner, given)
    if isinstance(f, _DESCRIPTORS) and given:
        return _method(f, given[0], given[1:])
    if is_fads(f) or (isinstance(f, (type, BuiltinFunctionType)) and f in LOOKING):
        _note_callables(given)
        asked = [x for x in given if is_fads(f) and _converts(x)]
        if asked:
            note_reach(asked)
        return functools.partial(_note_made, f, given)
    start = [f, *given]
    note_reach(start, have_unseen(start))
    note_reads(*start)
    if isinstance(owner, ModuleType) or not any(isinstance(x, Iterator) for x in given):
        return lambda result: _note_new(result, start)
    return lambda result: None


@unprofiled
def note_reads(*values: object) -> None:
    """Note that code which fad does not see may read what these values reach. Records tell themselves."""
    if stack.builders() and has_written():
        for x in reached(values, lambda x: () if isinstance(x, (Records, Record)) else [*_parts(x), *held_by_c(x)]):
            if isinstance(x, np.ndarray):
                note_read(x)


@unprofiled
def note_write(owner: object, method: str) -> None:
    """Note what a special method of this name may write to: of a library's class, all that its object reaches."""
    note(attributes_of(owner) if method in ("__setattr__", "__delattr__") else owner)
    if isinstance(getattr(type(owner), method, None), FunctionType):
        note_reach([owner])


def _method(f: Callable, owner: object, given: Iterable) -> Callable:
    """A method of a class of Python's, which changes its object alone."""
    _note_callables(given)
    if isinstance(owner, set) and f.__name__ == "pop" and len(owner) > 1 and not stack.is_live():
        raise UnstageableError("set.pop takes any element", why="a trace that is repeated gets another one",
                               do="take the least (min), or loop over sorted(...)")
    if f.__name__ not in KEEPING:
        note(owner)
    return made if f.__name__ in FRESH or isinstance(owner, _PLAIN) else lambda result: None


def _note_callables(given: Iterable) -> None:
    """Note the callables that functions call which only read, or that their iterators call later: they may be methods
    of a list.
    """
    for x in given:
        if isinstance(x, (*_METHODS, MethodType, FunctionType, functools.partial)) and not is_rewritten(x):
            note_reach([x])


def _converts(x: object) -> bool:
    """Whether NumPy would ask a method of the user's for a number or an array in the place of x."""
    return is_users(x) and any(isinstance(getattr(type(x), name, None), FunctionType) for name in CONVERTING)


@unprofiled
def _note_made(f: object, given: Iterable, result: object) -> None:
    """Note what a function of fad's, or one that only looks, has made: an iterator, or a container of Python's."""
    is_container = isinstance(f, type) and isinstance(result, (list, tuple))
    is_own = f not in (getattr, next) and not any(result is x for x in given)
    if is_own and (is_container or isinstance(result, (Iterator, Once))):
        made(result)


@unprofiled
def _note_new(result: object, start: list) -> None:
    """Note what is new of what a call returned."""
    if isinstance(result, (*_PLAIN, np.ndarray)) and not (isinstance(result, tuple) and result):
        return
    known = set(map(id, reach(start)))
    new = [x for x in [result, *_cells(walked([result], lambda x: _of_made(x, result)))]
           if id(x) not in known and (x is result or not isinstance(x, (type, FunctionType)))]
    inputs = set(map(id, current().root.trace.lifted_from.values())) if stack.builders() else set()
    if inputs and not any(isinstance(x, Value) for x in start):
        cells = [x for x in new if _is_cell(x) and not isinstance(x, np.ndarray) and not goes_on(x)]
        if any(id(y) in inputs for x in cells for y in items_in(x)):
            return                                            # found, and not made: by a weak reference, in a registry
    all_made(new)


@unprofiled
def note_reach(values: Iterable, is_hidden: bool = False) -> None:
    """Note all that may change, as far as it can be reached from these values. is_hidden: by code of the user's that is
    not rewritten, which may do anything with what captured functions return.
    """
    note(*reach(values, is_hidden), is_told=False)


def reach(values: Iterable, is_hidden: bool = False) -> Iterator:
    """All that may change, as far as it can be reached from these values; by weak references, too."""
    return _cells(walked(values, _parts_of_originals if is_hidden else _parts))


def _of_made(x: object, result: object) -> Iterable:
    """The things that a part of a result leads to. Classes and functions in it were found, and not made."""
    return led_to(x) if x is result or not isinstance(x, (type, FunctionType)) else ()


def _cells(things: Iterable) -> Iterator:
    """Those of these things that may change."""
    for x in things:
        if _is_cell(x):
            yield x
        if type(x) is FunctionType and not is_rewritten(x):   # rewritten code says what it writes
            cells = zip(x.__code__.co_freevars, x.__closure__ or ())
            yield from [cell for name, cell in cells if name in rebound(x.__code__)]
            if is_library(x.__code__.co_filename):
                continue
            yield x.__dict__
            names = tuple(sorted(assigned_globals(x.__code__)))
            if names:
                yield Globals(x.__globals__, x.__globals__, names)


def _is_cell(x: object) -> bool:
    if type(x) is FunctionType:
        return False
    return isinstance(x, _CELLS) or keeps_record(x) or is_users(x) or goes_on(x) or holds_no_traced(x)


def _parts(x: object) -> Iterable:
    """The things that x leads to, and what its class and a user's function find: they may change that as well."""
    if type(x) is FunctionType:
        is_known = is_library(x.__code__.co_filename) or is_rewritten(x)
        return led_to(x) if is_known else [*_found_by(x), *led_to(x)]
    if isinstance(x, (Value, ModuleType)) or not is_users(x) or keeps_record(x):
        return led_to(x)
    return [*led_to(x), *_parts_of_class(x if isinstance(x, type) else type(x))]


def _parts_of_originals(x: object) -> Iterable:
    """The same, and of a captured function what the function itself finds."""
    frontend = current().root.trace.frontend
    f = frontend.originals.get(id(x)) if frontend is not None else None
    return _parts(x) if f is None else [*_parts(x), *_found_by(f), *led_to(f)]


def _parts_of_class(cls: type) -> Iterable:
    """The methods, properties and values of a class of the user's, and of those it derives from."""
    return [x for c in cls.__mro__ if is_users(c) and is_captured_class(c) for x in vars(c).values()]


def _found_by(f: FunctionType) -> list:
    """The values of the global names that a user's function reads, and of those names in modules."""
    names = names_used(f.__code__)
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    return [*found, *[vars(m)[name] for m in found if isinstance(m, ModuleType) and is_open(m)
                      for name in names if name in vars(m)]]
