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


class Box(metaclass=_OfTraced):
    """The class that traced values seem to have: `isinstance(x, Box)` says whether x is one."""


def isbox(x: Any) -> bool:
    """Whether x is a value that is being traced.

    >>> isbox(1.0)
    False
    """
    return isinstance(x, Value)


def getval(x: Any) -> Any:
    """The number or array behind a traced value; x itself, if it is not traced.

    A program has no values while it is made, so a function that asks runs step by step on the tape.

    >>> getval(2.5)
    2.5
    """
    if not isinstance(x, Value):
        return x
    if not stack.is_live():
        raise UnstageableError("getval asks for the value of a traced array", why="a program has no values while it is made",
                               do="leave it out, or use fad.stop_gradient")
    y = stack.current().value(x)
    return y.copy() if isinstance(y, np.ndarray) else y
