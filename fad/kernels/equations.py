"""The Sylvester equation, and the row order of a pivoted factorization, in compiled code and in plain Python.

O(n^3) each. Source: R. Bartels, G. Stewart, "Solution of the matrix equation AX + XB = C" (1972), on complex Schur
forms.
"""
import numpy as np
import scipy.linalg
from numba.core import types
from numba.extending import register_jitable

from fad.kernels.lapack import LETTERS
from fad.kernels.matfuncs import _schur, _store
from fad.kernels.memory import blank, copied, viewed
from fad.kernels.products import matmul
from fad.kernels.promotion import compiled_as, emit_python, quiet

__all__ = ["permutation", "solve_sylvester"]


# --- row order ------------------------------------------------------------------------------------------------------


@register_jitable
def permutation(pivots, m):
    """The order of m rows after LAPACK's row exchanges, one after the other.

    >>> permutation(np.array([2, 2], np.int32), 3).tolist()
    [2, 0, 1]
    """
    swaps = np.ascontiguousarray(pivots).reshape((-1, pivots.shape[-1]))
    out = np.empty((swaps.shape[0], m), np.int64)
    for c in range(swaps.shape[0]):
        for i in range(m):
            out[c, i] = i
        for k in range(swaps.shape[1]):
            p = swaps[c, k]
            out[c, k], out[c, p] = out[c, p], out[c, k]
    return out.reshape(pivots.shape[:-1] + (m,))


# --- the Sylvester equation -----------------------------------------------------------------------------------------


@register_jitable
def _triangular_sylvester(s, t, q):
    """Solve s x + x t = q in place of q, for upper triangular s and t."""
    for j in range(q.shape[1]):
        for i in range(q.shape[0] - 1, -1, -1):
            rest = q[i, j]
            for k in range(i + 1, q.shape[0]):
                rest -= s[i, k] * q[k, j]
            for k in range(j):
                rest -= q[i, k] * t[k, j]
            q[i, j] = rest / (s[i, i] + t[j, j])


def _solve_sylvester(a, b, q):
    """The solution x of a x + x b = q for each of a stack.

    >>> solve_sylvester(np.array([[1.0]]), np.array([[3.0]]), np.array([[8.0]])).tolist()
    [[2.0]]
    """
    left, right, sides = copied(a), copied(b), copied(q)
    out = blank(sides.shape, q.dtype)
    for c in range(sides.shape[0]):
        s, u = _schur(left[c].astype(np.complex128))
        t, v = _schur(right[c].astype(np.complex128))
        x = matmul(matmul(np.conj(u).T, sides[c].astype(np.complex128)), v)
        _triangular_sylvester(s, t, x)
        _store(matmul(matmul(u, x), np.conj(v).T), out[c])
    return viewed(out, q.shape)


def _plain(a, b, q):
    out = np.empty(q.shape, q.dtype)
    for index in np.ndindex(*q.shape[:-2]):
        out[index] = scipy.linalg.solve_sylvester(a[index], b[index], q[index])
    return out


def _rule(*args):
    stacks = len(args) == 3 and all(isinstance(t, types.Array) and t.ndim >= 2 and t.dtype in LETTERS for t in args)
    if not stacks or any(t.dtype != args[0].dtype or t.ndim != args[0].ndim for t in args):
        return None
    return types.Array(args[2].dtype, args[2].ndim, "C"), *args


solve_sylvester = compiled_as(
    quiet(_plain, _solve_sylvester.__doc__, "solve_sylvester"), _rule, emit_python(_solve_sylvester, fast=True)
)
