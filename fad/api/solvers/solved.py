"""Solutions of equations that a program finds by iterations of its own: they get the derivatives of the equations.

The program iterates on values that are held still, so that no derivative goes through the iterations. Then `solution`
says which equation holds, and the implicit function theorem gives the derivatives (see implicit.py), to any order.

    y = iterate(held(f, y), y)            # f as a function of numbers alone
    y = solution(lambda y: f(y), y)       # f(y) = 0, whose derivatives follow
"""
from collections.abc import Callable, Sequence

from ...ir import stack
from ...ir.op import registry
from ...ops.kinds import shape_of
from ...ops.override import BY_NAME
from ...routines import above
from ...util.array import AnyArray
from ...util.errors import UnsupportedFunctionError
from ..derivatives.closure_conversion import Closed
from ..derivatives.jacobian import jacobian
from ..derivatives.products import jvp
from ..derivatives.tangent_rules import call_with_rule


def held(f: Callable, *models: object) -> Callable:
    """f as a function of arguments like these, with the values of the program around that it uses held still."""
    _refuse_tape()
    closed = Closed(f, models, "a solver")
    theta = [_still(x) for x in closed.theta]
    return lambda *xs: closed(xs, theta)


def stopped(x: AnyArray) -> AnyArray:
    """x, held still."""
    return _still(x)


def jacobian_at(f: Callable, x: AnyArray) -> AnyArray:
    """The matrix of derivatives of f, a function of a vector."""
    _refuse_tape()
    return jacobian(f)(x)


def solution(f: Callable, x: AnyArray) -> AnyArray:
    """x, for which f(x) = 0, with the derivatives that this gives it. A number, or a vector."""
    _refuse_tape()
    closed = Closed(f, (x,), "a solver")
    return _solved(closed, (_still(x), *closed.theta))


def _solved(closed: Closed, values: Sequence) -> AnyArray:
    def push(values: Sequence, dxs: Sequence) -> tuple:
        still, *theta = values
        x = _solved(closed, values)
        moving = [k for k, d in enumerate(dxs[1:]) if d is not None]

        def at(*moved: object) -> AnyArray:
            filled = dict(zip(moving, moved))
            return closed((x,), [filled.get(k, value) for k, value in enumerate(theta)])
        moved = jvp(at, [theta[k] for k in moving], [dxs[1 + k] for k in moving])[1]
        return (x,), (-_quotient(moved, jacobian(lambda x: closed((x,), theta))(x)),)
    return call_with_rule("solution", lambda x, *_: (x,), push, values)[0]


def _quotient(b: AnyArray, a: AnyArray) -> AnyArray:
    n = shape_of(b) or (1,)                                   # of a number, too: a singular equation raises
    step = BY_NAME["numpy.linalg.solve"].call(registry["reshape"](a, *n, *n), registry["reshape"](b, *n, 1))
    return registry["reshape"](step, *shape_of(b))


def _still(x: AnyArray) -> AnyArray:
    return registry["stop_gradient"](x)


def _refuse_tape() -> None:
    if stack.is_live() or not stack.builders():
        raise UnsupportedFunctionError("events and implicit methods of scipy.integrate.solve_ivp have no derivative on "
                                       "the tape", do="see the warning why this function runs there, and change that; "
                                       "or use RK45, RK23 or DOP853 without events")


above.held, above.stopped, above.jacobian_at, above.solution = held, stopped, jacobian_at, solution
