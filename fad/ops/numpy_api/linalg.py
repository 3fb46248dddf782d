"""numpy.linalg: systems, determinants, factorizations, eigenvalues, singular values. Norms are in norms.py.

One thing differs from NumPy, because a program's types cannot depend on its values: eig and eigvals are complex always.
"""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import real_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from .. import extents
from ..kinds import conjugate, shape_of
from ..linalg import determinants, factorizations, singular, solve, spectral
from ..linalg.matrices import adjoint, as_rows, aspect_of, columns_from, matmul, smaller_extent, transposed
from ..override import BY_NAME, override
from ..subscript import read_subscript
from .arguments import as_array, is_given, rank, refuse
from .stacks import epsilon, from_column, larger_extent, matrix, named, solved, square

# -- systems ---------------------------------------------------------------------------------------


@override("numpy.linalg.solve", samples=("np.linalg.solve(S, v)", "np.linalg.solve(S, x.T)"))
def solve_(a: ArrayLike, b: ArrayLike) -> AnyArray:
    return solved(solve.solve, square(a), b)


@override("numpy.linalg.inv", samples=("np.linalg.inv(S)",))
def inv(a: ArrayLike) -> AnyArray:
    return solve.inv(square(a))


@override("numpy.linalg.det", samples=("np.linalg.det(S)",))
def det(a: ArrayLike) -> AnyArray:
    return determinants.det(square(a))


@override("numpy.linalg.slogdet", samples=("np.linalg.slogdet(S)[1]",))
def slogdet(a: ArrayLike) -> Any:
    return named("slogdet", *determinants.slogdet(square(a)))


@override("numpy.linalg.tensorsolve", samples=("np.linalg.tensorsolve(S.reshape(2, 2, 4), x[0].reshape(2, 2))",))
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> AnyArray:
    a, b = as_array(a), as_array(b)
    if axes is not None:
        last = [k % rank(a) for k in axes]
        a = registry["transpose"](a, axes=(*[k for k in range(rank(a)) if k not in last], *last))
    solution = shape_of(a)[rank(b):]
    n, m = extents.product(solution), extents.product(shape_of(b))
    x = solve_(registry["reshape"](a, m, n), registry["reshape"](b, m))
    return registry["reshape"](x, *solution)


@override("numpy.linalg.tensorinv", samples=("np.linalg.tensorinv(S.reshape(2, 2, 4), ind=2)",))
def tensorinv(a: ArrayLike, ind: int = 2) -> AnyArray:
    a = as_array(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows, columns = shape_of(a)[:ind], shape_of(a)[ind:]
    x = inv(registry["reshape"](a, extents.product(rows), extents.product(columns)))
    return registry["reshape"](x, *columns, *rows)


def read_hermitian(a: AnyArray, hermitian: bool) -> AnyArray:
    """a; if it is said to be Hermitian, only its lower triangle is read."""
    return factorizations.hermitian(a, lower=True) if hermitian else a


def relative_tolerance(a: Any, given: Any) -> ArrayOrNumber:
    """The tolerance given, or max(m, n) times the dtype's epsilon."""
    return given if is_given(given) else larger_extent(a) * epsilon(a)


NO_VALUE: Any = np._NoValue  # type: ignore[attr-defined]


def without_small(a: ArrayOrNumber, rcond: ArrayOrNumber) -> ArrayOrNumber:
    """a without the singular values up to rcond times the largest. If these are rounding, it is a itself: a derivative
    does not see them."""
    if isinstance(rcond, (int, float)) and rcond <= 1e-12:
        return a
    return singular.truncated(a, rcond if isinstance(rcond, (int, float)) else as_array(rcond))


@override("numpy.linalg.pinv", samples=("np.linalg.pinv(x)", "np.linalg.pinv(S, rcond=0.5)"),
          note="where the rank does not change")
def pinv(a: ArrayLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> AnyArray:
    a = read_hermitian(matrix(a), hermitian)
    if is_given(rcond) or is_given(rtol):
        a = without_small(a, rcond if rtol is NO_VALUE else rtol)
    if rcond is not None and rtol is not NO_VALUE:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rtol is NO_VALUE:
        rcond = 1e-15 if rcond is None else rcond
    else:
        rcond = relative_tolerance(a, rtol)
    return singular.pinv(a, rcond if isinstance(rcond, (int, float)) else as_array(rcond))


def least_squares(a: ArrayOrNumber, b: Any, rcond: ArrayOrNumber, is_rounding: bool) -> tuple:
    """Solution, residuals, rank and singular values for b of several columns."""
    x = singular.lstsq(a if is_rounding else without_small(a, rcond), b, rcond)
    s = singular.svdvals(a, aspect=aspect_of(a))
    order = rank_above(s, _largest(s) * rcond)
    return x, _residuals(a, b, x, order), registry["cast"](order, dtype=np.dtype(np.int32)), s


def _residuals(a: ArrayOrNumber, b: ArrayOrNumber, x: AnyArray, order: AnyArray) -> AnyArray:
    """Squared residuals for each column of b; empty if the rank is deficient, or without more equations than unknowns.
    """
    m, n = shape_of(a)
    if not extents.is_at_least(m, n + 1):
        return registry["full"](0, 0, dtype=real_dtype(type_of(x).dtype))
    r = b - matmul(a, x)
    residuals = registry["sum"](registry["real"](r * conjugate(r)), axes=(0,))
    count = registry["where"](registry["equal"](order, n), shape_of(residuals)[0], 0)
    if getattr(count, "__fad_level__", 0) == 1:                # of tensors the rank is known
        count = int(count)
    return read_subscript(residuals, slice(None, count)).read(residuals)


@override("numpy.linalg.lstsq", samples=("np.linalg.lstsq(x.T, v, rcond=None)[0]", "np.linalg.lstsq(S, v, 0.5)[0]"),
          note="where the rank does not change")
def lstsq(a: ArrayLike, b: ArrayLike, rcond: "ArrayLike | None" = None) -> tuple:
    a, b = matrix(a), as_array(b)
    if rank(a) != 2 or rank(b) > 2:
        raise np.linalg.LinAlgError("lstsq takes one matrix and one right-hand side, of one or two dimensions")
    return lstsq_above(a, b, relative_tolerance(a, rcond), rcond is None)


def lstsq_above(a: Any, b: Any, rcond: ArrayOrNumber, is_rounding: bool) -> tuple:
    rest: list = []

    def of_columns(a: AnyArray, b: AnyArray) -> AnyArray:
        x, *rest[:] = least_squares(a, b, rcond, is_rounding)
        return x
    return (solved(of_columns, a, b), *rest)


def _largest(s: AnyArray) -> AnyArray:
    return from_column(registry["slice_axis"](s, rank(s) - 1, 0, 1))


def rank_above(s: AnyArray, tol: ArrayOrNumber) -> AnyArray:
    """The number of the singular values s that exceed a tolerance."""
    tol = registry["reshape"](tol, *shape_of(tol), 1) if rank(tol) else tol
    return registry["sum"](registry["cast"](registry["greater"](s, tol), dtype=np.dtype(np.int64)), axes=(rank(s) - 1,))


@override("numpy.linalg.matrix_rank", note="constant: its derivative is zero")
def matrix_rank(A: ArrayLike, tol: object = None, hermitian: bool = False, *, rtol: object = None) -> AnyArray:
    A = as_array(A)
    if tol is not None and rtol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if rank(A) < 2:
        return registry["cast"](BY_NAME["numpy.any"].call(registry["not_equal"](A, 0)), dtype=np.dtype(np.int64))
    A = read_hermitian(matrix(A), hermitian)
    s = singular.svdvals(A, aspect=aspect_of(A))
    if tol is None:
        tol = _largest(s) * relative_tolerance(A, rtol)
    return rank_above(s, as_array(tol))


# -- factorizations --------------------------------------------------------------------------------


def lower_cholesky(a: ArrayOrNumber, upper: bool) -> AnyArray:
    """The lower factor of a Hermitian matrix given by one of its triangles."""
    return factorizations.cholesky(adjoint(a) if upper else a)


@override("numpy.linalg.cholesky", samples=("np.linalg.cholesky(P)", "np.linalg.cholesky(P, upper=True)"),
          note="for Hermitian matrices; gradients are Hermitian")
def cholesky(a: ArrayLike, /, *, upper: bool = False) -> AnyArray:
    factor = lower_cholesky(square(a), upper)
    return adjoint(factor) if upper else factor


def reduced_qr(a: Any) -> tuple:
    """q and r with min(m, n) columns and rows; a wide matrix has the q of its left square part."""
    aspect = aspect_of(a)
    if aspect in ("square", "tall"):
        return factorizations.qr(a)
    n, k = shape_of(a)[-1], smaller_extent(a, aspect)
    q, r = factorizations.qr(columns_from(a, 0, k))
    right = columns_from(a, k, extents.difference(n, k))
    return q, registry["concatenate"](r, matmul(adjoint(q), right), axis=rank(a) - 1)


def complete_qr(a: object) -> tuple:
    """q square, r in a's shape."""
    q, r = reduced_qr(a)
    if aspect_of(a) in ("square", "wide"):
        return q, r
    *stack, m, n = shape_of(a)
    below = registry["full"](0, *stack, extents.difference(m, shape_of(r)[-2]), n, dtype=type_of(r).dtype)
    return with_complement(q), registry["concatenate"](r, below, axis=rank(a) - 2)


def with_complement(u: AnyArray) -> AnyArray:
    """Orthonormal columns, completed to a square matrix."""
    return registry["concatenate"](u, singular.complement(u), axis=rank(u) - 1)


@override("numpy.linalg.qr", samples=("np.linalg.qr(S)[0]", "np.linalg.qr(S)[1]", "np.linalg.qr(x)[1]",
                                      "np.linalg.qr(x.T, mode='r')"),
          note="where the leading columns are independent; nan through the further columns of mode='complete'")
def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    a = matrix(a)
    if mode == "r":
        return reduced_qr(a)[1]
    if mode not in ("reduced", "complete"):
        raise refuse("numpy.linalg.qr", f"mode={mode!r}", do="use 'reduced', 'complete' or 'r'")
    return named("qr", *(reduced_qr(a) if mode == "reduced" else complete_qr(a)))


# -- eigenvalues -----------------------------------------------------------------------------------


def is_upper(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper() == "U"


@override("numpy.linalg.eigh", samples=("np.linalg.eigh(P)[0]", "np.abs(np.linalg.eigh(P)[1])"),
          note="for Hermitian matrices; of eigenvectors, functions that do not depend on their sign or phase")
def eigh(a: ArrayLike, UPLO: str = "L") -> Any:
    return named("eigh", *spectral.eigh(square(a), upper=is_upper(UPLO), mrrr=False))


@override("numpy.linalg.eigvalsh", samples=("np.linalg.eigvalsh(P)", "np.linalg.eigvalsh(P, 'U')"),
          note="for Hermitian matrices")
def eigvalsh(a: ArrayLike, UPLO: str = "L") -> AnyArray:
    return spectral.eigvalsh(adjoint(square(a)) if is_upper(UPLO) else square(a))


@override("numpy.linalg.eig", samples=("np.abs(np.linalg.eig(P)[1])", "np.linalg.eig(S + 1j * P)"),
          note="always complex; where eigenvalues are distinct")
def eig(a: ArrayLike) -> Any:
    return named("eig", *spectral.eig(square(a)))


@override("numpy.linalg.eigvals", samples=("np.sort(np.abs(np.linalg.eigvals(P)))",),
          note="always complex; where eigenvalues are distinct")
def eigvals(a: ArrayLike) -> AnyArray:
    return spectral.eigvals(square(a))


# -- singular values -------------------------------------------------------------------------------


def full_svd(a: object, full: bool) -> tuple:
    """u, s, v^H, with square u and v if `full`."""
    aspect = aspect_of(a)
    u, s, vh = singular.svd(a, aspect=aspect)
    if full and aspect in ("tall", "any"):
        u = with_complement(u)
    if full and aspect in ("wide", "any"):
        vh = adjoint(with_complement(adjoint(vh)))
    return u, s, vh


def _svd_of_hermitian(a: object) -> tuple:
    """u, s, v^H as NumPy makes them of the eigenvalues: descending in size, their signs in v."""
    w, v = spectral.numpys_eigh(square(a))
    size = registry["abs"](w)
    order = BY_NAME["numpy.argsort"].call(size)[..., ::-1]
    place = BY_NAME["numpy.take_along_axis"].call
    u, signs = place(v, as_rows(order), axis=-1), registry["copysign"](1.0, place(w, order, axis=-1))
    return u, place(size, order, axis=-1), adjoint(u * as_rows(signs))


@override("numpy.linalg.svd", samples=("np.linalg.svd(x, compute_uv=False)", "np.abs(np.linalg.svd(S)[0])",
                                       "np.abs(np.linalg.svd(x, full_matrices=False)[2])",
                                       "np.linalg.svd(P - 6 * np.eye(4), hermitian=True)"),
          note="where singular values are distinct and, for the vectors, not zero; nan through the further vectors of "
          "full_matrices")
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if hermitian and compute_uv:
        return named("svd", *_svd_of_hermitian(a))
    a = read_hermitian(matrix(a), hermitian)
    if not compute_uv:
        return singular.svdvals(a, aspect=aspect_of(a))
    return named("svd", *full_svd(a, full_matrices))


@override("numpy.linalg.svdvals", samples=("np.linalg.svdvals(x)",))
def svdvals(x: ArrayLike, /) -> AnyArray:
    return svd(x, compute_uv=False)


# -- parts -----------------------------------------------------------------------------------------


@override("numpy.linalg.matrix_transpose", samples=("np.linalg.matrix_transpose(x)",))
def matrix_transpose(x: ArrayLike, /) -> AnyArray:
    x = as_array(x)
    if rank(x) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {rank(x)}")
    return transposed(x)


@override("numpy.linalg.diagonal", samples=("np.linalg.diagonal(S)",))
def diagonal(x: ArrayLike, /, *, offset: int = 0) -> AnyArray:
    return BY_NAME["numpy.diagonal"].call(x, offset, axis1=-2, axis2=-1)
