"""Derivatives of what a solver finds: a root, a fixed point, a minimum, by the implicit function theorem.

If F(x, theta) = 0 defines x(theta), then dx = -(dF/dx)^-1 (dF/dtheta) dtheta (Dini; see Griewank & Walther, Evaluating
Derivatives, chapter 15). The solver itself is not differentiated, so it may be any code: scipy.optimize, an @njit loop.
"""
import functools
from collections.abc import Callable
from typing import Any

from ..ir.op import registry
from ..ops.face import BY_NAME
from ..ops.kinds import shape_of
from ..util import tree
from ..util.errors import ArgumentError
from .custom import custom_jvp
from .inner import captured
from .jacobian import jacobian
from .products import gradient_of, jvp
from .ravel import ravel
from .staged import check_callable


def implicit(solver: Callable, *, root: "Callable | None" = None, fixed_point: "Callable | None" = None,
             minimum: "Callable | None" = None) -> Callable:
    """solver(x0, *theta) -> x, with derivatives with respect to theta by the implicit function theorem.

    Exactly one of: root(x, *theta), which is zero at the solution and has the shape of x; fixed_point(x, *theta), which is x
    there; minimum(x, *theta), a scalar that is least there. x is an array (or tree) like x0. The solver runs on NumPy arrays; where the
    Jacobian of the condition is singular, LinAlgError is raised.

    >>> import numpy as np, fad
    >>> def newton(x, a):
    ...     for _ in range(60):
    ...         x = x - (x * x - a) / (2 * x)
    ...     return x
    >>> root_of = implicit(newton, root=lambda x, a: x * x - a)
    >>> float(fad.grad(root_of, argnums=1)(1.0, 4.0))
    0.25
    """
    check_callable(solver, "implicit")
    given = [c for c in (root, fixed_point, minimum) if c is not None]
    if len(given) != 1:
        raise ArgumentError("implicit takes exactly one of root, fixed_point and minimum")

    def residual(x: Any, *theta: Any) -> Any:
        if root is not None:
            return captured(root)(x, *theta)
        if fixed_point is not None:
            return tree.map_leaves(lambda a, b: a - b, captured(fixed_point)(x, *theta), x)
        return gradient_of(lambda x: minimum(x, *theta), "fad.implicit")(x)     # type: ignore[misc]

    @custom_jvp
    @functools.wraps(solver)
    def solved(x0: Any, *theta: Any) -> Any:
        return _solve_on_host(solver, x0, theta)

    def rule(primals: tuple, tangents: tuple) -> tuple:
        x0, *theta = primals
        x = solved(x0, *theta)
        flat, unravel = ravel(x)
        matrix = jacobian(lambda v: ravel(residual(unravel(v), *theta))[0])(flat)
        moved = jvp(lambda *theta: residual(x, *theta), tuple(theta), tuple(tangents[1:]))[1]
        step = BY_NAME["numpy.linalg.solve"].call(matrix, _as_column(ravel(moved)[0]))
        return x, unravel(-registry["reshape"](step, shape_of(flat)[0]))
    solved.defjvp(rule)
    return solved


def _as_column(v: Any) -> Any:
    return registry["reshape"](v, shape_of(v)[0], 1)


def _solve_on_host(solver: Callable, x0: Any, theta: tuple) -> Any:
    """The solver, run on arrays when the program runs; all its arguments travel as one flat list."""
    start, unravel = ravel(x0)
    leaves, structure = tree.flatten(theta)

    def run(v: Any, *values: Any) -> Any:
        x = solver(unravel_on_host(v), *structure.unflatten(values))
        return ravel(x)[0]
    unravel_on_host = _numpy_unravel(x0)
    return unravel(registry["host"](start, *leaves, function=run, like=0))


def _numpy_unravel(x0: Any) -> Callable:
    """unravel for arrays, whatever the extents of x0 are when the program runs (one array takes them all)."""
    leaves, structure = tree.flatten(x0)
    shapes = [tuple(getattr(n, "hint", n) for n in shape_of(x)) for x in leaves]

    def unravel(v: Any) -> Any:
        if len(leaves) == 1 and len(shapes[0]) == 1:
            return structure.unflatten([v])
        parts, start = [], 0
        for x, shape in zip(leaves, shapes):
            size = 1
            for n in shape:
                size *= int(n)
            parts.append(v[start:start + size].reshape(tuple(int(n) for n in shape)) if shape else v[start])
            start += size
        return structure.unflatten(parts)
    return unravel

