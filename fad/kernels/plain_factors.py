"""LU and Cholesky factors by NumPy and LAPACK: what the interpreter runs, and the kernels of factor.py in plain Python.

Numba is not imported here.
"""
import numpy as np
from scipy.linalg import lapack

__all__ = ["cholesky_ex", "lu_factor"]


def _routine(name, a):
    """LAPACK's routine for a's dtype."""
    return getattr(lapack, "sdcz"["fdFD".index(a.dtype.char)] + name)


def cholesky_ex(a):
    """The lower factor from the lower triangle of each matrix, and LAPACK's info: where that is not 0, the factor is
    nan.

    >>> cholesky_ex(np.array([[[4.0]], [[-1.0]]]))[1].tolist()
    [0, 1]
    """
    factor, info = np.tril(a), np.zeros(a.shape[:-2], np.int32)
    for index in np.ndindex(info.shape) if a.size else ():
        factor[index], info[index] = _routine("potrf", a)(a[index], lower=True, clean=True)
        if info[index]:
            factor[index] = np.nan
    return factor, info[()]


def lu_factor(a):
    """L and U in one matrix and the row exchanges, as LAPACK's getrf gives them.

    >>> lu, pivots = lu_factor(np.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> lu.tolist(), pivots.tolist()
    ([[1.0, 3.0], [0.0, 2.0]], [1, 1])
    """
    *stack, m, n = a.shape
    lu, pivots = np.array(a, order="C"), np.zeros((*stack, min(m, n)), np.int32)
    if not lu.size:
        return lu, pivots
    flat, flat_pivots = lu.reshape(-1, m, n), pivots.reshape(-1, min(m, n))
    if len(flat) > m:
        _eliminate(flat, flat_pivots)
    else:
        for k, matrix in enumerate(flat):
            flat[k], flat_pivots[k], _ = _routine("getrf", a)(matrix)
    return lu, pivots


def _eliminate(lu, pivots):
    """Gaussian elimination with row exchanges, in place, on many small matrices at once."""
    each = np.arange(len(lu))
    for k in range(pivots.shape[1]):
        p = pivots[:, k] = k + np.argmax(_size(lu[:, k:, k]), axis=1)
        lu[each, p], lu[:, k] = lu[:, k].copy(), lu[each, p]
        pivot = lu[:, k, k]
        lu[:, k + 1:, k] /= np.where(pivot == 0, 1, pivot)[:, None]
        lu[:, k + 1:, k + 1:] -= lu[:, k + 1:, k, None] * lu[:, k, None, k + 1:]


def _size(x):
    """The size by which LAPACK looks for the largest pivot."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)
