"""Objects of a library's classes whose numbers are traced: fad has objects of its own in their place."""
import dis
import functools
import importlib
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn

from .errors import UnsupportedFunctionError


class LibraryObject:
    """An object in place of a library's. Code that asks for its class finds the library's; an attribute that the
    library's has and this one has not is refused, also where hasattr or a default would hide that it is missing.

    of: the dotted name of the library's class, for all objects of a subclass or for each.
    do: what to do in place of an attribute that is refused.
    """

    of = ""
    do = "write its formula with the attributes that are there, or give it a rule of its own (fad.custom_jvp)"

    @property
    def stands_for(self) -> type:
        """The library's class."""
        return class_named(self.of)

    def _missing(self, name: str) -> NoReturn:
        cls = self.stands_for
        if name.startswith("__") or name not in attributes_of(cls):
            raise AttributeError(f"'{cls.__name__}' object has no attribute '{name}'", name=name, obj=self)
        known = ", ".join(sorted(n for n in {*dir(type(self)), *vars(self)} & attributes_of(cls) if n[0] != "_"))
        raise UnsupportedFunctionError(f"{cls.__name__}.{name} is not supported on traced numbers",
                                       why=f"fad has an object of its own in place of it, with {known}", do=self.do)

    if not TYPE_CHECKING:  # mypy would take every attribute for one that is there
        __getattr__ = _missing


def class_named(name: str) -> type:
    """The class of this dotted name. (Captured routines see stand-ins of classes that have overrides.)"""
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def is_own(x: object, cls: type) -> bool:
    """Whether x is an object of this class of fad's. (Captured routines that ask by `type` find the library's.)"""
    return type(x) is cls


@functools.cache
def attributes_of(cls: type) -> frozenset[str]:
    """The attributes that objects of a class may have: the class's, and those that its methods assign."""
    methods = [m for base in cls.__mro__ for m in vars(base).values() if isinstance(m, FunctionType)]
    assigned = {i.argval for m in methods for i in dis.get_instructions(m) if i.opname == "STORE_ATTR"}
    return frozenset(assigned.union(dir(cls)))
