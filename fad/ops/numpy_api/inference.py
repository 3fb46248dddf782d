"""scipy.stats' tests: t-tests, analysis of variance, goodness of fit, normality, equal variances, p-values together.

Statistics are formulas in the sample; p-values follow by the distribution functions of scipy.special.

Formulas: SciPy's reference of scipy.stats; R. B. D'Agostino, A. Belanger, R. B. D'Agostino Jr., The American
Statistician 44 (1990) 316 (skewness and kurtosis); F. J. Anscombe, W. J. Glynn, Biometrika 70 (1983) 227 (kurtosis).
"""
import math
from typing import Any

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from ..override import BY_NAME, override
from ..precision import double
from .arguments import check_all, extent_of, live, one_axis, rank, ravel, refuse
from .moments import mean, var
from .outcomes import Found, TTestResult, of_t, pvalue
from .summaries import with_nans

exp, log, sqrt, where, absolute = (registry[name] for name in ("exp", "log", "sqrt", "where", "abs"))


def special(name: str, *xs: ArrayOrNumber) -> AnyArray:
    return BY_NAME[f"scipy.special.{name}"].call(*xs)


def sample(name: str, a: object, axis: Any, nan_policy: str = "propagate") -> "tuple[Any, int]":
    """A sample along one axis: flat for None."""
    x = with_nans(name, a, nan_policy)
    if isinstance(axis, tuple):
        raise refuse(f"scipy.stats.{name}", "several axes", do="reshape the sample")
    return (ravel(x), 0) if axis is None else (x, one_axis(axis, rank(x)))


def require_one_rank(*xs: AnyArray) -> None:
    """Samples of several ranks are refused: SciPy lines their other axes up from the last one."""
    if len({rank(x) for x in xs}) > 1:
        raise ValueError("Array shapes are incompatible for broadcasting.")


def total(x: AnyArray, ax: int) -> AnyArray:
    return registry["sum"](x, axes=(ax,))


def count(x: Any, ax: int) -> Any:
    return 1.0 * extent_of(x, (ax,))


def _normal_pvalue(z: AnyArray, alternative: str) -> AnyArray:
    return pvalue(BY_NAME["scipy.special.ndtr"].call, z, alternative)


# -- t-tests and analysis of variance --------------------------------------------------------------


@override("scipy.stats.ttest_1samp",
          samples=("stats.ttest_1samp(x, 0.4)[:2]", "stats.ttest_1samp(v, x[0, 0], None)[0]"))
def ttest_1samp(a: ArrayLike, popmean: ArrayLike, axis: Axes = 0, nan_policy: str = "propagate",
                alternative: str = "two-sided") -> TTestResult:
    x, ax = sample("ttest_1samp", a, axis, nan_policy)
    n = count(x, ax)
    expected = live(popmean)
    if rank(expected):
        expected = BY_NAME["numpy.squeeze"].call(expected, axis=ax)
    return of_t(mean(x, axis=ax), expected, sqrt(var(x, axis=ax, ddof=1) / n), n - 1.0, alternative)


@override("scipy.stats.ttest_rel", samples=("stats.ttest_rel(v, x[0])[:2]",))
def ttest_rel(a: ArrayLike, b: ArrayLike, axis: "int | None" = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided") -> TTestResult:
    (x, ax), (y, _) = (sample("ttest_rel", each, axis, nan_policy) for each in (a, b))
    return ttest_1samp(x - y, 0.0, ax, nan_policy, alternative)


@override("scipy.stats.ttest_ind",
          samples=("stats.ttest_ind(x, x[1:] ** 2)[:2]",),
          note="with equal_var=False the p-value only as far as its degrees of freedom are not differentiated")
def ttest_ind(a: ArrayLike, b: ArrayLike, axis: "int | None" = 0, equal_var: bool = True, nan_policy: str = "propagate",
              alternative: str = "two-sided") -> TTestResult:
    (x, ax), (y, _) = (sample("ttest_ind", each, axis, nan_policy) for each in (a, b))
    require_one_rank(x, y)
    m, n = count(x, ax), count(y, ax)
    vx, vy = var(x, axis=ax, ddof=1), var(y, axis=ax, ddof=1)
    if equal_var:
        df: Any = m + n - 2.0
        spread = ((m - 1.0) * vx + (n - 1.0) * vy) / df * (1.0 / m + 1.0 / n)
    else:
        ex, ey = vx / m, vy / n
        df, spread = (ex + ey) ** 2 / (ex * ex / (m - 1.0) + ey * ey / (n - 1.0)), ex + ey
    return of_t(mean(x, axis=ax) - mean(y, axis=ax), 0.0, sqrt(spread), df, alternative)


@override("scipy.stats.f_oneway",
          samples=("stats.f_oneway(v, x[0], x[1] ** 2)", "stats.f_oneway(x, x[1:] * 0.7, axis=0)"))
def f_oneway(*samples: ArrayLike, axis: "int | None" = 0, equal_var: bool = True,
             nan_policy: str = "propagate") -> Found:
    if not equal_var:
        raise refuse("scipy.stats.f_oneway", "equal_var=False")
    xs = [sample("f_oneway", each, axis, nan_policy)[0] for each in samples]
    ax = one_axis(0 if axis is None else axis, rank(xs[0]))
    whole = BY_NAME["numpy.concatenate"].call(xs, axis=ax)
    centre, n, k = mean(whole, axis=ax, keepdims=True), count(whole, ax), len(xs)
    groups = [(x, mean(x, axis=ax, keepdims=True)) for x in xs]
    between = sum(count(x, ax) * total((m - centre) ** 2, ax) for x, m in groups)
    within = sum(total((x - m) ** 2, ax) for x, m in groups)
    f = (between / (k - 1.0)) / (within / (n - k))
    return Found(f, special("fdtrc", k - 1.0, n - k, f))


# -- goodness of fit -------------------------------------------------------------------------------

POWERS = {None: 1.0, "pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5, "mod-log-likelihood": -1.0,
          "neyman": -2.0, "cressie-read": 2.0 / 3.0}


def _divergence(o: AnyArray, e: AnyArray, power: Any) -> AnyArray:
    """N. Cressie and T. R. C. Read, Journal of the Royal Statistical Society B 46 (1984) 440."""
    if power == 1:
        return (o - e) ** 2 / e
    if power == 0:
        return 2.0 * special("xlogy", o, o / e)
    if power == -1:
        return 2.0 * special("xlogy", e, e / o)
    return o * ((o / e) ** power - 1.0) / (0.5 * power * (power + 1.0))


@override("scipy.stats.power_divergence",
          samples=("stats.power_divergence(x, lambda_='cressie-read')", "stats.power_divergence(v, lambda_='neyman')"))
def power_divergence(f_obs: ArrayLike, f_exp: "ArrayLike | None" = None, ddof: object = 0, axis: "int | None" = 0,
                     lambda_: "str | None" = None) -> Found:
    o, ax = sample("power_divergence", f_obs, axis)
    e = mean(o, axis=ax, keepdims=True) if f_exp is None else live(f_exp)
    if f_exp is not None:
        totals = [total(double(part) + registry["zeros_like"](o), ax) for part in (o, e)]
        off = absolute(totals[0] - totals[1]) > 1.4901161193847656e-08 * absolute(totals[1])    # sqrt(eps)
        check_all(~off, "the sums of the observed and of the expected frequencies must agree")
    power = POWERS.get(lambda_, lambda_) if lambda_ is None or isinstance(lambda_, str) else lambda_
    statistic = total(_divergence(o, e, power), ax)
    return Found(statistic, special("chdtrc", count(o, ax) - 1.0 - ddof, statistic))


@override("scipy.stats.chisquare", samples=("stats.chisquare(x)", "stats.chisquare(v, v[::-1])[0]"))
def chisquare(f_obs: ArrayLike, f_exp: "ArrayLike | None" = None, ddof: object = 0, axis: "int | None" = 0, *,
              sum_check: bool = True) -> Found:
    if not sum_check:
        raise refuse("scipy.stats.chisquare", "sum_check=False", do="write sum((o - e) ** 2 / e)")
    return power_divergence(f_obs, f_exp, ddof, axis)


# -- normality -------------------------------------------------------------------------------------


def _of_enough(z: AnyArray, n: Extent, least: int) -> AnyArray:
    """z, or nan for a sample of too few values."""
    return where(n < least, math.nan, z) if not isinstance(n, float) else z if n >= least else z * math.nan


@override("scipy.stats.skewtest", samples=("stats.skewtest(np.concatenate([v, x[0] ** 2, x[1]]))",))
def skewtest(a: ArrayLike, axis: "int | None" = 0, nan_policy: str = "propagate",
             alternative: str = "two-sided") -> Found:
    x, ax = sample("skewtest", a, axis, nan_policy)
    n = count(x, ax)
    y = BY_NAME["scipy.stats.skew"].call(x, axis=ax) * sqrt((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0)))
    beta = 3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / (
        (n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0))
    w = -1.0 + sqrt(2.0 * (beta - 1.0))
    z = _of_enough(registry["arcsinh"](y / sqrt(2.0 / (w - 1.0))) / sqrt(0.5 * log(w)), n, 8)
    return Found(z, _normal_pvalue(z, alternative))


@override("scipy.stats.kurtosistest", samples=("stats.kurtosistest(np.concatenate([v, x[0] ** 2, x[1], x[2]]))[0]",))
def kurtosistest(a: ArrayLike, axis: "int | None" = 0, nan_policy: str = "propagate",
                 alternative: str = "two-sided") -> Found:
    x, ax = sample("kurtosistest", a, axis, nan_policy)
    n = count(x, ax)
    b2 = BY_NAME["scipy.stats.kurtosis"].call(x, axis=ax, fisher=False)
    spread = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0) ** 2 * (n + 3.0) * (n + 5.0))
    y = (b2 - 3.0 * (n - 1.0) / (n + 1.0)) / sqrt(spread)
    root = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0)) * sqrt(
        6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0)))
    a_ = 6.0 + 8.0 / root * (2.0 / root + sqrt(1.0 + 4.0 / (root * root)))
    below = 1.0 + y * sqrt(2.0 / (a_ - 4.0))
    term = registry["cbrt"]((1.0 - 2.0 / a_) / absolute(below)) * registry["sign"](below)
    z = (1.0 - 2.0 / (9.0 * a_) - term) / sqrt(2.0 / (9.0 * a_))
    z = _of_enough(where(below == 0, math.nan, z), n, 5)
    return Found(z, _normal_pvalue(z, alternative))


@override("scipy.stats.normaltest", samples=("stats.normaltest(np.concatenate([v, x[0] ** 2, x[1], x[2]]))",))
def normaltest(a: ArrayLike, axis: "int | None" = 0, nan_policy: str = "propagate") -> Found:
    statistic = skewtest(a, axis, nan_policy)[0] ** 2 + kurtosistest(a, axis, nan_policy)[0] ** 2
    return Found(statistic, special("chdtrc", 2.0, statistic))


@override("scipy.stats.jarque_bera", samples=("stats.jarque_bera(x)", "stats.jarque_bera(x, axis=1)[0]"))
def jarque_bera(x: ArrayLike, *, axis: Axes = None, nan_policy: str = "propagate", keepdims: bool = False) -> Found:
    if keepdims:
        raise refuse("scipy.stats.jarque_bera", "keepdims")
    x, ax = sample("jarque_bera", x, axis, nan_policy)
    s, k = (BY_NAME[f"scipy.stats.{name}"].call(x, axis=ax) for name in ("skew", "kurtosis"))
    statistic = count(x, ax) / 6.0 * (s * s + 0.25 * k * k)
    return Found(statistic, special("chdtrc", 2.0, statistic))


# -- equal variances -------------------------------------------------------------------------------


@override("scipy.stats.bartlett", samples=("stats.bartlett(v, x[0], x[1] ** 2)",))
def bartlett(*samples: ArrayLike, axis: "int | None" = 0, nan_policy: str = "propagate") -> Found:
    xs = [sample("bartlett", each, axis, nan_policy) for each in samples]
    require_one_rank(*[x for x, _ in xs])
    ns, vs = [count(x, ax) for x, ax in xs], [var(x, axis=ax, ddof=1) for x, ax in xs]
    k, n = len(xs), sum(ns)
    pooled = sum((m - 1.0) * v for m, v in zip(ns, vs)) / (n - k)
    top = (n - k) * log(pooled) - sum((m - 1.0) * log(v) for m, v in zip(ns, vs))
    statistic = top / (1.0 + (sum(1.0 / (m - 1.0) for m in ns) - 1.0 / (n - k)) / (3.0 * (k - 1)))
    return Found(statistic, special("chdtrc", k - 1.0, statistic))


@override("scipy.stats.levene", samples=("stats.levene(v, x[0], x[1] ** 2)", "stats.levene(v, x[0], center='mean')"))
def levene(*samples: ArrayLike, center: str = "median", axis: "int | None" = 0, nan_policy: str = "propagate") -> Found:
    if center not in ("median", "mean"):
        raise refuse("scipy.stats.levene", f"center={center!r}")
    middle = BY_NAME[f"numpy.{center}"].call
    xs = [sample("levene", each, axis, nan_policy) for each in samples]
    return f_oneway(*[absolute(x - middle(x, axis=ax, keepdims=True)) for x, ax in xs], axis=xs[0][1])


# -- p-values together -----------------------------------------------------------------------------


@override("scipy.stats.combine_pvalues",
          samples=("stats.combine_pvalues(v)", "stats.combine_pvalues(v, 'stouffer', v[::-1])",
                   "stats.combine_pvalues(v, 'pearson')[0]"))
def combine_pvalues(pvalues: ArrayLike, method: str = "fisher", weights: "ArrayLike | None" = None, *,
                    axis: "int | None" = 0) -> Found:
    p, ax = sample("combine_pvalues", pvalues, axis)
    if weights is not None and (method != "stouffer" or rank(live(weights)) != rank(p)):
        raise refuse("scipy.stats.combine_pvalues", "these weights")
    n = count(p, ax)
    if method == "fisher":
        statistic = -2.0 * total(log(p), ax)
        return Found(statistic, special("chdtrc", 2.0 * n, statistic))
    if method == "pearson":
        statistic = 2.0 * total(registry["log1p"](-p), ax)
        return Found(statistic, special("chdtr", 2.0 * n, -statistic))
    if method == "stouffer":
        w = registry["zeros_like"](p) + 1.0 if weights is None else live(weights)
        z = total(-w * special("ndtri", p), ax) / sqrt(total(w * w, ax))
        return Found(z, special("ndtr", -z))
    raise refuse("scipy.stats.combine_pvalues", f"method={method!r}")


__all__ = ["count", "sample", "special", "total"]
