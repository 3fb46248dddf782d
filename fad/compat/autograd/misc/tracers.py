"""Functions whose graph does not depend on their arguments."""
import functools
from collections.abc import Callable

from ....api.derivatives.derivative import jit


def const_graph(fun: Callable, *args: object, **kwargs: object) -> Callable:
    """fun with these arguments given, traced once for each kind of argument: its graph must not depend on values."""
    return functools.wraps(fun)(jit(functools.partial(fun, *args, **kwargs)))
