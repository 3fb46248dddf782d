"""NumPy's functions that join arrays and take them apart: concatenate, stack, block, split, tile, repeat, append,
insert, delete."""
import operator
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import INT, is_number, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike, Extent
from .. import extents
from ..kinds import shape_of
from ..literals import as_array, constant, is_value, known
from ..override import BY_NAME, METHODS, override
from ..products import quotient, size_of
from ..shape import broadcast_to as broadcast_
from ..shape import concatenate as concatenate_
from ..shape import pack as pack_
from ..shape import reshape as reshape_
from ..slices import assume_at_least
from ..subscript import read_subscript
from .arguments import Casting, check_all, fixed, in_dtype, into, is_given, joint_dtype, one_axis, rank, refuse, taken
from .shape import atleast_1d, atleast_2d, atleast_3d, expand_dims, extents_given, moveaxis, ravel


def strong(a: object) -> AnyArray:
    """An item to be joined as an array: here a Python number has a dtype of its own."""
    x = as_array(a)
    return np.asarray(x)[()] if is_number(x) else x


def arrays_of(arrays: Any) -> list:
    """The items of a sequence of arrays, or the rows of an array."""
    if is_value(arrays):
        return [arrays[k] for k in range(fixed(shape_of(arrays)[0], "the number of arrays to join"))]
    return [strong(a) for a in arrays]


def in_one_dtype(parts: list, dtype: Any) -> list:
    """Arrays in the dtype they promote to (or the one that is asked for)."""
    if not parts:
        raise ValueError("need at least one array to join")
    common = joint_dtype(parts, dtype)
    return [in_dtype(a, common) for a in parts]


def joined(parts: list, axis: int, dtype: object = None) -> AnyArray:
    """Arrays one after the other along an axis."""
    parts = in_one_dtype(parts, dtype)
    if any(rank(a) != rank(parts[0]) for a in parts):
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly, and "
                         "their number, too")
    if not rank(parts[0]):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = one_axis(axis, rank(parts[0]))
    return METHODS["copy"](parts[0]) if len(parts) == 1 else concatenate_(*parts, axis=axis)


def rows_merged(x: AnyArray, axis: int) -> AnyArray:
    """The rows of an array one after the other along an axis of theirs, however many there are."""
    moved = moveaxis(x, 0, axis)
    shape = shape_of(moved)
    return reshape_(moved, *shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2:])


def rows_joined(x: AnyArray, axis: int, dtype: Any) -> AnyArray:
    if rank(x) < 2:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    x = in_dtype(x, np.dtype(dtype)) if is_given(dtype) else x
    return rows_merged(x, one_axis(axis, rank(x) - 1))


def _require_castable(arrays: Any, dtype: Any, casting: Casting) -> None:
    """An error unless arrays may be cast to the dtype that they are to be joined in."""
    if not is_given(dtype) and casting == "same_kind":
        return
    parts = [arrays] if is_value(arrays) else [strong(a) for a in arrays]
    wanted = joint_dtype(parts, dtype)
    for a in parts:
        if not np.can_cast(type_of(a).dtype, wanted, casting):
            raise TypeError(f"Cannot cast array data from {type_of(a).dtype!r} to {wanted!r} according to the rule "
                            f"{casting!r}")


@override("numpy.concatenate", "numpy.concat",
          samples=("np.concatenate([x, x * 2], axis=1)", "np.concatenate([x, v], axis=None)"))
def concatenate(arrays: Any, axis: int = 0, out: "AnyArray | None" = None, *, dtype: DTypeLike = None,
                casting: Any = "same_kind") -> AnyArray:
    _require_castable(arrays, dtype if out is None else out.dtype, casting)
    if is_value(arrays):
        return _filling(out, dtype, rows_joined(arrays, axis, dtype) if axis is not None
                        else METHODS["copy"](in_dtype(ravel(arrays), dtype)))
    parts = arrays_of(arrays) if axis is not None else [ravel(a) for a in arrays_of(arrays)]
    return _filling(out, dtype, joined(parts, 0 if axis is None else axis, dtype))


def _filling(out: object, dtype: object, y: AnyArray) -> AnyArray:
    """y, written into `out` where that is given, which must have its shape."""
    if not is_given(out):
        return y
    if is_given(dtype):
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if rank(out) != rank(y):
        raise ValueError("Output array has wrong dimensionality")
    for m, n in zip(shape_of(out), shape_of(y)):
        extents.agree(m, n, "extents of the output and of the result")
    return into(out, y)


@override("numpy.stack", samples=("np.stack([v, v * v])", "np.stack([x, x], axis=-1)"))
def stack(arrays: ArrayLike, axis: int = 0, out: "AnyArray | None" = None, *, dtype: DTypeLike = None,
          casting: Any = "same_kind") -> ArrayOrNumber:
    _require_castable(arrays, dtype if out is None else out.dtype, casting)
    if is_value(arrays):
        moved = moveaxis(arrays, 0, one_axis(axis, rank(arrays)))
        return _filling(out, dtype, METHODS["copy"](in_dtype(moved, np.dtype(dtype)) if is_given(dtype) else moved))
    parts = in_one_dtype(arrays_of(arrays), dtype)
    if any(rank(a) != rank(parts[0]) for a in parts):
        raise ValueError("all input arrays must have the same shape")
    ax = one_axis(axis, rank(parts[0]) + 1)
    return _filling(out, dtype, joined([expand_dims(a, ax) for a in parts], ax) if rank(parts[0]) else pack_(*parts))


@override("numpy.vstack", *["numpy.row_stack"] * hasattr(np, "row_stack"), samples=("np.vstack([x, v])",))
def vstack(tup: Any, *, dtype: object = None, casting: Any = "same_kind") -> AnyArray:
    _require_castable(tup, dtype, casting)
    if is_value(tup):
        rows = (reshape_(tup, *shape_of(tup)[:1], 1, *shape_of(tup)[1:]) if rank(tup) == 2
                else reshape_(tup, *shape_of(tup), 1, 1) if rank(tup) == 1 else tup)
        return rows_joined(rows, 0, dtype)
    return joined([atleast_2d(a) for a in arrays_of(tup)], 0, dtype)


@override("numpy.hstack", samples=("np.hstack([v, v])", "np.hstack([x, x])"))
def hstack(tup: Any, *, dtype: object = None, casting: Any = "same_kind") -> AnyArray:
    _require_castable(tup, dtype, casting)
    if is_value(tup):
        return rows_joined(tup if rank(tup) > 1 else reshape_(tup, *shape_of(tup), 1), 0 if rank(tup) < 3 else 1, dtype)
    parts = [atleast_1d(a) for a in arrays_of(tup)]
    return joined(parts, 0 if rank(parts[0]) == 1 else 1, dtype)


@override("numpy.dstack", samples=("np.dstack([x, x])",))
def dstack(tup: object) -> AnyArray:
    return joined([atleast_3d(a) for a in arrays_of(tup)], 2)


@override("numpy.column_stack", samples=("np.column_stack([v, v])",))
def column_stack(tup: Any) -> AnyArray:
    if is_value(tup):
        return rows_joined(tup if rank(tup) > 2 else reshape_(tup, *shape_of(tup), *[1] * (3 - rank(tup))), 1, None)
    return joined([reshape_(a, *(shape_of(a) or (1,)), 1) if rank(a) < 2 else a for a in arrays_of(tup)], 1)


@override("numpy.resize", samples=("np.resize(v, (2, 3))",))
def resize(a: ArrayLike, new_shape: object) -> AnyArray:
    x, shape = ravel(a), extents_given(new_shape)
    n = shape_of(x)[0]
    if not assume_at_least(n, 1):                                     # of an array without elements NumPy makes zeros
        x, n = concatenate_(x, constant(np.zeros(1, type_of(x).dtype)), axis=0), registry["maximum"](n, 1)
    places = registry["iota"](size_of(shape), dtype=INT) % n
    return reshape_(taken(x, places), *shape)


@override("numpy.append", samples=("np.append(x, v)",))
def append(arr: ArrayLike, values: ArrayLike, axis: Axes = None) -> AnyArray:
    return concatenate([arr, values], axis)


@override("numpy.block", samples=("np.block([[S, S], [S, S]])", "np.block([v, 1.0])"))
def block(arrays: object) -> AnyArray:
    depth = _depth(arrays)
    least = max(depth, _deepest_rank(arrays))
    return _block(arrays, depth, least, 0)


def _depth(arrays: object) -> int:
    return 1 + max(_depth(a) for a in arrays) if isinstance(arrays, list) else 0


def _deepest_rank(arrays: object) -> int:
    return max(_deepest_rank(a) for a in arrays) if isinstance(arrays, list) else rank(strong(arrays))


def _block(arrays: object, depth: int, least: int, level: int) -> AnyArray:
    if not isinstance(arrays, list):
        x = strong(arrays)
        return METHODS["copy"](reshape_(x, *[1] * (least - rank(x)), *shape_of(x)))
    return joined([_block(a, depth, least, level + 1) for a in arrays], level - depth)


# -- apart -----------------------------------------------------------------------------------------


def part(x: ArrayOrNumber, axis: int, start: object, stop: object) -> AnyArray:
    """x[..., start:stop, ...] along one axis."""
    return read_subscript(x, (slice(None),) * axis + (slice(start, stop),)).read(x)


def _cut(x: AnyArray, places: list, axis: int) -> list:
    bounds = [0, *places, None]
    return [part(x, axis, a, b) for a, b in zip(bounds, bounds[1:])]


def _places(given: Any) -> Any:
    """Cutting places, or the number of sections."""
    if is_value(given) and given.ndim or isinstance(given, np.ndarray) and given.ndim:
        return list(given)
    return given if isinstance(given, (tuple, list)) else operator.index(given)


@override("numpy.split", samples=("np.split(x, 2, axis=1)[1]", "np.split(v, [1, 3])[1]"))
def split(ary: ArrayLike, indices_or_sections: object, axis: int = 0) -> list:
    x, places = as_array(ary), _places(indices_or_sections)
    ax = one_axis(axis, rank(x))
    if not isinstance(places, int):
        return _cut(x, places, ax)
    size = quotient((shape_of(x)[ax],), (places,), "array split does not result in an equal division")
    return [registry["slice_axis"](x, ax, k * size, size) for k in range(places)]


@override("numpy.array_split", samples=("np.array_split(v, 3)[0]",))
def array_split(ary: ArrayLike, indices_or_sections: object, axis: int = 0) -> list:
    x, places = as_array(ary), _places(indices_or_sections)
    ax = one_axis(axis, rank(x))
    if not isinstance(places, int):
        return _cut(x, places, ax)
    if places < 1:
        raise ValueError("number sections must be larger than 0.")
    n, parts, start = shape_of(x)[ax], [], 0
    for k in range(places):                                      # the first n % places parts have one element more
        size = (n + (places - 1 - k)) // places
        parts.append(registry["slice_axis"](x, ax, start, size))
        start = start + size
    return parts


def _split_along(least: int, axis: Any, name: str) -> Any:
    def along(ary: ArrayOrNumber, indices_or_sections: Any) -> list:
        x = as_array(ary)
        if rank(x) < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        return split(x, indices_or_sections, axis(rank(x)))
    return along


hsplit = override("numpy.hsplit",
                  samples=("np.hsplit(x, 2)[0]",))(_split_along(1, lambda n: 1 if n > 1 else 0, "hsplit"))
vsplit = override("numpy.vsplit")(_split_along(2, lambda n: 0, "vsplit"))
dsplit = override("numpy.dsplit")(_split_along(3, lambda n: 2, "dsplit"))


@override("numpy.unstack", samples=("np.unstack(x)[1]",))
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple:
    x = as_array(x)
    rows = moveaxis(x, axis, 0)
    return tuple([rows[k] for k in range(fixed(shape_of(rows)[0], "the extent that unstack takes apart"))])


# -- repeated --------------------------------------------------------------------------------------


@override("numpy.tile", samples=("np.tile(v, 3)", "np.tile(x, (2, 2))", "np.tile(v, (len(v), 1))"))
def tile(A: ArrayLike, reps: Any) -> AnyArray:
    x = strong(A)
    several = isinstance(reps, (tuple, list)) or (isinstance(reps, np.ndarray) and reps.ndim > 0)
    counts = tuple(reps) if several else (reps,)
    x = reshape_(x, *[1] * (len(counts) - rank(x)), *shape_of(x))
    counts = (1,) * (rank(x) - len(counts)) + counts
    shape = shape_of(x)
    y = reshape_(x, *[n for m in shape for n in (1, m)])
    y = broadcast_(y, *[n for pair in zip(counts, shape) for n in pair])
    y = reshape_(y, *[c * n for c, n in zip(counts, shape)])
    if isinstance(y, Value) and any(not isinstance(c, int) or c != 1 for c in counts):
        current().trace.dense[y.atom] = True                  # repeated, it is a new array
    return y


@override("numpy.repeat", method="repeat",
          samples=("np.repeat(v, 2)", "np.repeat(x, [1, 2, 1], axis=0)", "x.repeat(2)"))
def repeat(a: ArrayLike, repeats: ArrayLike, axis: Any = None) -> ArrayOrNumber:
    x = strong(a)
    x, ax = (ravel(x), 0) if axis is None else (x, one_axis(axis, rank(x)))
    counts = as_array(repeats)
    if rank(counts) == 0:
        return _repeat_each(x, counts, ax)
    if known(counts) is None:
        return _repeat_as_counted(x, counts, ax)
    counts = known(counts)
    if counts.size == 1:
        return _repeat_each(x, int(counts[0]), ax)
    extents.agree(shape_of(x)[ax], counts.size, "the extent of an array and the number of repeats")
    places = constant(np.repeat(np.arange(counts.size), counts))
    return taken(x, places, axis=ax)


def _repeat_as_counted(x: AnyArray, counts: AnyArray, axis: int) -> Any:
    """repeat with computed counts: place k of the result comes from the first element whose repeats end after k."""
    if type_of(counts).dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from {type_of(counts).dtype!r} to {INT!r} according to the rule 'safe'")
    counts = broadcast_(in_dtype(counts, INT), shape_of(x)[axis])
    check_all(counts >= 0, "repeats may not contain negative values.")
    places = BY_NAME["numpy.arange"].call(registry["sum"](counts, axes=(0,)))
    ends = BY_NAME["numpy.cumsum"].call(counts)
    chosen = BY_NAME["numpy.searchsorted"].call(ends, places, side="right")
    return BY_NAME["numpy.take"].call(x, chosen, axis=axis)


def _repeat_each(x: AnyArray, count: int, axis: int) -> AnyArray:
    shape = shape_of(x)
    head, n, tail = shape[:axis], shape[axis], shape[axis + 1:]
    y = broadcast_(reshape_(x, *head, n, 1, *tail), *head, n, count, *tail)
    return reshape_(y, *head, n * count, *tail)


# -- with elements put in or left out --------------------------------------------------------------


def _along(arr: object, axis: Any) -> tuple:
    x = as_array(arr)
    return (ravel(x), 0) if axis is None else (x, one_axis(axis, rank(x)))


@override("numpy.insert", samples=("np.insert(v, 1, 5.0)", "np.insert(x, [0, 2], v, axis=0)",
                                   "np.insert(x, 1, x[:, 0], axis=1)"))
def insert(arr: ArrayLike, obj: object, values: ArrayLike, axis: Axes = None) -> AnyArray:
    x, ax = _along(arr, axis)
    v = in_dtype(strong(values), type_of(x).dtype)
    v = reshape_(v, *[1] * (rank(x) - rank(v)), *shape_of(v))
    places = _positions(obj, shape_of(x)[ax], "insert")
    if not isinstance(places, np.ndarray):
        return _insert_at(x, places, moveaxis(v, 0, ax), ax)
    if places.size == 1:
        return _insert_at(x, int(places[0]), v, ax)
    return _insert_many(x, places, v, ax)


def _positions(obj: object, n: Extent, function: str) -> ArrayOrNumber:
    """One position (which may be traced), or known ones as an array."""
    if isinstance(obj, slice):
        return np.arange(fixed(n, f"the extent that {function} cuts"))[obj]
    given = as_array(obj)
    if rank(given) == 0:
        return given
    places = known(given)
    places = extents.pinned(given) if places is None else places
    if places is None:
        raise refuse(f"numpy.{function}", "traced positions", "the result's extent or order would depend on them",
                     "give them as a list")
    return np.flatnonzero(places) if places.dtype.kind == "b" else places.astype(INT).ravel()


def _insert_at(x: AnyArray, place: ArrayOrNumber, v: AnyArray, axis: int) -> AnyArray:
    shape = shape_of(x)
    v = broadcast_(v, *[m if k == axis else n for k, (m, n) in enumerate(zip(shape_of(v), shape))])
    if isinstance(place, int) and place < 0 and assume_at_least(shape[axis] + place, 0):
        place = shape[axis] + place
    if not assume_at_least(place, 0) or not assume_at_least(shape[axis], place):
        from_either_end = abs(place) if is_number(place) else registry["abs"](place)  # from -n to n, both included
        registry["check_index"](from_either_end, shape[axis] + 1, axis=axis)
    return joined([part(x, axis, None, place), v, part(x, axis, place, None)], axis)


def _insert_many(x: AnyArray, places: np.ndarray, v: AnyArray, axis: int) -> AnyArray:
    n = fixed(shape_of(x)[axis], "the extent that insert puts elements into")
    places = np.where(places < 0, places + n, places)
    if places.size and not (0 <= places.min() and places.max() <= n):
        raise IndexError(f"insertion indices are out of bounds for axis {axis} with size {n}")
    order = np.argsort(places, kind="stable")
    new = places.copy()
    new[order] += np.arange(places.size)
    old = np.setdiff1d(np.arange(n + places.size), new)
    shape = [m if k != axis else n + places.size for k, m in enumerate(shape_of(x))]
    y = registry["full"](0, *shape, dtype=type_of(x).dtype)
    for where, what in ((old, x), (new, v)):
        y = read_subscript(y, (slice(None),) * axis + (constant(where),)).write(y, what)
    return y


@override("numpy.delete", samples=("np.delete(v, 1)", "np.delete(x, [0, -1], axis=1)", "np.delete(v, slice(0, 2))"))
def delete(arr: ArrayLike, obj: object, axis: Axes = None) -> ArrayOrNumber:
    x, ax = _along(arr, axis)
    n = shape_of(x)[ax]
    places = _positions(obj, n, "delete")
    if not isinstance(places, np.ndarray):
        return _without(x, places, ax)
    n = fixed(n, "the extent that delete takes elements from")
    rest = np.delete(np.arange(n), places)
    return read_subscript(x, (slice(None),) * ax + (constant(rest),)).read(x)


def _without(x: AnyArray, place: Any, axis: int) -> ArrayOrNumber:
    n = shape_of(x)[axis]
    read_subscript(x, (slice(None),) * axis + (place,))           # sees to it that the index is in range
    start = registry["wrap_index"](place, n) if is_value(place) else n + place if place < 0 else place
    return joined([part(x, axis, None, start), part(x, axis, start + 1, None)], axis)
