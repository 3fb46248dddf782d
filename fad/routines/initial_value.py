"""scipy.integrate.solve_ivp by SciPy's explicit Runge-Kutta pairs, step by step as SciPy goes.

The derivatives are exact for the computed steps and step sizes: differences of the solution agree with them at any
tolerance, and both are as far from the exact solution's as the tolerance allows. (The method: E. Hairer, S. P.
Norsett, G. Wanner, Solving Ordinary Differential Equations I, sections II.4 to II.6; the coefficients are SciPy's
own.)
"""
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK23, RK45
from scipy.optimize import OptimizeResult

from ..util.errors import UnsupportedFunctionError
from ..util.lazy import LazyModule

trajectories: Any = LazyModule("fad.api.trajectories")

PAIRS = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853}
SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # limits of the ratio of the next step to the last one
PRECISION, TINIEST = np.finfo(float).eps, np.finfo(float).smallest_subnormal
ONE = np.float64(1.0)                                        # makes a number one of NumPy's, on every way


def solve_ivp(fun: Any, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: bool = False,
              events: Any = None, vectorized: bool = False, args: Any = None, first_step: Any = None,
              max_step: Any = np.inf, rtol: Any = 1e-3, atol: Any = 1e-6, **others: Any) -> Any:
    if getattr(method, "__name__", method) == "LSODA":
        return _by_lsoda(fun, t_span, y0, t_eval, dense_output, events, args,
                         dict(others, first_step=first_step, max_step=max_step, rtol=rtol, atol=atol))
    pair = _pair_of(method, dense_output, events, others)
    t0, tf = np.asarray(t_span, float)
    y = np.asarray(y0) * 1.0
    if y.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    _check_sizes(first_step, max_step, atol, abs(tf - t0))
    tolerance = np.maximum(rtol, 100 * PRECISION), atol
    direction = 1.0 if tf >= t0 else -1.0
    order = pair.error_estimator_order

    def slope(t: Any, y: Any) -> Any:
        return np.asarray(fun(t, y) if args is None else fun(t, y, *args)) * 1.0
    if t_eval is None:
        wanted = np.empty(0)
    else:
        wanted = np.asarray(t_eval) * 1.0
        _check_times(wanted, t0, tf, direction)
    at_wanted = np.empty((wanted.size, y.size), y.dtype)
    at_wanted[:] = y
    t, f = t0, slope(t0, y)
    size = (_first_size(slope, t0, y, f, direction, abs(tf - t0), max_step, order, tolerance) if first_step is None
            else first_step)
    size, max_step = ONE * size, ONE * max_step
    times, states = [t], [y]
    done, calls, was_rejected = 0, 1 + (first_step is None), False
    while direction * (tf - t) > 0:
        least = max(10 * PRECISION * abs(t), 10 * TINIEST)
        size = max(min(size, max_step), least) if not was_rejected else size
        if not size >= least:                                 # nor is nan
            raise RuntimeError("Required step size is less than spacing between numbers.")
        t_new = t + size * direction
        if direction * (t_new - tf) > 0:
            t_new = tf
        h = t_new - t
        size = abs(h)
        slopes = _slopes(slope, pair, t, y, f, h)
        y_new = y + h * (pair.B @ slopes[:-1])
        f_new = slope(t_new, y_new)
        slopes[-1] = f_new
        calls += pair.n_stages
        error = _error(pair, slopes, h, _scale(y, y_new, tolerance))
        if error < 1:
            factor = MOST
            if error > 0:
                factor = min(MOST, SAFETY * error ** (-1 / (order + 1)))
            if was_rejected:
                factor = min(1.0, factor)
            if t_eval is None:
                times.append(t_new)
                states.append(y_new)
            elif done < wanted.size and direction * (t_new - wanted[done]) >= 0:
                powers = _interpolant(slope, pair, t, y, y_new, h, slopes)
                if pair is DOP853:
                    calls += len(pair.C_EXTRA)
                while done < wanted.size and direction * (t_new - wanted[done]) >= 0:
                    at_wanted[done] = y + _between(pair, powers, h, (wanted[done] - t) / h)
                    done += 1
            t, y, f, size, was_rejected = t_new, y_new, f_new, size * factor, False
        else:
            size, was_rejected = size * max(LEAST, SAFETY * error ** (-1 / (order + 1))), True
    if t_eval is None:
        wanted, at_wanted = np.array(times), np.array(states)
    return OptimizeResult(t=wanted, y=at_wanted.T, sol=None, t_events=None, y_events=None, nfev=calls, njev=0, nlu=0,
                          status=0, message="The solver successfully reached the end of the integration interval.",
                          success=True)


def _by_lsoda(fun: Any, t_span: Any, y0: Any, t_eval: Any, dense_output: bool, events: Any, args: Any,
              options: dict) -> Any:
    """SciPy's LSODA, whose solution has a derivative, and whose steps have none."""
    if dense_output or events is not None or not set(options) <= {"first_step", "max_step", "min_step", "rtol", "atol"}:
        raise UnsupportedFunctionError("scipy.integrate.solve_ivp has no derivative with LSODA and dense_output, "
                                       "events, jac or bands", do="leave them out, or use another method")
    t, y = trajectories.by_lsoda(lambda t, y: fun(t, y) if args is None else fun(t, y, *args), t_span, y0, t_eval,
                                 **options)
    return OptimizeResult(t=t, y=y.T, sol=None, t_events=None, y_events=None, status=0, success=True,
                          message="The solver successfully reached the end of the integration interval.")


def _pair_of(method: Any, dense_output: bool, events: Any, others: dict) -> Any:
    """SciPy's class with the coefficients. An error of what has no derivative here."""
    name = getattr(method, "__name__", method)
    missing = (f"method={name!r}" if name not in PAIRS else "dense_output" if dense_output
               else "events" if events is not None else "")
    if missing:
        raise UnsupportedFunctionError(f"scipy.integrate.solve_ivp has no derivative with {missing}",
                                       why="only the steps of RK45, RK23 and DOP853 are part of a program",
                                       do="use one of these methods and t_eval, or write the loop over steps")
    if others:
        raise TypeError(f"solve_ivp({name!r}) has no option {', '.join(others)}")
    return PAIRS[name]


def _check_sizes(first_step: Any, max_step: Any, atol: Any, whole: Any) -> None:
    if max_step <= 0:
        raise ValueError("`max_step` must be positive.")
    if np.any(np.asarray(atol) < 0):
        raise ValueError("`atol` must be positive.")
    if first_step is not None:
        if first_step <= 0:
            raise ValueError("`first_step` must be positive.")
        if first_step > whole:
            raise ValueError("`first_step` exceeds bounds.")


def _check_times(times: Any, t0: Any, tf: Any, direction: Any) -> None:
    if times.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(times < min(t0, tf)) or np.any(times > max(t0, tf)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    if np.any(direction * np.diff(times) <= 0):
        raise ValueError("Values in `t_eval` are not properly sorted.")


def _norm(x: Any) -> Any:
    return np.linalg.norm(x) / x.size ** 0.5


def _scale(y: Any, y_new: Any, tolerance: tuple) -> Any:
    return tolerance[1] + np.maximum(np.abs(y), np.abs(y_new)) * tolerance[0]


def _first_size(slope: Any, t0: Any, y0: Any, f0: Any, direction: Any, whole: Any, max_step: Any, order: int,
                tolerance: tuple) -> Any:
    """The size of the first step (Hairer, Norsett, Wanner, section II.4)."""
    scale = _scale(y0, y0, tolerance)
    d0, d1 = _norm(y0 / scale), _norm(f0 / scale)
    if d0 < 1e-5 or d1 < 1e-5:
        h0 = 1e-6
    else:
        h0 = 0.01 * d0 / d1
    h0 = min(h0, whole)
    d2 = _norm((slope(t0 + h0 * direction, y0 + h0 * direction * f0) - f0) / scale) / h0
    if d1 <= 1e-15 and d2 <= 1e-15:
        h1 = max(1e-6, h0 * 1e-3)
    else:
        h1 = (0.01 / max(d1, d2)) ** (1 / (order + 1))
    return min(100 * h0, h1, whole, max_step)


def _slopes(slope: Any, pair: Any, t: Any, y: Any, f: Any, h: Any) -> Any:
    """The slopes at the stages of a step, and room for the one at its end."""
    slopes = np.empty((pair.n_stages + 1, y.size), y.dtype)
    slopes[0] = f
    for s in range(1, pair.n_stages):
        slopes[s] = slope(t + pair.C[s] * h, y + pair.A[s, :s] @ slopes[:s] * h)
    return slopes


def _error(pair: Any, slopes: Any, h: Any, scale: Any) -> Any:
    """The estimate of a step's error: below 1 if it is within the tolerance."""
    if pair is not DOP853:
        return _norm(pair.E @ slopes * h / scale)
    fifth, third = np.linalg.norm(pair.E5 @ slopes / scale) ** 2, np.linalg.norm(pair.E3 @ slopes / scale) ** 2
    if fifth == 0 and third == 0:
        error = 0.0
    else:
        error = np.abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * scale.size)
    return error


def _interpolant(slope: Any, pair: Any, t: Any, y: Any, y_new: Any, h: Any, slopes: Any) -> Any:
    """The coefficients of the polynomial between the ends of a step; DOP853's takes further stages."""
    if pair is not DOP853:
        return pair.P.T @ slopes
    count = len(pair.C_EXTRA)
    more = np.empty((slopes.shape[0] + count, y.size), y.dtype)
    more[:-count] = slopes
    for s in range(count):
        k = slopes.shape[0] + s
        more[k] = slope(t + pair.C_EXTRA[s] * h, y + pair.A_EXTRA[s, :k] @ more[:k] * h)
    powers = np.empty((3 + pair.D.shape[0], y.size), y.dtype)
    powers[0] = y_new - y
    powers[1] = h * slopes[0] - powers[0]
    powers[2] = 2 * powers[0] - h * (slopes[-1] + slopes[0])
    powers[3:] = h * (pair.D @ more)
    return powers


def _between(pair: Any, powers: Any, h: Any, x: Any) -> Any:
    """What is added to a step's first value at the part x of the step."""
    if pair is not DOP853:
        return h * (x ** np.arange(1, powers.shape[0] + 1) @ powers)
    y = powers[-1] * x
    for k in range(1, powers.shape[0]):
        y = (y + powers[-1 - k]) * (x if k % 2 == 0 else 1 - x)
    return y
