"""SciPy's LSODA within functions: odeint, and solve_ivp with this method.

LSODA changes its method while it runs, and is compiled code. SciPy solves when the program runs; the derivative is
that of the solution, not of the steps. For y' = f(t, y, theta), y(t0) = y0, the sensitivities S = dy/d(y0, theta) solve

    S' = (df/dy) S + df/d(y0, theta),     S(t0) = [I, 0]

(E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, section I.14), and with moving times

    dy(t) = S(t) [dy0 - f(t0, y0) dt0, dtheta] + f(t, y(t)) dt.

LSODA solves both equations together, with the user's tolerances for y and for each column of S. The sensitivities have
derivatives by the same rule, and so on. A parameter that does not move has no column.
"""
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...ops.extents import product
from ...ops.kinds import shape_of
from ...ops.literals import has_values
from ...ops.numpy_api.arguments import as_array
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...routines import above
from ...util.array import AnyArray
from ...util.errors import NoDerivativeError
from ...util.lazy import LazyModule
from ..calls.discontinuities import check_when_run, may_jump, moving_places
from ..calls.ravel import ravel
from ..derivatives.closure_conversion import Closed
from ..derivatives.jacobian import jacobian
from ..derivatives.tangent_rules import call_with_rule

integrate: Any = LazyModule("scipy.integrate")
optimize: Any = LazyModule("scipy.optimize")
FLOAT = np.dtype(np.float64)
ODEINT_TOLERANCE = 1.49012e-8                               # of SciPy's: rtol and atol
STEPPING = {"tcrit", "h0", "hmax", "hmin", "mxstep", "mxhnil", "mxordn", "mxords"}        # odeint's options
WITHOUT_EFFECT = {"ml", "mu", "col_deriv", "ixpr", "printmessg"}                          # on the solution
SUCCESS = "Integration successful."


class Trajectory:
    """The solution of an initial value problem at given times, as a matrix with a row for each time.

    find: (f, y0, span, times, atol) -> that matrix, on numbers; span holds the first and the last time.
    """

    def __init__(self, name: str, closed: Closed, find: Callable):
        self.name, self.closed, self.find = name, closed, find

    def slope(self, t: object, y: object, theta: Sequence) -> Any:
        """f(t, y) as a vector, in the program."""
        return ravel(self.closed((t, y), theta))[0]

    def __call__(self, y0: object, span: object, times: object, atol: object, theta: Sequence) -> AnyArray:
        room = registry["full"](0.0, shape_of(times)[0], shape_of(y0)[0], dtype=FLOAT)
        return call_with_rule(self.name, self._run, self._push, (room, y0, span, times, atol, *theta))[0]

    def _run(self, *values: object) -> tuple:
        return (registry["host"](*values, function=self._on_numbers, like=0),)

    def _on_numbers(self, _: object, y0: object, span: object, times: object, atol: object, *theta: object) -> Any:
        f = self.closed.at(theta)
        return self.find(lambda t, y: np.ravel(f(float(t), y)), y0, span, times, atol)

    def _push(self, xs: Sequence, dxs: Sequence) -> tuple:
        (_, y0, span, times, atol, *theta), (_, dy0, dspan, dtimes, _, *moved) = xs, dxs
        y = self(y0, span, times, atol, theta)
        moving = moving_places(self.name, theta, moved, "pass the real and the imaginary part as real numbers")
        direction = [moved[k] for k in moving]
        if dspan is not None:                                 # a later start is a start further back on the same curve
            back = -self.slope(span[0], y0, theta) * dspan[0]
            dy0 = back if dy0 is None else dy0 + back
        if dy0 is not None:
            direction.insert(0, dy0)
        parts = []
        if direction:
            flat = ravel(direction)[0]
            matrices = self._sensitivities(y0, span, times, atol, theta, moving, dy0 is not None, shape_of(flat)[0])
            self._check_jumps(matrices, y0, span, times, atol, theta, moving, dy0 is not None)
            parts.append(BY_NAME["numpy.matmul"].call(matrices, flat))
        if dtimes is not None:
            parts.append(self._along(times, y, theta) * registry["reshape"](dtimes, shape_of(times)[0], 1))
        return (y,), (parts[0] if len(parts) == 1 else parts[0] + parts[1],)

    def _along(self, times: AnyArray, y: AnyArray, theta: Sequence) -> AnyArray:
        """f at each time."""
        def row(k: object, slopes: object) -> tuple:
            slope = self.slope(times[k], y[k], theta)
            return (registry["update"](slopes, slope, k, spec=("i", ":"), at=0),)
        return registry["for"].run_regions([0, shape_of(times)[0], 1, y * 0.0], (row,))[0]

    def _sensitivities(self, y0: object, span: object, times: object, atol: object, theta: Sequence, moving: Sequence,
                       starts: bool, q: object) -> AnyArray:
        """S at each time: an array of times, components and columns."""
        n = shape_of(y0)[0]
        identity = [BY_NAME["numpy.eye"].call(n)] if starts else []

        def wide(t: object, z: Any, *values: object) -> AnyArray:
            filled = [{**dict(zip(moving, values))}.get(k, x) for k, x in enumerate(theta)]
            y, S = z[:n], registry["reshape"](z[n:], n, q)

            def at(y: object, *values: object) -> AnyArray:
                return self.slope(t, y, [{**dict(zip(moving, values))}.get(k, x) for k, x in enumerate(filled)])
            by_y, *blocks = jacobian(at, argnums=tuple(range(len(moving) + 1)))(y, *[filled[k] for k in moving])
            columns = [x * 0.0 for x in identity] + [_as_columns(block) for block in blocks]
            change = BY_NAME["numpy.matmul"].call(by_y, S) + registry["concatenate"](*columns, axis=1)
            return ravel((at(y, *[filled[k] for k in moving]), change))[0]
        columns = identity + [registry["full"](0.0, n, product(shape_of(theta[k])), dtype=FLOAT) for k in moving]
        start = ravel((y0, registry["concatenate"](*columns, axis=1)))[0]
        closed = Closed(lambda t, z: wide(t, z, *[theta[k] for k in moving]), (0.5, start), self.name)
        tolerance = ravel((atol, registry["broadcast_to"](registry["reshape"](atol, n, 1), n, q)))[0]
        both = Trajectory(self.name, closed, self.find)(start, span, times, tolerance, closed.theta)
        return registry["reshape"](both[:, n:], shape_of(times)[0], n, q)

    def _check_jumps(self, matrices: AnyArray, y0: object, span: object, times: object, atol: object, theta: Sequence,
                     moving: Sequence[int], starts: bool) -> None:
        """Raise, when the program runs, where f jumps at a place that moves: its sensitivities jump there, too."""
        t, y, *parameters = self.closed.func.inputs
        if not may_jump(self.closed.func, [t], [parameters[k] for k in moving], both=[y]):
            return

        def find(_: int, *values: Any) -> tuple:
            y = self._on_numbers(None, *values)
            return np.ravel(y), np.ravel(values[3] + 1e-6 * np.abs(y))
        check_when_run(self.name, find, matrices, (y0, span, times, atol, *theta),
                       [0] * starts + [4 + k for k in moving],
                       "End the integration at that place, and start another one there")


def _as_columns(block: object) -> AnyArray:
    return registry["reshape"](block, shape_of(block)[0], product(shape_of(block)[1:]))


# -- SciPy's functions -----------------------------------------------------------------------------


def odeint(name: str, func: Callable, y0: object, t: object, args: object = (), Dfun: object = None,
           full_output: object = 0,
           tfirst: bool = False, rtol: Any = None, atol: object = None, **options: object) -> Any:
    """The solution at the times t, a row for each. Of full_output, the message."""
    _refuse(name, rtol=rtol if np.ndim(rtol) or has_values(rtol) else None,
            **{k: x for k, x in options.items() if k not in STEPPING | WITHOUT_EFFECT},
            **{f"a traced {k}": x for k, x in options.items() if has_values(x)})
    args = args if isinstance(args, tuple) else (args,)
    known = {k: x for k, x in options.items() if k in STEPPING}

    def slope(t: object, y: object) -> AnyArray:
        return as_array(func(t, y, *args) if tfirst else func(y, t, *args)) * 1.0

    def find(f: Callable, y0: object, span: object, times: Any, atol: object) -> Any:
        if not ((np.diff(times) >= 0).all() or (np.diff(times) <= 0).all()):
            raise ValueError("The values in t must be monotonically increasing or monotonically decreasing; repeated "
                             "values are allowed.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", integrate.ODEintWarning)
            y, facts = integrate.odeint(f, y0, times, tfirst=True, full_output=True, rtol=rtol, atol=atol, **known)
        if facts["message"] != SUCCESS:
            raise RuntimeError(f"{name} found no solution, so that there is no derivative: {facts['message']}")
        return y
    times = as_array(t) * 1.0
    span = registry["concatenate"](times[:1], times[-1:], axis=0)
    y = _solution(name, slope, y0, span, times, ODEINT_TOLERANCE if atol is None else atol, find)
    return (y, {"message": SUCCESS}) if full_output else y


def refuse_options(rtol: Any, options: dict) -> None:
    """An error for options of solve_ivp's LSODA that are traced."""
    _refuse("scipy.integrate.solve_ivp", rtol=rtol if np.ndim(rtol) or has_values(rtol) else None,
            **{f"a traced {k}": x for k, x in options.items() if has_values(x)})


def lsoda(rtol: object, options: dict) -> Callable:
    """SciPy's solution on numbers: (f, y0, span, times or None, atol) -> its result."""
    def solved(f: Callable, y0: Any, span: object, times: Any, atol: object, events: object = None,
               ends: bool = False) -> Any:
        if times is not None and not times.size and not ends:
            return optimize.OptimizeResult(t=times, y=np.empty((y0.size, 0)))
        found = integrate.solve_ivp(f, span, y0, "LSODA", times, rtol=rtol, atol=atol, events=events, **options)
        if not found.success:
            raise RuntimeError("scipy.integrate.solve_ivp found no solution, so that there is no derivative: "
                               f"{found.message}")
        return found
    return solved


def by_lsoda(fun: Callable, t_span: object, y0: object, t_eval: object = None, rtol: object = 1e-3, atol: object = 1e-6,
             **options: object) -> tuple:
    """solve_ivp's times and solution, by LSODA. The steps stay where they are; the last one moves with t_span."""
    refuse_options(rtol, options)
    span = as_array(t_span) * 1.0
    solved = lsoda(rtol, {k: x for k, x in options.items() if x is not None})

    def slope(t: object, y: object) -> Any:
        return as_array(fun(t, y)) * 1.0
    times = as_array(t_eval) * 1.0 if t_eval is not None else _steps(slope, y0, span, atol, solved)
    find = functools.partial(_rows, solved)
    return times, _solution("scipy.integrate.solve_ivp", slope, y0, span, times, atol, find)


def _rows(solved: Callable, *values: object) -> AnyArray:
    return solved(*values).y.T


def _steps(slope: Callable, y0: object, span: Any, atol: object, solved: Callable) -> Any:
    """The times of the steps that the solver takes."""
    y0 = as_array(y0) * 1.0
    closed = Closed(slope, (0.5, y0), "scipy.integrate.solve_ivp")
    still = [registry["stop_gradient"](x) for x in (y0, span, *closed.theta)]

    def times(y0: object, span: object, *theta: object) -> Any:
        f = closed.at(theta)
        return solved(lambda t, y: np.ravel(f(float(t), y)), y0, span, None, atol).t
    count = registry["host"](0, *still, function=lambda _, *values: len(times(*values)), like=0)
    room = registry["full"](0.0, count, dtype=FLOAT)
    steps = registry["host"](room, *still, function=lambda _, *values: times(*values), like=0)
    return registry["concatenate"](span[:1], steps[1:-1], span[1:], axis=0)


def _solution(name: str, slope: Callable, y0: object, span: object, times: object, atol: object, find: Callable) -> Any:
    y0 = BY_NAME["numpy.ravel"].call(as_array(y0)) * 1.0
    if type_of(y0).dtype.kind == "c":
        raise NoDerivativeError(f"{name} takes no complex state", do="pass the real and the imaginary part")
    closed = Closed(slope, (0.5, y0), name)
    atol = registry["broadcast_to"](as_array(atol) * 1.0, shape_of(y0)[0])
    return Trajectory(name, closed, find)(y0, span, times, atol, closed.theta)


def _refuse(name: str, **given: object) -> None:
    for option, x in given.items():
        if x is not None and x is not False and not (isinstance(x, int) and x == 0):
            raise NoDerivativeError(f"{name} has no derivative with {option}", do="leave it out")


WITHIN["scipy.integrate.odeint"] = functools.partial(odeint, "scipy.integrate.odeint")
above.by_lsoda = by_lsoda
