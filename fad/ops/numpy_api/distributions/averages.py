"""Mean, variance, skewness and excess kurtosis of the distributions on their standard scale.

Formulas: SciPy's reference of statistical distributions; N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous
Univariate Distributions, 2nd edition; N. L. Johnson, A. W. Kemp, S. Kotz, Univariate Discrete Distributions, 3rd
edition.
"""
import math
from collections.abc import Callable
from typing import Any

from ....util.array import AnyArray, ArrayOrNumber
from ...arithmetic import sqrt
from ...choice import where
from ...special.errors import ndtr
from ...special.gamma import digamma, gammaln, poch, polygamma
from ...transcendental import exp, log, log1p, sin

PI, EULER, ZETA_3 = math.pi, 0.5772156649015329, 1.2020569031595942
GUMBEL_SKEW = 12.0 * math.sqrt(6.0) * ZETA_3 / PI ** 3


def _ratio(top: AnyArray, bottom: AnyArray) -> AnyArray:
    """gamma(top) / gamma(bottom)"""
    return poch(bottom, top - bottom)


def _above(x: Any, least: float, value: Callable) -> AnyArray:
    """The value where x exceeds a bound; the moment is infinite elsewhere."""
    exists = x > least
    return where(exists, value(where(exists, x, least + 1.0)), math.inf)


def _from_squares(mean: AnyArray, square: ArrayOrNumber) -> tuple:
    return mean, square - mean * mean


def _beta(a: AnyArray, b: object) -> tuple:
    n = a + b
    return (a / n, a * b / (n * n * (n + 1.0)), 2.0 * (b - a) * sqrt(n + 1.0) / ((n + 2.0) * sqrt(a * b)),
            6.0 * ((a - b) ** 2 * (n + 1.0) - a * b * (n + 2.0)) / (a * b * (n + 2.0) * (n + 3.0)))


def _fisher(m: object, n: object) -> tuple:
    spread = lambda k: 2.0 * k * k * (m + k - 2.0) / (m * (k - 2.0) ** 2 * (k - 4.0))
    return _above(n, 2.0, lambda k: k / (k - 2.0)), _above(n, 4.0, spread)


def _student(df: AnyArray) -> tuple:
    spread = _above(df, 2.0, lambda k: k / (k - 2.0))
    return _above(df, 1.0, lambda k: 0.0 * k), where(df > 1.0, spread, math.nan)


def _lognormal(s: AnyArray) -> tuple:
    p = exp(s * s)
    return sqrt(p), p * (p - 1.0), sqrt(p - 1.0) * (2.0 + p), p ** 4 + 2.0 * p ** 3 + 3.0 * p * p - 6.0


def _pareto(b: object) -> tuple:
    return (_above(b, 1.0, lambda k: k / (k - 1.0)), _above(b, 2.0, lambda k: k / ((k - 2.0) * (k - 1.0) ** 2)))


def _inverse_gamma(a: object) -> tuple:
    return (_above(a, 1.0, lambda k: 1.0 / (k - 1.0)), _above(a, 2.0, lambda k: 1.0 / ((k - 1.0) ** 2 * (k - 2.0))))


def _density(x: ArrayOrNumber) -> AnyArray:
    return exp(-0.5 * x * x) / math.sqrt(2.0 * PI)


def _truncated_normal(a: AnyArray, b: Any) -> tuple:
    def end(x: ArrayOrNumber) -> AnyArray:
        far = abs(x) == math.inf
        return where(far, 0.0, where(far, 0.0, x) * _density(where(far, 0.0, x)))
    mass = where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
    mean = (_density(a) - _density(b)) / mass
    return mean, 1.0 + (end(a) - end(b)) / mass - mean * mean


def _bradford(c: Any) -> tuple:
    k = log1p(c)
    return (c - k) / (c * k), ((c + 2.0) * k - 2.0 * c) / (2.0 * c * k * k)


def _log_uniform(a: Any, b: Any) -> tuple:
    width = log(b) - log(a)
    return _from_squares((b - a) / width, (b * b - a * a) / (2.0 * width))


def _fisk(c: object) -> tuple:
    def raw(order: float) -> Any:
        return _above(c, order, lambda k: order * PI / k / sin(order * PI / k))
    return _from_squares(raw(1.0), raw(2.0))


def _skew_normal(a: Any) -> tuple:
    mean = math.sqrt(2.0 / PI) * a / sqrt(1.0 + a * a)
    return mean, 1.0 - mean * mean


def _binomial(n: object, p: AnyArray) -> tuple:
    spread = n * p * (1.0 - p)
    return n * p, spread, (1.0 - 2.0 * p) / sqrt(spread), (1.0 - 6.0 * p * (1.0 - p)) / spread


def _negative_binomial(n: Any, p: Any) -> tuple:
    q = 1.0 - p
    return n * q / p, n * q / (p * p), (1.0 + q) / sqrt(n * q), 6.0 / n + p * p / (n * q)


def _beta_binomial(n: Any, a: Any, b: Any) -> tuple:
    t = a + b
    return n * a / t, n * a * b * (t + n) / (t * t * (t + 1.0))


# what each gives: the mean and the variance; the skewness and the excess kurtosis where they have a simple form
AVERAGES: dict[str, Callable] = {
    "norm": lambda: (0.0, 1.0, 0.0, 0.0), "expon": lambda: (1.0, 1.0, 2.0, 6.0),
    "gamma": lambda a: (a, a, 2.0 / sqrt(a), 6.0 / a),
    "chi2": lambda df: (df, 2.0 * df, 2.0 * sqrt(2.0 / df), 12.0 / df),
    "chi": lambda df: _from_squares(math.sqrt(2.0) * _ratio(0.5 * df + 0.5, 0.5 * df), df), "beta": _beta,
    "t": _student, "f": _fisher, "logistic": lambda: (0.0, PI ** 2 / 3.0, 0.0, 1.2),
    "laplace": lambda: (0.0, 2.0, 0.0, 3.0), "lognorm": _lognormal,
    "uniform": lambda: (0.5, 1.0 / 12.0, 0.0, -1.2), "invgamma": _inverse_gamma, "pareto": _pareto,
    "weibull_min": lambda c: _from_squares(exp(gammaln(1.0 + 1.0 / c)), exp(gammaln(1.0 + 2.0 / c))),
    "weibull_max": lambda c: _from_squares(-exp(gammaln(1.0 + 1.0 / c)), exp(gammaln(1.0 + 2.0 / c))),
    "lomax": lambda c: (_pareto(c)[0] - 1.0, _pareto(c)[1]),
    "powerlaw": lambda a: (a / (a + 1.0), a / ((a + 2.0) * (a + 1.0) ** 2)),
    "halfnorm": lambda: (math.sqrt(2.0 / PI), 1.0 - 2.0 / PI),
    "halflogistic": lambda: (2.0 * math.log(2.0), PI ** 2 / 3.0 - 4.0 * math.log(2.0) ** 2),
    "rayleigh": lambda: (math.sqrt(0.5 * PI), 2.0 - 0.5 * PI),
    "maxwell": lambda: (2.0 * math.sqrt(2.0 / PI), 3.0 - 8.0 / PI),
    "gumbel_r": lambda: (EULER, PI ** 2 / 6.0, GUMBEL_SKEW, 2.4),
    "gumbel_l": lambda: (-EULER, PI ** 2 / 6.0, -GUMBEL_SKEW, 2.4),
    "invgauss": lambda mu: (mu, mu ** 3, 3.0 * sqrt(mu), 15.0 * mu), "wald": lambda: (1.0, 1.0, 3.0, 15.0),
    "truncnorm": _truncated_normal, "skewnorm": _skew_normal,
    "gennorm": lambda beta: (0.0, _ratio(3.0 / beta, 1.0 / beta)), "fisk": _fisk,
    "moyal": lambda: (math.log(2.0) + EULER, 0.5 * PI ** 2), "arcsine": lambda: (0.5, 0.125, 0.0, -1.5),
    "dweibull": lambda c: (0.0, exp(gammaln(1.0 + 2.0 / c))), "dgamma": lambda a: (0.0, a * (a + 1.0)),
    "gengamma": lambda a, c: _from_squares(_ratio(a + 1.0 / c, a), _ratio(a + 2.0 / c, a)),
    "loggamma": lambda c: (digamma(c), polygamma(1, c)),
    "nakagami": lambda nu: _from_squares(_ratio(nu + 0.5, nu) / sqrt(nu), 1.0),
    "exponnorm": lambda K: (K, 1.0 + K * K), "hypsecant": lambda: (0.0, 0.25 * PI ** 2),
    "laplace_asymmetric": lambda kappa: (1.0 / kappa - kappa, 1.0 / kappa ** 2 + kappa ** 2),
    "triang": lambda c: ((1.0 + c) / 3.0, (1.0 - c + c * c) / 18.0), "bradford": _bradford,
    "semicircular": lambda: (0.0, 0.25, 0.0, -1.0), "cosine": lambda: (0.0, PI ** 2 / 3.0 - 2.0),
    "loguniform": _log_uniform,
    # the discrete ones
    "poisson": lambda mu: (mu, mu, 1.0 / sqrt(mu), 1.0 / mu), "binom": _binomial,
    "bernoulli": lambda p: _binomial(1.0, p),
    "geom": lambda p: (1.0 / p, (1.0 - p) / (p * p), (2.0 - p) / sqrt(1.0 - p), 6.0 + p * p / (1.0 - p)),
    "nbinom": _negative_binomial, "betabinom": _beta_binomial}
AVERAGES |= {"erlang": AVERAGES["gamma"], "reciprocal": AVERAGES["loguniform"]}
