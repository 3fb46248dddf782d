"""Orthogonal and spectral factors: QR, eigenvalues and eigenvectors, singular values.

Phases are those of NumPy, which gives LAPACK the matrix in its order (columns) and the triangle that is asked for.
"""
import numpy as np
import scipy.linalg
from numba.core import types

from fad.kernels import plain_factors
from fad.kernels.lapack import geev, geqp3, geqrf, gesdd, heevd, heevr, orgqr
from fad.kernels.memory import blank, transposed, viewed
from fad.kernels.promotion import inner, inner_of_types
from fad.kernels.stacks import REAL, Result, complex_dtype, complex_of, matrices, scratch

__all__ = ["eig", "eigh", "eigvals", "eigvalsh", "qr", "qr_order", "svd", "svdvals"]

NO, VECTORS, UPPER, LOWER, SOME, ALL = (ord(c) for c in "NVULSA")
SAME, REAL_VECTOR, COMPLEX, COMPLEX_VECTOR = Result(), Result("real", -1), Result("complex"), Result("complex", -1)


@inner_of_types(lambda a, m, n: types.UniTuple(types.intp, a.ndim))
def _lead(a, m, n):
    """The shape of stacked results (..., m, n), from a stack a."""
    return (lambda a, m, n: (m, n)) if a.ndim == 2 else (lambda a, m, n: a.shape[:-2] + (m, n))


# --- QR -------------------------------------------------------------------------------------------------------------


def _qr(a):
    """The reduced QR factors of each matrix.

    >>> q, r = qr(np.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> (q @ r).round(12).tolist()
    [[3.0, 1.0], [4.0, 2.0]]
    """
    columns = transposed(a)
    n, m = columns.shape[1], columns.shape[2]
    k = min(m, n)
    tau, work = scratch(a, k), scratch(a, 64 * n)
    q, r = blank((columns.shape[0], m, k), a.dtype), np.zeros((columns.shape[0], k, n), a.dtype)
    for c in range(columns.shape[0]):
        geqrf(m, n, columns[c], max(1, m), tau, work, work.size)
        for j in range(n):
            for i in range(min(j + 1, k)):
                r[c, i, j] = columns[c, j, i]
        orgqr(m, k, k, columns[c], max(1, m), tau, work, work.size)
        for i in range(m):
            for j in range(k):
                q[c, i, j] = columns[c, j, i]
    return viewed(q, _lead(a, m, k)), viewed(r, _lead(a, k, n))


qr = matrices(np.linalg.qr, "qr", [SAME, SAME], _qr)


@inner_of_types(lambda *_: types.int32)
def _geqp3(columns, m, n, order, tau, work):
    """LAPACK's geqp3 on one matrix in place."""

    def real(columns, m, n, order, tau, work):
        return geqp3(m, n, columns, max(1, m), order, tau, work, work.size)

    def unitary(columns, m, n, order, tau, work):
        return geqp3(m, n, columns, max(1, m), order, tau, work, work.size, np.zeros(2 * n, columns.real.dtype))

    return unitary if isinstance(columns.dtype, types.Complex) else real


def _qr_order(a):
    """The order of each matrix's columns in its QR factorization with pivoting: the longest remaining one comes next.

    >>> qr_order(np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 2.0]])).tolist()
    [1, 2, 0]
    """
    columns = transposed(a)
    n, m = columns.shape[1], columns.shape[2]
    orders, tau, work = blank((columns.shape[0], n), np.int32), scratch(a, min(m, n)), scratch(a, 64 * (n + 1))
    for c in range(columns.shape[0]):
        orders[c] = 0
        _geqp3(columns[c], m, n, orders[c], tau, work)
        for j in range(n):
            orders[c, j] -= 1
    return viewed(orders, a.shape[:-2] + (n,))


def _plain_order(a):
    return scipy.linalg.qr(a, mode="r", pivoting=True)[1].astype(np.int32)


qr_order = matrices(_plain_order, "qr_order", [Result("int32", -1)], _qr_order)


# --- Hermitian matrices ---------------------------------------------------------------------------------------------


@inner_of_types(lambda *_: types.int32)
def _heevd(job, triangle, m, w):
    """LAPACK's syevd or heevd on one matrix in place."""

    def real(job, triangle, m, w):
        n = m.shape[0]
        work, integers = scratch(m, 1 + 6 * n + 2 * n * n), blank((3 + 5 * n,), np.int32)
        return heevd(job, triangle, n, m, max(1, n), w, work, work.size, integers, integers.size)

    def hermitian(job, triangle, m, w):
        n = m.shape[0]
        work, integers = scratch(m, 2 * n + n * n), blank((3 + 5 * n,), np.int32)
        reals = scratch(w, 1 + 5 * n + 2 * n * n)
        return heevd(job, triangle, n, m, max(1, n), w, work, work.size, reals, reals.size, integers, integers.size)

    return hermitian if isinstance(m.dtype, types.Complex) else real


@inner(lambda job, triangle, stack: types.Array(REAL.get(stack.dtype, stack.dtype), 2, "C"))
def _eigh_in_place(job, triangle, stack):
    """Eigenvalues of each matrix in LAPACK's order from one triangle; its vectors stay in `stack`, as rows."""
    w = blank((stack.shape[0], stack.shape[1]), stack.real.dtype)
    for c in range(stack.shape[0]):
        if _heevd(job, triangle, stack[c], w[c]) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w


@inner_of_types(lambda *_: types.int32)
def _heevr(triangle, m, w, v):
    """LAPACK's syevr or heevr on one matrix: w (n,) and the vectors as rows of v."""

    def real(triangle, m, w, v):
        n = m.shape[0]
        work, integers, places = scratch(m, 70 * n), blank((10 * n,), np.int32), blank((2 * n + 1,), np.int32)
        return heevr(VECTORS, ALL, triangle, n, m, max(1, n), 0.0, 0.0, 1, n, 0.0, places[2 * n:], w, v, max(1, n),
                     places, work, work.size, integers, integers.size)

    def hermitian(triangle, m, w, v):
        n = m.shape[0]
        work, integers, places = scratch(m, 65 * n), blank((10 * n,), np.int32), blank((2 * n + 1,), np.int32)
        reals = scratch(w, 24 * n)
        return heevr(VECTORS, ALL, triangle, n, m, max(1, n), 0.0, 0.0, 1, n, 0.0, places[2 * n:], w, v, max(1, n),
                     places, work, work.size, reals, reals.size, integers, integers.size)

    return hermitian if isinstance(m.dtype, types.Complex) else real


@inner(lambda triangle, stack, v: types.Array(REAL.get(stack.dtype, stack.dtype), 2, "C"))
def _eigh_by_mrrr(triangle, stack, v):
    """Eigenvalues of each matrix in LAPACK's order from one triangle; its vectors become the rows of v."""
    w = blank((stack.shape[0], stack.shape[1]), stack.real.dtype)
    for c in range(stack.shape[0]):
        if _heevr(triangle, stack[c], w[c], v[c]) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w


def _eigh(a, upper, mrrr):
    """Eigenvalues, ascending, and eigenvectors of each Hermitian matrix, from its upper or lower triangle; by multiple
    relatively robust representations if mrrr, else by divide and conquer.

    >>> w, v = eigh(np.array([[2.0, 0.0], [1.0, 2.0]]), False, False)
    >>> w.round(12).tolist()
    [1.0, 3.0]
    """
    columns, triangle = transposed(a), UPPER if upper else LOWER
    if mrrr:
        v = blank(columns.shape, columns.dtype)
        w = _eigh_by_mrrr(triangle, columns, v)
    else:
        v = columns
        w = _eigh_in_place(VECTORS, triangle, v)
    return viewed(w, a.shape[:-1]), viewed(transposed(v), a.shape)


def _eigvalsh(a):
    """Eigenvalues of each Hermitian matrix, ascending, from its lower triangle.

    >>> eigvalsh(np.array([[2.0, 0.0], [1.0, 2.0]])).round(12).tolist()
    [1.0, 3.0]
    """
    return viewed(_eigh_in_place(NO, LOWER, transposed(a)), a.shape[:-1])


eigh = matrices(plain_factors.eigh, "eigh", [REAL_VECTOR, SAME], _eigh)
eigvalsh = matrices(np.linalg.eigvalsh, "eigvalsh", [REAL_VECTOR], _eigvalsh)


# --- general matrices: complex results always -----------------------------------------------------------------------


@inner_of_types(lambda *_: types.int32)
def _geev(job, m, w, v):
    """LAPACK's geev on one matrix in LAPACK's order: w (n,) and the vectors as rows of v."""

    def real(job, m, w, v):
        n = m.shape[0]
        re, im, vectors, work = scratch(m, n), scratch(m, n), blank((n, n), m.dtype), scratch(m, 66 * n)
        info = geev(NO, job, n, m, max(1, n), re, im, m, max(1, n), vectors, max(1, n), work, work.size)
        for j in range(n):
            w[j] = complex(re[j], im[j])
            # a conjugate pair has its real and imaginary parts in two rows
            first, sign = (j, 1) if im[j] > 0 else (j - 1, -1)
            for i in range(n):
                v[j, i] = vectors[j, i] if im[j] == 0 else complex(vectors[first, i], sign * vectors[first + 1, i])
        return info

    def general(job, m, w, v):
        n = m.shape[0]
        work, reals = scratch(m, 66 * n), scratch(m.real, 2 * n)
        return geev(NO, job, n, m, max(1, n), w, m, max(1, n), v, max(1, n), work, work.size, reals)

    return general if isinstance(m.dtype, types.Complex) else real


@inner(lambda job, stack: types.Tuple([types.Array(complex_of(stack.dtype), rank, "C") for rank in (2, 3)]))
def _eig_in_place(job, stack):
    """Eigenvalues, and if job says so eigenvectors as rows, of each matrix in LAPACK's order."""
    w = blank((stack.shape[0], stack.shape[1]), complex_dtype(stack))
    v = blank(stack.shape, complex_dtype(stack))
    for c in range(stack.shape[0]):
        if _geev(job, stack[c], w[c], v[c]) != 0:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
    return w, v


def _eig(a):
    """Eigenvalues and eigenvectors of each matrix, complex.

    >>> w, v = eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    >>> np.sort(w.imag).round(12).tolist()
    [-1.0, 1.0]
    """
    w, v = _eig_in_place(VECTORS, transposed(a))
    return viewed(w, a.shape[:-1]), viewed(transposed(v), a.shape)


def _eigvals(a):
    """Eigenvalues of each matrix, complex.

    >>> np.sort(eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]])).imag).round(12).tolist()
    [-1.0, 1.0]
    """
    return viewed(_eig_in_place(NO, transposed(a))[0], a.shape[:-1])


def _plain_eig(a):
    w, v = np.linalg.eig(a)
    return w + 0j, v + 0j


eig = matrices(_plain_eig, "eig", [COMPLEX_VECTOR, COMPLEX], _eig)
eigvals = matrices(lambda a: np.linalg.eigvals(a) + 0j, "eigvals", [COMPLEX_VECTOR], _eigvals)


# --- singular values ------------------------------------------------------------------------------------------------


@inner_of_types(lambda *_: types.int32)
def _gesdd(job, m, s, u, v):
    """LAPACK's gesdd on one matrix in its order: u and vh come out in it too, as the rows of u and v."""

    def real(job, m, s, u, v):
        (n, rows), k = m.shape, s.size
        work, integers = scratch(m, 1), blank((8 * max(1, k),), np.int32)
        # asks for the size of work
        gesdd(job, rows, n, m, max(1, rows), s, u, max(1, rows), v, max(1, k), work, -1, integers)
        work = scratch(m, int(work[0]))
        return gesdd(job, rows, n, m, max(1, rows), s, u, max(1, rows), v, max(1, k), work, work.size, integers)

    def general(job, m, s, u, v):
        (n, rows), k = m.shape, s.size
        work, integers = scratch(m, 1), blank((8 * max(1, k),), np.int32)
        reals = scratch(s, k * max(5 * k + 7, 2 * max(rows, n) + 2 * k + 1))
        gesdd(job, rows, n, m, max(1, rows), s, u, max(1, rows), v, max(1, k), work, -1, reals, integers)
        work = scratch(m, int(work[0].real))
        return gesdd(job, rows, n, m, max(1, rows), s, u, max(1, rows), v, max(1, k), work, work.size, reals, integers)

    return general if isinstance(m.dtype, types.Complex) else real


@inner(lambda job, columns: types.Tuple([columns, types.Array(REAL.get(columns.dtype, columns.dtype), 2, "C"),
                                         columns]))
def _svd_in_place(job, columns):
    """The reduced factors u, s, vh of each matrix in LAPACK's order, and in that order; only s if job says so."""
    count, n, m = columns.shape
    k = min(m, n)
    u, s = blank((count, k, m), columns.dtype), blank((count, k), columns.real.dtype)
    v = blank((count, n, k), columns.dtype)
    for c in range(count):
        if _gesdd(job, columns[c], s[c], u[c], v[c]) != 0:
            raise np.linalg.LinAlgError("SVD did not converge")
    return u, s, v


def _svd(a):
    """The reduced singular value factors u, s, vh of each matrix.

    >>> u, s, vh = svd(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> s.tolist(), u.shape
    ([2.0, 1.0], (3, 2))
    """
    u, s, v = _svd_in_place(SOME, transposed(a))
    m, n, k = a.shape[-2], a.shape[-1], s.shape[1]
    return (viewed(transposed(u), _lead(a, m, k)), viewed(s, _lead(a, m, k)[:-2] + (k,)),
            viewed(transposed(v), _lead(a, k, n)))


def _svdvals(a):
    """The singular values of each matrix, descending.

    >>> svdvals(np.array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    s = _svd_in_place(NO, transposed(a))[1]
    return viewed(s, _lead(a, 0, 0)[:-2] + (s.shape[1],))


def _plain_svd(a):
    return tuple(np.linalg.svd(a, full_matrices=False))


svd = matrices(_plain_svd, "svd", [SAME, REAL_VECTOR, SAME], _svd)
svdvals = matrices(lambda a: np.linalg.svd(a, compute_uv=False), "svdvals", [REAL_VECTOR], _svdvals)
