"""Linear systems. One LU factorization of a matrix serves its solves, its inverse, its determinant, and their
derivatives.

`factor(a)` gives lu and pivots, and the ops that use them take `a` as well: their result is a function of `a` (and b).
No derivative flows through the factors. So the reverse sweep of a solve is a solve with the same factors, and cse
computes the factors of one matrix once. Facts of these ops: `means`, which inputs are the factors; `complete`, the
inputs with factors that go with their matrix; `kernel_inputs`, which inputs the kernel takes.

Formulas: M. Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), section 2; for complex matrices with the adjoint for the transpose.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import Type, type_of
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike
from ...util.lazy import LazyModule
from .. import extents
from ..kinds import Explicit, Zero, conjugate, is_complex, shape_of
from . import samples
from .matrices import (
    adjoint,
    as_matrices,
    batch_stack,
    diagonal,
    fold_columns,
    lower,
    matmul,
    rank,
    rounding,
    square_type,
    strictly_lower,
    strictly_upper,
    transposed,
    upper,
    where,
)

blas, lapack = LazyModule("scipy.linalg.blas"), LazyModule("scipy.linalg.lapack")
plain = LazyModule("fad.kernels.plain_factors")
INT32 = np.dtype(np.int32)
SINGULAR = "Singular matrix"


def routine(name: str, a: np.ndarray, library: LazyModule = lapack) -> Any:
    """LAPACK's (or BLAS') routine for a's dtype."""
    return getattr(library, "sdcz"["fdFD".index(a.dtype.char)] + name)


# -- the factors -----------------------------------------------------------------------------------


def run_lu(a: np.ndarray) -> tuple:
    """L and U in one matrix and the row exchanges, as LAPACK's getrf gives them."""
    return plain.lu_factor(a)


def _infer_factor(a: AnyArray) -> tuple:
    t = square_type(a)
    return t, Type(INT32, t.shape[:-1])


factor = Op("factor", run_lu, _infer_factor, kind="opaque", derivative=Zero(), batch=batch_stack,
            kernel="linalg.lu_factor", kernel_params=(), fails=None,
            doc="LU factors of square matrices as a means for the ops that also take the matrices; no derivative flows "
                "through them")


def _refuse_singular(lu: np.ndarray) -> None:
    if (np.diagonal(lu, axis1=-2, axis2=-1) == 0).any():
        raise np.linalg.LinAlgError(SINGULAR)


def is_singular(lu: AnyArray) -> AnyArray:
    """Whether a matrix with these factors (or one of a stack of them) is singular: a pivot is zero."""
    return registry["any"](registry["equal"](diagonal(lu), 0.0), axes=tuple(range(rank(lu) - 1)))


def lost_if_singular(a: ArrayOrNumber) -> AnyArray:
    """nan for each matrix that is singular to rounding, else zero, in extents 1 and 1."""
    d = diagonal(factor(a)[0])
    none = registry["less_equal"](registry["abs"](d), rounding(d))
    return as_matrices(registry["sum"](where(none, float("nan"), registry["zeros_like"](registry["abs"](d))),
                                       axes=(rank(d) - 1,)))


def with_factors(a: AnyArray, lu: object, pivots: object, *rest: AnyArray) -> tuple:
    """The inputs of an op whose factors are to go with its matrix."""
    return (a, *factor(a), *rest)


def samples_with_factors(make: Callable, **params: Any) -> tuple:
    """Samples (a, lu, pivots, and what else `make` gives after a)."""
    def sample(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
        a, *more = make(rng, *shape, dtype=dtype)
        return (a, *run_lu(a), *more)
    return samples.of_each_kind(sample, **params)


def matrix_alone(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
    return (samples.regular(rng, *shape, dtype=dtype),)


def _system(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
    return samples.regular(rng, *shape, dtype=dtype), samples.matrix(rng, *shape[:-1], 2, dtype=dtype)


# -- solve -----------------------------------------------------------------------------------------
#
# x = op(a)^-1 b, where op(a) is a (trans 0), a^T (1) or a^H (2).
# tangent:    op(a) dx = db - op(da) x
# cotangents: gb = op(a)^-H gx, and ga from <ga, da> = -<gb, op(da) x>: -gb x^H, -conj(x) gb^T or -x gb^H.


def transposed_by(a: AnyArray, trans: int) -> AnyArray:
    """a, its transpose or its adjoint."""
    return (a, transposed(a), adjoint(a))[trans] if trans else a


def numpy_transposed(a: np.ndarray, trans: int) -> np.ndarray:
    a = np.swapaxes(a, -1, -2) if trans else a
    return np.conj(a) if trans == 2 else a


def _run_solve(a: np.ndarray, lu: np.ndarray, pivots: np.ndarray, b: np.ndarray, trans: int) -> np.ndarray:
    _refuse_singular(lu)
    if a.ndim > 2 or not b.size:
        return np.linalg.solve(numpy_transposed(a, trans), b)
    return np.ascontiguousarray(plain.lu_solve(lu, pivots, b, trans))


def infer_right_side(a: AnyArray, b: AnyArray) -> Type:
    """The type of op(a)^-1 b: that of b, which has a's dtype (LAPACK would drop an imaginary part)."""
    n, t = square_type(a).shape[-1], type_of(b)
    if type_of(a).dtype != t.dtype:
        raise TypeError(f"a matrix of {type_of(a).dtype} and a right-hand side of {t.dtype}: one dtype is needed")
    *stack, rows, k = shape_of(b)
    return Type(t.dtype, (*stack, extents.agree(n, rows, "the extents of a matrix and its right-hand side"), k))


def _solve_jvp(ys: tuple, xs: tuple, dxs: tuple, trans: int) -> tuple:
    (x,), (a, lu, pivots, _), (da, _, _, db) = ys, xs, dxs
    side = db
    if da is not None:
        moved = matmul(transposed_by(da, trans), x)
        side = -moved if db is None else db - moved
    return (None if side is None else _solve(a, lu, pivots, side, trans=trans),)


def matrix_cotangent(gb: AnyArray, x: AnyArray, trans: int) -> AnyArray:
    """ga, given the cotangent of the right-hand side."""
    if trans == 0:
        return -matmul(gb, adjoint(x))
    return -matmul(conjugate(x), transposed(gb)) if trans == 1 else -matmul(x, adjoint(gb))


def _solve_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, trans: int) -> tuple:
    (g,), (x,), (a, lu, pivots, _) = gs, ys, xs
    if trans == 1:
        gb = conjugate(_solve(a, lu, pivots, conjugate(g), trans=0))
    else:
        gb = _solve(a, lu, pivots, g, trans=2 - trans)
    return (matrix_cotangent(gb, x, trans) if needs[0] else None), None, None, gb


_solve = Op("solve", _run_solve, lambda a, lu, pivots, b, trans: infer_right_side(a, b), kind="opaque",
            derivative=Explicit(_solve_jvp, _solve_pullback), batch=fold_columns, kernel="linalg.lu_solve",
            kernel_inputs=(1, 2, 3), kernel_params=("trans",), means=(1, 2), complete=with_factors,
            fails=lambda a, lu, pivots, b, trans: is_singular(lu),
            samples=samples_with_factors(_system, trans=0) + samples_with_factors(_system, trans=1)
            + samples_with_factors(_system, trans=2), doc="The solution x of a x = b, with a's factors at hand")


def solve(a: ArrayOrNumber, b: object, trans: int = 0) -> AnyArray:
    """The solution of a x = b for stacks of one shape and one dtype; of a^T x = b or a^H x = b for trans 1 or 2."""
    return _solve(a, *factor(a), b, trans=trans if is_complex(a) else min(trans, 1))


# -- inverse ---------------------------------------------------------------------------------------
#
# x = a^-1:  dx = -x da x,  ga = -x^H gx x^H


def _run_inv(a: np.ndarray, lu: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    _refuse_singular(lu)
    if a.ndim > 2 or not a.size:
        return np.linalg.inv(a)
    return np.ascontiguousarray(routine("getri", a)(lu, pivots)[0])


def _inv_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    x, da = ys[0], dxs[0]
    return (None if da is None else -matmul(matmul(x, da), x),)


def _inv_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    inverse = adjoint(ys[0])
    return -matmul(matmul(inverse, gs[0]), inverse), None, None


factored_inv = Op("inv", _run_inv, lambda a, lu, pivots: square_type(a), kind="opaque",
                  derivative=Explicit(_inv_jvp, _inv_pullback), batch=batch_stack, kernel="linalg.lu_inv",
                  kernel_inputs=(1, 2), kernel_params=(), means=(1, 2), complete=with_factors,
                  fails=lambda a, lu, pivots: is_singular(lu),
                  samples=samples_with_factors(matrix_alone), doc="The inverse of a, with its factors at hand")


def inv(a: AnyArray) -> AnyArray:
    """The inverse of square matrices."""
    return factored_inv(a, *factor(a))


# -- triangular systems ----------------------------------------------------------------------------
#  As solve, with the part of a that is read in place of a: the triangle, without its diagonal where that is taken for
# ones.


def triangle(a: AnyArray, lower_half: bool, unit: bool) -> AnyArray:
    """The part of a that a triangular system reads."""
    if unit:
        return strictly_lower(a) if lower_half else strictly_upper(a)
    return lower(a) if lower_half else upper(a)


def _run_triangular(a: np.ndarray, b: np.ndarray, lower: bool, trans: int, unit: bool) -> np.ndarray:
    if not unit:
        _refuse_singular(a)
    if a.ndim == 2 and b.size:
        return _substituted(a, b, lower, trans, unit)
    read = np.tril(a, -unit) if lower else np.triu(a, unit)
    read = read + np.eye(a.shape[-1], dtype=a.dtype) if unit else read
    return np.linalg.solve(numpy_transposed(read, trans), b)


def _substituted(a: np.ndarray, b: np.ndarray, lower: bool, trans: int, unit: bool) -> np.ndarray:
    """One triangular system by BLAS, as x^T op(a)^T = b^T. OpenBLAS starts threads in LAPACK's trtrs, be a of two rows,
    and in BLAS' trsm for op(a) x = b with one column."""
    sides = (np.conj(b) if trans == 2 else b).reshape(len(b), -1)
    x = routine("trsm", a, blas)(1, a, sides.T, side=1, lower=lower, trans_a=trans == 0, diag=unit).T.reshape(b.shape)
    return np.conj(x) if trans == 2 else np.ascontiguousarray(x)


def _triangular_jvp(ys: tuple, xs: tuple, dxs: tuple, lower: bool, trans: int, unit: bool) -> tuple:
    (x,), (a, _), (da, side) = ys, xs, dxs
    if da is not None:
        moved = matmul(transposed_by(triangle(da, lower, unit), trans), x)
        side = -moved if side is None else side - moved
    return (None if side is None else triangular_solve(a, side, lower=lower, trans=trans, unit=unit),)


def _triangular_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, lower: bool, trans: int, unit: bool) -> tuple:
    (g,), (x,), (a, _) = gs, ys, xs
    if trans == 1:
        gb = conjugate(triangular_solve(a, conjugate(g), lower=lower, trans=0, unit=unit))
    else:
        gb = triangular_solve(a, g, lower=lower, trans=2 - trans, unit=unit)
    return (triangle(matrix_cotangent(gb, x, trans), lower, unit) if needs[0] else None), gb


_TRIANGLES: list[dict[str, Any]] = [{"lower": lower, "trans": trans, "unit": unit} for lower, trans, unit in
              [(True, 0, False), (False, 0, False), (True, 1, False), (False, 2, True), (True, 2, False),
               (False, 1, False)]]
triangular_solve = Op("triangular_solve", _run_triangular, lambda a, b, lower, trans, unit: infer_right_side(a, b),
                      kind="opaque", derivative=Explicit(_triangular_jvp, _triangular_pullback), batch=fold_columns,
                      kernel="linalg.triangular_solve", kernel_params=("lower", "trans", "unit"),
                      fails=lambda a, b, lower, trans, unit: False if unit else is_singular(a),
                      samples=sum([samples.of_each_kind(_system, **p) for p in _TRIANGLES], ()),
                      doc="The solution x of op(a) x = b, of which one triangle of a is read (its diagonal taken for "
                          "ones if unit)")
