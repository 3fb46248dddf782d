"""scipy.linalg: systems, determinants, factorizations, eigenvalues, singular values. Functions of matrices:
scipy_functions.py.

trace/values/mutation.py handles `overwrite_*` at the call; drivers and work sizes do not change results.
"""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, real_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes
from ...util.lazy import imported
from .. import extents
from ..conditional import only_if
from ..kinds import conjugate, shape_of
from ..linalg import determinants, factorizations, singular, solve, spectral
from ..linalg.factorizations import permutation, permutation_matrix, solve_lower, solve_upper, unit_lower
from ..linalg.matrices import (
    adjoint,
    as_rows,
    aspect_of,
    columns_from,
    count_up,
    lower,
    matmul,
    rows_from,
    smaller_extent,
    strictly_lower,
    strictly_upper,
    transposed,
    upper,
)
from ..override import override
from ..sort import picked
from . import linalg, norms
from .arguments import as_array, is_given, rank, refuse, taken
from .stacks import at_least, epsilon, larger_extent, matrix, over_stacks, solved, square, together

TRANSPOSITIONS = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}

# -- systems ---------------------------------------------------------------------------------------


def _triangular(low: bool) -> Callable:
    return lambda a, b, trans, _: solve.triangular_solve(a, b, lower=low, trans=trans, unit=False)


def _positive(a: AnyArray, b: AnyArray, trans: int, low: bool) -> AnyArray:
    factor = linalg.lower_cholesky(a, not low)
    if trans:                                                   # a^T = conj(a) has the factor conj(l)
        factor = conjugate(factor)
    return solve_lower(factor, solve_lower(factor, b), trans=2)


def read_symmetric(a: AnyArray, low: bool) -> AnyArray:
    """The complex symmetric matrix; a holds one triangle of it."""
    half = a if low else transposed(a)
    return lower(half) + transposed(strictly_lower(half))


def _with_one_triangle(a: AnyArray, kind: str, low: bool) -> AnyArray:
    if kind in ("her", "hermitian") or type_of(a).dtype.kind == "f":
        return factorizations.hermitian(a, lower=low)
    return read_symmetric(a, low)


def _diagonal_system(a: Any, b: object, trans: int, _: bool) -> Any:
    return solve.triangular_solve(lower(upper(a)), b, lower=True, trans=trans, unit=False)


def _general(a: AnyArray, b: AnyArray, trans: int, _: bool) -> AnyArray:
    return solve.solve(a, b, trans)


SOLVERS: dict[Any, Callable] = {
    **dict.fromkeys((None, "gen", "general", "banded", "tridiagonal"), _general),
    **dict.fromkeys(("pos", "positive definite"), _positive), "diagonal": _diagonal_system,
    "upper triangular": _triangular(False), "lower triangular": _triangular(True),
    **{kind: lambda a, b, trans, low, kind=kind: solve.solve(_with_one_triangle(a, kind, low), b, trans)
       for kind in ("sym", "symmetric", "her", "hermitian")}}


def _solver(assume_a: object) -> Callable:
    if assume_a not in SOLVERS:
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    return SOLVERS[assume_a]


@override("scipy.linalg.solve",
          samples=("la.solve(P, v, assume_a='pos')", "la.solve(S, x.T)", "la.solve(S, v, transposed=True)"))
def solve_(a: ArrayLike, b: ArrayLike, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
           check_finite: bool = True, assume_a: "str | None" = None, transposed: bool = False) -> AnyArray:
    return solved(lambda a, b: _solver(assume_a)(a, b, int(transposed), lower), square(a), b)


@override("scipy.linalg.solve_triangular",
          samples=("la.solve_triangular(np.tril(S), v, lower=True)", "la.solve_triangular(S, v, trans='T')"))
def solve_triangular(a: ArrayLike, b: ArrayLike, trans: object = 0, lower: bool = False, unit_diagonal: bool = False,
                     overwrite_b: bool = False, check_finite: bool = True) -> AnyArray:
    options = {"lower": bool(lower), "trans": TRANSPOSITIONS[trans], "unit": bool(unit_diagonal)}
    return solved(lambda a, b: solve.triangular_solve(a, b, **options), square(a), b)


def full_matrix(a: AnyArray, assume_a: Any, low: bool) -> AnyArray:
    """a, completed from the part of it that is to be read."""
    if assume_a in ("upper triangular", "lower triangular"):
        return upper(a) if assume_a[0] == "u" else lower(a)
    if assume_a in ("pos", "positive definite"):
        return factorizations.hermitian(a, lower=low)
    if assume_a == "diagonal":
        return lower(upper(a))
    _solver(assume_a)
    return a if assume_a in (None, "gen", "general", "banded", "tridiagonal") else _with_one_triangle(a, assume_a, low)


@override("scipy.linalg.inv", samples=("la.inv(S)",))
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: object = None,
        lower: bool = False) -> AnyArray:
    return solve.inv(full_matrix(square(a), assume_a, lower))


@override("scipy.linalg.det", samples=("la.det(S)",), precision="double")
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> AnyArray:
    return determinants.det(square(a))


@override("scipy.linalg.norm", samples=("la.norm(x)", "la.norm(S, 2)"))
def norm(a: ArrayLike, ord: object = None, axis: Axes = None, keepdims: bool = False,
         check_finite: bool = True) -> AnyArray:
    return norms.norm(a, ord, axis, keepdims)


def _cutoff(a: AnyArray, s: AnyArray, atol: Any, rtol: Any) -> ArrayOrNumber:
    """Singular values up to this share of the largest are taken for zero."""
    share = rtol if is_given(rtol) else 0.0 if is_given(atol) and atol > 0 else larger_extent(a) * epsilon(a)
    return share if not is_given(atol) or atol == 0 else share + atol / linalg._largest(s)


@override("scipy.linalg.pinv", samples=("la.pinv(x)", "la.pinv(S, atol=1.5)"), note="where the rank does not change")
def pinv(a: ArrayLike, *, atol: object = None, rtol: object = None, return_rank: bool = False,
         check_finite: bool = True) -> ArrayOrNumber:
    return _pinv(matrix(a), atol, rtol, return_rank)


def _pinv(a: AnyArray, atol: object, rtol: object, return_rank: bool) -> Any:
    s = registry["stop_gradient"](singular.svdvals(a, aspect=aspect_of(a)))
    share = _cutoff(a, s, atol, rtol)
    x = singular.pinv(linalg.without_small(a, share) if is_given(atol) or is_given(rtol) else a, share)
    return (x, linalg.rank_above(s, linalg._largest(s) * share)) if return_rank else x


@override("scipy.linalg.pinvh", samples=("la.pinvh(P)",), note="for Hermitian matrices, where the rank does not change")
def pinvh(a: ArrayLike, atol: object = None, rtol: object = None, lower: bool = True, return_rank: bool = False,
          check_finite: bool = True) -> AnyArray:
    return _pinv(factorizations.hermitian(square(a), lower=lower), atol, rtol, return_rank)


NO_RESIDUAL = ("the rank is deficient, and the residual that scipy.linalg.lstsq gives is an empty array then, "
               "and no number: leave it out")


@override("scipy.linalg.lstsq", samples=("la.lstsq(x.T, v)[0]",), note="where the rank does not change")
@over_stacks(a="2", b="1|2")
def lstsq(a: ArrayLike, b: ArrayLike, cond: Any = None, overwrite_a: bool = False, overwrite_b: bool = False,
          check_finite: bool = True) -> tuple:
    x, residuals, order, s = linalg.lstsq_above(matrix(a), as_array(b), epsilon(matrix(a)) if cond is None else cond,
                                                cond is None)
    if rank(as_array(b)) == 1 and extents.is_at_least(shape_of(as_array(b))[0], shape_of(x)[0] + 1):
        residuals = only_if(registry["equal"](order, shape_of(x)[0]), _one_residual(residuals), NO_RESIDUAL)
    return x, residuals, registry["cast"](order, dtype=np.dtype(np.int64)), s


def _one_residual(residuals: AnyArray) -> AnyArray:
    """The residual of one vector. For a deficient rank SciPy gives an empty array; a program that gives a number
    elsewhere cannot."""
    nan = registry["full"](float("nan"), 1, dtype=type_of(residuals).dtype)
    return taken(registry["concatenate"](residuals, nan, axis=0), 0)


# -- Cholesky and LU -------------------------------------------------------------------------------


@override("scipy.linalg.cholesky", samples=("la.cholesky(P)", "la.cholesky(P, lower=True)"),
          note="for Hermitian matrices; gradients are Hermitian")
def cholesky(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> AnyArray:
    factor = linalg.lower_cholesky(square(at_least(2, a)), not lower)
    return factor if lower else adjoint(factor)


@override("scipy.linalg.cho_factor", samples=("la.cho_solve(la.cho_factor(P), v)",),
          note="for Hermitian matrices; gradients are Hermitian")
def cho_factor(a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    """The factor in its triangle; in the other what stood there, or zeros, as the installed SciPy has it."""
    a = square(at_least(2, a))
    factor = cholesky(a, lower)
    return factor + (strictly_upper(a) if lower else strictly_lower(a)) if _keeps_the_rest() else factor, lower


@functools.cache
def _keeps_the_rest() -> bool:
    """SciPy before 1.18 leaves in cho_factor's other triangle what stood there."""
    return bool(imported("scipy.linalg").cho_factor(np.array([[2.0, 1.0], [1.0, 2.0]]))[0][1, 0])


@override("scipy.linalg.cho_solve", samples=("la.cho_solve((np.linalg.cholesky(P), True), v)",))
def cho_solve(c_and_lower: Any, b: ArrayLike, overwrite_b: bool = False, check_finite: bool = True) -> AnyArray:
    c, low = c_and_lower

    def by_factor(c: AnyArray, b: AnyArray) -> AnyArray:
        first, then = (0, 2) if low else (2, 0)
        y = solve.triangular_solve(c, b, lower=bool(low), trans=first, unit=False)
        return solve.triangular_solve(c, y, lower=bool(low), trans=then, unit=False)
    return solved(by_factor, square(c), b)


def packed_lu(a: Any) -> tuple:
    """LAPACK's factors of a matrix of any shape. A wide one has those of its left square part, and l^-1 p^T times the
    rest."""
    aspect = aspect_of(a)
    if aspect in ("square", "tall"):
        return factorizations.lu_factor(a)
    n, k = shape_of(a)[-1], smaller_extent(a, aspect)
    lu, pivots = factorizations.lu_factor(columns_from(a, 0, k))
    order = permutation_matrix(permutation(pivots, shape_of(a)[-2]), type_of(a).dtype)
    right = matmul(transposed(order), columns_from(a, k, extents.difference(n, k)))
    return registry["concatenate"](lu, solve_lower(lu, right, unit=True), axis=rank(a) - 1), pivots


@override("scipy.linalg.lu_factor", samples=("la.lu_factor(S)[0]",))
def lu_factor(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> tuple:
    return packed_lu(matrix(a))


@override("scipy.linalg.lu_solve",
          samples=("la.lu_solve(la.lu_factor(S), v)", "la.lu_solve(la.lu_factor(S), v, trans=1)"))
def lu_solve(lu_and_piv: Any, b: ArrayLike, trans: int = 0, overwrite_b: bool = False,
             check_finite: bool = True) -> AnyArray:
    lu, pivots = lu_and_piv

    def by_factors(lu: AnyArray, b: AnyArray) -> AnyArray:
        order = permutation_matrix(permutation(as_array(pivots), shape_of(lu)[-1]), type_of(lu).dtype)
        if not trans:
            return solve_upper(lu, solve_lower(lu, matmul(transposed(order), b), unit=True))
        return matmul(order, solve_lower(lu, solve_upper(lu, b, trans=trans), trans=trans, unit=True))
    return solved(by_factors, square(lu), b)


@override("scipy.linalg.lu", samples=("la.lu(S)[1]", "la.lu(S)[2]", "la.lu(x, permute_l=True)[0]"))
def lu(a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True,
       p_indices: bool = False) -> tuple:
    a = matrix(a)
    packed, pivots = packed_lu(a)
    k = smaller_extent(a, aspect_of(a))
    order = permutation(pivots, shape_of(a)[-2])
    low, up = unit_lower(columns_from(packed, 0, k)), upper(rows_from(packed, 0, k))
    p = permutation_matrix(order, real_dtype(type_of(a).dtype))
    if permute_l:
        return matmul(p, low), up
    if p_indices:
        return _places(order), low, up
    return p, low, up


def _places(order: AnyArray) -> AnyArray:
    """The inverse of a permutation."""
    p = permutation_matrix(order, np.dtype(np.int64))
    places = registry["sum"](p * as_rows(count_up(shape_of(order)[-1])), axes=(rank(order),))
    return registry["cast"](places, dtype=np.dtype(np.int32))


@override("scipy.linalg.qr", samples=("la.qr(S)[1]", "la.qr(x.T, mode='economic')[0]", "la.qr(x, pivoting=True)"),
          note="as numpy.linalg.qr")
def qr(a: ArrayLike, overwrite_a: bool = False, mode: str = "full", pivoting: bool = False,
       check_finite: bool = True) -> tuple:
    """With pivoting, of the columns in an order that does not change with small changes of the matrix."""
    if mode not in ("full", "r", "economic"):
        raise refuse("scipy.linalg.qr", f"mode={mode!r}")
    a, order = matrix(a), []
    if pivoting:
        order = [factorizations.qr_order(a)]
        places = registry["reshape"](order[0], *shape_of(a)[:-2], 1, shape_of(a)[-1])
        a = picked(a, registry["cast"](registry["broadcast_to"](places, *shape_of(a)), dtype=INT))
    q, r = (linalg.reduced_qr if mode == "economic" else linalg.complete_qr)(a)
    return (r, *order) if mode == "r" else (q, r, *order)


@override("scipy.linalg.rq", samples=("la.rq(S)", "la.rq(x, mode='economic')[0]"), note="as numpy.linalg.qr")
def rq(a: ArrayLike, overwrite_a: bool = False, lwork: object = None, mode: str = "full",
       check_finite: bool = True) -> tuple:
    """The factors of the matrix turned round are those of its adjoint's qr."""
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    turned = adjoint(matrix(a)[..., ::-1, ::-1])
    q, r = (linalg.reduced_qr if mode == "economic" else linalg.complete_qr)(turned)
    r, q = (adjoint(part)[..., ::-1, ::-1] for part in (r, q))
    return r if mode == "r" else (r, q)


# -- eigenvalues and singular values ---------------------------------------------------------------


def _standard_form(a: AnyArray, b: AnyArray, low: bool, type: int) -> tuple:
    """The Hermitian matrix with the eigenvalues of a problem with two matrices, and the map from its eigenvectors to
    that problem's."""
    a, b = together(a, b)
    factor = linalg.lower_cholesky(b, not low)
    a = factorizations.hermitian(a, lower=low)
    if type == 1:                                               # a v = b v w
        inner = solve_lower(factor, adjoint(solve_lower(factor, a)))
    else:                                                       # a b v = v w, b a v = v w
        inner = matmul(adjoint(factor), matmul(a, factor))
    return inner, (lambda u: matmul(factor, u)) if type == 3 else (lambda u: solve_lower(factor, u, trans=2))


def _eigh(a: object, b: object, low: bool, eigvals_only: bool, type: int, by_index: Any, by_value: object) -> Any:
    if by_value is not None:
        raise refuse("scipy.linalg.eigh", "subset_by_value",
                     why="how many eigenvalues lie there depends on the matrix's values")
    a, back = square(a), lambda u: u
    if b is not None:
        a, back = _standard_form(a, square(b), low, type)
        low = True
    start, count = (0, shape_of(a)[-1]) if by_index is None else (by_index[0], by_index[1] - by_index[0] + 1)
    if eigvals_only:
        w = spectral.eigvalsh(a if low else adjoint(a))
        return registry["slice_axis"](w, rank(w) - 1, start, count)
    w, v = spectral.eigh(a, upper=not low, mrrr=b is None)
    return registry["slice_axis"](w, rank(w) - 1, start, count), columns_from(back(v), start, count)


@override("scipy.linalg.eigh", samples=("la.eigh(P)[0]", "la.eigh(P, P + np.eye(4), eigvals_only=True)"),
          note="as numpy.linalg.eigh")
def eigh(a: ArrayLike, b: "ArrayLike | None" = None, *, lower: bool = True, eigvals_only: bool = False,
         overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1, check_finite: bool = True,
         subset_by_index: object = None, subset_by_value: object = None) -> ArrayOrNumber:
    return _eigh(a, b, lower, eigvals_only, type, subset_by_index, subset_by_value)


@override("scipy.linalg.eigvalsh", samples=("la.eigvalsh(P)",), note="for Hermitian matrices")
def eigvalsh(a: ArrayLike, b: Any = None, *, lower: bool = True, overwrite_a: bool = False, overwrite_b: bool = False,
             type: int = 1, check_finite: bool = True, subset_by_index: object = None,
             subset_by_value: object = None) -> AnyArray:
    return _eigh(a, b, lower, True, type, subset_by_index, subset_by_value)


def _one_matrix(a: object, b: object, homogeneous_eigvals: bool) -> AnyArray:
    if homogeneous_eigvals:
        raise refuse("scipy.linalg.eig", "homogeneous_eigvals=True")
    a = square(a)
    return a if b is None else solved(solve.solve, square(b), a)


@override("scipy.linalg.eig", samples=("np.abs(la.eig(P)[1])",), note="as numpy.linalg.eig")
def eig(a: ArrayLike, b: object = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
        overwrite_b: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False) -> Any:
    if left:
        raise refuse("scipy.linalg.eig", "left=True", do="take the eigenvectors of the transposed matrix")
    a = _one_matrix(a, b, homogeneous_eigvals)
    return spectral.eig(a) if right else spectral.eigvals(a)


@override("scipy.linalg.eigvals", samples=("np.sort(np.abs(la.eigvals(P)))",),
          note="always complex; where eigenvalues are distinct")
def eigvals(a: ArrayLike, b: object = None, overwrite_a: bool = False, check_finite: bool = True,
            homogeneous_eigvals: bool = False) -> AnyArray:
    return spectral.eigvals(_one_matrix(a, b, homogeneous_eigvals))


@override("scipy.linalg.svd", samples=("la.svd(x, compute_uv=False)", "np.abs(la.svd(x, full_matrices=False)[0])"),
          note="as numpy.linalg.svd")
def svd(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False,
        check_finite: bool = True) -> tuple:
    a = matrix(a)
    return linalg.full_svd(a, full_matrices) if compute_uv else singular.svdvals(a, aspect=aspect_of(a))


@override("scipy.linalg.svdvals", samples=("la.svdvals(x)",))
def svdvals(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> AnyArray:
    a = matrix(a)
    return singular.svdvals(a, aspect=aspect_of(a))
