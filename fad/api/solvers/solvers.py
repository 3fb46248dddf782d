"""SciPy's solvers within functions: SciPy finds the solution when the program runs, and the implicit function theorem
gives its derivative (see implicit.py).

    solver                                        condition F(x, theta) = 0 at the solution
    brentq, newton, root_scalar, fsolve, root     f(x)
    fixed_point                                   f(x) - x
    minimize, minimize_scalar, fmin_bfgs, ...     the gradient of f
    least_squares, leastsq, curve_fit (fits.py)   the gradient of half the sum of squares

A component on one of its bounds has the condition x - bound. SciPy gets the function as a compiled function of numbers
(see closure_conversion.py) and the user's own options, so that it takes the same steps as without fad. A solver that
does not converge raises an error, since its result satisfies no condition. brentq, brenth, bisect and ridder are loops
of the program (routines/roots.py).
"""
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.op import registry
from ...ir.types import type_of
from ...ops.kinds import shape_of
from ...ops.literals import has_values
from ...ops.numpy_api.arguments import as_array
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...routines import roots
from ...trace.runtime.capture import captured
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ConcreteValueError
from ...util.lazy import LazyModule
from ..derivatives.closure_conversion import Closed
from ..derivatives.products import gradient_of
from .implicit import implicit

optimize: Any = LazyModule("scipy.optimize")

SPREAD = {"newton", "fixed_point", "least_squares", "fmin_bfgs", "fmin_cg"}  # they take any sequence for args
SMALL = 1e-7                                                 # of a residual, relative to 1 + |x|: there is a root


class Problem:
    """One call of a solver: its functions, closed, and their values of the program around.

    numbers: other arguments that may be traced (the ends of a bracket).
    """

    def __init__(self, name: str, x: ArrayOrNumber, numbers: Sequence = ()):
        self.name, self.x = name, x
        self.theta: tuple = tuple(numbers)

    def function(self, f: Callable, args: Iterable = ()) -> "Function":
        """f(x, *args), whose values of the program around become parameters of the problem."""
        args = tuple(args) if isinstance(args, tuple) or self.name in SPREAD else (args,)
        closed = Closed(lambda x: f(x, *args), (self.x,), f"scipy.optimize.{self.name}")
        start = len(self.theta)
        self.theta += closed.theta
        return Function(closed, slice(start, len(self.theta)))

    def derivative(self, given: Any, args: Any) -> Callable:
        """theta -> what SciPy gets as a derivative: a function is closed over theta, anything else is passed on."""
        if not callable(given):
            return lambda theta: given
        return self.function(given, args).on_numbers

    def solve(self, find: Callable, condition: Callable, facts: int = 0) -> tuple:
        """(x, facts): find(start, theta) gives x and so many numbers beside it; condition(x, theta) is zero."""
        def run(start: tuple, *theta: object) -> tuple:
            x, found = find(start[0], theta)
            return np.asarray(x, float), np.append(1.0, found)[:1 + facts]

        def residual(solution: tuple, *theta: object) -> tuple:
            x, found = solution
            return condition(x, theta), found * 1.0
        x, found = implicit(run, root=residual)((self.x, np.zeros(1 + facts)), *self.theta)
        # the solver runs even where the derivative does not depend on x: it raises where there is no solution
        registry["check_that"](found[0] == 1.0, True, what="no solution", error="RuntimeError")
        return x, found[1:]


class Function:
    """A function of a problem: on numbers when the program runs, in the program for its derivatives."""

    def __init__(self, closed: Closed, place: slice):
        self.closed, self.place = closed, place

    def on_numbers(self, theta: Sequence) -> Callable:
        """The function of x alone."""
        return self.closed.at(theta[self.place])

    def traced(self, x: ArrayOrNumber, theta: Sequence) -> AnyArray:
        """The function in a program that is being built."""
        return self.closed((x,), theta[self.place])


def refuse(name: str, what: str) -> ConcreteValueError:
    """The error of a call that has no derivative here."""
    return ConcreteValueError(f"scipy.optimize.{name} has no derivative with {what}",
                              why="fad differentiates the condition of a solution, and does not know it here",
                              do=f"leave out {what}, or state the condition yourself (fad.implicit)")


def plain(name: str, options: dict, *refused: str) -> dict:
    for option in ("full_output", "callback", *refused):
        if options.get(option) is not None and options[option] is not False and options[option] != ():
            raise refuse(name, option)
    if has_values(list(options.values())):
        raise refuse(name, "an option that is traced")
    return options


def not_found(name: str, why: str) -> RuntimeError:
    return RuntimeError(f"scipy.optimize.{name} found no solution, so that there is no derivative: {why}")


def of_vectors(name: str, f: Callable, x0: object, args: Any, derivative: object, options: dict) -> tuple:
    """A solver's options, the problem of a function of a vector, the function, and what SciPy gets as its derivative.
    """
    options, problem = plain(name, options), Problem(name, start_of(x0))
    return options, problem, problem.function(f, args), problem.derivative(derivative, args)


def start_of(x0: object) -> AnyArray:
    """The starting point of a solver of vectors, as a vector of floats."""
    return BY_NAME["numpy.ravel"].call(as_array(x0)) * 1.0


def _number(y: AnyArray) -> AnyArray:
    return registry["reshape"](y) if shape_of(y) else y


# -- roots -------------------------------------------------------------------------------------------------

def bracketed(name: str, f: Callable, a: object, b: object, args: tuple = (), **options: object) -> AnyArray:
    """A root between a and b."""
    options = plain(name, options)
    if name in roots.METHODS and not stack.is_live():
        return captured(roots.find)(roots.METHODS[name], f, a, b, args, **options)[0]
    problem = Problem(name, 0.5, (a, b))
    function = problem.function(f, args)

    def find(_: object, theta: tuple) -> tuple:
        return getattr(optimize, name)(_float_of(function.on_numbers(theta)), *theta[:2], **options), 0.0
    return problem.solve(find, lambda x, theta: _number(function.traced(x, theta)))[0]


def _float_of(f: Callable) -> Callable:
    return lambda x: np.asarray(f(x)).item()


def root_scalar(name: str, f: Callable, args: Any = (), method: Any = None, bracket: Any = None, fprime: object = None,
                fprime2: object = None, x0: object = None, x1: object = None, **options: object) -> Any:
    """A root of a function of one number, by any of SciPy's methods."""
    options = plain(name, options)
    if callable(fprime) or callable(fprime2):
        raise refuse(name, "fprime and fprime2")
    known = roots.METHODS.get("brentq" if method is None else method.lower()) if bracket is not None else None
    if known is not None and not stack.is_live() and not fprime and set(options) <= {"xtol", "rtol", "maxiter"}:
        given = {k: x for k, x in options.items() if x is not None}
        x, iterations, calls = captured(roots.find)(known, f, *bracket, args, **given)
        return _scalar_result(x, method, iterations, calls)
    if has_values(bracket):
        raise refuse(name, "a traced bracket")
    problem = Problem(name, 0.5, (0.0 if x0 is None else x0, 0.0 if x1 is None else x1))
    function = problem.function(f, args)

    def find(_: object, theta: tuple) -> tuple:
        starts = {k: x for k, x, given in zip(("x0", "x1"), theta, (x0, x1)) if given is not None}
        call = function.on_numbers(theta) if fprime else _float_of(function.on_numbers(theta))
        found = optimize.root_scalar(call, method=method, bracket=bracket, fprime=fprime, fprime2=fprime2, **starts,
                                     **options)
        if not found.converged:
            raise not_found(name, found.flag)
        return found.root, (found.iterations, found.function_calls)

    def condition(x: Any, theta: tuple) -> Any:
        y = function.traced(x, theta)
        return _number(y[0] if fprime else y)
    x, facts = problem.solve(find, condition, facts=2)
    return _scalar_result(x, method, whole(facts[0]), whole(facts[1]))


def _scalar_result(x: object, method: object, iterations: object, calls: object) -> Any:
    return optimize.OptimizeResult(root=x, converged=True, success=True, flag="converged", method=method,
                                   iterations=iterations, function_calls=calls)


def whole(x: AnyArray) -> AnyArray:
    return registry["cast"](x, dtype=np.dtype(np.int64))


def newton(name: str, f: Callable, x0: Any, fprime: object = None, args: tuple = (), **options: object) -> AnyArray:
    """Roots of a function, from x0: a number or an array of them."""
    options = plain(name, options, "fprime2", "x1")
    is_number = not isinstance(x0, (list, tuple)) and not shape_of(x0) and type_of(x0).dtype.kind in "biuf"
    if is_number and not stack.is_live():
        given = {k: x for k, x in options.items() if k in ("tol", "maxiter", "rtol", "disp")}
        return captured(roots.newton)(f, x0, fprime, args, **given)
    problem = Problem(name, x0 * 1.0 if not isinstance(x0, (list, tuple)) else np.asarray(x0, float))
    function, slope = problem.function(f, args), problem.derivative(fprime, args)

    def find(start: object, theta: tuple) -> tuple:
        return optimize.newton(function.on_numbers(theta), start, slope(theta), **options), 0.0
    return problem.solve(find, function.traced)[0]


def fsolve(name: str, f: Callable, x0: object, args: Any = (), fprime: Any = None, **options: object) -> Any:
    """A root of a system of equations."""
    options, problem, function, slope = of_vectors(name, f, x0, args, fprime, options)

    def find(start: object, theta: tuple) -> tuple:
        call = function.on_numbers(theta)
        x, _, code, message = optimize.fsolve(call, start, fprime=slope(theta), **{**options, "full_output": True})
        if code != 1 and not _is_root(call, x):
            raise not_found(name, message)
        return x, 0.0
    return problem.solve(find, function.traced)[0]


def _is_root(f: Callable, x: Any) -> bool:
    return bool(np.max(np.abs(f(x)), initial=0.0) <= SMALL * (1.0 + np.max(np.abs(x), initial=0.0)))


def root(name: str, f: Callable, x0: object, args: Any = (), method: str = "hybr", jac: Any = None,
         **options: object) -> Any:
    """A root of a system of equations, with SciPy's result."""
    options, problem, function, slope = of_vectors(name, f, x0, args, jac, options)

    def value(y: Any) -> Any:
        return y[0] if jac is True else y

    def find(start: object, theta: tuple) -> tuple:
        call = function.on_numbers(theta)
        found = optimize.root(call, start, method=method, jac=slope(theta), **options)
        if not found.success and not _is_root(lambda x: value(call(x)), found.x):
            raise not_found(name, found.message)
        return found.x, found.get("nfev", 0)
    x, facts = problem.solve(find, lambda x, theta: value(function.traced(x, theta)), facts=1)
    return optimize.OptimizeResult(x=x, success=True, fun=value(function.traced(x, problem.theta)), method=method,
                                   nfev=whole(facts[0]))


def of_arrays(name: str, f: Callable, x0: Any, args: Any = (), **options: object) -> AnyArray:
    """A root (or the fixed point) of a function of arrays, by a solver that raises where it does not converge."""
    is_fixed_point = name == "fixed_point"
    options = plain(name, options)
    problem = Problem(name, np.asarray(x0, float)[()] if not has_values(x0) else x0 * 1.0)
    function = problem.function(f, args)

    def find(start: object, theta: tuple) -> tuple:
        return getattr(optimize, name)(function.on_numbers(theta), start, **options), 0.0

    def condition(x: Any, theta: tuple) -> AnyArray:
        y = function.traced(x, theta)
        return y - x if is_fixed_point else y
    return problem.solve(find, condition)[0]


# -- minima ------------------------------------------------------------------------------------------------

def minimize(name: str, f: Callable, x0: object, args: Any = (), method: object = None, jac: Any = None,
             hess: object = None, hessp: object = None, bounds: Any = None, **options: object) -> Any:
    """The least value of a function of a vector, within bounds."""
    if callable(hess) or callable(hessp) or has_values(bounds):
        raise refuse(name, "hess, hessp or traced bounds")
    options, problem, function, slope = of_vectors(name, f, x0, args, jac, options)
    limits = None if bounds is None else limits_of(bounds)

    def value(x: Any, theta: Sequence) -> Any:
        y = function.traced(x, theta)
        return _number(y[0] if jac is True else y)

    def find(start: object, theta: tuple) -> tuple:
        call = function.on_numbers(theta)
        found = optimize.minimize(call if jac is True else _float_of(call), start, method=method, bounds=bounds,
                                  jac=slope(theta), **options)
        if not found.success and found.status != 2:          # 2: no progress within rounding, at a minimum mostly
            raise not_found(name, found.message)
        check_bounds(name, found.x, limits)
        return found.x, (found.get("nit", 0), found.nfev)
    x, facts = problem.solve(find, stationary(value, limits), facts=2)
    return result_of(x, value(x, problem.theta), facts)


def result_of(x: AnyArray, fun: AnyArray, facts: Sequence) -> Any:
    """SciPy's result. facts: the numbers of iterations and of evaluations."""
    return optimize.OptimizeResult(x=x, success=True, fun=fun, nit=whole(facts[0]), nfev=whole(facts[1]))


def stationary(f: Callable, limits: "tuple | None" = None) -> Callable:
    """The condition of a minimum of f(x, theta): a component on one of its limits stays there."""
    def condition(x: object, theta: tuple) -> AnyArray:
        slope = gradient_of(lambda x: f(x, theta), "a minimum within a function")(x)
        if limits is None:
            return slope
        low, high = limits
        return registry["where"]((x == low) | (x == high), x - registry["stop_gradient"](x), slope)
    return condition


def limits_of(bounds: list) -> tuple:
    """The least and the largest values of SciPy's bounds, as arrays of floats."""
    if isinstance(bounds, optimize.Bounds):
        low, high = bounds.lb, bounds.ub
    else:
        low, high = ([side if side is not None else sign * np.inf for side in column]
                     for sign, column in zip((-1, 1), zip(*bounds)))
    return np.asarray(low, float), np.asarray(high, float)


def check_bounds(name: str, x: Any, limits: "tuple | None") -> None:
    """Raise for a component near a limit and not on it, as interior methods leave it: it has no known derivative."""
    if limits is None:
        return
    low, high = limits
    on = (x == low) | (x == high)
    near = ~on & (np.minimum(x - low, high - x) < 1e-6 * (1.0 + np.abs(x)))
    if near.any():
        raise RuntimeError(f"scipy.optimize.{name} ended near a bound and not on it, where the derivative is another "
                           "one: choose a method whose results lie on the bounds, such as L-BFGS-B")


def minimum(name: str, f: Callable, x0: object, fprime: Any = None, args: Any = (), **options: object) -> Any:
    """The least point of a function of a vector, by the solvers that return nothing else."""
    options, problem, function, slope = of_vectors(name, f, x0, args, fprime, options)

    def find(start: object, theta: tuple) -> tuple:
        slopes = {} if fprime is None else {"fprime": slope(theta)}
        found = getattr(optimize, name)(_float_of(function.on_numbers(theta)), start, **slopes,
                                        **{**options, "full_output": True})
        if found[-1] not in (0, 2) and name != "fmin_powell":
            raise not_found(name, "too many iterations, or no progress")
        return found[0], 0.0
    return problem.solve(find, stationary(lambda x, theta: _number(function.traced(x, theta))))[0]


def minimize_scalar(name: str, f: Callable, bracket: object = None, bounds: Any = None, args: Any = (),
                    method: object = None, **options: object) -> Any:
    """The least value of a function of one number."""
    options = plain(name, options)
    if has_values([bracket, bounds]):
        raise refuse(name, "traced brackets or bounds")
    problem = Problem(name, 0.5)
    function = problem.function(f, args)

    def find(_: Any, theta: tuple) -> tuple:
        given = {} if bracket is None else {"bracket": bracket}
        found = optimize.minimize_scalar(_float_of(function.on_numbers(theta)), bounds=bounds, method=method, **given,
                                         **options)
        if not found.success:
            raise not_found(name, found.get("message", "no convergence"))
        if bounds is not None and min(found.x - bounds[0], bounds[1] - found.x) < 1e-4 * (bounds[1] - bounds[0]):
            raise not_found(name, "the least value in the bounds lies at one of them")
        return found.x, (found.nit, found.nfev)

    def value(x: Any, theta: Sequence) -> Any:
        return _number(function.traced(x, theta))
    x, facts = problem.solve(find, stationary(value), facts=2)
    return result_of(x, value(x, problem.theta), facts)


CALLS: "dict[str, Callable]" = {
    **dict.fromkeys(("brentq", "brenth", "bisect", "ridder", "toms748"), bracketed),
    "root_scalar": root_scalar, "newton": newton, "fsolve": fsolve, "root": root, "minimize": minimize,
    "minimize_scalar": minimize_scalar,
    **dict.fromkeys(("fmin", "fmin_powell", "fmin_bfgs", "fmin_cg"), minimum),
    **dict.fromkeys(("fixed_point", "broyden1", "broyden2", "anderson", "newton_krylov"), of_arrays)}
WITHIN.update({f"scipy.optimize.{name}": partial(call, name) for name, call in CALLS.items()})
