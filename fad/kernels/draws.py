"""Draws that a running program makes where its data say so: in a branch, in a while loop.

Each draw has a position in the sequence of the call's draws, and whoever asks for the same position gets the same
number. So a draw is a function of its position, and may be computed again: by a reverse sweep, or by the kernel that
takes over from the interpreter.

    >>> begun, tosses = begin(), iter([0.5, 0.25])
    >>> [drawn(begun + k, lambda: next(tosses)) for k in (0, 1, 0)]
    [0.5, 0.25, 0.5]
"""
import itertools
import threading
from collections.abc import Callable
from typing import SupportsInt

import numpy as np

__all__: list[str] = []

STRIDE = 1 << 32                                              # between the first positions of two calls
KEPT = 4                                                      # calls of a thread that may go on: one within another
_counts = itertools.count(1)


class _Calls(threading.local):
    def __init__(self) -> None:
        self.drawn: dict[int, list] = {}                      # number of a call -> what it has drawn


_calls = _Calls()


class LostDraw(Exception):
    """The draws of a call are not known any more, or one of them was left out."""


def begin() -> np.int64:
    """The first position of a new call."""
    number = next(_counts)
    _calls.drawn[number] = []
    while len(_calls.drawn) > KEPT:
        del _calls.drawn[next(iter(_calls.drawn))]
    return np.int64(number * STRIDE)


def drawn(position: SupportsInt, draw: Callable, *given: object) -> object:
    """The draw at this position: draw(*given), if there is none yet."""
    number, k = divmod(int(position), STRIDE)
    values = _calls.drawn.get(number)
    if values is None or k > len(values):
        raise LostDraw
    if k == len(values):
        values.append(draw(*given))
    return values[k]
