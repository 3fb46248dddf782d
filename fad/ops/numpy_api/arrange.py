"""NumPy's functions that turn arrays around: flip, roll, rot90; and windows onto them."""
from typing import Any

from ...ir.op import registry
from ...ir.types import INT
from ...util.array import AnyArray, ArrayLike, Axes
from .. import extents
from ..kinds import shape_of
from ..literals import as_array, is_value
from ..override import override
from ..slices import assume_at_least, integer
from ..subscript import read_subscript
from .arguments import axes_of, one_axis, rank, taken
from .join import joined, part
from .shape import ravel, reshape_, swapaxes


@override("numpy.flip", samples=("np.flip(x, 0)", "np.flip(x)"))
def flip(m: ArrayLike, axis: Axes = None) -> AnyArray:
    x = as_array(m)
    axes = axes_of(axis, rank(x))
    return read_subscript(x, tuple([slice(None, None, -1 if k in axes else 1) for k in range(rank(x))])).read(x)


@override("numpy.fliplr", samples=("np.fliplr(x)",))
def fliplr(m: ArrayLike) -> AnyArray:
    return flip(m, 1)


@override("numpy.flipud", samples=("np.flipud(x)",))
def flipud(m: ArrayLike) -> AnyArray:
    return flip(m, 0)


@override("numpy.rot90", samples=("np.rot90(x)", "np.rot90(x, 3)"))
def rot90(m: ArrayLike, k: Any = 1, axes: Any = (0, 1)) -> AnyArray:
    x = as_array(m)
    first, second = (one_axis(a, rank(x)) for a in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return read_subscript(x, Ellipsis).read(x)
    if turns == 2:
        return flip(flip(x, first), second)
    return swapaxes(flip(x, second), first, second) if turns == 1 else flip(swapaxes(x, first, second), second)


@override("numpy.roll", samples=("np.roll(x, 1)", "np.roll(x, -1, axis=1)", "np.roll(x, (1, -2), axis=(0, 1))",
                                 "np.roll(x, 1, axis=(0, 1))"))
def roll(a: ArrayLike, shift: object, axis: Axes = None) -> AnyArray:
    x = as_array(a)
    if axis is None:
        return reshape_(_rolled(ravel(x), _total(shift), 0), *shape_of(x))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if 1 not in (len(axes), len(shifts)) and len(axes) != len(shifts):
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    count = max(len(axes), len(shifts))
    for k in range(count):
        x = _rolled(x, shifts[k % len(shifts)], one_axis(axes[k % len(axes)], rank(x)))
    return x


def _total(shift: object) -> Any:
    return sum(shift) if isinstance(shift, (tuple, list)) else shift


def _rolled(x: AnyArray, shift: object, axis: int) -> AnyArray:
    """x[..., -s:] before x[..., :-s], for a shift of s."""
    n, s = shape_of(x)[axis], integer(shift)
    if isinstance(n, int) and n < 2:
        return x
    if isinstance(s, int) and assume_at_least(n, abs(s)):
        s = s if s >= 0 else s + n
    else:
        s = s % n
    return joined([part(x, axis, n - s, None), part(x, axis, None, n - s)], axis)


@override("numpy.lib.stride_tricks.sliding_window_view", samples=("np.lib.stride_tricks.sliding_window_view(v, 2)",))
def sliding_window_view(x: ArrayLike, window_shape: object, axis: Axes = None) -> AnyArray:
    y = as_array(x)
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = tuple(range(rank(y))) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(sizes) != len(axes):
        raise ValueError("Must provide matching length window_shape and axis")
    for size, ax in zip(sizes, axes):
        y = _windows(y, one_axis(ax, rank(as_array(x))), integer(size))
    return y


def _windows(x: AnyArray, axis: int, size: int) -> AnyArray:
    """x with the axis shortened to the starts of windows, whose elements stand along a new last axis."""
    n = shape_of(x)[axis]
    if isinstance(size, int) and size < 0:
        raise ValueError("`window_shape` cannot contain negative values")
    if not assume_at_least(n, size):
        if isinstance(n, int) and isinstance(size, int) or not is_value(n):
            raise ValueError("window shape cannot be larger than input array shape")
        extents.agree(extents.maximum(n, size), n, "a window and an axis no longer than it")
    iota = registry["iota"]
    count = extents.difference(n, size) + 1
    places = reshape_(iota(count, dtype=INT), count, 1) + iota(size, dtype=INT)
    y = taken(x, places, axis=axis)
    order = [k for k in range(rank(y)) if k != axis + 1]
    return registry["transpose"](y, axes=(*order, axis + 1))
