"""Objects that a function returns, which it has made or in which traced values are: each call makes them anew, with its
own values.

    class State: ...               State(x=<traced>)  ->  Made(State, ("x",), [<traced>])  ->  leaves, structure

The attributes are parts of the result's tree, as the items of a list are; the class's `__init__` does not run again.
"""
import copy
import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from ...ir.build import Builder
from ...ir.value import Value
from ...ops.records import Records
from ...util import tree
from ...util.errors import UnstageableError
from ...util.interrupts import reraise_interrupt
from ...util.reach import reached, referents
from ...util.where import is_captured_class
from ..frontend.expressions import RUNTIME
from ..guards.bytecode import names_used
from ..guards.snapshot import Snapshot
from ..heap.journal import CONTAINER, made
from ..heap.state import is_numeric
from ..lists.export import plain
from ..objects.containers import CHANGING, NEVER_CHANGE, attributes, contents, is_users
from ..runtime.library import original_of
from ..runtime.name_dicts import AttributeDict
from .leaks import stays

_FUNCTIONS = (FunctionType, np.ufunc, type(np.sum))
_NO_OBJECTS = (Value, Records, np.generic, int, float, complex, str, bytes, type, ModuleType, np.dtype)


class Made:
    """An object of the result as a node of its tree. take_apart(x) gives the rest and the values, and
    rebuild(cls, rest, values) an object.
    """

    def __init__(self, cls: type, rest: object, values: list, rebuild: Callable):
        self.cls, self.rest, self.values, self.rebuild = cls, rest, values, rebuild


def _rebuilt(static: tuple, values: tuple) -> object:
    cls, rest, rebuild = static
    return made(rebuild(cls, rest, values))


tree.register(Made, lambda m: (tuple(m.values), (m.cls, m.rest, m.rebuild)), _rebuilt)


def in_parts(builder: Builder, result: object) -> Any:
    """A result in which the objects that hold traced values, or are new, are nodes of its tree.

    A function within a program gives any other object as it is: a transform says what it needs instead.
    """
    return _Parts(builder).of(result)


class _Parts:
    """Takes the objects of one result apart: each is one node, wherever it stands."""

    def __init__(self, builder: Builder):
        self.builder, self.root = builder, builder.root
        self.made: dict[int, tuple] = {}                      # id of a thing -> it, what stands for it
        self.around: list = []                                # the objects that hold what is looked at

    def of(self, x: object) -> object:
        if id(x) not in self.made:
            parts, structure = tree.flatten(x, is_leaf=lambda y: y is not x)
            new = [self._part(x)] if structure.cls is None else [
                y if type(y) in NEVER_CHANGE else self.of(y) for y in parts]
            is_same = all(a is b for a, b in zip(new, parts))
            self.made[id(x)] = x, x if is_same else structure.unflatten(new)
        return self.made[id(x)][1]

    @functools.cached_property
    def outside(self) -> dict:
        """The things, by their ids, that captured code has read outside, or left there."""
        trace, book = self.root.trace, self.root.trace.journal
        read = [guard.value for guard in trace.sources]
        left = [contents(e.cell) for e in book.marks[0].entries.values()
                if e.kind is CONTAINER and id(e.cell) not in book.made] if book.marks else []
        given = [x for x, _ in trace.captured.values()]
        return {id(x): x for x in reached([*read, *left, *given, trace.arguments], _seen_with)}

    def _part(self, x: object) -> object:
        if isinstance(x, AttributeDict):
            return self.of(x.copy())
        if isinstance(x, _NO_OBJECTS) or type(x) is np.ndarray and is_numeric(x):
            return x
        if getattr(type(x), "__fad_level__", 0):              # a tensor is data
            return x
        return self._node(x)

    def _node(self, x: object) -> object:
        is_traced = _holds_traced(self.root, original_of(x))
        is_spent = isinstance(x, Iterator) and not is_users(x) and not self.root.live         # by the first caller
        if not is_traced and not is_spent and not self._is_new(x):
            return x
        taken = None if any(x is y for y in self.around) else _taken_apart(x)
        if taken is None and not is_traced and not is_spent:
            copied = self._copied(original_of(x))
            if copied is not None and copied[0] is original_of(x):                # it never changes
                return x
            taken = None if copied is None else (copied, (), _copy)
        if taken is None and self.builder.parent is not None and not self.root.live:
            return x
        if taken is None:
            raise _refusal(x, is_traced)
        rest, values, rebuild = taken
        self.around.append(x)
        try:
            return Made(type(x), rest, [self.of(plain(y)) for y in values], rebuild)
        finally:
            self.around.pop()

    def _is_new(self, x: object) -> bool:
        """Whether the trace has made x, which the caller may change."""
        if self.root.live or isinstance(x, (type, ModuleType, *_FUNCTIONS)):
            return False
        if isinstance(x, BuiltinMethodType) and isinstance(x.__self__, (ModuleType, type(None))):
            return False
        if id(x) in self.root.trace.generators:
            return True
        if isinstance(x, CHANGING) or is_users(x):
            is_of_librarys = self.around and not is_captured_class(type(self.around[-1]))   # its code has made it
            return (bool(is_of_librarys) or not stays(self.root, x)) and id(x) not in self.outside
        bases = reached([x], lambda y: [y.base] if isinstance(y, np.ndarray) else ())
        return self.outside.keys().isdisjoint(map(id, bases))

    def _copied(self, x: object) -> "tuple | None":
        """A copy of x, which further copies are made of, with what stays as it is in them; None if it has none."""
        kept = _Kept(self.outside)
        try:
            return copy.deepcopy(x, kept), kept.met
        except Exception as error:                            # a lock, a view of a dict
            reraise_interrupt(error)
            return None


class _Kept(dict):
    """The memo of a copy: things from outside stand for themselves. met: those that the copy holds."""

    def __init__(self, outside: dict):
        self.outside = outside
        self.met: dict[int, object] = {}

    def get(self, key: int, default: object = None) -> object:
        if key not in self.outside:
            return super().get(key, default)
        return self.met.setdefault(key, self.outside[key])


def _refusal(x: object, is_traced: bool) -> UnstageableError:
    if is_traced:
        return UnstageableError(f"the result holds a traced value, in an object of class {type(x).__name__}",
                                why="a program returns numbers, arrays, and tuples, lists, dicts and objects of these",
                                do="return the value itself")
    if isinstance(x, Iterator):
        return UnstageableError("the result is an iterator, whose items are there once", do="return a list of them")
    return UnstageableError(f"the result is a new object of class {type(x).__name__}, which cannot be copied",
                            why="each call returns another one", do="make it outside the function")


def is_derived_array(x: object) -> bool:
    """Whether x is an array of a class derived from NumPy's: it has a mask, or multiplies in its own way."""
    return isinstance(x, np.ndarray) and type(x) is not np.ndarray


def _seen_with(x: object) -> Iterable:
    """The things that captured code has seen where it has seen x."""
    is_data = isinstance(x, (*CHANGING, tuple, np.ndarray, Snapshot)) or is_users(x)
    return referents(x) if is_data and not isinstance(x, Value) else ()


def _taken_apart(x: Any) -> "tuple[object, Iterable, Callable] | None":
    """The parts of an object, and how it is made of them; None of one that is more than these."""
    if type(x) is slice:
        return None, [x.start, x.stop, x.step], _of_values
    if type(x) is np.ndarray and x.dtype == object:
        return x.shape, x.ravel().tolist(), _objects
    if type(x) is functools.partial:
        return tuple(x.keywords), [x.func, *x.args, *x.keywords.values()], _partial
    if type(x) is MethodType:
        return None, [x.__func__, x.__self__], _of_values
    if isinstance(x, (BuiltinMethodType, MethodWrapperType)):
        return x.__name__, [x.__self__], _method
    maker = _maker(type(x))
    if maker in (object, SimpleNamespace) and is_users(x) and not isinstance(x, type):
        inside = contents(x)
        return (0, tuple(inside), ()), inside.values(), _object
    if maker in (list, set, deque, tuple):
        elements, inside = list(maker.__iter__(x)), attributes(x)
        more = (x.maxlen,) if maker is deque else ()
        return (len(elements), tuple(inside), more), [*elements, *inside.values()], _object
    return None


def _maker(cls: type) -> type:
    """The class in C that makes the instances of a class."""
    return next(c for c in cls.__mro__ if not isinstance(vars(c).get("__new__", _maker), (FunctionType, staticmethod)))


def _of_values(cls: type, rest: None, values: tuple) -> object:
    return cls(*values)


def _objects(cls: type, shape: tuple, values: tuple) -> np.ndarray:
    y = np.empty(len(values), object)
    for k, x in enumerate(values):
        y[k] = x
    return y.reshape(shape)


def _method(cls: type, name: str, values: tuple) -> Callable:
    return getattr(values[0], name)


def _copy(cls: type, kept: tuple, values: tuple) -> object:
    return copy.deepcopy(kept[0], dict(kept[1]))


def _partial(cls: type, names: tuple, values: tuple) -> functools.partial:
    end = len(values) - len(names)
    return functools.partial(values[0], *values[1:end], **dict(zip(names, values[end:])))


def _object(cls: type, rest: tuple, values: tuple) -> object:
    maker: Any = _maker(cls)
    count, names, more = rest
    y = maker.__new__(cls, values[:count]) if maker is tuple else maker.__new__(cls)
    if maker in (list, set, deque):
        maker.__init__(y, values[:count], *more)
    for name, x in zip(names, values[count:]):
        object.__setattr__(y, name, x)
    return y


def _holds_traced(root: Builder, x: object) -> bool:
    """Whether a traced value can be reached from x, past what was there before the trace."""
    def parts(y: object) -> Iterable:
        if type(y) is FunctionType and RUNTIME in y.__globals__:                 # it has global names of its own
            names = names_used(y.__code__) & y.__globals__.keys()
            return [*referents(y), *[y.__globals__[name] for name in names]]
        y = original_of(y)
        return () if isinstance(y, Value) or stays(root, y) else referents(y)
    return any(isinstance(original_of(y), Value) for y in reached([x], parts))
