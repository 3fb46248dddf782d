"""scipy.linalg's systems of special form, solved as full ones: solve_banded, solveh_banded, solve_toeplitz, solve_circulant, matmul_toeplitz."""
from typing import Any

from ..face import BY_NAME, face
from ..kinds import conjugate, shape_of
from .arguments import as_array, rank, refuse


def _matrix(diagonals: Any, lower: int, upper: int) -> Any:
    """The matrix whose diagonals are the rows of a matrix, as LAPACK stores them: column by column."""
    n = shape_of(diagonals)[1]
    a: Any = 0.0
    for k in range(-lower, upper + 1):
        row = diagonals[upper - k]
        a = a + BY_NAME["numpy.diag"].call(row[k:] if k > 0 else row[:n + k] if k else row, k)
    return a


@face("scipy.linalg.solve_banded", samples=("la.solve_banded((1, 1), x + [[0.0], [3.0], [0.0]], v)", "la.solve_banded((0, 2), x[::-1] + 1.0, x.T)"))
def solve_banded(l_and_u: tuple, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    return BY_NAME["numpy.linalg.solve"].call(_matrix(as_array(ab), *l_and_u), as_array(b))


@face("scipy.linalg.solveh_banded", samples=("la.solveh_banded(x + [[3.0], [0.0], [0.0]], v, lower=True)", "la.solveh_banded(x[:2] + [[0.0], [3.0]], v)"))
def solveh_banded(ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True) -> Any:
    """The diagonals of one half of a Hermitian matrix, the main one last (first, if `lower`)."""
    ab = as_array(ab)
    n, count = shape_of(ab)[1], shape_of(ab)[0] - 1
    a: Any = 0.0
    for k in range(int(count) + 1):
        row = ab[k] if lower else ab[count - k]
        part = row[:n - k] if lower else row[k:]
        a = a + (BY_NAME["numpy.diag"].call(part, -k if lower else k) + (BY_NAME["numpy.diag"].call(conjugate(part), k if lower else -k) if k else 0.0))
    return BY_NAME["numpy.linalg.solve"].call(a, as_array(b))


def _toeplitz(c_or_cr: Any) -> Any:
    return BY_NAME["scipy.linalg.toeplitz"].call(*(c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)))


@face("scipy.linalg.solve_toeplitz", samples=("la.solve_toeplitz(v + np.array([3.0, 0.0, 0.0, 0.0]), x.T)", "la.solve_toeplitz((v, v ** 2), v)"))
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    return BY_NAME["numpy.linalg.solve"].call(_toeplitz(c_or_cr), as_array(b))


@face("scipy.linalg.matmul_toeplitz", samples=("la.matmul_toeplitz((v, 2 * v), x.T)", "la.matmul_toeplitz(v, v)"))
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    return BY_NAME["numpy.matmul"].call(_toeplitz(c_or_cr), as_array(x))


@face("scipy.linalg.solve_circulant", samples=("la.solve_circulant(v + np.array([3.0, 0.0, 0.0, 0.0]), v)",))
def solve_circulant(c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0) -> Any:
    c, b = as_array(c), as_array(b)
    if rank(c) != 1 or rank(b) > 2 or (baxis, outaxis) != (0, 0) or singular != "raise":
        raise refuse("scipy.linalg.solve_circulant", "several systems at once, other axes, or singular='lstsq'")
    return BY_NAME["numpy.linalg.solve"].call(BY_NAME["scipy.linalg.circulant"].call(c), b)
