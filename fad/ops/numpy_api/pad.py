"""numpy.pad in all its modes: one axis after the other, a block before and a block after."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, is_number, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from .. import extents
from ..kinds import shape_of
from ..literals import as_array, is_value
from ..override import BY_NAME, METHODS, override
from ..slices import assume_at_least, integer
from .arguments import in_dtype, rank, refuse, some_of, taken
from .join import joined, part
from .shape import broadcast_


class PadSide(NamedTuple):
    """The padding at one side of an axis: how many elements, with what option."""

    axis: int
    width: Any
    option: Any
    is_before: bool


def _pairs(given: object, ndim: int, what: str) -> list:
    """NumPy's forms for (before, after) of every axis: a number, (number,), (before, after), one pair, or one pair per
    axis."""
    if given is None:
        return [(None, None)] * ndim
    if not isinstance(given, (tuple, list, np.ndarray)) or (is_value(given) and not rank(given)):
        return [(given, given)] * ndim
    items = list(given)
    if items and not any(isinstance(p, (tuple, list, np.ndarray)) for p in items):
        if len(items) == 1:
            return [(items[0], items[0])] * ndim
        if len(items) == 2:
            return [tuple(items)] * ndim
    pairs = [tuple(p) * 2 if len(p) == 1 else tuple(p) for p in items if isinstance(p, (tuple, list, np.ndarray))]
    if len(pairs) != len(items) or len(pairs) not in (1, ndim) or any(len(p) != 2 for p in pairs):
        raise ValueError(f"{what} is not a number, a pair or a pair for each of {ndim} axes: {given!r}")
    return pairs if len(pairs) == ndim else pairs * ndim


def _widths(pad_width: object, ndim: int) -> list:
    if isinstance(pad_width, dict):
        given: list = [(0, 0)] * ndim
        for ax, w in pad_width.items():
            given[ax] = w if isinstance(w, (tuple, list)) else (w, w)
        return given
    return _pairs(pad_width, ndim, "pad_width")


@override("numpy.pad", samples=(
    "np.pad(x, 1)", "np.pad(v, (1, 2), mode='edge')", "np.pad(v, 2, mode='reflect')", "np.pad(v, 2, mode='wrap')",
    "np.pad(x, ((0, 1), (2, 3)), mode='symmetric')", "np.pad(v, 7, mode='reflect')",
    "np.pad(v, 2, constant_values=(v[0], 3.0))", "np.pad(x, 2, mode='linear_ramp', end_values=1.0)",
    "np.pad(x, 1, mode='mean')", "np.pad(x, 2, mode='maximum', stat_length=2)", "np.pad(v, 2, mode='median')",
    "np.pad(v, 2, mode='reflect', reflect_type='odd')"))
def pad(array: ArrayLike, pad_width: object, mode: str = "constant", **options: object) -> AnyArray:
    if callable(mode):
        raise refuse("numpy.pad", "a function as mode", "it writes into a vector that is not there yet")
    if mode not in _MODES:
        raise ValueError(f"mode '{mode}' is not supported")
    name, block = _MODES[mode]
    unknown = set(options) - {name, "reflect_type"}
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    x = as_array(array)
    values = _pairs(options.get(name), rank(x), str(name))
    odd = options.get("reflect_type", "even") == "odd"
    for axis, (widths, given) in enumerate(zip(_widths(pad_width, rank(x)), values)):
        sides = [PadSide(axis, _width(w), odd if name is None else v, k == 0)
                 for k, (w, v) in enumerate(zip(widths, given))]
        x = block(x, sides)
    return x if x is not array else METHODS["copy"](x)


def _width(w: ArrayOrNumber) -> Extent:
    n = integer(w)
    if isinstance(n, int) and n < 0:
        raise ValueError("index can't contain negative values")
    return n


def _blockwise(make: Callable) -> Callable:
    """The mode that puts make(x, side) at each side."""
    def both(x: AnyArray, sides: list) -> AnyArray:
        before, after = (None if isinstance(s.width, int) and s.width == 0 else in_dtype(make(x, s), type_of(x).dtype)
                         for s in sides)
        return joined([y for y in (before, x, after) if y is not None], sides[0].axis)
    return both


def _block_shape(x: AnyArray, side: PadSide) -> tuple:
    return tuple(side.width if k == side.axis else n for k, n in enumerate(shape_of(x)))


def _constant(x: AnyArray, side: PadSide) -> AnyArray:
    value, dtype = 0 if side.option is None else as_array(side.option), type_of(x).dtype
    if is_number(value) or not is_value(value):
        value = dtype.type(value).item()
    return registry["full"](in_dtype(value, dtype) if is_value(value) else value, *_block_shape(x, side), dtype=dtype)


def _edge_of(x: AnyArray, side: PadSide) -> AnyArray:
    """The outermost element, its axis kept."""
    n = shape_of(x)[side.axis]
    some_of(n, "np.pad")
    return registry["slice_axis"](x, side.axis, 0 if side.is_before else n - 1, 1)


def _edge(x: AnyArray, side: PadSide) -> AnyArray:
    return broadcast_(_edge_of(x, side), *_block_shape(x, side))


def _ramp(x: AnyArray, side: PadSide) -> AnyArray:
    """From the end value, at the outside, towards the edge."""
    end = 0 if side.option is None else side.option
    steps = registry["reshape"](registry["iota"](side.width, dtype=np.dtype(float)),
                                *[side.width if k == side.axis else 1 for k in range(rank(x))])
    steps = steps if side.is_before else (side.width - 1) - steps
    y = end + (_edge_of(x, side) - end) * (steps / side.width)
    return registry["floor"](y) if type_of(x).dtype.kind in "iu" else y


def _statistic(function: str) -> Callable:
    def block(x: AnyArray, side: PadSide) -> AnyArray:
        n = shape_of(x)[side.axis]
        length = n if side.option is None else extents.minimum(integer(side.option), n)
        some_of(length, "np.pad")
        chunk = registry["slice_axis"](x, side.axis, 0 if side.is_before else n - length, length)
        y = BY_NAME[function].call(chunk, axis=side.axis, keepdims=True)
        y = registry["rint"](y) if type_of(x).dtype.kind in "iu" and type_of(y).dtype.kind == "f" else y
        return broadcast_(y, *_block_shape(x, side))
    return block


# -- mirrored and repeated -------------------------------------------------------------------------


def _placed(place: Callable) -> Callable:
    """The mode that takes, for position k (which may be negative, or beyond the end n), the element at place(k, n)."""
    def both(x: AnyArray, sides: list) -> AnyArray:
        axis, (before, after) = sides[0].axis, (s.width for s in sides)
        n = shape_of(x)[axis]
        some_of(n, "np.pad")
        k = registry["iota"](before + n + after, dtype=INT) - before
        return taken(x, place(k, n), axis=axis)
    return both


def _reflected_place(k: AnyArray, n: Extent) -> AnyArray:
    if isinstance(n, int) and n == 1:
        return k * 0
    k = k % (2 * n - 2)
    return registry["minimum"](k, 2 * n - 2 - k)


def _symmetric_place(k: AnyArray, n: Extent) -> AnyArray:
    k = k % (2 * n)
    return registry["minimum"](k, 2 * n - 1 - k)


def _mirrored(edge: int, place: Callable) -> Callable:
    """A reflection that omits the edge (edge = 1) or repeats it (0): by slices if the pad is no wider than the array,
    else by places."""
    def both(x: AnyArray, sides: list) -> AnyArray:
        n = shape_of(x)[sides[0].axis]
        if all(assume_at_least(n - edge, s.width) for s in sides):
            return _blockwise(lambda x, side: _reflection(x, side, edge))(x, sides)
        if sides[0].option:
            raise refuse("numpy.pad", "reflect_type='odd'", "the pad is wider than the array", "pad in steps")
        return _placed(place)(x, sides)
    return both


def _reflection(x: AnyArray, side: PadSide, edge: int) -> AnyArray:
    n, w = shape_of(x)[side.axis], side.width
    chunk = part(x, side.axis, edge, edge + w) if side.is_before else part(x, side.axis, n - edge - w, n - edge)
    mirrored = registry["slice_axis"](chunk, side.axis, w - 1, w, -1)
    return 2 * _edge_of(x, side) - mirrored if side.option else mirrored


_MODES: dict = {
    "constant": ("constant_values", _blockwise(_constant)),
    "empty": (None, _blockwise(lambda x, side: _constant(x, side._replace(option=None)))),
    "edge": (None, _blockwise(_edge)),
    "linear_ramp": ("end_values", _blockwise(_ramp)),
    "maximum": ("stat_length", _blockwise(_statistic("numpy.max"))),
    "minimum": ("stat_length", _blockwise(_statistic("numpy.min"))),
    "mean": ("stat_length", _blockwise(_statistic("numpy.mean"))),
    "median": ("stat_length", _blockwise(_statistic("numpy.median"))),
    "reflect": (None, _mirrored(1, _reflected_place)),
    "symmetric": (None, _mirrored(0, _symmetric_place)),
    "wrap": (None, _placed(lambda k, n: k % n)),
}
