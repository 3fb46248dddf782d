"""scipy.stats.multivariate_normal, dirichlet and multinomial, free and frozen.

As in SciPy, a covariance may be a number, a vector (the diagonal) or a matrix, whose lower triangle is read.
"""
import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ir.op import registry
from ....util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from ....util.lazy import imported
from ....util.library_object import LibraryObject
from ... import extents
from ...choice import where
from ...kinds import shape_of
from ...linalg.factorizations import solve_lower
from ...linalg.matrices import diagonal, transposed
from ...override import BY_NAME, override
from ...precision import in_double
from ...special.gamma import gammaln
from ...special.information import xlogy
from ...transcendental import exp, log
from .. import linalg
from ..arguments import as_array, check_all, rank, refuse
from ..creation import eye
from ..stacks import floating

MODULE = "scipy.stats._multivariate"
NORMAL, DIRICHLET, MULTINOMIAL = (
    f"{MODULE}.{name}_gen" for name in ("multivariate_normal", "dirichlet", "multinomial"))


def total(x: AnyArray, axis: int) -> AnyArray:
    return registry["sum"](x, axes=(axis,))


def over_last(x: AnyArray) -> AnyArray:
    return total(x, rank(x) - 1)


class Frozen(LibraryObject):
    """A distribution with its parameters: its methods are functions that take them after the variable."""

    def __init__(self, name: str, parameters: tuple, **attributes: object):
        self.of = f"{MODULE}.{name}_frozen"
        for method in dir(self.stands_for):
            if f"{MODULE}.{name}_gen.{method}" in BY_NAME and method != "__call__":
                attributes[method] = self._with(BY_NAME[f"{MODULE}.{name}_gen.{method}"].call, parameters)
        vars(self).update(attributes)

    @staticmethod
    def _with(call: Callable, parameters: tuple) -> Callable:
        return lambda *x: call(None, *x, *parameters)


# -- the normal distribution -----------------------------------------------------------------------


def scaled(d: AnyArray, cov: ArrayOrNumber) -> tuple:
    """The deviations d in units of the covariance's square root, and the logarithm of its determinant."""
    cov = floating(cov)
    n = shape_of(d)[-1]
    if rank(cov) < 2:
        spread = log(cov)
        return d / registry["sqrt"](cov), over_last(spread) if rank(cov) else n * spread
    factor = linalg.lower_cholesky(cov, False)
    rows = d if rank(d) > 1 else registry["reshape"](d, 1, n)
    flat = registry["reshape"](rows, _count(rows), n)
    z = registry["reshape"](transposed(solve_lower(factor, transposed(flat))), *shape_of(d))
    return z, 2.0 * over_last(log(diagonal(factor)))


def _count(rows: AnyArray) -> AnyArray:
    count: Any = 1
    for n in shape_of(rows)[:-1]:
        count = count * n
    return count


def points(x: AnyArray, mean: object, cov: ArrayOrNumber) -> AnyArray:
    """x less the mean, its last axis that of the distribution's dimensions."""
    x, one_dimension = as_array(x), rank(as_array(cov)) == 0 and (mean is None or rank(as_array(mean)) == 0)
    if one_dimension:
        x = registry["reshape"](x, *shape_of(x), 1)
    elif rank(x) == 0:
        x = registry["reshape"](x, 1)
    return 1.0 * x if mean is None else x - as_array(mean)


_SMALLEST = 1e6 * np.finfo(float).eps  # of a singular covariance's eigenvalues, beside the largest: SciPy's _PSD


def normal_logpdf(dist: object, x: AnyArray, mean: object = None, cov: ArrayOrNumber = 1,
                  allow_singular: bool = False) -> AnyArray:
    """-(n log 2 pi + log det C + d C^-1 d) / 2."""
    d = points(x, mean, cov)
    if allow_singular:
        return _logpdf_in_support(d, cov)
    z, log_det = scaled(d, cov)
    return -0.5 * (shape_of(d)[-1] * math.log(2.0 * math.pi) + log_det + over_last(z * z))


def _logpdf_in_support(d: AnyArray, cov: ArrayOrNumber) -> AnyArray:
    """The density on the space that a covariance C of rank r < n spans: with C's pseudoinverse, the product of its
    eigenvalues that are not zero, and r for n; elsewhere 0. The derivative is that of what is kept, where the rank does
    not change.
    """
    n = shape_of(d)[-1]
    cov = _matrix(floating(cov), n)
    least, log_det, r = _spectrum(cov)
    by_inverse = registry["matmul"](d, linalg.pinv(cov, _SMALLEST, True))
    value = -0.5 * (r * math.log(2.0 * math.pi) + log_det + over_last(by_inverse * d))
    outside = d - registry["matmul"](by_inverse, cov)
    return registry["where"]((r < n) & (over_last(outside * outside) >= (1e3 * least) ** 2), -math.inf, value)


def _spectrum(cov: AnyArray) -> tuple:
    """The bound below which eigenvalues of a positive semidefinite matrix count as zero; the logarithm of the product
    of the others, and how many they are.
    """
    where, values = registry["where"], linalg.eigvalsh(cov)
    least = _SMALLEST * registry["max"](registry["abs"](values), axes=(0,))
    check_all(values >= -least, "The input matrix must be symmetric positive semidefinite.")
    kept = values > least
    return least, over_last(where(kept, log(where(kept, values, 1.0)), 0.0)), over_last(where(kept, 1.0, 0.0))


def _matrix(cov: AnyArray, n: Extent) -> AnyArray:
    """A covariance that may be given as a number or as the diagonal."""
    if rank(cov) == 2:
        return cov
    return eye(n) * (registry["reshape"](cov, 1, n) if rank(cov) else cov)


def normal_pdf(dist: object, x: AnyArray, mean: object = None, cov: ArrayOrNumber = 1,
               allow_singular: bool = False) -> AnyArray:
    return exp(normal_logpdf(dist, x, mean, cov, allow_singular))


def normal_entropy(dist: object, mean: object = None, cov: ArrayOrNumber = 1, allow_singular: bool = False) -> AnyArray:
    """n (1 + log 2 pi) / 2 + log det C / 2."""
    cov = as_array(cov)
    n = (shape_of(cov)[-1] if rank(cov) else 1 if mean is None or not rank(as_array(mean))
         else shape_of(as_array(mean))[-1])
    if allow_singular:
        _, log_det, n = _spectrum(_matrix(floating(cov), n))
    else:
        _, log_det = scaled(registry["full"](0.0, n, dtype="f8"), cov)
    return 0.5 * (n * (1.0 + math.log(2.0 * math.pi)) + log_det)


# -- proportions and counts ------------------------------------------------------------------------


def dirichlet_logpdf(dist: object, x: AnyArray, alpha: AnyArray) -> AnyArray:
    """sum((alpha - 1) log x) - log B(alpha). x holds the proportions along its first axis, with or without the last."""
    x, alpha = as_array(x), as_array(alpha)
    wanted = shape_of(alpha)[0]
    if not extents.is_at_least(shape_of(x)[0], wanted):
        rest = 1.0 - total(x, 0)
        x = registry["concatenate"](x, registry["reshape"](rest, 1, *shape_of(rest)), axis=0)
    log_beta = total(gammaln(alpha), 0) - gammaln(total(alpha, 0))
    powers = registry["reshape"](alpha - 1.0, wanted, *[1] * (rank(x) - 1))
    return total(xlogy(powers, x), 0) - log_beta


def dirichlet_pdf(dist: Any, x: Any, alpha: Any) -> Any:
    return exp(dirichlet_logpdf(dist, x, alpha))


def multinomial_cov(dist: object, n: object, p: AnyArray) -> AnyArray:
    """n (diag(p) - p p')."""
    p = _proportions(as_array(p))
    if rank(p) != 1:
        raise refuse("scipy.stats.multinomial.cov", "rows of p", do="loop over the rows")
    return as_array(n) * (eye(shape_of(p)[0]) * p - p[:, None] * p)


def multinomial_logpmf(dist: object, x: AnyArray, n: int, p: AnyArray) -> AnyArray:
    """log n! + sum(x log p - log x!), for counts x that add up to n."""
    x, n, p = 1.0 * as_array(x), as_array(n), _proportions(as_array(p))
    value = gammaln(1.0 + n) + over_last(xlogy(x, p) - gammaln(x + 1.0))
    are_counts = _all_last((x >= 0) & (x == registry["floor"](x))) & (over_last(x) == n)
    return where(_all_last((p >= 0) & (p <= 1)) & (n >= 0), where(are_counts, value, -math.inf), math.nan)


def _proportions(p: AnyArray) -> AnyArray:
    """p; where its sum is not 1, the last proportion makes up for that, or (from SciPy 1.18 on) all are nan."""
    others, last = p[..., :-1], p[..., -1:]
    rest = 1.0 - over_last(others)[..., None]
    is_off = abs(rest - last) > 10 * np.finfo(float).eps
    if not _last_makes_up():
        return where(is_off, math.nan, p)
    return registry["concatenate"](others, where(is_off, rest, last), axis=rank(p) - 1)


@functools.cache
def _last_makes_up() -> bool:
    """Whether the installed SciPy takes [1.0] for the proportions [0.5]."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return not math.isnan(imported("scipy.stats").multinomial.logpmf([1], 1, [0.5]))


def _all_last(condition: AnyArray) -> AnyArray:
    return registry["all"](condition, axes=(rank(condition) - 1,))


def multinomial_pmf(dist: Any, x: Any, n: Any, p: Any) -> Any:
    return exp(multinomial_logpmf(dist, x, n, p))


METHODS: dict[str, dict[str, Callable]] = {
    NORMAL: {"logpdf": normal_logpdf, "pdf": normal_pdf, "entropy": normal_entropy},
    DIRICHLET: {"logpdf": dirichlet_logpdf, "pdf": dirichlet_pdf},
    MULTINOMIAL: {"logpmf": multinomial_logpmf, "pmf": multinomial_pmf, "cov": multinomial_cov}}
SAMPLES = {
    NORMAL: ("stats.multivariate_normal.logpdf(x, v, P)", "stats.multivariate_normal(v, 1.0 + v).logpdf(x)",
             "stats.multivariate_normal.logpdf(x, v, P, True)"),
    DIRICHLET: ("stats.dirichlet.logpdf(np.array([0.1, 0.2, 0.3, 0.4]), 1.0 + v)",),
    MULTINOMIAL: ("stats.multinomial.logpmf(np.array([1, 0, 2, 1]), 4, v / np.sum(v))",)}

for _owner, _methods in METHODS.items():
    _methods.update({name: in_double(call) for name, call in _methods.items()})
    for _name, _call in _methods.items():
        override(f"{_owner}.{_name}", samples=SAMPLES[_owner] if _name.startswith("log") else ())(_call)


@override(f"{NORMAL}.__call__")
def frozen_normal(dist: object, mean: "ArrayLike | None" = None, cov: ArrayLike = 1, allow_singular: bool = False,
                  seed: object = None) -> Frozen:
    centre, spread = None if mean is None else floating(mean), floating(cov)
    n = shape_of(spread)[0] if rank(spread) == 2 else shape_of(centre)[0] if centre is not None and rank(centre) else 1
    centre = registry["full"](0.0, n, dtype="f8") if centre is None else registry["reshape"](centre, n)
    return Frozen("multivariate_normal", (mean, cov, allow_singular), mean=centre, cov=_matrix(spread, n),
                  allow_singular=allow_singular)


@override(f"{DIRICHLET}.__call__")
def frozen_dirichlet(dist: object, alpha: object, seed: object = None) -> Frozen:
    return Frozen("dirichlet", (alpha,), alpha=as_array(alpha))


@override(f"{MULTINOMIAL}.__call__")
def frozen_multinomial(dist: object, n: object, p: object, seed: object = None) -> Frozen:
    return Frozen("multinomial", (n, p), n=as_array(n), p=_proportions(as_array(p)))
