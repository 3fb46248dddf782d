"""Linear algebra on tensors: norms, what differs from numpy.linalg, and how what is no matrix is refused."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.linalg.solve import run_lu
from ...ops.table import TABLE
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from ..graph.inplace import number
from ..graph.single_node import step
from ..tensors.dtypes import as_dtype
from ..tensors.errors import override, refuse_if, scalar_name
from ..tensors.tensor import Tensor, raw, wrap
from . import composites
from .composites import wide
from .indexing import getitem
from .products import cholesky_factor, cross_product
from .reductions import QR, Cholesky, Inverted, LeastSquares, Solved, amax, amin, sum
from .registry import FUNCTIONS, define, dims_of, function, named, one_dim


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix cannot be factored, inverted or solved with."""


SINGULAR = {
    "inv": "linalg.inv: the inversion could not be completed because the input matrix is singular.",
    "solve": "torch.linalg.solve: The solver failed because the input matrix is singular.",
    "cholesky": "linalg.cholesky: The factorization could not be completed because the input is not positive-definite.",
    "eigh": "linalg.eigh: The algorithm failed to converge.", "svd": "linalg.svd: The algorithm failed to converge."}
_SQUARE = {name: f"linalg.{name}" for name in "det slogdet inv eig eigvals eigh cholesky solve matrix_exp "
           "matrix_power".split()} | {f"{name}_ex": f"linalg.{name}" for name in ("inv", "cholesky", "solve")}
_SQUARE["eigvalsh"] = "linalg.eigh"
_ANY = {"svd": "linalg.svd", "svdvals": "linalg.svd", "qr": "linalg.qr"}
# functions beside linalg's -> as what they refuse tensors that are no matrices for them
_BESIDE = {**{name: f"linalg.{name}" for name in "det slogdet matrix_exp matrix_power".split()},
           **{name: name for name in ("logdet", "cholesky")}, "inverse": "linalg.inv"}
_LOCATED = ("inv", "cholesky")                                   # of which is told which matrix failed, and where in it


def of_matrices(name: str, f: Callable) -> Callable:
    """A function of matrices that refuses tensors which are none, in PyTorch's words."""
    called = _SQUARE.get(name) or _ANY.get(name)
    return f if called is None else _refusing(f, called, name in _SQUARE)


def refuse_beside() -> None:
    """Let the functions that stand beside linalg's refuse what these refuse."""
    for name, called in _BESIDE.items():
        FUNCTIONS[name] = _refusing(FUNCTIONS[name], called)
        if hasattr(Tensor, name):
            setattr(Tensor, name, _refusing(getattr(Tensor, name), called))


def _refusing(f: Callable, called: str, square: bool = True) -> Callable:
    """A function that refuses what are no (square) matrices, in PyTorch's words."""
    @functools.wraps(f)
    def call(*args: ArrayOrNumber, **kwargs: object) -> Any:
        A = args[0] if args else next((kwargs[k] for k in ("A", "input") if k in kwargs), None)
        if isinstance(A, Tensor):
            _check(A, called, square)
        try:
            return f(*args, **kwargs)
        except np.linalg.LinAlgError as error:
            if not isinstance(A, Tensor) or isinstance(error, LinAlgError):
                raise
            own = called.rpartition(".")[2]
            raise LinAlgError(own in _LOCATED and why_singular(called, A._a) or SINGULAR.get(own, str(error))) from None
    return call


def _check(A: Tensor, called: str, square: bool) -> None:
    refuse_if(A._a.ndim < 2, f"{called}: The input tensor A must have at least 2 dimensions.")
    if square and A._a.shape[-1] != A._a.shape[-2]:
        raise RuntimeError(f"{called}: A must be batches of square matrices, but they are {A._a.shape[-2]} by "
                           f"{A._a.shape[-1]} matrices")
    if A._a.dtype.kind not in "fc" and called != "linalg.matrix_power":                  # which is of whole numbers too
        raise RuntimeError(f"{called}: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_name(A._a.dtype)}")


# -- factorizations that fail ------------------------------------------------------------------------------------------


def failures(a: np.ndarray, inverted: bool) -> np.ndarray:
    """LAPACK's info for each matrix that is inverted, or factored by Cholesky: 0, or the order of the first leading
    minor that makes this impossible."""
    if not inverted:
        return np.asarray(TABLE["cholesky_ex"].run(a)[1])
    pivots = np.diagonal(run_lu(a)[0], axis1=-2, axis2=-1)
    found = np.cumprod(pivots != 0, -1).sum(-1)
    return np.where(found < pivots.shape[-1], found + 1, 0).astype(np.int32)


def why_singular(called: str, a: np.ndarray) -> str:
    """PyTorch's words for an inverse or a Cholesky factor that could not be computed: which matrix of the stack, and
    where in it. Empty if all can be."""
    is_inverse = called.endswith(("inv", "inverse"))
    for k, info in enumerate(failures(a, is_inverse).reshape(-1)):
        if info:
            batch = f"(Batch element {k}): " if a.ndim > 2 else ""
            if is_inverse:
                return (f"linalg.inv: {batch}The diagonal element {info} is zero, the inversion could not be completed "
                        "because the input matrix is singular.")
            return (f"{called}: {batch}The factorization could not be completed because the input is not "
                    f"positive-definite (the leading minor of order {info} is not positive-definite).")
    return ""


@function()
def norm(self: AnyArray, p: object = "fro", dim: Axes = None, keepdim: bool = False,
         dtype: DTypeLike = None) -> AnyArray:
    """The p-norm of all elements or along dimensions."""
    x = self if dtype is None else self.to(as_dtype(dtype))
    return _nuclear(x, dim, keepdim) if p == "nuc" else _norm(x, p, dim, keepdim)


@step("LinalgVectorNormBackward0", "self", "self result", "ord=p dim keepdim")
def _norm(self: AnyArray, p: ArrayOrNumber, dim: Axes, keepdim: bool) -> AnyArray:
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_name(self.dtype)}")
    x, axes = self, dims_of(dim, len(self.shape))
    refuse_if(isinstance(p, str) and p != "fro", f"Only valid p norm strings are 'fro' and 'nuc' but got {p}")
    p = number(p, "norm", "p")
    if p in ("fro", 2, None):
        return composites.norm(x, axes=axes, keep=keepdim)
    size = op["abs"](x)
    if p == np.inf:
        return amax(size, axes, keepdim)
    if p == -np.inf:
        return amin(size, axes, keepdim)
    if p == 0:
        # constant but where an element is zero: its gradient is zero
        return sum(op["sign"](op["where"](op["isnan"](size), 1.0, size)), axes, keepdim)
    if p == 1:
        return sum(size, axes, keepdim)
    empty = size == 0
    # 0 ** (p - 1) would be infinite
    power = size ** p if p >= 1 else op["where"](empty, 0.0, op["where"](empty, 1.0, size) ** p)
    total = sum(power, axes, keepdim)
    none = total == 0
    return op["where"](none, 0.0, op["where"](none, 1.0, total) ** (1.0 / p))


@step("NuclearNormBackward0", "x", copies="x")
def _nuclear(x: AnyArray, dim: object, keepdim: bool) -> AnyArray:
    """The sum of the singular values of matrices."""
    if dim is None and len(x.shape) != 2 or dim is not None and (isinstance(dim, int) or len(dim) != 2):
        raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple" if dim is not None
                           else f"norm(): nuclear norm requires a matrix, got {len(x.shape)} dimensions")
    n = len(x.shape)
    rows, columns = (0, 1) if dim is None else [one_dim(d, n) for d in dim]
    order = (*[k for k in range(n) if k not in (rows, columns)], rows, columns)
    total = sum(override("numpy.linalg.svd", op["transpose"](x, axes=order), compute_uv=False), -1)
    return wide(total, x, (rows, columns)) if keepdim else total


define("dist", lambda self, other, p=2: norm(self - other, p),
       "The p-norm of the difference.", node="DistBackward0", edges="self other", saves="self other result", shows="p")


@function(method=False, node=("PdistBackward0", "input", "self=input result", "p"))
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every two rows."""
    refuse_if(len(input.shape) != 2, f"pdist only supports 2D tensors, got: {len(input.shape)}D")
    rows, columns = np.triu_indices(input.shape[0], 1)
    return (getitem(input, rows) - getitem(input, columns)).norm(float(number(p, "pdist", "p")), dim=-1)


def _told(f: Callable, result: type, inverted: bool = True) -> Callable:
    """f of matrices, with LAPACK's info for each. One that cannot be factored has nan, unless errors are asked for."""
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


def norm_of(A: Tensor, ord: object = None, dim: Axes = None, keepdim: bool = False, *,
            dtype: DTypeLike = None) -> Tensor:
    """A vector's or matrix' norm."""
    x = A if dtype is None else A.to(dtype)
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    if dim is None:
        refuse_if(len(x.shape) not in (1, 2), "linalg.norm: If dim is not specified but ord is, the input must be 1D "
                  f"or 2D. Got {len(x.shape)}D.")
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
        return x.norm(2 if ord == "fro" else ord, tuple(dim), keepdim)
    return override("numpy.linalg.norm", x, ord, axis=tuple(dim), keepdims=keepdim)


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> AnyArray:
    """X with A X = B (left=False: X A = B), A triangular."""
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    refuse_if(len(B.shape) < 2 or A.shape[-1] != B.shape[-2], "linalg.solve_triangular: Incompatible shapes of A and B "
              f"for the equation AX = B ({list(A.shape)} and {list(B.shape)})")
    return named(override("scipy.linalg.solve_triangular", A, B, lower=not upper, unit_diagonal=unitriangular),
                 "LinalgSolveTriangularBackward0")


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (left=False: X A = B)."""
    if left and (len(B.shape) == 1 or A.shape[:-1] == B.shape):  # one vector, or one for each matrix
        return solve(A, B[..., None])[..., 0]
    if not left:
        return solve(A.mT, B.mT).mT
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x"
                           f"{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    return override("numpy.linalg.solve", A, B)


def qr(A: Tensor, mode: str = "reduced") -> tuple:
    """Q, R."""
    if mode == "r":
        refuse_if(A.requires_grad, "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
                  "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
        return QR(wrap(np.zeros(0, A.dtype)), override("numpy.linalg.qr", A, "r"))
    q, r = override("numpy.linalg.qr", A, mode)
    return QR(named(q, "LinalgQrBackward0", mode=mode), r)


def least_squares(A: Tensor, B: Tensor, rcond: object = None, *, driver: "str | None" = None) -> tuple:
    """The solution of A X = B with the least sum of squares."""
    solution, residuals, rank, s = override("numpy.linalg.lstsq", A, B, rcond)
    residuals = residuals if isinstance(residuals, Tensor) else wrap(residuals.astype(s.dtype))   # of nothing
    return LeastSquares(solution, residuals, wrap(np.asarray(raw(rank), np.int64)), s)


LINALG: dict[str, Callable] = {
    "norm": norm_of, "vector_norm": vector_norm, "matrix_norm": matrix_norm, "solve_triangular": solve_triangular,
    "cholesky": cholesky_factor, "solve": solve, "qr": qr, "lstsq": least_squares,
    "cross": lambda input, other, *, dim=-1: cross_product(input, other, dim),
    "diagonal": lambda A, *, offset=0, dim1=-2, dim2=-1: A.diagonal(offset, dim1, dim2),
    "inv_ex": _told(lambda A: override("numpy.linalg.inv", A), Inverted),
    "cholesky_ex": _told(cholesky_factor, Cholesky, inverted=False), "solve_ex": _told(solve, Solved),
    "LinAlgError": LinAlgError, "matrix_exp": lambda A: override("scipy.linalg.expm", A),
    "vecdot": lambda x, y, *, dim=-1: (x.conj() * y).sum(dim)}
