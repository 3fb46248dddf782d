"""Calls of what is not captured: libraries' functions, methods of their objects.

An array that such a call makes is a value of the program at once. As a plain array it could be written to where the program cannot see it: after it was
used, in one of two branches, in every turn of a loop that is traced once. Random numbers are another thing in each turn, too: they may be drawn
only where the generator was made, not in a region of its own, which is traced once and run many times or never.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import stack
from ..ir.build import current
from ..util.defects import door
from ..util.errors import UnstageableError
from .draws import goes_on, is_generator, order_of
from .tracer import Tracer


def is_tracing() -> bool:
    """Whether what captured code does goes into a program. If not, it is run as plain Python: on a tape, or by the program (see ops/host.py)."""
    return bool(stack.builders()) and not stack.is_live()


def keep(x: Any) -> None:
    """An error if x goes on from where it is (an iterator, a generator of random numbers), and was there before the region that is being traced."""
    if not is_tracing():
        return
    builder = current()
    if any(x is kept for kept in builder.kept):
        raise UnstageableError("an iterator goes on in a loop or branch on traced values", why="what it yields there is one thing for each turn",
                               do="loop over a list or an array")
    if goes_on(x) and builder.root.generators.get(id(x), (x, builder))[1] is not builder:
        raise UnstageableError("random numbers are drawn in a loop or branch on traced values", why="they are other ones in each turn",
                               do="draw all of them before")


@door
def called(f: Callable, *args: Any, **kwargs: Any) -> Any:
    """f(*args, **kwargs), its arrays as values of the program."""
    for x in (*args, *kwargs.values()):
        keep(x)
    if getattr(f, "__name__", "") == "shuffle" and is_generator(getattr(f, "__self__", None)) and args and isinstance(args[0], Tracer):
        return _shuffle(f, *args, **kwargs)
    result = f(*args, **kwargs)
    drawn = type(result) is np.ndarray and result.base is None and is_generator(getattr(f, "__self__", None)) and not any(x is result for x in kwargs.values())
    return current().constant(result) if drawn and result.dtype.kind in "biufc" else _taken(result)


def _shuffle(draw: Callable, x: Tracer, axis: int = 0) -> None:
    """generator.shuffle(x), by an array of indices: what it knows of other objects than arrays is to swap rows, which are views."""
    x[...] = x.take(order_of(draw, x.ndim, len(x.swapaxes(0, axis)), axis), axis)


def _taken(result: Any) -> Any:
    """What a library returned, as captured code sees it."""
    if type(result) is np.ndarray and result.dtype.kind in "biufc":
        return current().capture(result)
    if isinstance(result, tuple) and any(isinstance(x, np.ndarray) for x in result):
        items = [_taken(x) for x in result]
        return result._make(items) if hasattr(result, "_make") else tuple(items) if type(result) is tuple else result
    if goes_on(result):
        current().root.generators[id(result)] = (result, current())
    return result
