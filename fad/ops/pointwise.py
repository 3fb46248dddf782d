"""The common parts of elementwise ops: their record, their result type, and the derivatives that are not mere
partials."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.build import Value
from ..ir.op import Op, registry
from ..ir.types import Type, is_number, loop_dtypes, result_dtype, type_of
from ..util.array import AnyArray, ArrayOrNumber
from .extents import broadcast_of
from .kinds import is_complex, match, spread


def infer_elementwise(ufunc: np.ufunc) -> Callable:
    """The result type of a ufunc: its loop's dtype, the broadcast shape; weak if all inputs are Python numbers."""
    def infer(*args: ArrayOrNumber) -> Type:
        shape, types = broadcast_of(*args), [type_of(a) for a in args]
        weak = not shape and all(t.weak for t in types)
        dtypes = loop_dtypes(ufunc, types)
        if ufunc not in COMPARISONS:
            _see_that_ints_fit(dtypes, args)
        return Type(dtypes[-1], shape, weak)
    return infer


# these compare with any Python int
COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}


def _see_that_ints_fit(dtypes: tuple, args: tuple) -> None:
    """Refuse a Python int that the dtype of the loop cannot hold, as NumPy does."""
    for dtype, a in zip(dtypes, args):
        if (type(a) is int and dtype.kind in "iu" and not np.iinfo(dtype).min <= a <= np.iinfo(dtype).max
                and not all(map(is_number, args))):
            raise OverflowError(f"Python integer {a} out of bounds for {dtype}")


def infer_promoted(*args: ArrayOrNumber) -> Type:
    """The result type of a choice among the arguments."""
    return Type(result_dtype(*args), broadcast_of(*args))


def elementwise(name: str, ufunc: Any, text: str, derivative: Any, domain: Any = (-2.0, 2.0), **facts: object) -> Op:
    """The record of an elementwise op that NumPy runs as a ufunc.

    `domain` is the laws' sampling domain: an interval for all arguments, or for each an interval, "integer" or a
    number.
    """
    return composed(name, ufunc, infer_elementwise(ufunc), text, derivative, domain, arity=ufunc.nin, ufunc=ufunc,
                    **facts)


def composed(name: str, run: Callable, infer: Callable, text: str, derivative: object, domain: Any = (-2.0, 2.0),
             **facts: Any) -> Op:
    """The record of an elementwise op that is no ufunc."""
    return Op(name, run, infer, kind="elementwise", batch="elementwise", text=text, derivative=derivative,
              domain=domain, **facts)


def op(name: str) -> Op:
    """The op of this name, for rules that need an op defined in another room."""
    return registry[name]


def in_program(y: AnyArray) -> bool:
    """Whether a transform of programs asks for a rule. There passes choose what is kept; on the tape, a step saves
    what PyTorch's saves."""
    return isinstance(y, Value)


def scale(p: object) -> Callable:
    """The partial that is the same everywhere."""
    return lambda y, *xs: p


def real_part(x: ArrayOrNumber) -> ArrayOrNumber:
    """The real part; a real x itself."""
    return registry["real"](x) if is_complex(x) else x


class RealLinear:
    """Linear over the reals, not over the complex numbers (conj, real, imag): its map and the adjoint of that.

    The adjoint uses the real inner product Re(conj(a) b), as the conjugate Wirtinger derivative does.
    """

    def __init__(self, forward: Callable, adjoint: Callable):
        self.forward, self.adjoint = forward, adjoint

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (spread(self.forward(dxs[0]), ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (match(self.adjoint(gs[0]), xs[0]),)


class RealDerivative:
    """A derivative of a non-holomorphic function of one complex number (abs, angle, sign): tangent(y, x, dx),
    cotangent(y, x, g)."""

    def __init__(self, tangent: Callable, cotangent: Callable):
        self.tangent, self.cotangent = tangent, cotangent

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (spread(self.tangent(ys[0], xs[0], dxs[0]), ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (match(self.cotangent(ys[0], xs[0], gs[0]), xs[0]),)


class ComplexDerivative(RealDerivative):
    """Of a function that is piecewise constant for real numbers, and is not for complex ones (angle, sign)."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return super().jvp(op, ys, xs, dxs, params) if is_complex(xs[0]) else (None,)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return super().pullback(op, gs, ys, xs, params, needs) if is_complex(xs[0]) else (None,)


class Choice:
    """Each result is a copy of one argument. chosen(*xs) says of each argument where (None: nowhere); `ties` shares it
    between equal ones.

    Nothing is multiplied, so what is not chosen cannot poison a derivative, whatever its value.
    """

    def __init__(self, chosen: Callable):
        self.chosen = chosen

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        total: Any = 0.0
        moved = False
        for where_it_is, dx in zip(self.chosen(*xs), dxs):
            if where_it_is is not None and dx is not None:
                total, moved = registry["where"](where_it_is, dx, total), True
        return (spread(total, ys[0]) if moved else None,)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        chosen = self.chosen(*xs)
        return tuple([match(registry["where"](c, gs[0], 0.0), x) if need and c is not None else None
                      for c, x, need in zip(chosen, xs, needs)])


class HalfAtTies:
    """Of the better of two arguments; where neither is better each has half (the subgradient of least norm)."""

    def __init__(self, better: Callable):
        self.better = better

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        x, y = xs
        dx, dy = (0.0 if d is None else d for d in dxs)
        where = registry["where"]
        return (spread(where(self.better(x, y), dx, where(self.better(y, x), dy, 0.5 * (dx + dy))), ys[0]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        g, (x, y) = gs[0], xs
        return (self._part(g, x, y) if needs[0] else None, self._part(g, y, x) if needs[1] else None)

    def _part(self, g: ArrayOrNumber, x: AnyArray, other: ArrayOrNumber) -> AnyArray:
        where = registry["where"]
        return match(where(self.better(x, other), g, where(self.better(other, x), 0.0, 0.5 * g)), x)
