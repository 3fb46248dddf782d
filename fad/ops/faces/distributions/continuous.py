"""The continuous distributions, each as scipy.stats parametrizes it.

Formulas: SciPy's reference of statistical distributions; N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous Univariate Distributions,
2nd edition, volumes 1 and 2.
"""
import math
from typing import Any

from ...arithmetic import sqrt
from ...choice import where
from ...special.bessel import i0e
from ...special.errors import erf, erfc, erfinv, log_ndtr, ndtr, ndtri
from ...special.gamma import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    digamma,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    gammaln,
)
from ...special.information import cosm1, expit, log_expit, logit, xlog1py, xlogy
from ...special.statistics import fdtr, fdtrc, fdtri, stdtr, stdtrit
from ...transcendental import arcsin, arctan, arctanh, exp, expm1, log, log1p, logaddexp, sin, tan, tanh
from .record import Distribution

PI = math.pi
LOG_2 = math.log(2.0)
HALF_LOG_2PI = 0.5 * math.log(2.0 * PI)


def _zero(*shapes: Any) -> float:
    return 0.0


def _above_zero(*shapes: Any) -> float:
    """The least positive number: the low end of a support that zero does not belong to."""
    return math.ulp(0.0)


def _one(*shapes: Any) -> float:
    return 1.0


def _any_shape(*shapes: Any) -> bool:
    return True


def _normal(y: Any) -> Any:
    return -0.5 * y * y - HALF_LOG_2PI


def _gamma(y: Any, a: Any) -> Any:
    return xlogy(a - 1.0, y) - y - gammaln(a)


def _beta(y: Any, a: Any, b: Any) -> Any:
    return xlog1py(b - 1.0, -y) + xlogy(a - 1.0, y) - betaln(a, b)


def _student(y: Any, df: Any) -> Any:
    half = 0.5 * (df + 1.0)
    return gammaln(half) - gammaln(0.5 * df) - 0.5 * log(df * PI) - half * log1p(y * y / df)


def _fisher(y: Any, m: Any, n: Any) -> Any:
    return 0.5 * m * log(m) + 0.5 * n * log(n) + xlogy(0.5 * m - 1.0, y) - 0.5 * (m + n) * log(n + m * y) - betaln(0.5 * m, 0.5 * n)


def _inverse_gauss(y: Any, mu: Any) -> Any:
    return -HALF_LOG_2PI - 1.5 * log(y) - ((y - mu) / mu) ** 2 / (2.0 * y)


def _inverse_gauss_cdf(y: Any, mu: Any) -> Any:
    root = 1.0 / sqrt(y)
    return ndtr(root * (y / mu - 1.0)) + exp(2.0 / mu + log_ndtr(-root * (y / mu + 1.0)))


def _mass_between(a: Any, b: Any) -> Any:
    """The normal probability of a < x < b, taken in the tail where it is not a difference of numbers near one."""
    upper = a > 0.0
    return ndtr(where(upper, -a, b)) - ndtr(where(upper, -b, a))


def _laplace_tail(y: Any) -> Any:
    return 0.5 * exp(-abs(y))


def _sum_of_logs(y: Any, c: Any) -> Any:
    return log(c) - (c + 1.0) * log1p(y)


CONTINUOUS = {
    "norm": Distribution(_normal, ndtr, lambda y: ndtr(-y), ndtri, lambda q: -ndtri(q), log_ndtr, lambda y: log_ndtr(-y),
                         entropy=lambda: HALF_LOG_2PI + 0.5),
    "expon": Distribution(lambda y: -y, lambda y: -expm1(-y), lambda y: exp(-y), lambda q: -log1p(-q), lambda q: -log(q), log_sf=lambda y: -y,
                          low=_zero, entropy=_one),
    "gamma": Distribution(_gamma, lambda y, a: gammainc(a, y), lambda y, a: gammaincc(a, y), lambda q, a: gammaincinv(a, q),
                          lambda q, a: gammainccinv(a, q), low=_zero, entropy=lambda a: a + gammaln(a) + (1.0 - a) * digamma(a)),
    "chi2": Distribution(lambda y, df: _gamma(0.5 * y, 0.5 * df) - LOG_2, lambda y, df: gammainc(0.5 * df, 0.5 * y),
                         lambda y, df: gammaincc(0.5 * df, 0.5 * y), lambda q, df: 2.0 * gammaincinv(0.5 * df, q),
                         lambda q, df: 2.0 * gammainccinv(0.5 * df, q), low=_zero),
    "chi": Distribution(lambda y, df: (1.0 - 0.5 * df) * LOG_2 - gammaln(0.5 * df) + xlogy(df - 1.0, y) - 0.5 * y * y,
                        lambda y, df: gammainc(0.5 * df, 0.5 * y * y), lambda y, df: gammaincc(0.5 * df, 0.5 * y * y), low=_zero),
    "invgamma": Distribution(lambda y, a: -(a + 1.0) * log(y) - gammaln(a) - 1.0 / y, lambda y, a: gammaincc(a, 1.0 / y),
                             lambda y, a: gammainc(a, 1.0 / y), lambda q, a: 1.0 / gammainccinv(a, q), lambda q, a: 1.0 / gammaincinv(a, q),
                             low=_above_zero),
    "beta": Distribution(_beta, lambda y, a, b: betainc(a, b, y), lambda y, a, b: betaincc(a, b, y), lambda q, a, b: betaincinv(a, b, q),
                         lambda q, a, b: betainccinv(a, b, q), low=_zero, high=_one),
    "t": Distribution(_student, lambda y, df: stdtr(df, y), lambda y, df: stdtr(df, -y), lambda q, df: stdtrit(df, q),
                      lambda q, df: -stdtrit(df, q)),
    "f": Distribution(_fisher, lambda y, m, n: fdtr(m, n, y), lambda y, m, n: fdtrc(m, n, y), lambda q, m, n: fdtri(m, n, q), low=_zero),
    "logistic": Distribution(lambda y: y - 2.0 * logaddexp(0.0, y), expit, lambda y: expit(-y), logit, lambda q: -logit(q), log_expit,
                             lambda y: log_expit(-y), entropy=lambda: 2.0),
    "laplace": Distribution(lambda y: -abs(y) - LOG_2, lambda y: where(y > 0, 1.0 - _laplace_tail(y), _laplace_tail(y)),
                            lambda y: where(y > 0, _laplace_tail(y), 1.0 - _laplace_tail(y)),
                            lambda q: where(q > 0.5, -log(2.0 * (1.0 - q)), log(2.0 * q)), lambda q: where(q > 0.5, log(2.0 * (1.0 - q)), -log(2.0 * q)),
                            entropy=lambda: LOG_2 + 1.0),
    "cauchy": Distribution(lambda y: -math.log(PI) - log1p(y * y), lambda y: 0.5 + arctan(y) / PI, lambda y: 0.5 - arctan(y) / PI,
                           lambda q: tan(PI * q - 0.5 * PI), lambda q: tan(0.5 * PI - PI * q), entropy=lambda: math.log(4.0 * PI)),
    "lognorm": Distribution(lambda y, s: _normal(log(y) / s) - log(s * y), lambda y, s: ndtr(log(y) / s), lambda y, s: ndtr(-log(y) / s),
                            lambda q, s: exp(s * ndtri(q)), lambda q, s: exp(-s * ndtri(q)), lambda y, s: log_ndtr(log(y) / s),
                            lambda y, s: log_ndtr(-log(y) / s), low=_above_zero, entropy=lambda s: 0.5 + HALF_LOG_2PI + log(s)),
    "uniform": Distribution(lambda y: 0.0 * y, lambda y: 1.0 * y, lambda y: 1.0 - y, lambda q: 1.0 * q, low=_zero, high=_one, entropy=_zero),
    "weibull_min": Distribution(lambda y, c: log(c) + xlogy(c - 1.0, y) - y ** c, lambda y, c: -expm1(-y ** c), lambda y, c: exp(-y ** c),
                                lambda q, c: (-log1p(-q)) ** (1.0 / c), lambda q, c: (-log(q)) ** (1.0 / c), log_sf=lambda y, c: -y ** c, low=_zero),
    "pareto": Distribution(lambda y, b: log(b) - (b + 1.0) * log(y), lambda y, b: 1.0 - y ** -b, lambda y, b: y ** -b,
                           lambda q, b: (1.0 - q) ** (-1.0 / b), lambda q, b: q ** (-1.0 / b), log_sf=lambda y, b: -b * log(y), low=_one, within=lambda b: 2.0),
    "lomax": Distribution(_sum_of_logs, lambda y, c: -expm1(-c * log1p(y)), lambda y, c: exp(-c * log1p(y)), lambda q, c: expm1(-log1p(-q) / c),
                          lambda q, c: expm1(-log(q) / c), log_sf=lambda y, c: -c * log1p(y), low=_zero),
    "powerlaw": Distribution(lambda y, a: log(a) + xlogy(a - 1.0, y), lambda y, a: y ** a, ppf=lambda q, a: q ** (1.0 / a),
                             log_cdf=lambda y, a: a * log(y), low=_zero, high=_one),
    "loguniform": Distribution(lambda y, a, b: -log(y) - log(log(b) - log(a)), lambda y, a, b: (log(y) - log(a)) / (log(b) - log(a)),
                               ppf=lambda q, a, b: exp(log(a) + q * (log(b) - log(a))), low=lambda a, b: a, high=lambda a, b: b,
                               within=lambda a, b: 0.5 * (a + b), valid=lambda a, b: (a > 0) & (b > a)),
    "halfnorm": Distribution(lambda y: _normal(y) + LOG_2, lambda y: erf(y / math.sqrt(2.0)), lambda y: erfc(y / math.sqrt(2.0)),
                             lambda q: math.sqrt(2.0) * erfinv(q), lambda q: -ndtri(0.5 * q), low=_zero),
    "halfcauchy": Distribution(lambda y: math.log(2.0 / PI) - log1p(y * y), lambda y: 2.0 / PI * arctan(y), ppf=lambda q: tan(0.5 * PI * q), low=_zero),
    "halflogistic": Distribution(lambda y: LOG_2 - y - 2.0 * log1p(exp(-y)), lambda y: tanh(0.5 * y), lambda y: 2.0 * expit(-y),
                                 lambda q: 2.0 * arctanh(q), low=_zero),
    "rayleigh": Distribution(lambda y: log(y) - 0.5 * y * y, lambda y: -expm1(-0.5 * y * y), lambda y: exp(-0.5 * y * y),
                             lambda q: sqrt(-2.0 * log1p(-q)), lambda q: sqrt(-2.0 * log(q)), log_sf=lambda y: -0.5 * y * y, low=_zero),
    "maxwell": Distribution(lambda y: 0.5 * math.log(2.0 / PI) + 2.0 * log(y) - 0.5 * y * y, lambda y: gammainc(1.5, 0.5 * y * y),
                            lambda y: gammaincc(1.5, 0.5 * y * y), lambda q: sqrt(2.0 * gammaincinv(1.5, q)), low=_zero),
    "gumbel_r": Distribution(lambda y: -y - exp(-y), lambda y: exp(-exp(-y)), lambda y: -expm1(-exp(-y)), lambda q: -log(-log(q)),
                             lambda q: -log(-log1p(-q)), lambda y: -exp(-y)),
    "gumbel_l": Distribution(lambda y: y - exp(y), lambda y: -expm1(-exp(y)), lambda y: exp(-exp(y)), lambda q: log(-log1p(-q)),
                             lambda q: log(-log(q)), log_sf=lambda y: -exp(y)),
    "invgauss": Distribution(_inverse_gauss, _inverse_gauss_cdf, low=_above_zero),
    "levy": Distribution(lambda y: -HALF_LOG_2PI - 1.5 * log(y) - 0.5 / y, lambda y: erfc(sqrt(0.5 / y)), lambda y: erf(sqrt(0.5 / y)), low=_above_zero),
    "truncnorm": Distribution(lambda y, a, b: _normal(y) - log(_mass_between(a, b)), lambda y, a, b: _mass_between(a, y) / _mass_between(a, b),
                              lambda y, a, b: _mass_between(y, b) / _mass_between(a, b), low=lambda a, b: a, high=lambda a, b: b,
                              within=lambda a, b: where(a > 0, a, where(b < 0, b, 0.0)), valid=lambda a, b: a < b),
    "vonmises": Distribution(lambda y, kappa: kappa * cosm1(y) - 2.0 * HALF_LOG_2PI - log(i0e(kappa)), valid=lambda kappa: kappa >= 0),
    "skewnorm": Distribution(lambda y, a: LOG_2 + _normal(y) + log_ndtr(a * y), valid=_any_shape),
    "gennorm": Distribution(lambda y, beta: log(0.5 * beta) - gammaln(1.0 / beta) - abs(y) ** beta),
    "fisk": Distribution(lambda y, c: log(c) - xlogy(c + 1.0, y) - 2.0 * log1p(y ** -c), lambda y, c: expit(c * log(y)), lambda y, c: expit(-c * log(y)),
                         lambda q, c: exp(logit(q) / c), lambda q, c: exp(-logit(q) / c), low=_above_zero),
    "moyal": Distribution(lambda y: -0.5 * (y + exp(-y)) - HALF_LOG_2PI, lambda y: erfc(exp(-0.5 * y) / math.sqrt(2.0)),
                          lambda y: erf(exp(-0.5 * y) / math.sqrt(2.0))),
    "arcsine": Distribution(lambda y: -math.log(PI) - 0.5 * log(y * (1.0 - y)), lambda y: 2.0 / PI * arcsin(sqrt(y)),
                            ppf=lambda q: sin(0.5 * PI * q) ** 2, low=_zero, high=_one),
}
CONTINUOUS["erlang"] = CONTINUOUS["gamma"]
CONTINUOUS["reciprocal"] = CONTINUOUS["loguniform"]
