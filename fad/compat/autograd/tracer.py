"""autograd.tracer: primitives, and what may be asked of a traced value."""
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...util.errors import UnstageableError
from .extend import notrace_primitive as notrace_primitive
from .extend import primitive as primitive


class _OfTraced(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isbox(instance)

    def __subclasscheck__(cls, other: type) -> bool:
        """isinstance() of a traced value asks about the class that it stands for."""
        raise UnstageableError("isinstance(x, Box) is asked of a traced value",
                               why="it has the class of the array or number that it stands for", do="ask isbox(x)")


class Box(metaclass=_OfTraced):
    """The class of traced values: no plain value is an instance; of a traced one ask isbox."""


def isbox(x: object) -> bool:
    """Whether x is being differentiated. While a program is made, all values that it computes count; values read from
    outside do not.

    >>> isbox(1.0)
    False
    """
    if not isinstance(x, Value) or not stack.builders():
        return False
    builder = stack.current()
    return builder.moves(x) if stack.is_live() else all(value is not x for _, value in builder.trace.captured.values())


def getval(x: object) -> Any:
    """The number or array behind a traced value; x itself, if it is not traced.

    A program has no values while it is made, so a function that asks runs step by step on the tape.

    >>> getval(2.5)
    2.5
    """
    if not isinstance(x, Value):
        return x
    if not stack.is_live():
        raise UnstageableError("getval asks for the value of a traced array",
                               why="a program has no values while it is made",
                               do="leave it out, or use fad.stop_gradient")
    y = stack.current().value(x)
    return y.copy() if isinstance(y, np.ndarray) else y
