"""Logistic functions, logarithms and entropies that are right at zero, losses, power transforms.

The definition includes 0 log 0 = 0, and the derivative follows: constant where the function is, infinite where its
slope is.
"""
from typing import Any

import numpy as np

from ...ir.op import Op
from ...util.array import AnyArray, ArrayOrNumber
from ..choice import abs as absolute
from ..choice import clip, where
from ..pointwise import in_program, op
from ..transcendental import LN10, log, log1p, sin, sqrt
from .base import PI, POSITIVE, special

UNIT = (0.1, 0.9)

# -- logistic --------------------------------------------------------------------------------------


def _logistic(x: Any) -> Any:
    """1 / (1 + exp(-x)), accurate in both tails: where exp(-x) overflows, the value is 0."""
    with np.errstate(over="ignore"):
        y = np.exp(-x)
    y += 1.0
    return 1.0 / y


expit: Op = special("expit", lambda y, x: y * (expit(-x) if in_program(y) else 1.0 - y), domain=(-2.0, 2.0),
                    formula=_logistic)
logit = special("logit", lambda y, x: 1.0 / (x * (1.0 - x)), domain=UNIT)
log_expit = special("log_expit", lambda y, x: expit(-x), domain=(-2.0, 2.0))

# -- x log y and entropies -------------------------------------------------------------------------


def _ratio(x: ArrayOrNumber, y: AnyArray) -> AnyArray:
    """x / y, and 0 where both are 0."""
    none = (x == 0) & (y == 0)
    return where(none, 0.0, x / where(none, 1.0, y))


def _log_unless(constant: AnyArray, y: AnyArray, logarithm: Op) -> AnyArray:
    """log y, and 0 where the function is constantly 0 for want of a logarithm."""
    return where(constant, 0.0, logarithm(where(constant, 1.0, y)))


def _positive(x: Any) -> Any:
    return op("real")(x) if x.dtype.kind == "c" else x


xlogy = special("xlogy", lambda z, x, y: _log_unless((x == 0) & (y == 0), y, log), lambda z, x, y: _ratio(x, y))
xlog1py = special("xlog1py", lambda z, x, y: _log_unless((x == 0) & (y == -1), y, log1p),
                  lambda z, x, y: _ratio(x, 1.0 + y))
entr = special("entr", lambda y, x: -log(x) - 1.0, singular=(0,))
rel_entr = special("rel_entr", lambda z, x, y: log(x) - log(y) + 1.0, lambda z, x, y: -_ratio(x, y), singular=(0,))
kl_div = special("kl_div", lambda z, x, y: log(x) - log(y), lambda z, x, y: 1.0 - _ratio(x, y), singular=(0,))

# -- losses ----------------------------------------------------------------------------------------


def _huber_width(y: object, delta: object, r: object) -> AnyArray:
    excess = absolute(r) - delta
    return where(excess > 0, excess, 0.0)


def _pseudo_slope(y: object, delta: AnyArray, r: AnyArray) -> AnyArray:
    return r / sqrt(1.0 + (r / delta) * (r / delta))


huber = special("huber", _huber_width, lambda y, delta, r: clip(r, -delta, delta), domain=((0.4, 0.6), (-2.0, 2.0)))
pseudo_huber = special("pseudo_huber", lambda y, delta, r: 2.0 * y / delta - _pseudo_slope(y, delta, r) * r / delta,
                       _pseudo_slope, domain=(POSITIVE, (-2.0, 2.0)))

# -- powers in other clothes -----------------------------------------------------------------------

# With t = p log x, boxcox(x, p) = log x * exprel(t); exprel(t) = (e^t - 1) / t = 1F1(1; 2; t), so that nothing is
# singular at p = 0. With u = p y, log inv_boxcox(y, p) = y * log1p(u) / u, and log1p(u) / u = 2F1(1, 1; 2; -u).


def _relative_slope(t: AnyArray) -> AnyArray:
    """The derivative of exprel, (e^t (t - 1) + 1) / t^2."""
    return 0.5 * op("hyp1f1")(2.0, 3.0, t)


def _log_slope(u: AnyArray) -> AnyArray:
    """The derivative of log1p(u) / u."""
    return -0.5 * op("hyp2f1")(2.0, 2.0, 3.0, -u)


exprel = special("exprel", lambda y, x: _relative_slope(x), domain=(-2.0, 2.0))
boxcox = special("boxcox", lambda y, x, p: x ** (p - 1.0),
                 lambda y, x, p: log(x) * log(x) * _relative_slope(p * log(x)))
boxcox1p = special("boxcox1p", lambda y, x, p: (1.0 + x) ** (p - 1.0),
                   lambda y, x, p: log1p(x) * log1p(x) * _relative_slope(p * log1p(x)))
inv_boxcox = special("inv_boxcox", lambda z, y, p: z / (1.0 + p * y), lambda z, y, p: z * y * y * _log_slope(p * y))
inv_boxcox1p = special("inv_boxcox1p", lambda z, y, p: (1.0 + z) / (1.0 + p * y),
                       lambda z, y, p: (1.0 + z) * y * y * _log_slope(p * y))
powm1 = special("powm1", lambda z, x, p: p * x ** (p - 1.0), lambda z, x, p: (1.0 + z) * log(x))
exp10 = special("exp10", lambda y, x: LN10 * y, domain=(-1.0, 1.0))
cosm1 = special("cosm1", lambda y, x: -sin(x), domain=(-2.0, 2.0))

# -- degrees ---------------------------------------------------------------------------------------

DEGREE = PI / 180.0
sindg = special("sindg", lambda y, x: DEGREE * cosdg(x), domain=(10.0, 80.0))
cosdg: Op = special("cosdg", lambda y, x: -DEGREE * sindg(x), domain=(10.0, 80.0))
tandg = special("tandg", lambda y, x: DEGREE * (1.0 + y * y), domain=(10.0, 80.0))
cotdg = special("cotdg", lambda y, x: -DEGREE * (1.0 + y * y), domain=(10.0, 80.0))
radian = special("radian", lambda y, d, m, s: DEGREE, lambda y, d, m, s: DEGREE / 60.0,
                 lambda y, d, m, s: DEGREE / 3600.0)
