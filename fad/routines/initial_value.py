"""scipy.integrate.solve_ivp, step by step as SciPy goes; a method a file: runge_kutta.py, bdf.py, radau.py.

The derivatives are exact for the computed steps and step sizes: differences of the solution agree with them at any
tolerance, and both are as far from the exact solution's as the tolerance allows. A step of an implicit method is the
solution of equations; its derivative is that of the solution, not of the iterations that find it.
"""
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK23, RK45
from scipy.optimize import OptimizeResult

from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import UnsupportedFunctionError
from . import above
from .bdf import Backward
from .dense_output import Solution
from .events import Events
from .radau import ImplicitRungeKutta
from .runge_kutta import ExplicitPair
from .stepping import ONE, Problem, value_at

IMPLICIT = {"BDF": Backward(), "Radau": ImplicitRungeKutta()}
METHODS = {"RK23": ExplicitPair(RK23), "RK45": ExplicitPair(RK45), "DOP853": ExplicitPair(DOP853), **IMPLICIT}
MESSAGE = "The solver successfully reached the end of the integration interval."
ENDED = "The solver reached the end of the integration interval, or a termination event occurred."


def solve_ivp(fun: Any, t_span: tuple, y0: Any, method: Any = "RK45", t_eval: Any = None, dense_output: bool = False,
              events: Any = None, vectorized: bool = False, args: Any = None, first_step: Any = None,
              max_step: object = np.inf, rtol: object = 1e-3, atol: ArrayOrNumber = 1e-6, **others: Any) -> Any:
    name = getattr(method, "__name__", method)
    if name == "LSODA":
        return _by_lsoda(fun, t_span, y0, t_eval, dense_output, events, args,
                         dict(others, first_step=first_step, max_step=max_step, rtol=rtol, atol=atol))
    method, jac = _method_of(name, others), others.get("jac")
    t0, tf = np.asarray(t_span, float)
    y = np.asarray(y0) * 1.0
    if y.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    _check_sizes(first_step, max_step, atol, abs(tf - t0))
    direction = 1.0 if tf >= t0 else -1.0

    def slope(t: Any, y: Any) -> Any:
        return np.asarray(fun(t, y) if args is None else fun(t, y, *args)) * 1.0
    problem = Problem(slope, tf, direction, ONE * max_step, rtol, atol, *_jacobian(slope, jac, args, name == "Radau"))
    if t_eval is None:
        wanted = np.empty(0)
    else:
        wanted = np.asarray(t_eval) * 1.0
        _check_times(wanted, t0, tf, direction)
    at_wanted = np.empty((wanted.size, y.size), y.dtype)
    at_wanted[:] = y
    watched = Events(events, args, direction)
    last, counts = watched.values_at(t0, y), np.zeros(len(watched.functions))
    event_times: list = [[] for _ in watched.functions]
    event_states: list = [[] for _ in watched.functions]
    state, calls, matrices = method.start(problem, t0, y, first_step)
    times, states, pieces = [t0], [y], []
    done, is_ended = 0, False
    while bool(direction * (tf - state[0]) > 0) and not is_ended:
        t = state[0]
        is_accepted, state, step, done_calls = method.attempt(problem, state)
        calls, matrices = calls + done_calls[0], matrices + done_calls[1]
        if is_accepted:
            t_new, y_new = state[0], state[1]
            is_crossed = False
            if watched.functions:
                now = watched.values_at(t_new, y_new)
                active = watched.active(last, now)
                last, is_crossed = now, bool(np.any(active))
            if dense_output or is_crossed or _is_due(wanted, done, direction, t_new):
                calls += method.calls_of_polynomial
                origin, width, powers = method.polynomial(problem, step)
                if is_crossed:
                    counts = counts + active
                    roots, is_ended, t_new = watched.find(active, counts, origin, width, powers, t, t_new)
                    for k, root in enumerate(roots):
                        if active[k] and direction * (t_new - root) >= 0:
                            event_times[k].append(root)
                            event_states[k].append(value_at(origin, width, powers, root))
                    if is_ended:
                        y_new = value_at(origin, width, powers, t_new)
                while _is_due(wanted, done, direction, t_new):
                    at_wanted[done] = value_at(origin, width, powers, wanted[done])
                    done += 1
                if dense_output:
                    pieces.append((origin, width, powers))
            if t_eval is None or dense_output:
                times.append(t_new)
            if t_eval is None:
                states.append(y_new)
    sol = Solution(np.array(times), pieces, direction, method.side) if dense_output else None
    if t_eval is None:
        wanted, at_wanted = np.array(times), np.array(states)
    elif watched.functions:                                   # one of them may have ended it
        wanted, at_wanted = wanted[:done], at_wanted[:done]
    return OptimizeResult(t=wanted, y=at_wanted.T, sol=sol,
                          t_events=None if events is None else [np.array(found) for found in event_times],
                          y_events=None if events is None else [np.array(found) for found in event_states],
                          nfev=calls, njev=matrices, nlu=0, status=0 + is_ended, success=True,
                          message=MESSAGE if events is None else ENDED)


def _is_due(wanted: AnyArray, done: ArrayOrNumber, direction: float, t: AnyArray) -> bool:
    """Whether the next time that is wanted has been reached."""
    return done < wanted.size and bool(direction * (t - wanted[done]) >= 0)


def _by_lsoda(fun: Callable, t_span: tuple, y0: list, t_eval: object, dense_output: bool, events: object, args: tuple,
              options: dict) -> Any:
    """SciPy's LSODA, whose solution has a derivative, and whose steps have none."""
    if dense_output or not set(options) <= {"first_step", "max_step", "min_step", "rtol", "atol"}:
        raise UnsupportedFunctionError("scipy.integrate.solve_ivp has no derivative with LSODA and dense_output, jac "
                                       "or bands", do="leave them out, or use another method")

    def slope(t: object, y: object) -> Any:
        return fun(t, y) if args is None else fun(t, y, *args)
    if events is None:
        t, y = above.by_lsoda(slope, t_span, y0, t_eval, **options)
        return OptimizeResult(t=t, y=y.T, sol=None, t_events=None, y_events=None, status=0, success=True,
                              message=MESSAGE)
    t, y, times, states, is_ended = above.by_lsoda_until(slope, t_span, y0, t_eval, events, args, **options)
    return OptimizeResult(t=t, y=y.T, sol=None, t_events=times, y_events=states, status=0 + is_ended, success=True,
                          message=ENDED)


def _method_of(name: str, others: dict) -> Any:
    if name not in METHODS:
        raise UnsupportedFunctionError(f"scipy.integrate.solve_ivp has no derivative with method={name!r}",
                                       why=f"only the steps of {', '.join(METHODS)} are part of a program",
                                       do="use one of these methods, or write the loop over steps")
    unknown = set(others) - ({"jac"} if name in IMPLICIT else set())
    if unknown:
        raise TypeError(f"solve_ivp({name!r}) has no option {', '.join(sorted(unknown))}")
    return METHODS[name]


def _jacobian(slope: Callable, jac: Any, args: Any, moves: bool) -> tuple:
    """The Jacobian as a function of t and y, and whether it is constant. Where the user gives none, it is exact.

    moves: whether a derivative goes through it: the steps of Radau depend on it.
    """
    def exact(t: object, y: object) -> Any:
        return above.jacobian_at(lambda y: slope(t, y), y)

    def still(t: AnyArray, y: AnyArray) -> AnyArray:
        t = above.stopped(t)
        return above.jacobian_at(above.held(lambda y: slope(t, y), y), above.stopped(y))
    if jac is None:
        return exact if moves else still, False
    if callable(jac):
        return lambda t, y: np.asarray(jac(t, y) if args is None else jac(t, y, *args)) * 1.0, False
    return lambda t, y: np.asarray(jac) * 1.0, True


def _check_sizes(first_step: Any, max_step: Any, atol: ArrayOrNumber, whole: AnyArray) -> None:
    if max_step <= 0:
        raise ValueError("`max_step` must be positive.")
    if np.any(np.asarray(atol) < 0):
        raise ValueError("`atol` must be positive.")
    if first_step is not None:
        if first_step <= 0:
            raise ValueError("`first_step` must be positive.")
        if first_step > whole:
            raise ValueError("`first_step` exceeds bounds.")


def _check_times(times: AnyArray, t0: AnyArray, tf: AnyArray, direction: ArrayOrNumber) -> None:
    if times.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(times < min(t0, tf)) or np.any(times > max(t0, tf)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    if np.any(direction * np.diff(times) <= 0):
        raise ValueError("Values in `t_eval` are not properly sorted.")
