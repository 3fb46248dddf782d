"""scipy.interpolate's splines over a plane: RectBivariateSpline and bisplev, at traced points or of traced data.

The value at a point is the sum of the coefficients times the products of the splines along each axis that are not zero
there. Outside of the knots it is the value at the edge, as in FITPACK.
"""
import functools
import operator
from collections.abc import Iterable

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.library_object import LibraryObject
from .. import extents
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import as_array, check_all, fixed, in_dtype, live, rank, refuse, taken
from .piecewise import _clipped, _derived, basis, not_a_knot, spline_through

KNOTS = "np.array([0.0, 0, 0, 0.4, 1, 1, 1])"


def surface(tck: tuple, at: Iterable[AnyArray], dx: int, dy: int) -> AnyArray:
    """The spline, or its derivative of order dx and dy, at points whose coordinates have been broadcast."""
    for name, order, degree in (("x", dx, tck[3]), ("y", dy, tck[4])):
        if order != int(order):
            raise refuse("scipy.interpolate.bisplev", f"d{name}={order}", do="give a whole number")
        if not 0 <= order < degree:
            raise ValueError(f"0 <= d{name} = {order} < k{name} = {degree} must hold")
    places, knots = list(at), [live(tck[0]), live(tck[1])]
    counts = [shape_of(t)[0] - k - 1 for t, k in zip(knots, tck[3:])]
    c, degrees, orders = registry["reshape"](live(tck[2]), *counts), list(tck[3:]), (int(dx), int(dy))
    for ax, (t, n, k) in enumerate(zip(knots, counts, tck[3:])):
        places[ax] = _clipped(places[ax], taken(t, k), taken(t, n))
        for _ in range(orders[ax]):
            knots[ax], c, degrees[ax] = _derived(knots[ax], c, degrees[ax])
        c = registry["transpose"](c, axes=(1, 0))
    along = [basis(t, k, place) for t, k, place in zip(knots, degrees, places)]
    terms = [registry["index"](c, i, j, spec=("a", "a"), at=0) * (u * v) for i, u in along[0] for j, v in along[1]]
    return functools.reduce(operator.add, terms)


def _at_points(tck: tuple, x: ArrayLike, y: ArrayLike, dx: int, dy: int) -> AnyArray:
    places = BY_NAME["numpy.broadcast_arrays"].call(in_dtype(live(x), float), in_dtype(live(y), float))
    return surface(tck, places, dx, dy)


def _on_grid(tck: tuple, x: ArrayLike, y: ArrayLike, dx: int, dy: int, message: str) -> AnyArray:
    """The values for all pairs of coordinates, each in rising order. message: the error if they are not."""
    flat = [registry["reshape"](in_dtype(live(a), float), extents.product(shape_of(live(a)))) for a in (x, y)]
    for name, a in zip("xy", flat):
        check_all(a[1:] >= a[:-1], message.format(name))
    return _at_points(tck, flat[0][:, None], flat[1], dx, dy)


@override("scipy.interpolate.bisplev", samples=(
    f"interpolate.bisplev(v[0], v[1], ({KNOTS}, {KNOTS}, np.outer(v, v).ravel(), 2, 2))",
    f"interpolate.bisplev(np.cumsum(v) / 4, v[0], ({KNOTS}, {KNOTS}, np.outer(v, v).ravel(), 2, 2), 1, 0)"))
def bisplev(x: ArrayLike, y: ArrayLike, tck: tuple, dx: int = 0, dy: int = 0) -> AnyArray:
    if rank(as_array(x)) > 1 or rank(as_array(y)) > 1:
        raise ValueError("First two entries should be rank-1 arrays.")
    z = _on_grid(tuple(tck), x, y, dx, dy, "Invalid input data")
    for name in "xy":
        if fixed(shape_of(z)[0], f"the number of places along {name}") > 1:
            break
        z = taken(z, 0)
    return z


@override("scipy.interpolate._fitpack2._BivariateSplineBase.__call__")
def bivariate_called(spline: "Surface", x: ArrayLike, y: ArrayLike, dx: int = 0, dy: int = 0,
                     grid: bool = True) -> AnyArray:
    tck = (*spline.tck[:3], *spline.degrees)
    if not grid:
        return _at_points(tck, x, y, dx, dy)
    return _on_grid(tck, x, y, dx, dy, "{} must be strictly increasing when `grid` is True")


@override("scipy.interpolate.BivariateSpline.ev")
def bivariate_at(spline: "Surface", xi: ArrayLike, yi: ArrayLike, dx: int = 0, dy: int = 0) -> AnyArray:
    return bivariate_called(spline, xi, yi, dx, dy, grid=False)


@override("scipy.interpolate.RectBivariateSpline", samples=(
    "interpolate.RectBivariateSpline(np.arange(3.0), np.cumsum(v), x, kx=2)(np.sort(v), [0.1, 1.0], 1)",
    "interpolate.RectBivariateSpline(np.arange(3.0), np.arange(4.0), x, kx=1, ky=3).ev(2 * v, 4 * v - 0.5)"))
class Surface(LibraryObject):
    """RectBivariateSpline through traced data."""

    of = "scipy.interpolate.RectBivariateSpline"

    def __init__(self, x: ArrayLike, y: ArrayLike, z: ArrayOrNumber, bbox: object = None, kx: int = 3, ky: int = 3,
                 s: float = 0, maxit: int = 20):
        if s != 0 or bbox is not None:
            raise refuse("scipy.interpolate.RectBivariateSpline", "s" if bbox is None else "bbox",
                         "FITPACK chooses the knots by it", "leave it out: the spline passes through the data then")
        knots: list = []
        self.degrees, c = (kx, ky), live(z)
        for grid, k in ((live(x), kx), (live(y), ky)):
            c = spline_through(grid, c, k)[1]
            c = registry["transpose"](c, axes=(1, 0))
            knots.append(not_a_knot(grid, k))
        self.tck = (*knots, registry["reshape"](c, extents.product(shape_of(c))))

    def get_knots(self) -> tuple:
        return self.tck[:2]

    def get_coeffs(self) -> AnyArray:
        return self.tck[2]

    __call__, ev = bivariate_called, bivariate_at
