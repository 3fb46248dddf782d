"""autograd.scipy.integrate: the names of scipy.integrate; odeint has a derivative, by the adjoint equation.

Between two times the adjoint a = dL/dy follows da/dt = -(df/dy)' a, backwards; the parameters' cotangents are the
integral of (df/dp)' a (Froehlich et al., PLOS Computational Biology 13, 2017, section 2.4.2 of the supplement). LSODA
chooses the steps of the adjoint, so that it is as precise as the tolerances allow; it is not the derivative of the
forward steps.
"""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.integrate

from ....api.products import vjp
from ....trace.runtime.namespaces import attribute_of
from ..extend import defvjp_argnums, primitive
from ..misc.flatten import flatten

_attribute, __dir__ = attribute_of("scipy.integrate")


def __getattr__(name: str) -> Any:
    return _attribute(name)


@primitive
def odeint(func: Callable, y0: object, t: object, args: tuple = (), **options: object) -> Any:
    """The states of shape (len(t), len(y0)) at the times t of dy/dt = func(y, t, *args); differentiable in y0, t and
    args.

    >>> float(odeint(lambda y, t, k: -k * y, np.array([1.0]), np.array([0.0, 1.0]), (2.0,))[1, 0].round(6))
    0.135335
    """
    return scipy.integrate.odeint(func, y0, t, args, **options)


def _pull(argnums: Sequence, ans: Any, args: tuple, options: dict) -> Callable:
    func, y0, t, *rest = args
    params = rest[0] if rest else options.get("args", ())
    if not rest:
        options = {k: v for k, v in options.items() if k != "args"}
    flat, unflatten = flatten(params)
    count, size = np.shape(ans)

    def dynamics(state: Any, time: Any, flat: Any) -> Any:
        slope, back = vjp(lambda y, time, flat: func(y, time, *unflatten(flat)), state[:size], time, flat)
        of_y, of_t, of_params = back(-state[size:2 * size])
        return np.concatenate([slope, of_y, np.reshape(of_t, 1), of_params])

    def pull(g: Any) -> list:
        adjoint, of_start, of_params, of_times = g[count - 1], 0.0, np.zeros(np.size(flat)), []
        for k in range(count - 1, 0, -1):
            of_times.append(np.dot(func(ans[k], t[k], *params), g[k]))
            start = np.concatenate([ans[k], adjoint, np.reshape(of_start - of_times[-1], 1), of_params])
            state = odeint(dynamics, start, np.stack([t[k], t[k - 1]]), (flat,), **options)[1]
            adjoint, of_start, of_params = state[size:2 * size] + g[k - 1], state[2 * size], state[2 * size + 1:]
        found = {1: adjoint, 2: np.stack([of_start, *of_times[::-1]]), 3: unflatten(of_params)}
        return [found[n] for n in argnums]
    return pull


defvjp_argnums(odeint, _pull)
