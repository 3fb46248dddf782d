"""Guards: what a program rests on outside, each with the place where it stands and what stood there.

    guard                        test, as generated (see checks.py)
    Item(d, "rate", 0.1)         d["rate"] is k, of a dict, a list or a tuple
    Absent(d, "gain")            "gain" not in d
    Attribute(o, "reg", 0.1)     o.reg is k
    Variable(cell, 0.1)          cell.cell_contents is k
    Code(f)                      f.__code__ is k and f.__defaults__ is …
    Contents(snapshot)           a container with all in it (see snapshot.py)
    Answer(ask, said)            ask() == said
    Read(read, k)                read() is k
    Kind(location, 0)            type(o.calls) is int: what stands there is an input of the program (see inputs.py)

A test asks for the very thing, which is quick. Where that fails, `unchanged` decides: an equal number in the place of
another is no change, and is kept from then on. An array is an input of the program: only which array it is is guarded,
and its elements may change freely.
"""

import functools
import weakref
from collections.abc import Callable, Iterable, Set
from contextvars import ContextVar
from itertools import repeat
from operator import eq, is_
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import Any

from ...util.defects import call_library
from ...util.interrupts import reraise_interrupt
from ...util.own import own_dict
from ..objects.containers import content
from .kinds import MISSING, is_object
from .snapshot import Snapshot, is_same

FEW = 12  # names of one dict that have a test each


class Guard:
    """One thing outside, as it was: `value` stood there. `owner` is where it stands."""

    __slots__ = ("owner", "value")

    def __init__(self, owner: Any, value: Any):
        self.owner, self.value = owner, value

    def now(self) -> Any:
        """The present value there; an exception, or MISSING, if there is none."""
        raise NotImplementedError

    @property
    def unchanged(self) -> bool:
        now = self.now()
        if not is_same(now, self.value):
            return False
        self.value = now
        return True

    @property
    def kept(self) -> Any:
        """The value that the test compares with."""
        return self.value

    def test(self, owner: str, kept: str) -> str:
        """The text of an expression that is true only if nothing has changed; owner and kept are names of these."""
        raise NotImplementedError

    @property
    def key(self) -> tuple:
        """Guards of equal keys are one."""
        return type(self), id(self.owner), id(self.value)


class ItemGuard(Guard):
    """A guard on the value of a dict under a key, or of a list or tuple at a place."""

    __slots__ = ("at",)

    def __init__(self, owner: Any, at: Any, value: Any):
        super().__init__(owner, value)
        self.at = at

    def now(self) -> Any:
        try:
            return self.owner[self.at]
        except (IndexError, KeyError) as error:
            reraise_interrupt(error)
            return MISSING

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}[{self.at!r}] is {kept}"

    @property
    def key(self) -> tuple:
        return type(self), id(self.owner), type(self.at), self.at, id(self.value)


class AbsenceGuard(Guard):
    """That a dict has nothing under a key."""

    __slots__ = ()

    def now(self) -> Any:
        return MISSING if self.value in self.owner else self.value

    def test(self, owner: str, kept: str) -> str:
        return f"{self.value!r} not in {owner}" if type(self.value) is str else f"{kept} not in {owner}"


class AttributeGuard(ItemGuard):
    """An attribute of an object, a class, a module or a function."""

    __slots__ = ()

    def now(self) -> Any:
        return call_library(getattr, self.owner, self.at, MISSING)

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}.{self.at} is {kept}" if self.at.isidentifier() else f"getattr({owner}, {self.at!r}) is {kept}"


class ValueGuard(AttributeGuard):
    """An attribute whose number, or text, a library makes anew at each read: a field that C code holds."""

    __slots__ = ()

    def test(self, owner: str, kept: str) -> str:
        if not self.value or self.value != self.value:        # zeros have a sign, and nan is equal to nothing
            return f"{kept}.unchanged"
        return f"type(x := getattr({owner}, {self.at!r})) is type({kept}) and x == {kept}"

    @property
    def kept(self) -> object:
        return self.value if self.value and self.value == self.value else self


class PresenceGuard(ItemGuard):
    """Whether an object has an attribute."""

    __slots__ = ()

    def now(self) -> Any:
        return call_library(hasattr, self.owner, self.at)

    def test(self, owner: str, kept: str) -> str:
        return f"hasattr({owner}, {self.at!r}) is {kept}"


class VariableGuard(Guard):
    """A guard on a variable of an enclosing function."""

    __slots__ = ()

    def now(self) -> Any:
        return content(self.owner, MISSING)

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}.cell_contents is {kept}"


class CodeGuard(Guard):
    """A guard on a function's code and default values (a module that is reloaded may change them)."""

    __slots__ = ("made_of", "named")

    def __init__(self, f: FunctionType):
        super().__init__(f, f)
        self.made_of = f.__code__, f.__defaults__, f.__kwdefaults__
        self.named = tuple((f.__kwdefaults__ or {}).values())  # the dict may be written to

    @property
    def unchanged(self) -> bool:
        f = self.owner
        is_made_so = all(map(is_, (f.__code__, f.__defaults__, f.__kwdefaults__), self.made_of))
        return is_made_so and all(map(is_same, (f.__kwdefaults__ or {}).values(), self.named))

    @property
    def kept(self) -> Any:
        return self if self.named else self.made_of

    def test(self, owner: str, kept: str) -> str:
        if self.named:
            return f"{kept}.unchanged"
        parts = enumerate(("__code__", "__defaults__", "__kwdefaults__"))
        return " and ".join([f"{owner}.{name} is {kept}[{k}]" for k, name in parts])

    @property
    def key(self) -> tuple:
        return type(self), id(self.owner), *map(id, self.made_of)


class NamesGuard(Guard):
    """A guard on many names in the dict of a module or a class; MISSING stands for absent ones."""

    __slots__ = ("names", "space")

    def __init__(self, space: Any, names: tuple):
        self.space, self.names = space, names
        super().__init__(self, self._found())

    def _found(self) -> tuple:
        return tuple(map(self.space.get, self.names, repeat(MISSING)))

    @property
    def unchanged(self) -> bool:
        now = self._found()
        if not all(map(is_same, now, self.value)):
            return False
        self.value = now
        return True

    def holds(self) -> bool:
        """Whether each name stands for the very thing."""
        return all(map(is_, map(self.space.get, self.names, repeat(MISSING)), self.value))

    def test(self, owner: str, kept: str) -> str:
        are_absent = all(x is MISSING for x in self.value)    # most functions have no attributes at all
        return f"(not {owner}.space or {owner}.holds())" if are_absent else f"{owner}.holds()"


class ContentsGuard(Guard):
    """All that a snapshot has kept."""

    __slots__ = ()

    def __init__(self, snapshot: Snapshot):
        super().__init__(snapshot, snapshot)

    @property
    def unchanged(self) -> bool:
        return self.value.is_unchanged()

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}.is_unchanged()"


class WholeGuard(ContentsGuard):
    """All that is in an object, since code that is not captured may read it."""

    __slots__ = ()


class AnswerGuard(Guard):
    """A guard on a library's answer: asked again, it must give an equal answer of the same class."""

    __slots__ = ()

    @property
    def unchanged(self) -> bool:
        said = self.owner()
        return type(said) is type(self.value) and call_library(bool, call_library(eq, said, self.value))

    def test(self, owner: str, kept: str) -> str:
        if self.value is True or self.value is False or isinstance(self.value, type):
            return f"{owner}() is {kept}"
        return f"{owner}() == {kept}"


class ReferenceGuard(AnswerGuard):
    """Whether a weak reference still leads to something."""

    __slots__ = ("reference",)

    def __init__(self, reference: weakref.ref):
        super().__init__(lambda: reference() is None, reference() is None)
        self.reference = reference


class ReadGuard(Guard):
    """Anything else: what a function reads, which is asked for at each call."""

    __slots__ = ()

    def now(self) -> Any:
        return self.owner()

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}() is {kept}"


# -- what captured code reads -----------------------------------------------------------------------------------------


def of_contents(container: object) -> Guard:
    """A list, tuple, dict or set, by what is in it.

    >>> rates = {"slow": 0.1, "steps": [1, 2]}
    >>> guard = of_contents(rates)
    >>> guard.unchanged
    True
    >>> rates["steps"].append(3)
    >>> guard.unchanged
    False
    """
    return ContentsGuard(Snapshot(container))


def of_all_in(x: object, is_open: Callable = is_object) -> Guard:
    """An object with all in it, elements of arrays and attributes of objects too: for code that is not rewritten."""
    return ContentsGuard(Snapshot(x, deep=True, is_open=is_open))


def of_all_before(things: Iterable, inputs: Iterable) -> Guard:
    """The same of things as they were before the trace. These inputs of the program may stand in them."""
    return WholeGuard(Snapshot(*things, deep=True, is_open=is_object, inputs=frozenset(map(id, inputs))))


def of_attributes(container: object) -> Guard:
    """The attributes of a list or dict of a class of the user's."""
    return ContentsGuard(Snapshot(own_dict(container)))


def of_element(container: object, key: object, value: object) -> Guard:
    """An element of a list, tuple or dict."""
    plain = type(container) in (list, tuple, dict) and type(key) in (int, str)
    return ItemGuard(container, key, value) if plain else ReadGuard(lambda: _element(container, key), value)


def of_names(space: Any, names: Iterable) -> list:
    """Guards on names in the dict of a module or a class: their values, or their absence.

    >>> scope = {"rate": 0.5}
    >>> guards = of_names(scope, ["rate", "gain"])
    >>> scope["gain"] = 2.0
    >>> [guard.unchanged for guard in guards]
    [True, False]
    """
    names = tuple(names)
    if len(names) > FEW:
        return [NamesGuard(space, names)]
    return [ItemGuard(space, name, space[name]) if name in space else AbsenceGuard(space, name) for name in names]


def of_own(owner: object, *names: object) -> list:
    """Guards on names in an object's own dict, which may be another one: `o.__dict__ = state`."""
    own = own_dict(owner)
    return [AttributeGuard(owner, "__dict__", own), *of_names(own, names)] if type(own) is dict else []


def of_variable(variable: ContextVar) -> list:
    """A guard on a context variable."""
    value = variable.get(MISSING)
    return [ReadGuard(lambda: variable.get(MISSING), value), of_all_in(value)]


def of_class(cls: type, name: str) -> Guard:
    """A guard on an attribute of a class or of its bases: a method, a property, a value."""
    value = in_class(cls, name)
    is_users = isinstance(in_class(type(value), "__get__"), FunctionType)  # it may count its calls
    if value is not MISSING and not is_users and getattr(cls, name, MISSING) is value:
        return AttributeGuard(cls, name, value)                            # quicker, where it makes no method of it
    return ReadGuard(lambda: in_class(cls, name), value)


def of_attribute(owner: Any, name: str, value: Any) -> list:
    """Guards on an attribute of an object. A method of C code, or one with arguments of its own, is made anew at each
    read: its class has it, and the object none of its own.
    """
    is_method = isinstance(value, BuiltinMethodType) and value.__self__ is owner
    is_made_anew = is_method or isinstance(in_class(type(owner), name), functools.partialmethod)
    if is_made_anew and not isinstance(owner, (type, ModuleType)):
        return [of_class(type(owner), name), *of_own(owner, name)]
    return [AttributeGuard(owner, name, value)]


def of_order(cls: type) -> Guard:
    """From which classes a class derives."""
    return AttributeGuard(cls, "__mro__", cls.__mro__)


def of_length(container: object) -> Guard:
    """A guard on the number of elements; for a dict, on its keys in their order; for a set, on its elements."""
    return length_as(container, container)


def length_as(container: Any, before: Any) -> Guard:
    """The same, as it was before."""
    if not isinstance(container, (dict, Set)):
        return AnswerGuard(lambda: len(container), len(before))
    is_as_before = isinstance(container, Set) and container == before
    keys = list(container if is_as_before else before)        # a copy of a set may have another order
    return ReadGuard(
        lambda: keys if len(container) == len(keys) and all(map(is_same, container, keys)) else MISSING, keys
    )


def in_class(cls: type, name: str) -> Any:
    """The class attribute that instances find under this name; MISSING if there is none."""
    return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), MISSING)


def _element(container: Any, key: Any) -> Any:
    try:
        return container[key]
    except (IndexError, KeyError) as error:
        reraise_interrupt(error)
        return MISSING
