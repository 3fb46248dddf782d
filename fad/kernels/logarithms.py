"""Logarithms of sums, products with a logarithm, and the logistic function, without overflow or cancellation.

    >>> float(logaddexp(-np.inf, -np.inf)), float(xlogy(0.0, 0.0))
    (-inf, 0.0)
"""
import math

import numpy as np

from fad.kernels.arithmetic import absolute, like, maximum, minimum, where
from fad.kernels.elementary import exp, exp2, log, log1p
from fad.kernels.promotion import formula, like_ufunc, real_floats

__all__ = ["expit", "log_expit", "logaddexp", "logaddexp2", "logit", "xlog1py", "xlogy"]

LOG2_E = 1 / math.log(2.0)


@formula(like_ufunc(np.logaddexp), np.logaddexp)
def logaddexp(x, y):
    """log(exp(x) + exp(y)), without overflow; equal infinities have no difference, so they are looked at first.

    >>> float(logaddexp(np.inf, np.inf)), round(float(logaddexp(1000.0, 1000.0)), 3)
    (inf, 1000.693)
    """
    d = where(x == y, like(0.0, x), -absolute(x - y))
    return maximum(x, y) + log1p(exp(d))


@formula(like_ufunc(np.logaddexp2), np.logaddexp2)
def logaddexp2(x, y):
    """log2(2**x + 2**y), without overflow.

    >>> float(logaddexp2(3.0, 3.0))
    4.0
    """
    d = where(x == y, like(0.0, x), -absolute(x - y))
    return maximum(x, y) + like(LOG2_E, x) * log1p(exp2(d))


@formula(real_floats(1))
def expit(x):
    """The logistic function 1 / (1 + exp(-x)).

    >>> float(expit(0.0))
    0.5
    """
    one = like(1.0, x)
    return one / (one + exp(-x))


@formula(real_floats(1))
def logit(x):
    """log(x / (1 - x)), the inverse of expit; near a half, where the quotient rounds to 1, by log1p.

    >>> float(logit(0.5))
    0.0
    """
    d = x + x - like(1.0, x)
    return where(absolute(d) < 0.5, log1p(d) - log1p(-d), log(x / (like(1.0, x) - x)))


@formula(real_floats(1))
def log_expit(x):
    """log(expit(x)), accurate in both tails.

    >>> float(log_expit(-1000.0))
    -1000.0
    """
    return minimum(x, like(0.0, x)) - log1p(exp(-absolute(x)))


@formula(real_floats(2))
def xlogy(x, y):
    """x log(y), zero at x = 0 unless y is a nan.

    >>> float(xlogy(0.0, 0.0))
    0.0
    """
    return where((x == 0) & (y == y), x, x * log(y))


@formula(real_floats(2))
def xlog1py(x, y):
    """x log(1 + y), zero at x = 0 unless y is a nan.

    >>> float(xlog1py(0.0, -1.0))
    0.0
    """
    return where((x == 0) & (y == y), x, x * log1p(y))
