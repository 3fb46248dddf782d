"""scipy.stats' estimators of samples: trimmed moments, k-statistics, descriptions, distances between samples, ranks.

Ranks and statistics of ranks are constant wherever no two values are equal.
"""
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, Axes
from ...util.lazy import imported
from ..kinds import shape_of
from ..override import BY_NAME, METHODS, override
from .arguments import as_array, extent_of, in_dtype, live, one_axis, rank, ravel, refuse
from .inference import count, sample, total
from .moments import mean, var
from .outcomes import RankCorrelation, student_pvalue

sqrt, where, absolute = (registry[name] for name in ("sqrt", "where", "abs"))


def _within_limits(x: AnyArray, limits: "tuple | None", inclusive: tuple) -> "AnyArray | None":
    """The mask of what lies within the limits; None where there are none."""
    if limits is None or tuple(limits) == (None, None):
        return None
    (low, high), (with_low, with_high) = limits, inclusive
    kept = registry["equal"](x, x)
    if low is not None:
        kept = kept & (x >= low if with_low else x > low)
    if high is not None:
        kept = kept & (x <= high if with_high else x < high)
    registry["check_that"](BY_NAME["numpy.any"].call(kept | registry["isnan"](x)), True, error="ValueError",
                           what="No array values within given limits")
    return kept


def _trimmed(name: str, moment: Callable, given: str) -> None:
    """A moment of what lies within limits."""
    def call(a: AnyArray, limits: "tuple | None" = None, inclusive: tuple = (True, True),
             axis: object = None if name == "tmean" else 0, ddof: int = 1, *,
             nan_policy: str = "propagate") -> AnyArray:
        x, ax = sample(name, a, axis, nan_policy)
        kept = _within_limits(x, limits, inclusive)
        n = count(x, ax) if kept is None else total(where(kept, 1.0, 0.0), ax)
        inside: Callable = (lambda y: y) if kept is None else lambda y: where(kept, y, 0.0)
        centre = total(inside(x), ax) / n
        apart = x - registry["reshape"](centre, *[1 if k == ax else m for k, m in enumerate(shape_of(x))])
        def spread() -> AnyArray:
            y = total(inside(apart * apart), ax) / (n - ddof)
            return y if kept is None else where(n > ddof, y, math.nan)
        y = moment(centre, spread, n)
        return y if kept is None else where(BY_NAME["numpy.any"].call(registry["isnan"](x), axis=ax), math.nan, y)
    override(f"scipy.stats.{name}", samples=(f"stats.{name}(x{given})",
                                             f"stats.{name}(v, (0.3, 0.8), (True, False))"), precision="given")(call)


_trimmed("tmean", lambda centre, spread, n: centre, ", axis=1")
_trimmed("tvar", lambda centre, spread, n: spread(), "")
_trimmed("tstd", lambda centre, spread, n: sqrt(spread()), "")
_trimmed("tsem", lambda centre, spread, n: sqrt(spread() / n), "")


def _bounded(x: AnyArray, ax: int, best: str, sign: float, limit: Any, inclusive: bool) -> AnyArray:
    """The least (or the largest) value above (below) a limit; nan where there is none."""
    lost = registry["isnan"](x)
    if limit is not None:
        kept = sign * x >= sign * limit if inclusive else sign * x > sign * limit
        x = where(kept, x, sign * math.inf)
    y = BY_NAME[f"numpy.{best}"].call(x, axis=ax)
    none = BY_NAME["numpy.any"].call(lost, axis=ax)
    return y if limit is None else where(none | (absolute(y) == math.inf), math.nan, y)


@override("scipy.stats.tmin", samples=("stats.tmin(x)", "stats.tmin(v, 0.6)"))
def tmin(a: ArrayLike, lowerlimit: object = None, axis: "int | None" = 0, inclusive: bool = True,
         nan_policy: str = "propagate") -> AnyArray:
    return _bounded(*sample("tmin", a, axis, nan_policy), "min", 1.0, lowerlimit, inclusive)


@override("scipy.stats.tmax", samples=("stats.tmax(x)", "stats.tmax(v, 0.6)"))
def tmax(a: ArrayLike, upperlimit: object = None, axis: "int | None" = 0, inclusive: bool = True,
         nan_policy: str = "propagate") -> AnyArray:
    return _bounded(*sample("tmax", a, axis, nan_policy), "max", -1.0, upperlimit, inclusive)


@override("scipy.stats.kstat", samples=("stats.kstat(v, 1)", "stats.kstat(v, 3)", "stats.kstat(v, 4)",
                                        "stats.kstat(x, axis=1)"))
def kstat(data: ArrayLike, n: int = 2, *, axis: Axes = None, nan_policy: str = "propagate") -> AnyArray:
    """R. A. Fisher, Proceedings of the London Mathematical Society 30 (1930) 199, in power sums."""
    x, ax = sample("kstat", data, axis, nan_policy)
    m = count(x, ax)
    s1, s2, s3, s4 = (total(x ** k, ax) for k in range(1, 5))
    if n == 1:
        return s1 / m
    if n == 2:
        return (m * s2 - s1 * s1) / (m * (m - 1.0))
    if n == 3:
        return (2.0 * s1 ** 3 - 3.0 * m * s1 * s2 + m * m * s3) / (m * (m - 1.0) * (m - 2.0))
    if n == 4:
        top = (-6.0 * s1 ** 4 + 12.0 * m * s1 * s1 * s2 - 3.0 * m * (m - 1.0) * s2 * s2
               - 4.0 * m * (m + 1.0) * s1 * s3 + m * m * (m + 1.0) * s4)
        return top / (m * (m - 1.0) * (m - 2.0) * (m - 3.0))
    raise ValueError("k-statistics only supported for 1<=n<=4")


class Description(NamedTuple):
    """scipy.stats.describe's result."""

    nobs: Any
    minmax: Any
    mean: Any
    variance: Any
    skewness: Any
    kurtosis: Any


@override("scipy.stats.describe",
          samples=("stats.describe(x)[1:]", "stats.describe(x, axis=1, ddof=0, bias=False)[2:]"))
def describe(a: ArrayLike, axis: "int | None" = 0, ddof: int = 1, bias: bool = True,
             nan_policy: str = "propagate") -> Description:
    x, ax = sample("describe", a, axis, nan_policy)
    ends = tuple([BY_NAME[f"numpy.{name}"].call(x, axis=ax) for name in ("min", "max")])
    shape = tuple([BY_NAME[f"scipy.stats.{name}"].call(x, axis=ax, bias=bias) for name in ("skew", "kurtosis")])
    return Description(extent_of(x, (ax,)), ends, mean(x, axis=ax), var(x, axis=ax, ddof=ddof), *shape)


# -- distances between samples ---------------------------------------------------------------------


def _distance(p: int, u: object, v: object, u_weights: object, v_weights: object) -> AnyArray:
    """The p-norm of the difference of two distribution functions, to the power p."""
    flat = [ravel(live(a)) for a in (u, v)]
    if any(rank(live(a)) != 1 for a in (u, v)):
        kind = ValueError if any(rank(live(a)) for a in (u, v)) else TypeError
        raise kind("distances are between samples of one axis")
    both = BY_NAME["numpy.sort"].call(BY_NAME["numpy.concatenate"].call(flat))
    widths, shares = BY_NAME["numpy.diff"].call(both), []
    for x, weights in zip(flat, (u_weights, v_weights)):
        order = BY_NAME["numpy.argsort"].call(x)
        below = BY_NAME["numpy.searchsorted"].call(x[order], both[:-1], side="right")
        if weights is None:
            shares.append(below / count(x, 0))
        else:
            w = BY_NAME["numpy.cumsum"].call(live(weights)[order])
            w = BY_NAME["numpy.concatenate"].call([w[:1] * 0.0, w])
            shares.append(w[below] / w[-1])
    gap = shares[0] - shares[1]
    return total((absolute(gap) if p == 1 else gap * gap) * widths, 0)


@override("scipy.stats.wasserstein_distance",
          samples=("stats.wasserstein_distance(v, x[0])", "stats.wasserstein_distance(v, x[0], x[1], x[2])"),
          precision="double")
def wasserstein_distance(u_values: ArrayLike, v_values: ArrayLike, u_weights: object = None,
                         v_weights: object = None) -> AnyArray:
    return _distance(1, u_values, v_values, u_weights, v_weights)


@override("scipy.stats.energy_distance", samples=("stats.energy_distance(v, x[0])",))
def energy_distance(u_values: ArrayLike, v_values: ArrayLike, u_weights: object = None,
                    v_weights: object = None) -> AnyArray:
    return math.sqrt(2.0) * sqrt(_distance(2, u_values, v_values, u_weights, v_weights))


# -- ranks -----------------------------------------------------------------------------------------


@override("scipy.stats.rankdata", note="constant: its derivative is zero",
          samples=("stats.rankdata(v) * v", "stats.rankdata(x, axis=1) * x",
                   "stats.rankdata(x > 0.5, 'dense') * np.ravel(x)"), precision="installed")
def rankdata(a: ArrayLike, method: str = "average", *, axis: Axes = None, nan_policy: str = "propagate") -> AnyArray:
    """The number of values that are smaller; equal ones share their places as `method` says."""
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f'unknown method "{method}"')
    x, ax = sample("rankdata", a, axis, nan_policy)
    whole = as_array(a)
    if type_of(whole).dtype.kind in "iu":                       # large ones differ that are equal as floats
        x = registry["reshape"](whole, *shape_of(x))
    if method in ("ordinal", "dense"):
        return _places(x, ax, method)
    moved = BY_NAME["numpy.moveaxis"].call(registry["stop_gradient"](x), ax, -1)
    left, right = moved[..., None, :], moved[..., :, None]
    smaller, equal = (METHODS["sum"](pair, axis=-1) for pair in (left < right, left == right))
    ranks = {"min": lambda: smaller + 1, "max": lambda: smaller + equal,
             "average": lambda: smaller + 0.5 * (equal + 1)}[method]()
    ranks = where(BY_NAME["numpy.any"].call(moved != moved, axis=-1, keepdims=True), math.nan, 1.0 * ranks)
    return BY_NAME["numpy.moveaxis"].call(ranks, -1, ax)


def _places(x: AnyArray, ax: int, method: str) -> AnyArray:
    """Ranks that differ by one from each value to the next."""
    x = registry["stop_gradient"](x)
    order = BY_NAME["numpy.argsort"].call(x, axis=ax)
    place = BY_NAME["numpy.argsort"].call(order, axis=ax)
    if method == "ordinal":
        return in_dtype(place + 1, imported("scipy.stats").rankdata([1.0], method).dtype)
    ordered = BY_NAME["numpy.sort"].call(x, axis=ax)
    first = registry["slice_axis"](ordered, ax, 0, 1) != registry["slice_axis"](ordered, ax, 0, 1)
    new = BY_NAME["numpy.concatenate"].call([first, BY_NAME["numpy.diff"].call(ordered, axis=ax) != 0], axis=ax)
    dense = BY_NAME["numpy.cumsum"].call(where(new, 1.0, 0.0), axis=ax) + 1.0
    return BY_NAME["numpy.take_along_axis"].call(dense, place, axis=ax)


@override("scipy.stats.spearmanr", note="constant: its derivative is zero",
          samples=("stats.spearmanr(v, x[0])[0] * v",))
def spearmanr(a: ArrayLike, b: object = None, axis: "int | None" = 0, nan_policy: str = "propagate",
              alternative: str = "two-sided") -> RankCorrelation:
    """Pearson's correlation of the ranks."""
    if b is None or rank(live(a)) > 1:
        raise refuse("scipy.stats.spearmanr", "a matrix of samples", do="call it for each pair")
    one_axis(0 if axis is None else axis, 1)
    ranks = [rankdata(each, nan_policy=nan_policy) for each in (a, b)]
    r = BY_NAME["numpy.corrcoef"].call(*ranks)[1, 0]
    df = count(ranks[0], 0) - 2.0
    t = r * sqrt(registry["maximum"](df / ((r + 1.0) * (1.0 - r)), 0.0))
    return RankCorrelation(r, student_pvalue(t, df, alternative))
