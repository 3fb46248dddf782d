"""Matrices that PyTorch factors, and how what is no such matrix is refused."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.linalg.solve import run_lu
from ..ops.table import TABLE
from ..util.array import ArrayOrNumber
from .errors import scalar_name
from .registry import FUNCTIONS
from .tensor import Tensor


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix cannot be factored, inverted or solved with."""


SINGULAR = {
    "inv": "linalg.inv: the inversion could not be completed because the input matrix is singular.",
    "solve": "torch.linalg.solve: The solver failed because the input matrix is singular.",
    "cholesky": "linalg.cholesky: The factorization could not be completed because the input is not positive-definite.",
    "eigh": "linalg.eigh: The algorithm failed to converge.", "svd": "linalg.svd: The algorithm failed to converge."}
_SQUARE = ({name: f"linalg.{name}"
            for name in "det slogdet inv eig eigvals eigh cholesky solve matrix_exp matrix_power".split()}
           | {f"{name}_ex": f"linalg.{name}" for name in ("inv", "cholesky", "solve")})
_SQUARE["eigvalsh"] = "linalg.eigh"
_ANY = {"svd": "linalg.svd", "svdvals": "linalg.svd", "qr": "linalg.qr"}
# functions beside linalg's -> as what they refuse tensors that are no matrices for them
_BESIDE = {**{name: f"linalg.{name}" for name in "det slogdet matrix_exp matrix_power".split()},
           **{name: name for name in ("logdet", "cholesky")}, "inverse": "linalg.inv"}
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
