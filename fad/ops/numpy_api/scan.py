"""NumPy's scans and differences: cumsum, cumprod, cumulative_sum, cumulative_prod, diff, ediff1d, gradient, trapezoid.
"""
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike, Extent
from .. import extents
from ..kinds import shape_of
from ..override import override
from .arguments import along, as_array, axes_of, in_dtype, into, is_given, one_axis, rank, ravel, taken
from .reduce import with_first

cumsum_, cumprod_ = registry["cumsum"], registry["cumprod"]


def _running(op: Op, a: Any, axis: Axes, dtype: object, out: Any) -> AnyArray:
    x, ax = along(a, axis)
    return into(out, in_dtype(op(in_dtype(x if rank(x) else registry["reshape"](x, 1), dtype), axis=ax, reverse=False),
                              dtype))


@override("numpy.cumsum", method="cumsum", samples=("np.cumsum(x)", "np.cumsum(x, axis=1)", "x.cumsum()"))
def cumsum(a: ArrayLike, axis: Axes = None, dtype: DTypeLike = None, out: object = None) -> AnyArray:
    return _running(cumsum_, a, axis, dtype, out)


@override("numpy.cumprod", method="cumprod", samples=("np.cumprod(x)", "np.cumprod(x, axis=0)"))
def cumprod(a: ArrayLike, axis: Axes = None, dtype: DTypeLike = None, out: object = None) -> AnyArray:
    return _running(cumprod_, a, axis, dtype, out)


def _cumulative(op: Op, x: object, first: int, axis: Any, dtype: DTypeLike, out: Any,
                include_initial: bool) -> AnyArray:
    x = as_array(x)
    x = x if rank(x) else registry["reshape"](x, 1)                          # NumPy takes a number for an array of one
    if not is_given(axis) and rank(x) != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    ax = one_axis(axis if is_given(axis) else 0, rank(x))
    y = in_dtype(op(in_dtype(x, dtype), axis=ax, reverse=False), dtype)
    if include_initial:
        y = with_first(y, (ax,), first)
    return into(out, y)


@override("numpy.cumulative_sum", samples=("np.cumulative_sum(x, axis=1, include_initial=True)",))
def cumulative_sum(x: ArrayLike, /, *, axis: Axes = None, dtype: DTypeLike = None, out: object = None,
                   include_initial: bool = False) -> AnyArray:
    return _cumulative(cumsum_, x, 0, axis, dtype, out, include_initial)


@override("numpy.cumulative_prod", samples=("np.cumulative_prod(x, axis=1)",))
def cumulative_prod(x: ArrayLike, /, *, axis: Axes = None, dtype: DTypeLike = None, out: object = None,
                    include_initial: bool = False) -> AnyArray:
    return _cumulative(cumprod_, x, 1, axis, dtype, out, include_initial)


# -- differences -----------------------------------------------------------------------------------


def part(x: ArrayOrNumber, axis: int, start: Extent, extent: Extent) -> AnyArray:
    """x[start : start + extent] along one axis."""
    return registry["slice_axis"](x, axis, start, extent)


def require_numbers(x: AnyArray) -> None:
    """NumPy subtracts no bools."""
    if type_of(x).dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` "
                        "operator, or the logical_xor function instead.")


def _step(x: ArrayOrNumber, axis: int) -> ArrayOrNumber:
    """The differences of neighbours; of bools, whether they differ."""
    n = extents.difference(shape_of(x)[axis], 1)
    later, earlier = part(x, axis, 1, n), part(x, axis, 0, n)
    return later != earlier if type_of(x).dtype.kind == "b" else later - earlier


@override("numpy.diff", samples=("np.diff(x)", "np.diff(x, n=2, axis=1)", "np.diff(v, prepend=0.0)"))
def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: object = None, append: object = None) -> AnyArray:
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    x = as_array(a)
    if not rank(x):
        raise ValueError("diff requires input that is at least one dimensional")
    ax = one_axis(axis, rank(x))
    if n:
        x = _joined(x, ax, prepend, append)
    for _ in range(n):
        x = _step(x, ax)
    return x


def _joined(x: object, axis: int, before: object, after: object) -> Any:
    """x with something before and behind it along an axis; numbers are stretched to fit."""
    if not is_given(before) and not is_given(after):
        return x
    edge = tuple(1 if k == axis else n for k, n in enumerate(shape_of(x)))
    ends = [as_array(e) if is_given(e) else None for e in (before, after)]
    ends = [registry["broadcast_to"](e, *edge) if e is not None and not rank(e) else e for e in ends]
    return registry["concatenate"](*[e for e in (ends[0], x, ends[1]) if e is not None], axis=axis)


@override("numpy.ediff1d", samples=("np.ediff1d(x)", "np.ediff1d(v, to_begin=0.0, to_end=[1.0, 2.0])"))
def ediff1d(ary: ArrayLike, to_end: object = None, to_begin: object = None) -> Any:
    x = ravel(as_array(ary))
    require_numbers(x)
    d = _step(x, 0)
    ends = [None if e is None else _end(as_vector(e), type_of(d).dtype, name)
            for name, e in (("to_begin", to_begin), ("to_end", to_end))]
    parts = [e for e in (ends[0], d, ends[1]) if e is not None]
    return registry["concatenate"](*parts, axis=0) if len(parts) > 1 else d


def _end(x: AnyArray, dtype: np.dtype, name: str) -> AnyArray:
    if not np.can_cast(type_of(x).dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return in_dtype(x, dtype)


def as_vector(x: object) -> AnyArray:
    """x in one axis, a number as a vector of one."""
    x = as_array(x)
    return ravel(x) if rank(x) else registry["reshape"](x, 1)


# -- gradient: central differences inside, one-sided at the ends (B. Fornberg, Mathematics of Computation 51 (1988) 699)


def _spacings(x: AnyArray, varargs: tuple, axes: tuple) -> list:
    """The spacing along each axis: a number, or the differences of coordinates."""
    if not varargs:
        return [1.0] * len(axes)
    if len(varargs) == 1 and not rank(as_array(varargs[0])):
        return [varargs[0]] * len(axes)
    if len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    return [_spacing(as_array(h), shape_of(x)[ax]) for h, ax in zip(varargs, axes)]


def _spacing(h: ArrayOrNumber, n: Extent) -> ArrayOrNumber:
    if not rank(h):
        return h
    if rank(h) != 1:
        raise ValueError("distances must be either scalars or 1d")
    extents.agree(shape_of(h)[0], n, "extents of the coordinates and of their axis")
    return _step(in_dtype(h, float) if type_of(h).dtype.kind in "iu" else h, 0)


def _central(h: AnyArray, k: AnyArray, shape: tuple) -> tuple:
    """The weights of the left, middle and right element at distances h and k."""
    weights = -k / (h * (h + k)), (k - h) / (h * k), h / (k * (h + k))
    return tuple(registry["reshape"](w, *shape) for w in weights)


def _first(h: ArrayOrNumber, k: ArrayOrNumber) -> tuple:
    """The weights of three elements for the slope at the first of them."""
    return -(2.0 * h + k) / (h * (h + k)), (h + k) / (h * k), -h / (k * (h + k))


def _weighted(weights: tuple, parts: tuple) -> AnyArray:
    return sum(w * p for w, p in zip(weights, parts))


def _slope(x: AnyArray, axis: int, h: ArrayOrNumber, edge_order: int) -> AnyArray:
    n = shape_of(x)[axis]
    if not extents.assume_at_least(n, edge_order + 1):
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) "
                         "elements are required.")
    inner, last = extents.difference(n, 2), n - 1
    left, middle, right = (part(x, axis, k, inner) for k in range(3))
    uniform = not rank(as_array(h))

    def spacing(k: Extent) -> ArrayOrNumber:
        return h if uniform else taken(h, k)

    if uniform:
        inside = (right - left) / (2.0 * h)
    else:
        shape = tuple(inner if k == axis else 1 for k in range(rank(x)))
        inside = _weighted(_central(part(h, 0, 0, inner), part(h, 0, 1, inner), shape), (left, middle, right))
    if edge_order == 1:
        start = (part(x, axis, 1, 1) - part(x, axis, 0, 1)) / spacing(0)
        end = (part(x, axis, last, 1) - part(x, axis, last - 1, 1)) / spacing(n - 2)
    else:
        start = _weighted(_first(spacing(0), spacing(1)), tuple(part(x, axis, k, 1) for k in range(3)))
        end = -_weighted(_first(spacing(n - 2), spacing(n - 3)), tuple(part(x, axis, last - k, 1) for k in range(3)))
    return registry["concatenate"](start, inside, end, axis=axis)


@override("numpy.gradient", samples=("np.gradient(x, axis=1)", "np.gradient(v, 0.5, edge_order=2)",
                                     "np.gradient(v, np.array([0.0, 1.0, 3.0, 4.5]))"))
def gradient(f: ArrayLike, *varargs: ArrayLike, axis: Axes = None, edge_order: int = 1) -> Any:
    x = as_array(f)
    axes = (axes_of(None, rank(x)) if axis is None
            else tuple(one_axis(k, rank(x)) for k in (axis if isinstance(axis, tuple) else (axis,))))
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    require_numbers(x)
    if type_of(x).dtype.kind in "iu":
        x = in_dtype(x, float)
    slopes = tuple(in_dtype(_slope(x, ax, h, edge_order), type_of(x).dtype)
                   for ax, h in zip(axes, _spacings(x, varargs, axes)))
    return slopes[0] if len(slopes) == 1 else slopes


# -- integrals -------------------------------------------------------------------------------------


def steps_along(y: ArrayOrNumber, x: Any, dx: object, axis: int) -> Any:
    """The distances between samples along an axis, ready to broadcast against the differences of y."""
    if x is None:
        return dx
    x = as_array(x)
    if rank(x) != 1:
        return _step(x, one_axis(axis - rank(y), rank(x)))
    d = _step(x, 0)
    return registry["reshape"](d, *[shape_of(d)[0] if k == axis else 1 for k in range(rank(y))])


def areas(y: Any, x: Any, dx: Any, axis: int) -> AnyArray:
    """The areas of the trapezoids between neighbouring samples."""
    y = as_array(y)
    n = extents.difference(shape_of(y)[axis], 1)
    return steps_along(y, x, dx, axis) * (part(y, axis, 1, n) + part(y, axis, 0, n)) / 2.0


@override("numpy.trapezoid", "scipy.integrate.trapezoid", samples=("np.trapezoid(x, axis=1)", "np.trapezoid(v * v, v)"))
def trapezoid(y: ArrayLike, x: "ArrayLike | None" = None, dx: object = 1.0, axis: int = -1) -> AnyArray:
    y = as_array(y)
    ax = one_axis(axis, rank(y))
    parts = areas(y, x, dx, ax)
    return registry["sum"](parts, axes=(ax + rank(parts) - rank(y),))
