"""Kernel density estimates: scipy.stats.gaussian_kde of traced samples, and of known samples at traced points.

The density is a weighted sum of normal densities, one around each sample, whose covariance is that of the samples times
the square of a factor (D. W. Scott, Multivariate Density Estimation (1992), chapter 6).
"""
import math
from typing import Any

import numpy as np

from ....ir.op import registry
from ....util.array import AnyArray, ArrayLike, ArrayOrNumber
from ....util.errors import UnsupportedFunctionError
from ....util.library_object import LibraryObject
from ...extents import is_at_least
from ...kinds import shape_of
from ...linalg.factorizations import solve_lower
from ...linalg.matrices import transposed
from ...override import BY_NAME, override
from ...precision import double
from ...transcendental import exp, log
from .. import linalg
from ..arguments import as_array, live, rank
from .matrices import log_det
from .multivariate import over_last, total


def _in_rows(x: AnyArray) -> AnyArray:
    """Numbers as points on a line; points in several dimensions are columns already."""
    return x if rank(x) == 2 else registry["reshape"](x, 1, shape_of(x)[0] if rank(x) else 1)


def _log_density(estimate: Any, points: object) -> AnyArray:
    """The logarithm of the density at m points (d, m), or at one point (d,), by n samples (d, n): an array (m,)."""
    data, weights, covariance = (live(x) for x in (estimate.dataset, estimate.weights, estimate.covariance))
    at, d = _in_rows(double(live(points))), shape_of(data)[0]
    if isinstance(shape_of(at)[0], int) and shape_of(at)[0] == 1 and is_at_least(d, 2):
        at = transposed(at)
    factor = linalg.lower_cholesky(covariance, False)
    samples, places = (transposed(solve_lower(factor, part)) for part in (data, at))
    apart = registry["reshape"](places, shape_of(at)[1], 1, d) - samples
    energy = -0.5 * over_last(apart * apart) + log(weights)
    norm = 0.5 * (d * math.log(2.0 * math.pi) + log_det(factor))
    return BY_NAME["scipy.special.logsumexp"].call(energy, axis=1) - norm


@override("scipy.stats.gaussian_kde.logpdf")
def logpdf(estimate: object, x: ArrayLike) -> AnyArray:
    return _log_density(estimate, x)


@override("scipy.stats.gaussian_kde.evaluate")
def evaluate(estimate: object, points: ArrayLike) -> AnyArray:
    """The density that scipy.stats.gaussian_kde estimates, at traced points."""
    return exp(_log_density(estimate, points))


@override("scipy.stats.gaussian_kde",
          samples=("stats.gaussian_kde(v)(x[0])", "stats.gaussian_kde(x[:2], 0.4).logpdf(2 * x[:2, 1:])",
                   "stats.gaussian_kde(v, 'silverman', v ** 2).evaluate([0.3])"))
class KernelDensity(LibraryObject):
    """scipy.stats.gaussian_kde of traced samples."""

    of = "scipy.stats.gaussian_kde"

    def __init__(self, dataset: AnyArray, bw_method: object = None, weights: object = None):
        self.dataset = _in_rows(double(live(dataset)))
        self.d, self.n = d, n = shape_of(self.dataset)
        self.weights = registry["full"](1.0, n, dtype="f8") / n if weights is None else double(live(weights))
        self.weights = self.weights / total(self.weights, 0)
        self.neff = 1.0 / total(self.weights * self.weights, 0)
        self.factor = self._factor(bw_method, 1.0 * d)
        spread = BY_NAME["numpy.cov"].call(self.dataset, bias=False, aweights=self.weights)
        self.covariance = registry["reshape"](spread, d, d) * (self.factor * self.factor)

    def _factor(self, method: object, d: ArrayOrNumber) -> AnyArray:
        name = "scott" if method is None else method if isinstance(method, str) else ""
        if name in ("scott", "silverman"):
            return self.scotts_factor() if name == "scott" else self.silverman_factor()
        if callable(method) or name:
            raise UnsupportedFunctionError("scipy.stats.gaussian_kde does not take this bw_method on traced arrays",
                                           do="give a number")
        return as_array(method)

    def scotts_factor(self) -> AnyArray:
        return self.neff ** (-1.0 / (self.d + 4.0))

    def silverman_factor(self) -> AnyArray:
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4.0))

    def covariance_factor(self) -> AnyArray:
        return self.factor

    @property
    def inv_cov(self) -> AnyArray:
        return BY_NAME["numpy.linalg.inv"].call(self.covariance)

    @property
    def cho_cov(self) -> AnyArray:
        return linalg.lower_cholesky(self.covariance, False)

    @property
    def log_det(self) -> AnyArray:
        return self.d * math.log(2.0 * math.pi) + log_det(self.cho_cov)

    def logpdf(self, x: AnyArray) -> AnyArray:
        if isinstance(x, np.ndarray) and x.dtype.kind == "O":
            raise TypeError("points are numbers")
        return _log_density(self, x)

    def evaluate(self, points: AnyArray) -> AnyArray:
        return exp(self.logpdf(points))

    pdf = __call__ = evaluate

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> AnyArray:
        """Between two numbers, of each sample's normal distribution."""
        if is_at_least(self.d, 2):
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        ndtr, spread = BY_NAME["scipy.special.ndtr"].call, registry["sqrt"](self.covariance[0, 0])
        shares = [ndtr((as_array(end) - self.dataset[0]) / spread) for end in (high, low)]
        return total(self.weights * (shares[0] - shares[1]), 0)

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> AnyArray:
        """The product of two normal densities has the density of their difference as its integral."""
        wide = KernelDensity.__new__(KernelDensity)
        wide.dataset, wide.weights = self.dataset, self.weights
        wide.covariance = self.covariance + registry["reshape"](as_array(cov), self.d, self.d)
        return exp(_log_density(wide, registry["reshape"](as_array(mean), self.d, 1)))[0]
