"""Methods that Python calls by itself: operators, `with`, setters of properties. No call in captured code names them.
"""
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from ...util.reach import reached, referents
from ...util.where import is_captured_class, is_library
from ..objects.containers import is_users
from . import guard as of
from .kinds import CONTAINERS, MISSING, OPERATORS, is_open

MAKERS = {"__init__", "__new__", "__init_subclass__", "__set_name__"}
REWRITTEN = {*MAKERS, "__call__"}                             # captured as other functions are, or of a class's making
TEXTS = {
    "__repr__", "__str__", "__hash__", "__format__", "__del__", "__reduce__", "__getstate__", "__setstate__",
    "__copy__", "__deepcopy__",
}
GENERATED = "<string>"  # the file of methods that a class decorator has written


def called_by_python(cls: type) -> Iterator[tuple]:
    """Methods that no call in captured code names, operators and their kin, setters of properties: (name, what the
    class has there, function).
    """
    for name in dict.fromkeys(name for c in cls.__mro__ for name in vars(c)):
        found = of.in_class(cls, name)
        f = found.fset if isinstance(found, property) else function_of(found)
        by_itself = isinstance(found, property) or (
            name.startswith("__") and name.endswith("__") and name not in REWRITTEN
        )
        if by_itself and type(f) is FunctionType and not is_library(f.__code__.co_filename):
            yield name, found, f


def function_of(found: object) -> Any:
    """The function behind a static or class method. Other objects are not asked: some import a module when they are."""
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def reading(cls: type) -> list:
    """Those of them that compute, of a class of the user's: names and functions."""
    if not is_users(cls) or not is_captured_class(cls):
        return []
    called = [(name, f) for name, _, f in called_by_python(cls) if name not in TEXTS]
    functions = [(name, function_of(f)) for name, f in called]
    return [(name, f) for name, f in functions if type(f) is FunctionType and f.__code__.co_filename != GENERATED]


def asked_by_python(cls: type) -> list:
    """The functions of a class that Python may call by itself, those of C code and of libraries among them."""
    found = [of.in_class(cls, name) for name in OPERATORS]
    return [*[f for _, _, f in called_by_python(cls)], *[function_of(x) for x in found if x is not MISSING]]


def classes_within(x: object) -> list:
    """The users' classes of an object and of the objects in it, and such classes themselves."""
    found = reached([x], lambda y: referents(y) if isinstance(y, CONTAINERS) or is_open(y) else ())
    objects = [y for y in found if isinstance(y, type) or is_open(y)]
    return list({y if isinstance(y, type) else type(y): None for y in objects})
