"""The steps of SciPy's BDF: backward differentiation formulas of orders 1 to 5, of variable step size (L. F. Shampine,
M. W. Reichelt, The MATLAB ODE Suite, SIAM Journal on Scientific Computing 18 (1997) 1).

    d = y - y_predicted solves   c f(t, y_predicted + d) - psi - d = 0,    c = h / alpha[order]

SciPy's Newton iteration finds d, with SciPy's tests of convergence; the derivative of d is that of the equation's
solution. The state between two attempts: the time, the solution, the next step's size, the differences D of the
solution, the order, the number of equal steps, the Jacobian, whether it is that of this time, and the c that it was
factorised for (0: none).
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray, ArrayOrNumber
from . import above
from .stepping import ONE, Problem, begin, check_step, end_of_step, least_step, newton_tolerance, norm

ORDERS, ITERATIONS, LEAST, MOST = 5, 4, 0.2, 10.0
KAPPA = np.array([0, -0.1850, -1 / 9, -0.0823, -0.0415, 0])
GAMMA = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, ORDERS + 1))))
ALPHA = (1 - KAPPA) * GAMMA
ERROR = KAPPA * GAMMA + 1 / np.arange(1, ORDERS + 2)
INDEX = np.arange(ORDERS + 1)


def _change(factor: ArrayOrNumber) -> AnyArray:
    """The matrix R that goes with a change of the step size by this factor."""
    rows = np.maximum(INDEX, 1)[:, None]
    steps = np.where(INDEX > 0, (rows - 1 - factor * INDEX) / rows, 0.0)
    return np.cumprod(np.where(INDEX[:, None] > 0, steps, 1.0), axis=0)


EQUAL = _change(1.0)


def _powers() -> np.ndarray:
    """The powers of x in 1, x, x (x + 1) / 2, x (x + 1) (x + 2) / 6, ..., a column for each."""
    columns, product = [], np.polynomial.Polynomial([1.0])
    for k in range(ORDERS + 1):
        columns.append(np.pad(product.coef, (0, ORDERS + 1 - len(product.coef))))
        product = product * np.polynomial.Polynomial([k, 1.0]) / (k + 1)
    return np.transpose(columns)


POWERS = _powers()


class Backward:
    """BDF: how a step is tried, and what the polynomial of a step is."""

    side = "right"                                            # where two steps meet, the later one's polynomial holds
    calls_of_polynomial = 0

    def start(self, problem: Problem, t: AnyArray, y: AnyArray, first_step: object) -> tuple:
        """The state at the start, the number of calls of the slope, and of Jacobians."""
        f, size, calls = begin(problem, t, y, first_step, 1)
        zeros = np.zeros((ORDERS + 1, y.size))
        D = np.concatenate((y[None], (f * size * problem.direction)[None], zeros))
        matrix = problem.jacobian(t, y)
        return (t, y, size, D, 1, 0, matrix, problem.is_constant, ONE * 0.0), calls, 1

    def attempt(self, problem: Problem, state: tuple) -> tuple:
        """Whether a step is accepted, the state after it, what its polynomial is made of, and the numbers of calls and
        Jacobians that it took."""
        t, y, size, D, order, equal, matrix, is_current, c_of = state
        least = least_step(t)
        check_step(size, least)
        t_new = t + size * problem.direction
        if bool(size > problem.max_step) or bool(problem.direction * (t_new - problem.tf) > 0):
            t_new = end_of_step(problem, t, min(size, problem.max_step))
            D, equal, c_of = rescaled(D, order, abs(t_new - t) / size), 0, ONE * 0.0
        h = t_new - t
        size = abs(h)
        c, of_order = h / ALPHA[order], INDEX <= order
        if c_of == 0:
            c_of = c
        predicted = np.where(of_order, ONE, 0.0) @ D[:-2]
        psi = np.where(of_order, GAMMA, 0.0) @ D[:-2] / ALPHA[order]
        scale = problem.scale(np.abs(predicted))
        is_found, iterations, d, _ = _newton(problem, t_new, predicted, c, psi, c_of, matrix, scale)
        d = above.solution(lambda d: c * problem.slope(t_new, predicted + d) - psi - d, d)
        safety = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + iterations)
        scale = problem.scale(np.abs(predicted + d))
        error = norm(ERROR[order] * d / scale)
        is_accepted, matrices, factor = False, 0, ONE
        if not is_found:
            c_of = ONE * 0.0
            if is_current:
                factor = ONE * 0.5
            else:
                matrix, is_current, matrices = problem.jacobian(t_new, predicted), True, 1
        elif error > 1:
            factor = max(ONE * LEAST, safety * error ** (-1 / (order + 1)))
        else:
            is_accepted, is_current = True, problem.is_constant
            t, y, equal = t_new, predicted + d, equal + 1
            D = _advanced(D, d, order)
            if equal >= order + 1:
                order, factor = _best(D, order, error, scale, safety)
                c_of = ONE * 0.0
        if factor != 1:
            size, D, equal = size * factor, rescaled(D, order, factor), 0
        state = (t, y, size, D, order, equal, matrix, is_current, c_of)
        return is_accepted, state, (t_new, problem.direction * size, D, order), (iterations, matrices)

    def polynomial(self, problem: Problem, step: tuple) -> tuple:
        """The polynomial through the last values; D holds their differences."""
        t, width, D, order = step
        return t, width, (POWERS * np.where(INDEX <= order, ONE, 0.0)) @ D[:-2]


def rescaled(D: AnyArray, order: AnyArray, factor: AnyArray) -> AnyArray:
    """The differences for a step size changed by this factor."""
    of_order = np.where(INDEX <= order, ONE, 0.0)
    change = (_change(factor) * of_order) @ (EQUAL * of_order)
    changed = (change * of_order[:, None]).T @ D[:-2]
    return np.concatenate((np.where(of_order[:, None] > 0, changed, D[:-2]), D[-2:]))


def _newton(problem: Problem, t: AnyArray, predicted: AnyArray, c: AnyArray, psi: AnyArray, c_of: AnyArray,
            matrix: AnyArray, scale: AnyArray) -> tuple:
    """Whether the iteration converges, how many iterations it takes, the solution d and the rate of convergence. No
    derivative goes through."""
    still = above.held(lambda d: c * problem.slope(t, predicted + d) - psi - d, predicted)
    c_of, matrix, scale, d = [above.stopped(x) for x in (c_of, matrix, scale, predicted)]
    inverse = np.linalg.inv(np.eye(d.size) - c_of * matrix)
    d = d * 0.0
    return newton(still, lambda r: inverse @ r, d, scale, newton_tolerance(problem.rtol), ITERATIONS)


def newton(residual: Callable, solve: Callable, x: AnyArray, scale: AnyArray, tolerance: AnyArray, most: int) -> tuple:
    """Whether SciPy's simplified Newton iteration converges, the number of iterations, the solution, and the rate of
    convergence."""
    is_found, is_over, k, last, rate = False, False, 0, ONE * 0.0, ONE * 0.0
    while k < most and not is_over:
        r = residual(x)
        step = solve(r)
        size = norm(step / scale)
        if k > 0:
            rate = size / last
        is_slow = k > 0 and bool((rate >= 1) | (rate ** (most - k) / (1 - rate) * size > tolerance))
        if is_slow or not bool(np.all(np.isfinite(r))):
            is_over = True
        else:
            x = x + step
            if bool(size == 0) or (k > 0 and bool(rate / (1 - rate) * size < tolerance)):
                is_found, is_over = True, True
        last, k = size, k + 1
    return is_found, k, x, rate


def _advanced(D: Any, d: Any, order: Any) -> AnyArray:
    """The differences after a step; d is the next one."""
    D = D.copy()
    D[order + 2] = d - D[order + 1]
    D[order + 1] = d
    for i in range(order, -1, -1):
        D[i] += D[i + 1]
    return D


def _best(D: AnyArray, order: AnyArray, error: AnyArray, scale: AnyArray, safety: AnyArray) -> tuple:
    """The order whose error allows the largest step, and the factor to that step's size."""
    lower, higher = ONE * np.inf, ONE * np.inf
    if order > 1:
        lower = norm(ERROR[order - 1] * D[order] / scale)
    if order < ORDERS:
        higher = norm(ERROR[order + 1] * D[order + 2] / scale)
    factors = [_growth(lower, order), _growth(error, order + 1), _growth(higher, order + 2)]
    if factors[0] >= factors[1] and factors[0] >= factors[2]:
        order, factor = order - 1, factors[0]
    elif factors[1] >= factors[2]:
        factor = factors[1]
    else:
        order, factor = order + 1, factors[2]
    return order, min(ONE * MOST, safety * factor)


def _growth(error: AnyArray, order: AnyArray) -> AnyArray:
    factor = ONE * np.inf
    if error > 0:
        factor = error ** (-1 / order)
    return factor
