"""Products of matrices and vectors: the linear-algebra part of the set, in whole-array and in row-by-row style."""
import numpy as np

from .registry import kernel, normal


def matrices(*shapes, numbers=0):
    """A maker: some scalars, then arrays of these shapes ('n' times a factor each)."""
    def make(rng, n):
        return (*(1.5 - 0.3 * k for k in range(numbers)), *(normal(rng, *(int(f * n) for f in s)) for s in shapes))
    return make


@kernel(matrices((1, 1.2), (1.2,)), large=700)
def atax(A, x):
    return (A @ x) @ A


@kernel(matrices((1, 1.2), (1.2,), (1,)), large=700)
def bicg(A, p, r):
    return r @ A, A @ p


@kernel(matrices((1, 1), (1, 1.2), (1.2, 1), numbers=2), large=150)
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


@kernel(matrices((1, 1), (1,), (1,), (1,), (1,), (1,), (1,), (1,), (1,), numbers=2), large=500)
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


@kernel(matrices((1, 1), (1, 1), (1,), numbers=2), large=500)
def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


@kernel(matrices((1, 1.2), (1.2, 1), (1, 1), (1, 1), numbers=2), large=130)
def k2mm(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


@kernel(matrices((1, 1.2), (1.2, 1), (1, 1.2), (1.2, 1)), large=130)
def k3mm(A, B, C, D):
    return A @ B @ C @ D


@kernel(matrices((1,), (1,), (1,), (1,), (1, 1)), large=600)
def mvt(x1, x2, y1, y2, A):
    x1 += A @ y1
    x2 += y2 @ A


@kernel(matrices((1, 1.2), (1, 1), (1, 1.2), numbers=2), large=60)
def symm(alpha, beta, C, A, B):
    temporary = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temporary[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temporary


@kernel(matrices((1, 1), (1, 1.2), numbers=2), large=100)
def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, :i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, :i + 1] += alpha * A[i, k] * A[:i + 1, k]


@kernel(matrices((1, 1), (1, 1.2), (1, 1.2), numbers=2), large=80)
def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, :i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, :i + 1] += A[:i + 1, k] * alpha * B[i, k] + B[:i + 1, k] * alpha * A[i, k]


@kernel(matrices((1, 1), (1, 1.2), numbers=1), large=100)
def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1:, i], B[i + 1:, j])
    B *= alpha


@kernel(lambda r, n: (n, n + 1, n + 2, normal(r, n, n + 1, n + 2), normal(r, n + 2, n + 2)), large=40)
def doitgen(nr, nq, npoints, A, C4):
    for r in range(nr):
        for q in range(nq):
            A[r, q, :] = A[r, q, :] @ C4


@kernel(lambda r, n: (*_sparse(r, n), normal(r, n)), small=7, large=1000)
def spmv(indptr, columns, values, x):
    y = np.empty(indptr.size - 1, values.dtype)
    for i in range(indptr.size - 1):
        cols = columns[indptr[i]:indptr[i + 1]]
        vals = values[indptr[i]:indptr[i + 1]]
        y[i] = vals @ x[cols]
    return y


@kernel(lambda r, n: (*_sparse(r, n), normal(r, n)), small=7, large=30000)
def spmv_by_entry(indptr, columns, values, x):
    y = np.zeros(len(indptr) - 1)
    for i in range(len(y)):
        for p in range(indptr[i], indptr[i + 1]):
            y[i] += values[p] * x[columns[p]]
    return y


def _sparse(rng, n):
    """Row pointers, columns and values of a matrix of n rows with 0 to 8 entries each."""
    counts = rng.integers(0, 9, n)
    return np.concatenate([[0], np.cumsum(counts)]), rng.integers(0, n, counts.sum()), normal(rng, counts.sum())
