"""Results of scipy.stats' tests: tuples with further attributes, as SciPy's are.

A program returns the tuple. Its attributes are for the function that has made it.

Formulas: SciPy's reference of scipy.stats; R. A. Fisher, Metron 1 (1921) 3 (the interval of a correlation).
"""
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ir.op import registry
from ...util.array import AnyArray, ArrayOrNumber, Extent
from ..override import BY_NAME
from .arguments import refuse


class Found(NamedTuple):
    """The result of most tests."""

    statistic: Any
    pvalue: Any


class Interval(NamedTuple):
    """A confidence interval."""

    low: Any
    high: Any


def _tails(quantile: Callable, level: float, alternative: str) -> tuple:
    """The ends of an interval around zero that has so much probability, for symmetric distributions."""
    if alternative == "two-sided":
        end = quantile(0.5 + 0.5 * level)
        return -end, end
    return (-math.inf, quantile(level)) if alternative == "less" else (-quantile(level), math.inf)


class RankCorrelation(Found):
    """The result of spearmanr."""

    @property
    def correlation(self) -> AnyArray:
        return self.statistic


class Correlation(RankCorrelation):
    """The result of pearsonr, of n pairs."""

    n: Extent

    def confidence_interval(self, confidence_level: float = 0.95, method: object = None) -> Interval:
        """By Fisher's transformation, whose error is 1 / sqrt(n - 3)."""
        if method is not None or not isinstance(self.n, int):
            raise refuse("scipy.stats.pearsonr(...).confidence_interval",
                         "a method" if method is not None else "samples of unknown length")
        if self.n <= 3:
            return Interval(0.0 * self.statistic - 1.0, 0.0 * self.statistic + 1.0)
        ends = _tails(BY_NAME["scipy.special.ndtri"].call, confidence_level, "two-sided")
        place, error = registry["arctanh"](self.statistic), 1.0 / math.sqrt(self.n - 3)
        return Interval(*[registry["tanh"](place + end * error) for end in ends])


class TTestResult(Found):
    """The result of a t-test: an estimate with a standard error, and degrees of freedom."""

    df: ArrayOrNumber
    _estimate: ArrayOrNumber
    _error: ArrayOrNumber
    _alternative: str

    def confidence_interval(self, confidence_level: float = 0.95) -> Interval:
        ends = _tails(lambda p: BY_NAME["scipy.special.stdtrit"].call(self.df, p), confidence_level,
                      self._alternative)
        def at(end: AnyArray) -> AnyArray:
            is_open = isinstance(end, float) and math.isinf(end)
            return 0.0 * self._estimate + end if is_open else end * self._error + self._estimate
        return Interval(*map(at, ends))


def of_t(estimate: AnyArray, expected: ArrayOrNumber, error: AnyArray, df: ArrayOrNumber,
         alternative: str) -> TTestResult:
    """The t-test of an estimate that is expected to be so much."""
    t = (estimate - expected) / error
    outcome = TTestResult(t, student_pvalue(t, df, alternative))
    outcome.df, outcome._estimate, outcome._error, outcome._alternative = df, estimate, error, alternative
    return outcome


def pvalue(cdf: Callable, statistic: AnyArray, alternative: str) -> AnyArray:
    """The p-value by a distribution that is symmetric around zero."""
    if alternative == "two-sided":
        return 2.0 * cdf(-registry["abs"](statistic))
    return cdf(statistic if alternative == "less" else -statistic)


def student_pvalue(t: AnyArray, df: ArrayOrNumber, alternative: str) -> AnyArray:
    return pvalue(lambda t: BY_NAME["scipy.special.stdtr"].call(df, t), t, alternative)


class _Line(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


class FittedLine(_Line):
    """The result of linregress."""

    intercept_stderr: ArrayOrNumber
