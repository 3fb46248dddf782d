"""Linear algebra on stacks of matrices (..., m, n), in compiled code and in plain Python: products, factors, functions.

Arrays are of any strides, of float32, float64, complex64 or complex128, and all of one dtype in a call. Matrices that
are singular or not positive definite raise numpy.linalg.LinAlgError, as in NumPy.

    >>> import numba, numpy as np
    >>> @numba.njit
    ... def leverage(x):
    ...     q, r = qr(x)
    ...     return matmul(q, q.T)[0, 0]
    >>> round(leverage(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])), 6)
    0.833333
"""
from fad.kernels.equations import permutation, solve_sylvester
from fad.kernels.factor import cholesky, cholesky_ex, det, inv, lu_factor, lu_solve, slogdet, solve, triangular_solve
from fad.kernels.factored import cofactors, lu_det, lu_inv, lu_slogdet
from fad.kernels.matfuncs import expm, logm, sqrtm
from fad.kernels.products import matmul
from fad.kernels.spectral import eig, eigh, eigvals, eigvalsh, qr, qr_order, svd, svdvals

__all__ = [
    "cholesky", "cholesky_ex", "cofactors", "det", "eig", "eigh", "eigvals", "eigvalsh", "expm", "inv", "logm",
    "lu_det", "lu_factor", "lu_inv", "lu_slogdet", "lu_solve", "matmul", "permutation", "qr", "qr_order", "slogdet",
    "solve", "solve_sylvester", "sqrtm", "svd", "svdvals", "triangular_solve",
]  # fmt: skip
