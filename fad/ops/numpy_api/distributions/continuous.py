"""The continuous distributions, each as scipy.stats parametrizes it.

Formulas: SciPy's reference of statistical distributions; N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous
Univariate Distributions, 2nd edition, volumes 1 and 2.
"""
import math
from collections.abc import Callable
from typing import Any

from ....util.array import AnyArray, ArrayOrNumber
from ...arithmetic import sqrt
from ...choice import where
from ...special.bessel import i0e, k1e
from ...special.errors import erf, erfc, erfinv, log_ndtr, ndtr, ndtri
from ...special.gamma import betaln, digamma, gammaln
from ...special.incomplete import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
)
from ...special.information import cosm1, expit, log_expit, logit, xlog1py, xlogy
from ...special.statistics import fdtr, fdtrc, fdtri, stdtr, stdtrit
from ...transcendental import (
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    cos,
    exp,
    expm1,
    hypot,
    log,
    log1p,
    logaddexp,
    sin,
    sinh,
    tan,
    tanh,
)
from .record import Distribution

PI = math.pi
LOG_2 = math.log(2.0)
HALF_LOG_2PI = 0.5 * math.log(2.0 * PI)


def _zero(*shapes: ArrayOrNumber) -> float:
    return 0.0


def _above_zero(*shapes: ArrayOrNumber) -> float:
    """The least positive number: the low end of a support that zero does not belong to."""
    return math.ulp(0.0)


def _one(*shapes: ArrayOrNumber) -> float:
    return 1.0


def _any_shape(*shapes: ArrayOrNumber) -> bool:
    return True


def _at_most(y: AnyArray, most: float = 1e300) -> AnyArray:
    """y without infinity, where a formula is a difference of infinities."""
    return where(y > most, most, y)


def _normal(y: AnyArray) -> AnyArray:
    return -0.5 * y * y - HALF_LOG_2PI


def _gamma(y: AnyArray, a: ArrayOrNumber) -> AnyArray:
    return xlogy(a - 1.0, y) - y - gammaln(a)


def _beta(y: AnyArray, a: ArrayOrNumber, b: ArrayOrNumber) -> AnyArray:
    return xlog1py(b - 1.0, -y) + xlogy(a - 1.0, y) - betaln(a, b)


def _student(y: AnyArray, df: ArrayOrNumber) -> AnyArray:
    half = 0.5 * (df + 1.0)
    return gammaln(half) - gammaln(0.5 * df) - 0.5 * log(df * PI) - half * log1p(y * y / df)


def _fisher(y: AnyArray, m: ArrayOrNumber, n: ArrayOrNumber) -> AnyArray:
    return (0.5 * m * log(m) + 0.5 * n * log(n) + xlogy(0.5 * m - 1.0, y) - 0.5 * (m + n) * log(n + m * y)
            - betaln(0.5 * m, 0.5 * n))


def _inverse_gauss(y: AnyArray, mu: ArrayOrNumber) -> AnyArray:
    y = _at_most(y)
    return -HALF_LOG_2PI - 1.5 * log(y) - ((y - mu) / mu) ** 2 / (2.0 * y)


def _inverse_gauss_tail(sign: float) -> Callable:
    """The logarithm of the probability of at most (1.0), or of more than, y: G. Giner and G. K. Smyth, R Journal 8
    (2016) 339."""
    def tail(y: AnyArray, mu: ArrayOrNumber) -> AnyArray:
        y = _at_most(y)
        root = 1.0 / sqrt(y)
        first = log_ndtr(sign * root * (y / mu - 1.0))
        return first + log1p(sign * exp(2.0 / mu + log_ndtr(-root * (y / mu + 1.0)) - first))
    return tail


def _inverse_gauss_of(fixed: tuple = ()) -> Distribution:
    """The inverse Gaussian distribution of a mean mu, or of a fixed one."""
    below, above = _inverse_gauss_tail(1.0), _inverse_gauss_tail(-1.0)
    return Distribution(lambda y, *mu: _inverse_gauss(y, *mu, *fixed), lambda y, *mu: exp(below(y, *mu, *fixed)),
                        lambda y, *mu: exp(above(y, *mu, *fixed)), log_cdf=lambda y, *mu: below(y, *mu, *fixed),
                        log_sf=lambda y, *mu: above(y, *mu, *fixed), low=_above_zero)


def _mass_between(a: ArrayOrNumber, b: ArrayOrNumber) -> AnyArray:
    """The normal probability of a < x < b, taken in the tail where it is not a difference of numbers near one."""
    upper = a > 0.0
    return ndtr(where(upper, -a, b)) - ndtr(where(upper, -b, a))


def _log1p_square(y: AnyArray) -> AnyArray:
    """log(1 + y^2), whose square does not leave the range of floats."""
    large = abs(y) > 1e100
    return where(large, 2.0 * log(abs(where(large, y, 1.0))), log1p(where(large, 0.0, y) ** 2))


def _upper_cauchy(q: AnyArray) -> AnyArray:
    """cot(pi q); around the middle, and above it, by what is small."""
    upper, middle = q > 0.5, abs(q - 0.5) < 0.25
    cotangent = 1.0 / tan(PI * where(middle, 0.25, where(upper, 1.0 - q, q)))
    return where(middle, tan(PI * (0.5 - q)), where(upper, -cotangent, cotangent))


def _laplace_tail(y: AnyArray) -> AnyArray:
    return 0.5 * exp(-abs(y))


def _sum_of_logs(y: AnyArray, c: ArrayOrNumber) -> AnyArray:
    return log(c) - (c + 1.0) * log1p(y)


def _excess_exponent(y: AnyArray, c: ArrayOrNumber) -> AnyArray:
    """log(1 + c y) / c, by its series where c y is small, so that it is y at c = 0, and smooth there."""
    u = c * y
    small = abs(u) < 1e-3
    series = y * (1.0 - u * (1.0 / 2.0 - u * (1.0 / 3.0 - u * (1.0 / 4.0 - u / 5.0))))
    return where(small, series, log1p(where(small, 0.0, u)) / where(small, 1.0, c))


def _extreme_exponent(y: AnyArray, c: ArrayOrNumber) -> AnyArray:
    """log(1 - c y) / c; -y at c = 0."""
    return -_excess_exponent(y, -c)


def _grown(rate: AnyArray, exponent: AnyArray) -> AnyArray:
    """rate * exponent; 0 for the rate 0 at an end of the support, where the exponent is infinite."""
    ends = (rate == 0) & (abs(exponent) == math.inf)
    return where(ends, 0.0, rate * where(ends, 1.0, exponent))


def _end_of_extremes(c: ArrayOrNumber, sign: float) -> AnyArray:
    """1 / c where c has this sign; else there is no end on that side."""
    ends = sign * c > 0
    return where(ends, 1.0 / where(ends, c, 1.0), sign * math.inf)


def _burr(log_y: AnyArray, c: ArrayOrNumber, d: ArrayOrNumber) -> AnyArray:
    return log(c) + log(d) + (c * d - 1.0) * log_y - (d + 1.0) * logaddexp(0.0, c * log_y)


def _normal_below(y: AnyArray, rate: ArrayOrNumber) -> AnyArray:
    """The logarithm of the share of the exponential in an exponentially modified normal distribution, of rate 1 / K."""
    y = -_at_most(-y, 1e100)
    return rate * (0.5 * rate - y) + log_ndtr(y - rate)


def _triangle(y: AnyArray, c: ArrayOrNumber) -> AnyArray:
    rising = (y < c) | (c >= 1.0)
    return LOG_2 + where(rising, log(where(rising, y, 1.0)) - log(where(rising, c, 1.0)),
                         log1p(where(rising, 0.0, -y)) - log1p(where(rising, 0.0, -c)))


def _triangle_cdf(y: AnyArray, c: Any) -> AnyArray:
    rising = (y < c) | (c >= 1.0)
    return where(rising, y * y / where(rising, c, 1.0), 1.0 - (1.0 - y) ** 2 / where(rising, 1.0, 1.0 - c))


def _sided(y: AnyArray, upper: AnyArray) -> AnyArray:
    """The distribution function of a symmetric distribution, of the upper tail at |y|."""
    return where(y > 0, 1.0 - upper, upper)


def _normal_inverse_gauss(y: AnyArray, a: ArrayOrNumber, b: ArrayOrNumber) -> AnyArray:
    y = _at_most(-_at_most(-y))
    size = hypot(1.0, y)
    return log(a) + log(k1e(a * size)) + b * y - a * size + sqrt(a * a - b * b) - math.log(PI) - log(size)


CONTINUOUS = {
    "norm": Distribution(_normal, ndtr, lambda y: ndtr(-y), ndtri, lambda q: -ndtri(q), log_ndtr,
                         lambda y: log_ndtr(-y), entropy=lambda: HALF_LOG_2PI + 0.5),
    "expon": Distribution(lambda y: -y, lambda y: -expm1(-y), lambda y: exp(-y), lambda q: -log1p(-q),
                          lambda q: -log(q), log_sf=lambda y: -y, low=_zero, entropy=_one),
    "gamma": Distribution(_gamma, lambda y, a: gammainc(a, y), lambda y, a: gammaincc(a, y),
                          lambda q, a: gammaincinv(a, q), lambda q, a: gammainccinv(a, q), low=_zero,
                          entropy=lambda a: a + gammaln(a) + (1.0 - a) * digamma(a)),
    "chi2": Distribution(lambda y, df: _gamma(0.5 * y, 0.5 * df) - LOG_2, lambda y, df: gammainc(0.5 * df, 0.5 * y),
                         lambda y, df: gammaincc(0.5 * df, 0.5 * y), lambda q, df: 2.0 * gammaincinv(0.5 * df, q),
                         lambda q, df: 2.0 * gammainccinv(0.5 * df, q), low=_zero),
    "chi": Distribution(lambda y, df: (1.0 - 0.5 * df) * LOG_2 - gammaln(0.5 * df) + xlogy(df - 1.0, y) - 0.5 * y * y,
                        lambda y, df: gammainc(0.5 * df, 0.5 * y * y), lambda y, df: gammaincc(0.5 * df, 0.5 * y * y),
                        low=_zero),
    "invgamma": Distribution(lambda y, a: -(a + 1.0) * log(y) - gammaln(a) - 1.0 / y,
                             lambda y, a: gammaincc(a, 1.0 / y), lambda y, a: gammainc(a, 1.0 / y),
                             lambda q, a: 1.0 / gammainccinv(a, q), lambda q, a: 1.0 / gammaincinv(a, q),
                             low=_above_zero),
    "beta": Distribution(_beta, lambda y, a, b: betainc(a, b, y), lambda y, a, b: betaincc(a, b, y),
                         lambda q, a, b: betaincinv(a, b, q), lambda q, a, b: betainccinv(a, b, q), low=_zero,
                         high=_one),
    "t": Distribution(_student, lambda y, df: stdtr(df, y), lambda y, df: stdtr(df, -y), lambda q, df: stdtrit(df, q),
                      lambda q, df: -stdtrit(df, q)),
    "f": Distribution(_fisher, lambda y, m, n: fdtr(m, n, y), lambda y, m, n: fdtrc(m, n, y),
                      lambda q, m, n: fdtri(m, n, q), low=_zero),
    "logistic": Distribution(lambda y: log_expit(y) + log_expit(-y), expit, lambda y: expit(-y), logit,
                             lambda q: -logit(q), log_expit, lambda y: log_expit(-y), entropy=lambda: 2.0),
    "laplace": Distribution(lambda y: -abs(y) - LOG_2, lambda y: where(y > 0, 1.0 - _laplace_tail(y), _laplace_tail(y)),
                            lambda y: where(y > 0, _laplace_tail(y), 1.0 - _laplace_tail(y)),
                            lambda q: where(q > 0.5, -log(2.0 * (1.0 - q)), log(2.0 * q)),
                            lambda q: where(q > 0.5, log(2.0 * (1.0 - q)), -log(2.0 * q)), entropy=lambda: LOG_2 + 1.0),
    "cauchy": Distribution(lambda y: -math.log(PI) - _log1p_square(y), lambda y: arctan2(1.0, -y) / PI,
                           lambda y: arctan2(1.0, y) / PI, lambda q: -_upper_cauchy(q), lambda q: _upper_cauchy(q),
                           entropy=lambda: math.log(4.0 * PI)),
    "lognorm": Distribution(lambda y, s: _normal(log(y) / s) - log(s * y), lambda y, s: ndtr(log(y) / s),
                            lambda y, s: ndtr(-log(y) / s), lambda q, s: exp(s * ndtri(q)),
                            lambda q, s: exp(-s * ndtri(q)), lambda y, s: log_ndtr(log(y) / s),
                            lambda y, s: log_ndtr(-log(y) / s), low=_above_zero,
                            entropy=lambda s: 0.5 + HALF_LOG_2PI + log(s)),
    "uniform": Distribution(lambda y: 0.0 * y, lambda y: 1.0 * y, lambda y: 1.0 - y, lambda q: 1.0 * q, low=_zero,
                            high=_one, entropy=_zero),
    "weibull_min": Distribution(lambda y, c: log(c) + xlogy(c - 1.0, y) - y ** c, lambda y, c: -expm1(-y ** c),
                                lambda y, c: exp(-y ** c), lambda q, c: (-log1p(-q)) ** (1.0 / c),
                                lambda q, c: (-log(q)) ** (1.0 / c), log_sf=lambda y, c: -y ** c, low=_zero),
    "pareto": Distribution(lambda y, b: log(b) - (b + 1.0) * log(y), lambda y, b: 1.0 - y ** -b, lambda y, b: y ** -b,
                           lambda q, b: (1.0 - q) ** (-1.0 / b), lambda q, b: q ** (-1.0 / b),
                           log_sf=lambda y, b: -b * log(y), low=_one, within=lambda b: 2.0),
    "lomax": Distribution(_sum_of_logs, lambda y, c: -expm1(-c * log1p(y)), lambda y, c: exp(-c * log1p(y)),
                          lambda q, c: expm1(-log1p(-q) / c), lambda q, c: expm1(-log(q) / c),
                          log_sf=lambda y, c: -c * log1p(y), low=_zero),
    "powerlaw": Distribution(lambda y, a: log(a) + xlogy(a - 1.0, y), lambda y, a: y ** a,
                             ppf=lambda q, a: q ** (1.0 / a), log_cdf=lambda y, a: a * log(y), low=_zero, high=_one),
    "loguniform": Distribution(lambda y, a, b: -log(y) - log(log(b) - log(a)),
                               lambda y, a, b: (log(y) - log(a)) / (log(b) - log(a)),
                               ppf=lambda q, a, b: exp(log(a) + q * (log(b) - log(a))), low=lambda a, b: a,
                               high=lambda a, b: b, within=lambda a, b: 0.5 * (a + b),
                               valid=lambda a, b: (a > 0) & (b > a)),
    "halfnorm": Distribution(lambda y: _normal(y) + LOG_2, lambda y: erf(y / math.sqrt(2.0)),
                             lambda y: erfc(y / math.sqrt(2.0)), lambda q: math.sqrt(2.0) * erfinv(q),
                             lambda q: -ndtri(0.5 * q), low=_zero),
    "halfcauchy": Distribution(lambda y: math.log(2.0 / PI) - _log1p_square(y), lambda y: 2.0 / PI * arctan(y),
                               lambda y: 2.0 / PI * arctan2(1.0, y), lambda q: tan(0.5 * PI * q),
                               lambda q: 1.0 / tan(0.5 * PI * q), low=_zero),
    "halflogistic": Distribution(lambda y: LOG_2 - y - 2.0 * log1p(exp(-y)), lambda y: tanh(0.5 * y),
                                 lambda y: 2.0 * expit(-y), lambda q: 2.0 * arctanh(q), lambda q: -logit(0.5 * q),
                                 low=_zero),
    "rayleigh": Distribution(lambda y: log(_at_most(y)) - 0.5 * y * y, lambda y: -expm1(-0.5 * y * y),
                             lambda y: exp(-0.5 * y * y), lambda q: sqrt(-2.0 * log1p(-q)),
                             lambda q: sqrt(-2.0 * log(q)), log_sf=lambda y: -0.5 * y * y, low=_zero),
    "maxwell": Distribution(lambda y: 0.5 * math.log(2.0 / PI) + 2.0 * log(y) - 0.5 * y * y,
                            lambda y: gammainc(1.5, 0.5 * y * y), lambda y: gammaincc(1.5, 0.5 * y * y),
                            lambda q: sqrt(2.0 * gammaincinv(1.5, q)), lambda q: sqrt(2.0 * gammainccinv(1.5, q)),
                            low=_zero),
    "gumbel_r": Distribution(lambda y: -y - exp(-y), lambda y: exp(-exp(-y)), lambda y: -expm1(-exp(-y)),
                             lambda q: -log(-log(q)), lambda q: -log(-log1p(-q)), lambda y: -exp(-y)),
    "gumbel_l": Distribution(lambda y: y - exp(y), lambda y: -expm1(-exp(y)), lambda y: exp(-exp(y)),
                             lambda q: log(-log1p(-q)), lambda q: log(-log(q)), log_sf=lambda y: -exp(y)),
    "invgauss": _inverse_gauss_of(),
    "levy": Distribution(lambda y: -HALF_LOG_2PI - 1.5 * log(y) - 0.5 / y, lambda y: erfc(sqrt(0.5 / y)),
                         lambda y: erf(sqrt(0.5 / y)), low=_above_zero),
    "truncnorm": Distribution(lambda y, a, b: _normal(y) - log(_mass_between(a, b)),
                              lambda y, a, b: _mass_between(a, y) / _mass_between(a, b),
                              lambda y, a, b: _mass_between(y, b) / _mass_between(a, b), low=lambda a, b: a,
                              high=lambda a, b: b, within=lambda a, b: where(a > 0, a, where(b < 0, b, 0.0)),
                              valid=lambda a, b: a < b),
    "vonmises": Distribution(lambda y, kappa: kappa * cosm1(y) - 2.0 * HALF_LOG_2PI - log(i0e(kappa)),
                             valid=lambda kappa: kappa >= 0),
    "skewnorm": Distribution(lambda y, a: LOG_2 + _normal(y) + log_ndtr(a * y), valid=_any_shape),
    "gennorm": Distribution(lambda y, beta: log(0.5 * beta) - gammaln(1.0 / beta) - abs(y) ** beta),
    "fisk": Distribution(lambda y, c: log(c) - xlogy(c + 1.0, y) - 2.0 * log1p(y ** -c), lambda y, c: expit(c * log(y)),
                         lambda y, c: expit(-c * log(y)), lambda q, c: exp(logit(q) / c),
                         lambda q, c: exp(-logit(q) / c), low=_above_zero),
    "moyal": Distribution(lambda y: -0.5 * (y + exp(-y)) - HALF_LOG_2PI, lambda y: erfc(exp(-0.5 * y) / math.sqrt(2.0)),
                          lambda y: erf(exp(-0.5 * y) / math.sqrt(2.0))),
    "arcsine": Distribution(lambda y: -math.log(PI) - 0.5 * log(y * (1.0 - y)), lambda y: 2.0 / PI * arcsin(sqrt(y)),
                            ppf=lambda q: sin(0.5 * PI * q) ** 2, low=_zero, high=_one),
}
CONTINUOUS |= {
    "wald": _inverse_gauss_of((1.0,)),
    "weibull_max": Distribution(lambda y, c: log(c) + xlogy(c - 1.0, -y) - (-y) ** c, lambda y, c: exp(-(-y) ** c),
                                lambda y, c: -expm1(-(-y) ** c), lambda q, c: -(-log(q)) ** (1.0 / c),
                                lambda q, c: -(-log1p(-q)) ** (1.0 / c), lambda y, c: -(-y) ** c, high=_zero,
                                within=lambda c: -0.5),
    "dweibull": Distribution(lambda y, c: log(c) - LOG_2 + xlogy(c - 1.0, abs(y)) - abs(y) ** c,
                             lambda y, c: _sided(y, 0.5 * exp(-abs(y) ** c)),
                             lambda y, c: _sided(-y, 0.5 * exp(-abs(y) ** c))),
    "dgamma": Distribution(lambda y, a: xlogy(a - 1.0, abs(y)) - abs(y) - LOG_2 - gammaln(a),
                           lambda y, a: _sided(y, 0.5 * gammaincc(a, abs(y))),
                           lambda y, a: _sided(-y, 0.5 * gammaincc(a, abs(y)))),
    "gengamma": Distribution(lambda y, a, c: log(abs(c)) + xlogy(c * a - 1.0, y) - y ** c - gammaln(a),
                             lambda y, a, c: where(c > 0, gammainc(a, y ** c), gammaincc(a, y ** c)),
                             lambda y, a, c: where(c > 0, gammaincc(a, y ** c), gammainc(a, y ** c)), low=_zero,
                             valid=lambda a, c: (a > 0) & (c != 0)),
    "loggamma": Distribution(lambda y, c: c * y - exp(y) - gammaln(c), lambda y, c: gammainc(c, exp(y)),
                             lambda y, c: gammaincc(c, exp(y))),
    "nakagami": Distribution(lambda y, nu: LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2.0 * nu - 1.0, y) - nu * y * y,
                             lambda y, nu: gammainc(nu, nu * y * y), lambda y, nu: gammaincc(nu, nu * y * y),
                             low=_zero),
    "genextreme": Distribution(lambda y, c: _grown(1.0 - c, _extreme_exponent(y, c)) - exp(_extreme_exponent(y, c)),
                               lambda y, c: exp(-exp(_extreme_exponent(y, c))),
                               lambda y, c: -expm1(-exp(_extreme_exponent(y, c))),
                               log_cdf=lambda y, c: -exp(_extreme_exponent(y, c)),
                               low=lambda c: _end_of_extremes(c, -1.0), high=lambda c: _end_of_extremes(c, 1.0),
                               within=_zero, valid=_any_shape),
    "genpareto": Distribution(lambda y, c: -_grown(1.0 + c, _excess_exponent(y, c)),
                              lambda y, c: -expm1(-_excess_exponent(y, c)), lambda y, c: exp(-_excess_exponent(y, c)),
                              log_sf=lambda y, c: -_excess_exponent(y, c), low=_zero,
                              high=lambda c: _end_of_extremes(-c, 1.0), within=_zero, valid=_any_shape),
    "burr": Distribution(lambda y, c, d: _burr(log(_at_most(y)), c, d),
                         lambda y, c, d: exp(-d * log1p(y ** -c)), log_cdf=lambda y, c, d: -d * log1p(y ** -c),
                         low=_above_zero),
    "burr12": Distribution(lambda y, c, d: log(c) + log(d) + xlogy(c - 1.0, y) - (d + 1.0) * log1p(y ** c),
                           lambda y, c, d: -expm1(-d * log1p(y ** c)), lambda y, c, d: exp(-d * log1p(y ** c)),
                           log_sf=lambda y, c, d: -d * log1p(y ** c), low=_zero),
    "genlogistic": Distribution(lambda y, c: log(c) + log_expit(-y) + c * log_expit(y),
                                lambda y, c: exp(c * log_expit(y)), lambda y, c: -expm1(c * log_expit(y)),
                                log_cdf=lambda y, c: c * log_expit(y)),
    "gompertz": Distribution(lambda y, c: log(c) + y - c * expm1(y), lambda y, c: -expm1(-c * expm1(y)),
                             lambda y, c: exp(-c * expm1(y)), lambda q, c: log1p(-log1p(-q) / c),
                             lambda q, c: log1p(-log(q) / c), log_sf=lambda y, c: -c * expm1(y), low=_zero),
    "exponnorm": Distribution(lambda y, K: _normal_below(y, 1.0 / K) - log(K),
                              lambda y, K: ndtr(y) - exp(_normal_below(y, 1.0 / K)),
                              lambda y, K: ndtr(-y) + exp(_normal_below(y, 1.0 / K))),
    "foldnorm": Distribution(lambda y, c: logaddexp(_normal(y - c), _normal(y + c)),
                             lambda y, c: 0.5 * (erf((y - c) / math.sqrt(2.0)) + erf((y + c) / math.sqrt(2.0))),
                             lambda y, c: ndtr(c - y) + ndtr(-c - y), low=_zero, valid=lambda c: c >= 0),
    "rice": Distribution(lambda y, b: log(y) - 0.5 * (y - b) ** 2 + log(i0e(y * b)), low=_zero, valid=lambda b: b >= 0),
    "norminvgauss": Distribution(_normal_inverse_gauss, valid=lambda a, b: (a > 0) & (abs(b) < a)),
    "johnsonsu": Distribution(lambda y, a, b: log(b) - 0.5 * log1p(y * y) + _normal(a + b * arcsinh(y)),
                              lambda y, a, b: ndtr(a + b * arcsinh(y)), lambda y, a, b: ndtr(-a - b * arcsinh(y)),
                              lambda q, a, b: sinh((ndtri(q) - a) / b), lambda q, a, b: sinh((-ndtri(q) - a) / b),
                              valid=lambda a, b: b > 0),
    "johnsonsb": Distribution(lambda y, a, b: log(b) - log(y) - log1p(-y) + _normal(a + b * logit(y)),
                              lambda y, a, b: ndtr(a + b * logit(y)), lambda y, a, b: ndtr(-a - b * logit(y)),
                              lambda q, a, b: expit((ndtri(q) - a) / b), lambda q, a, b: expit((-ndtri(q) - a) / b),
                              low=_above_zero,
                              high=lambda a, b: 1.0 - math.ulp(0.5), valid=lambda a, b: (b > 0) & (a == a)),
    "hypsecant": Distribution(lambda y: -math.log(PI) + LOG_2 - logaddexp(y, -y), lambda y: 2.0 / PI * arctan(exp(y)),
                              lambda y: 2.0 / PI * arctan(exp(-y))),
    "laplace_asymmetric": Distribution(
        lambda y, kappa: where(y >= 0, -kappa, 1.0 / kappa) * y - log(kappa + 1.0 / kappa)),
    "skewcauchy": Distribution(
        lambda y, a: -math.log(PI) - log1p((y / (1.0 + where(y < 0, -a, where(y > 0, a, 0.0)))) ** 2),
        valid=lambda a: abs(a) < 1),
    "wrapcauchy": Distribution(lambda y, c: log1p(-c * c) - math.log(2.0 * PI) - log(1.0 + c * c - 2.0 * c * cos(y)),
                               low=_zero, high=lambda c: 2.0 * PI, valid=lambda c: (c > 0) & (c < 1)),
    "triang": Distribution(_triangle, _triangle_cdf, low=_zero, high=_one, valid=lambda c: (c >= 0) & (c <= 1)),
    "truncexpon": Distribution(lambda y, b: -y - log(-expm1(-b)), lambda y, b: expm1(-y) / expm1(-b),
                               ppf=lambda q, b: -log1p(q * expm1(-b)), low=_zero, high=lambda b: b, within=_zero),
    "bradford": Distribution(lambda y, c: log(c) - log1p(c * y) - log(log1p(c)), lambda y, c: log1p(c * y) / log1p(c),
                             ppf=lambda q, c: expm1(q * log1p(c)) / c, low=_zero, high=_one),
    "semicircular": Distribution(lambda y: math.log(2.0 / PI) + 0.5 * log1p(-y * y),
                                 lambda y: 0.5 + (y * sqrt(1.0 - y * y) + arcsin(y)) / PI, low=lambda: -1.0, high=_one),
    "cosine": Distribution(lambda y: log(0.5 * (1.0 + cos(y)) / PI), lambda y: 0.5 * (PI + y + sin(y)) / PI,
                           low=lambda: -PI, high=lambda: PI),
}
CONTINUOUS["erlang"] = CONTINUOUS["gamma"]
CONTINUOUS["reciprocal"] = CONTINUOUS["loguniform"]
