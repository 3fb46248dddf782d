"""The attributes of things from outside, as captured code reads and writes them.

Each read becomes a guard: of an attribute that is one thing at each read by its identity, of a method by what the class
and the object have under its name. A method that Python makes anew at each read has no identity to go by.
"""

import functools
from collections.abc import Callable
from itertools import takewhile
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value
from ...ops.override import OBJECTS
from ...util.array import ArrayOrNumber
from ...util.defects import for_user
from ...util.errors import UnstageableError
from ...util.own import own_dict
from ...util.where import opaque_package_of
from ..frontend.functions import is_user_function
from ..guards import guard as of
from ..guards import python_objects
from ..guards.escapes import refuse_opaque
from ..guards.implicit_calls import GENERATED
from ..guards.kinds import CONTAINERS, MISSING, is_object, is_open
from ..guards.reads import guard
from ..heap.foreign import Foreign, is_foreign
from ..heap.journal import journal, note
from ..heap.percall import part_of, refuse_state
from ..objects.containers import NEVER_CHANGE, contents, may_be_changed, slots_of
from ..objects.draws import goes_on
from ..values.tracer import Tracer
from .builtin import class_of
from .library import Proxy, has_traced
from .name_dicts import AttributeDict, GlobalNames, NameDict
from .scopes import Scopes

# methods of dataclasses that have no text
OF_DATACLASSES = {"__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__repr__", "__init__", "__setattr__",
                  "__delattr__"}


def has_attribute_dict(x: object) -> bool:
    """Whether captured code sees an AttributeDict for `x.__dict__`: of an object of the user's, and no list or dict."""
    return is_object(x) and not isinstance(x, (Value, FunctionType)) and type(own_dict(x)) is dict


class Dispatched(NamedTuple):
    """A method that functools.singledispatchmethod has made, of an object."""

    made: Any
    owner: Any


class Attributes(Scopes):
    """The part of a trace's capture that sees to attributes."""

    packages: set
    _see: Callable
    _holds_inputs: Callable
    originals: dict
    _of_classes: set

    def __init__(self) -> None:
        self._dicts: dict[int, NameDict] = {}                 # id of a dict of names -> what stands for it
        super().__init__()

    @for_user
    def attribute(self, owner: Any, name: str, is_indexed: bool = False) -> Any:
        """owner.name as captured code sees it: of an object, class or module from outside it is a source."""
        if name == "__class__" and isinstance(owner, (Tracer, list)):
            return class_of(owner)
        owner = self.copy_of(owner)
        if isinstance(owner, Foreign):
            return getattr(owner, name)
        if id(owner) in self.originals:
            return self._of_function(owner, name)
        if type(owner) is ModuleType:
            value = self.assigned_name(vars(owner), name)
            if value is not MISSING:
                return value
            if name == "__dict__" and self.has_functions(owner):
                return self.names_of_module(vars(owner))
        if isinstance(owner, tuple) and (get := self._getter(type(owner), name)) is not None:
            return get(owner)
        if name == "__dict__" and has_attribute_dict(owner):
            return self._dict_of(owner)
        if isinstance(owner, (Value, Proxy)) or not is_open(owner) or (name == "__dict__" and self.builder.live):
            value = getattr(owner, name)
            if not self.builder.live and not isinstance(owner, (Value, Proxy)):
                value = part_of(owner, name, value) if goes_on(owner) else self.of_library(owner, name)
            return OBJECTS.get(id(value), value)
        inside = self._is_inside(owner)
        cls = owner if isinstance(owner, type) else type(owner)
        found = MISSING if isinstance(owner, ModuleType) else self._in_class(cls, name)
        try:
            return self._attribute_of(owner, name, found, inside, is_indexed)
        except AttributeError:
            self.presence(owner, name, False)
            raise

    @for_user
    def _attribute_of(self, owner: object, name: str, found: object, inside: bool, is_indexed: bool) -> Any:
        is_class = isinstance(owner, type)
        if hasattr(type(found), "__get__") and not inside:
            self.note_class(owner)
        get = None if is_class else self._getter(type(owner), name)
        if get is not None:
            return get(owner)
        if isinstance(found, functools.singledispatchmethod) and not is_class:
            return Dispatched(found, owner)
        if isinstance(found, functools.cached_property) and not is_class and name not in owner.__dict__:
            return self._cached(owner, name, found, inside)
        value = getattr(owner, name)
        is_own = inside and (value is not found or name in (own_dict(owner) or ()))           # a field's default
        if isinstance(found, Value) and value is found and not inside and not is_class:
            self.has_own(owner, name)
        if type(value) is MethodType and not inside:
            self._guard_method(owner, name, found)
        if is_own or type(value) is MethodType:
            return value
        # a new object has this value from its class, which has its guard
        return self._value_of(owner, name, value,
                              lambda: [] if inside else of.of_attribute(owner, name, value), is_indexed)

    def _value_of(self, owner: object, name: object, value: object, guards: Callable, is_indexed: bool = False) -> Any:
        """The value of an attribute as captured code sees it; guards() are those of the read."""
        if isinstance(value, (Tracer, Foreign)) or (has_traced((value,)) and not self._holds_inputs(value)):
            return value
        is_written = self._is_written(owner, name, value)
        if is_written and (type(value) in NEVER_CHANGE or not journal().is_outer(value)):
            return value
        if not is_written:
            self.sources += guards()
        if self.is_foreign(value):
            return self.swap(value)
        self._see(value)
        self.open(value)
        if isinstance(value, (np.ndarray, np.void, *CONTAINERS)) or python_objects.container_behind(value) is not None:
            return self.index(value) if is_indexed else self.swap(value)
        return OBJECTS.get(id(value), value)

    # -- dicts of names (see name_dicts.py) --------------------------------------------------------

    def _dict_of(self, owner: object) -> NameDict:
        self._is_inside(owner)
        return self._dicts.setdefault(id(owner.__dict__), AttributeDict(owner.__dict__, owner, self))

    def names_of_module(self, names: dict) -> NameDict:
        """The global names of a module, or of what stands for them, as a dict."""
        original = self.original_names(names)
        return self._dicts.setdefault(id(original), GlobalNames(original, original, self))

    def own_attribute(self, owner: object, name: object) -> object:
        """owner.__dict__[name], MISSING if there is none."""
        own: dict = owner.__dict__
        if not self.has_own(owner, name):
            return MISSING
        value = own[name]
        return value if self._is_inside(owner) else self._value_of(owner, name, value, lambda: of.of_own(owner, name))

    def has_own(self, owner: object, name: object) -> bool:
        """Whether an object has an attribute of its own under this name."""
        found = name in (own_dict(owner) or ())
        if not found and not self._is_inside(owner) and not self._is_written(owner, name, MISSING):
            self.sources += of.of_own(owner, name)
        return found

    def note_own_names(self, owner: object) -> None:
        """Captured code asks for the names of all attributes that an object has of its own."""
        if not self._is_inside(owner):
            before, slots = journal().begun_as(owner), slots_of(type(owner))
            self.sources += of.of_own(owner)
            self.sources.append(of.length_as(owner.__dict__, {n: x for n, x in before.items() if n not in slots}))

    def _getter(self, cls: type, name: str) -> "Callable | None":
        """The captured function of a property that a class of the user's has under this name."""
        found = of.in_class(cls, name)
        if not isinstance(found, property) or not is_user_function(found.fget, self.packages):
            return None
        self._in_class(cls, name)
        return self.runtime.call(found.fget)

    def _cached(self, owner: object, name: str, made: functools.cached_property, inside: bool) -> ArrayOrNumber:
        """The value of a cached property that is not in the object yet. It is put there, as Python does."""
        if not inside:
            self.sources += of.of_own(owner, name)
        value = self.runtime.call(made.func)(owner)
        note(owner)
        owner.__dict__[name] = value
        return value

    def _guard_method(self, owner: object, name: str, found: object) -> None:
        """Guards for a method that is read from a thing outside. Each read makes another bound method, so its identity
        says nothing. found: what the class has under this name, which has its guard already.
        """
        own = own_dict(owner)
        if type(own) is dict and not self._is_written(owner, name, own.get(name, MISSING)):
            self.sources += of.of_own(owner, name)
        if found is MISSING and isinstance(owner, type):      # a method of its metaclass
            self.sources.append(of.of_class(owner, name))
            self._in_class(type(owner), name)

    def called_by(self, cls: type, found: Callable) -> None:
        """The `__call__` of a class, a function or another object: it has a guard."""
        self._in_class(cls, "__call__")
        self.open(found)

    def _is_written(self, owner: object, name: Any, value: object) -> bool:
        """Whether the function itself has given an attribute this value: nobody found it there."""
        book = journal()
        if not book.is_noted(owner) or (isinstance(owner, (type, ModuleType)) and name[:2] == "__"):
            return False
        before = book.begun_as(owner)
        return isinstance(before, dict) and before.get(name, MISSING) is not value

    def _in_class(self, cls: type, name: str) -> Any:
        """The attribute that a class gives its instances under this name; the read becomes a guard."""
        self.builder.trace.classes[cls] = None
        found = of.in_class(cls, name)
        if (cls, name) not in self._of_classes and found is not MISSING:
            self._of_classes.add((cls, name))
            holder = next((c for c in cls.__mro__ if name in vars(c)), cls)
            if not isinstance(found, Value) and not self._is_written(holder, name, found):
                self.sources.append(of.of_class(cls, name))
            else:                                             # no class in front of that one has the name
                before = takewhile(lambda c: name not in vars(c), cls.__mro__)
                self.sources += [of.of_order(cls), *[g for c in before for g in of.of_names(vars(c), [name])]]
        return found

    def note_class(self, x: object) -> None:
        """Guard the class of an object from outside, whose methods are called: another one may be assigned."""
        is_outer = not isinstance(x, (type, Value)) and id(x) not in self.builder.root.trace.inside
        if is_outer and may_be_changed(type(x)):
            self.sources.append(of.AttributeGuard(x, "__class__", type(x)))

    def descriptor(self, owner: object, name: str) -> None:
        """Guard that an object finds an object with `__get__` in its class under this name, and has none of its own; or
        a class in one of its bases.
        """
        if isinstance(owner, type):
            self._in_class(owner, name)
        self._in_class(type(owner), name)
        self.note_class(owner)
        if type(own_dict(owner)) is dict:
            self.has_own(owner, name)

    def refuse_state(self, owner: object, name: str) -> None:
        """An error if an attribute is set that is another one at each call."""
        if not self.builder.live:
            refuse_state(owner, name)

    def copy_of(self, owner: object) -> Any:
        """The thing whose attributes captured code reads and writes: of a user's function, until the call is over, it
        is the copy.
        """
        is_function = is_user_function(owner, self.packages) and not self.runtime.is_captured(owner)
        return self.swap(owner) if is_function or self.is_foreign(owner) else owner

    def is_foreign(self, x: object) -> bool:
        """Whether steps of the prelude ask a thing (see heap/foreign.py)."""
        return not self.builder.live and is_foreign(x) and opaque_package_of(x) not in self.packages

    def _of_function(self, copy: FunctionType, name: str) -> Any:
        """An attribute of a user's function."""
        original = self.originals[id(copy)]
        if name == "__code__":
            return original.__code__
        if name in ("__defaults__", "__kwdefaults__"):
            return getattr(original, name)
        if name in ("__globals__", "__dict__"):
            raise UnstageableError(f"{name} of a function is asked for", why="the program has a copy of the function",
                                   do="read the names themselves")
        before, value = original.__dict__.get(name, MISSING), getattr(copy, name)
        if value is before:
            self.sources.append(of.AttributeGuard(original, name, before))
            return self.seen(value)
        told = python_objects.of_function(original, name)
        self.sources += told
        return getattr(original, name) if told else value

    def special(self, cls: type, name: str) -> Any:
        """The captured special method of a class, for its instances. None where it has none, or one that is not a
        user's function.
        """
        found = of.in_class(cls, name)
        if not is_user_function(found, self.packages):
            return None
        if found.__code__.co_filename == GENERATED and name in OF_DATACLASSES:
            return None
        return self.swap(self._in_class(cls, name))

    def absence(self, owner: object, name: str) -> None:
        """Note that an object has no attribute of this name, nor has its class: its __getattr__ was asked."""
        self.sources += [of.of_class(cls, name) for cls in (type(owner), owner) if isinstance(cls, type)]
        own = own_dict(owner)
        if type(own) is dict and not self._is_inside(owner) and not journal().is_noted(owner):
            self.sources += of.of_own(owner, name)

    def presence(self, owner: object, name: str, found: bool) -> None:
        """Guard the answer to hasattr(owner, name)."""
        owner = self.originals.get(id(owner), owner)
        is_outer = not isinstance(owner, (Value, Proxy)) and is_open(owner) and not self._is_inside(owner)
        if hasattr(type(owner), "__getattr__") or isinstance(of.in_class(type(owner), name), property):
            self.absence(owner, name)                         # the guard may not ask the user's methods
        elif is_outer or type(owner) is FunctionType:
            self.sources.append(of.PresenceGuard(owner, name, found))

    def _is_inside(self, owner: object) -> bool:
        """Whether an object was made by the traced code, so that its attributes are nobody else's. Another one is
        opened.
        """
        root = self.builder.root
        root.trace.classes[owner if isinstance(owner, type) else type(owner)] = None
        if id(owner) in root.trace.inside or (self.builder.live and id(owner) in journal().made):
            return True
        if id(owner) in root.trace.opened:
            return False
        if isinstance(owner, ModuleType):
            self._note_opened(owner, owner)
            return False
        is_of_trace = id(owner) in journal().made or not (root.trace.lifted_owners or journal().is_noted(owner))
        if not isinstance(owner, type) and is_of_trace and has_traced(contents(owner).values()):
            root.trace.inside[id(owner)] = owner
            return True
        if not isinstance(owner, type) and not self.builder.live:
            refuse_opaque(owner, self.packages)
        self._note_opened(owner, owner)
        guard(root, owner)
        return False

    def _note_opened(self, x: object, owner: object) -> None:
        """Remember what comes from outside."""
        self.builder.trace.opened[id(x)] = owner

    def open(self, *owners: object) -> None:
        """Note objects from outside before the traced code changes them."""
        for owner in owners:
            if not isinstance(owner, (Value, Proxy)) and is_open(owner):
                self._is_inside(owner)
