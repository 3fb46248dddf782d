"""Distribution functions and their inverses: the derivative is a density, that of an inverse the reciprocal of one.

Formulas: Abramowitz & Stegun, chapter 26; SciPy's documentation for the order of arguments. Parameters that SciPy
rounds to an integer are constants.
"""
import math
from typing import Any

from ...ir.op import Op
from ...util.array import AnyArray, ArrayOrNumber, Extent
from ..arithmetic import floor
from ..choice import where
from ..kinds import NoRule
from ..transcendental import exp, log, log1p, sqrt
from .base import PI, POSITIVE, NoFormula, special
from .bessel import ive
from .gamma import betaln, gammaln
from .incomplete import (
    UNIT,
    beta_density,
    beta_shapes,
    betainc_da,
    betainc_db,
    gamma_density,
    gammainc_da,
    negative,
    of_inverse,
)
from .information import xlogy

SHAPE = NoFormula("the derivative of this distribution function with respect to this parameter has no closed form")
INTEGER = NoFormula("it is an integer")
SERIES = "its derivative is known as a series only"

# -- Student's t, chi-square, F, gamma -------------------------------------------------------------


def _half_step(z: ArrayOrNumber) -> AnyArray:
    """log(gamma(z + 1/2) / (gamma(z) sqrt(z))), for large z by its series: the logarithms would cancel."""
    large = z > 20.0
    far, near = where(large, z, 20.0), where(large, 20.0, z)
    u = 1.0 / (far * far)
    series = (-1.0 / 8.0 + u * (1.0 / 192.0 - u * (1.0 / 640.0 - u * (17.0 / 14336.0 - u * 31.0 / 18432.0)))) / far
    return where(large, series, gammaln(near + 0.5) - gammaln(near) - 0.5 * log(near))


def t_density(v: ArrayOrNumber, t: ArrayOrNumber) -> AnyArray:
    """Of Student's distribution of v degrees of freedom."""
    return exp(_half_step(0.5 * v) - 0.5 * (v + 1.0) * log1p(t * t / v)) / sqrt(2.0 * PI)


def _with_digits(v: ArrayOrNumber, slope: AnyArray) -> AnyArray:
    """The derivative with respect to v degrees of freedom, a difference that has v times fewer digits than its terms;
    nan, and so are its derivatives, where few remain."""
    return slope * where(v <= 1e6, 1.0, math.nan)


def t_freedom(v: AnyArray, t: ArrayOrNumber) -> AnyArray:
    """The derivative of stdtr = I_x(v/2, 1/2) / 2 for t < 0, x = v / (v + t^2), with respect to v."""
    t = t + where(t == 0, 1e-18, 0.0)                        # a root of 1 - x, whose derivative is infinite at zero
    total = v + t * t
    slope = 0.25 * beta_shapes(0.5 * v, 0.5, v / total, t * t / total)[0]
    return _with_digits(v, where(t < 0, slope, -slope) - 0.5 * t * t_density(v, t) / v)


def chi_density(v: ArrayOrNumber, x: AnyArray) -> AnyArray:
    """Of the chi-square distribution of v degrees of freedom."""
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


def chi_freedom(v: AnyArray, x: Any) -> AnyArray:
    """The derivative of chdtr with respect to v."""
    return 0.5 * gammainc_da(0.5 * v, 0.5 * x)


def f_density(m: ArrayOrNumber, n: ArrayOrNumber, x: ArrayOrNumber) -> AnyArray:
    """Of the F distribution of m and n degrees of freedom."""
    total, a, b = n + m * x, 0.5 * m, 0.5 * n
    return exp(xlogy(a - 1.0, m * x / total) + xlogy(b - 1.0, n / total) - betaln(a, b)) * m * n / (total * total)


def _f_shapes(m: ArrayOrNumber, n: ArrayOrNumber, x: ArrayOrNumber) -> tuple:
    total = n + m * x
    return beta_shapes(0.5 * m, 0.5 * n, m * x / total, n / total)


def f_over(m: Extent, n: ArrayOrNumber, x: ArrayOrNumber) -> AnyArray:
    """The derivative of fdtr = I_z(m/2, n/2), z = m x / (n + m x), with respect to m."""
    return _with_digits(m, 0.5 * _f_shapes(m, n, x)[0] + f_density(m, n, x) * x / m)


def f_under(m: ArrayOrNumber, n: Extent, x: ArrayOrNumber) -> AnyArray:
    """The derivative of fdtr with respect to n."""
    return _with_digits(n, 0.5 * _f_shapes(m, n, x)[1] - f_density(m, n, x) * x / n)


def noncentral_chi_density(x: Any, v: Any, c: Any) -> AnyArray:
    """Of the noncentral chi-square distribution of noncentrality c > 0."""
    gap = sqrt(x) - sqrt(c)
    return 0.5 * exp(-0.5 * gap * gap) * (x / c) ** (0.25 * v - 0.5) * ive(0.5 * v - 1.0, sqrt(c * x))


FREEDOM = ((2.5, 4.5), POSITIVE)
RATIO = ((2.5, 4.5), (4.5, 6.5), POSITIVE)
SHAPED = (POSITIVE, (1.0, 2.0), POSITIVE)
stdtr = special("stdtr", lambda y, v, t: t_freedom(v, t), lambda y, v, t: t_density(v, t),
                domain=((2.5, 4.5), (-2.0, 2.0)))
stdtrit = special("stdtrit", of_inverse(t_density, t_freedom), lambda y, v, p: 1.0 / t_density(v, y),
                  domain=((2.5, 4.5), UNIT))
stdtridf = special("stdtridf", lambda v, p, t: 1.0 / t_freedom(v, t),
                   lambda v, p, t: -t_density(v, t) / t_freedom(v, t), domain=((0.16, 0.2), (-1.15, -1.05)))
chdtr = special("chdtr", lambda y, v, x: chi_freedom(v, x), lambda y, v, x: chi_density(v, x), domain=FREEDOM)
chdtrc = special("chdtrc", negative(chi_freedom), negative(chi_density), domain=FREEDOM)
chdtri = special("chdtri", of_inverse(chi_density, chi_freedom), lambda y, v, p: -1.0 / chi_density(v, y),
                 domain=((2.5, 4.5), UNIT))
chdtriv = special("chdtriv", lambda v, p, x: 1.0 / chi_freedom(v, x),
                  lambda v, p, x: -chi_density(v, x) / chi_freedom(v, x), domain=(UNIT, POSITIVE))
chndtr: Op = special("chndtr", lambda y, x, v, c: noncentral_chi_density(x, v, c), SHAPE,
                     lambda y, x, v, c: 0.5 * (chndtr(x, v + 2.0, c) - y), domain=(POSITIVE, 3.5, POSITIVE))
chndtrix = special("chndtrix", lambda y, p, v, c: 1.0 / noncentral_chi_density(y, v, c), SHAPE,
                   lambda y, p, v, c: 0.5 * (p - chndtr(y, v + 2.0, c)) / noncentral_chi_density(y, v, c),
                   domain=(UNIT, 3.5, POSITIVE))
fdtr = special("fdtr", lambda y, m, n, x: f_over(m, n, x), lambda y, m, n, x: f_under(m, n, x),
               lambda y, m, n, x: f_density(m, n, x), domain=RATIO)
fdtrc = special("fdtrc", negative(f_over), negative(f_under), negative(f_density), domain=RATIO)
fdtri = special("fdtri", of_inverse(f_density, f_over), of_inverse(f_density, f_under),
                lambda y, m, n, p: 1.0 / f_density(m, n, y), domain=(*RATIO[:2], UNIT))
gdtr = special("gdtr", lambda y, a, b, x: x * gamma_density(b, a * x), lambda y, a, b, x: gammainc_da(b, a * x),
               lambda y, a, b, x: a * gamma_density(b, a * x), domain=SHAPED)
gdtrc = special("gdtrc", lambda y, a, b, x: -x * gamma_density(b, a * x), lambda y, a, b, x: -gammainc_da(b, a * x),
                lambda y, a, b, x: -a * gamma_density(b, a * x), domain=SHAPED)
gdtrix = special("gdtrix", lambda y, a, b, p: -y / a,
                 lambda y, a, b, p: -gammainc_da(b, a * y) / (a * gamma_density(b, a * y)),
                 lambda y, a, b, p: 1.0 / (a * gamma_density(b, a * y)), domain=(*SHAPED[:2], UNIT))
gdtria = special("gdtria", lambda y, p, b, x: 1.0 / (x * gamma_density(b, y * x)),
                 lambda y, p, b, x: -gammainc_da(b, y * x) / (x * gamma_density(b, y * x)),
                 lambda y, p, b, x: -y / x, domain=(UNIT, *SHAPED[1:]))
gdtrib = special("gdtrib", lambda b, a, p, x: -x * gamma_density(b, a * x) / gammainc_da(b, a * x),
                 lambda b, a, p, x: 1.0 / gammainc_da(b, a * x),
                 lambda b, a, p, x: -a * gamma_density(b, a * x) / gammainc_da(b, a * x),
                 domain=(POSITIVE, UNIT, POSITIVE))
btdtria = special("btdtria", lambda a, p, b, x: 1.0 / betainc_da(a, b, x),
                  lambda a, p, b, x: -betainc_db(a, b, x) / betainc_da(a, b, x),
                  lambda a, p, b, x: -beta_density(a, b, x) / betainc_da(a, b, x), domain=(UNIT, POSITIVE, UNIT))
btdtrib = special("btdtrib", lambda b, a, p, x: -betainc_da(a, b, x) / betainc_db(a, b, x),
                  lambda b, a, p, x: 1.0 / betainc_db(a, b, x),
                  lambda b, a, p, x: -beta_density(a, b, x) / betainc_db(a, b, x), domain=(POSITIVE, UNIT, UNIT))

# -- counts: bdtr(k, n, p) = 1 - I_p(k+1, n-k), nbdtr(k, n, p) = I_p(n, k+1), pdtr(k, m) = 1 - P(k+1, m)


def _binomial(k: Any, n: Any, p: AnyArray) -> AnyArray:
    k = floor(k)
    return beta_density(k + 1.0, n - k, p)


def _poisson(k: Any, m: AnyArray) -> AnyArray:
    k = floor(k)
    return exp(xlogy(k, m) - m - gammaln(k + 1.0))


COUNTS = (2, 5, UNIT)
bdtr = special("bdtr", None, INTEGER, lambda y, k, n, p: -_binomial(k, n, p), domain=COUNTS)
bdtrc = special("bdtrc", None, INTEGER, lambda y, k, n, p: _binomial(k, n, p), domain=COUNTS)
bdtri = special("bdtri", None, INTEGER, lambda y, k, n, q: -1.0 / _binomial(k, n, y), domain=COUNTS)
nbdtr = special("nbdtr", INTEGER, INTEGER, lambda y, k, n, p: beta_density(n, k + 1.0, p), domain=COUNTS)
nbdtrc = special("nbdtrc", INTEGER, INTEGER, lambda y, k, n, p: -beta_density(n, k + 1.0, p), domain=COUNTS)
nbdtri = special("nbdtri", INTEGER, INTEGER, lambda y, k, n, q: 1.0 / beta_density(n, k + 1.0, y), domain=COUNTS)
pdtr = special("pdtr", None, lambda y, k, m: -_poisson(k, m), domain=(2, POSITIVE))
pdtrc = special("pdtrc", None, lambda y, k, m: _poisson(k, m), domain=(2, POSITIVE))
pdtri = special("pdtri", INTEGER, lambda y, k, q: -1.0 / _poisson(k, y), domain=(2, UNIT))


def _tukey_slope(y: Any, x: object, lam: Any) -> Any:
    """1 / (p^(l-1) + (1-p)^(l-1)), the reciprocal of the quantile function's slope; zero outside the support."""
    outside = (y <= 0) | (y >= 1)
    p = where(outside, 0.5, y)
    return where(outside, 0.0, 1.0 / (p ** (lam - 1.0) + (1.0 - p) ** (lam - 1.0)))


tklmbda = special("tklmbda", _tukey_slope, SHAPE, domain=((-0.8, 0.8), 0.7))

# -- no rule ---------------------------------------------------------------------------------------

for _name in ["bdtrik", "bdtrin", "chndtridf", "chndtrinc", "fdtridfd", "nbdtrik", "nbdtrin", "ncfdtr", "ncfdtri",
              "ncfdtridfd", "ncfdtridfn", "ncfdtrinc", "nctdtr", "nctdtridf", "nctdtrinc", "nctdtrit", "pdtrik",
              "kolmogi", "kolmogorov", "smirnov", "smirnovi"]:
    _arity = {"pdtrik": 2, "kolmogi": 1, "kolmogorov": 1, "smirnov": 2, "smirnovi": 2, "ncfdtr": 4, "ncfdtri": 4,
              "ncfdtridfd": 4, "ncfdtridfn": 4, "ncfdtrinc": 4}.get(_name, 3)
    special(_name, *[None] * _arity, derivative=NoRule(SERIES))
