"""Containers of things that may change: lists, dicts, sets, deques, objects, variables of functions and globals.

It is read, put back, and found here.
"""
import functools
import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir.build import Value
from ...util.own import delete_attribute, own_attribute, own_dict, write_attribute
from ...util.reach import CALLS, parts_of_call, reached
from ...util.where import HEAP_TYPE, is_routine, package_name
from .maybe_unbound import Unsure

NEVER_CHANGE = frozenset((bool, int, float, complex, str, bytes, type(None)))  # classes of what there may be many of
_MISSING = object()
_LIBRARIES = {"builtins", "fad", "numpy", "scipy", "numba", "functools", "itertools"}
_PYTHONS = NEVER_CHANGE | {                                   # nearly all that is asked about
    list, dict, tuple, set, FunctionType, BuiltinFunctionType, MethodType, ModuleType, CellType, np.ndarray, np.float64,
}
CHANGING = (list, dict, set, deque)                          # Python's own containers that change


class Record:
    """A container that reports its own contents: a list of captured code (see lists/rows.py), or variables from
    outside.
    """

    def contents(self) -> Any:
        """A copy of what is held: of variables, their names and values."""
        raise NotImplementedError

    def put(self, value: Any) -> None:
        """Hold what `contents` gave."""
        raise NotImplementedError


class Outer(Record):
    """Variables from outside. Captured code has copies of its own, which are handed out at the end of the trace.
    """

    def __init__(self) -> None:
        self.before = self.contents()

    def hand_out(self) -> None:
        """Give the originals their new values."""
        raise NotImplementedError

    def originals(self) -> list:
        """The namespaces that hold the originals of changed names."""
        raise NotImplementedError

    def places(self) -> list:
        """The places of the originals of changed names: (id of global names, name), (id of a cell, "")."""
        raise NotImplementedError

    def changed(self) -> dict:
        """The names that have another value than they began with."""
        return {n: x for n, x in self.contents().items() if n not in self.before or x is not self.before[n]}


class Globals(Outer):
    """The global names that a captured function assigns to, or the attributes of a function. `original` are those of
    its module, or its own.
    """

    def __init__(self, scope: dict, original: dict, names: "tuple | None" = None):
        self.scope, self.original, self.names = scope, original, names
        self.stood = [original.get(n, _MISSING) for n in names or ()]
        super().__init__()

    def contents(self) -> dict:
        names = [n for n in self.scope if not n.startswith("__")] if self.names is None else self.names
        return {n: self.scope[n] for n in names if n in self.scope}

    @property
    def is_divided(self) -> bool:
        """Whether captured code has assigned names, and code that is not captured has, too."""
        now = [self.original.get(n, _MISSING) for n in self.names or ()]
        return bool(self.changed()) and any(x is not y for x, y in zip(now, self.stood))

    def kept(self) -> set:
        """The names that have the value that they began with."""
        return {n for n, x in self.contents().items() if not isinstance(x, Value) and x is self.before.get(n, _MISSING)}

    def put(self, value: dict) -> None:
        for name in self.contents():
            del self.scope[name]
        self.scope.update(value)

    def places(self) -> list:
        return [(id(self.original), name) for name in self.changed()]

    def originals(self) -> list:
        names = tuple(self.changed())
        return [Globals(self.original, self.original, names)] if names else []

    def hand_out(self) -> None:
        self.original.update(self.changed())


class EnclosingVariable(Outer):
    """A variable of the function around a captured one."""

    def __init__(self, name: str, cell: CellType, original: CellType):
        self.name, self.cell, self.original = name, cell, original
        super().__init__()

    def contents(self) -> dict:
        return {} if is_empty(self.cell) else {self.name: self.cell.cell_contents}

    def put(self, value: dict) -> None:
        if self.name in value:
            self.cell.cell_contents = value[self.name]

    def places(self) -> list:
        return [(id(self.original), "") for _ in self.changed()]

    def originals(self) -> list:
        return [self.original] if self.changed() else []

    def hand_out(self) -> None:
        for x in self.changed().values():
            self.original.cell_contents = x


def contents(owner: Any) -> Any:
    """A shallow copy of what a container holds."""
    if type(owner) in (list, dict, set):                     # nearly all
        return owner.copy()
    if isinstance(owner, CellType):
        return [] if is_empty(owner) else [owner.cell_contents]
    if isinstance(owner, (type, ModuleType)):
        return {n: x for n, x in vars(owner).items() if not n.startswith("__")}
    if keeps_record(owner):
        return owner.contents()
    if isinstance(owner, dict):
        return dict(_method(owner, "items")())
    if isinstance(owner, (list, set, deque)):
        return (set if isinstance(owner, set) else list)(_method(owner, "__iter__")())
    return attributes(owner)


def _method(owner: object, name: str) -> Callable:
    """A method of Python's own class of a container, past those of a class derived from it, which may count, check or
    refuse. A proxy that passes for a container has its own methods only.
    """
    base = next((c for c in (OrderedDict, *CHANGING, tuple) if issubclass(type(owner), c)), None)
    return getattr(owner, name) if base is None else functools.partial(getattr(base, name), owner)


def elements_of(x: Any) -> "list | tuple":
    """The elements of a list, tuple or deque."""
    return x if type(x) in (list, tuple) else list(_method(x, "__iter__")())


def keeps_record(owner: object) -> bool:
    return isinstance(owner, Record)


def attributes(owner: object) -> dict:
    """An object's attributes by name, wherever it keeps them."""
    values = dict(own_dict(owner) or ())
    if isinstance(owner, BaseException):
        values["args"] = owner.args
    for name in slots_of(type(owner)):
        value = own_attribute(owner, name, _MISSING)
        if value is not _MISSING:
            values[name] = value
    return values


def slots_of(cls: type) -> list:
    """The names of a class's slots, as attributes have them: Python writes a class's name before __private."""
    names = []
    for c in cls.__mro__:
        slots = c.__dict__.get("__slots__", ())
        slots = [n for n in ((slots,) if isinstance(slots, str) else slots) if n not in ("__dict__", "__weakref__")]
        names += [f"_{c.__name__.lstrip('_')}{n}" if n.startswith("__") and not n.endswith("__") else n for n in slots]
    return names


def content(cell: CellType, empty: Any = None) -> Any:
    """The value of a variable; `empty` if it has none yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return empty


def is_empty(cell: CellType) -> bool:
    """Whether a variable has no value yet."""
    return content(cell, _MISSING) is _MISSING


def put_contents(owner: Any, value: Any) -> None:
    """Make a container hold what `contents` gave."""
    if isinstance(owner, CellType):
        if value:
            owner.cell_contents = value[0]
        elif not is_empty(owner):
            del owner.cell_contents
    elif keeps_record(owner):
        owner.put(value)
    elif isinstance(owner, CHANGING):
        _put_items(owner, value)
    else:
        _put_attributes(owner, value)


def _put_items(owner: object, value: Any) -> None:
    """Make a container of Python's, or of a class derived from one, hold these items and no others."""
    now = contents(owner)
    if same_contents(now, value) and _same_keys(now, value):
        return
    _method(owner, "clear")()
    if isinstance(owner, OrderedDict):
        for key, x in value.items():
            OrderedDict.__setitem__(owner, key, x)
    else:                                                     # a dict takes the hashes of its keys from the other one
        _method(owner, "update" if isinstance(owner, (dict, set)) else "extend")(value)


def _same_keys(a: Collection, b: Collection) -> bool:
    """Whether two dicts have the very keys, in their order, and two sets the very elements: a traced number is equal to
    its value.
    """
    if isinstance(a, dict):
        return all(x is y for x, y in zip(a, b))
    return not isinstance(a, set) or set(map(id, a)) == set(map(id, b))


def _put_attributes(owner: object, value: dict) -> None:
    now = contents(owner)
    for name in now.keys() - value.keys():
        delete_attribute(owner, name)
    for name, x in value.items():
        if now.get(name, _MISSING) is not x:
            write_attribute(owner, name, x)


@contextmanager
def holding(before: list) -> Iterator[None]:
    """For the time of a block these containers hold these contents: pairs of both."""
    now = [contents(owner) for owner, _ in before]
    try:
        for owner, inside in before:
            put_contents(owner, inside)
        yield
    finally:
        for (owner, _), inside in zip(before, now):
            put_contents(owner, inside)


def same_contents(a: Any, b: Any) -> bool:
    """Whether two copies of what a container held are of the same things."""
    if hasattr(a, "same"):
        return a.same(b)
    if isinstance(a, list):
        return len(a) == len(b) and all(x is y for x, y in zip(a, b))
    if not NEVER_CHANGE.issuperset(map(type, a)):             # elements and keys of the user's: they are not asked
        is_same = len(a) == len(b) and (set(map(id, a)) == set(map(id, b)) if isinstance(a, set) else _are(a, b))
        return is_same and (isinstance(a, set) or _are(a.values(), b.values()))
    return a == b if isinstance(a, set) else a.keys() == b.keys() and all(a[k] is b[k] for k in a)


def _are(xs: Iterable, ys: Iterable) -> bool:
    return all(map(operator.is_, xs, ys))


_PLAIN = (str, bytes, int, float, complex, type(None), ModuleType, BuiltinFunctionType, Value, np.ndarray, np.generic)


def containers_in(values: list, is_closed: Callable) -> list:
    """All mutable containers that these values reach without passing through a closed one."""
    things = reached(values, lambda x: () if isinstance(x, _PLAIN) or is_closed(x) else _parts(x))
    return [x for x in things if _is_container(x) and not is_closed(x)]


def _is_container(x: object) -> bool:
    if isinstance(x, (*_PLAIN, tuple, FunctionType, EnclosingVariable)) or issubclass(type(x), CALLS):
        return False
    return isinstance(x, (*CHANGING, CellType, Globals)) or is_users(x)


def _parts(x: Any) -> Iterable:
    """The things that a value refers to which may be changed."""
    if isinstance(x, tuple):
        return x
    if isinstance(x, Unsure):
        return (x.value,)
    if issubclass(type(x), CALLS):
        return parts_of_call(x)
    if type(x) is FunctionType:                           # captured: it may bind names of the function around it
        return (x.__dict__, *(x.__closure__ or ())) if "__fad__" in x.__globals__ else ()
    if isinstance(x, EnclosingVariable):
        return (x.cell,)
    return may_change(items_in(x)) if _is_container(x) else ()


def items_in(owner: Any) -> Iterable:
    """The things that a container holds."""
    inside = contents(owner)
    return [*inside.items, *(inside.rows or ())] if hasattr(inside, "rows") else values_of(inside)


def values_of(inside: Any) -> Iterable:
    """The values of a dict, the elements of any other container."""
    return inside.values() if isinstance(inside, dict) else inside


def may_change(items: Iterable) -> list:
    """Those of many things that may change, or hold what may."""
    return [x for x in items if type(x) not in NEVER_CHANGE]


def never_change(items: Any) -> bool:
    """Whether a list, tuple or dict holds nothing but numbers and texts."""
    if type(items) is dict:
        return NEVER_CHANGE.issuperset(map(type, items)) and NEVER_CHANGE.issuperset(map(type, items.values()))
    return type(items) in (list, tuple) and NEVER_CHANGE.issuperset(map(type, items))


def may_be_changed(cls: type) -> bool:
    """Whether a class can be given other bases or attributes: one that Python code has made."""
    return bool(cls.__flags__ & HEAP_TYPE)


def is_users(x: object) -> bool:
    """Whether x is an object with attributes, of a class that is neither Python's nor a library's, or such a class."""
    if type(x) in _PYTHONS:
        return False
    cls = x if isinstance(x, type) else type(x)
    if package_name(cls) in _LIBRARIES and not is_routine(cls):
        return False
    return isinstance(x, type) or isinstance(own_dict(x), dict) or bool(slots_of(cls))
