"""Functions of square matrices: exponential, square root, logarithm; computed in double precision.

Sources: N. Higham, "The scaling and squaring method for the matrix exponential revisited" (2005); A. Bjorck, S.
Hammarling, "A Schur method for the square root of a matrix" (1983); N. Higham, "Functions of Matrices" (2008), chapter
11.
"""
import numpy as np
import scipy.linalg
from numba.core import types

from fad.kernels.factor import solve
from fad.kernels.lapack import gees
from fad.kernels.memory import blank, copied, transposed, viewed
from fad.kernels.products import matmul
from fad.kernels.promotion import inner, inner_of_types
from fad.kernels.stacks import Result, matrices

__all__ = ["expm", "logm", "sqrtm"]

VECTORS, NO = ord("V"), ord("N")
#: Coefficients of the [13/13] Pade approximant of exp, and the norm up to which it is exact to rounding (Higham 2005).
PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
REACH = 5.371920351148152
# : Gauss-Legendre nodes and weights on (0, 1): the Pade approximant of log(1 + x) in partial fractions (Higham 2008,
# 11.18)
NODES, WEIGHTS = (tuple(((f + shift) / 2).tolist()) for f, shift in zip(np.polynomial.legendre.leggauss(8), (1.0, 0.0)))


def _double(dtype):
    return types.complex128 if isinstance(dtype, types.Complex) else types.float64


@inner_of_types(lambda a: types.Array(_double(a.dtype), 3, "C"))
def _wide(a):
    """A stack as (count, n, n) in double precision."""
    if a.dtype in (types.float64, types.complex128):
        return lambda a: copied(a)
    dtype = np.complex128 if isinstance(a.dtype, types.Complex) else np.float64
    return lambda a: copied(a).astype(dtype)


@inner(lambda m: types.float64)
def _norm(m):
    """The largest sum of absolute values of a column."""
    largest = 0.0
    for j in range(m.shape[1]):
        total = 0.0
        for i in range(m.shape[0]):
            total += abs(m[i, j])
        largest = max(largest, total)
    return largest


@inner(lambda *args: args[-1])
def _combined(c0, c2, c4, c6, m2, m4, m6):
    """c0 + c2 m2 + c4 m4 + c6 m6."""
    out = blank(m2.shape, m2.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = c2 * m2[i, j] + c4 * m4[i, j] + c6 * m6[i, j]
        out[i, i] += c0
    return out


@inner(lambda x, y, sign: x)
def _sum(x, y, sign):
    """x + sign y."""
    out = blank(x.shape, x.dtype)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j] + sign * y[i, j]
    return out


@inner(lambda m: m)
def _pade_exp(m):
    """The exponential of a matrix of norm up to REACH."""
    b = PADE
    m2 = matmul(m, m)
    m4 = matmul(m2, m2)
    m6 = matmul(m4, m2)
    high = matmul(m6, _combined(0.0, b[9], b[11], b[13], m2, m4, m6))
    odd = matmul(m, _sum(high, _combined(b[1], b[3], b[5], b[7], m2, m4, m6), 1))
    high = matmul(m6, _combined(0.0, b[8], b[10], b[12], m2, m4, m6))
    even = _sum(high, _combined(b[0], b[2], b[4], b[6], m2, m4, m6), 1)
    return solve(_sum(even, odd, -1), _sum(even, odd, 1))


@inner(lambda m: types.intp)
def _halvings(m):
    """The number of halvings of a matrix for its exponential."""
    norm = _norm(m)
    return int(np.ceil(np.log2(min(norm, 1e300) / REACH))) if norm > REACH else 0


@inner_of_types(lambda *_: types.none)
def _store(x, out):
    """out = x in the dtype of out. A real matrix has a real result, or none."""
    if isinstance(out.dtype, types.Complex) or isinstance(x.dtype, types.Float):

        def store(x, out):
            for i in range(out.shape[0]):
                for j in range(out.shape[1]):
                    out[i, j] = x[i, j]

        return store

    def store_real(x, out):
        allowed = 1e-8 * _norm(x)
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                if abs(x[i, j].imag) > allowed:
                    raise np.linalg.LinAlgError("the result is not real; convert the matrix to complex first")
                out[i, j] = x[i, j].real

    return store_real


def _expm(a):
    """The exponential of each matrix.

    >>> expm(np.array([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    stack = _wide(a)
    out = blank(stack.shape, a.dtype)
    for c in range(stack.shape[0]):
        m = stack[c]
        halvings = _halvings(m)
        for i in range(m.shape[0]):
            for j in range(m.shape[1]):
                m[i, j] *= 0.5**halvings
        x = _pade_exp(m)
        for _ in range(halvings):
            x = matmul(x, x)
        _store(x, out[c])
    return viewed(out, a.shape)


# --- by the Schur form m = z t z^H, t upper triangular --------------------------------------------------------------


@inner(lambda m: types.UniTuple(m, 2))
def _schur(m):
    """t and z of a complex matrix."""
    n = m.shape[0]
    t, z, w = transposed(m)[0], blank((n, n), m.dtype), blank((n,), m.dtype)
    work, reals = blank((66 * n + 1,), m.dtype), blank((n + 1,), np.float64)
    if gees(VECTORS, NO, None, n, t, max(1, n), 0, w, z, max(1, n), work, work.size, reals, None) != 0:
        raise np.linalg.LinAlgError("Schur form did not converge")
    return transposed(t)[0], transposed(z)[0]


@inner(lambda t, z: t)
def _unschur(t, z):
    return matmul(matmul(z, t), np.conj(z).T)


@inner(lambda t: t)
def _triangular_root(t):
    """The square root of an upper triangular matrix, column by column."""
    r = np.zeros(t.shape, t.dtype)
    for j in range(t.shape[0]):
        r[j, j] = np.sqrt(t[j, j])
        for i in range(j - 1, -1, -1):
            rest = t[i, j]
            for k in range(i + 1, j):
                rest -= r[i, k] * r[k, j]
            r[i, j] = rest / (r[i, i] + r[j, j]) if rest != 0 else 0
    return r


def _sqrtm(a):
    """The principal square root of each matrix.

    >>> sqrtm(np.array([[4.0, 0.0], [0.0, 9.0]])).round(12).tolist()
    [[2.0, 0.0], [0.0, 3.0]]
    """
    stack = copied(a)
    out = blank(stack.shape, a.dtype)
    for c in range(stack.shape[0]):
        t, z = _schur(stack[c].astype(np.complex128))
        _store(_unschur(_triangular_root(t), z), out[c])
    return viewed(out, a.shape)


@inner(lambda t: t)
def _minus_identity(t):
    out = t.copy()
    for i in range(t.shape[0]):
        out[i, i] -= 1
    return out


@inner(lambda t: t)
def _triangular_log(t):
    """The logarithm of an upper triangular matrix: square roots until it is near 1, then a Pade approximant."""
    roots, r = 0, t
    while _norm(_minus_identity(r)) > 0.25 and roots < 100:
        r = _triangular_root(r)
        roots += 1
    x, out = _minus_identity(r), np.zeros(t.shape, t.dtype)
    for node, weight in zip(NODES, WEIGHTS):
        shifted = node * x
        for i in range(t.shape[0]):
            shifted[i, i] += 1
        out += weight * 2.0**roots * solve(shifted, x)
    for i in range(t.shape[0]):
        out[i, i] = np.log(t[i, i])  # which the roots have blurred
    return out


def _logm(a):
    """The principal logarithm of each matrix.

    >>> logm(np.array([[1.0, 1.0], [0.0, 1.0]])).round(12).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    stack = copied(a)
    out = blank(stack.shape, a.dtype)
    for c in range(stack.shape[0]):
        t, z = _schur(stack[c].astype(np.complex128))
        _store(_unschur(_triangular_log(t), z), out[c])
    return viewed(out, a.shape)


def _plain(function):
    """SciPy's function on stacks, with the dtype of the argument."""

    def on_stacks(a):
        out = np.empty(a.shape, a.dtype)
        for index in np.ndindex(a.shape[:-2]):
            result = function(a[index])
            if np.iscomplexobj(result) and not np.iscomplexobj(a):
                if np.abs(result.imag).max() > 1e-8 * np.abs(result).max():
                    raise np.linalg.LinAlgError("the result is not real; convert the matrix to complex first")
                result = result.real
            out[index] = result
        return out

    return on_stacks


SAME = [Result()]
expm = matrices(_plain(scipy.linalg.expm), "expm", SAME, _expm)
sqrtm = matrices(_plain(scipy.linalg.sqrtm), "sqrtm", SAME, _sqrtm)
logm = matrices(_plain(scipy.linalg.logm), "logm", SAME, _logm)
