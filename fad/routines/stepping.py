"""The common parts of the methods of solve_ivp: tolerances, the first step, and the polynomial of a step.

A step's polynomial is a triple (origin, width, powers): y(t) is the sum of powers[k] x^k, x = (t - origin) / width.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber

PRECISION, TINIEST = np.finfo(float).eps, np.finfo(float).smallest_subnormal
ONE = np.float64(1.0)                                        # makes a number one of NumPy's, on every way


class Problem:
    """An initial value problem, as a method sees it.

    slope: (t, y) -> dy/dt as an array. jacobian: (t, y) -> its matrix of derivatives, for implicit methods, and
    is_constant whether that is always the same.
    """

    def __init__(self, slope: Callable, tf: AnyArray, direction: float, max_step: AnyArray, rtol: Any,
                 atol: ArrayOrNumber, jacobian: Callable, is_constant: bool):
        self.slope, self.tf, self.direction, self.max_step = slope, tf, direction, max_step
        self.jacobian, self.is_constant = jacobian, is_constant
        self.rtol, self.atol = np.maximum(rtol, 100 * PRECISION), atol

    def scale(self, y: AnyArray) -> AnyArray:
        return self.atol + y * self.rtol


def norm(x: AnyArray) -> AnyArray:
    return np.linalg.norm(x) / x.size ** 0.5


def newton_tolerance(rtol: AnyArray) -> AnyArray:
    """The distance from the solution at which SciPy's Newton iterations may end, in units of the tolerance."""
    return max(10 * PRECISION / rtol, min(ONE * 0.03, rtol ** 0.5))


def least_step(t: AnyArray) -> AnyArray:
    """Ten spacings between numbers at t."""
    return max(10 * PRECISION * abs(t), 10 * TINIEST)


def check_step(size: AnyArray, least: AnyArray) -> None:
    if not size >= least:                                     # nor is nan
        raise RuntimeError("Required step size is less than spacing between numbers.")


def end_of_step(problem: "Problem", t: AnyArray, size: AnyArray) -> AnyArray:
    """The end of a step of this size: not beyond the end."""
    t_new = t + size * problem.direction
    if problem.direction * (t_new - problem.tf) > 0:
        t_new = problem.tf
    return t_new


def first_size(problem: "Problem", t0: AnyArray, y0: AnyArray, f0: AnyArray, order: int) -> AnyArray:
    """The size of the first step (Hairer, Norsett, Wanner, section II.4)."""
    scale, direction, whole = problem.scale(np.abs(y0)), problem.direction, abs(problem.tf - t0)
    d0, d1 = norm(y0 / scale), norm(f0 / scale)
    if d0 < 1e-5 or d1 < 1e-5:
        h0 = ONE * 1e-6
    else:
        h0 = 0.01 * d0 / d1
    h0 = min(h0, whole)
    d2 = norm((problem.slope(t0 + h0 * direction, y0 + h0 * direction * f0) - f0) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(ONE * 1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1 / (order + 1))
    return min(100 * h0, h1, whole, problem.max_step)


def begin(problem: "Problem", t: AnyArray, y: AnyArray, first_step: object, order: int) -> tuple:
    """The slope at the start, the size of the first step (None: chosen here), and the number of calls of the slope."""
    f = problem.slope(t, y)
    size = first_size(problem, t, y, f, order) if first_step is None else first_step
    return f, ONE * size, 1 + (first_step is None)


def value_at(origin: AnyArray, width: AnyArray, powers: AnyArray, t: AnyArray) -> AnyArray:
    """The polynomial of a step at the time t."""
    x = (t - origin) / width
    y = powers[-1]
    for k in range(2, powers.shape[0] + 1):
        y = y * x + powers[-k]
    return y
