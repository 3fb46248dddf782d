"""linalg for tensors: what differs from numpy.linalg in more than the names of options."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.table import TABLE
from ..util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from .factors import MATRICES, failures, pivoting
from .libraries import face
from .products import cross_product
from .registry import named
from .results import QR, Cholesky, Factors, Inverted, LeastSquares, Solved
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


def vander(x: Tensor, *, N: "int | None" = None) -> Tensor:
    """The powers 0, 1, 2, ... of the elements, along a new last dimension."""
    if not len(x.shape):
        x = x.reshape(1)
    return Tensor._stack_rows([x**k for k in range(x.shape[-1] if N is None else N)], -1)  # type: ignore[attr-defined]


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


def cross(input: object, other: object, *, dim: int = -1) -> AnyArray:
    """The cross product."""
    return cross_product(input, other, dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, sharing memory."""
    return A.diagonal(offset, dim1, dim2)


def matrix_rank(A: Tensor, tol: object = None, hermitian: bool = False, *, atol: "ArrayOrNumber | None" = None,
                rtol: "ArrayOrNumber | None" = None) -> Tensor:
    """The number of singular values above atol and above rtol times the largest one; rtol is 0 where only atol is
    given, else what rounding leaves.
    """
    absolute, relative = (None if t is None else np.asarray(raw(t)) for t in (atol if tol is None else tol, rtol))
    s = np.abs(np.linalg.eigvalsh(A._a)) if hermitian else np.linalg.svd(A._a, compute_uv=False)
    rounding = max(A._a.shape[-2:]) * np.finfo(s.dtype).eps
    relative = np.where(0.0 if absolute is None else absolute > 0, 0.0, rounding) if relative is None else relative
    largest = s.max(-1, initial=0)
    least = np.maximum(0.0 if absolute is None else absolute, relative * largest)
    return wrap(np.asarray((s > least[..., None]).sum(-1)))


def lu(A: Tensor, *, pivot: bool = True) -> tuple:
    """P, L, U with A = P L U; P in A's dtype."""
    pivoting(pivot)
    p, *factors = face("scipy.linalg.lu", A)
    return Factors(p.to(A.dtype), *factors)


def least_squares(A: Tensor, B: Tensor, rcond: object = None, *, driver: "str | None" = None) -> tuple:
    """The solution of A X = B with the least sum of squares."""
    if A._a.ndim > 2:
        return _least_squares_of_stacks(A, B, rcond, driver)
    solution, residuals, rank, s = face("numpy.linalg.lstsq", A, B, rcond)
    residuals = residuals if isinstance(residuals, Tensor) else wrap(residuals.astype(s.dtype))   # of nothing
    return LeastSquares(solution, residuals, wrap(np.asarray(raw(rank), np.int64)), s)


def _least_squares_of_stacks(A: Tensor, B: AnyArray, rcond: object, driver: object) -> tuple:
    """The solution for each matrix of a stack, by its pseudoinverse. The sums of squares are told where there are more
    equations than unknowns and all ranks are full; the ranks and the singular values, by the drivers that find them."""
    rows, columns = A._a.shape[-2:]
    cut = np.finfo(A._a.dtype).eps * max(rows, columns) if rcond is None else rcond
    is_vector = B._a.ndim < A._a.ndim
    right = B.unsqueeze(-1) if is_vector else B
    solution = face("numpy.linalg.pinv", A, cut) @ right
    none = wrap(np.zeros(0, np.empty(0, A._a.dtype).real.dtype))
    rank = matrix_rank(A, rtol=cut)
    squares = (right - A @ solution).abs().square().sum(-2) if rows > columns and (rank._a == columns).all() else none
    found = face("numpy.linalg.svdvals", A) if driver in ("gelsd", "gelss") else none
    return LeastSquares(solution.squeeze(-1) if is_vector else solution, squares,
                        wrap(np.zeros(0, np.int64)) if driver == "gels" else rank, found)


def cond(A: Tensor, p: object = None) -> Tensor:
    """The condition number; in the 2-norm the largest singular value over the smallest, 0/0 not excepted."""
    if A._a.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, 2, -2):
        return face("numpy.linalg.cond", A, p)
    s = face("numpy.linalg.svdvals", A)
    return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]


LINALG: dict[str, Callable] = {
    "norm": norm, "vector_norm": vector_norm, "matrix_norm": matrix_norm, "solve_triangular": solve_triangular,
                               "cholesky": cholesky, "vander": vander,
    "solve": solve, "qr": qr, "cross": cross, "cond": cond, "diagonal": diagonal,
    "inv_ex": _told(lambda A: face("numpy.linalg.inv", A), Inverted),
    "cholesky_ex": _told(cholesky, Cholesky, inverted=False), "solve_ex": _told(solve, Solved),
    **MATRICES, "matrix_exp": lambda A: face("scipy.linalg.expm", A), "lu": lu,
    "vecdot": lambda x, y, *, dim=-1: (x.conj() * y).sum(dim),
                               "multi_dot": lambda tensors: face("numpy.linalg.multi_dot", list(tensors)),
    "lstsq": least_squares,
    "tensorsolve": lambda A, B, dims=None: face("numpy.linalg.tensorsolve", A, B, dims), "matrix_rank": matrix_rank}
