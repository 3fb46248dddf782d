"""Parts of arrays in lanes: what each of LANES iterations reads or writes, side by side.

    x[i, j]      i = first, first + 1, ...     index(x, first, 64, j, spec=(("s", 1), "i"))       a slice
    x[p[i], j]   p[i] any                      index(x, p, j, spec=("a", "i"))                    a gather
    t[j]         t has its lanes last          index(t, j, spec=("i", ":"))

The lanes are the last axis of every result.
"""
from typing import Any, NamedTuple

from ..ir.op import registry
from ..ir.types import INT
from ..ops.kinds import shape_of
from ..util.array import AnyArray, ArrayOrNumber

LANES = 64                                                   # a multiple of all vectors, in a few cache lines
NAME = f"{LANES} lanes"                                      # of the call that a block of iterations is


class Ramp:
    """An integer that is one more in each lane than in the one before."""

    __slots__ = ("start",)

    def __init__(self, start: ArrayOrNumber):
        self.start = start

    def lanes(self) -> AnyArray:
        """The integers as an array."""
        return registry["add"](registry["iota"](LANES, dtype=INT), self.start)


def part_of(array: ArrayOrNumber, axis: int, first: AnyArray) -> AnyArray:
    """The part of an array that a block's iterations own, lanes last."""
    part = registry["index"](array, first, LANES, spec=_slice_of(array, axis), at=0)
    others = [k for k in range(len(shape_of(array))) if k != axis]
    return registry["transpose"](part, axes=(*others, axis)) if others else part


def with_part(array: AnyArray, part: AnyArray, axis: int, first: AnyArray) -> AnyArray:
    """The array with what a block's iterations have made of their part."""
    rank = len(shape_of(array))
    if rank > 1:
        order = list(range(rank - 1))
        order.insert(axis, rank - 1)
        part = registry["transpose"](part, axes=tuple(order))
    return registry["update"](array, part, first, LANES, spec=_slice_of(array, axis), at=0)


def _slice_of(array: ArrayOrNumber, axis: int) -> tuple:
    return tuple([("s", 1) if k == axis else ":" for k in range(len(shape_of(array)))])


class Subscript(NamedTuple):
    """The selection along an axis: an entry of a spec (see ir/spec.py), its operands, and whether lanes differ."""

    entry: Any
    given: tuple
    varies: bool


def read_by_lanes(x: AnyArray, entries: list) -> AnyArray:
    """The elements that each lane reads from an array which all lanes share."""
    moving = [e for e in entries if e.varies]
    if len(moving) > 1 or not isinstance(moving[0].given[0], Ramp):
        operands, spec = _selection(entries)
        return registry["index"](x, *operands, spec=spec, at=_kept(entries))
    (start,) = moving[0].given
    spec = tuple([("s", 1) if e.varies else e.entry for e in entries])
    operands = [n for e in entries for n in ((start.start, LANES) if e.varies else e.given)]
    part = registry["index"](x, *operands, spec=spec, at=0)
    place = _kept(entries[:entries.index(moving[0])])
    others = [k for k in range(_kept(entries) + 1) if k != place]
    return registry["transpose"](part, axes=(*others, place)) if others and place < len(others) else part


def in_each_lane(entries: list) -> tuple:
    """(operands, params) of an index or a write to an array that has its lanes last."""
    operands, spec = _selection(entries)
    if not any(e.varies for e in entries):
        return operands, {"spec": (*spec, ":"), "at": 0}
    return [*operands, registry["iota"](LANES, dtype=INT)], {"spec": (*spec, "a"), "at": _kept(entries)}


def _selection(entries: list) -> tuple:
    """(operands, spec), the indices that vary as arrays."""
    operands = [n.lanes() if isinstance(n, Ramp) else n for e in entries for n in e.given]
    return operands, tuple(["a" if e.varies else e.entry for e in entries])


def _kept(entries: list) -> int:
    """The number of axes of the array that the result has, the lanes left aside."""
    return sum(e.entry != "i" for e in entries)
