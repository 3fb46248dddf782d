"""Indexing: one description of a selection serves reading, writing, adding, and the derivatives of all three.

A selection `spec` has one entry an axis of the array, and operands follow the array in the op's inputs, in axis order:

    ":"     the whole axis                                   no operand
    "s"     a slice of step k, as ("s", k)                   operands start, extent
    "i"     one index; the axis goes                         operand: an integer
    "a"     an array of indices                              operand: an integer array

All "a" operands have one shape; its axes stand in the result at position `at` (counting axes left by the rest).
Indices are in range and not negative; ops/indexing.py, which reads NumPy's subscripts, sees to that.
"""
from typing import Any, Iterator

import numpy as np

from ..ir.op import Op, registry
from ..ir.types import Type, result_dtype, type_of
from .kinds import AddInto, Linear, Zero, fit, shape_of
from .shape import zeros_like


def walk_spec(spec: tuple, operands: tuple) -> Iterator[tuple]:
    """(axis, entry, the operands of that entry)."""
    k = 0
    for axis, entry in enumerate(spec):
        count = {":": 0, "s": 2, "i": 1, "a": 1}[entry[0]]
        yield axis, entry, operands[k:k + count]
        k += count


def selected_shape(shape: tuple, operands: tuple, spec: tuple, at: int) -> tuple:
    """The extents of a selection."""
    kept: list = []
    gathered: tuple = ()
    for axis, entry, given in walk_spec(spec, operands):
        if entry == ":":
            kept.append(shape[axis])
        elif entry[0] == "s":
            kept.append(given[1])
        elif entry == "a":
            gathered = shape_of(given[0])
    return tuple(kept[:at]) + tuple(gathered) + tuple(kept[at:])


def _as_slice(start: int, extent: int, step: int) -> slice:
    stop = start + step * extent
    return slice(start, stop if stop >= 0 else None, step) if extent else slice(0, 0)


def numpy_index(x: np.ndarray, operands: tuple, spec: tuple) -> "tuple[tuple, int]":
    """The selection as a NumPy subscript in which slices come apart from arrays, and where NumPy puts the arrays' axes."""
    basic: list = []
    arrays: list = []
    for _, entry, given in walk_spec(spec, operands):
        if entry == ":":
            basic.append(slice(None)), arrays.append(slice(None))
        elif entry[0] == "s":
            basic.append(_as_slice(int(given[0]), int(given[1]), entry[1])), arrays.append(slice(None))
        elif entry == "i":
            basic.append(int(given[0]))
        else:
            basic.append(slice(None)), arrays.append(np.asarray(given[0]))
    return tuple(basic), tuple(arrays)          # type: ignore[return-value]


def _natural_place(arrays: tuple) -> int:
    """Where NumPy puts the axes of the index arrays: at the first of them if they are neighbours, else in front."""
    places = [k for k, a in enumerate(arrays) if not isinstance(a, slice)]
    if not places:
        return 0
    return places[0] if places[-1] - places[0] + 1 == len(places) else 0


def _array_rank(arrays: tuple) -> int:
    return next((a.ndim for a in arrays if not isinstance(a, slice)), 0)


def _move(y: np.ndarray, rank: int, source: int, target: int) -> np.ndarray:
    if source == target or rank == 0:
        return y
    return np.moveaxis(y, range(source, source + rank), range(target, target + rank))


def _run_index(x: Any, *operands: Any, spec: tuple, at: int) -> Any:
    x = np.asarray(x)
    basic, arrays = numpy_index(x, operands, spec)
    part = x[basic]
    if "a" not in spec:
        return part
    return _move(part[arrays], _array_rank(arrays), _natural_place(arrays), at)


def _infer_index(x: Any, *operands: Any, spec: tuple, at: int) -> Type:
    return Type(type_of(x).dtype, selected_shape(shape_of(x), operands, spec, at))


def _write(x: Any, v: Any, operands: tuple, spec: tuple, at: int, add: bool) -> Any:
    out = np.array(x, dtype=np.asarray(x).dtype)
    basic, arrays = numpy_index(out, operands, spec)
    if "a" not in spec:
        if add:
            out[basic] += v
        else:
            out[basic] = v
        return out
    part = out[basic]                                            # a view of out, whatever the slices
    rank, place = _array_rank(arrays), _natural_place(arrays)
    v = _move(np.broadcast_to(v, _selected(part, arrays, rank, place, at)), rank, at, place)
    if add:
        np.add.at(part, arrays, v)
    else:
        part[arrays] = v
    return out


def _selected(part: np.ndarray, arrays: tuple, rank: int, place: int, at: int) -> tuple:
    return _move(part[arrays], rank, place, at).shape


class _Index:
    """Reading is linear; its cotangent is added into the array's, in place of a dense array of zeros."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None if dxs[0] is None else index(dxs[0], *xs[1:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        x, g = xs[0], gs[0]
        into = AddInto(lambda total: index_add(total, g, *xs[1:], **params), lambda: zeros_like(x))
        return (into,) + (None,) * (len(xs) - 1)


class _Update:
    """x with a part replaced by v: linear in both."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx, dv = (zeros_like(x) if d is None else d for x, d in zip(xs[:2], dxs[:2]))
        return (update(dx, dv, *xs[2:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        g = gs[0]
        gx = update(g, 0.0, *xs[2:], **params) if needs[0] else None
        gv = fit(index(g, *xs[2:], **params), xs[1]) if needs[1] else None
        return (gx, gv) + (None,) * (len(xs) - 2)


class _IndexAdd:
    """x with v added to a part: linear in both."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx = zeros_like(xs[0]) if dxs[0] is None else dxs[0]
        return (dx if dxs[1] is None else index_add(dx, dxs[1], *xs[2:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        gv = fit(index(gs[0], *xs[2:], **params), xs[1]) if needs[1] else None
        return (gs[0], gv) + (None,) * (len(xs) - 2)


index = Op("index", _run_index, _infer_index, kind="index", derivative=_Index(), doc="The selected part of x")
update = Op("update", lambda x, v, *ops, spec, at: _write(x, v, ops, spec, at, False), lambda x, v, *ops, spec, at: Type(type_of(x).dtype, shape_of(x)),
            kind="index", derivative=_Update(), doc="x with the selected part replaced by v (of indices that recur, the last stays)")
index_add = Op("index_add", lambda x, v, *ops, spec, at: _write(x, v, ops, spec, at, True), lambda x, v, *ops, spec, at: Type(type_of(x).dtype, shape_of(x)),
               kind="index", derivative=_IndexAdd(), doc="x with v added to the selected part (indices that recur add up)")


def slice_axis(x: Any, axis: int, start: Any, extent: Any, step: int = 1) -> Any:
    """x[..., start : start + step * extent : step, ...] along one axis."""
    spec = tuple(("s", step) if k == axis else ":" for k in range(x.ndim))
    return index(x, start, extent, spec=spec, at=0)


registry["slice_axis"] = slice_axis          # type: ignore[assignment]  # a name for rules to use, not an op
__all__ = ["Linear", "Zero", "result_dtype"]
