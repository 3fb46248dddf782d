"""SciPy's constrained minima within functions: minimize with constraints, linprog, nnls and lsq_linear.

At a minimum of f under g_i = 0 (i in E) and g_i >= 0 (i in I) there are multipliers m with

    grad f - sum_i m_i grad g_i = 0,      g_i = 0 for i in E or m_i > 0,      m_i = 0 for all others

(Karush, Kuhn and Tucker). These equations have derivatives by the implicit function theorem, as long as the set of
constraints that hold does not change: their gradients are independent, and their multipliers are not zero (A. V.
Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear Programming, 1983, section 3.2). SciPy finds x;
the multipliers follow from least squares. Where the conditions fail, the solution is there, and its derivative raises.
"""
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.extents import product
from ...ops.kinds import shape_of
from ...ops.literals import has_values
from ...ops.numpy_api.arguments import as_array, fixed
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...trace.runtime.capture import captured
from ...util.array import AnyArray, ArrayOrNumber
from ...util.lazy import LazyModule
from ..derivatives.derivative import jitted
from ..derivatives.jacobian import jacobian
from ..derivatives.products import gradient_of
from .implicit import implicit
from .solvers import Problem, limits_of, not_found, plain, refuse, result_of, start_of, whole
from .solvers import minimize as free

optimize: Any = LazyModule("scipy.optimize")
FLOAT = np.dtype(float)
matmul: Callable = BY_NAME["numpy.matmul"].call

ON, NEAR = 1e-6, 1e-4                                         # distances from a constraint, relative to 1 + |x|
WEAK = 1e-5                                                  # of a multiplier, relative to the gradients
FAULTS = ("", "its active constraints are dependent, so that they have no unique multipliers",
          "a constraint holds with a multiplier of zero: a small change leaves it or not",
          "the result is near a constraint and not on it: use a smaller tolerance, or a method such as SLSQP",
          "the result is not a minimum to four digits: use a smaller tolerance")


class Constraints:
    """The functions of (x, theta) that are zero or, if not `is_equal`, at least zero, in the program."""

    def __init__(self) -> None:
        self.parts: list[tuple[Callable, bool]] = []

    def add(self, function: Callable, is_equal: bool) -> None:
        self.parts.append((function, is_equal))

    def between(self, function: Callable, low: Any, high: Any) -> None:
        """low <= function <= high, for arrays of numbers; where they are equal, so is the function."""
        equal = low == high
        for rows, sign, side in ((np.nonzero(equal)[0], 1.0, low), (np.nonzero(~equal & np.isfinite(low))[0], 1.0, low),
                                 (np.nonzero(~equal & np.isfinite(high))[0], -1.0, high)):
            if rows.size:
                self.add(partial(_side, function, rows, sign, side[rows]), bool(equal[rows[0]]))

    def values(self, x: ArrayOrNumber, theta: Sequence) -> AnyArray:
        return _joined([_vector(function(x, theta)) for function, _ in self.parts])

    def equal(self, x: AnyArray, theta: Sequence) -> AnyArray:
        """1 for each that is zero, 0 for the others."""
        return _joined([registry["full"](float(is_equal), product(shape_of(function(x, theta))), dtype=FLOAT)
                        for function, is_equal in self.parts])


def _side(function: Callable, rows: AnyArray, sign: float, side: AnyArray, x: AnyArray, theta: Sequence) -> AnyArray:
    return (function(x, theta)[rows] - side) * sign


def _joined(parts: list) -> AnyArray:
    return parts[0] if len(parts) == 1 else registry["concatenate"](*parts, axis=0)


def _vector(y: AnyArray) -> AnyArray:
    return registry["reshape"](y * 1.0, product(shape_of(y)))


def solve(problem: Problem, find: Callable, value: Callable, constraints: Constraints, facts: int = 0) -> tuple:
    """(x, facts): find(start, theta) gives x and so many numbers; value(x, theta) is least under the constraints."""
    if not constraints.parts:
        return problem.solve(find, lambda x, theta: _slope(lambda x: value(x, theta), x), facts)
    numbers = jitted(lambda x, *theta: (
        _slope(lambda x: value(x, theta), x), constraints.values(x, theta),
        jacobian(lambda x: constraints.values(x, theta))(x), constraints.equal(x, theta)))

    def run(start: tuple, *theta: object) -> tuple:
        x, found = find(start[0], theta)
        x = np.asarray(x, float)
        m, fault = multipliers(x, *map(np.asarray, numbers(x, *theta)))
        return x, m, np.append([1.0, fault], found)[:2 + facts]

    def residual(solution: tuple, *theta: object) -> tuple:
        x, m, found = solution
        for code, fault in enumerate(FAULTS[1:], 1):
            registry["check_that"](registry["stop_gradient"](found[1]) != code, True, error="RuntimeError",
                                   what=f"scipy.optimize.{problem.name} has no derivative here: {fault}")
        g = constraints.values(x, theta)
        slope = _slope(lambda x: value(x, theta) - matmul(m, constraints.values(x, theta)), x)
        is_free = (registry["stop_gradient"](m) == 0.0) & (constraints.equal(x, theta) == 0.0)
        return slope, registry["where"](is_free, m, g), found * 1.0
    room = constraints.values(problem.x, problem.theta)
    start = problem.x, registry["zeros_like"](room), np.zeros(2 + facts)
    x, _, found = implicit(run, root=residual)(start, *problem.theta)
    registry["check_that"](found[0] == 1.0, True, what="no solution", error="RuntimeError")
    return x, found[2:]


def _slope(f: Callable, x: AnyArray) -> AnyArray:
    return gradient_of(f, "a minimum within a function")(x)


def multipliers(x: Any, slope: Any, g: Any, rows: Any, equal: object) -> tuple:
    """The multipliers at x, zero for constraints that do not hold, and the place of what is at fault in FAULTS.

    slope: the gradient of f; rows: those of the constraints.

    >>> multipliers(np.array([0.0, 2.0]), np.array([3.0, 0.0]), np.array([0.0, 1.0]), np.eye(2), np.zeros(2))
    (array([3., 0.]), 0)
    """
    lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)
    distance, size = g / lengths, 1.0 + np.max(np.abs(x), initial=0.0)
    active = (equal == 1.0) | (distance <= ON * size)
    m, held = np.zeros(len(g)), rows[active]
    if len(held) and np.linalg.matrix_rank(held / lengths[active, None], tol=1e-10) < len(held):
        return m, 1
    m[active] = np.linalg.lstsq(held.T, slope, rcond=None)[0]
    scale = np.max(np.abs(slope), initial=0.0)
    if np.any(np.abs(slope - m @ rows) > 1e-4 * (1.0 + scale)):
        return m, 4 if np.all(active | (distance > NEAR * size)) else 3
    if np.any(~active & (distance <= NEAR * size)):
        return m, 3
    forces = (m * lengths)[active & (equal == 0.0)]
    if np.any(forces < -1e-4 * (1.0 + scale)):
        return m, 4
    return m, 2 if np.any(forces <= WEAK * scale) else 0


# -- SciPy's functions -----------------------------------------------------------------------------


def minimize(name: str, f: Callable, x0: object, args: Any = (), method: object = None, jac: Any = None,
             bounds: Any = None, constraints: object = (), **options: object) -> Any:
    """The least value of a function of a vector under constraints, by SLSQP, trust-constr or COBYLA."""
    options = plain(name, options)
    if any(callable(options.get(k)) for k in ("hess", "hessp")) or has_values(bounds):
        raise refuse(name, "hess, hessp or traced bounds")
    problem, known = Problem(name, start_of(x0)), Constraints()
    function, slope = problem.function(f, args), problem.derivative(jac, args)
    if not isinstance(constraints, (list, tuple)):
        constraints = [constraints]
    given = [_constraint(problem, known, each) for each in constraints]
    if bounds is not None:
        known.between(lambda x, theta: x, *limits_of(bounds))

    def value(x: Any, theta: Sequence) -> Any:
        y = function.traced(x, theta)
        return registry["reshape"](y[0] if jac is True else y)

    def find(start: object, theta: tuple) -> tuple:
        call = function.on_numbers(theta)
        found = optimize.minimize(call if jac is True else lambda x: np.asarray(call(x)).item(), start, method=method,
                                  bounds=bounds, jac=slope(theta), constraints=[each(theta) for each in given],
                                  **options)
        if not found.success:
            raise not_found(name, found.message)
        return found.x, (found.get("nit", 0), found.nfev)
    x, facts = solve(problem, find, value, known, facts=2)
    return result_of(x, value(x, problem.theta), facts)


def _constraint(problem: Problem, known: Constraints, given: Any) -> Callable:
    """Note a constraint of SciPy's; the function theta -> that constraint on numbers."""
    if isinstance(given, optimize.LinearConstraint):
        A = np.atleast_2d(given.A.toarray() if hasattr(given.A, "toarray") else given.A)
        known.between(lambda x, theta: matmul(A, x), *_limits(given, len(A)))
        return lambda theta: given
    if isinstance(given, optimize.NonlinearConstraint):
        function, slope = problem.function(captured(given.fun)), _slope_of(problem, given.jac)
        count = fixed(product(shape_of(function.traced(problem.x, problem.theta))), "the number of constraints")
        if callable(given.hess):
            raise refuse(problem.name, "hess of a constraint")
        known.between(lambda x, theta: _vector(function.traced(x, theta)), *_limits(given, count))
        return lambda theta: optimize.NonlinearConstraint(function.on_numbers(theta), given.lb, given.ub,
                                                          jac=slope(theta), hess=given.hess)
    args = tuple(given.get("args", ()))
    function, slope = problem.function(captured(given["fun"]), args), _slope_of(problem, given.get("jac"), args)
    known.add(function.traced, given["type"] == "eq")
    return lambda theta: {"type": given["type"], "fun": function.on_numbers(theta), "jac": slope(theta)}


def _slope_of(problem: Problem, jac: object, args: object = ()) -> Callable:
    return problem.derivative(captured(jac) if callable(jac) else jac, args)


def _limits(given: Any, count: int) -> tuple:
    return np.broadcast_to(np.asarray(given.lb, float), count), np.broadcast_to(np.asarray(given.ub, float), count)


def linprog(name: str, c: object, A_ub: object = None, b_ub: object = None, A_eq: object = None, b_eq: object = None,
            bounds: object = (0, None), **options: object) -> Any:
    """The least value of c @ x under linear constraints, where x is the only one and a nondegenerate vertex."""
    options = plain(name, options, "integrality", "x0")
    if has_values(bounds):
        raise refuse(name, "traced bounds")
    given = [None if a is None else as_array(a) * 1.0 for a in (c, A_ub, b_ub, A_eq, b_eq)]
    n = fixed(shape_of(given[0])[0], "the number of variables")
    problem, known = Problem(name, np.zeros(n), [a for a in given if a is not None]), Constraints()
    place = iter(range(len(problem.theta)))
    places = [None if a is None else next(place) for a in given]

    def parts(theta: Sequence) -> list:
        return [None if k is None else theta[k] for k in places]
    if A_ub is not None:
        known.add(lambda x, theta: parts(theta)[2] - matmul(parts(theta)[1], x), False)
    if A_eq is not None:
        known.add(lambda x, theta: matmul(parts(theta)[3], x) - parts(theta)[4], True)
    limits = np.array(np.broadcast_to(np.array(bounds, object), (n, 2)))
    known.between(lambda x, theta: x, *limits_of(limits.tolist()))

    def find(_: object, theta: tuple) -> tuple:
        found = optimize.linprog(*parts(theta), bounds=bounds, **options)
        if not found.success:
            raise not_found(name, found.message)
        return found.x, found.nit
    x, facts = solve(problem, find, lambda x, theta: matmul(theta[0], x), known, facts=1)
    _, upper, b_upper, equal, b_equal = parts(problem.theta)
    return optimize.OptimizeResult(
        x=x, fun=matmul(problem.theta[0], x), success=True, status=0, nit=whole(facts[0]),
        slack=np.empty(0) if upper is None else b_upper - matmul(upper, x),
        con=np.empty(0) if equal is None else b_equal - matmul(equal, x))


def _least_squares(name: str, A: AnyArray, b: AnyArray, low: object, high: object, find: Callable) -> tuple:
    """The x within bounds for which the length of A x - b is least, and A x - b there."""
    A, b = as_array(A) * 1.0, as_array(b) * 1.0
    n = fixed(shape_of(A)[1], "the number of variables")
    problem, known = Problem(name, np.zeros(n), (A, b)), Constraints()
    known.between(lambda x, theta: x, np.broadcast_to(np.asarray(low, float), n),
                  np.broadcast_to(np.asarray(high, float), n))

    def half(x: AnyArray, theta: Sequence) -> AnyArray:
        r = matmul(theta[0], x) - theta[1]
        return matmul(r, r) * 0.5
    x, facts = solve(problem, lambda _, theta: find(*theta), half, known, facts=1)
    return x, matmul(A, x) - b, facts


def nnls(name: str, A: Any, b: Any, **options: Any) -> tuple:
    """The x >= 0 for which the length of A x - b is least, and that length."""
    options = plain(name, options)
    x, r, _ = _least_squares(name, A, b, 0.0, np.inf, lambda A, b: (optimize.nnls(A, b, **options)[0], 0))
    return x, BY_NAME["numpy.linalg.norm"].call(r)


def lsq_linear(name: str, A: Any, b: Any, bounds: Any = (-np.inf, np.inf), **options: object) -> Any:
    """The x within bounds for which the length of A x - b is least."""
    options = plain(name, options)
    if has_values(bounds):
        raise refuse(name, "traced bounds")
    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds

    def find(A: object, b: object) -> tuple:
        found = optimize.lsq_linear(A, b, bounds=bounds, **options)
        if not found.success:
            raise not_found(name, found.message)
        return found.x, found.nit
    x, r, facts = _least_squares(name, A, b, low, high, find)
    return optimize.OptimizeResult(x=x, fun=r, cost=matmul(r, r) * 0.5, success=True, nit=whole(facts[0]))


def _minimize(name: str, f: Callable, x0: object, constraints: object = (), **options: object) -> Any:
    """With constraints or without."""
    is_free = isinstance(constraints, (list, tuple)) and not constraints
    return free(name, f, x0, **options) if is_free else minimize(name, f, x0, constraints=constraints, **options)


WITHIN["scipy.optimize.minimize"] = partial(_minimize, "minimize")
WITHIN.update({f"scipy.optimize.{call.__name__}": partial(call, call.__name__)
               for call in (linprog, nnls, lsq_linear)})
