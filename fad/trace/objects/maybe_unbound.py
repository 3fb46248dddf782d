"""Names that have a value on some paths only: after a branch or a loop that may not have bound them, reading them is
checked.

    if c:                                    y = Unsure(3.0, c)
        y = 3.0                  ->
    return y                                 return __fad__.bound(y)          # checks c, gives 3.0

The variable then holds an Unsure. Only reads that rewriting has marked see it (see frontend/syntax.py).
"""
from typing import Any

from ...ops.conditional import Conditional


class Unsure:
    """The content of a variable that may be unbound: the value that it has where it is bound."""

    __slots__ = ("value", "bound")

    def __init__(self, value: object, flag: object, name: str):
        what = f"local variable {name!r} referenced before assignment"
        self.value, self.bound = value, Conditional(flag, name, what, "UnboundLocalError")


def read(x: object) -> Any:
    """The value of a variable. The program raises here if the variable is unbound."""
    if type(x) is not Unsure:
        return x
    x.bound.check()
    return x.value
