"""The steps of SciPy's explicit Runge-Kutta pairs, with SciPy's own coefficients (E. Hairer, S. P. Norsett, G. Wanner,
Solving Ordinary Differential Equations I, sections II.4 to II.6).

The state between two steps: the time, the solution, its slope, the next step's size, and whether the last attempt was
rejected.
"""
from typing import Any

import numpy as np
from scipy.integrate import DOP853

from ..util.array import AnyArray
from .stepping import ONE, Problem, begin, check_step, end_of_step, least_step, norm

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # limits of the ratio of the next step to the last one


def _products(count: int) -> np.ndarray:
    """The powers of x in the functions x, x (1 - x), x^2 (1 - x), ...: DOP853's polynomial is a sum of these."""
    columns, product = [], np.polynomial.Polynomial([0.0, 1.0])
    for k in range(count):
        columns.append(np.pad(product.coef, (0, count + 1 - len(product.coef))))
        product = product * np.polynomial.Polynomial([1.0, -1.0] if k % 2 == 0 else [0.0, 1.0])
    return np.transpose(columns)


PRODUCTS = _products(3 + DOP853.D.shape[0])


class ExplicitPair:
    """One of the pairs: how a step is tried, and what the polynomial of a step is."""

    side = "left"                                             # where two steps meet, the earlier one's polynomial holds

    def __init__(self, pair: Any):
        self.pair, self.order = pair, pair.error_estimator_order
        self.calls_of_polynomial = len(pair.C_EXTRA) if pair is DOP853 else 0

    def start(self, problem: Problem, t: AnyArray, y: AnyArray, first_step: object) -> tuple:
        """The state at the start, and the number of calls of the slope."""
        f, size, calls = begin(problem, t, y, first_step, self.order)
        return (t, y, f, size, False), calls, 0

    def attempt(self, problem: Problem, state: tuple) -> tuple:
        """Whether a step is accepted, the state after it, what its polynomial is made of, and the calls that it took.
        """
        t, y, f, size, was_rejected = state
        pair, least = self.pair, least_step(t)
        size = max(min(size, problem.max_step), least) if not was_rejected else size
        check_step(size, least)
        t_new = end_of_step(problem, t, size)
        h = t_new - t
        size = abs(h)
        slopes = self.stages(problem, t, y, f, h)
        y_new = y + h * (pair.B @ slopes[:-1])
        f_new = problem.slope(t_new, y_new)
        slopes[-1] = f_new
        error = self.error(slopes, h, problem.scale(np.maximum(np.abs(y), np.abs(y_new))))
        is_accepted = error < 1
        if is_accepted:
            factor = ONE * MOST
            if error > 0:
                factor = min(ONE * MOST, SAFETY * error ** (-1 / (self.order + 1)))
            if was_rejected:
                factor = min(ONE, factor)
            state = (t_new, y_new, f_new, size * factor, False)
        else:
            state = (t, y, f, size * max(ONE * LEAST, SAFETY * error ** (-1 / (self.order + 1))), True)
        return is_accepted, state, (t, y, y_new, h, slopes), (pair.n_stages, 0)

    def stages(self, problem: Problem, t: AnyArray, y: AnyArray, f: AnyArray, h: AnyArray) -> Any:
        """The slopes at the stages of a step, and room for the one at its end."""
        pair = self.pair
        slopes = np.empty((pair.n_stages + 1, y.size), y.dtype)
        slopes[0] = f
        for s in range(1, pair.n_stages):
            slopes[s] = problem.slope(t + pair.C[s] * h, y + pair.A[s, :s] @ slopes[:s] * h)
        return slopes

    def error(self, slopes: AnyArray, h: AnyArray, scale: AnyArray) -> Any:
        """The estimate of a step's error: below 1 if it is within the tolerance."""
        pair = self.pair
        if pair is not DOP853:
            return norm(pair.E @ slopes * h / scale)
        fifth, third = np.linalg.norm(pair.E5 @ slopes / scale) ** 2, np.linalg.norm(pair.E3 @ slopes / scale) ** 2
        if fifth == 0 and third == 0:
            error = ONE * 0.0
        else:
            error = np.abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * scale.size)
        return error

    def polynomial(self, problem: Problem, step: tuple) -> tuple:
        """The polynomial of a step; DOP853's takes further stages."""
        t, y, y_new, h, slopes = step
        pair = self.pair
        if pair is not DOP853:
            return t, h, np.concatenate((y[None], h * (pair.P.T @ slopes)))
        parts = self.parts_of_dop853(y, y_new, h, slopes, self.more_stages(problem, t, y, h, slopes))
        return t, h, np.concatenate((y[None], PRODUCTS[1:] @ parts))

    def more_stages(self, problem: Problem, t: AnyArray, y: AnyArray, h: AnyArray, slopes: AnyArray) -> AnyArray:
        pair, count = self.pair, len(self.pair.C_EXTRA)
        more = np.empty((slopes.shape[0] + count, y.size), y.dtype)
        more[:-count] = slopes
        for s in range(count):
            k = slopes.shape[0] + s
            more[k] = problem.slope(t + pair.C_EXTRA[s] * h, y + pair.A_EXTRA[s, :k] @ more[:k] * h)
        return more

    def parts_of_dop853(self, y: AnyArray, y_new: AnyArray, h: AnyArray, slopes: AnyArray, more: AnyArray) -> AnyArray:
        parts = np.empty((3 + self.pair.D.shape[0], y.size), y.dtype)
        parts[0] = y_new - y
        parts[1] = h * slopes[0] - parts[0]
        parts[2] = 2 * parts[0] - h * (slopes[-1] + slopes[0])
        parts[3:] = h * (self.pair.D @ more)
        return parts
