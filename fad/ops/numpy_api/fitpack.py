"""scipy.interpolate's functions of FITPACK on traced data: splrep, splint, splder, splantider; make_lsq_spline.

A spline through all data has its knots at the data, and a spline of least squares has the user's knots: either is the
solution of linear equations. Where FITPACK would choose knots by a smoothing condition, there is no derivative.
"""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from .. import extents
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import fixed, live, rank, refuse
from .piecewise import Spline, bspline, samples, spline_through

FLOAT = np.dtype(float)
KNOTS = "np.array([0.0, 0, 0, 0.4, 1, 1, 1])"


def _padded(c: AnyArray, k: int) -> AnyArray:
    """Coefficients as FITPACK has them: as many as knots."""
    return registry["concatenate"](c, registry["full"](0.0, k + 1, *shape_of(c)[1:], dtype=FLOAT), axis=0)


def least_squares(x: ArrayOrNumber, y: object, t: AnyArray, k: int, w: object = None) -> AnyArray:
    """Coefficients of the spline with knots t that has the least sum of squares (w (y - spline(x)))^2, for rows y."""
    n = fixed(shape_of(t)[0], "the number of knots of a spline") - k - 1
    matrix = bspline(t, np.eye(n), k, x)
    right = registry["reshape"](y, shape_of(y)[0], extents.product(shape_of(y)[1:]))
    if w is not None:
        weight = registry["reshape"](live(w), shape_of(x)[0], 1)
        matrix, right = matrix * weight, right * weight
    c = BY_NAME["numpy.linalg.lstsq"].call(matrix, right)[0]
    return registry["reshape"](c, n, *shape_of(y)[1:])


@override("scipy.interpolate.make_lsq_spline", samples=(
    f"interpolate.make_lsq_spline(np.linspace(0.0, 1.0, 4), v, {KNOTS}, 2)(x)",
    f"interpolate.make_lsq_spline(np.array([0.1, 0.3, 0.7, 0.9]), x, {KNOTS}, 2, v, axis=1)(v)"))
def make_lsq_spline(x: AnyArray, y: AnyArray, t: AnyArray, k: int = 3, w: "ArrayLike | None" = None, axis: int = 0,
                    check_finite: bool = True) -> Spline:
    x, y, ax = samples(x, y, axis)
    t = live(t)
    made = Spline(t, least_squares(x, y, t, k, w), k)
    made.axis = ax
    return made


@override("scipy.interpolate.splrep", samples=(
    "interpolate.splrep(np.cumsum(v), v * v)[1]", "interpolate.splev(x, interpolate.splrep(np.arange(4.0), v, k=2))",
    "interpolate.splev(x, interpolate.splrep(np.linspace(0.0, 1.0, 4), v, w=v, t=[0.4], k=1))"))
def splrep(x: AnyArray, y: ArrayLike, w: object = None, xb: object = None, xe: object = None, k: int = 3, task: int = 0,
           s: object = None, t: Any = None, full_output: int = 0, per: int = 0) -> tuple:
    """Knots, coefficients and degree."""
    if xb is not None or xe is not None or full_output or per or task == 1:
        raise refuse("scipy.interpolate.splrep", "xb, xe, full_output, per or task=1")
    x, y, _ = samples(x, y, 0)
    if rank(y) != 1:
        raise TypeError("splrep takes data with one axis")
    if t is not None or task == -1:
        inner, join = live(t), registry["concatenate"]
        t = join(*[x[:1]] * (k + 1), inner, *[x[-1:]] * (k + 1), axis=0)
        return t, _padded(least_squares(x, y, t, k, w), k), k
    if (s is None and w is not None) or (s is not None and not (isinstance(s, (int, float)) and s == 0)):
        raise refuse("scipy.interpolate.splrep", "a smoothing condition", "FITPACK chooses the knots by it",
                     "pass s=0, or the knots t")
    t, c = spline_through(x, y, k)
    return t, _padded(c, k), k


def _tuple_of(spline: Spline) -> tuple:
    return spline.t, _padded(spline.c, spline.k), spline.k


@override("scipy.interpolate.splint", samples=(f"interpolate.splint(v[0], 0.9, ({KNOTS}, x[0], 2))",
                                               f"interpolate.splint(-1.0, 2.0, ({KNOTS}, v, 2))"))
def splint(a: ArrayLike, b: Any, tck: Any, full_output: int = 0) -> AnyArray:
    if full_output:
        raise refuse("scipy.interpolate.splint", "full_output")
    if not isinstance(tck, tuple):
        return tck.integrate(a, b, extrapolate=False)
    t, c, k = tck
    return Spline(t, c, k).integrate(a, b, extrapolate=False)


@override("scipy.interpolate.splder", samples=(
    "interpolate.splev(x, interpolate.splder(interpolate.splrep(np.arange(4.0), v, k=2)))",))
def splder(tck: Any, n: int = 1) -> tuple:
    return _tuple_of(Spline(*tck).derivative(n)) if isinstance(tck, tuple) else tck.derivative(n)


@override("scipy.interpolate.splantider", samples=(
    "interpolate.splev(x, interpolate.splantider(interpolate.splrep(np.arange(4.0), v, k=2)))",))
def splantider(tck: Any, n: int = 1) -> tuple:
    return _tuple_of(Spline(*tck).antiderivative(n)) if isinstance(tck, tuple) else tck.antiderivative(n)
