"""scipy.interpolate on regular grids: RegularGridInterpolator and interpn, at traced points or of traced values.

Along each axis a method chooses the grid points for a place, and their weights; the result is the sum over their
products.
"""
import itertools
import math
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.library_object import LibraryObject
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import check_all, fixed, in_dtype, live, rank, refuse, taken
from .piecewise import basis, beside, not_a_knot, spline_through, within

DEGREES = {"cubic": 3, "quintic": 5}


def _points(xi: object, count: int) -> list:
    """The coordinates along each axis: of a tuple of arrays, or of an array whose last axis holds them."""
    if isinstance(xi, tuple) and len(xi) == 1:
        xi = xi[0]
    if isinstance(xi, tuple):
        places = [in_dtype(x, float) for x in BY_NAME["numpy.broadcast_arrays"].call(*[live(x) for x in xi])]
    else:
        x = in_dtype(live(xi), float)
        if rank(x) < 2:
            x = BY_NAME["numpy.reshape"].call(x, (-1, count))
        places = [taken(x, k, axis=rank(x) - 1)
                  for k in range(fixed(shape_of(x)[-1], "the number of coordinates of a point"))]
    if len(places) != count:
        raise ValueError(f"the points have {len(places)} coordinates, the grid has {count} axes")
    return places


def _linear(grid: AnyArray, x: AnyArray) -> tuple:
    low = within(grid, x, 0, shape_of(grid)[0] - 2)
    start = taken(grid, low)
    return low, (x - start) / (taken(grid, low + 1) - start)


def _weights(grid: AnyArray, x: AnyArray, method: str) -> list:
    """The grid points that count at x along one axis, each with its weight."""
    if method in DEGREES:
        return basis(not_a_knot(grid, DEGREES[method]), DEGREES[method], x)
    low, share = _linear(grid, x)
    if method == "nearest":
        return [(registry["where"](share <= 0.5, low, low + 1), 1.0)]
    return [(low, 1.0 - share), (low + 1, share)]


def _interpolated(grids: list, values: AnyArray, places: list, method: str) -> AnyArray:
    total: Any = 0.0
    for chosen in itertools.product(*[_weights(grid, x, method) for grid, x in zip(grids, places)]):
        index, weights = zip(*chosen)
        value = taken(values, *index)
        weight = math.prod(weights)
        total = total + (value if isinstance(weight, float) else value * beside(weight, value))
    return total


def _coefficients(grids: list, values: object, degree: int) -> Any:
    """The coefficients of the splines of one degree along each axis that pass through the values."""
    for ax, grid in enumerate(grids):
        moved = BY_NAME["numpy.moveaxis"].call(values, ax, 0)
        values = BY_NAME["numpy.moveaxis"].call(spline_through(grid, moved, degree)[1], 0, ax)
    return values


def _check_inside(grids: list, places: list) -> None:
    for k, (grid, x) in enumerate(zip(grids, places)):
        check_all((x >= taken(grid, 0)) & (x <= taken(grid, shape_of(grid)[0] - 1)),
                  f"One of the requested xi is out of bounds in dimension {k}")


def _outside(grids: list, places: list) -> AnyArray:
    found: Any = False
    for grid, x in zip(grids, places):
        found = found | (x < taken(grid, 0)) | (x > taken(grid, shape_of(grid)[0] - 1))
    return found


def _finished(y: AnyArray, grids: list, places: list, fill: object, check: bool) -> AnyArray:
    """y, checked or filled outside of the grid, and nan where a place is."""
    if check:
        _check_inside(grids, places)
    elif fill is not None:
        y = registry["where"](beside(_outside(grids, places), y), fill, y)
    lost: Any = False
    for x in places:
        lost = lost | (x != x)
    return registry["where"](beside(lost, y), math.nan, y)


@override("scipy.interpolate.RegularGridInterpolator", samples=(
    "interpolate.RegularGridInterpolator((np.arange(3.0), np.arange(4.0)), x)((2 * v, 3 * v))",
    "interpolate.RegularGridInterpolator((np.cumsum(v[:3]), np.arange(4.0)), x, bounds_error=False, "
    "fill_value=None)(np.stack([v, 4 * v], 1))",
    "interpolate.RegularGridInterpolator((np.arange(3.0),), x, bounds_error=False, fill_value=0.5)(4 * v[:, None] - 1)",
    "interpolate.RegularGridInterpolator((np.arange(3.0), np.arange(4.0)), x, method='nearest')([2 * v[0], 3 * v[1]])"))
class GridInterpolator(LibraryObject):
    """RegularGridInterpolator of traced values or of a traced grid, the grid in rising order."""

    of = "scipy.interpolate.RegularGridInterpolator"

    def __init__(self, points: tuple, values: object, method: str = "linear", bounds_error: bool = True,
                 fill_value: object = np.nan, *, solver: object = None, solver_args: object = None):
        self.grid, self.values = [in_dtype(live(p), float) for p in points], live(values)
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        for k, p in enumerate(self.grid):
            check_all(p[1:] > p[:-1], f"The points in dimension {k} must be strictly ascending here")

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> ArrayOrNumber:
        return _called(self.grid, self.values, xi, method or self.method, nu, self.fill_value, self.bounds_error)


def _called(grid: list, values: AnyArray, xi: object, method: str, nu: object, fill: object, check: bool) -> AnyArray:
    if nu is not None or method not in ("linear", "slinear", "nearest", *DEGREES):
        raise refuse("scipy.interpolate.RegularGridInterpolator", "nu" if nu is not None else f"method={method!r}")
    if any(isinstance(n, int) and n < 2 for p in grid for n in shape_of(p)):
        raise refuse("scipy.interpolate.RegularGridInterpolator", "an axis of one point",
                     do="leave the axis out: values[0]")
    places = _points(xi, len(grid))
    values = _coefficients(grid, values, DEGREES[method]) if method in DEGREES else values
    return _finished(_interpolated(grid, values, places, method), grid, places, fill, check)


@override("scipy.interpolate._rgi.RegularGridInterpolator.__call__")
def interpolator_called(f: Any, xi: ArrayLike, method: Any = None, *, nu: Any = None) -> AnyArray:
    """An interpolator made outside. fad computes the coefficients of its splines anew, to the last digit (SciPy's
    iteration stops earlier)."""
    return _called([live(p) for p in f.grid], live(f.values), xi, method or f.method, nu, f.fill_value, f.bounds_error)


@override("scipy.interpolate.interpn",
          samples=("interpolate.interpn((np.arange(3.0), np.arange(4.0)), x, (2 * v, 3 * v))",
                   "interpolate.interpn((np.arange(3.0), np.cumsum(v)), x, [[1.3, 0.9]], "
                   "bounds_error=False, fill_value=None)"))
def interpn(points: Any, values: ArrayLike, xi: ArrayLike, method: str = "linear", bounds_error: bool = True,
            fill_value: Any = np.nan) -> ArrayOrNumber:
    if method == "splinef2d":
        raise refuse("scipy.interpolate.interpn", "method='splinef2d'", do="use method='cubic'")
    return GridInterpolator(points, values, method, bounds_error, fill_value)(xi)
