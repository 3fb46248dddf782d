"""scipy.stats' summaries: means, moments, scores, entropy, robust measures, transformations, circular statistics."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import FLOAT, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike, Extent
from .. import extents
from ..kinds import shape_of
from ..override import BY_NAME, METHODS, override
from .arguments import as_array, axes_of, extent_of, in_dtype, is_given, live, one_axis, rank, ravel, refuse
from .moments import mean, std, var
from .reduce import reduced, sum_

exp, log, sqrt, absolute, where = (registry[name] for name in ("exp", "log", "sqrt", "abs", "where"))


def with_nans(name: str, a: object, nan_policy: str) -> Any:
    """A sample of a function of scipy.stats, in which nans are as good as numbers."""
    if nan_policy != "propagate":
        raise refuse(f"scipy.stats.{name}", f"nan_policy={nan_policy!r}",
                     do="leave out what is not a number before the call")
    return live(a)


def _sample(name: str, a: object, axis: Any, nan_policy: str) -> tuple:
    """The sample and the axis (or axes) to go along."""
    x = with_nans(name, a, nan_policy)
    if axis is None:
        return (x, tuple(range(rank(x))))
    return (x, axis if isinstance(axis, tuple) else one_axis(axis, rank(x)))


def _summary(*names: str, samples: tuple) -> Callable:
    """Decorator: a summary of (x, axis) that keeps its axes takes axis, nan_policy and keepdims as SciPy does."""
    def register(summary: Callable) -> Callable:
        def call(a: AnyArray, *args: object, axis: Axes = 0, nan_policy: str = "propagate", keepdims: bool = False,
                 **options: object) -> AnyArray:
            x, ax = _sample(names[0], a, axis, nan_policy)
            y = summary(x, ax, *args, **options)
            if keepdims:
                return y
            return registry["reshape"](y, *[n for k, n in enumerate(shape_of(y)) if k not in axes_of(ax, rank(x))])
        for name in names:
            override(f"scipy.stats.{name}", samples=samples, precision="given")(_in_scipys_order(name, call))
        return summary
    return register


ORDERS = {"gmean": ("axis", "dtype", "weights"), "hmean": ("axis", "dtype"), "pmean": ("p",),
          "moment": ("order", "axis", "nan_policy"), "skew": ("axis", "bias", "nan_policy"),
          "kurtosis": ("axis", "fisher", "bias", "nan_policy"), "variation": ("axis", "nan_policy", "ddof"),
          "sem": ("axis", "ddof", "nan_policy"), "entropy": ("qk", "base", "axis"), "gstd": ("axis", "ddof"),
          "median_abs_deviation": ("axis", "center", "scale", "nan_policy"), "trim_mean": ("proportiontocut", "axis")}


def _in_scipys_order(name: str, call: Callable) -> Callable:
    def ordered(a: AnyArray, *args: ArrayOrNumber, **options: object) -> AnyArray:
        return call(a, **dict(zip(ORDERS[name], args, strict=False)), **options)
    return ordered


# -- means -----------------------------------------------------------------------------------------


def _average(x: AnyArray, axis: Axes, weights: object, dtype: object) -> AnyArray:
    """The mean, weighted if there are weights. SciPy's rules stretch them to the sample's shape; without a sum of
    weights it is nan."""
    if weights is None:
        return mean(x, axis=axis, keepdims=True)
    w = in_dtype(live(weights), dtype)
    if not 0 < rank(w) <= rank(x):
        raise refuse("a mean of scipy.stats", "weights of more axes than the sample, or of none")
    if 1 < rank(x) == len(axes_of(axis, rank(x))):    # SciPy makes both flat first
        if rank(w) < rank(x):
            raise refuse("a mean of scipy.stats along all axes", "weights of fewer axes than the sample")
        for m, n in zip(shape_of(w), shape_of(x)):
            extents.agree(m, n, "extents of the weights and the sample")
    kinds = type_of(x).dtype, type_of(w).dtype
    common = np.result_type(*kinds, *([FLOAT] if kinds[0].kind in "biu" else []))
    x, w = in_dtype(x, common), in_dtype(w, common)
    product = x * w
    w = registry["broadcast_to"](w, *shape_of(product))
    return reduced(sum_, product, axis, True) / reduced(sum_, w, axis, True)


@_summary("gmean", samples=("stats.gmean(x)", "stats.gmean(x, axis=None, weights=x)",
                            "stats.gmean(x, 1, keepdims=True)"))
def gmean(x: AnyArray, axis: Axes, dtype: DTypeLike = None, weights: "AnyArray | None" = None) -> AnyArray:
    return exp(_average(log(in_dtype(x, dtype)), axis, weights, dtype))


@_summary("hmean", samples=("stats.hmean(x)", "stats.hmean(v, weights=v[::-1])", "stats.hmean(x, 0, weights=v)"))
def hmean(x: AnyArray, axis: int, dtype: object = None, weights: object = None) -> AnyArray:
    return 1.0 / _average(1.0 / in_dtype(x, dtype), axis, weights, dtype)


@_summary("pmean", samples=("stats.pmean(x, 3)", "stats.pmean(v, 0.5)"))
def pmean(x: AnyArray, axis: int, p: Any, dtype: object = None, weights: Any = None) -> AnyArray:
    if isinstance(p, (int, float)) and p == 0:
        return gmean(x, axis, dtype, weights)
    return _average(in_dtype(x, dtype) ** p, axis, weights, dtype) ** (1.0 / p)


@_summary("trim_mean", samples=("stats.trim_mean(x, 0.3)", "stats.trim_mean(v, 0.25)"))
def trim_mean(x: AnyArray, axis: int, proportiontocut: float) -> AnyArray:
    if isinstance(axis, tuple):
        x, axis = registry["reshape"](ravel(x), extent_of(x, axis), *[1] * (rank(x) - 1)), 0
    n = shape_of(x)[axis]
    cut = int(proportiontocut * n) if isinstance(n, int) else METHODS["astype"](proportiontocut * n, int)
    rows = registry["slice_axis"](BY_NAME["numpy.sort"].call(x, axis=axis), axis, cut, n - 2 * cut)
    return with_nan(mean(rows, axis=axis, keepdims=True), x, axis)


def with_nan(y: AnyArray, x: AnyArray, axis: int) -> AnyArray:
    """y, a summary that keeps its axes, and nan where anything in the sample is."""
    return where(BY_NAME["numpy.any"].call(registry["isnan"](x), axis=axis, keepdims=True), math.nan, y)


# -- moments ---------------------------------------------------------------------------------------


def _central(x: AnyArray, axis: int, order: int, center: object = None) -> AnyArray:
    return mean((x - (mean(x, axis=axis, keepdims=True) if center is None else center)) ** order, axis=axis,
                keepdims=True)


@_summary("moment", samples=("stats.moment(x, 3)", "stats.moment(x, 2, axis=1, center=0.3)"))
def moment(x: AnyArray, axis: int, order: int = 1, center: object = None) -> AnyArray:
    if not isinstance(order, int):
        raise refuse("scipy.stats.moment", "several orders")
    if order:
        return _central(x, axis, order, center)
    return registry["zeros_like"](mean(x, axis=axis, keepdims=True)) + 1.0


def _size(x: Any, axis: Any) -> Any:
    return extent_of(x, axes_of(axis, rank(x)))


def _standardised(x: AnyArray, axis: int, order: int) -> AnyArray:
    """The central moment of an order over the variance's power; nan where the sample is constant."""
    m2, centre = _central(x, axis, 2), mean(x, axis=axis, keepdims=True)
    flat = m2 <= (np.finfo(type_of(x).dtype).resolution * centre) ** 2
    return where(flat, math.nan, _central(x, axis, order) / where(flat, 1.0, m2) ** (order / 2))


@_summary("skew", samples=("stats.skew(x)", "stats.skew(x, axis=1, bias=False)"))
def skew(x: AnyArray, axis: int, bias: bool = True) -> AnyArray:
    y, n = _standardised(x, axis, 3), _size(x, axis)
    return y if bias or _is_small(n, 2) else y * sqrt((n - 1.0) * n) / (n - 2.0)


def _is_small(n: Extent, most: int) -> bool:
    """Whether a sample has so few elements that SciPy does not correct its moments."""
    return not extents.is_at_least(n, most + 1)


@_summary("kurtosis", samples=("stats.kurtosis(x)", "stats.kurtosis(x, axis=1, fisher=False)",
                               "stats.kurtosis(v, bias=False)"))
def kurtosis(x: AnyArray, axis: int, fisher: bool = True, bias: bool = True) -> AnyArray:
    y, n = _standardised(x, axis, 4), _size(x, axis)
    if not bias and not _is_small(n, 3):
        y = ((n * n - 1.0) * y - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return y - 3.0 if fisher else y


@_summary("variation", samples=("stats.variation(x)", "stats.variation(x, axis=1, ddof=1)"))
def variation(x: AnyArray, axis: int, ddof: int = 0) -> AnyArray:
    ratio, n = std(x, axis=axis, keepdims=True) / mean(x, axis=axis, keepdims=True), _size(x, axis)
    if isinstance(n, int) and isinstance(ddof, int) and n == ddof:
        return where(ratio != 0, ratio * math.inf, math.nan)
    return ratio * sqrt(n / (n - ddof * 1.0))


@_summary("sem", samples=("stats.sem(x)", "stats.sem(x, axis=None, ddof=0)"))
def sem(x: AnyArray, axis: Axes, ddof: int = 1) -> AnyArray:
    return std(x, axis=axis, ddof=ddof, keepdims=True) / sqrt(1.0 * _size(x, axis))


@_summary("gstd", samples=("stats.gstd(x)",))
def gstd(x: AnyArray, axis: int, ddof: int = 1) -> AnyArray:
    return exp(std(log(x), axis=axis, ddof=ddof, keepdims=True))


# -- scores ----------------------------------------------------------------------------------------


@override("scipy.stats.zmap", samples=("stats.zmap(x, x[:2], ddof=1)",))
def zmap(scores: ArrayLike, compare: ArrayLike, axis: Axes = 0, ddof: int = 0,
         nan_policy: str = "propagate") -> AnyArray:
    x, ax = _sample("zmap", compare, axis, nan_policy)
    centre, spread = mean(x, axis=ax, keepdims=True), std(x, axis=ax, ddof=ddof, keepdims=True)
    flat = spread <= absolute(np.finfo(type_of(x).dtype).eps * centre)
    return where(flat, math.nan, (live(scores) - centre) / where(flat, 1.0, spread))


@override("scipy.stats.zscore", samples=("stats.zscore(x)", "stats.zscore(x, axis=None)", "stats.zscore(x, 1, 1)"))
def zscore(a: ArrayLike, axis: Axes = 0, ddof: int = 0, nan_policy: str = "propagate") -> AnyArray:
    return zmap(a, a, axis, ddof, nan_policy)


@override("scipy.stats.gzscore", samples=("stats.gzscore(x)",))
def gzscore(a: ArrayLike, *, axis: "int | None" = 0, ddof: int = 0, nan_policy: str = "propagate") -> AnyArray:
    return zscore(log(live(a)), axis, ddof, nan_policy)


# -- entropy and robust measures -------------------------------------------------------------------


@_summary("entropy", samples=("stats.entropy(x)", "stats.entropy(x, x[::-1] ** 2, base=2, axis=1)"))
def entropy(x: AnyArray, axis: int, qk: "AnyArray | None" = None, base: object = None) -> AnyArray:
    if isinstance(base, (int, float)) and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    if qk is not None and rank(live(qk)) != rank(x):
        raise refuse("scipy.stats.entropy", "arrays of different numbers of axes", do="reshape them first")
    if qk is not None:
        x, qk = BY_NAME["numpy.broadcast_arrays"].call(x, live(qk))

    def shares(x: AnyArray) -> AnyArray:
        return x / METHODS["sum"](x, axis=axis, keepdims=True)
    if qk is None:
        terms = BY_NAME["scipy.special.entr"].call(shares(x))
    else:
        terms = BY_NAME["scipy.special.rel_entr"].call(shares(x), shares(qk))
    y = METHODS["sum"](terms, axis=axis, keepdims=True)
    return y if base is None else y / log(base)


@_summary("median_abs_deviation", samples=("stats.median_abs_deviation(x, axis=1, scale='normal')",))
def median_abs_deviation(x: object, axis: object, center: object = None, scale: object = 1.0) -> AnyArray:
    median = BY_NAME["numpy.median"].call
    if center is not None and center is not np.median:
        raise refuse("scipy.stats.median_abs_deviation", "center other than np.median")
    y = median(absolute(x - median(x, axis=axis, keepdims=True)), axis=axis, keepdims=True)
    return y / (0.6744897501960817 if scale == "normal" else scale)           # the normal distribution's third quartile


@override("scipy.stats.iqr", samples=("stats.iqr(x)", "stats.iqr(x, axis=1, rng=(10, 60), scale=2.0)"))
def iqr(x: ArrayLike, axis: Axes = None, rng: tuple = (25, 75), scale: object = 1.0, nan_policy: str = "propagate",
        interpolation: str = "linear", keepdims: bool = False) -> AnyArray:
    x, ax = _sample("iqr", x, axis, nan_policy)
    low, high = (BY_NAME["numpy.percentile"].call(x, q, axis=ax, method=interpolation, keepdims=keepdims)
                 for q in sorted(rng))
    # the interquartile range of the normal distribution
    return (high - low) / (1.3489795003921634 if scale == "normal" else scale)


# -- transformations -------------------------------------------------------------------------------


def _without_fit(name: str, lmbda: ArrayOrNumber, *others: object) -> None:
    if lmbda is None or any(is_given(o) for o in others):
        raise refuse(f"scipy.stats.{name}", "a parameter to be fitted",
                     do="give lmbda; to fit it, maximise the likelihood")


@override("scipy.stats.boxcox", samples=("stats.boxcox(v, 0.3)",))
def boxcox(x: ArrayLike, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> AnyArray:
    _without_fit("boxcox", lmbda, alpha, optimizer)
    return BY_NAME["scipy.special.boxcox"].call(live(x), lmbda)


@override("scipy.stats.boxcox_llf", samples=("stats.boxcox_llf(v[0], v)", "stats.boxcox_llf(0.4, x)"))
def boxcox_llf(lmb: ArrayLike, data: ArrayLike, *, axis: "int | None" = 0, keepdims: bool = False,
               nan_policy: str = "propagate") -> AnyArray:
    """Of the data over their geometric mean: powers of the data themselves may not differ from 0 in floats."""
    x, ax = _sample("boxcox_llf", data, axis, nan_policy)
    logs = log(x)
    y = boxcox(exp(logs - mean(logs, axis=ax, keepdims=True)), lmb)
    return _likelihood(y, -METHODS["sum"](logs, axis=ax, keepdims=True), x, ax, keepdims)


def _likelihood(y: AnyArray, volume: AnyArray, x: AnyArray, ax: int, keepdims: bool) -> AnyArray:
    """The normal log-likelihood of transformed data at its best mean and variance, up to a constant."""
    whole = volume - 0.5 * _size(x, ax) * log(var(y, axis=ax, keepdims=True))
    axes = axes_of(ax, rank(x))
    if keepdims:
        return whole
    return registry["reshape"](whole, *[n for k, n in enumerate(shape_of(whole)) if k not in axes])


@override("scipy.stats.yeojohnson", samples=("stats.yeojohnson(v - 0.5, 0.3)", "stats.yeojohnson(v - 0.5, v[0])"))
def yeojohnson(x: AnyArray, lmbda: Any = None) -> AnyArray:
    """I.-K. Yeo and R. A. Johnson, Biometrika 87 (2000) 954."""
    _without_fit("yeojohnson", lmbda)
    power = BY_NAME["scipy.special.boxcox1p"].call
    x = live(x)
    positive = x >= 0
    return where(positive, power(where(positive, x, 0.0), lmbda),
                 -power(where(positive, 0.0, -x), 2.0 - as_array(lmbda)))


@override("scipy.stats.yeojohnson_llf", samples=("stats.yeojohnson_llf(v[0], v - 0.5)",))
def yeojohnson_llf(lmb: ArrayLike, data: ArrayLike, *, axis: "int | None" = 0, nan_policy: str = "propagate",
                   keepdims: bool = False) -> AnyArray:
    x, ax = _sample("yeojohnson_llf", data, axis, nan_policy)
    volume = (METHODS["sum"](registry["sign"](x) * registry["log1p"](absolute(x)), axis=ax, keepdims=True)
              * (as_array(lmb) - 1.0))
    return _likelihood(yeojohnson(x, lmb), volume, x, ax, keepdims)


# -- circular statistics ---------------------------------------------------------------------------


def _resultant(name: str, samples: object, high: Any, low: Any, axis: Axes, nan_policy: str, keepdims: bool) -> tuple:
    """The mean cosine and sine, and the angle that a unit of the samples is."""
    x, ax = _sample(name, samples, axis, nan_policy)
    unit = 2 * math.pi / (high - low)
    angle = (x - low) * unit
    parts = (mean(registry[f](angle), axis=ax, keepdims=keepdims) for f in ("cos", "sin"))
    return (*parts, unit)


@override("scipy.stats.circmean", samples=("stats.circmean(x)", "stats.circmean(9 * x, high=3.0, low=-1.0, axis=1)"))
def circmean(samples: ArrayLike, high: object = 2 * math.pi, low: object = 0, axis: Axes = None,
             nan_policy: str = "propagate", *, keepdims: bool = False) -> AnyArray:
    c, s, unit = _resultant("circmean", samples, high, low, axis, nan_policy, keepdims)
    angle = registry["arctan2"](s, c)
    return where(angle < 0, angle + 2 * math.pi, angle) / unit + low


@override("scipy.stats.circvar", samples=("stats.circvar(x, axis=0)",))
def circvar(samples: ArrayLike, high: object = 2 * math.pi, low: object = 0, axis: Axes = None,
            nan_policy: str = "propagate", *, keepdims: bool = False) -> AnyArray:
    c, s, _ = _resultant("circvar", samples, high, low, axis, nan_policy, keepdims)
    return 1.0 - registry["hypot"](s, c)


@override("scipy.stats.circstd", samples=("stats.circstd(x, axis=0)", "stats.circstd(x, high=3.0, normalize=True)"))
def circstd(samples: ArrayLike, high: object = 2 * math.pi, low: object = 0, axis: Axes = None,
            nan_policy: str = "propagate", *, normalize: bool = False, keepdims: bool = False) -> AnyArray:
    c, s, unit = _resultant("circstd", samples, high, low, axis, nan_policy, keepdims)
    y = sqrt(-2.0 * log(registry["hypot"](s, c)))
    return y if normalize else y / unit
