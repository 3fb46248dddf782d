"""Riccati equations within functions. SciPy solves when the program runs; the derivative solves a linear equation.

    continuous   A^H X E + E^H X A - (E^H X B + S) K + Q = 0,      K = R^-1 (B^H X E + S^H)
    discrete     A^H X A - E^H X E - (A^H X B + S) K + Q = 0,      K = (R + B^H X B)^-1 (B^H X A + S^H)

With the closed loop F = A - B K, and G the derivative of the left side along all matrices but X,

    F^H dX E + E^H dX F + G = 0     (Lyapunov)         F^H dX F - E^H dX E + G = 0     (Stein)

(P. Lancaster, L. Rodman, Algebraic Riccati Equations, 1995, chapters 5 and 12).
"""
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import result_dtype
from ...ops.kinds import shape_of
from ...ops.linalg.matrices import adjoint, matmul
from ...ops.literals import has_values
from ...ops.numpy_api.arguments import as_array
from ...ops.numpy_api.within import WITHIN
from ...ops.override import BY_NAME
from ...util.array import AnyArray
from ...util.errors import NoDerivativeError
from ...util.lazy import LazyModule
from ..derivatives.products import jvp
from ..derivatives.tangent_rules import call_with_rule

linalg: Any = LazyModule("scipy.linalg")
NAMES = "abqres"


def _override(name: str, *args: object) -> AnyArray:
    return BY_NAME[f"scipy.linalg.{name}"].call(*args)


class Riccati:
    """One of the two equations. given: the letters of the matrices that were passed; the others are I and 0."""

    def __init__(self, is_discrete: bool, given: str, options: dict):
        self.is_discrete, self.given, self.options = is_discrete, given, options
        self.name = f"solve_{'discrete' if is_discrete else 'continuous'}_are"

    def on_numbers(self, _: object, *matrices: object) -> AnyArray:
        return getattr(linalg, self.name)(**dict(zip(self.given, matrices)), **self.options)

    def gain(self, x: object, a: object, b: object, r: object, e: object, s: object) -> AnyArray:
        """K."""
        of_state = matmul(matmul(adjoint(b), x), (a if self.is_discrete else e) if e is not None or self.is_discrete
                          else BY_NAME["numpy.eye"].call(shape_of(a)[0]))
        right = of_state if s is None else of_state + adjoint(s)
        return _override("solve", r + matmul(matmul(adjoint(b), x), b) if self.is_discrete else r, right)

    def left_side(self, x: object, a: object, b: object, q: object, r: object, e: object = None,
                  s: object = None) -> AnyArray:
        """The function that is zero for the solution x."""
        k = self.gain(x, a, b, r, e, s)
        outer = a if self.is_discrete else e
        before = x if outer is None else matmul(adjoint(outer), x)
        product = matmul(before, b) if s is None else matmul(before, b) + s
        if self.is_discrete:
            middle = x if e is None else matmul(matmul(adjoint(e), x), e)
            return matmul(before, a) - middle - matmul(product, k) + q
        first = matmul(before, a)
        return adjoint(first) + first - matmul(product, k) + q

    def __call__(self, values: Sequence) -> AnyArray:
        return call_with_rule(self.name, lambda x, *_: (x,), self._push, values)[0]

    def _push(self, values: Sequence, dxs: Sequence) -> tuple:
        still, *matrices = values
        x = self(values)
        moving = [k for k, d in enumerate(dxs[1:]) if d is not None]

        def along(*moved: object) -> AnyArray:
            filled = {**dict(zip(self.given, matrices)), **{self.given[k]: m for k, m in zip(moving, moved)}}
            return self.left_side(x, **filled)
        change = jvp(along, [matrices[k] for k in moving], [dxs[1 + k] for k in moving])[1]
        named = {**dict.fromkeys("es"), **dict(zip(self.given, matrices))}
        loop = named["a"] - matmul(named["b"], self.gain(x, *[named[k] for k in "abres"]))
        if named["e"] is not None:                            # by F E^-1 and E^-H G E^-1: the equation with E = I
            inverse = _override("inv", named["e"])
            loop, change = matmul(loop, inverse), matmul(matmul(adjoint(inverse), change), inverse)
        if self.is_discrete:
            return (x,), (_override("solve_discrete_lyapunov", adjoint(loop), change),)
        return (x,), (_override("solve_continuous_lyapunov", adjoint(loop), -change),)


def riccati(is_discrete: bool, a: object, b: object, q: object, r: object, e: object = None, s: object = None,
            balanced: bool = True) -> AnyArray:
    """The stabilising solution."""
    if has_values(balanced):
        raise NoDerivativeError("balanced is traced", do="pass True or False")
    given = {k: as_array(m) for k, m in zip(NAMES, (a, b, q, r, e, s)) if m is not None}
    if any(len(shape_of(m)) != 2 for m in given.values()):
        raise NoDerivativeError("stacks of Riccati equations are not differentiated", do="use fad.vmap")
    dtype = np.result_type(result_dtype(*given.values()), np.float64)
    matrices = [registry["cast"](m, dtype=dtype) for m in given.values()]
    equation = Riccati(is_discrete, "".join(given), {"balanced": balanced})
    n = shape_of(given["a"])[0]
    room = registry["full"](0.0, n, n, dtype=dtype)
    still = [registry["stop_gradient"](m) for m in matrices]
    x = registry["host"](room, *still, function=equation.on_numbers, like=0)
    return equation((x, *matrices))


WITHIN["scipy.linalg.solve_continuous_are"] = functools.partial(riccati, False)
WITHIN["scipy.linalg.solve_discrete_are"] = functools.partial(riccati, True)
