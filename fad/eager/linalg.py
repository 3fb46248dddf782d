"""linalg for tensors: what differs from numpy.linalg in more than the names of options."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.table import TABLE
from ..util.array import AnyArray, Axes, DTypeLike
from .errors import face
from .factors import LinAlgError, failures
from .products import cross_product
from .registry import named
from .results import QR, Cholesky, Inverted, LeastSquares, Solved
from .tensor import Tensor, raw, wrap


def _told(f: Callable, result: type, inverted: bool = True) -> Callable:
    """f of matrices, with LAPACK's info for each of them. A matrix that cannot be factored has nan for a result, unless
    errors are asked for."""
    def call(A: Tensor, *args: object, check_errors: bool = False, **options: object) -> Any:
        try:
            return result(f(A, *args, **options), wrap(np.zeros(A.shape[:-2], np.int32)))
        except np.linalg.LinAlgError:
            if check_errors or not isinstance(A, Tensor):
                raise
        info = failures(A._a, inverted)
        fails = (info != 0)[..., None, None]
        y = f(TABLE["where"](fails, np.eye(A._a.shape[-1]), A), *args, **options)
        lost = TABLE["where"](fails, A, 0) * np.where(fails, np.nan, 1).astype(A._a.dtype)
        one = 1 + lost.sum((-2, -1), True)                                      # or nan, as its derivatives are
        return result(y * (one if y.ndim >= A._a.ndim else one[..., 0]), wrap(info))
    return call


def norm(A: Tensor, ord: object = None, dim: Axes = None, keepdim: bool = False, *, dtype: DTypeLike = None) -> Tensor:
    """A vector's or matrix' norm."""
    x = A if dtype is None else A.to(dtype)
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    if dim is None:
        if len(x.shape) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                               f"{len(x.shape)}D.")
        dim = 0 if len(x.shape) == 1 else (0, 1)
    if isinstance(dim, int) or len(dim) == 1:
        return vector_norm(x, ord, dim, keepdim)
    return matrix_norm(x, ord, dim, keepdim)


def vector_norm(x: Tensor, ord: object = 2, dim: Axes = None, keepdim: bool = False, *,
                dtype: DTypeLike = None) -> Tensor:
    """The ord-norm of all elements or along dimensions."""
    return (x if dtype is None else x.to(dtype)).norm(ord, dim, keepdim)


def matrix_norm(A: Tensor, ord: object = "fro", dim: object = (-2, -1), keepdim: bool = False, *,
                dtype: DTypeLike = None) -> Tensor:
    """The norm of matrices."""
    x = A if dtype is None else A.to(dtype)
    if ord in ("fro", "nuc") and isinstance(x, Tensor):
        return x.norm(2 if ord == "fro" else ord, tuple(dim), keepdim)               # type: ignore[attr-defined]
    return face("numpy.linalg.norm", x, ord, axis=tuple(dim), keepdims=keepdim)


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> AnyArray:
    """X with A X = B (left=False: X A = B), A triangular."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    if len(B.shape) < 2 or A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B "
                           f"({list(A.shape)} and {list(B.shape)})")
    return named(face("scipy.linalg.solve_triangular", A, B, lower=not upper, unit_diagonal=unitriangular),
                 "LinalgSolveTriangularBackward0")


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The Cholesky factor."""
    y = face("numpy.linalg.cholesky", A)
    return y.mT.conj() if upper else y


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (left=False: X A = B)."""
    if left and (len(B.shape) == 1 or A.shape[:-1] == B.shape):  # one vector, or one for each matrix
        return solve(A, B[..., None])[..., 0]
    if not left:
        return solve(A.mT, B.mT).mT
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x"
                           f"{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    return face("numpy.linalg.solve", A, B)


def qr(A: Tensor, mode: str = "reduced") -> tuple:
    """Q, R."""
    if mode == "r":
        if A.requires_grad:
            raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
                               "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
        return QR(wrap(np.zeros(0, A.dtype)), face("numpy.linalg.qr", A, "r"))
    q, r = face("numpy.linalg.qr", A, mode)
    return QR(named(q, "LinalgQrBackward0", mode=mode), r)


def least_squares(A: Tensor, B: Tensor, rcond: object = None, *, driver: "str | None" = None) -> tuple:
    """The solution of A X = B with the least sum of squares."""
    solution, residuals, rank, s = face("numpy.linalg.lstsq", A, B, rcond)
    residuals = residuals if isinstance(residuals, Tensor) else wrap(residuals.astype(s.dtype))   # of nothing
    return LeastSquares(solution, residuals, wrap(np.asarray(raw(rank), np.int64)), s)


LINALG: dict[str, Callable] = {
    "norm": norm, "vector_norm": vector_norm, "matrix_norm": matrix_norm, "solve_triangular": solve_triangular,
    "cholesky": cholesky, "solve": solve, "qr": qr, "lstsq": least_squares,
    "cross": lambda input, other, *, dim=-1: cross_product(input, other, dim),
    "diagonal": lambda A, *, offset=0, dim1=-2, dim2=-1: A.diagonal(offset, dim1, dim2),
    "inv_ex": _told(lambda A: face("numpy.linalg.inv", A), Inverted),
    "cholesky_ex": _told(cholesky, Cholesky, inverted=False), "solve_ex": _told(solve, Solved),
    "LinAlgError": LinAlgError, "matrix_exp": lambda A: face("scipy.linalg.expm", A),
    "vecdot": lambda x, y, *, dim=-1: (x.conj() * y).sum(dim)}
