"""scipy.interpolate: cubic splines through traced data, and interp1d."""
import math
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, Extent
from ...util.library_object import LibraryObject
from ..kinds import is_complex, shape_of
from ..override import BY_NAME, override
from .arguments import as_array, check_all, fixed, live, rank, refuse, taken
from .piecewise import Piecewise, beside, bspline, make_interp_spline, placed, samples, within

STEPS = ("nearest", "nearest-up", "previous", "next")
DEGREES = {"quadratic": 2, "cubic": 3, 2: 2, 3: 3}  # of the splines that interp1d makes

# -- cubic splines ---------------------------------------------------------------------------------


def hermite(name: str, x: Any, y: Any, slopes: AnyArray, extrapolate: object, axis: int) -> Piecewise:
    """The cubics with given values and slopes at the places x; name: the class of SciPy's that makes them."""
    width = beside(BY_NAME["numpy.diff"].call(x), y)
    slope = BY_NAME["numpy.diff"].call(y, axis=0) / width
    start, end = slopes[:-1], slopes[1:]
    bend = (start + end - 2.0 * slope) / width
    c = BY_NAME["numpy.stack"].call([bend / width, (slope - start) / width - bend, start, y[:-1]])
    return Piecewise(c, x, extrapolate, axis, f"scipy.interpolate.{name}")


@override("scipy.interpolate.CubicHermiteSpline",
          samples=("interpolate.CubicHermiteSpline(np.cumsum(v), v * v, v)(v)",),
          precision="double")
def cubic_hermite(x: ArrayLike, y: ArrayLike, dydx: ArrayLike, axis: int = 0, extrapolate: object = None) -> Piecewise:
    x, y, ax = samples(x, y, axis)
    return hermite("CubicHermiteSpline", x, y, samples(x, dydx, axis)[1], extrapolate, ax)


def _ends(bc_type: str) -> list:
    """The condition at either end: "not-a-knot", or the order of a derivative and its value."""
    given = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
    names = {"natural": (2, 0.0), "clamped": (1, 0.0)}
    ends = [names.get(b, b) if isinstance(b, str) else b for b in given]
    if any(b == "periodic" for b in ends if isinstance(b, str)):
        raise refuse("scipy.interpolate.CubicSpline", "bc_type='periodic' with traced data")
    if len(ends) != 2 or any(b != "not-a-knot" if isinstance(b, str) else b[0] not in (1, 2) for b in ends):
        raise ValueError(
            "bc_type is 'not-a-knot', 'clamped', 'natural', or a pair of these or of (order, value), order 1 or 2")
    return ends


def _end_row(h: AnyArray, s: AnyArray, bc: Any, least: int) -> tuple:
    """The first row of the system for the slopes: the factors of the end's slope and of its neighbour's, and the right
    side.

    h, s: widths and slopes of the intervals, from this end on; least: the least number of intervals. (C. de Boor, A
    Practical Guide to Splines, chapter IV.)
    """
    first, one = s[0], registry["zeros_like"](h[0]) + 1.0
    if isinstance(bc, str):
        if least == 2:
            return one, one * 0.0, first
        both = h[0] + h[1]
        return h[1], both, ((h[0] + 2.0 * both) * h[1] * first + h[0] * h[0] * s[1]) / both
    order, value = bc
    if order == 1:
        return one, one * 0.0, value + registry["zeros_like"](first)
    return 2.0 * h[0], h[0], 3.0 * h[0] * first - 0.5 * h[0] * h[0] * value


@override("scipy.interpolate.CubicSpline", samples=(
    "interpolate.CubicSpline(np.cumsum(v), v * v)(v + 0.4)",
    "interpolate.CubicSpline(np.arange(3.0), x, bc_type='natural')(v)",
    "interpolate.CubicSpline(np.cumsum(v), x, axis=1, bc_type=('clamped', (2, x[:, 0])))(v, 1)"), precision="double")
def cubic_spline(x: ArrayLike, y: ArrayLike, axis: int = 0, bc_type: str = "not-a-knot",
                 extrapolate: object = None) -> Piecewise:
    x, y, ax = samples(x, y, axis)
    n = fixed(shape_of(x)[0], "the number of places of a spline")
    ends = _ends(bc_type)
    if n == 3 and ends == ["not-a-knot", "not-a-knot"]:                        # one parabola through all three
        ends = [(2, None), (2, None)]
    h = BY_NAME["numpy.diff"].call(x)
    wide = beside(h, y)
    slope = BY_NAME["numpy.diff"].call(y, axis=0) / wide
    if n == 3 and ends[0] == (2, None):
        bend = 2.0 * (slope[1] - slope[0]) / (h[0] + h[1])
        ends = [(2, bend), (2, bend)]
    first = _end_row(wide, slope, ends[0], n)
    reverse = ends[1] if isinstance(ends[1], str) or ends[1][0] == 1 else (2, -ends[1][1])
    last = _end_row(wide[::-1], slope[::-1], reverse, n)
    inner = 3.0 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    flat = [registry["reshape"](a, 1) for row in (first, last) for a in row[:2]]
    join = BY_NAME["numpy.concatenate"].call
    main, upper, lower = join([flat[0], 2.0 * (h[:-1] + h[1:]),
                               flat[2]]), join([flat[1], h[:-1]]), join([h[1:], flat[3]])
    right = join([registry["broadcast_to"](b, 1, *shape_of(y)[1:]) for b in (first[2],)] + [inner]
                 + [registry["broadcast_to"](b, 1, *shape_of(y)[1:]) for b in (last[2],)])
    return hermite("CubicSpline", x, y, tridiagonal(lower, main, upper, right), extrapolate, ax)


def tridiagonal(lower: AnyArray, main: AnyArray, upper: AnyArray, b: AnyArray) -> AnyArray:
    """The solution of a tridiagonal system, which needs no pivots if its main diagonal dominates (L. H. Thomas, 1949).
    """
    n = shape_of(main)[0]

    def forward(k: AnyArray, main: AnyArray, b: AnyArray) -> tuple:
        factor = lower[k - 1] / main[k - 1]
        return _with(main, k, main[k] - factor * upper[k - 1]), _with(b, k, b[k] - factor * b[k - 1])
    main, b = registry["for"].run_regions([1, n, 1, main, b], (forward,))

    def backward(iteration: AnyArray, x: AnyArray) -> tuple:
        k = n - 2 - iteration
        return (_with(x, k, (x[k] - upper[k] * x[k + 1]) / main[k]),)
    x = _with(b, n - 1, b[n - 1] / main[n - 1])
    return registry["for"].run_regions([0, n - 1, 1, x], (backward,))[0]


def _with(a: AnyArray, k: Extent, row: AnyArray) -> AnyArray:
    return registry["update"](a, row, k, spec=("i",) + (":",) * (rank(a) - 1), at=0)


@override("scipy.interpolate.PchipInterpolator",
          samples=("interpolate.PchipInterpolator(np.cumsum(v), np.sin(9 * v))(v + 0.4)",
                    "interpolate.PchipInterpolator(np.arange(3.0), x)(v)"), precision="double")
def pchip(x: ArrayLike, y: ArrayLike, axis: int = 0, extrapolate: object = None) -> Piecewise:
    """Slopes that keep monotone data monotone (F. N. Fritsch and J. Butland, SIAM Journal on Scientific and
    Statistical Computing 5 (1984) 300)."""
    x, y, ax = samples(x, y, axis)
    if fixed(shape_of(x)[0], "the number of places of a spline") < 3:
        raise refuse("scipy.interpolate.PchipInterpolator", "fewer than three places", do="np.interp is the same")
    where, absolute, sign = registry["where"], registry["abs"], registry["sign"]
    h = beside(BY_NAME["numpy.diff"].call(x), y)
    m = BY_NAME["numpy.diff"].call(y, axis=0) / h
    first, second = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    flat = (sign(m[1:]) != sign(m[:-1])) | (m[1:] == 0.0) | (m[:-1] == 0.0)
    safe = [where(flat, 1.0, part) for part in (m[:-1], m[1:])]
    inner = where(flat, 0.0, (first + second) / (first / safe[0] + second / safe[1]))

    def end(h: Any, m: Any) -> AnyArray:
        slope = ((2.0 * h[0] + h[1]) * m[0] - h[0] * m[1]) / (h[0] + h[1])
        steep = (sign(m[0]) != sign(m[1])) & (absolute(slope) > 3.0 * absolute(m[0]))
        return where(sign(slope) != sign(m[0]), 0.0, where(steep, 3.0 * m[0], slope))
    slopes = BY_NAME["numpy.concatenate"].call([end(h, m)[None], inner, end(h[::-1], m[::-1])[None]])
    return hermite("PchipInterpolator", x, y, slopes, extrapolate, ax)


@override("scipy.interpolate.Akima1DInterpolator",
          samples=("interpolate.Akima1DInterpolator(np.cumsum(v), np.sin(9 * v))(np.cumsum(v)[:3] + 0.1)",
                   "interpolate.Akima1DInterpolator(np.arange(3.0), x, method='makima')(2 * v)"),
          note="where no four neighbouring slopes are equal in pairs", precision="double")
def akima(x: ArrayLike, y: ArrayLike, axis: int = 0, *, method: str = "akima", extrapolate: object = None) -> Piecewise:
    """Slopes weighed by how little the slopes beside them change (H. Akima, Journal of the ACM 17 (1970) 589;
    "makima" is MATLAB's variant)."""
    if method not in ("akima", "makima"):
        raise NotImplementedError(f"`method`={method} is unsupported.")
    x, y, ax = samples(x, y, axis)
    if fixed(shape_of(x)[0], "the number of places of a spline") < 3:
        raise refuse("scipy.interpolate.Akima1DInterpolator", "fewer than three places", do="np.interp is the same")
    where, absolute, join = registry["where"], registry["abs"], BY_NAME["numpy.concatenate"].call
    inner = BY_NAME["numpy.diff"].call(y, axis=0) / beside(BY_NAME["numpy.diff"].call(x), y)

    def two_more(first: AnyArray, second: AnyArray) -> list:
        """The slopes beyond an end, from the first two within."""
        next_one = 2.0 * first - second
        return [(2.0 * next_one - first)[None], next_one[None]]
    m = join([*two_more(inner[0], inner[1]), inner, *two_more(inner[-1], inner[-2])[::-1]])
    change = absolute(BY_NAME["numpy.diff"].call(m, axis=0))
    if method == "makima":
        change = change + 0.5 * absolute(m[1:] + m[:-1])
    before, after = change[:-2], change[2:]
    both = before + after
    largest = registry["max"](both, axes=tuple(range(rank(both))))
    is_known = both > 1e-9 * registry["stop_gradient"](largest)
    slopes = where(is_known, m[1:-2] + before / where(is_known, both, 1.0) * (m[2:-1] - m[1:-2]),
                   0.5 * (m[3:] + m[:-3]))
    return hermite("Akima1DInterpolator", x, y, slopes, False if extrapolate is None else extrapolate, ax)


# -- interp1d --------------------------------------------------------------------------------------


@override("scipy.interpolate._polyint._Interpolator1D.__call__")
def interpolator_called(f: Any, x: Any) -> Any:
    if type(f).__name__ != "interp1d":
        raise refuse(f"scipy.interpolate.{type(f).__name__}", "x",
                     do="take a spline, or write the interpolation in NumPy")
    if f._kind == "spline":
        y = bspline(f._spline.t, f._spline.c, f._spline.k, x, 0, True, 0)
        x = as_array(x)
        y = placed(registry["reshape"](y, *shape_of(x), *f._y_extra_shape), x, f.axis)
        return _bounded(y, f.x, live(x), f.bounds_error,
                        None if f._extrapolate else (f._fill_value_below, f._fill_value_above), f.axis)
    return _interpolated(f.x, f.y, x, f._kind, f.axis, f.bounds_error,
                         None if f._extrapolate else (f._fill_value_below, f._fill_value_above))


def _interpolated(places: AnyArray, y: AnyArray, x: AnyArray, kind: str, axis: int, bounds_error: bool,
                  fill: "tuple | None") -> AnyArray:
    places, y, ax = samples(places, y, axis)
    x, n = live(x), shape_of(places)[0]
    if kind == "linear" and rank(y) == 1 and fill is not None and not any(map(is_complex, (places, y))):
        result = BY_NAME["numpy.interp"].call(x, places, y)
        return _bounded(result, places, x, bounds_error, fill, ax)
    if kind in STEPS:
        result = taken(y, _step(places, x, n, kind))
    else:
        i = within(places, x, 1, n - 1, "left")
        low, start = taken(places, i - 1), taken(y, i - 1)
        slope = (taken(y, i) - start) / beside(taken(places, i) - low, start)
        result = slope * beside(x - low, start) + start
    return _bounded(placed(result, x, ax), places, x, bounds_error, fill, ax)


def _step(places: AnyArray, x: AnyArray, n: int, kind: str) -> AnyArray:
    """The place whose value a piecewise constant function takes."""
    if kind.startswith("nearest"):
        middles = places[1:] / 2.0 + places[:-1] / 2.0
        return BY_NAME["numpy.searchsorted"].call(middles, x, "left" if kind == "nearest" else "right")
    return within(places, x, 0, n - 1) if kind == "previous" else within(places, x, 0, n - 1, "left")


def _bounded(y: AnyArray, places: AnyArray, x: AnyArray, bounds_error: bool, fill: "tuple | None",
             axis: int) -> AnyArray:
    """y, checked or filled outside of the places."""
    places = live(places)
    below, above = x < taken(places, 0), x > taken(places, shape_of(places)[0] - 1)
    if bounds_error:
        check_all(~(below | above), "a value in x_new is outside the interpolation range")
        return y
    if fill is None:
        return y
    for outside, value in zip((below, above), fill):
        more = rank(y) - axis - rank(x)
        outside = registry["reshape"](outside, *shape_of(outside), *[1] * more) if more else outside
        value = np.asarray(value)
        if rank(y) > rank(x) and value.ndim and value.size > 1:
            raise refuse("scipy.interpolate.interp1d", "fill values of several axes")
        y = registry["where"](outside, value.reshape(()).item() if value.size == 1 else value, y)
    return y


@override("scipy.interpolate.interp1d",
          samples=("interpolate.interp1d(np.cumsum(v), v * v, fill_value='extrapolate')(x)",
                   "interpolate.interp1d(np.arange(4.0), x, bounds_error=False, "
                   "fill_value=0.5)(5 * v - 1)",
                   "interpolate.interp1d(np.arange(4.0), v, kind='nearest')(3 * v)",
                   "interpolate.interp1d(np.arange(4.0), x, 'cubic')(v + 1.5)",
                   "interpolate.interp1d(np.cumsum(v), v * v, 2, "
                   "fill_value='extrapolate')(v)"))
class Interp1d(LibraryObject):
    """interp1d of traced data, the places in rising order."""

    of = "scipy.interpolate.interp1d"

    def __init__(self, x: AnyArray, y: AnyArray, kind: Any = "linear", axis: int = -1, copy: bool = True,
                 bounds_error: Any = None, fill_value: object = math.nan, assume_sorted: bool = False):
        if kind not in ("linear", "slinear", *STEPS, *DEGREES):
            raise refuse("scipy.interpolate.interp1d", f"kind={kind!r} with traced data",
                         do="use scipy.interpolate.CubicSpline")
        extrapolates = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.x, self.y, self._kind, self.axis = live(x), live(y), kind, axis % rank(live(y))
        if extrapolates and kind in ("previous", "next"):
            raise refuse("scipy.interpolate.interp1d", f"kind={kind!r} with fill_value='extrapolate' and traced data")
        self.bounds_error = not extrapolates if bounds_error is None else bounds_error
        self._fill = None if extrapolates else fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)

    def __call__(self, x: AnyArray) -> AnyArray:
        if self._kind not in DEGREES:
            return _interpolated(self.x, self.y, x, self._kind, self.axis, self.bounds_error, self._fill)
        y = make_interp_spline(self.x, self.y, DEGREES[self._kind], axis=self.axis)(x)
        return _bounded(y, self.x, live(x), self.bounds_error, self._fill, self.axis)
