"""The methods of scipy.stats' distributions, free (stats.norm.logpdf(x, mu, sigma)) and frozen (stats.norm(mu,
sigma).logpdf(x)).

As in SciPy, the density outside the support is zero, and results for invalid shapes or scales are nan.
"""
import math
from collections.abc import Callable
from typing import Any

from ....util.array import AnyArray, ArrayOrNumber
from ....util.errors import UnsupportedFunctionError
from ....util.where import module_name
from ...arithmetic import floor, sqrt
from ...choice import where
from ...override import METHODS, override
from ...precision import in_double
from ...transcendental import exp, log
from ..arguments import as_array
from .averages import AVERAGES
from .continuous import CONTINUOUS
from .discrete import DISCRETE
from .record import Distribution


def record_of(dist: Any) -> Distribution:
    """The record of a distribution of SciPy's, which goes by its name."""
    table = DISCRETE if hasattr(dist, "pmf") else CONTINUOUS
    known = module_name(type(dist)).startswith("scipy.stats.") and table.get(dist.name)
    if not known:
        raise UnsupportedFunctionError(f"scipy.stats.{dist.name} is not supported on traced arrays",
                                       why="fad has no record of this distribution",
                                       do=f"write its formula, or take one of {', '.join(sorted(table))}")
    return known


def _bound(dist: Any, method: str, args: tuple, kwds: dict) -> tuple:
    """The shapes, the location and the scale in a call's arguments."""
    names = [*(dist.shapes or "").replace(" ", "").split(","), "loc", *(() if hasattr(dist, "pmf") else ("scale",))]
    names = [name for name in names if name]
    if len(args) > len(names):
        raise TypeError(f"{dist.name}.{method}() takes {len(names)} parameters, and {len(args)} were given")
    given = dict(zip(names, args))
    for name, value in kwds.items():
        if name not in names or name in given:
            raise TypeError(f"{dist.name}.{method}() got {'multiple values for' if name in given else 'an unexpected'} "
                            f"argument {name!r}")
        given[name] = value
    missing = [name for name in names[:dist.numargs] if name not in given]
    if missing:
        raise TypeError(f"{dist.name}.{method}() needs its shape {', '.join(missing)}")
    return tuple([as_array(given[name]) for name in names[:dist.numargs]]), as_array(given.get("loc", 0.0)), as_array(
        given.get("scale", 1.0))


def _is(number: ArrayOrNumber, value: float) -> bool:
    return isinstance(number, (int, float)) and number == value


def _choose(condition: ArrayOrNumber, if_true: Any, if_false: AnyArray) -> AnyArray:
    """where(), that says nothing where the condition is known from the beginning."""
    if isinstance(condition, bool):
        return if_true if condition else if_false
    return where(condition, if_true, if_false)


def _outside(y: ArrayOrNumber, low: ArrayOrNumber, high: ArrayOrNumber) -> ArrayOrNumber:
    """Whether y lies outside the support; False where nothing does."""
    below = False if _is(low, -math.inf) else y < low
    above = False if _is(high, math.inf) else y > high
    return above if below is False else below if above is False else below | above


class MethodCall:
    """One call of a method: the distribution's record, its shapes, and the variable on the standard scale."""

    def __init__(self, dist: Any, method: str, args: tuple, kwds: dict):
        self.record = record_of(dist)
        self.name = f"scipy.stats.{dist.name}.{method}"
        self.shapes, self.loc, self.scale = _bound(dist, method, args, kwds)
        self.low, self.high = self.record.low(*self.shapes), self.record.high(*self.shapes)
        self.allowed = (self.scale > 0) & self.record.valid(*self.shapes)

    def known(self, part: str) -> None:
        if getattr(self.record, part) is None:
            raise UnsupportedFunctionError(f"{self.name} is not supported on traced arrays",
                                           why="fad has no formula for it",
                                           do="use another method of the distribution, or give it a rule with "
                                              "fad.custom_jvp")

    def standard(self, x: ArrayOrNumber) -> Any:
        """(x - loc) / scale."""
        x = as_array(x)
        x = x if _is(self.loc, 0.0) else x - self.loc
        return x if _is(self.scale, 1.0) else x / self.scale

    def inside(self, y: ArrayOrNumber, outside: ArrayOrNumber) -> AnyArray:
        """y where it is in the support, and a point of the support elsewhere."""
        return y if outside is False else where(outside, self.record.within(*self.shapes), y)

    def checked(self, value: AnyArray) -> AnyArray:
        """The value, or nan where the parameters are not allowed."""
        if isinstance(self.allowed, bool) or not hasattr(self.allowed, "dtype"):
            return value if self.allowed else value * math.nan
        return where(self.allowed, value, math.nan)

    def log_density(self, x: ArrayOrNumber) -> AnyArray:
        y = self.standard(x)
        outside = _outside(y, self.low, self.high)
        value = self.record.log_density(self.inside(y, outside), *self.shapes)
        value = value if _is(self.scale, 1.0) else value - log(self.scale)
        return self.checked(_choose(outside, -math.inf, value))

    def log_mass(self, k: AnyArray) -> AnyArray:
        """The logarithm of an integer's probability; -inf for what is not an integer."""
        k = 1.0 * self.standard(k)
        outside = _outside(k, self.low, self.high)
        outside = (k != floor(k)) if outside is False else outside | (k != floor(k))
        value = _choose(outside, -math.inf, self.record.log_density(self.inside(k, outside), *self.shapes))
        return self.checked(where(k == k, value, math.nan))

    def probability(self, x: ArrayOrNumber, formula: Callable, below: float, above: float, discrete: bool) -> AnyArray:
        """A function of the distribution's, with its values below and above the support."""
        y = self.standard(x)
        y = floor(y) if discrete else y
        is_below = False if _is(self.low, -math.inf) else y < self.low
        is_above = False if _is(self.high, math.inf) else y > self.high
        outside = _outside(y, self.low, self.high)
        value = formula(self.inside(y, outside), *self.shapes)
        if discrete:                                            # comparisons hide a nan
            value = where(y == y, value, math.nan)
        return self.checked(_choose(is_below, below, _choose(is_above, above, value)))

    def quantile(self, q: ArrayOrNumber, formula: Callable, ends: tuple) -> AnyArray:
        """A function of probabilities. `ends` are its values at 0 and 1; infinite ones need no formula."""
        q = as_array(q)
        wrong = (q < 0) | (q > 1)
        y = where(wrong, math.nan, formula(where(wrong, 0.5, q), *self.shapes))
        for probability, end in zip((0.0, 1.0), ends):
            if isinstance(end, float) and math.isinf(end):
                y = where(q == probability, end, y)
        y = y if _is(self.scale, 1.0) else self.scale * y
        return self.checked(y if _is(self.loc, 0.0) else y + self.loc)


def logpdf(dist: object, x: ArrayOrNumber, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    return MethodCall(dist, "logpdf", args, kwds).log_density(x)


def pdf(dist: object, x: AnyArray, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    return exp(MethodCall(dist, "pdf", args, kwds).log_density(x))


def logpmf(dist: object, k: AnyArray, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    return MethodCall(dist, "logpmf", args, kwds).log_mass(k)


def pmf(dist: object, k: AnyArray, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    return exp(MethodCall(dist, "pmf", args, kwds).log_mass(k))


def _probability(method: str, part: str, below: float, above: float) -> Callable:
    def probability(dist: object, x: ArrayOrNumber, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
        call = MethodCall(dist, method, args, kwds)
        call.known("cdf")
        return call.probability(x, getattr(call.record, part), below, above, hasattr(dist, "pmf"))
    return probability


def _quantile(method: str, part: str) -> Callable:
    def quantile(dist: object, q: ArrayOrNumber, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
        call = MethodCall(dist, method, args, kwds)
        call.known("ppf")
        ends = (call.low, call.high) if method == "ppf" else (call.high, call.low)
        return call.quantile(q, getattr(call.record, part), ends)
    return quantile


def entropy(dist: object, *args: AnyArray, **kwds: object) -> AnyArray:
    """The differential entropy: that of the standard distribution, and the logarithm of the scale."""
    call = MethodCall(dist, "entropy", args, kwds)
    call.known("entropy")
    return call.checked(call.record.entropy(*call.shapes) + log(call.scale))          # type: ignore[misc]


def _averages(dist: Any, method: str, args: tuple, kwds: dict, count: int) -> tuple:
    """The call, and the first of its mean, variance, skewness and kurtosis on the standard scale."""
    call = MethodCall(dist, method, args, kwds)
    found = AVERAGES[dist.name](*call.shapes) if dist.name in AVERAGES else ()
    if len(found) < count:
        raise UnsupportedFunctionError(f"{call.name} is not supported on traced arrays",
                                       why="fad has no formula for it", do="integrate over the density")
    return call, found


def mean(dist: object, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    call, found = _averages(dist, "mean", args, kwds, 1)
    return call.checked(call.scale * found[0] + call.loc)


def var(dist: object, *args: ArrayOrNumber, **kwds: object) -> AnyArray:
    call, found = _averages(dist, "var", args, kwds, 2)
    return call.checked(call.scale * call.scale * found[1] + 0.0 * call.loc)


def std(dist: object, *args: AnyArray, **kwds: object) -> AnyArray:
    return sqrt(var(dist, *args, **kwds))


def stats(dist: object, *args: AnyArray, moments: str = "mv", **kwds: object) -> tuple:
    """Mean, variance, skewness and excess kurtosis, those that `moments` names, in this order."""
    wanted = [k for k, letter in enumerate("mvsk") if letter in moments]
    call, found = _averages(dist, "stats", args, kwds, max(wanted, default=0) + 1)
    nothing = 0.0 * call.loc + 0.0 * call.scale
    each = [call.scale * found[0] + call.loc, call.scale * call.scale * found[1] + 0.0 * call.loc,
            *[part + nothing for part in found[2:]]]
    results = tuple([call.checked(each[k]) for k in wanted])
    return results[0] if len(results) == 1 else results


def median(dist: object, *args: AnyArray, **kwds: object) -> AnyArray:
    return QUANTILES["ppf"](dist, 0.5, *args, **kwds)


def interval(dist: object, confidence: object, *args: AnyArray, **kwds: object) -> tuple:
    """The ends of the interval around the median that has this probability."""
    tail = 0.5 * (1.0 - as_array(confidence))
    return tuple([QUANTILES["ppf"](dist, q, *args, **kwds) for q in (tail, 1.0 - tail)])


def nnlf(dist: object, theta: tuple, x: AnyArray) -> AnyArray:
    """The negative logarithm of the likelihood of a sample; infinite where it has none."""
    total = METHODS["sum"](logpdf(dist, x, *theta), axis=0)
    return where(total != total, math.inf, -total)


SHARED: "dict[str, Callable]" = {
    "cdf": _probability("cdf", "cdf", 0.0, 1.0), "sf": _probability("sf", "survival", 1.0, 0.0),
    "logcdf": _probability("logcdf", "log_probability", -math.inf, 0.0),
    "logsf": _probability("logsf", "log_survival", 0.0, -math.inf)}
QUANTILES: "dict[str, Callable]" = {"ppf": _quantile("ppf", "ppf"), "isf": _quantile("isf", "upper_quantile")}
SUMMARIES: "dict[str, Callable]" = {"mean": mean, "var": var, "std": std, "stats": stats}
CONTINUOUS_ONLY: "dict[str, Callable]" = {"pdf": pdf, "logpdf": logpdf, "entropy": entropy, "median": median,
                                          "interval": interval, "nnlf": nnlf}
DISCRETE_ONLY: "dict[str, Callable]" = {"pmf": pmf, "logpmf": logpmf}
for _calls in (SHARED, QUANTILES, SUMMARIES, CONTINUOUS_ONLY, DISCRETE_ONLY):
    _calls.update({name: in_double(call) for name, call in _calls.items()})
SAMPLES = {
    "rv_continuous.logpdf": ("stats.norm.logpdf(x, v, 1.0 + v)", "stats.gamma.logpdf(v, 2.0 + v, scale=0.7)",
                             "stats.t.logpdf(x, 3.0 + v)"),
    "rv_continuous.pdf": ("stats.beta.pdf(x, 1.5 + v, 2.0)", "stats.lognorm.pdf(v, 0.4 + v)"),
    "rv_continuous.cdf": ("stats.norm.cdf(x, v, 1.0 + v)", "stats.logistic.cdf(x, v)", "stats.t.cdf(x, 2.0 + v)"),
    "rv_continuous.logcdf": ("stats.norm.logcdf(x, v, 1.0 + v)", "stats.beta.logcdf(0.3, 1.0 + v, 2.0 + v)"),
    "rv_continuous.logsf": ("stats.norm.logsf(x, v, 1.0 + v)", "stats.gamma.logsf(v, 1.0 + v, scale=0.7)"),
    "rv_continuous.sf": ("stats.weibull_min.sf(x, 1.0 + v, scale=2.0)",),
    "rv_continuous.ppf": ("stats.norm.ppf(x, v, 1.0 + v)", "stats.gamma.ppf(0.3, 1.0 + v)"),
    "rv_continuous.isf": ("stats.gumbel_r.isf(x, v, 1.0 + v)", "stats.f.isf(0.3, 2.0 + v, 5.0)"),
    "rv_continuous.entropy": ("stats.gamma.entropy(1.0 + v, scale=v)",),
    "rv_continuous.mean": ("stats.gamma.mean(1.0 + v, x, scale=v)", "stats.truncnorm.mean(-v, 1.0)"),
    "rv_continuous.var": ("stats.beta.var(1.0 + v, 2.0, scale=x)", "stats.weibull_min.var(1.0 + v)"),
    "rv_continuous.std": ("stats.lognorm.std(v)", "stats.norm(v, x).std()"),
    "rv_continuous.stats": ("stats.gamma.stats(1.0 + v, moments='mvsk')",),
    "rv_continuous.median": ("stats.logistic.median(v, x)",),
    "rv_continuous.interval": ("stats.norm.interval(0.9, v, x)",),
    "rv_continuous.nnlf": ("stats.norm.nnlf((v[0], v[1]), x)",),
    "rv_discrete.mean": ("stats.poisson.mean(v)",), "rv_discrete.var": ("stats.binom.var(5, v)",),
    "rv_discrete.logpmf": ("stats.poisson.logpmf(i[:, None], v)", "stats.binom.logpmf(i[:, None], 5, v)"),
    "rv_discrete.pmf": ("stats.nbinom.pmf(i[:, None], 2.0 + v, v)",),
    "rv_discrete.cdf": ("stats.poisson.cdf(i[:, None], v)", "stats.nbinom.cdf(i[:, None], 2.0 + v, 0.4)")}
NEEDED = {"ppf": "ppf", "isf": "ppf", "median": "ppf", "interval": "ppf",
          "entropy": "entropy", **dict.fromkeys(("cdf", "sf", "logcdf", "logsf"), "cdf")}


def _note(table: dict, method: str) -> str:
    """The distributions that have the method."""
    if method in SUMMARIES:
        return "yes: " + ", ".join(sorted(name for name in table if name in AVERAGES))
    part = NEEDED.get(method, "log_density")
    return "yes: " + ", ".join(sorted(name for name, record in table.items() if getattr(record, part) is not None))


def _frozen(call: Callable) -> Callable:
    """The method of a distribution whose parameters are given already."""
    return lambda frozen, *args, **kwds: call(frozen.dist, *args, *frozen.args, **frozen.kwds, **kwds)


for _class, _table, _methods in (("rv_continuous", CONTINUOUS,
                                  {**SHARED, **SUMMARIES, **QUANTILES, **CONTINUOUS_ONLY}),
                                 ("rv_discrete", DISCRETE, {**SHARED, **SUMMARIES, **DISCRETE_ONLY})):
    for _name, _call in _methods.items():
        override(f"scipy.stats.{_class}.{_name}", samples=SAMPLES.get(f"{_class}.{_name}", ()),
                 note=_note(_table, _name))(_call)

@override("scipy.stats._distn_infrastructure.rv_frozen.stats", creation=True)
def frozen_stats(frozen: Any, moments: str = "mv") -> Any:
    return SUMMARIES["stats"](frozen.dist, *frozen.args, moments=moments, **frozen.kwds)


_OF_FROZEN: "dict[str, Callable]" = {name: call for name, call in SUMMARIES.items() if name != "stats"}
_FROZEN: "dict[str, dict[str, Callable]]" = {
    "rv_frozen": {**SHARED, **_OF_FROZEN, **QUANTILES,
                  **{name: CONTINUOUS_ONLY[name] for name in ("entropy", "median", "interval")}},
    "rv_continuous_frozen": {name: CONTINUOUS_ONLY[name] for name in ("pdf", "logpdf")},
    "rv_discrete_frozen": DISCRETE_ONLY}
for _class, _calls in _FROZEN.items():
    for _name, _method in _calls.items():
        override(f"scipy.stats._distn_infrastructure.{_class}.{_name}", creation=True)(_frozen(_method))
