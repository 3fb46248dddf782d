"""Piecewise polynomials and B-splines: values, derivatives, antiderivatives and integrals at traced points or of
traced coefficients.

An object made outside the traced function is evaluated from its own arrays, which are inputs of the program as all
outer arrays are.
"""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from ...util.library_object import LibraryObject
from .. import extents
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import as_array, check_all, fixed, live, one_axis, rank, refuse, taken


def beside(x: AnyArray, like: object) -> AnyArray:
    """x with new axes at its end, to be multiplied with an array that has more of them."""
    more = rank(like) - rank(x)
    return registry["reshape"](x, *shape_of(x), *[1] * more) if more else x


def _clipped(i: object, low: Extent, high: Extent) -> AnyArray:
    return registry["minimum"](registry["maximum"](i, low), high)


def within(edges: ArrayOrNumber, x: ArrayOrNumber, low: Extent, high: Extent, side: str = "right") -> AnyArray:
    """The number of the interval that x lies in, at least low and at most high."""
    return _clipped(BY_NAME["numpy.searchsorted"].call(edges, x, side) - (side == "right"), low, high)


def placed(y: AnyArray, x: ArrayOrNumber, axis: int) -> AnyArray:
    """The axes of x, which come first in y, moved to where the axis of the data was."""
    if not axis or not rank(x):
        return y
    order, n = list(range(rank(y))), rank(x)
    return registry["transpose"](y, axes=(*order[n:n + axis], *order[:n], *order[n + axis:]))


def is_periodic(extrapolate: object) -> bool:
    return isinstance(extrapolate, str) and extrapolate == "periodic"


def _range(x: ArrayOrNumber, low: AnyArray, high: AnyArray, extrapolate: bool) -> tuple:
    """x as it is looked up, and where it is outside the data (None where that makes no difference)."""
    if is_periodic(extrapolate):
        return low + (x - low) % (high - low), None
    return x, None if extrapolate else (x < low) | (x > high)


def _or_nan(y: AnyArray, outside: "AnyArray | None") -> AnyArray:
    return y if outside is None else registry["where"](beside(outside, y), math.nan, y)


def _summed_up(steps: AnyArray) -> AnyArray:
    """0 and the running sums of the rows."""
    zero = registry["zeros_like"](steps[:1])
    return BY_NAME["numpy.concatenate"].call([zero, BY_NAME["numpy.cumsum"].call(steps, axis=0)])


def _over_periods(whole: Callable, a: ArrayOrNumber, b: ArrayOrNumber, low: AnyArray, high: AnyArray) -> AnyArray:
    """The integral from a to b of what repeats itself outside of low to high; whole: its antiderivative in there."""
    def up_to(x: ArrayOrNumber) -> AnyArray:
        iterations = registry["floor"]((x - low) / (high - low))
        return whole(x - iterations * (high - low)) + iterations * (whole(high) - whole(low))
    return up_to(b) - up_to(a)


# -- piecewise polynomials -------------------------------------------------------------------------


def piecewise(c: AnyArray, edges: AnyArray, x: ArrayOrNumber, nu: int = 0, extrapolate: bool = True,
              axis: int = 0) -> AnyArray:
    """The polynomial sum of c[k - 1 - j, i] (x - edges[i])**j on each interval i, or its derivative of order nu."""
    c, edges, x = live(c), live(edges), live(x)
    degree, count = fixed(shape_of(c)[0], "the order of the pieces") - 1, shape_of(edges)[0]
    x, outside = _range(x, taken(edges, 0), taken(edges, count - 1), extrapolate)
    i = within(edges, x, 0, count - 2)
    pieces = [taken(taken(c, degree - j), i) * float(math.perm(j, nu)) for j in range(degree, nu - 1, -1)]
    y = pieces[0] if pieces else taken(taken(c, 0), i) * 0.0
    step = beside(x - taken(edges, i), y)
    for piece in pieces[1:]:
        y = y * step + piece
    return placed(_or_nan(y, outside), x, axis)


def _scaled(c: AnyArray, factors: list) -> AnyArray:
    return c * np.array(factors, float).reshape(-1, *[1] * (rank(c) - 1))


@override("scipy.interpolate.PPoly", samples=("interpolate.PPoly(x, [0.0, 0.3, 0.5, 0.7, 1.0])(v)",))
class Piecewise(LibraryObject):
    """A piecewise polynomial with traced coefficients; of: PPoly, or a subclass."""

    def __init__(self, c: AnyArray, x: Any, extrapolate: Any = None, axis: int = 0,
                 of: str = "scipy.interpolate.PPoly"):
        self.c, self.x, self.axis, self.of = live(c), live(x), axis, of
        self.extrapolate = True if extrapolate is None else extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> AnyArray:
        return piecewise(self.c, self.x, x, nu, self.extrapolate if extrapolate is None else extrapolate, self.axis)

    def derivative(self, nu: int = 1) -> "Piecewise":
        if nu < 0:
            return self.antiderivative(-nu)
        order = fixed(shape_of(self.c)[0], "the order of the pieces")
        kept = max(order - nu, 1)
        factors: list = [math.perm(order - 1 - j, nu) for j in range(kept)]
        return Piecewise(_scaled(registry["slice_axis"](self.c, 0, 0, kept), factors), self.x, self.extrapolate,
                         self.axis, self.of)

    def antiderivative(self, nu: int = 1) -> "Piecewise":
        """Zero at the first edge, and continuous: each piece begins with what those before it come to."""
        if nu <= 0:
            return self.derivative(-nu)
        order, count = fixed(shape_of(self.c)[0], "the order of the pieces"), shape_of(self.x)[0]
        c = _scaled(self.c, [1.0 / (order - j) for j in range(order)])
        width = beside(BY_NAME["numpy.diff"].call(self.x), taken(c, 0))
        total = taken(c, 0)
        for j in range(1, order):
            total = total * width + taken(c, j)
        starts = registry["slice_axis"](_summed_up(total * width), 0, 0, count - 1)
        c = BY_NAME["numpy.concatenate"].call([c, starts[None]])
        once = Piecewise(c, self.x, not is_periodic(self.extrapolate) and self.extrapolate, self.axis, self.of)
        return once.antiderivative(nu - 1)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> AnyArray:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole, a, b = self.antiderivative(), live(a), live(b)
        if is_periodic(extrapolate):
            return _over_periods(lambda x: piecewise(whole.c, whole.x, x), a, b, self.x[0], self.x[-1])
        return piecewise(whole.c, whole.x, b, 0, extrapolate) - piecewise(whole.c, whole.x, a, 0, extrapolate)


def _checked(spline: object) -> Any:
    if type(spline).__name__ == "BPoly":
        raise refuse("scipy.interpolate.BPoly", "x",
                     do="scipy.interpolate.PPoly.from_bernstein_basis gives one that does")
    return spline


@override("scipy.interpolate._interpolate._PPolyBase.__call__")
def piecewise_called(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """PPoly, CubicSpline, PchipInterpolator, Akima1DInterpolator, CubicHermiteSpline."""
    return Piecewise.__call__(_checked(spline), x, nu, extrapolate)


@override("scipy.interpolate._interpolate.PPoly.integrate")
def piecewise_integrated(spline: Any, a: ArrayLike, b: ArrayLike, extrapolate: Any = None) -> AnyArray:
    return Piecewise(spline.c, spline.x, spline.extrapolate).integrate(a, b, extrapolate)


# -- B-splines -------------------------------------------------------------------------------------


def bspline(t: ArrayOrNumber, c: AnyArray, k: int, x: Any, nu: int = 0, extrapolate: bool = True,
            axis: int = 0) -> AnyArray:
    """A spline of degree k with knots t, by de Boor's recurrence (A Practical Guide to Splines, chapter X)."""
    t, c, x = live(t), live(c), live(x)
    n = shape_of(t)[0] - k - 1
    x, outside = _range(x, taken(t, k), taken(t, n), extrapolate)
    c = registry["slice_axis"](c, 0, 0, n)
    for _ in range(nu):
        t, c, k = _derived(t, c, k)
    i = within(t, x, k, shape_of(c)[0] - 1)
    d = [taken(c, i - k + j) for j in range(k + 1)]
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            left, right = taken(t, i + j - k), taken(t, i + j + 1 - r)
            share = beside((x - left) / (right - left), d[j])
            d[j] = (1.0 - share) * d[j - 1] + share * d[j]
    return placed(_or_nan(d[k], outside), x, axis)


def basis(t: AnyArray, k: int, x: AnyArray) -> list:
    """The splines of degree k that are not zero at x: the number of each, and its value there (C. de Boor, chapter X,
    BSPLVB)."""
    i = within(t, x, k, shape_of(t)[0] - k - 2)
    values: list = [1.0]
    for r in range(1, k + 1):
        carried: Any = 0.0
        for j in range(r):
            low, high = taken(t, i + 1 - r + j), taken(t, i + 1 + j)
            part = values[j] / (high - low)
            values[j], carried = carried + (high - x) * part, (x - low) * part
        values.append(carried)
    return [(i - k + j, value) for j, value in enumerate(values)]


def _derived(t: Any, c: AnyArray, k: int) -> tuple:
    """Knots, coefficients and degree of the derivative."""
    if not k:
        return t, c * 0.0, k
    c = k * BY_NAME["numpy.diff"].call(c, axis=0) / beside(t[k + 1:-1] - t[1:-k - 1], c)
    return t[1:-1], c, k - 1


@override("scipy.interpolate.BSpline", samples=("interpolate.BSpline([0.0, 0.0, 0.0, 0.4, 1.0, 1.0, 1.0], v, 2)(x)",))
class Spline(LibraryObject):
    """A B-spline with traced knots or coefficients."""

    of = "scipy.interpolate.BSpline"

    def __init__(self, t: Any, c: Any, k: int, extrapolate: bool = True, axis: int = 0):
        t, c = live(t), live(c)
        self.axis = axis % rank(c)
        c = BY_NAME["numpy.moveaxis"].call(c, self.axis, 0) if self.axis else c
        self.t, self.k, self.extrapolate = t, k, extrapolate
        self.c = registry["slice_axis"](c, 0, 0, shape_of(t)[0] - k - 1)

    @property
    def tck(self) -> tuple:
        return self.t, self.c, self.k

    def _like(self, t: object, c: ArrayOrNumber, k: int, extrapolate: bool) -> "Spline":
        made = Spline(t, c, k, extrapolate)
        made.axis = self.axis
        return made

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> AnyArray:
        return bspline(self.t, self.c, self.k, x, nu, self.extrapolate if extrapolate is None else extrapolate,
                       self.axis)

    def derivative(self, nu: int = 1) -> "Spline":
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self.t, self.c, self.k
        for _ in range(nu):
            t, c, k = _derived(t, c, k)
        return self._like(t, c, k, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> "Spline":
        """Zero at the first knot (C. de Boor, A Practical Guide to Splines, chapter X, (22))."""
        if nu <= 0:
            return self.derivative(-nu)
        t, k = self.t, self.k
        c = _summed_up(self.c * beside(t[k + 1:] - t[:-k - 1], self.c) / (k + 1.0))
        t = BY_NAME["numpy.concatenate"].call([t[:1], t, t[-1:]])
        return self._like(t, c, k + 1, not is_periodic(self.extrapolate) and self.extrapolate).antiderivative(nu - 1)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> AnyArray:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole, a, b = self.antiderivative(), live(a), live(b)
        low, high = self.t[self.k], self.t[shape_of(self.c)[0]]
        if is_periodic(extrapolate):
            return _over_periods(lambda x: bspline(whole.t, whole.c, whole.k, x), a, b, low, high)
        if not extrapolate:                                    # nothing is there outside of the knots
            a, b = (_clipped(x, low, high) for x in (a, b))
        return bspline(whole.t, whole.c, whole.k, b) - bspline(whole.t, whole.c, whole.k, a)


@override("scipy.interpolate._bsplines.BSpline.__call__")
def bspline_called(spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    return Spline.__call__(spline, x, nu, extrapolate)


@override("scipy.interpolate._bsplines.BSpline.integrate")
def bspline_integrated(spline: Any, a: ArrayLike, b: ArrayLike, extrapolate: Any = None) -> AnyArray:
    return Spline(spline.t, spline.c, spline.k, spline.extrapolate).integrate(a, b, extrapolate)


@override("scipy.interpolate.splev",
          samples=("interpolate.splev(v, (np.array([0.0, 0, 0, 0.4, 1, 1, 1]), x[0], 2))",
                   "interpolate.splev(3 * v - 1, (np.array([0.0, 0, 0, 0.4, 1, 1, 1]), x[0], "
                   "2), 1, ext=1)"))
def splev(x: ArrayLike, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """Outside of the knots: extrapolated, zero, an error, or as at the end (derivatives: extrapolated), for ext 0 to
    3."""
    if not isinstance(tck, tuple):
        return tck(x, der, extrapolate=True)
    t, c, k = tck
    if isinstance(c, (list, tuple)) and rank(as_array(c[0])):
        return [splev(x, (t, part, k), der, ext) for part in c]
    t, x = live(t), live(x)
    low, high = taken(t, k), taken(t, shape_of(t)[0] - k - 1)
    if ext == 2:
        check_all((x >= low) & (x <= high), "a place lies outside of the spline")
    y = bspline(t, c, k, _clipped(x, low, high) if ext == 3 and not der else x, der)
    return registry["where"]((x < low) | (x > high), 0.0, y) if ext == 1 else y


@override("scipy.interpolate._fitpack2.UnivariateSpline.__call__")
def univariate_called(spline: Any, x: ArrayLike, nu: int = 0, ext: Any = None) -> AnyArray:
    modes = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
    if ext is not None and modes.get(ext, ext) not in modes.values():
        raise ValueError(f"Unknown extrapolation mode {ext}.")
    return splev(x, spline._eval_args, nu, spline.ext if ext is None else modes.get(ext, ext))


def not_a_knot(x: Any, k: int) -> AnyArray:
    """The knots of the spline of degree k that has none at the places next to the ends (C. de Boor, chapter XIII,
    (12))."""
    join = BY_NAME["numpy.concatenate"].call
    if k < 2:
        return join([x[:1]] * k + [x, x[-1:]])
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2.0
    left_out = (k + 1) // 2
    return join([x[:1]] * (k + 1) + [inner[left_out:-left_out]] + [x[-1:]] * (k + 1))


def spline_through(x: object, y: object, k: int, t: object = None) -> tuple:
    """Knots and coefficients of the spline through rows y at the places x: as many equations as coefficients."""
    if t is None and k < 2:
        return not_a_knot(x, k), y
    t = not_a_knot(x, k) if t is None else live(t)
    n = fixed(shape_of(x)[0], "the number of places of a spline")
    if fixed(shape_of(t)[0], "the number of knots of a spline") != n + k + 1:
        raise ValueError(f"a spline of degree {k} through {n} places has {n + k + 1} knots")
    flat = registry["reshape"](y, n, extents.product(shape_of(y)[1:]))
    c = BY_NAME["numpy.linalg.solve"].call(bspline(t, np.eye(n), k, x), flat)
    return t, registry["reshape"](c, *shape_of(y))


def samples(x: object, y: object, axis: int) -> tuple:
    """The places and the data, the axis of these first, and that axis."""
    x, y = live(x), live(y)
    ax = one_axis(axis, rank(y))
    extents.agree(shape_of(x)[0], shape_of(y)[ax], "extents of x and y")
    return x, BY_NAME["numpy.moveaxis"].call(y, ax, 0), ax


@override("scipy.interpolate.make_interp_spline",
          samples=("interpolate.make_interp_spline(np.cumsum(v), v * v)(v + 0.4)",
                   "interpolate.make_interp_spline(np.arange(4.0), x, 2, "
                   "axis=1).derivative()(v)"))
def make_interp_spline(x: ArrayLike, y: ArrayLike, k: int = 3, t: object = None, bc_type: object = None, axis: int = 0,
                       check_finite: bool = True) -> Spline:
    if bc_type not in (None, "not-a-knot"):
        raise refuse("scipy.interpolate.make_interp_spline", f"bc_type={bc_type!r} with traced data",
                     do="use scipy.interpolate.CubicSpline")
    x, y, ax = samples(x, y, axis)
    t, c = spline_through(x, y, k, t)
    made = Spline(t, c, k)
    made.axis = ax
    return made
