"""Names that have a value on some paths only: after a branch or a loop that may not have bound them, reading them is
checked.

A name's value is then marked with a truth value of the program that says whether the name is bound. A read of the value
(Tracer.atom) makes the program raise, as Python would, where it is not.
"""
from collections.abc import Iterable
from typing import Any

from ...ir.build import current
from ...ops.carry import UNDEFINED
from ...ops.conditional import Conditional
from ...util import tree
from ...util.errors import UnstageableError
from .choice import is_choice, number_of
from .tracer import Tracer


class Bound(Conditional):
    """Whether a name is bound: a truth value of the program; and where this was checked."""

    error = "UnboundLocalError"

    @property
    def what(self) -> str:
        return f"local variable {self.name!r} referenced before assignment"


def _traced(value: object) -> list:
    """The leaves of a value that are traced; of a text that depends on the path, its number."""
    leaves = [number_of(x) if is_choice(x) else x for x in tree.flatten(value)[0]]
    return [x for x in leaves if isinstance(x, Tracer)]


def flag_of(value: object) -> Any:
    """Whether a name of this value is bound: True, or a truth value of the program."""
    return next((x.bound.flag for x in _traced(value) if x.bound is not None), True)


def require_bound(value: object) -> None:
    """Make the program raise here if a name of this value is not bound."""
    for x in _traced(value):
        if x.bound is not None:
            x.bound.check()


def has_unbound(values: Iterable) -> bool:
    """Whether one of the names with these values may have none."""
    return current().trace.unbound and any(flag_of(value) is not True for value in values)


def mark(value: object, flag: object, name: str) -> None:
    """From now on reading this value of a name is checked."""
    current().trace.unbound = True
    found = _traced(value)
    for x in found:
        x.bound = Bound(flag, name)
    leaves = tree.flatten(value)[0]
    if not found and not (leaves and all(x is UNDEFINED for x in leaves)):
        raise UnstageableError(
            f"{name} has a value on some paths only, and it is no number, array or text",
            why="a program does not see where such a name is read",
            do="give it a value on every path",
        )
