"""scipy.stats' multivariate t, Wishart, inverse Wishart and matrix normal distributions, Dirichlet's moments, counts
with Dirichlet proportions, and directions around a mean.

Formulas: SciPy's reference of scipy.stats; K. V. Mardia, P. E. Jupp, Directional Statistics (2000), chapter 9.
"""
import math
from collections.abc import Callable
from typing import Any

from ....ir.op import registry
from ....util.array import AnyArray, ArrayOrNumber
from ....util.errors import UnsupportedFunctionError
from ...kinds import shape_of
from ...linalg.factorizations import solve_lower
from ...linalg.matrices import diagonal, transposed
from ...override import BY_NAME, METHODS, override
from ...special.bessel import ive
from ...special.gamma import digamma, gammaln
from ...transcendental import exp, log
from .. import linalg
from ..arguments import check_all, live, rank
from ..stacks import floating
from .multivariate import MODULE, over_last, points, scaled, total


def log_det(factor: AnyArray) -> AnyArray:
    return 2.0 * over_last(log(diagonal(factor)))


def _multigammaln(a: AnyArray, n: int) -> AnyArray:
    return BY_NAME["scipy.special.multigammaln"].call(a, n)


def _matrix_points(x: AnyArray) -> AnyArray:
    """One matrix (or number); SciPy's stacks lie along the last axis, and are refused."""
    x = floating(x)
    if rank(x) > 2:
        raise UnsupportedFunctionError("the density of several matrices at once is not supported on traced arrays",
                                       why="SciPy takes them along the last axis", do="call it for each matrix")
    return x if rank(x) == 2 else registry["reshape"](x, 1, 1)


# -- multivariate t --------------------------------------------------------------------------------


def t_logpdf(dist: object, x: AnyArray, loc: "AnyArray | None" = None, shape: ArrayOrNumber = 1,
             df: ArrayOrNumber = 1) -> AnyArray:
    d, nu = points(x, loc, shape), live(df)
    z, log_det = scaled(d, shape)
    n = 1.0 * shape_of(d)[-1]
    half = 0.5 * (nu + n)
    return (gammaln(half) - gammaln(0.5 * nu) - 0.5 * n * log(nu * math.pi) - 0.5 * log_det
            - half * registry["log1p"](over_last(z * z) / nu))


# -- Wishart ---------------------------------------------------------------------------------------


def _factors(x: AnyArray, scale: AnyArray) -> tuple:
    return tuple([linalg.lower_cholesky(_matrix_points(m), False) for m in (x, scale)])


def wishart_logpdf(dist: object, x: AnyArray, df: AnyArray, scale: AnyArray) -> AnyArray:
    lx, ls = _factors(x, scale)
    n, nu = shape_of(lx)[-1], live(df)
    z = solve_lower(ls, lx)
    return (0.5 * (nu - n - 1.0) * log_det(lx) - 0.5 * METHODS["sum"](z * z)
            - (0.5 * nu * n * math.log(2.0) + 0.5 * nu * log_det(ls) + _multigammaln(0.5 * nu, n)))


def inverse_wishart_logpdf(dist: object, x: AnyArray, df: AnyArray, scale: AnyArray) -> AnyArray:
    lx, ls = _factors(x, scale)
    n, nu = shape_of(lx)[-1], live(df)
    z = solve_lower(lx, ls)
    return (0.5 * nu * log_det(ls) - 0.5 * METHODS["sum"](z * z) - 0.5 * (nu + n + 1.0) * log_det(lx)
            - 0.5 * nu * n * math.log(2.0) - _multigammaln(0.5 * nu, n))


# -- matrix normal ---------------------------------------------------------------------------------


def matrix_normal_logpdf(dist: object, X: AnyArray, mean: "AnyArray | None" = None, rowcov: ArrayOrNumber = 1,
                         colcov: ArrayOrNumber = 1) -> AnyArray:
    x = _matrix_points(X)
    d = x if mean is None else x - live(mean)
    m, n = shape_of(d)
    by_rows, row_det = _whitened(d, rowcov)
    z, column_det = _whitened(transposed(by_rows), colcov)
    return -0.5 * (m * n * math.log(2.0 * math.pi) + n * row_det + m * column_det + METHODS["sum"](z * z))


def _whitened(d: AnyArray, cov: ArrayOrNumber) -> tuple:
    """The rows of d in units of the covariance's root, and the logarithm of its determinant."""
    cov, n = live(cov), shape_of(d)[0]
    if rank(cov) < 2:
        cov = BY_NAME["numpy.diag"].call(registry["broadcast_to"](cov, n))
    factor = linalg.lower_cholesky(cov, False)
    return solve_lower(factor, d), log_det(factor)


# -- Dirichlet's moments, and counts with its proportions ------------------------------------------


def _concentrations(alpha: AnyArray) -> AnyArray:
    alpha = live(alpha)
    check_all(alpha > 0, "All parameters must be greater than 0")
    return alpha


def dirichlet_mean(dist: object, alpha: AnyArray) -> AnyArray:
    alpha = _concentrations(alpha)
    return alpha / total(alpha, 0)


def dirichlet_var(dist: object, alpha: AnyArray) -> AnyArray:
    alpha = _concentrations(alpha)
    whole = total(alpha, 0)
    return alpha * (whole - alpha) / (whole * whole * (whole + 1.0))


def dirichlet_cov(dist: object, alpha: AnyArray) -> AnyArray:
    alpha = _concentrations(alpha)
    whole, share = total(alpha, 0), alpha / total(alpha, 0)
    return (BY_NAME["numpy.diag"].call(share) - BY_NAME["numpy.outer"].call(share, share)) / (whole + 1.0)


def dirichlet_entropy(dist: object, alpha: AnyArray) -> AnyArray:
    alpha = _concentrations(alpha)
    whole, n = total(alpha, 0), shape_of(alpha)[0]
    return (total(gammaln(alpha), 0) - gammaln(whole) + (whole - n) * digamma(whole)
            - total((alpha - 1.0) * digamma(alpha), 0))


def dirichlet_multinomial_logpmf(dist: object, x: Any, alpha: Any, n: Any) -> AnyArray:
    x, alpha, n = live(x), _concentrations(alpha), live(n)
    whole = over_last(alpha)
    value = (gammaln(whole) + gammaln(n + 1.0) - gammaln(n + whole)
             + over_last(gammaln(x + alpha) - gammaln(alpha) - gammaln(x + 1.0)))
    return registry["where"](over_last(x) == n, value, -math.inf)


# -- directions ------------------------------------------------------------------------------------


def directions_logpdf(dist: object, x: list, mu: Any = None, kappa: ArrayOrNumber = 1) -> AnyArray:
    """kappa x.mu - log of the norming constant, (2 pi)^(n/2) I(n/2 - 1, kappa) / kappa^(n/2 - 1)."""
    x, mu, kappa = live(x), live(mu), live(kappa)
    half = 0.5 * shape_of(mu)[-1]
    norm = half * math.log(2.0 * math.pi) + log(ive(half - 1.0, kappa)) + kappa - (half - 1.0) * log(kappa)
    return kappa * over_last(x * mu) - norm


def _with_exponential(methods: dict) -> dict:
    """A distribution's methods, and the density or probability beside its logarithm."""
    for name, call in list(methods.items()):
        if name.startswith("log"):
            methods[name[3:]] = lambda dist, *args, _call=call, **kwds: exp(_call(dist, *args, **kwds))
    return methods


METHODS_OF: dict[str, dict[str, Callable]] = {
    "multivariate_t": _with_exponential({"logpdf": t_logpdf}),
    "wishart": _with_exponential({"logpdf": wishart_logpdf}),
    "invwishart": _with_exponential({"logpdf": inverse_wishart_logpdf}),
    "matrix_normal": _with_exponential({"logpdf": matrix_normal_logpdf}),
    "dirichlet_multinomial": _with_exponential({"logpmf": dirichlet_multinomial_logpmf}),
    "vonmises_fisher": _with_exponential({"logpdf": directions_logpdf}),
    "dirichlet": {"mean": dirichlet_mean, "var": dirichlet_var, "cov": dirichlet_cov, "entropy": dirichlet_entropy}}
SAMPLES = {
    "multivariate_t.logpdf": ("stats.multivariate_t.logpdf(x, v, P, df=3 + v[0])",),
    "wishart.logpdf": ("stats.wishart.logpdf(P, 5 + v[0], S @ S.T)",),
    "invwishart.logpdf": ("stats.invwishart.logpdf(P, 5 + v[0], S @ S.T)",),
    "matrix_normal.logpdf": ("stats.matrix_normal.logpdf(x, 0.5 * x, P[:3, :3], P)",),
    "dirichlet_multinomial.logpmf": ("stats.dirichlet_multinomial.logpmf([1, 2, 0, 1], v, 4)",),
    "vonmises_fisher.logpdf": ("stats.vonmises_fisher.logpdf([0.6, 0.8, 0.0, 0.0], v / np.linalg.norm(v), x[0, 0])",),
    "dirichlet.mean": ("stats.dirichlet.mean(v)",), "dirichlet.var": ("stats.dirichlet.var(v)",),
    "dirichlet.cov": ("stats.dirichlet.cov(v)",), "dirichlet.entropy": ("stats.dirichlet.entropy(1 + v)",)}

for _name, _methods in METHODS_OF.items():
    for _method, _call in _methods.items():
        override(f"{MODULE}.{_name}_gen.{_method}", samples=SAMPLES.get(f"{_name}.{_method}", ()),
                 precision="" if _name == "dirichlet" else "double")(_call)
