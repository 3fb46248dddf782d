"""Matrices that PyTorch factors, and how what is no such matrix is refused; LU in LAPACK's form, products of
reflections."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.face import BY_NAME
from ..ops.linalg.solve import run_lu
from ..ops.table import TABLE
from ..util.array import ArrayOrNumber
from .errors import scalar_name
from .registry import FUNCTIONS
from .results import LU, FactoredLU, Factors
from .tensor import Tensor, wrap
from .together import together


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
_BESIDE = {**{name: f"linalg.{name}" for name in "det slogdet matrix_exp matrix_power qr svd".split()},
           **{name: name for name in ("logdet", "cholesky", "cholesky_inverse")}, "inverse": "linalg.inv"}
_LOCATED = ("inv", "cholesky")                                   # of which is told which matrix failed, and where in it


def of_matrices(name: str, f: Callable) -> Callable:
    """A function of matrices that refuses tensors which are none, in PyTorch's words."""
    called = _SQUARE.get(name) or _ANY.get(name)
    return f if called is None else _refusing(f, called, name in _SQUARE, exact=name == "matrix_power")


def refuse_beside() -> None:
    """Let the functions that stand beside linalg's refuse what these refuse."""
    for name, called in _BESIDE.items():
        how = called, name not in _ANY, name == "matrix_power"
        FUNCTIONS[name] = _refusing(FUNCTIONS[name], *how)
        if hasattr(Tensor, name):
            setattr(Tensor, name, _refusing(getattr(Tensor, name), *how))


def _refusing(f: Callable, called: str, square: bool, exact: bool = False) -> Callable:
    """A function that refuses what are no (square) matrices, in PyTorch's words; exact: it takes whole numbers too."""
    @functools.wraps(f)
    def call(*args: ArrayOrNumber, **kwargs: object) -> Any:
        A = args[0] if args else next((kwargs[k] for k in ("A", "input") if k in kwargs), None)
        if isinstance(A, Tensor):
            _check(A, called, square, exact)
        try:
            return f(*args, **kwargs)
        except np.linalg.LinAlgError as error:
            if not isinstance(A, Tensor) or isinstance(error, LinAlgError):
                raise
            own = called.rpartition(".")[2]
            raise LinAlgError(own in _LOCATED and why_singular(called, A._a) or SINGULAR.get(own, str(error))) from None
    return call


def _check(A: Tensor, called: str, square: bool, exact: bool) -> None:
    if A._a.ndim < 2:
        raise RuntimeError(f"{called}: The input tensor A must have at least 2 dimensions.")
    if square and A._a.shape[-1] != A._a.shape[-2]:
        raise RuntimeError(f"{called}: A must be batches of square matrices, but they are {A._a.shape[-2]} by "
                           f"{A._a.shape[-1]} matrices")
    if A._a.dtype.kind not in "fc" and not exact:
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


# -- LU ----------------------------------------------------------------------------------------------------------------


def pivoting(pivot: bool) -> None:
    """Raise unless rows are exchanged, as LAPACK does it."""
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def lu_factor(A: object, *, pivot: bool = True) -> tuple:
    """The LU factors of matrices, in LAPACK's form."""
    pivoting(pivot)
    p, lower, upper = BY_NAME["scipy.linalg.lu"].call(A)
    rows, columns = A.shape[-2:]
    n = min(rows, columns)
    packed = _wider(lower, rows, columns, 1).tril(-1) + _wider(upper, rows, columns, 0)
    order = np.argmax(p._a, axis=-2).reshape(-1, rows) if rows else np.zeros((1, 0), int)
    pivots = wrap(np.asarray([_exchanges(row, n) for row in order], np.int32).reshape(*A.shape[:-2], n))
    together((packed,), "LinalgLuFactorExBackward0", (A,), {"LU": packed, "pivots": pivots}, pivot=pivot)
    return LU(packed, pivots)


def _wider(x: Tensor, rows: int, columns: int, axis: int) -> Tensor:
    """A factor with zeros added to the size of the matrix."""
    missing = (columns - x.shape[-1]) if axis else (rows - x.shape[-2])
    if not missing:
        return x
    size = (*x.shape[:-2], rows, missing) if axis else (*x.shape[:-2], missing, columns)
    return FUNCTIONS["cat"]([x, x.new_zeros(size)], -1 if axis else -2)


def _exchanges(order: np.ndarray, n: int) -> list:
    """The exchanges of rows that bring 0, 1, 2, ... into an order."""
    now, made = list(range(len(order))), []
    for k in range(n):
        j = now.index(order[k])
        now[k], now[j] = now[j], now[k]
        made.append(j + 1)
    return made


def _permutation(pivots: Tensor, rows: int) -> np.ndarray:
    """The matrices P with A = P L U, from exchanges."""
    *stack, _ = pivots._a.shape
    matrices = np.zeros((*stack, rows, rows))
    for at in np.ndindex(*stack):
        order = list(range(rows))
        for k, j in enumerate(pivots._a[at]):
            order[k], order[j - 1] = order[j - 1], order[k]
        matrices[at][order, range(rows)] = 1
    return matrices


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple:
    """P, L, U from LAPACK's form."""
    rows, columns = LU_data.shape[-2:]
    n = min(rows, columns)
    p = wrap(_permutation(LU_pivots, rows).astype(LU_data.dtype)) if unpack_pivots else LU_data.new_empty(0)
    if not unpack_data:
        return Factors(p, LU_data.new_empty(0), LU_data.new_empty(0))
    one = wrap(np.eye(rows, n, dtype=LU_data.dtype))
    return Factors(p, LU_data[..., :n].tril(-1) + one, LU_data[..., :n, :].triu())


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B (left=False: X A = B; adjoint: of the adjoint of A), from A's LU factors."""
    if not left:
        return lu_solve(LU, pivots, B.mT.conj(), adjoint=not adjoint).mT.conj()
    if pivots.shape[-1] != LU.shape[-1] or pivots.dtype != np.int32:
        raise RuntimeError("linalg.lu_solve: the pivots should be 32-bit integers, one for each row of the matrix")
    p, lower, upper = lu_unpack(LU, pivots)
    solve = BY_NAME["scipy.linalg.solve_triangular"].call
    if adjoint:
        y = solve(upper.mT.conj(), B, lower=True)
        return p @ solve(lower.mT.conj(), y, lower=False, unit_diagonal=True)
    return solve(upper, solve(lower, p.mT @ B, lower=True, unit_diagonal=True), lower=False)


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections 1 - tau v v^H, whose vectors v stand below the diagonal."""
    m, n = input.shape[-2:]
    if not m >= n >= tau.shape[-1]:
        raise RuntimeError(f"linalg.householder_product: {tau.shape[-1]} reflections have no product of {m} by {n}")
    y = wrap(np.eye(m, n, dtype=input.dtype))
    for k in reversed(range(tau.shape[-1])):
        below, at = (wrap(mask.astype(input.dtype)) for mask in (np.arange(m) > k, np.arange(m) == k))
        v = input[..., :, k] * below + at
        y = y - (tau[..., k, None, None] * v[..., :, None]) @ (v.conj()[..., None, :] @ y)
    return y


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> tuple:
    """lu_factor, with what went wrong."""
    return FactoredLU(*lu_factor(A, pivot=pivot), wrap(failures(A._a, inverted=True)))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """The LU factors of matrices, with what went wrong if that is asked for."""
    return (lu_factor_ex if get_infos else lu_factor)(A, pivot=pivot)


FUNCTIONS.update(lu=lu, lu_unpack=lu_unpack,
                 lu_solve=lambda b, LU_data, LU_pivots: lu_solve(LU_data, LU_pivots, b),
                 orgqr=householder_product)
Tensor.lu_solve = FUNCTIONS["lu_solve"]                          # type: ignore[attr-defined]
MATRICES: dict[str, Any] = {"lu_factor": lu_factor, "lu_solve": lu_solve, "householder_product": householder_product,
                            "LinAlgError": LinAlgError, "lu_factor_ex": lu_factor_ex}
