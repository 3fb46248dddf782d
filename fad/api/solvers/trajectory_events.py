"""Events of solve_ivp with LSODA: SciPy finds the times when the program runs, and an equation defines each.

    g(t, y(t)) = 0      ──►      dt = -(g_y dy + g_theta dtheta) / (g_t + g_y f)

y(t) is the solution at that time (trajectories.py), which ends where a terminal event ended it.
"""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.kinds import shape_of
from ...ops.numpy_api.arguments import as_array
from ...ops.override import BY_NAME
from ...routines import above
from ...trace.runtime.capture import captured
from ...util.array import AnyArray
from ...util.errors import NoDerivativeError
from ..derivatives.closure_conversion import Closed
from .solved import solution
from .trajectories import FLOAT, Trajectory, lsoda, refuse_options

NAME = "scipy.integrate.solve_ivp"
INT = np.dtype(np.int64)


class Watched:
    """The events of one call, closed, and the terminal one, if there is one."""

    def __init__(self, events: Callable, args: tuple, y0: object):
        self.given = (events,) if callable(events) else tuple(events)
        self.closed = [Closed(_number(event, args), (0.5, y0), NAME) for event in self.given]
        terminal = [k for k, event in enumerate(self.given) if getattr(event, "terminal", None)]
        if len(terminal) > 1:
            raise NoDerivativeError(f"{NAME} with LSODA has no derivative with several terminal events",
                                    do="use one, such as the product of their functions, or another method")
        self.terminal = terminal[0] if terminal else None

    def on_numbers(self, thetas: Sequence) -> list:
        """The functions for SciPy, with their attributes."""
        found = []
        for event, closed, theta in zip(self.given, self.closed, thetas):
            f = _plain(closed.at(theta))
            f.terminal, f.direction = getattr(event, "terminal", None), getattr(event, "direction", 0)  # type: ignore
            found.append(f)
        return found


def _number(event: Callable, args: tuple) -> Callable:
    return lambda t, y: registry["reshape"](as_array(captured(event)(t, y, *args)) * 1.0)


def _plain(f: Callable) -> Callable:
    return lambda t, y: float(f(float(t), y))


def by_lsoda_until(fun: Callable, t_span: object, y0: Any, t_eval: object, events: Any, args: Any, rtol: object = 1e-3,
                   atol: object = 1e-6, **options: object) -> tuple:
    """Times, solution, times and states of the events, and whether one ended the integration."""
    refuse_options(rtol, options)
    find = lsoda(rtol, {k: x for k, x in options.items() if x is not None})
    y0, span = BY_NAME["numpy.ravel"].call(as_array(y0)) * 1.0, as_array(t_span) * 1.0
    closed = Closed(lambda t, y: as_array(fun(t, y)) * 1.0, (0.5, y0), NAME)
    watched = Watched(events, () if args is None else tuple(args), y0)
    atol = registry["broadcast_to"](as_array(atol) * 1.0, shape_of(y0)[0])
    wanted = None if t_eval is None else as_array(t_eval) * 1.0
    counts, packed = _found(find, closed, watched, y0, span, atol, wanted)
    starts = [0]
    for k in range(len(watched.given)):
        starts.append(starts[-1] + counts[k])
    stills = [registry["slice_axis"](packed, 0, a, counts[k], 1) for k, a in enumerate(starts[:-1])]
    is_ended = counts[len(watched.given) + 1] == 1
    end = packed[starts[-1]]                                  # where the integration ended, held still
    trajectory = Trajectory(NAME, closed, lambda *values: find(*values).y.T)
    shorter = registry["concatenate"](span[:1], registry["reshape"](end, 1), axis=0)

    def states(times: object) -> AnyArray:
        return trajectory(y0, shorter, times, atol, closed.theta)
    times_of = [solution(_crossings(event, states), still) for event, still in zip(watched.closed, stills)]
    last = span[1]
    if watched.terminal is not None:
        ways = registry["concatenate"](times_of[watched.terminal], span[1:], axis=0)
        last = ways[registry["where"](is_ended, counts[watched.terminal] - 1, counts[watched.terminal])]
    if wanted is None:
        inner = registry["slice_axis"](packed, 0, starts[-1] + 1, counts[len(watched.given)], 1)
        times = registry["concatenate"](span[:1], inner[1:-1], registry["reshape"](last, 1), axis=0)
    else:
        times = registry["slice_axis"](wanted, 0, 0, counts[len(watched.given)], 1)
    return times, states(times), times_of, [states(t) for t in times_of], is_ended


def _crossings(event: Closed, states: Callable) -> Callable:
    """Times -> the function of an event there."""
    def values(times: Any) -> AnyArray:
        y = states(times)

        def one(k: Any, found: Any) -> tuple:
            return (registry["update"](found, event((times[k], y[k]), event.theta), k, spec=("i",), at=0),)
        return registry["for"].run_regions([0, shape_of(times)[0], 1, times * 0.0], (one,))[0]
    return values


def _found(find: Callable, closed: Closed, watched: Watched, y0: object, span: object, atol: object,
           wanted: object) -> tuple:
    """The results of SciPy, held still. The numbers of times of each event and of the solution, and whether it ended;
    then the times of the events, the end, and the times of the solution.
    """
    given = [y0, span, atol, *([] if wanted is None else [wanted]), *closed.theta,
             *[x for event in watched.closed for x in event.theta]]
    still = [registry["stop_gradient"](x) for x in given]
    first = 3 + (wanted is not None)

    def solved(_: object, *values: object) -> Any:
        k = first + len(closed.theta)
        f, thetas = closed.at(values[first:k]), []
        for event in watched.closed:
            thetas.append(values[k:k + len(event.theta)])
            k += len(event.theta)
        return find(lambda t, y: np.ravel(f(float(t), y)), values[0], values[1], None if wanted is None else values[3],
                    values[2], events=watched.on_numbers(thetas), ends=True)

    def count(_: object, *values: object) -> Any:
        found = solved(_, *values)
        return np.array([*map(len, found.t_events), len(found.t), found.status])

    def times(_: object, *values: Any) -> AnyArray:
        found = solved(_, *values)
        end = values[1][1]
        if watched.terminal is not None and found.status == 1:
            end = found.t_events[watched.terminal][-1]
        return np.concatenate([*found.t_events, [end], found.t])
    n = len(watched.given) + 2
    counts = registry["host"](registry["full"](0, n, dtype=INT), *still, function=count, like=0)
    total = 1 + counts[n - 2]
    for k in range(n - 2):
        total = total + counts[k]
    room = registry["full"](0.0, total, dtype=FLOAT)
    return counts, registry["host"](room, *still, function=times, like=0)


above.by_lsoda_until = by_lsoda_until
