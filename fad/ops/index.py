"""Indexing: one description of a selection serves reading, writing, adding, and the derivatives of all three.

ir/spec.py defines the language of selections. ops/subscript.py reads NumPy's subscripts, and makes indices nonnegative
and in range.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.spec import walk_spec
from ..ir.traits import SUMS_KEPT, Traits
from ..ir.types import INT, Type, result_dtype, type_of
from ..util.array import AnyArray, ArrayOrNumber, Extent
from ..util.errors import IndexRangeError
from .batch_index import batch_index, batch_write
from .choice import mask
from .extents import broadcast_of, broadcast_onto, product
from .kinds import AddInto, Zero, fit, shape_of
from .selection import array_rank, move_axes, natural_place, numpy_index, selected_shape
from .shape import full, iota, nothing_like, reshape


def _run_index(x: AnyArray, *operands: ArrayOrNumber, spec: tuple, at: int) -> AnyArray:
    x = np.asarray(x)
    basic, arrays = numpy_index(operands, spec)
    part = x[basic]
    if "a" not in spec:
        return part
    return move_axes(part[arrays], array_rank(arrays), natural_place(arrays), at)


def _infer_index(x: AnyArray, *operands: ArrayOrNumber, spec: tuple, at: int) -> Type:
    return Type(type_of(x).dtype, selected_shape(shape_of(x), operands, spec, at))


def _write(out: np.ndarray, v: ArrayOrNumber, operands: tuple, spec: tuple, at: int, add: bool) -> np.ndarray:
    """The array, written to."""
    basic, arrays = numpy_index(operands, spec)
    if "a" not in spec:
        if add:
            out[basic] += v
        else:
            out[basic] = v
        return out
    part = out[basic]                                            # a view of out, whatever the slices
    rank, place = array_rank(arrays), natural_place(arrays)
    v = move_axes(np.broadcast_to(v, _selected(part, arrays, rank, place, at)), rank, at, place)
    if add:
        np.add.at(part, arrays, v)
    else:
        part[arrays] = v
    return out


def _selected(part: np.ndarray, arrays: tuple, rank: int, place: int, at: int) -> tuple:
    return move_axes(part[arrays], rank, place, at).shape


class _Index:
    """Reading is linear; its cotangent is added into the array's, in place of a dense array of zeros."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None if dxs[0] is None else index(dxs[0], *xs[1:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        x, g = xs[0], gs[0]
        into = AddInto(lambda total: index_add(total, g, *xs[1:], **params), lambda: nothing_like(x))
        return (into,) + (None,) * (len(xs) - 1)


class _Update:
    """x with a part replaced by v: linear in both. Of indices that recur, only the last one's v has a cotangent."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx, dv = (nothing_like(x) if d is None else d for x, d in zip(xs[:2], dxs[:2]))
        return (update(dx, dv, *xs[2:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        g, operands, chosen = gs[0], xs[2:], {"spec": params["spec"], "at": params["at"]}
        gv = None
        if needs[1]:
            gv = index(g, *operands, **chosen)               # read first: what is not read any more is changed in place
            if "a" in params["spec"] and not params.get("unique"):
                gv = mask(_stays(g, operands, **chosen), gv)
        gx = update(g, 0.0, *operands, **params) if needs[0] else None
        return (gx, gv if gv is None else fit(gv, xs[1])) + (None,) * len(operands)


def _stays(x: AnyArray, operands: tuple, spec: tuple, at: int) -> AnyArray:
    """Whether an element of the selected part is the last one written to its place in x, as far as the axes with index
    arrays tell.
    """
    axes, arrays = zip(*[(axis, given[0]) for axis, entry, given in walk_spec(spec, operands) if entry == "a"])
    shape, chosen = shape_of(arrays[0]), {"spec": ("a",) * len(axes), "at": 0}
    number = reshape(iota(product(shape), dtype=INT), *shape)
    last = update(full(-1, *[shape_of(x)[axis] for axis in axes], dtype=INT), number, *arrays, **chosen)
    others = len(selected_shape(shape_of(x), operands, spec, at)) - len(shape)
    return reshape(index(last, *arrays, **chosen) == number, *[1] * at, *shape, *[1] * (others - at))


class _IndexAdd:
    """x with v added to a part: linear in both."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        dx = nothing_like(xs[0]) if dxs[0] is None else dxs[0]
        return (dx if dxs[1] is None else index_add(dx, dxs[1], *xs[2:], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        gv = fit(index(gs[0], *xs[2:], **params), xs[1]) if needs[1] else None
        return (gs[0], gv) + (None,) * (len(xs) - 2)


def infer_write(x: AnyArray, v: ArrayOrNumber, *operands: ArrayOrNumber, spec: tuple, at: int,
                unique: bool = False) -> Type:
    broadcast_onto(shape_of(v), selected_shape(shape_of(x), operands, spec, at))
    return Type(type_of(x).dtype, shape_of(x))


def _sample(shape: tuple, part: "tuple | None", *operands: object, spec: tuple, at: int = 0) -> Any:
    """A sample of a selection from an array of this shape; `part` is the shape of what is written there."""
    def make(rng: np.random.Generator) -> tuple:
        arrays: tuple = (rng.standard_normal(shape),)
        if part is not None:
            arrays = (*arrays, rng.standard_normal(part)[()])
        return (*arrays, *operands), {"spec": spec, "at": at}
    return make


_ROWS, _COLUMNS = np.array([[1, 0, 1], [2, 2, 0]]), np.array([[3, 0, 3], [1, 1, 2]])
_SELECTIONS: list = [
    ((4,), (), (2,), {"spec": ("i",)}), ((5,), (3,), (4, 3), {"spec": (("s", -2),)}),
    ((3, 4), (2,), (1, 2, 3), {"spec": (("s", 1), "i")}), ((3, 4), (2, 3, 4), (_ROWS,), {"spec": ("a", ":")}),
    ((3, 4), (3, 2, 3), (_COLUMNS,), {"spec": (":", "a"), "at": 1}),
    ((3, 4), (2, 3), (_ROWS, _COLUMNS), {"spec": ("a", "a")}),
    ((2, 3, 4), (2, 2, 3), (0, 2, _ROWS, 1), {"spec": (("s", 1), "a", "i"), "at": 1})]


def _samples(write: bool, repeated: bool = True) -> tuple:
    return tuple(_sample(shape, part if write else None, *operands, **given)
                 for shape, part, operands, given in _SELECTIONS
                 if repeated or "a" not in given["spec"])


index = Op("index", _run_index, _infer_index, kind="index", derivative=_Index(), batch=batch_index,
           samples=_samples(False), doc="The selected part of x",
           traits=Traits(copies=1, selects=1, view="write", may_alias=True, stem="x"))
def _update(out: np.ndarray, v: ArrayOrNumber, *operands: ArrayOrNumber, spec: tuple, at: int,
            unique: bool = False) -> np.ndarray:
    return _write(out, v, operands, spec, at, False)


def _index_add(out: np.ndarray, v: ArrayOrNumber, *operands: ArrayOrNumber, spec: tuple, at: int) -> np.ndarray:
    return _write(out, v, operands, spec, at, True)


def _on_a_copy(write: Callable) -> Callable:
    return lambda x, *args, **params: write(np.array(x, dtype=np.asarray(x).dtype), *args, **params)


update = Op("update", _on_a_copy(_update), infer_write, kind="index", derivative=_Update(), batch=batch_write,
            samples=_samples(True, repeated=False), write=_update,
            doc="x with the selected part replaced by v (of indices that recur, the last stays)",
            traits=Traits(copies=2, selects=2, in_place=True, order="first", stem="out"))
index_add = Op("index_add", _on_a_copy(_index_add), infer_write, kind="index", derivative=_IndexAdd(),
               batch=batch_write, samples=_samples(True), write=_index_add,
               doc="x with v added to the selected part (indices that recur add up)",
               traits=Traits(widens=SUMS_KEPT, selects=2, in_place=True, adds=True, order="first", stem="g"))

# -- indices as NumPy has them ---------------------------------------------------------------------


def _run_wrap(i: Extent, n: int) -> AnyArray:
    return np.where(np.less(i, 0), np.add(i, n), i)[()]


def _run_check(i: Extent, n: int, axis: int) -> tuple:
    i = np.asarray(i)
    wrong = (i < -n) | (i >= n)
    if wrong.any():
        raise IndexRangeError(f"index {i[wrong].flat[0]} is out of bounds for axis {axis} with size {n}")
    return ()


def _batch_check(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return NotImplemented if batched[1] else op(*xs, **params)


wrap_index = Op("wrap_index", _run_wrap, lambda i, n: Type(np.int64, broadcast_of(i, n)), kind="elementwise",
                derivative=Zero(), arity=2, batch="elementwise", text="({0} + {1} if {0} < 0 else {0})",
                domain="integer", doc="An index counted from the end, if it is negative, as one from the start")
check_index = Op("check_index", _run_check, lambda i, n, axis: (), kind="check", derivative=Zero(), effect=True,
                 batch=_batch_check, error="IndexError",
                 doc="Raises unless -n <= i < n for every index of an axis of extent n")


def slice_axis(x: AnyArray, axis: int, start: Extent, extent: Extent, step: int = 1) -> AnyArray:
    """x[..., start : start + step * extent : step, ...] along one axis."""
    spec = tuple(("s", step) if k == axis else ":" for k in range(x.ndim))
    return index(x, start, extent, spec=spec, at=0)


registry["slice_axis"] = slice_axis          # type: ignore[assignment]  # a name for rules to use, not an op
__all__ = ["result_dtype"]
