"""The kinds of parts that a closure consists of: functions, methods, containers, objects, and how each is taken apart
and put together."""
import functools
from collections.abc import Iterable, Sequence
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...ir.delivery import Location
from ...util.codes import once_for_each_code
from ...util.own import own_dict
from ..objects.containers import content
from .bytecode import assigned_globals, names_used
from .kinds import MISSING, is_open

MEMORY = "__fad_staged__"  # the attribute of a function under which its programs are kept
MOST = 100  # the most parts of a function that is taken apart at each call
NUMBERS = (float, int, complex)
PLAIN_VALUES = (str, bool, bytes, type(None))
_NESTED = 0x10  # the flag of code that stands in a function (inspect.CO_NESTED)


class PartKind:
    """A kind of things: how they are taken apart, and made from other parts.

    apart(x, outermost) -> (what is hashable of it and not a part, its parts), or (None, ()) of what is shared as it is
    """

    leads_on = False  # whether the first of its parts is the function that is called

    def apart(self, x: Any, outermost: bool) -> tuple:
        raise NotImplementedError

    def places(self, x: Any, at: Location) -> list:
        """The places of the parts of x, which stands at a place."""
        return [Location("item", at, k) for k in range(len(x))]

    def static(self, x: Any) -> Any:
        """The static values that a copy needs besides the parts."""
        return type(x)

    def shell(self, static: Any) -> Any:
        """A copy without parts."""
        raise NotImplementedError

    def fill(self, shell: Any, static: Any, children: list, global_names: dict) -> None:
        """Give the copy its parts."""
        raise NotImplementedError

    def empty(self, shell: Any) -> None:
        """Take the parts of a copy away."""
        shell.clear()

    def now(self, x: Any, static: Any) -> Sequence:
        """The parts that a copy has now."""
        return self.apart(x, True)[1]


class _Function(PartKind):
    """Code over cells and defaults; of the function that is called, and of nested ones, also the numbers and arrays
    among its global names.
    """

    def apart(self, x: FunctionType, outermost: bool) -> tuple:
        code, cells = x.__code__, x.__closure__ or ()
        if not (outermost or cells or code.co_flags & _NESTED or code.co_name == "<lambda>"):
            return None, ()
        names, assigns = _names_in(code)
        if assigns:
            return None, ()
        names, values = _data_among(x.__globals__, names)
        defaults, by_name = x.__defaults__ or (), x.__kwdefaults__ or {}
        attributes = _attributes_of(x)
        children = [*[content(c, MISSING) for c in cells], *defaults, *by_name.values(), *attributes.values(), *values]
        return (id(code), id(x.__globals__), len(defaults), *by_name, None, *attributes, None, *names), children

    def places(self, x: FunctionType, at: Location) -> list:
        def within(name: str, keys: Iterable) -> list:
            return [Location("item", Location("attribute", at, name), key) for key in keys]
        return [
            *[Location("variable", cell) for cell in within("__closure__", range(len(x.__closure__ or ())))],
            *within("__defaults__", range(len(x.__defaults__ or ()))),
            *within("__kwdefaults__", x.__kwdefaults__ or ()),
            *within("__dict__", _attributes_of(x)),
            *[Location("global", x.__globals__, n) for n in _data_among(x.__globals__, _names_in(x.__code__)[0])[0]],
        ]

    def static(self, x: FunctionType) -> Any:
        made_of = x.__code__, x.__globals__, x.__name__
        called = {name: getattr(x, name) for name in ("__qualname__", "__module__", "__doc__")}
        names = _data_among(x.__globals__, _names_in(x.__code__)[0])[0]
        return (made_of, called, len(x.__defaults__ or ()), tuple(x.__kwdefaults__ or ()), list(_attributes_of(x)),
                names)

    def shell(self, static: Any) -> FunctionType:
        made_of, called, *_ = static
        code, names, name = made_of
        made = FunctionType(code, names, name, None, tuple([CellType() for _ in code.co_freevars]))
        for name, value in called.items():
            setattr(made, name, value)
        return made

    def fill(self, shell: FunctionType, static: Any, children: list, global_names: dict) -> None:
        _, _, defaults, by_name, attributes, names = static
        rest = iter(children)
        for cell in shell.__closure__ or ():
            value = next(rest)
            if value is not MISSING:
                cell.cell_contents = value
        if defaults:
            shell.__defaults__ = tuple([next(rest) for _ in range(defaults)])
        if by_name:
            shell.__kwdefaults__ = {k: next(rest) for k in by_name}
        for name in attributes:
            shell.__dict__[name] = next(rest)
        global_names.update({(id(shell.__globals__), name): next(rest) for name in names})

    def now(self, x: FunctionType, static: Any) -> list:
        return [
            *[content(c, MISSING) for c in x.__closure__ or ()],
            *(x.__defaults__ or ()),
            *(x.__kwdefaults__ or {}).values(),
            *_attributes_of(x).values(),
        ]


def _attributes_of(f: FunctionType) -> dict:
    """The attributes that the user's code has given a function."""
    return {k: v for k, v in f.__dict__.items() if k != MEMORY} if f.__dict__ else {}


class _Method(PartKind):
    leads_on = True

    def apart(self, x: MethodType, outermost: bool) -> tuple:
        return (), (x.__func__, x.__self__)

    def places(self, x: MethodType, at: Location) -> list:
        return [Location("attribute", at, name) for name in ("__func__", "__self__")]

    def make(self, static: object, children: list) -> Any:
        return MethodType(*children)


class _Partial(PartKind):
    leads_on = True

    def apart(self, x: functools.partial, outermost: bool) -> tuple:
        return (len(x.args), *x.keywords), (x.func, *x.args, *x.keywords.values())

    def places(self, x: functools.partial, at: Location) -> list:
        args, keywords = Location("attribute", at, "args"), Location("attribute", at, "keywords")
        return [Location("attribute", at, "func"), *super().places(x.args, args),
                *[Location("item", keywords, key) for key in x.keywords]]

    def static(self, x: functools.partial) -> Any:
        return len(x.args), tuple(x.keywords)

    def make(self, static: Any, children: list) -> Any:
        count, names = static
        f, *args = children[:1 + count]
        return functools.partial(f, *args, **dict(zip(names, children[1 + count:])))


class _Tuple(PartKind):
    def apart(self, x: tuple, outermost: bool) -> tuple:
        return (len(x),), x

    def make(self, static: type, children: list) -> tuple:
        return tuple.__new__(static, children)


class _List(PartKind):
    def apart(self, x: list, outermost: bool) -> tuple:
        return (len(x),) if len(x) <= MOST else None, x

    def shell(self, static: Any) -> list:
        return []

    def fill(self, shell: list, static: Any, children: list, global_names: dict) -> None:
        shell += children


class _Dict(PartKind):
    def apart(self, x: dict, outermost: bool) -> tuple:
        inside = dict(x)                                      # as it is now: another thread may write to it
        if len(inside) > MOST or not all(type(k) is str for k in inside):
            return None, ()
        return (len(inside), *inside), inside.values()

    def places(self, x: dict, at: Location) -> list:
        return [Location("item", at, key) for key in x]

    def static(self, x: dict) -> Any:
        return tuple(x)

    def shell(self, static: Any) -> dict:
        return {}

    def fill(self, shell: dict, static: Any, children: list, global_names: dict) -> None:
        shell.update(zip(static, children))


class _Object(PartKind):
    """An object of a class of the user's, which is its attributes and nothing else."""

    def apart(self, x: Any, outermost: bool) -> tuple:
        inside = dict(x.__dict__)                             # as it is now
        return (len(inside), *inside), inside.values()

    def places(self, x: object, at: Location) -> list:
        return [Location("item", Location("attribute", at, "__dict__"), name) for name in vars(x)]

    def static(self, x: Any) -> Any:
        return type(x), tuple(x.__dict__)

    def shell(self, static: Any) -> Any:
        return object.__new__(static[0])

    def fill(self, shell: Any, static: Any, children: list, global_names: dict) -> None:
        shell.__dict__.update(zip(static[1], children))

    def empty(self, shell: object) -> None:
        shell.__dict__.clear()


SLOT = PartKind()
_OBJECT = _Object()
KINDS: dict[type, PartKind] = {
    FunctionType: _Function(),
    MethodType: _Method(),
    functools.partial: _Partial(),
    tuple: _Tuple(),
    list: _List(),
    dict: _Dict(),
}
_classes: "WeakKeyDictionary[type, bool]" = WeakKeyDictionary()


def slot_or_kind(x: Any, cls: type) -> "PartKind | None":
    kind = KINDS.get(cls)
    if kind is not None:
        return kind
    if cls is np.ndarray or issubclass(cls, np.generic):
        return SLOT if x.dtype.kind in "biufc" else None
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and "__dict__" not in dir(cls):
        return KINDS[tuple]                                   # a named tuple
    return _OBJECT if is_attributes(cls, x) else None


def is_apart(x: object) -> bool:
    """Whether x is a container, an object or a function that is taken apart where it is a part."""
    kind = slot_or_kind(x, type(x))
    return kind is not None and kind is not SLOT and kind.apart(x, False)[0] is not None


def is_attributes(cls: type, x: object) -> bool:
    """Whether an object is of a class of the user's that keeps all in attributes, so that it can be made again of them.
    """
    if type(cls) is not type or "__dict__" not in dir(cls) or own_dict(x) is None:
        return False
    known = _classes.get(cls)
    if known is None:
        known = _classes[cls] = (
            cls.__new__ is object.__new__
            and is_open(x)
            and not hasattr(cls, "__del__")
            and cls.__getattribute__ is object.__getattribute__
            and not isinstance(x, ModuleType)
            and not any("__slots__" in vars(c) for c in cls.__mro__)
        )
    return known


@once_for_each_code
def _names_in(code: CodeType) -> "tuple[tuple, bool]":
    """The global names (and attributes) that code uses, and whether it assigns to some."""
    return tuple(sorted(names_used(code))), bool(assigned_globals(code))


def _data_among(scope: dict, names: tuple) -> tuple:
    """Those of the global names that are numbers or arrays, and these."""
    found, values = [], []
    for name in names:
        x = scope.get(name)
        if x is not None and (
            type(x) in NUMBERS or ((type(x) is np.ndarray or isinstance(x, np.generic)) and x.dtype.kind in "biufc")
        ):
            found.append(name)
            values.append(x)
    return found, values
