"""scipy.signal.dlsim, dimpulse, dstep: a linear system in discrete time, from step to step.

    x[k + 1] = A x[k] + B u[k],   y[k] = C x[k] + D u[k]

A transfer function is such a system in the controller's canonical form.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray
from ..util.errors import UnsupportedFunctionError


def dlsim(system: object, u: AnyArray, t: "AnyArray | None" = None, x0: "AnyArray | None" = None) -> tuple:
    matrices, dt, has_states = _parts_of(system)
    u = np.atleast_1d(u)
    if u.ndim == 1:
        u = u[:, np.newaxis]
    if t is None:
        times, inputs = np.linspace(0.0, (len(u) - 1) * dt, len(u)), u
    else:
        times = np.linspace(0.0, t[-1], int(np.floor(t[-1] / dt)) + 1)
        inputs = np.stack([np.interp(times, t, u[:, j]) for j in range(u.shape[1])], axis=1)
    y, x = _simulated(matrices, inputs, x0)
    return (times, y, x) if has_states else (times, y)


def dimpulse(system: object, x0: "AnyArray | None" = None, t: "AnyArray | None" = None,
             n: "int | None" = None) -> tuple:
    return _responses(system, x0, t, n, lambda k: k == 0)


def dstep(system: object, x0: "AnyArray | None" = None, t: "AnyArray | None" = None,
          n: "int | None" = None) -> tuple:
    return _responses(system, x0, t, n, lambda k: k >= 0)


def _responses(system: object, x0: "AnyArray | None", t: "AnyArray | None", n: "int | None", signal: Callable) -> tuple:
    """The times, and for each input of the system the outputs if that input has this signal and the others are 0."""
    (_, b, _, _), dt, _ = _parts_of(system)
    count, found, times = b.shape[1], [], None
    t = np.linspace(0, (100 if n is None else n) * dt, 100 if n is None else n, endpoint=False) if t is None else t
    for i in range(count):
        u = np.where(np.arange(count) == i, signal(np.arange(len(t)))[:, np.newaxis] * 1.0, 0.0)
        times, y = dlsim(system, u, t, x0)[:2]
        found.append(y)
    return times, tuple(found)


def _simulated(matrices: tuple, u: AnyArray, x0: "AnyArray | None") -> tuple:
    a, b, c, d = matrices
    x = np.zeros(a.shape[0]) if x0 is None else np.ravel(x0) * 1.0
    ys, xs = np.zeros((len(u), c.shape[0])), np.zeros((len(u), a.shape[0]))
    for k in range(len(u)):
        xs[k] = x
        ys[k] = np.dot(c, x) + np.dot(d, u[k])
        x = np.dot(a, x) + np.dot(b, u[k])
    return ys, xs


def _parts_of(system: Any) -> tuple:
    """The matrices of a system, its time step, and whether it was given by its matrices."""
    if not isinstance(system, (tuple, list)):
        if hasattr(system, "A"):
            return (system.A, system.B, system.C, system.D), system.dt, True
        system = (*((system.num, system.den) if hasattr(system, "num") else ()), system.dt)
    *parts, dt = system
    if len(parts) == 4:
        return tuple([np.atleast_2d(np.asarray(m)) for m in parts]), dt, True
    if len(parts) == 2:
        return _canonical(*parts), dt, False
    raise UnsupportedFunctionError("a system of zeros, poles and a gain is simulated",
                                   do="give its matrices (A, B, C, D, dt), or (numerator, denominator, dt)")


def _canonical(numerator: AnyArray, denominator: AnyArray) -> tuple:
    den, num = np.atleast_1d(np.asarray(denominator)), np.atleast_2d(np.asarray(numerator))
    order = den.shape[0] - 1
    if num.shape[1] > order + 1:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    if den[0] == 0:                                           # SciPy leaves it out: another order
        raise ValueError("the denominator's first coefficient must not be zero")
    num, den = num / den[0], den / den[0]
    num = np.concatenate((np.zeros((num.shape[0], order + 1 - num.shape[1])), num), axis=1)
    if order == 0:
        return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((num.shape[0], 1)), num
    a = np.concatenate((-den[np.newaxis, 1:], np.eye(order - 1, order)))
    return a, np.eye(order, 1), num[:, 1:] - num[:, :1] * den[1:], num[:, :1]
