"""Python's statistics of traced numbers: sums in double precision in place of exact fractions, with the same errors."""
from collections.abc import Sequence
from statistics import StatisticsError
from typing import NamedTuple

import numpy as np

from ..util.array import AnyArray, ArrayLike, ArrayOrNumber
from ..util.errors import UnsupportedFunctionError


def _numbers(name: str, data: ArrayLike, least: int = 1) -> AnyArray:
    """The data as one array."""
    x = np.asarray(data)
    if x.ndim != 1 or x.dtype.kind != "f":
        raise UnsupportedFunctionError(f"statistics.{name} takes a row of floats where they are traced")
    if len(x) < least:
        raise StatisticsError(f"{name} requires at least {'one data point' if least == 1 else 'two data points'}")
    return x


def mean(data: ArrayLike) -> AnyArray:
    x = _numbers("mean", data)
    return np.mean(x, dtype=float).astype(x.dtype)


def fmean(data: ArrayLike, weights: "ArrayLike | None" = None) -> float:
    x = _numbers("fmean", data)
    return float(_weighted("fmean", x * 1.0, weights))


def _weighted(name: str, x: AnyArray, weights: "ArrayLike | None") -> AnyArray:
    if weights is None:
        return np.mean(x, dtype=float)
    w = np.asarray(weights) * 1.0
    if len(w) != len(x):
        raise StatisticsError("data and weights must be the same length")
    total = np.sum(w)
    if total == 0:
        raise StatisticsError("sum of weights must be non-zero")
    return np.sum(x * w) / total


def geometric_mean(data: ArrayLike) -> float:
    x = _numbers("geometric mean", data)
    if np.any(x <= 0):
        raise StatisticsError("geometric mean requires a non-empty dataset containing positive numbers")
    return float(np.exp(np.mean(np.log(x), dtype=float)))


def harmonic_mean(data: ArrayLike, weights: "ArrayLike | None" = None) -> AnyArray:
    x = _numbers("harmonic_mean", data)
    if np.any(x < 0):
        raise StatisticsError("harmonic mean does not support negative values")
    is_zero = x == 0
    found = 1.0 / _weighted("harmonic_mean", 1.0 / np.where(is_zero, 1.0, x), weights)
    return np.where(np.any(is_zero), 0.0, found)[()].astype(x.dtype)


def median(data: ArrayLike) -> AnyArray:
    return np.median(_numbers("median", data))


def median_low(data: ArrayLike) -> AnyArray:
    x = _numbers("median_low", data)
    return np.sort(x)[(len(x) - 1) // 2]


def median_high(data: ArrayLike) -> AnyArray:
    x = _numbers("median_high", data)
    return np.sort(x)[len(x) // 2]


def _spread(x: AnyArray, centre: "ArrayOrNumber | None", less: int) -> AnyArray:
    apart = x - (np.mean(x, dtype=float) if centre is None else centre)
    return np.sum(apart * apart, dtype=float) / (len(x) - less)


def pvariance(data: ArrayLike, mu: "ArrayOrNumber | None" = None) -> AnyArray:
    x = _numbers("pvariance", data)
    return np.asarray(_spread(x, mu, 0), x.dtype)[()]


def variance(data: ArrayLike, xbar: "ArrayOrNumber | None" = None) -> AnyArray:
    x = _numbers("variance", data, 2)
    return np.asarray(_spread(x, xbar, 1), x.dtype)[()]


def pstdev(data: ArrayLike, mu: "ArrayOrNumber | None" = None) -> float:
    return float(np.sqrt(_spread(_numbers("pstdev", data), mu, 0)))


def stdev(data: ArrayLike, xbar: "ArrayOrNumber | None" = None) -> float:
    return float(np.sqrt(_spread(_numbers("stdev", data, 2), xbar, 1)))


def quantiles(data: ArrayLike, *, n: int = 4, method: str = "exclusive") -> list:
    """n - 1 cut points; "exclusive" takes the data for a sample that may not hold the extremes."""
    if n < 1:
        raise StatisticsError("n must be at least 1")
    if method not in ("exclusive", "inclusive"):
        raise ValueError(f"Unknown method: {method!r}")
    x = np.sort(_numbers("quantiles", data, 2))
    found = []
    for i in range(1, n):
        if method == "inclusive":
            j = i * (len(x) - 1) // n
            delta = i * (len(x) - 1) - j * n
        else:
            j = min(max(i * (len(x) + 1) // n, 1), len(x) - 1) - 1
            delta = i * (len(x) + 1) - (j + 1) * n
        found.append((x[j] * (n - delta) + x[j + 1] * delta) / n)
    return found


def _pair(name: str, x: ArrayLike, y: ArrayLike) -> tuple[AnyArray, AnyArray]:
    """The deviations of both from their means."""
    a, b = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    if len(a) != len(b):
        raise StatisticsError(f"{name} requires that both inputs have same number of data points")
    if len(a) < 2:
        raise StatisticsError(f"{name} requires at least two data points")
    return a - np.mean(a, dtype=float), b - np.mean(b, dtype=float)


def covariance(x: Sequence, y: Sequence) -> float:
    dx, dy = _pair("covariance", x, y)
    return float(np.sum(dx * dy) / (len(x) - 1))


def correlation(x: Sequence, y: Sequence) -> float:
    dx, dy = _pair("correlation", x, y)
    squared = np.sum(dx * dx) * np.sum(dy * dy)
    if squared == 0:
        raise StatisticsError("at least one of the inputs is constant")
    return float(np.sum(dx * dy) / np.sqrt(squared))


class LinearRegression(NamedTuple):
    slope: ArrayOrNumber
    intercept: ArrayOrNumber


def linear_regression(x: Sequence, y: Sequence, *, proportional: bool = False) -> LinearRegression:
    dx, dy = _pair("linear regression", x, y)
    if proportional:
        dx, dy = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    spread = np.sum(dx * dx)
    if spread == 0:
        raise StatisticsError("x is constant")
    slope = float(np.sum(dx * dy) / spread)
    if proportional:
        return LinearRegression(slope, 0.0)
    return LinearRegression(slope, fmean(y) - slope * fmean(x))
