"""scipy.interpolate.RBFInterpolator: radial functions around the places of the data, and a polynomial.

    K a + P b = d,  P^T a = 0                                         (G. Fasshauer, Meshfree Approximation Methods with
    y(x) = sum_i a_i phi(epsilon |x - y_i|) + sum_j b_j p_j(x)         MATLAB, 2007, chapters 6 and 7)

One solve and one product, of arrays, so that the derivatives follow with respect to the places, the data, the smoothing
and x. At a place of the data the linear function has a kink; its derivative there is 0, as that of a norm.
"""
from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.library_object import LibraryObject
from ..extents import product
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import fixed, live, rank, refuse
from .moments import root

FLOAT = np.dtype(np.float64)
INFINITE = -1e300                                             # stands for log 0, times a square that is zero


def _thin_plate(s: AnyArray) -> AnyArray:
    """r^2 log r. Its second derivative at 0 is infinite."""
    is_zero = s == 0.0
    return 0.5 * s * registry["where"](is_zero, INFINITE, registry["log"](registry["where"](is_zero, 1.0, s)))


KERNELS: "dict[str, tuple[Callable, int, bool]]" = {            # of r^2, the least degree, whether epsilon matters
    "linear": (lambda s: -root(s), 0, False),
    "thin_plate_spline": (_thin_plate, 1, False),
    "cubic": (lambda s: s * root(s), 1, False),
    "quintic": (lambda s: -s * s * root(s), 2, False),
    "multiquadric": (lambda s: -registry["sqrt"](s + 1.0), 0, True),
    "inverse_multiquadric": (lambda s: 1.0 / registry["sqrt"](s + 1.0), -1, True),
    "inverse_quadratic": (lambda s: 1.0 / (s + 1.0), -1, True),
    "gaussian": (lambda s: registry["exp"](-s), -1, True),
}


def _radial(x: Any, y: AnyArray, kernel: str, epsilon: Any) -> AnyArray:
    apart = (x[:, None] - y[None]) * epsilon
    return KERNELS[kernel][0](registry["sum"](apart * apart, axes=(2,)))


def _monomials(x: Any, powers: list) -> AnyArray:
    """Columns of products of coordinates; powers: for each column the coordinates in it."""
    columns = []
    for coordinates in powers:
        column = x[:, 0] * 0.0 + 1.0
        for k in coordinates:
            column = column * x[:, k]
        columns.append(column[:, None])
    return registry["concatenate"](*columns, axis=1) if len(columns) > 1 else columns[0]


def _monomial_places(count: int, degree: int) -> list:
    """The coordinates that each monomial up to a degree multiplies.

    >>> _monomial_places(2, 1)
    [(), (0,), (1,)]
    """
    return [places for n in range(degree + 1) for places in combinations_with_replacement(range(count), n)]


def _evaluated(x: ArrayOrNumber, y: AnyArray, kernel: str, epsilon: object, powers: list, coefficients: AnyArray,
               shape: tuple) -> AnyArray:
    x = live(x)
    if rank(x) != 2:
        raise ValueError("`x` must be a 2-dimensional array.")
    parts = [_radial(x, y, kernel, epsilon)] + ([_monomials(x, powers)] if powers else [])
    matrix = registry["concatenate"](*parts, axis=1) if powers else parts[0]
    found = BY_NAME["numpy.matmul"].call(matrix, coefficients)
    return registry["reshape"](found, shape_of(x)[0], *shape)


@override("scipy.interpolate.RBFInterpolator", samples=(
    "interpolate.RBFInterpolator(x.T, v)(x.T[:3] * 1.1 + 0.05)",
    "interpolate.RBFInterpolator(np.stack((v, v * v), 1), x.T, kernel='gaussian', epsilon=2.0, "
    "smoothing=v)(x.T[:, :2])"))
class Radial(LibraryObject):
    """An interpolator of traced data."""

    of = "scipy.interpolate.RBFInterpolator"

    def __init__(self, y: AnyArray, d: AnyArray, neighbors: object = None, smoothing: ArrayOrNumber = 0.0,
                 kernel: str = "thin_plate_spline", epsilon: object = None, degree: Any = None):
        kernel = kernel.lower()
        if neighbors is not None:
            raise refuse("scipy.interpolate.RBFInterpolator", "neighbors", "which points are near is no smooth choice")
        if kernel not in KERNELS:
            raise ValueError(f"`kernel` must be one of {set(KERNELS)}.")
        _, least, needs_epsilon = KERNELS[kernel]
        if epsilon is None and needs_epsilon:
            raise ValueError(f"`epsilon` must be specified if `kernel` is {kernel!r}.")
        y, d = live(y), live(d)
        if rank(y) != 2:
            raise ValueError("`y` must be a 2-dimensional array.")
        n, self._shape = shape_of(y)[0], tuple(shape_of(d)[1:])
        count = fixed(shape_of(y)[1], "the number of coordinates")
        self.y, self.kernel, self.epsilon = y, kernel, 1.0 if epsilon is None else epsilon
        self._powers = _monomial_places(count, max(least, 0) if degree is None else int(degree))
        weight = live(smoothing)
        matrix = _radial(y, y, kernel, self.epsilon) + BY_NAME["numpy.eye"].call(n) * weight
        right = registry["reshape"](d, n, product(self._shape))
        if self._powers:
            more, columns = len(self._powers), _monomials(y, self._powers)
            join = registry["concatenate"]
            below = join(registry["transpose"](columns, axes=(1, 0)), registry["full"](0.0, more, more, dtype=FLOAT),
                         axis=1)
            matrix = join(join(matrix, columns, axis=1), below, axis=0)
            right = join(right, registry["full"](0.0, more, product(self._shape), dtype=FLOAT), axis=0)
        self._coefficients = BY_NAME["numpy.linalg.solve"].call(matrix, right)

    def __call__(self, x: Any) -> AnyArray:
        return _evaluated(x, self.y, self.kernel, self.epsilon, self._powers, self._coefficients, self._shape)


@override("scipy.interpolate._rbfinterp.RBFInterpolator.__call__")
def radial_called(f: Any, x: ArrayLike) -> AnyArray:
    """An interpolator made outside: it is fitted in the program, to the same data."""
    if f.neighbors is not None or np.dtype(f.d_dtype).kind == "c":
        raise refuse("scipy.interpolate.RBFInterpolator", "x, with neighbors or complex data")
    degree = int(f.powers.sum(axis=1).max()) if len(f.powers) else -1
    d = registry["reshape"](live(f.d), *f.d.shape[:1], *f.d_shape)
    return Radial(f.y, d, None, f.smoothing, f.kernel, f.epsilon, degree)(x)
