"""A distribution of scipy.stats on its standard scale: functions of the variable and of the distribution's shapes."""
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ....util.array import AnyArray, ArrayOrNumber
from ...choice import where
from ...transcendental import log, log1p


def _all_positive(*shapes: ArrayOrNumber) -> ArrayOrNumber:
    """SciPy's usual condition on shapes."""
    fits: Any = True
    for shape in shapes:
        fits = (shape > 0) & fits
    return fits


def _log_of(part: AnyArray, rest: ArrayOrNumber) -> AnyArray:
    """log(part), for a part of 1; by the rest where that is the smaller one, and keeps its digits."""
    most = part > 0.5
    return where(most, log1p(-where(most, rest, 0.0)), log(where(most, 1.0, part)))


class Distribution(NamedTuple):
    """A distribution. Every function takes the variable (or a probability) first, then the shapes.

    log_density:   the logarithm of the density, or of the probability of an integer.
    cdf, sf:       the probability of at most, and of more than, the variable; `sf` is 1 - cdf unless it is given.
    log_cdf, ...:  where the logarithm has a form that does not underflow.
    ppf, isf:      the inverses of cdf and sf.
    low, high:     the ends of the support, as functions of the shapes.
    within:        a point of the support: stands in for arguments outside it, whose formulas are not to be evaluated.
    valid:         whether the shapes are allowed ones.
    entropy:       of the standard distribution.
    """

    log_density: Callable
    cdf: "Callable | None" = None
    sf: "Callable | None" = None
    ppf: "Callable | None" = None
    isf: "Callable | None" = None
    log_cdf: "Callable | None" = None
    log_sf: "Callable | None" = None
    low: Callable = lambda *shapes: -math.inf
    high: Callable = lambda *shapes: math.inf
    within: Callable = lambda *shapes: 0.5
    valid: Callable = _all_positive
    entropy: "Callable | None" = None

    def survival(self, x: ArrayOrNumber, *shapes: ArrayOrNumber) -> AnyArray:
        return self.sf(x, *shapes) if self.sf else 1.0 - self.cdf(x, *shapes)                    # type: ignore[misc]

    def log_probability(self, x: ArrayOrNumber, *shapes: ArrayOrNumber) -> AnyArray:
        if self.log_cdf:
            return self.log_cdf(x, *shapes)
        below = self.cdf(x, *shapes)                                                             # type: ignore[misc]
        return _log_of(below, self.sf(x, *shapes)) if self.sf else log(below)

    def log_survival(self, x: ArrayOrNumber, *shapes: ArrayOrNumber) -> AnyArray:
        if self.log_sf:
            return self.log_sf(x, *shapes)
        return _log_of(self.survival(x, *shapes), self.cdf(x, *shapes))                          # type: ignore[misc]

    def upper_quantile(self, q: AnyArray, *shapes: ArrayOrNumber) -> AnyArray:
        return self.isf(q, *shapes) if self.isf else self.ppf(1.0 - q, *shapes)                  # type: ignore[misc]
