"""Slices over extents: start, extent and step by NumPy's rules, kept as plain as the known facts allow.

`x[1:]` and `x[:-1]` get the same extent n - 1, because a proof (or a guard) replaces clamping where possible.
"""
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from ..ir.build import Value
from ..ir.op import registry
from ..ir.types import INT
from ..util.array import ArrayOrNumber, Extent
from ..util.defects import for_user
from ..util.errors import ConcreteValueError
from . import extents
from .kinds import same_extent


class Slice(NamedTuple):
    """start, start + step, ...: `extent` elements."""

    start: Any
    extent: Any
    step: Any

    def is_whole(self, n: Extent) -> bool:
        """Whether this is all of an axis of extent n, in order."""
        return (is_int(self.step) and self.step == 1 and is_int(self.start) and self.start == 0
                and same_extent(self.extent, n))


def is_int(n: object) -> bool:
    return isinstance(n, int)


@for_user
def integer(n: Any) -> Any:
    """A Python int, or an int64 scalar of the program."""
    if getattr(n, "__fad_level__", 0) < 2:                       # a tensor's number is known
        return operator.index(n)
    if n.ndim or n.dtype.kind not in "iu":
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return n if n.dtype == INT else registry["cast"](n, dtype=INT)


def smaller(a: ArrayOrNumber, b: ArrayOrNumber) -> ArrayOrNumber:
    """min(a, b), one of them where it is known (or assumed, as a guard) to be the smaller."""
    if assume_at_least(a, b, extents.always_at_least):
        return b
    return a if assume_at_least(b, a, extents.always_at_least) else extents.minimum(a, b)


def larger(a: ArrayOrNumber, b: Any) -> ArrayOrNumber:
    """max(a, b), one of them where it is known (or assumed, as a guard) to be the larger."""
    if assume_at_least(a, b, extents.always_at_least):
        return a
    return b if assume_at_least(b, a, extents.always_at_least) else extents.maximum(a, b)


def assume_at_least(a: ArrayOrNumber, b: ArrayOrNumber, ask: Callable = extents.assume_at_least) -> bool:
    """Whether a >= b is known; never, of values on a tape."""
    if any(getattr(n, "__fad_level__", 0) and not isinstance(n, Value) for n in (a, b)):
        return False
    return ask(a, b)


def from_start(k: Extent, n: Extent) -> ArrayOrNumber:
    """An index counted from the end, where it is negative, as one counted from the start; not clamped."""
    if assume_at_least(k, 0):
        return k
    return k + n if assume_at_least(-1, k) else registry["wrap_index"](k, n)


def _clamped(k: Extent, n: Extent, low: int, high: Extent) -> ArrayOrNumber:
    return smaller(high, larger(from_start(integer(k), n), low))


def read_slice(s: slice, n: Extent) -> Slice:
    """The part of an axis of extent n that a slice selects.

    >>> read_slice(slice(None, -1), 5), read_slice(slice(None, None, -2), 5)
    (Slice(start=0, extent=4, step=1), Slice(start=4, extent=3, step=-2))
    """
    step = 1 if s.step is None else integer(s.step)
    if is_int(step) and step == 0:
        raise ValueError("slice step cannot be zero")
    if assume_at_least(step, 1):
        start = 0 if s.start is None else _clamped(s.start, n, 0, n)
        stop = n if s.stop is None else _clamped(s.stop, n, 0, n)
        return Slice(start, _steps(stop, start, step), step)
    if assume_at_least(-1, step):
        start = n - 1 if s.start is None else _clamped(s.start, n, -1, n - 1)
        stop = -1 if s.stop is None else _clamped(s.stop, n, -1, n - 1)
        return Slice(start, _steps(start, stop, -step), step)
    raise ConcreteValueError("the step of a slice is traced, and its sign is not known",
                             do="use a constant step, or index with an array")


def _steps(far: ArrayOrNumber, near: ArrayOrNumber, step: int) -> ArrayOrNumber:
    """The number of steps of this (positive) length that start before the far end."""
    length = extents.difference(far, near)
    return length if is_int(step) and step == 1 else (length + (step - 1)) // step
