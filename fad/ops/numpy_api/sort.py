"""NumPy's sorting and searching: sort, argsort, partition, lexsort, searchsorted, digitize, nonzero, unique."""
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import INT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, Axes
from .. import extents
from ..correlate import flipped
from ..dynamic import flatnonzero, nonzero
from ..kinds import is_complex, shape_of
from ..override import METHODS, override
from ..scan import previous
from ..sort import argsort as argsort_
from ..sort import picked
from ..sort import searchsorted as searchsorted_
from ..sort import sort as sort_
from .arguments import along, as_array, check_all, fixed, in_dtype, one_axis, rank, ravel, refuse, some_of, taken


def _along(op: Op, a: Any, axis: Axes) -> AnyArray:
    """op along an axis, for an op that runs along the last one."""
    x, ax = along(a, axis)
    return back(op(last(x, ax)), ax)


def last(x: AnyArray, axis: int) -> AnyArray:
    """x with one axis moved to the end."""
    ndim = rank(x)
    return x if axis == ndim - 1 else registry["transpose"](x, axes=(*(k for k in range(ndim) if k != axis), axis))


def back(x: AnyArray, axis: int) -> AnyArray:
    """x with its last axis moved to a place."""
    ndim = rank(x)
    order = list(range(ndim - 1))
    order.insert(axis, ndim - 1)
    return x if axis == ndim - 1 else registry["transpose"](x, axes=tuple(order))


@override("numpy.sort", samples=("np.sort(x)", "np.sort(x, axis=0)", "np.sort(x, axis=None)[::-1]"))
def sort(a: ArrayLike, axis: Axes = -1) -> AnyArray:
    return _along(sort_, a, axis)


@override("numpy.argsort", method="argsort")
def argsort(a: ArrayLike, axis: Axes = -1) -> AnyArray:
    x = as_array(a)
    # NumPy takes a number for an array of one element
    return _along(argsort_, x if rank(x) else registry["reshape"](x, 1), axis)


@override("numpy.partition", samples=("np.partition(v, 2)[:2]",), note="yes; the parts come sorted")
def partition(a: ArrayLike, kth: ArrayLike, axis: "int | None" = -1) -> AnyArray:
    """Sorting is one way to part an array."""
    _check_kth(a, kth, axis)
    return sort(a, axis)


def _check_kth(a: ArrayLike, kth: ArrayLike, axis: "int | None") -> None:
    x, k = as_array(a), as_array(kth)
    n = shape_of(ravel(x) if axis is None else x)[0 if axis is None else one_axis(axis, rank(x))]
    check_all((k >= -n) & (k < n), "kth out of bounds")


@override("numpy.argpartition", method="argpartition")
def argpartition(a: ArrayLike, kth: ArrayLike, axis: "int | None" = -1) -> Any:
    _check_kth(a, kth, axis)
    return argsort(a, axis)


def _sort_in_place(x: Any, axis: int = -1) -> None:
    x.set(sort(x, axis))


METHODS["sort"] = _sort_in_place
METHODS["partition"] = lambda x, kth, axis=-1: x.set(partition(x, kth, axis))


@override("numpy.sort_complex", samples=())
def sort_complex(a: object) -> Any:
    x = sort(a)
    dtype = type_of(x).dtype
    return x if dtype.kind == "c" else in_dtype(x, np.dtype("F" if dtype.char in "bhBH" else "D"))


@override("numpy.lexsort")
def lexsort(keys: ArrayLike, axis: int = -1) -> AnyArray:
    """By the last key, its equals by the one before it, and so on: stable sorts, the least important key first."""
    keys = [as_array(k) for k in keys] if isinstance(keys, (list, tuple)) else _rows(keys)
    ax = one_axis(axis, rank(keys[0])) if rank(keys[0]) else 0
    keys = [last(k, ax) for k in keys]
    order = argsort_(keys[0])
    for key in keys[1:]:
        order = picked(order, argsort_(picked(key, order)))
    return back(order, ax)


def _rows(x: object) -> list:
    return [taken(x, k) for k in range(fixed(shape_of(x)[0], "the number of keys"))]


# -- searching -------------------------------------------------------------------------------------


def _vector(x: object) -> Any:
    x = as_array(x)
    if rank(x) != 1:
        raise ValueError("object of too small depth for desired array" if not rank(x)
                         else "object too deep for desired array")
    return x


@override("numpy.searchsorted")
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left",
                 sorter: "ArrayLike | None" = None) -> AnyArray:
    if side not in ("left", "right"):
        raise ValueError(f"side must be one of 'left' or 'right' (got {side!r})")
    a, v = _vector(a), as_array(v)
    if sorter is not None:
        order = _vector(sorter)
        n = extents.agree(shape_of(a)[0], shape_of(order)[0], "extents of `sorter` and of `a`")
        check_all((order >= 0) & (order < n), "Sorter index out of range.")
        a = taken(a, order)
    dtype = result_dtype(a, v)
    return searchsorted_(in_dtype(a, dtype), in_dtype(v, dtype), right=side == "right")


METHODS["searchsorted"] = searchsorted


@override("numpy.digitize")
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> AnyArray:
    x, edges, side = as_array(x), _vector(bins), "left" if right else "right"
    if is_complex(x) or is_complex(edges):
        raise TypeError("x and bins may not be complex")
    rising = searchsorted(edges, x, side)
    n = shape_of(edges)[0]
    if isinstance(n, int) and n < 2:
        return rising
    some_of(n, "digitize by bins")
    falling = n - searchsorted(flipped(edges), x, side)
    ends = [taken(edges, k) for k in (0, n - 1)]
    goes_up = ends[0] <= ends[1]
    check_all(registry["where"](goes_up, edges[1:] >= edges[:-1], edges[1:] <= edges[:-1]),
              "bins must be monotonically increasing or decreasing")
    return registry["where"](goes_up, rising, falling)


@override("numpy.nonzero", method="nonzero")
def nonzero_(a: ArrayLike) -> tuple:
    x = as_array(a)
    if not rank(x):
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return nonzero(x)


override("numpy.flatnonzero")(lambda a: flatnonzero(as_array(a)))


@override("numpy.argwhere")
def argwhere(a: ArrayLike) -> AnyArray:
    a = as_array(a)
    parts = nonzero(a)
    if not shape_of(a):                                       # a number has no axes to give indices for
        return registry["full"](0, shape_of(parts[0])[0], 0, dtype=INT)
    return registry["concatenate"](*[registry["reshape"](p, shape_of(p)[0], 1) for p in parts], axis=1)


# -- unique ----------------------------------------------------------------------------------------


class UniqueAll(NamedTuple):
    """The fields of np.unique_all."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """The fields of np.unique_counts."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """The fields of np.unique_inverse."""

    values: Any
    inverse_indices: Any


def _is_first(x: AnyArray, equal_nan: bool) -> AnyArray:
    """Of a sorted vector, which elements differ from the one before."""
    before = previous(x, 0, False, 0)
    differs = x != before
    if equal_nan and type_of(x).dtype.kind in "fc":
        differs = registry["bitwise_and"](differs, registry["bitwise_or"](x == x, before == before))
    return registry["bitwise_or"](differs, registry["iota"](shape_of(x)[0], dtype=INT) == 0)


def _distinct(ar: AnyArray, equal_nan: bool) -> UniqueAll:
    shape = shape_of(ar)
    x = ravel(ar)
    n = shape_of(x)[0]
    order = argsort_(x)
    x = taken(x, order)
    is_first = _is_first(x, equal_nan)
    starts = flatnonzero(is_first)
    group = registry["cumsum"](is_first, axis=0, reverse=False) - 1
    inverse = registry["update"](registry["full"](0, n, dtype=INT), group, order, spec=("a",), at=0, unique=True)
    ends = registry["concatenate"](starts, registry["full"](n, 1, dtype=INT), axis=0)
    count = shape_of(starts)[0]
    counts = registry["slice_axis"](ends, 0, 1, count) - starts
    return UniqueAll(taken(x, starts), taken(order, starts), registry["reshape"](inverse, *shape), counts)


@override("numpy.unique", samples=("np.unique(v)", "np.unique(v, return_counts=True)[0]"),
          note="yes, where elements differ")
def unique(ar: ArrayLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
           axis: Any = None, *, equal_nan: bool = True) -> Any:
    x = as_array(ar)
    if axis is not None:
        if rank(x) != 1:
            raise refuse("numpy.unique", "an axis", "it would sort rows as wholes", "use np.unique of one axis")
        one_axis(axis, 1)
    found = _distinct(x, equal_nan)
    parts = (found.indices, return_index), (found.inverse_indices, return_inverse), (found.counts, return_counts)
    asked = [part for part, wanted in parts if wanted]
    return (found.values, *asked) if asked else found.values


override("numpy.unique_values")(lambda x: _distinct(as_array(x), False).values)
override("numpy.unique_all")(lambda x: _distinct(as_array(x), False))
override("numpy.unique_counts")(lambda x: UniqueCounts(*_distinct(as_array(x), False)[::3]))
override("numpy.unique_inverse")(lambda x: UniqueInverse(*_distinct(as_array(x), False)[::2]))
