"""The steps of SciPy's Radau: the implicit Runge-Kutta method Radau IIA of order 5 (E. Hairer, G. Wanner, Solving
Ordinary Differential Equations II, section IV.8).

    Z[i] = y at t + C[i] h, less y(t), solves   f(t + C[i] h, y + Z[i]) = (A^-1 Z)[i] / h,    A^-1 = T diag(MU) T^-1

SciPy's Newton iteration finds Z in coordinates W = T^-1 Z, where the matrix falls into a real and a complex part. The
derivative of Z is that of the equation's solution. The estimate of the error takes the Jacobian, and so do the sizes of
steps: for these, the Jacobian has a derivative, too.

The state between two attempts: the time, the solution, its slope, the next step's size; the sizes that were planned for
this step and for the last one, and the last error; the Jacobian, whether it is that of this time, and the step that
it was factorised for (0: none); whether this step was tried, and rejected; the last step's polynomial.
"""

import numpy as np

from ..util.array import AnyArray
from . import above
from .bdf import newton
from .stepping import ONE, Problem, begin, check_step, end_of_step, least_step, newton_tolerance, norm, value_at

ROOT = 6 ** 0.5
C = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1])
E = np.array([-13 - 7 * ROOT, -13 + 7 * ROOT, -1]) / 3
MU_REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
MU_COMPLEX = 3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)) - 0.5j * (3 ** (5 / 6) + 3 ** (7 / 6))
T = np.array([[0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
              [0.25021312296533332, 0.20412935229379994, -0.38294211275726192], [1, 1, 0]])
TI = np.array([[4.17871859155190428, 0.32768282076106237, 0.52337644549944951],
               [-4.17871859155190428, -0.32768282076106237, 0.47662355450055044],
               [0.50287263494578682, -2.57192694985560522, 0.59603920482822492]])
INVERSE = np.linalg.inv(np.array([[(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
                                  [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
                                  [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9]]))
P = np.array([[13 / 3 + 7 * ROOT / 3, -23 / 3 - 22 * ROOT / 3, 10 / 3 + 5 * ROOT],
              [13 / 3 - 7 * ROOT / 3, -23 / 3 + 22 * ROOT / 3, 10 / 3 - 5 * ROOT], [1 / 3, -8 / 3, 10 / 3]])
ITERATIONS, LEAST, MOST = 6, 0.2, 10.0


class ImplicitRungeKutta:
    """Radau: how a step is tried, and what the polynomial of a step is."""

    side = "left"                                             # where two steps meet, the earlier one's polynomial holds
    calls_of_polynomial = 0

    def start(self, problem: Problem, t: AnyArray, y: AnyArray, first_step: object) -> tuple:
        """The state at the start, the number of calls of the slope, and of Jacobians."""
        f, size, calls = begin(problem, t, y, first_step, 3)
        still = (t, ONE, np.concatenate((y[None], np.zeros((3, y.size)))))
        none = ONE * 0.0
        state = (t, y, f, size, size, none, none, problem.jacobian(t, y), True, none, False, False, still)
        return state, calls, 1

    def attempt(self, problem: Problem, state: tuple) -> tuple:
        """Whether a step is accepted, the state after it, what its polynomial is made of, and the numbers of calls and
        Jacobians that it took."""
        t, y, f, size, planned, planned_last, error_last, matrix, is_current, h_of, *tried, last = state
        was_tried, was_rejected = tried
        least = least_step(t)
        if not was_tried and bool((size > problem.max_step) | (size < least)):
            size = max(min(size, problem.max_step), least)
            planned_last, error_last = ONE * 0.0, ONE * 0.0
        check_step(size, least)
        t_new = end_of_step(problem, t, size)
        h = t_new - t
        size = abs(h)
        if h_of == 0:
            h_of = h
        origin, width, powers = last
        guess = np.stack([value_at(origin, width, powers, t + c * h) - y for c in C])
        is_found, iterations, Z, rate = _newton(problem, t, y, h, h_of, guess, matrix)
        Z = above.solution(lambda Z: _residual(problem, t, y, h, Z), np.reshape(Z, (-1,)))
        Z = np.reshape(Z, (3, y.size))
        y_new = y + Z[2]
        error, calls = _error(problem, t, y, y_new, f, E @ Z / h, matrix, h_of, was_rejected)
        safety = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + iterations)
        factor = safety * _predicted(size, planned_last, error, error_last)
        is_accepted, matrices, was_tried = False, 0, True
        piece = (t, h, np.concatenate((y[None], P.T @ Z)))
        if not is_found:
            h_of = h * 0.0
            if is_current:
                size = 0.5 * size
            else:
                matrix, is_current, matrices = problem.jacobian(t, y), True, 1
        elif error > 1:
            size, h_of, was_rejected = size * max(ONE * LEAST, factor), h * 0.0, True
        else:
            is_slow = not problem.is_constant and iterations > 2 and bool(rate > 1e-3)
            factor = min(ONE * MOST, factor)
            if not is_slow and bool(factor < 1.2):
                factor = ONE
            else:
                h_of = h * 0.0
            planned_last, error_last = planned, error
            t, y, f, size = t_new, y_new, problem.slope(t_new, y_new), size * factor
            planned, calls, is_current = size, calls + 1, problem.is_constant
            if is_slow:
                matrix, is_current, matrices = problem.jacobian(t, y), True, 1
            is_accepted, was_tried, was_rejected, last = True, False, False, piece
        state = (t, y, f, size, planned, planned_last, error_last, matrix, is_current, h_of, was_tried, was_rejected,
                 last)
        return is_accepted, state, piece, (3 * iterations + calls, matrices)

    def polynomial(self, problem: Problem, step: tuple) -> tuple:
        """The cubic that satisfies the equations of the step."""
        return step


def _residual(problem: Problem, t: AnyArray, y: AnyArray, h: AnyArray, Z: AnyArray) -> AnyArray:
    """The residual of Z, a vector: zero for the solution."""
    Z = np.reshape(Z, (3, y.size))
    F = np.stack([problem.slope(t + h * C[i], y + Z[i]) for i in range(3)])
    return np.reshape(F - INVERSE @ Z / h, (-1,))


def _newton(problem: Problem, t: AnyArray, y: AnyArray, h: AnyArray, h_of: AnyArray, guess: AnyArray,
            matrix: AnyArray) -> tuple:
    """Whether the iteration converges, how many iterations it takes, the solution Z and the rate of convergence. No
    derivative goes through."""
    def residual(W: AnyArray) -> AnyArray:
        Z = T @ W
        F = np.stack([problem.slope(t + h * C[i], y + Z[i]) for i in range(3)])
        turned = TI @ F
        whole = MU_COMPLEX / h * (W[1] + 1j * W[2])
        return np.stack((turned[0] - MU_REAL / h * W[0], turned[1] - np.real(whole), turned[2] - np.imag(whole)))
    still = above.held(residual, guess)
    y, h_of, guess, matrix = [above.stopped(x) for x in (y, h_of, guess, matrix)]
    unit = np.eye(y.size)
    real, whole = np.linalg.inv(MU_REAL / h_of * unit - matrix), np.linalg.inv(MU_COMPLEX / h_of * unit - matrix)

    def solve(r: AnyArray) -> AnyArray:
        turned = whole @ (r[1] + 1j * r[2])
        return np.stack((real @ r[0], np.real(turned), np.imag(turned)))
    is_found, iterations, W, rate = newton(still, solve, TI @ guess, problem.scale(np.abs(y)),
                                           newton_tolerance(problem.rtol), ITERATIONS)
    return is_found, iterations, T @ W, rate


def _error(problem: Problem, t: AnyArray, y: AnyArray, y_new: AnyArray, f: AnyArray, change: AnyArray, matrix: AnyArray,
           h_of: AnyArray, was_rejected: AnyArray) -> tuple:
    """The estimate of the error, and the number of calls for it."""
    factor = np.linalg.inv(MU_REAL / h_of * np.eye(y.size) - matrix)
    scale = problem.scale(np.maximum(np.abs(y), np.abs(y_new)))
    difference = factor @ (f + change)
    error, calls = norm(difference / scale), 0
    if was_rejected and bool(error > 1):
        error, calls = norm(factor @ (problem.slope(t, y + difference) + change) / scale), 1
    return error, calls


def _predicted(size: AnyArray, size_last: AnyArray, error: AnyArray, error_last: AnyArray) -> AnyArray:
    """By which factor the step may grow."""
    multiplier, factor = ONE, ONE * np.inf
    if bool((size_last > 0) & (error_last > 0) & (error > 0)):
        multiplier = size / size_last * (error_last / error) ** 0.25
    if error > 0:
        factor = min(ONE, multiplier) * error ** -0.25
    return factor
