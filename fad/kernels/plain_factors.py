"""LU, Cholesky and spectral factors by NumPy and LAPACK: what the interpreter runs, and the kernels of factor.py and
spectral.py in plain Python.

Numba is not imported here.
"""
import numpy as np
import scipy.linalg
from scipy.linalg import blas, lapack

__all__ = ["cholesky_ex", "eigh", "lu_factor", "lu_solve"]


def _routine(name, a, library=lapack):
    """LAPACK's (or BLAS') routine for a's dtype."""
    return getattr(library, "sdcz"["fdFD".index(a.dtype.char)] + name)


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


def lu_solve(lu, pivots, b, trans):
    """Solve a x = b (trans 0), a^T x = b (1) or a^H x = b (2) for one matrix and b (n, k), where
    lu, pivots = lu_factor(a).

    Several right-hand sides by BLAS: OpenBLAS starts threads in LAPACK's getrs for these, be a of two rows.

    >>> lu_solve(*lu_factor(np.array([[0.0, 2.0], [1.0, 3.0]])), np.array([[4.0], [7.0]]), 0).tolist()
    [[1.0], [2.0]]
    """
    if b.shape[1] == 1:
        return _routine("getrs", lu)(lu, pivots, b, trans=trans)[0]
    trsm, order = _routine("trsm", lu, blas), _order(pivots)
    if trans == 0:
        return trsm(1, lu, trsm(1, lu, b[order], lower=1, diag=1))
    x = np.empty_like(b)
    x[order] = trsm(1, lu, trsm(1, lu, b, trans_a=trans), lower=1, trans_a=trans, diag=1)
    return x


def _order(pivots):
    """The rows in the order that the exchanges give them."""
    order = list(range(len(pivots)))
    for k, p in enumerate(pivots.tolist()):
        order[k], order[p] = order[p], order[k]
    return order


def eigh(a, upper, mrrr):
    """Eigenvalues, ascending, and eigenvectors of each Hermitian matrix: NumPy's (divide and conquer), or if mrrr
    SciPy's (multiple relatively robust representations), whose signs differ.

    >>> eigh(np.array([[2.0, 0.0], [1.0, 2.0]]), False, False)[0].round(12).tolist()
    [1.0, 3.0]
    """
    if not mrrr:
        return tuple(np.linalg.eigh(a, "U" if upper else "L"))
    w, v = np.empty(a.shape[:-1], a.real.dtype), np.empty(a.shape, a.dtype)
    for index in np.ndindex(a.shape[:-2]):
        w[index], v[index] = scipy.linalg.eigh(a[index], lower=not upper, driver="evr", check_finite=False)
    return w, v
