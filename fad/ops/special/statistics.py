"""Distribution functions and their inverses: the derivative is a density, that of an inverse the reciprocal of one.

Formulas: Abramowitz & Stegun, chapter 26; SciPy's documentation for the order of arguments. What SciPy rounds to an
integer is constant.
"""
from typing import Any

from ...ir.op import Op
from ..arithmetic import floor
from ..choice import where
from ..kinds import NoRule
from ..transcendental import exp, log1p, sqrt
from .base import PI, POSITIVE, NoFormula, special
from .bessel import ive
from .gamma import UNIT, beta_density, gamma_density, gammaln
from .information import xlogy

SHAPE = NoFormula("the derivative of a distribution function with respect to this parameter has no closed form")
INTEGER = NoFormula("it is an integer")
SERIES = "its derivative is known as a series only"

# -- Student's t, chi-square, F, gamma -------------------------------------------------------------


def t_density(v: Any, t: Any) -> Any:
    """Of Student's distribution of v degrees of freedom."""
    return exp(gammaln(0.5 * (v + 1.0)) - gammaln(0.5 * v) - 0.5 * (v + 1.0) * log1p(t * t / v)) / sqrt(PI * v)


def chi_density(v: Any, x: Any) -> Any:
    """Of the chi-square distribution of v degrees of freedom."""
    return 0.5 * gamma_density(0.5 * v, 0.5 * x)


def f_density(m: Any, n: Any, x: Any) -> Any:
    """Of the F distribution of m and n degrees of freedom."""
    total = n + m * x
    return beta_density(0.5 * m, 0.5 * n, m * x / total) * m * n / (total * total)


def noncentral_chi_density(x: Any, v: Any, c: Any) -> Any:
    """Of the noncentral chi-square distribution of noncentrality c > 0."""
    gap = sqrt(x) - sqrt(c)
    return 0.5 * exp(-0.5 * gap * gap) * (x / c) ** (0.25 * v - 0.5) * ive(0.5 * v - 1.0, sqrt(c * x))


FREEDOM = (3.5, POSITIVE)
stdtr = special("stdtr", SHAPE, lambda y, v, t: t_density(v, t), domain=(3.5, (-2.0, 2.0)))
stdtrit = special("stdtrit", SHAPE, lambda y, v, p: 1.0 / t_density(v, y), domain=(3.5, UNIT))
stdtridf = special("stdtridf", None, None, derivative=NoRule(SERIES))
chdtr = special("chdtr", SHAPE, lambda y, v, x: chi_density(v, x), domain=FREEDOM)
chdtrc = special("chdtrc", SHAPE, lambda y, v, x: -chi_density(v, x), domain=FREEDOM)
chdtri = special("chdtri", SHAPE, lambda y, v, p: -1.0 / chi_density(v, y), domain=(3.5, UNIT))
chdtriv = special("chdtriv", None, None, derivative=NoRule(SERIES))
chndtr: Op = special("chndtr", lambda y, x, v, c: noncentral_chi_density(x, v, c), SHAPE,
                     lambda y, x, v, c: 0.5 * (chndtr(x, v + 2.0, c) - y), domain=(POSITIVE, 3.5, POSITIVE))
chndtrix = special("chndtrix", lambda y, p, v, c: 1.0 / noncentral_chi_density(y, v, c), SHAPE,
                   lambda y, p, v, c: 0.5 * (p - chndtr(y, v + 2.0, c)) / noncentral_chi_density(y, v, c),
                   domain=(UNIT, 3.5, POSITIVE))
fdtr = special("fdtr", SHAPE, SHAPE, lambda y, m, n, x: f_density(m, n, x), domain=(3.5, 5.5, POSITIVE))
fdtrc = special("fdtrc", SHAPE, SHAPE, lambda y, m, n, x: -f_density(m, n, x), domain=(3.5, 5.5, POSITIVE))
fdtri = special("fdtri", SHAPE, SHAPE, lambda y, m, n, p: 1.0 / f_density(m, n, y), domain=(3.5, 5.5, UNIT))
gdtr = special("gdtr", lambda y, a, b, x: x * gamma_density(b, a * x), SHAPE,
               lambda y, a, b, x: a * gamma_density(b, a * x), domain=(POSITIVE, 1.5, POSITIVE))
gdtrc = special("gdtrc", lambda y, a, b, x: -x * gamma_density(b, a * x), SHAPE,
                lambda y, a, b, x: -a * gamma_density(b, a * x), domain=(POSITIVE, 1.5, POSITIVE))
gdtrix = special("gdtrix", lambda y, a, b, p: -y / a, SHAPE, lambda y, a, b, p: 1.0 / (a * gamma_density(b, a * y)),
                 domain=(POSITIVE, 1.5, UNIT))
gdtria = special("gdtria", lambda y, p, b, x: 1.0 / (x * gamma_density(b, y * x)), SHAPE, lambda y, p, b, x: -y / x,
                 domain=(UNIT, 1.5, POSITIVE))

# -- counts: bdtr(k, n, p) = 1 - I_p(k+1, n-k), nbdtr(k, n, p) = I_p(n, k+1), pdtr(k, m) = 1 - P(k+1, m)


def _binomial(k: Any, n: Any, p: Any) -> Any:
    k = floor(k)
    return beta_density(k + 1.0, n - k, p)


def _poisson(k: Any, m: Any) -> Any:
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


def _tukey_slope(y: Any, x: Any, lam: Any) -> Any:
    """1 / (p^(l-1) + (1-p)^(l-1)), the reciprocal of the quantile function's slope; zero outside the support."""
    outside = (y <= 0) | (y >= 1)
    p = where(outside, 0.5, y)
    return where(outside, 0.0, 1.0 / (p ** (lam - 1.0) + (1.0 - p) ** (lam - 1.0)))


tklmbda = special("tklmbda", _tukey_slope, SHAPE, domain=((-0.8, 0.8), 0.7))

# -- no rule ---------------------------------------------------------------------------------------

for _name in ["bdtrik", "bdtrin", "btdtria", "btdtrib", "chndtridf", "chndtrinc", "fdtridfd", "gdtrib", "nbdtrik",
              "nbdtrin", "ncfdtr", "ncfdtri", "ncfdtridfd", "ncfdtridfn", "ncfdtrinc", "nctdtr", "nctdtridf",
              "nctdtrinc", "nctdtrit", "pdtrik", "kolmogi", "kolmogorov", "smirnov", "smirnovi"]:
    _arity = {"pdtrik": 2, "kolmogi": 1, "kolmogorov": 1, "smirnov": 2, "smirnovi": 2, "ncfdtr": 4, "ncfdtri": 4,
              "ncfdtridfd": 4, "ncfdtridfn": 4, "ncfdtrinc": 4}.get(_name, 3)
    special(_name, *[None] * _arity, derivative=NoRule(SERIES))
