"""Names that have a value on some paths only: after a branch or a loop that may not have bound them, reading them is
checked.

A name's value is then marked with a truth value of the program that says whether the name is bound. What reads the
value (Tracer.atom) makes the program raise, as Python would, where it is not.
"""
from collections.abc import Iterable

from ...ir.build import current
from ...ops.conditional import Conditional
from ...util import tree
from .tracer import Tracer


class Bound(Conditional):
    """Whether a name is bound: a truth value of the program; and where this was checked."""

    error = "UnboundLocalError"

    @property
    def what(self) -> str:
        return f"local variable {self.name!r} referenced before assignment"


def flag_of(value: object) -> bool:
    """Whether a name of this value is bound: True, or a truth value of the program."""
    marks = [leaf.bound for leaf in tree.flatten(value)[0] if isinstance(leaf, Tracer)]
    return next((m.flag for m in marks if m is not None), True)


def has_unbound(values: Iterable) -> bool:
    """Whether one of the names with these values may have none."""
    return current().trace.unbound and any(flag_of(value) is not True for value in values)


def mark(value: object, flag: object, name: str) -> None:
    """From now on reading this value of a name is checked."""
    current().trace.unbound = True
    for leaf in tree.flatten(value)[0]:
        if isinstance(leaf, Tracer):
            leaf.bound = Bound(flag, name)
