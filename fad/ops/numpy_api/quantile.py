"""NumPy's order statistics: median, quantile, percentile, and the same of what is not nan.

Formulas: R. J. Hyndman and Y. Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996)
361-365. A quantile is a weighted mean of two neighbours in the sorted sample; both its place and its weight are smooth
in q.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import FLOAT, INT, is_number, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from .. import extents
from ..kinds import shape_of
from ..override import override
from ..sort import picked
from .arguments import as_array, axes_of, check_all, in_dtype, into, is_given, one_axis, rank, some_of, taken


class Sample(NamedTuple):
    """A sorted sample along the last axis, the lanes before it; the count of valid elements of each lane; what to undo
    at the end."""

    values: Any
    count: Any
    skip_nan: bool
    axes: tuple
    original: Any

    @property
    def lanes(self) -> tuple:
        return shape_of(self.values)[:-1]


def sample_of(a: object, axis: Axes, skip_nan: bool) -> Sample:
    """The sample along NumPy's axis: several axes count as one."""
    x = as_array(a)
    if type_of(x).dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    axes = axes_of(axis, rank(x))
    values = registry["sort"](_never_empty(_in_one_axis(x, axes)))
    count = registry["sum"](values == values, axes=(rank(values) - 1,)) if skip_nan else shape_of(values)[-1]
    return Sample(values, count, skip_nan, axes, x)


def _in_one_axis(x: AnyArray, axes: tuple) -> AnyArray:
    """x with these axes as one, the last."""
    rest = tuple(k for k in range(rank(x)) if k not in axes)
    moved = x if rest + axes == tuple(range(rank(x))) else registry["transpose"](x, axes=rest + axes)
    shape = shape_of(moved)
    if len(axes) == 1:
        return moved
    return registry["reshape"](moved, *shape[:len(rest)], extents.product(shape[len(rest):]))


def _never_empty(x: AnyArray) -> AnyArray:
    """The sample; of none at all, the quantiles are nan."""
    *lanes, n = shape_of(x)
    if isinstance(n, int) and n == 0:
        return registry["full"](np.nan, *lanes, 1,
                                dtype=type_of(x).dtype if type_of(x).dtype.kind == "f" else np.dtype(float))
    some_of(n, "a quantile")
    return x


def at(s: Sample, places: ArrayOrNumber) -> AnyArray:
    """The values at these places: the same for all lanes, or, if places have the lanes' axes behind their own, for
    each its own."""
    if s.skip_nan and s.lanes:
        return _in_lanes(s.values, places, s.lanes)
    kind = "a" if rank(places) else "i"
    return registry["index"](s.values, places, spec=(":",) * len(s.lanes) + (kind,), at=0)


def _in_lanes(x: AnyArray, places: ArrayOrNumber, lanes: tuple) -> AnyArray:
    shape = shape_of(places)
    own = [registry["broadcast_to"](registry["reshape"](registry["iota"](n, dtype=INT),
                                                        *[n if j == k else 1 for j in range(len(lanes))]), *shape)
           for k, n in enumerate(lanes)]
    return taken(x, *own, places)


# -- places in the sorted sample, from 0, as functions of the sample's size n and the quantile q


def _linear(alpha: float, beta: float) -> Callable:
    """The continuous methods of Hyndman and Fan (4 to 9): n q + alpha + q (1 - alpha - beta) - 1."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


CONTINUOUS: dict[str, Callable] = {
    "interpolated_inverted_cdf": _linear(0, 1), "hazen": _linear(0.5, 0.5), "weibull": _linear(0, 0),
    "linear": lambda n, q: (n - 1) * q, "median_unbiased": _linear(1 / 3, 1 / 3),
    "normal_unbiased": _linear(3 / 8, 3 / 8)}
HALVES: dict[str, Callable] = {  # gamma takes two values only: at whole places, and elsewhere
    "averaged_inverted_cdf": lambda n, q: (n * q - 1, 0.5, 1.0), "midpoint": lambda n, q: ((n - 1) * q, 0.0, 0.5)}


def _up_from(place: AnyArray) -> AnyArray:
    """The next whole number, or the place itself if it is one."""
    return registry["ceil"](place)


def _closest(n: Extent, q: AnyArray) -> AnyArray:
    """The nearest place, of two equally near the one that is odd counted from 0."""
    place = n * q - 1.5
    below = registry["floor"](place)
    keep = registry["bitwise_and"](place == below, below % 2 == 1)
    return registry["where"](keep, below, below + 1)


DISCRETE: dict[str, Callable] = {
    "inverted_cdf": lambda n, q: _up_from(n * q - 1), "closest_observation": _closest,
    "lower": lambda n, q: registry["floor"]((n - 1) * q), "higher": lambda n, q: _up_from((n - 1) * q),
    "nearest": lambda n, q: registry["rint"]((n - 1) * q)}


def _whole(place: AnyArray, n: Extent) -> AnyArray:
    """A place as an index into n elements."""
    k = registry["cast"](place, dtype=INT)
    return registry["maximum"](registry["minimum"](k, n - 1), 0)


def _like(gamma: object, q: ArrayOrNumber, values: AnyArray) -> Any:
    """The weight gamma, which leaves the values' dtype alone if q is a Python number."""
    if not is_number(q) or type_of(values).dtype.kind != "f" or type_of(gamma).weak:
        return gamma
    return gamma.item() if isinstance(gamma, np.generic) else in_dtype(gamma, type_of(values).dtype)


def estimate(s: Sample, q: ArrayOrNumber, method: str) -> AnyArray:
    """The quantiles, q's axes before the lanes'."""
    n, given = s.count, q
    if rank(n) and rank(q):
        q = registry["reshape"](q, *shape_of(q), *[1] * rank(n))
    if method in DISCRETE:
        return at(s, _whole(DISCRETE[method](n, q), n))
    if method in CONTINUOUS:
        place = CONTINUOUS[method](n, q)
        below = registry["floor"](place)
        gamma = _like(place - below, given, s.values)
    elif method in HALVES:
        place, on, off = HALVES[method](n, q)
        below = registry["floor"](place)
        gamma = _like(registry["where"](place == below, on, off), given, s.values)
    else:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {sorted({*CONTINUOUS, *HALVES, *DISCRETE})}")
    left, right = at(s, _whole(below, n)), at(s, _whole(below + 1, n))
    if rank(gamma) and not rank(n):
        gamma = registry["reshape"](gamma, *shape_of(gamma), *[1] * len(s.lanes))
    step = right - left
    # exact at both ends, also next to infinities
    return registry["where"](gamma >= 0.5, right - step * (1 - gamma), left + step * gamma)


def with_nans(s: Sample, y: AnyArray) -> AnyArray:
    """nan where a lane holds nan (which sorts last), or has nothing that counts."""
    if type_of(s.values).dtype.kind != "f":
        return y
    if s.skip_nan:
        return registry["where"](s.count == 0, type_of(y).dtype.type(np.nan), y)
    last = at(s, s.count - 1)
    return registry["where"](last == last, y, in_dtype(last, type_of(y).dtype))


def finished(s: Sample, y: AnyArray, keepdims: bool, out: object) -> AnyArray:
    """The result with its axes kept where that is asked for."""
    if is_given(keepdims) and keepdims:
        front = shape_of(y)[:rank(y) - len(s.lanes)]
        y = registry["reshape"](y, *front, *[1 if k in s.axes else n for k, n in enumerate(shape_of(s.original))])
    return into(out, y)


def _quantile(a: object, q: Any, axis: Axes, out: object, method: str, keepdims: bool, weights: Any, skip_nan: bool,
              most: int = 1) -> AnyArray:
    q = as_array(q)
    check_all((q >= 0) & (q <= most), "Quantiles must be in the range [0, 1]" if most == 1
              else "Percentiles must be in the range [0, 100]")
    s = sample_of(a, axis, skip_nan)
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if most != 1 and type_of(q).dtype.kind in "biu" and not is_number(q):
        q = in_dtype(q, float)
    q = q / most if most != 1 else q
    y = estimate(s, q, method) if weights is None else _weighted(s, q, _weights_of(s, weights, axis))
    return finished(s, with_nans(s, y), keepdims, out)


# -- weights: the smallest element whose share of the weights, with those before it, reaches q -----


def _weights_of(s: Sample, weights: object, axis: Axes) -> AnyArray:
    """The weights, one for each element, in the order of the sorted sample."""
    w, x = as_array(weights), s.original
    if rank(w) != rank(x):
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        given = [one_axis(k, rank(x)) for k in (axis if isinstance(axis, tuple) else (axis,))]
        if rank(w) != len(given):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        w = registry["transpose"](w, axes=tuple(sorted(range(len(given)), key=given.__getitem__)))
        w = registry["reshape"](w, *[shape_of(w)[s.axes.index(k)] if k in s.axes else 1 for k in range(rank(x))])
    for k in s.axes:
        extents.agree(shape_of(w)[k], shape_of(x)[k], "extents of weights and sample")
    check_all(w >= 0, "Weights must be non-negative.")
    w = in_dtype(_in_one_axis(registry["broadcast_to"](w, *shape_of(x)), s.axes), FLOAT)
    moved = _in_one_axis(x, s.axes)
    if s.skip_nan:
        w = registry["where"](moved == moved, w, 0.0)
    return picked(w, registry["argsort"](moved))


def _weighted(s: Sample, q: ArrayOrNumber, weights: AnyArray) -> AnyArray:
    """The places do not change with small changes of q or of the weights, which have no derivative."""
    share, last = registry["cumsum"](weights, axis=len(s.lanes), reverse=False), shape_of(weights)[-1] - 1
    total = taken(share, last, axis=len(s.lanes))
    sound = (total > 0) & (total < np.inf)
    sound = sound | (s.count == 0) if s.skip_nan else sound
    check_all(sound, "Weights included NaN, inf or were all zero.")
    share = share / registry["reshape"](total, *s.lanes, 1)
    if type_of(q).dtype.kind == "f":
        share = in_dtype(share, type_of(q).dtype)
    wanted = registry["reshape"](q, *shape_of(q), *[1] * rank(share))
    before = registry["sum"]((share < wanted) | (share == 0), axes=(rank(q) + rank(share) - 1,))
    places = registry["minimum"](before, last)
    return _in_lanes(s.values, places, s.lanes) if s.lanes else at(s, places)


@override("numpy.quantile",
          samples=("np.quantile(x, 0.3)",
                   'np.quantile(x, [0.2, 0.7], 1, method="inverted_cdf", weights=[0.5, 1.0, 2.0, 0.1])',
                   "np.quantile(x, [0.2, 0.7], axis=1)", 'np.quantile(x, 0.4, axis=0, method="hazen")'))
def quantile(a: ArrayLike, q: ArrayLike, axis: Axes = None, out: object = None, overwrite_input: bool = False,
             method: str = "linear", keepdims: bool = False, *, weights: object = None) -> AnyArray:
    return _quantile(a, q, axis, out, method, keepdims, weights, False)


@override("numpy.percentile", samples=("np.percentile(x, 40, axis=0)",))
def percentile(a: ArrayLike, q: object, axis: Axes = None, out: object = None, overwrite_input: bool = False,
               method: str = "linear", keepdims: bool = False, *, weights: object = None) -> AnyArray:
    return _quantile(a, q, axis, out, method, keepdims, weights, False, 100)


@override("numpy.nanquantile", samples=("np.nanquantile(x, 0.3, axis=0)",))
def nanquantile(a: ArrayLike, q: object, axis: Axes = None, out: object = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: bool = False, *, weights: object = None) -> AnyArray:
    return _quantile(a, q, axis, out, method, keepdims, weights, True)


@override("numpy.nanpercentile", samples=("np.nanpercentile(x, 30)",))
def nanpercentile(a: ArrayLike, q: object, axis: Axes = None, out: object = None, overwrite_input: bool = False,
                  method: str = "linear", keepdims: bool = False, *, weights: object = None) -> AnyArray:
    return _quantile(a, q, axis, out, method, keepdims, weights, True, 100)


def _middle(s: Sample) -> AnyArray:
    """The mean of the two elements in the middle, which of an odd number of them are one."""
    n = s.count
    low, high = ((n - 1) // 2, n // 2)
    if rank(n):
        low = registry["maximum"](low, 0)
        high = registry["minimum"](high, registry["maximum"](n - 1, 0))
    low, high = at(s, low), at(s, high)
    if type_of(low).dtype.kind in "biu":                      # NumPy's mean adds whole numbers as floats
        low, high = (registry["cast"](x, dtype=FLOAT) for x in (low, high))
    return (low + high) * 0.5


@override("numpy.median", samples=("np.median(x)", "np.median(x, axis=1)", "np.median(v[:3])"))
def median(a: ArrayLike, axis: Axes = None, out: object = None, overwrite_input: bool = False,
           keepdims: bool = False) -> AnyArray:
    s = sample_of(a, axis, False)
    return finished(s, with_nans(s, _middle(s)), keepdims, out)


@override("numpy.nanmedian", samples=("np.nanmedian(x, axis=1)",))
def nanmedian(a: ArrayLike, axis: Axes = None, out: object = None, overwrite_input: bool = False,
              keepdims: bool = False) -> AnyArray:
    s = sample_of(a, axis, True)
    return finished(s, with_nans(s, _middle(s)), keepdims, out)
