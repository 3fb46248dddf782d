"""scipy.linalg's matrices of special form, taken as full ones: banded and tridiagonal, Toeplitz and circulant."""
from typing import Any

from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike
from ..kinds import conjugate, is_complex, shape_of
from ..override import BY_NAME, override
from .arguments import as_array, in_dtype, rank, refuse
from .stacks import matrix, over_stacks


def _matrix(diagonals: AnyArray, lower: int, upper: int) -> AnyArray:
    """The matrix whose diagonals are the rows of a matrix, as LAPACK stores them: column by column."""
    n = shape_of(diagonals)[1]
    a: Any = 0.0
    for k in range(-lower, upper + 1):
        row = diagonals[upper - k]
        a = a + BY_NAME["numpy.diag"].call(row[k:] if k > 0 else row[:n + k] if k else row, k)
    return a


@override("scipy.linalg.solve_banded",
          samples=("la.solve_banded((1, 1), x + [[0.0], [3.0], [0.0]], v)",
                   "la.solve_banded((0, 2), x[::-1] + 1.0, x.T)"))
@over_stacks(ab="2", b="1|2")
def solve_banded(l_and_u: tuple, ab: ArrayLike, b: ArrayLike, overwrite_ab: bool = False, overwrite_b: bool = False,
                 check_finite: bool = True) -> AnyArray:
    return BY_NAME["numpy.linalg.solve"].call(_matrix(matrix(ab), *l_and_u), as_array(b))


@override("scipy.linalg.solveh_banded", samples=("la.solveh_banded(x + [[3.0], [0.0], [0.0]], v, lower=True)",
                                                 "la.solveh_banded(x[:2] + [[0.0], [3.0]], v)"))
@over_stacks(ab="2", b="1|2")
def solveh_banded(ab: ArrayLike, b: ArrayLike, overwrite_ab: bool = False, overwrite_b: bool = False,
                  lower: bool = False, check_finite: bool = True) -> AnyArray:
    """The diagonals of one half of a Hermitian matrix, the main one last (first, if `lower`)."""
    return BY_NAME["numpy.linalg.solve"].call(_hermitian(matrix(ab), lower), as_array(b))


def _hermitian(ab: AnyArray, lower: bool) -> AnyArray:
    """The matrix of these diagonals. Its main diagonal is real, whatever imaginary parts stand there, as in LAPACK."""
    n, count = shape_of(ab)[1], shape_of(ab)[0] - 1
    a: Any = 0.0
    for k in range(int(count) + 1):
        row = ab[k] if lower else ab[count - k]
        part = row[:n - k] if lower else row[k:]
        if not k and is_complex(part):
            part = in_dtype(BY_NAME["numpy.real"].call(part), type_of(part).dtype)
        a = a + (BY_NAME["numpy.diag"].call(part, -k if lower else k)
                 + (BY_NAME["numpy.diag"].call(conjugate(part), k if lower else -k) if k else 0.0))
    return a


@override("scipy.linalg.cholesky_banded", samples=("la.cholesky_banded(x[:2] + [[3.0], [0.0]], lower=True)",
                                                   "la.cholesky_banded(x + [[0.0], [0.0], [3.0]])"))
@over_stacks(ab="2")
def cholesky_banded(ab: AnyArray, overwrite_ab: bool = False, lower: bool = False,
                    check_finite: bool = True) -> AnyArray:
    """The factor's diagonals; where a diagonal is shorter than its row, what stood there, as SciPy has it."""
    ab = matrix(ab)
    factor = BY_NAME["numpy.linalg.cholesky"].call(_hermitian(ab, lower))
    factor = factor if lower else BY_NAME["numpy.conj"].call(factor.T)
    n, count, join = shape_of(ab)[1], int(shape_of(ab)[0]) - 1, BY_NAME["numpy.concatenate"].call
    rows = []
    for r in range(count + 1):
        k = r if lower else count - r
        part = BY_NAME["numpy.diag"].call(factor, -k if lower else k)
        rows.append(part if not k else join([part, ab[r, n - k:]]) if lower else join([ab[r, :k], part]))
    return BY_NAME["numpy.stack"].call(rows)


@override("scipy.linalg.cho_solve_banded",
          samples=("la.cho_solve_banded((la.cholesky_banded(x[:2] + [[3.0], [0.0]], lower=True), True), v)",
                   "la.cho_solve_banded((x + [[0.0], [0.0], [3.0]], False), x.T)"))
def cho_solve_banded(cb_and_lower: tuple, b: ArrayLike, overwrite_b: bool = False,
                     check_finite: bool = True) -> AnyArray:
    cb, lower = as_array(cb_and_lower[0]), bool(cb_and_lower[1])
    beside = int(shape_of(cb)[0]) - 1
    factor = _matrix(cb, beside, 0) if lower else _matrix(cb, 0, beside)
    return BY_NAME["scipy.linalg.cho_solve"].call((factor, lower), as_array(b))


@override("scipy.linalg.eig_banded", samples=("la.eig_banded(x[:2] + [[0.0], [3.0]])[0]",), note="as numpy.linalg.eigh")
@over_stacks(a_band="2")
def eig_banded(a_band: ArrayLike, lower: bool = False, eigvals_only: bool = False, overwrite_a_band: bool = False,
               select: str = "a", select_range: object = None, check_finite: bool = True) -> Any:
    if select not in ("a", 0) or select_range is not None:
        raise refuse("scipy.linalg.eig_banded", "a part of the eigenvalues", do="index the result")
    a = _hermitian(matrix(a_band), lower)
    return BY_NAME["numpy.linalg.eigvalsh" if eigvals_only else "numpy.linalg.eigh"].call(a)


@override("scipy.linalg.eigvals_banded", samples=("la.eigvals_banded(x[:2] + [[3.0], [0.0]], lower=True)",))
@over_stacks(a_band="2")
def eigvals_banded(a_band: ArrayLike, lower: bool = False, overwrite_a_band: bool = False, select: str = "a",
                   select_range: object = None, check_finite: bool = True) -> AnyArray:
    return eig_banded(a_band, lower, True, overwrite_a_band, select, select_range)


@override("scipy.linalg.eigh_tridiagonal",
          samples=("la.eigh_tridiagonal(v, x[0, :3] + 1.0)[0]", "np.abs(la.eigh_tridiagonal(v, x[0, :3] + 1.0)[1])"),
          note="as numpy.linalg.eigh")
@over_stacks(d="1", e="1")
def eigh_tridiagonal(d: ArrayLike, e: ArrayLike, eigvals_only: bool = False, select: str = "a",
                     select_range: Any = None, check_finite: bool = True) -> Any:
    d, e = as_array(d), as_array(e)
    if is_complex(d) or is_complex(e):
        raise TypeError("Only real arrays currently supported")
    if select not in ("a", "i", 0, 2):
        raise refuse("scipy.linalg.eigh_tridiagonal", "select='v'",
                     "how many eigenvalues lie there depends on the matrix's values")
    if select in ("i", 2) and not eigvals_only:
        raise refuse("scipy.linalg.eigh_tridiagonal", "select='i' with eigenvectors", do="take all of them, and slice")
    diagonal = BY_NAME["numpy.diag"].call
    a = diagonal(d) + diagonal(e, 1) + diagonal(e, -1)
    w = BY_NAME["numpy.linalg.eigvalsh"].call(a) if eigvals_only else None
    if w is None:
        return tuple(BY_NAME["numpy.linalg.eigh"].call(a))
    return w if select in ("a", 0) else w[select_range[0]:select_range[1] + 1]


@override("scipy.linalg.eigvalsh_tridiagonal",
          samples=("la.eigvalsh_tridiagonal(v, x[0, :3] + 1.0)", "la.eigvalsh_tridiagonal(v, x[0, :3], 'i', (1, 2))"))
@over_stacks(d="1", e="1")
def eigvalsh_tridiagonal(d: ArrayLike, e: ArrayLike, select: str = "a", select_range: object = None,
                         check_finite: bool = True) -> AnyArray:
    return eigh_tridiagonal(d, e, True, select, select_range)


def _toeplitz(c_or_cr: object) -> AnyArray:
    return BY_NAME["scipy.linalg.toeplitz"].call(*(c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)))


@override("scipy.linalg.solve_toeplitz",
          samples=("la.solve_toeplitz(v + np.array([3.0, 0.0, 0.0, 0.0]), x.T)", "la.solve_toeplitz((v, v ** 2), v)"),
          precision="double")
def solve_toeplitz(c_or_cr: ArrayLike, b: ArrayLike, check_finite: bool = True) -> AnyArray:
    return BY_NAME["numpy.linalg.solve"].call(_toeplitz(c_or_cr), as_array(b))


@override("scipy.linalg.matmul_toeplitz", samples=("la.matmul_toeplitz((v, 2 * v), x.T)", "la.matmul_toeplitz(v, v)"),
          precision="double")
def matmul_toeplitz(c_or_cr: ArrayLike, x: ArrayLike, check_finite: bool = False, workers: object = None) -> AnyArray:
    return BY_NAME["numpy.matmul"].call(_toeplitz(c_or_cr), as_array(x))


@override("scipy.linalg.solve_circulant", samples=("la.solve_circulant(v + np.array([3.0, 0.0, 0.0, 0.0]), v)",))
def solve_circulant(c: ArrayLike, b: ArrayLike, singular: str = "raise", tol: object = None, caxis: int = -1,
                    baxis: int = 0, outaxis: int = 0) -> AnyArray:
    c, b = as_array(c), as_array(b)
    along_others = (baxis, outaxis) != (0, 0) or caxis not in (-1, 0)
    if rank(c) != 1 or rank(b) > 2 or along_others or singular != "raise" or tol is not None:
        raise refuse("scipy.linalg.solve_circulant", "several systems at once, other axes, or singular='lstsq'")
    return BY_NAME["numpy.linalg.solve"].call(BY_NAME["scipy.linalg.circulant"].call(c), b)
