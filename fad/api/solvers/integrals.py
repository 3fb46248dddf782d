"""SciPy's integrals of functions within functions: quad and what is made of it.

SciPy integrates when the program runs. The derivative is Leibniz' rule (see H. Flanders, American Mathematical Monthly
80 (1973) 615),

    d int_a^b f(t, theta) dt = f(b) db - f(a) da + int_a^b (df/dtheta)(t, theta) dt dtheta,

whose last integral SciPy finds with the user's options: a vector, one integral for each parameter. That integral has a
derivative by the same rule, and so on.
"""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ops.extents import product
from ...ops.kinds import shape_of
from ...ops.literals import has_values
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import NoDerivativeError
from ...util.lazy import LazyModule
from ..calls.discontinuities import check_when_run, may_jump, moving_places
from ..calls.ravel import ravel
from ..derivatives.closure_conversion import Closed
from ..derivatives.jacobian import jacobian
from ..derivatives.tangent_rules import call_with_rule

integrate: Any = LazyModule("scipy.integrate")

FLOAT = np.dtype(np.float64)


class Integral:
    """The integral of a closed function of one number from a to b, as a vector: of one method of SciPy's.

    find: (function, count, a, b) -> the integrals of the function's elements, and estimates of their errors.
    ends: whether the integral has a derivative with respect to its ends. It has none if a weight depends on them.
    """

    def __init__(self, name: str, closed: Closed, find: Callable, ends: bool = True):
        self.name, self.closed, self.find, self.ends = name, closed, find, ends

    def at(self, t: ArrayOrNumber, theta: Sequence) -> AnyArray:
        """The integrand as a vector, in the program."""
        return ravel(self.closed((t,), theta))[0]

    def __call__(self, a: object, b: object, theta: Sequence) -> tuple:
        """The integrals and the estimates of their errors, which have no derivative."""
        count = shape_of(self.at(0.5, theta))[0]
        both = registry["full"](0.0, 2, count, dtype=FLOAT)
        return call_with_rule(self.name, self._run, self._push, (both, a, b, *theta), results=2)

    def _run(self, both: AnyArray, a: AnyArray, b: AnyArray, *theta: object) -> tuple:

        def on_numbers(both: AnyArray, a: object, b: object, *theta: object) -> AnyArray:
            return self._on_numbers(both.shape[1], a, b, theta)
        both = registry["host"](both, a, b, *theta, function=on_numbers, like=0)
        return both[0], both[1]

    def _on_numbers(self, count: int, a: object, b: object, theta: Sequence) -> AnyArray:
        f = self.closed.at(theta)
        return self.find(lambda t: np.ravel(f(t)), count, a, b)

    def _push(self, xs: Sequence, dxs: Sequence) -> tuple:
        (_, a, b, *theta), (_, da, db, *moved) = xs, dxs
        y, error = self(a, b, theta)
        if not self.ends and not (da is None and db is None):
            raise NoDerivativeError(f"{self.name} with a weight has no derivative with respect to the ends",
                                    do="write the weight into the function")
        parts = [sign * self.at(end, theta) * d for sign, end, d in ((-1.0, a, da), (1.0, b, db)) if d is not None]
        moving = moving_places(self.name, theta, moved,
                               "integrate the real part and the imaginary part as functions of real numbers")
        if moving:
            slopes = self._slopes(theta, moving)
            direction = ravel([moved[k] for k in moving])[0]
            matrix = registry["reshape"](slopes(a, b, slopes.closed.theta)[0], shape_of(y)[0], shape_of(direction)[0])
            place, *parameters = self.closed.func.inputs
            if may_jump(self.closed.func, [place], [parameters[k] for k in moving]):
                check_when_run(self.name, lambda count, a, b, *theta: self._on_numbers(count, a, b, theta), matrix,
                               (a, b, *theta), [2 + k for k in moving],
                               "Make that place an end of the integral (a sum of two integrals)")
            parts.append(BY_NAME["numpy.matmul"].call(matrix, direction))
        return (y, error), (functools.reduce(lambda p, q: p + q, parts), None)

    def _slopes(self, theta: Sequence, moving: Sequence) -> "Integral":
        """The integral of the derivative with respect to the parameters that move."""
        def at(t: AnyArray, *values: object) -> AnyArray:
            filled = dict(zip(moving, values))
            return self.at(t, [filled.get(k, x) for k, x in enumerate(theta)])

        def rows(t: AnyArray) -> AnyArray:
            blocks = jacobian(at, argnums=tuple(range(1, len(moving) + 1)))(t, *[theta[k] for k in moving])
            flat = [registry["reshape"](block, shape_of(block)[0], product(shape_of(block)[1:])) for block in blocks]
            return BY_NAME["numpy.ravel"].call(registry["concatenate"](*flat, axis=1))
        return Integral(self.name, Closed(rows, (0.5,), self.name), self.find, self.ends)


def quad(name: str, f: Callable, a: object, b: object, args: tuple = (), full_output: object = 0,
         complex_func: bool = False, **options: object) -> tuple:
    """The integral, and the estimate of its error."""
    args = args if isinstance(args, tuple) else (args,)
    if full_output or complex_func or has_values(list(options.values())):
        raise NoDerivativeError(f"{name} has no derivative with full_output, complex_func or an option that is traced",
                                do="leave these out; integrate the real and the imaginary part apart")

    def find(g: Callable, count: int, a: object, b: object) -> AnyArray:
        known = functools.lru_cache(maxsize=None)(g)           # quad begins at the same places for each element
        found = [integrate.quad(lambda t: known(t)[k], a, b, **options) for k in range(count)]  # noqa: B023
        return np.transpose(found)
    integral = Integral(name, Closed(lambda t: f(t, *args), (0.5,), name), find, options.get("weight") is None)
    y, error = integral(a, b, integral.closed.theta)
    return y[0], error[0]


def quad_vec(name: str, f: Callable, a: object, b: object, args: Any = (), full_output: object = False,
             **options: object) -> tuple:
    """The integral of a function that returns an array, and the estimate of its error."""
    if full_output or has_values(list(options.values())):
        raise NoDerivativeError(f"{name} has no derivative with full_output or an option that is traced",
                                do="leave these out")
    closed = Closed(lambda t: f(t, *args), (0.5,), name)

    def find(g: Callable, count: int, a: object, b: object) -> Any:
        y, error = integrate.quad_vec(g, a, b, **options)
        return np.stack([y, np.full(count, error)])
    y, error = Integral(name, closed, find)(a, b, closed.theta)
    return ravel(closed((0.5,), closed.theta))[1](y), error[0]


def nquad(name: str, f: Callable, ranges: Sequence, args: Sequence = (), opts: object = None,
          full_output: bool = False) -> tuple:
    """The integral over several variables, the first of them innermost; the error is that of the outermost one."""
    if full_output:
        raise NoDerivativeError(f"{name} has no derivative with full_output", do="leave it out")
    args = tuple(args)
    options = list(opts) if isinstance(opts, (list, tuple)) else [opts or {}] * len(ranges)

    def over(k: int, outer: tuple) -> tuple:
        a, b = _called(ranges[k], (*outer, *args))
        inner = (lambda t: f(t, *outer, *args)) if k == 0 else lambda t: over(k - 1, (t, *outer))[0]
        return quad(name, inner, a, b, **_called(options[k], (*outer, *args)))
    return over(len(ranges) - 1, ())


def _called(given: object, args: tuple) -> Any:
    return given(*args) if callable(given) else given


def dblquad(name: str, f: Callable, a: object, b: object, gfun: object, hfun: object, args: Sequence = (),
            **options: object) -> tuple:
    """The integral of f(y, x) for x from a to b and y from gfun(x) to hfun(x)."""
    def inner(x: object, *_: object) -> tuple:
        return _called(gfun, (x,)), _called(hfun, (x,))
    return nquad(name, f, [inner, (a, b)], args, options)


def tplquad(name: str, f: Callable, a: object, b: object, gfun: object, hfun: object, qfun: object, rfun: object,
            args: Sequence = (), **options: object) -> tuple:
    """The integral of f(z, y, x) for x from a to b, y from gfun(x) to hfun(x) and z from qfun(x, y) to rfun(x, y)."""
    def inner(y: object, x: object, *_: object) -> tuple:
        return _called(qfun, (x, y)), _called(rfun, (x, y))

    def middle(x: object, *_: object) -> tuple:
        return _called(gfun, (x,)), _called(hfun, (x,))
    return nquad(name, f, [inner, middle, (a, b)], args, options)


WITHIN.update({f"scipy.integrate.{call.__name__}": functools.partial(call, f"scipy.integrate.{call.__name__}")
               for call in (quad, quad_vec, nquad, dblquad, tplquad)})
