"""Events of solve_ivp: the times at which functions of the time and the solution cross zero.

SciPy finds them on the polynomial of a step, to the last digits. So do these functions, by secants (the Illinois
method: M. Dowell and P. Jarratt, BIT 11 (1971) 168), with a bisection where these are slow. For the derivative,
g(t, y(t)) = 0 defines t.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray
from . import above
from .stepping import PRECISION, value_at

MOST_ITERATIONS = 300


class Events:
    """The functions, how often each may occur, and in which direction each counts."""

    def __init__(self, events: Any, args: Any, direction: float):
        self.functions = () if events is None else (events,) if callable(events) else tuple(events)
        self.args, self.direction = () if args is None else args, direction
        self.most = [_most(event) for event in self.functions]
        self.ways = np.array([getattr(event, "direction", 0) for event in self.functions])

    def values_at(self, t: AnyArray, y: AnyArray) -> AnyArray:
        return np.array([_value(event, t, y, self.args) for event in self.functions])

    def active(self, old: AnyArray, new: AnyArray) -> AnyArray:
        """The functions that cross zero between two points where they have these values."""
        up, down = (old <= 0) & (new >= 0), (old >= 0) & (new <= 0)
        return up & (self.ways >= 0) | down & (self.ways <= 0)

    def find(self, active: AnyArray, counts: AnyArray, origin: AnyArray, width: AnyArray, powers: AnyArray,
             t_old: AnyArray, t_new: AnyArray) -> tuple:
        """The crossings of a step, whether they end the integration, and where the step ends."""
        roots, is_ended, end = [], False, t_new
        for k, event in enumerate(self.functions):
            root = t_new
            if active[k]:
                root = _root(event, self.args, origin, width, powers, t_old, t_new)
                if counts[k] >= self.most[k]:
                    is_ended = True
                    if self.direction * (end - root) > 0:
                        end = root
            roots.append(root)
        return roots, is_ended, end


def _most(event: Callable) -> float:
    """The number of times that an event may occur: its last occurrence ends the integration."""
    terminal = getattr(event, "terminal", None)
    if terminal is None or terminal == 0:
        return np.inf
    if int(terminal) == terminal and terminal > 0:
        return float(terminal)
    raise ValueError("The `terminal` attribute of each event must be a boolean or positive integer.")


def _value(event: Callable, t: AnyArray, y: AnyArray, args: tuple) -> AnyArray:
    return np.reshape(event(t, y, *args), ()) * 1.0


def _root(event: Callable, args: tuple, origin: AnyArray, width: AnyArray, powers: AnyArray, a: AnyArray,
          b: AnyArray) -> AnyArray:
    """The point between a and b where the event is zero, with the derivatives of this equation."""
    def along(t: AnyArray) -> AnyArray:
        return _value(event, t, value_at(origin, width, powers, t), args)
    return above.solution(along, _bracketed(above.held(along, 0.5), a, b))


def _bracketed(f: Callable, a: AnyArray, b: AnyArray) -> AnyArray:
    """A root between a and b, where f has different signs. a is the last iterate, b the end on the other side of it."""
    at_a, at_b, count = f(a), f(b), 0
    if at_b == 0:
        a, at_a, b, at_b = b, at_b, a, at_a
    while count < MOST_ITERATIONS and bool((at_a != 0) & (abs(b - a) > 4 * PRECISION * (1 + abs(a)))):
        c = a - at_a * (b - a) / (at_b - at_a)
        if count % 4 == 3 or bool((c < min(a, b)) | (c > max(a, b))):
            c = 0.5 * (a + b)
        at_c = f(c)
        if (at_c > 0) != (at_a > 0):
            b, at_b = a, at_a
        else:
            at_b = 0.5 * at_b
        a, at_a, count = c, at_c, count + 1
    return a
