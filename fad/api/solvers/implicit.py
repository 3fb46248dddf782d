"""Derivatives of a solver's result (a root, a fixed point, a minimum), by the implicit function theorem.

If F(x, theta) = 0 defines x(theta), then dx = -(dF/dx)^-1 (dF/dtheta) dtheta (Dini; see Griewank & Walther, Evaluating
Derivatives, chapter 15): one linear solve, whatever the solver's number of iterations. The solver itself is not
differentiated, so it may be any code: scipy.optimize, an @njit loop.
"""
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...ops.kinds import shape_of
from ...ops.override import BY_NAME
from ...trace.runtime.capture import captured
from ...util import tree
from ...util.array import AnyArray
from ...util.errors import ArgumentError
from ...util.keywords import named_as_here
from ..calls.ravel import ravel
from ..calls.staged import check_callable
from ..derivatives.custom import custom_jvp
from ..derivatives.jacobian import jacobian
from ..derivatives.products import gradient_of, jvp

_numbers = itertools.count(1)                                # of solvers


@named_as_here
def implicit(solver: Callable, *, root: "Callable | None" = None, fixed_point: "Callable | None" = None,
             minimum: "Callable | None" = None) -> Callable:
    r"""Give a solver the derivatives of the equation that it solves.

    Parameters
    ----------
    solver : callable
        A function ``solver(x0, *theta)`` that returns the solution `x`, an array or a structure like `x0`. It runs on
        NumPy arrays, and it may call any library.
    root : callable, optional
        A function ``root(x, *theta)`` that is zero at the solution. Its result has the shape of `x`.
    fixed_point : callable, optional
        A function ``fixed_point(x, *theta)`` that returns `x` at the solution.
    minimum : callable, optional
        A function ``minimum(x, *theta)`` that returns one number, which is least at the solution.

    Returns
    -------
    callable
        The solver, with derivatives with respect to `theta`.

    Raises
    ------
    ArgumentError
        If not exactly one condition is given. It is a `TypeError` and a `ValueError`.
    LinAlgError
        If the Jacobian of the condition is singular at the solution.

    Notes
    -----
    The derivative follows from the implicit function theorem. For a condition :math:`F(x, \theta) = 0`,

    .. math:: \frac{dx}{d\theta} = -\left(\frac{\partial F}{\partial x}\right)^{-1} \frac{\partial F}{\partial \theta}.

    It does not depend on the iterations of the solver, and costs one linear solve [1]_.

    References
    ----------
    .. [1] M. Blondel and others, "Efficient and modular implicit differentiation", NeurIPS, 2022.

    Examples
    --------
    >>> import fad
    >>> def newton(x, a):
    ...     for _ in range(60):
    ...         x = x - (x * x - a) / (2 * x)
    ...     return x
    >>> root_of = fad.implicit(newton, root=lambda x, a: x * x - a)
    >>> float(fad.grad(root_of, argnums=1)(1.0, 4.0))
    0.25
    """
    check_callable(solver, "implicit")
    name = f"{getattr(solver, '__name__', 'solver')} {next(_numbers)}"
    given = [c for c in (root, fixed_point, minimum) if c is not None]
    if len(given) != 1:
        raise ArgumentError("implicit takes exactly one of root, fixed_point and minimum",
                            do="name the condition that the solution meets: root=lambda x, a: ... is zero there")

    def residual(x: object, *theta: object) -> Any:
        if root is not None:
            return captured(root)(x, *theta)
        if fixed_point is not None:
            return tree.map_leaves(lambda a, b: a - b, captured(fixed_point)(x, *theta), x)
        return gradient_of(lambda x: minimum(x, *theta), "fad.implicit")(x)     # type: ignore[misc]

    @custom_jvp
    @functools.wraps(solver)
    def solved(x0: object, *theta: object) -> Any:
        return _solve_on_host(solver, name, x0, theta)

    def rule(primals: tuple, tangents: tuple) -> tuple:
        x = solved(*primals)
        theta, (flat, unravel) = primals[1:], ravel(x)
        matrix = jacobian(lambda v: ravel(residual(unravel(v), *theta))[0])(flat)
        moved = _pushed(lambda *theta: residual(x, *theta), tuple(theta), tuple(tangents[1:]))
        step = BY_NAME["numpy.linalg.solve"].call(matrix, ravel(moved)[0][:, None])
        return x, unravel(-registry["reshape"](step, shape_of(flat)[0]))
    solved.defjvp(rule)
    return solved


def _pushed(f: Callable, theta: tuple, tangents: tuple) -> tuple:
    """The derivative of f in a direction of its real and complex parameters; integers among them do not move."""
    leaves, structure = tree.flatten(theta)
    directions = tree.flatten(tangents)[0]
    moving = [k for k, x in enumerate(leaves) if type_of(x).dtype.kind in "fc"]

    def of_moving(*values: object) -> Any:
        filled = dict(zip(moving, values))
        return f(*structure.unflatten([filled.get(k, x) for k, x in enumerate(leaves)]))
    return jvp(of_moving, tuple([leaves[k] for k in moving]), tuple([directions[k] for k in moving]))[1]


class _OnArrays:
    """The solver on arrays: its start comes as one vector, with the extents of its leaves behind it.

    Two with the same name have the same text, so that a program that calls both with the same numbers calls one.
    """

    def __init__(self, solver: Callable, name: str, start: tree.Structure, ranks: tuple, theta: tree.Structure):
        self.solver, self.name, self.start, self.ranks, self.theta = solver, name, start, ranks, theta
        self.__name__ = name.rpartition(" ")[0]

    def __call__(self, v: AnyArray, *values: Any) -> Any:
        count = sum(self.ranks)
        start = _parts(v, self.ranks, [int(n) for n in values[:count]])
        x = self.solver(self.start.unflatten(start), *self.theta.unflatten(values[count:]))
        return np.concatenate([np.ravel(part) for part in tree.flatten(x)[0]])

    def __repr__(self) -> str:
        return f"<{self.name} of {self.start}, {self.ranks}, {self.theta}>"


def _solve_on_host(solver: Callable, name: str, x0: object, theta: tuple) -> Any:
    """The solver, run on arrays when the program runs."""
    start, unravel = ravel(x0)
    starts, structure = tree.flatten(x0)
    leaves, structure_of_theta = tree.flatten(theta)
    ranks = tuple([len(shape_of(x)) for x in starts])
    extents = [n for x in starts for n in shape_of(x)]
    run = _OnArrays(solver, name, structure, ranks, structure_of_theta)
    return unravel(registry["host"](start, *extents, *leaves, function=run, like=0))


def _parts(v: Any, ranks: tuple, sizes: list) -> list:
    """The vector cut into arrays of these ranks, whose extents follow one another in sizes."""
    parts, offset, taken = [], 0, 0
    for rank in ranks:
        shape = tuple(sizes[taken:taken + rank])
        count = math.prod(shape)
        parts.append(v[offset:offset + count].reshape(shape) if shape else v[offset])
        offset, taken = offset + count, taken + rank
    return parts
