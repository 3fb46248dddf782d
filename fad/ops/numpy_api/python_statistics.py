"""The faces of Python's statistics module, on traced numbers in any iterable.

Python computes exactly with fractions and rounds once; these compute in floats, to an ulp or two. Formulas: the
documentation of the statistics module.
"""
import statistics
from collections.abc import Callable
from typing import Any

from ...ir.op import registry
from ..extents import at_least
from ..face import BY_NAME, face
from ..literals import python_number
from .arguments import as_array, extent_of, refuse
from .ufuncs import as_float


def _data(values: Any, name: str, least: int = 1) -> tuple:
    """The data as an array of floats, and their number, which has to be `least` or more."""
    x = as_float(as_array(values if hasattr(values, "dtype") else list(values)))
    n = extent_of(x, (0,))
    points = "one data point" if least == 1 else "two data points"
    if isinstance(n, int) and n < least:
        raise statistics.StatisticsError(f"{name} requires at least {points}")
    if not at_least(n, least):
        registry["check_that"](n >= least, True, error="ValueError", what=f"{name} requires at least {points}")
    return x, n


def _total(x: Any) -> Any:
    return registry["sum"](x, axes=(0,))


@face("statistics.mean", samples=("statistics.mean(v)", "statistics.mean([v[0], v[1] * 2, 3])"))
def mean(data: Any) -> Any:
    """The mean."""
    x, n = _data(data, "mean")
    return python_number(_total(x) / n)


@face("statistics.fmean", samples=("statistics.fmean(v)", "statistics.fmean(v, v * v)",
                                   "statistics.fmean([v[0], 2.0], [1, v[1]])"))
def fmean(data: Any, weights: Any = None) -> Any:
    """The mean, weighted."""
    x, n = _data(data, "fmean")
    if weights is None:
        return python_number(_total(x) / n)
    w, m = _data(weights, "fmean")
    _see_that_equal(n, m, "data and weights must be the same length")
    return python_number(_total(x * w) / _total(w))


def _see_that_equal(n: Any, m: Any, what: str) -> None:
    if isinstance(n, int) and isinstance(m, int):
        if n != m:
            raise statistics.StatisticsError(what)
    elif n is not m:
        registry["check_that"](n == m, True, error="ValueError", what=what)


@face("statistics.geometric_mean", samples=("statistics.geometric_mean(v)",))
def geometric_mean(data: Any) -> Any:
    """exp of the mean of logarithms."""
    x, n = _data(data, "geometric mean")
    return python_number(registry["exp"](_total(registry["log"](x)) / n))


@face("statistics.harmonic_mean", samples=("statistics.harmonic_mean(v)", "statistics.harmonic_mean(v, v * v)"))
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """The reciprocal of the mean of reciprocals; 0 if one of the data is 0."""
    x, n = _data(data, "harmonic_mean")
    registry["check_that"](BY_NAME["numpy.all"].call(x >= 0), True, error="ValueError",
                           what="harmonic mean does not support negative values")
    if weights is None:
        return python_number(n / _total(1.0 / x))
    w, m = _data(weights, "harmonic_mean")
    _see_that_equal(n, m, "Number of weights does not match data size")
    return python_number(_total(w) / _total(w / x))


def _spread(name: str, given: str, less: int) -> None:
    """variance or pvariance, and its square root."""
    def variance(data: Any, about: Any) -> Any:
        x, n = _data(data, name, 1 + less)
        d = x - (_total(x) / n if about is None else about)
        return _total(d * d) / (n - less)

    def call(data: Any, xbar: Any = None) -> Any:
        return python_number(variance(data, xbar))

    def root(data: Any, xbar: Any = None) -> Any:
        return python_number(registry["sqrt"](variance(data, xbar)))
    deviation = name.replace("variance", "stdev")
    for owner, f in ((name, call), (deviation, root)):
        named = f if given == "xbar" else _about_mu(f)
        face(f"statistics.{owner}", samples=(f"statistics.{owner}(v)", f"statistics.{owner}(v, v[0])"))(named)


def _about_mu(f: Callable) -> Callable:
    def call(data: Any, mu: Any = None) -> Any:
        return f(data, mu)
    return call


_spread("variance", "xbar", 1)
_spread("pvariance", "mu", 0)


@face("statistics.median", samples=("statistics.median(v)", "statistics.median(list(v[:3]))"))
def median(data: Any) -> Any:
    """The middle of the data in order, or the mean of the two in the middle."""
    return python_number(BY_NAME["numpy.median"].call(_data(data, "median")[0]))


def _in_order(data: Any, name: str, least: int = 1) -> tuple:
    x, n = _data(data, name, least)
    return BY_NAME["numpy.sort"].call(x), n


@face("statistics.median_low", samples=("statistics.median_low(v)",))
def median_low(data: Any) -> Any:
    """The middle, or the lower of the two."""
    x, n = _in_order(data, "median")
    return python_number(x[(n - 1) // 2])


@face("statistics.median_high", samples=("statistics.median_high(v)",))
def median_high(data: Any) -> Any:
    """The middle, or the higher of the two."""
    x, n = _in_order(data, "median")
    return python_number(x[n // 2])


@face("statistics.quantiles", samples=("statistics.quantiles(v)", "statistics.quantiles(v, n=3, method='inclusive')"))
def quantiles(data: Any, *, n: int = 4, method: str = "exclusive") -> list:
    """The n - 1 points that cut the data into n parts of equal probability."""
    if n < 1:
        raise statistics.StatisticsError("n must be at least 1")
    if method not in ("exclusive", "inclusive"):
        raise ValueError(f"Unknown method: {method!r}")
    x, count = _in_order(data, "quantiles", 2)
    cuts = []
    for k in range(1, n):
        if method == "inclusive":
            j, rest = k * (count - 1) // n, k * (count - 1) % n
            low, high = x[j], x[BY_NAME["numpy.minimum"].call(j + 1, count - 1)]
        else:
            j = BY_NAME["numpy.clip"].call(k * (count + 1) // n, 1, count - 1)
            rest = k * (count + 1) - j * n
            low, high = x[j - 1], x[j]
        cuts.append(python_number((low * (n - rest) + high * rest) / n))
    return cuts


def _centred(x: Any, y: Any, name: str) -> tuple:
    """Both samples about their means, and their number."""
    a, n = _data(x, name, 2)
    b, m = _data(y, name, 2)
    _see_that_equal(n, m, f"{name} requires that both inputs have same number of data points")
    return a - _total(a) / n, b - _total(b) / m, n


@face("statistics.covariance", samples=("statistics.covariance(v, v * v)",))
def covariance(x: Any, y: Any, /) -> Any:
    """The covariance of two samples."""
    a, b, n = _centred(x, y, "covariance")
    return python_number(_total(a * b) / (n - 1))


@face("statistics.correlation", samples=("statistics.correlation(v, v * v)",))
def correlation(x: Any, y: Any, /, *, method: str = "linear") -> Any:
    """Pearson's correlation of two samples."""
    if method != "linear":
        raise refuse("statistics.correlation", f"method={method!r}", do="use scipy.stats.spearmanr")
    a, b, _ = _centred(x, y, "correlation")
    return python_number(_total(a * b) / registry["sqrt"](_total(a * a) * _total(b * b)))


@face("statistics.linear_regression", samples=("statistics.linear_regression(v, v * v)",
                                               "statistics.linear_regression(v, v * v, proportional=True)"))
def linear_regression(x: Any, y: Any, /, *, proportional: bool = False) -> Any:
    """The slope and intercept of the line of least squares."""
    a, b, n = _centred(x, y, "linear regression")
    u, v = _data(x, "linear regression")[0], _data(y, "linear regression")[0]
    if proportional:
        return statistics.LinearRegression(python_number(_total(u * v) / _total(u * u)), 0.0)
    slope = _total(a * b) / _total(a * a)
    return statistics.LinearRegression(python_number(slope), python_number(_total(v) / n - slope * (_total(u) / n)))
