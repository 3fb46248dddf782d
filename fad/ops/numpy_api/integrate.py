"""scipy.integrate's rules for samples: trapezoid (see scan.py), cumulative_trapezoid, simpson; and its solver of
initial value problems."""
from typing import Any

from ...ir.op import registry
from ...ir.types import type_of
from ...routines.initial_value import solve_ivp
from ...routines.quadrature import fixed_quad
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from .. import extents
from ..kinds import shape_of
from ..override import BY_NAME, override
from ..precision import double
from .arguments import as_array, fixed, one_axis, rank
from .scan import areas, part, steps_along, trapezoid
from .within import add_solver


@override("scipy.integrate.cumulative_trapezoid",
          samples=("integrate.cumulative_trapezoid(x, axis=0, initial=0)", "integrate.cumulative_trapezoid(v, v * v)"))
def cumulative_trapezoid(y: ArrayLike, x: "ArrayLike | None" = None, dx: object = 1.0, axis: int = -1,
                         initial: object = None) -> AnyArray:
    y = as_array(y)
    ax = one_axis(axis, rank(y))
    total = registry["cumsum"](areas(y, x, dx, ax), axis=ax, reverse=False)
    if initial is None:
        return total
    if not isinstance(initial, (int, float)) or initial != 0:
        raise ValueError("`initial` must be `None` or `0`.")
    edge = registry["full"](0, *[1 if k == ax else n for k, n in enumerate(shape_of(total))],
                            dtype=type_of(total).dtype)
    return registry["concatenate"](edge, total, axis=ax)


def _every_other(x: ArrayOrNumber, axis: int, start: object, extent: object) -> AnyArray:
    return registry["slice_axis"](x, axis, start, extent, 2)


def _parabolas(y: ArrayOrNumber, h: ArrayOrNumber, axis: int, panels: ArrayOrNumber) -> AnyArray:
    """The area under the `panels` parabolas through samples 0, 1, 2; 2, 3, 4; ...; h are the distances, or one number.
    """
    left, middle, right = (_every_other(y, axis, k, panels) for k in range(3))
    if not rank(h):
        return registry["sum"](left + 4.0 * middle + right, axes=(axis,)) * h / 3.0
    p, q = (_every_other(h, axis, k, panels) for k in range(2))
    both, ratio = p + q, _quotient(p, q)
    return registry["sum"](both / 6.0 * (left * (2.0 - _quotient(1.0, ratio)) + middle * both * _quotient(both, p * q)
                                         + right * (2.0 - ratio)), axes=(axis,))


def _quotient(a: ArrayOrNumber, b: ArrayOrNumber) -> AnyArray:
    """a / b, and 0 where b is 0, as SciPy takes samples at one place."""
    there = b != 0
    return registry["where"](there, a / registry["where"](there, b, 1.0), 0.0)


def _last_interval(y: ArrayOrNumber, h: ArrayOrNumber, axis: int, n: Extent) -> AnyArray:
    """The area over the last interval under the parabola through the last three samples (K. V. Cartwright, Journal of
    Mathematical Sciences and Mathematics Education 12 (2017) 1-9)."""
    p, q = (h, h) if not rank(h) else (part(h, axis, n - 3, 1), part(h, axis, n - 2, 1))
    last = _quotient(2.0 * q * q + 3.0 * p * q, 6.0 * (p + q)) * part(y, axis, n - 1, 1)
    middle = _quotient(q * q + 3.0 * p * q, 6.0 * p) * part(y, axis, n - 2, 1)
    first = _quotient(q * q * q, 6.0 * p * (p + q)) * part(y, axis, n - 3, 1)
    return registry["sum"](last + middle - first, axes=(axis,))


@override("scipy.integrate.simpson", samples=("integrate.simpson(x)", "integrate.simpson(v[:3], x=np.cumsum(v[:3]))",
                                              "integrate.simpson(v, x=np.cumsum(v))"))
def simpson(y: AnyArray, x: "ArrayLike | None" = None, *, dx: object = 1.0, axis: int = -1) -> AnyArray:
    y = as_array(y)
    ax = one_axis(axis, rank(y))
    n = shape_of(y)[ax]
    if not extents.is_at_least(n, 3):
        return trapezoid(y, x, dx, ax)
    h = double(as_array(steps_along(y, x, dx, ax)))
    if rank(h) and rank(h) != rank(y):
        raise ValueError("x must be a vector, or have as many axes as y")
    area = _parabolas(y, h, ax, (n - 1) // 2)
    if isinstance(n, int) and n % 2:
        return area
    return area + registry["where"](n % 2 == 0, _last_interval(y, h, ax, n), 0.0)


@override("scipy.integrate.romb", samples=("integrate.romb(np.append(v, v[0]))", "integrate.romb(x[:, :3], dx=0.5)",
                                           "integrate.romb(np.vstack([x, x[:2]]), axis=0)"),
          precision="double")
def romb(y: AnyArray, dx: Any = 1.0, axis: int = -1) -> AnyArray:
    """Trapezoids of 1, 2, 4, ... intervals, extrapolated to none (W. Romberg, 1955)."""
    y = as_array(y)
    ax = one_axis(axis, rank(y))
    y = BY_NAME["numpy.moveaxis"].call(y, ax, 0)
    intervals = fixed(shape_of(y)[0], "the number of samples") - 1
    if intervals < 1 or intervals & (intervals - 1):
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    ends, step = 0.5 * (y[0] + y[-1]), intervals
    rows = [[ends * (step * dx)]]
    while step > 1:
        step //= 2
        row = [(registry["sum"](y[::step], axes=(0,)) - ends) * (step * dx)]
        for k, coarse in enumerate(rows[-1]):
            row.append(row[k] + (row[k] - coarse) / (4.0 ** (k + 1) - 1.0))
        rows.append(row)
    return rows[-1][-1]


override("scipy.integrate.solve_ivp", routine=True,
         note="through its steps; by LSODA, by the equations of its sensitivities")(solve_ivp)
override("scipy.integrate.fixed_quad", routine=True)(fixed_quad)

SENSITIVITIES = "by the equations of its sensitivities"
LEIBNIZ = "by Leibniz' rule, where the function is continuous or its jumps do not move"
REMEDY = "write the integral as a sum over fixed places, or give it a rule of its own (fad.custom_jvp, fad.custom_vjp)"

for _name in ("quad", "quad_vec", "nquad", "dblquad", "tplquad"):
    add_solver(f"scipy.integrate.{_name}", LEIBNIZ, REMEDY)
add_solver("scipy.integrate.odeint", SENSITIVITIES, "use solve_ivp, whose steps are differentiated")
