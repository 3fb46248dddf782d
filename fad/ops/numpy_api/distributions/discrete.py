"""The discrete distributions, each as scipy.stats parametrizes it; k is an integer, given as a float.

Formulas: SciPy's reference of statistical distributions; N. L. Johnson, A. W. Kemp, S. Kotz, Univariate Discrete
Distributions, 3rd edition.
"""
from typing import Any

from ....ir.op import Op
from ....util.array import AnyArray, ArrayOrNumber
from ...arithmetic import floor
from ...choice import where
from ...special.gamma import betaln, gammaln
from ...special.incomplete import betainc, betaincc, gammainc, gammaincc
from ...special.information import xlog1py, xlogy
from ...transcendental import exp, expm1, log, log1p
from .record import Distribution


def _zero(*shapes: ArrayOrNumber) -> float:
    return 0.0


def _proportion(p: ArrayOrNumber) -> ArrayOrNumber:
    return (p >= 0) & (p <= 1)


def _count(n: ArrayOrNumber) -> AnyArray:
    return (n >= 0) & (n == floor(n))


def _choices(n: int, k: ArrayOrNumber) -> AnyArray:
    """The logarithm of the binomial coefficient. The beta function keeps digits that its gamma functions lose."""
    return -log1p(n) - betaln(n - k + 1.0, k + 1.0)


def _binomial(k: ArrayOrNumber, n: int, p: ArrayOrNumber) -> AnyArray:
    return _choices(n, k) + xlogy(k, p) + xlog1py(n - k, -p)


def _binomial_tail(tail: Op, at_end: float) -> Any:
    """The probability of k or fewer (or of more) successes: an incomplete beta function, but for k = n."""
    def probability(k: AnyArray, n: int, p: ArrayOrNumber) -> AnyArray:
        short = k < n
        return where(short, tail(where(short, k, 0.0) + 1.0, where(short, n - k, 1.0), p), at_end)
    return probability


DISCRETE = {
    "poisson": Distribution(lambda k, mu: xlogy(k, mu) - gammaln(k + 1.0) - mu, lambda k, mu: gammaincc(k + 1.0, mu),
                            lambda k, mu: gammainc(k + 1.0, mu), low=_zero, within=_zero, valid=lambda mu: mu >= 0),
    "binom": Distribution(_binomial, _binomial_tail(betaincc, 1.0), _binomial_tail(betainc, 0.0), low=_zero,
                          high=lambda n, p: n, within=_zero, valid=lambda n, p: _count(n) & _proportion(p)),
    "bernoulli": Distribution(lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p),
                              lambda k, p: where(k < 1.0, 1.0 - p, 1.0), lambda k, p: where(k < 1.0, p, 0.0), low=_zero,
                              high=lambda p: 1.0, within=_zero, valid=_proportion),
    "geom": Distribution(lambda k, p: xlog1py(k - 1.0, -p) + log(p), lambda k, p: -expm1(log1p(-p) * k),
                         lambda k, p: exp(k * log1p(-p)), log_sf=lambda k, p: k * log1p(-p), low=lambda p: 1.0,
                         within=lambda p: 1.0, valid=lambda p: (p > 0) & (p <= 1)),
    "nbinom": Distribution(lambda k, n, p: -log(n + k) - betaln(n, k + 1.0) + n * log(p) + xlog1py(k, -p),
                           lambda k, n, p: betainc(n, k + 1.0, p), lambda k, n, p: betaincc(n, k + 1.0, p), low=_zero,
                           within=_zero, valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1)),
    "betabinom": Distribution(lambda k, n, a, b: _choices(n, k) + betaln(k + a, n - k + b) - betaln(a, b), low=_zero,
                              high=lambda n, a, b: n, within=_zero,
                              valid=lambda n, a, b: _count(n) & (a > 0) & (b > 0)),
}
