"""SciPy's least squares and curve fits within functions: half the sum of squares has the gradient zero (see
solvers.py)."""
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.kinds import shape_of
from ...ops.literals import has_values
from ...ops.numpy_api.arguments import as_array
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...util.array import AnyArray
from ...util.lazy import LazyModule
from ..derivatives.jacobian import jacobian
from .solvers import check_bounds, limits_of, not_found, of_vectors, refuse, start_of, stationary, whole

optimize: Any = LazyModule("scipy.optimize")


def least_squares(name: str, f: Callable, x0: object, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf),
                  args: Any = (), **options: object) -> Any:
    """The parameters within bounds for which the sum of a function's squares is least."""
    if options.get("loss", "linear") != "linear" or options.get("kwargs") or has_values(bounds):
        raise refuse(name, "kwargs, another loss, or traced bounds")
    options, problem, function, slope = of_vectors(name, f, x0, args, jac, options)
    limits = limits_of(bounds if isinstance(bounds, optimize.Bounds) else optimize.Bounds(*bounds))

    def find(start: object, theta: tuple) -> tuple:
        found = optimize.least_squares(function.on_numbers(theta), start, bounds=bounds, jac=slope(theta), **options)
        if not found.success:
            raise not_found(name, found.message)
        check_bounds(name, found.x, limits)
        return found.x, found.nfev

    half = _half_squares(function)
    x, facts = problem.solve(find, stationary(half, limits), facts=1)
    return optimize.OptimizeResult(x=x, success=True, fun=function.traced(x, problem.theta),
                                   cost=half(x, problem.theta), nfev=whole(facts[0]))


def leastsq(name: str, f: Callable, x0: object, args: Any = (), Dfun: Any = None, **options: object) -> tuple:
    """The parameters for which the sum of a function's squares is least, by MINPACK; and its code of success."""
    options, problem, function, slope = of_vectors(name, f, x0, args, Dfun, options)

    def find(start: object, theta: tuple) -> tuple:
        x, _, _, message, code = optimize.leastsq(function.on_numbers(theta), start, Dfun=slope(theta),
                                                  **{**options, "full_output": True})
        if code not in (1, 2, 3, 4):
            raise not_found(name, message)
        return x, code
    x, facts = problem.solve(find, stationary(_half_squares(function)), facts=1)
    return x, whole(facts[0])


def curve_fit(name: str, f: Callable, xdata: object, ydata: object, p0: object = None, sigma: object = None,
              absolute_sigma: bool = False, check_finite: object = None, bounds: Any = (-np.inf, np.inf),
              method: object = None, jac: object = None, **options: object) -> tuple:
    """The parameters of a curve through data, and their covariance."""
    if p0 is None or jac is not None or (sigma is not None and len(shape_of(as_array(sigma))) != 1):
        raise refuse(name, "jac, a matrix sigma, or without p0")
    y, start = as_array(ydata) * 1.0, start_of(p0)
    weight = 1.0 if sigma is None else as_array(sigma)
    n = shape_of(start)[0]
    if not isinstance(n, int):
        raise refuse(name, "an unknown number of parameters")

    def misfit(p: Any) -> AnyArray:
        return BY_NAME["numpy.ravel"].call((f(xdata, *[p[k] for k in range(n)]) - y) / weight)
    if has_values(bounds):
        raise refuse(name, "traced bounds")
    is_bounded = isinstance(bounds, optimize.Bounds) or any(np.isfinite(b).any() for b in bounds)
    if not is_bounded and method in (None, "lm"):
        p = leastsq(name, misfit, start, **options)[0]
    else:
        p = least_squares(name, misfit, start, bounds=bounds, method=method or "trf", **options).x
    J, r = jacobian(misfit)(p), misfit(p)
    inverse = BY_NAME["numpy.linalg.inv"].call(BY_NAME["numpy.matmul"].call(BY_NAME["numpy.transpose"].call(J), J))
    if absolute_sigma:
        return p, inverse
    return p, inverse * (registry["sum"](r * r, axes=(0,)) / (shape_of(r)[0] - n))


def _half_squares(function: Any) -> Callable:
    """Half the sum of a function's squares."""
    def half(x: Any, theta: Sequence) -> AnyArray:
        y = function.traced(x, theta)
        return registry["sum"](y * y, axes=tuple(range(len(shape_of(y))))) * 0.5
    return half


WITHIN.update({f"scipy.optimize.{call.__name__}": partial(call, call.__name__)
               for call in (least_squares, leastsq, curve_fit)})
