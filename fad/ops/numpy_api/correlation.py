"""scipy.stats' linear dependence of two samples: pearsonr, linregress."""
import functools
import math
from typing import Any

from ...ir.op import registry
from ...util.array import AnyArray
from ...util.interrupts import reraise_interrupt
from ...util.lazy import imported
from .. import extents
from ..kinds import is_complex, shape_of
from ..override import BY_NAME, METHODS, override
from .arguments import live, rank, ravel, refuse
from .inference import sample
from .outcomes import Correlation, FittedLine, student_pvalue
from .summaries import mean

sqrt, absolute, where = (registry[name] for name in ("sqrt", "abs", "where"))


@override("scipy.stats.pearsonr",
          samples=("stats.pearsonr(v, np.sin(9 * v))[0]", "stats.pearsonr(v, np.sin(9 * v)).pvalue",
                   "stats.pearsonr(x, x[::-1] ** 2, axis=1)[0]"))
def pearsonr(x: AnyArray, y: AnyArray, *, alternative: str = "two-sided", method: object = None,
             axis: "int | None" = 0) -> Correlation:
    if alternative != "two-sided" or method is not None:
        raise refuse("scipy.stats.pearsonr", "alternative other than 'two-sided', or a method")
    x, ax = sample("pearsonr", x, axis)
    y = live(y) if axis is not None else ravel(live(y))
    if is_complex(x) or is_complex(y):
        raise ValueError("This function does not support complex data")
    if rank(x) != rank(y):
        raise refuse("scipy.stats.pearsonr", "arrays of different numbers of axes", do="reshape them first")
    n = extents.agree(shape_of(x)[ax], shape_of(y)[ax], "lengths of `x` and `y`")
    if not extents.is_at_least(n, 2):
        raise ValueError("`x` and `y` must have length at least 2.")
    r = _correlation(x, y, ax)
    if not extents.is_at_least(n, 3):                             # two points lie on a line
        outcome = Correlation(r, r * 0.0 + 1.0)
    else:
        half = n * 0.5 - 1.0
        outcome = Correlation(r, 2.0 * BY_NAME["scipy.special.betainc"].call(half, half, 0.5 * (1.0 - absolute(r))))
    outcome.n = n
    return outcome


def _correlation(x: Any, y: Any, axis: int) -> AnyArray:
    """The correlation coefficient. Rounding takes it beyond 1, and gives one to constants, which have none."""
    constant = [registry["all"](a == registry["slice_axis"](a, axis, 0, 1), axes=(axis,)) for a in (x, y)]
    x, y = (a - mean(a, axis=axis, keepdims=True) for a in (x, y))
    # squares of what is large or small leave the range of floats
    x, y = (a / registry["stop_gradient"](METHODS["max"](absolute(a), axis=axis, keepdims=True)) for a in (x, y))
    total = METHODS["sum"]
    r = total(x * y, axis=axis) / sqrt(total(x * x, axis=axis) * total(y * y, axis=axis))
    return where(constant[0] | constant[1], math.nan, registry["minimum"](registry["maximum"](r, -1.0), 1.0))


@override("scipy.stats.linregress",
          samples=("np.stack(stats.linregress(np.arange(4.0), v)[:3])", "stats.linregress(v, np.sin(9 * v)).pvalue",
                   "stats.linregress(v, np.sin(9 * v)).stderr"), precision="installed")
def linregress(x: AnyArray, y: AnyArray, alternative: str = "two-sided") -> FittedLine:
    if alternative != "two-sided":
        raise refuse("scipy.stats.linregress", "alternative other than 'two-sided'")
    x, y = live(x), live(y)
    if _installed_pvalue((1.0, 1.0), (0.0, 1.0)) is None:
        registry["check_that"](METHODS["max"](x) != METHODS["min"](x), True, error="ValueError",
                               what="Cannot calculate a linear regression if all x values are identical")
    dx, dy = x - mean(x), y - mean(y)
    slope, r = mean(dx * dy) / mean(dx * dx), _correlation(x, y, 0)
    if (_installed_pvalue((0.0, 1.0), (0.0, 1.0)) == 0.0
            and not extents.is_at_least(shape_of(x)[0], 3)):
        error, pvalue = 0.0 * absolute(slope), where(y[0] == y[1], 1.0, 0.0)
    else:
        free = shape_of(x)[0] - 2.0
        t = r * sqrt(free / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
        pvalue = student_pvalue(t, free, "two-sided")
        error = sqrt((1.0 - r * r) * mean(dy * dy) / mean(dx * dx) / free)
    line = FittedLine(slope, mean(y) - slope * mean(x), r, pvalue, error)
    line.intercept_stderr = error * sqrt(mean(dx * dx) + mean(x) ** 2)
    return line


@functools.cache
def _installed_pvalue(x: tuple, y: tuple) -> "float | None":
    """SciPy's p-value of a line; None where it refuses. From 1.18 on, what is not determined is nan."""
    try:
        return float(imported("scipy.stats").linregress(x, y).pvalue)
    except ValueError as error:
        reraise_interrupt(error)
        return None
