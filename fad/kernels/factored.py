"""Inverse, determinant and cofactors of matrices whose LU factors are at hand (lu, pivots = lu_factor(a))."""
import numpy as np
from numba.core import types

from fad.kernels.elimination import SMALL, has_zero_pivot, identities, solve_all
from fad.kernels.factor import REAL_SCALAR, SAME, SCALAR, det, inv, pivots_det, pivots_slogdet, slogdet
from fad.kernels.lapack import getri
from fad.kernels.memory import blank, contiguous, flattened, transposed, viewed
from fad.kernels.promotion import inner
from fad.kernels.spectral import svd
from fad.kernels.stacks import matrices, scratch

__all__ = ["cofactors", "lu_det", "lu_inv", "lu_slogdet"]


@inner(lambda stack, pivots: types.Array(pivots.dtype, 2, "C"))
def _swaps_of(stack, pivots):
    """The pivots (..., n) as (count, n)."""
    return viewed(contiguous(pivots), (stack.shape[0], stack.shape[1]))


def _single_det(lu, pivots):
    return pivots_det(lu, pivots, 0)


def _lu_det(lu, pivots):
    """The determinant of each matrix."""
    stack = flattened(lu)
    swaps, out = _swaps_of(stack, pivots), blank((stack.shape[0],), lu.dtype)
    for c in range(out.size):
        out[c] = pivots_det(stack[c], swaps[c], 0)
    return viewed(out, lu.shape[:-2])


def _single_slogdet(lu, pivots):
    return pivots_slogdet(lu, pivots, 0)


def _lu_slogdet(lu, pivots):
    """Sign and logarithm of the absolute value of the determinant of each matrix."""
    stack = flattened(lu)
    swaps = _swaps_of(stack, pivots)
    signs, logs = blank((stack.shape[0],), lu.dtype), blank((stack.shape[0],), lu.real.dtype)
    for c in range(signs.size):
        signs[c], logs[c] = pivots_slogdet(stack[c], swaps[c], 0)
    return viewed(signs, lu.shape[:-2]), viewed(logs, lu.shape[:-2])


def _lu_inv(lu, pivots):
    """The inverse of each matrix."""
    if lu.shape[-1] <= SMALL:
        stack = flattened(lu)
        if has_zero_pivot(stack):
            raise np.linalg.LinAlgError("Singular matrix")
        return viewed(solve_all(stack, _swaps_of(stack, pivots), identities(stack), 0), lu.shape)
    columns = transposed(lu)
    given, n = _swaps_of(columns, pivots), columns.shape[1]
    work, swaps = scratch(lu, 64 * n), blank((n,), np.int32)
    if has_zero_pivot(columns):
        raise np.linalg.LinAlgError("Singular matrix")
    for c in range(columns.shape[0]):
        for i in range(n):
            swaps[i] = given[c, i] + 1
        getri(n, columns[c], max(1, n), swaps, work, work.size)
    return viewed(transposed(columns), lu.shape)


@inner(lambda *_: types.none)
def _singular_cofactors(m, out):
    """From the singular value decomposition: det(u) det(v^H) u diag(products of the other singular values) v^H,
    conjugated.
    """
    u, s, vh = svd(m)
    turn = np.conj(det(u) * det(vh))
    for j in range(s.size):
        others = turn
        for k in range(s.size):
            if k != j:
                others = others * s[k]
        for i in range(s.size):
            u[i, j] = u[i, j] * others
    for i in range(s.size):  # seldom run: a product of a few lines compiles faster than matmul
        for j in range(s.size):
            out[i, j] = 0
            for k in range(s.size):
                out[i, j] += np.conj(u[i, k] * vh[k, j])


def _cofactors(a, lu, pivots):
    """The derivative of each matrix's determinant: det(a) a^-T, and what that tends to where a is singular."""
    stack, factors = flattened(a), flattened(lu)
    swaps, out = _swaps_of(factors, pivots), blank(factors.shape, a.dtype)
    for c in range(out.shape[0]):
        size = pivots_det(factors[c], swaps[c], 0)
        if size == 0:
            _singular_cofactors(stack[c], out[c])
        else:
            inverse = lu_inv(factors[c], swaps[c])
            for i in range(out.shape[1]):
                for j in range(out.shape[2]):
                    out[c, i, j] = size * inverse[j, i]
    return viewed(out, a.shape)


def _whole(lu, pivots):
    """The matrices that have these factors."""
    out = np.tril(lu, -1) + np.eye(lu.shape[-1], dtype=lu.dtype)
    out = out @ np.triu(lu)
    for index in np.ndindex(lu.shape[:-2]):
        for k in range(lu.shape[-1])[::-1]:
            out[index][[k, pivots[index][k]]] = out[index][[pivots[index][k], k]]
    return out


def _plain_cofactors(a, lu, pivots):
    u, s, vh = np.linalg.svd(a)
    others = np.stack([np.prod(np.delete(s, k, axis=-1), axis=-1) for k in range(s.shape[-1])], axis=-1)
    turn = np.conj(np.linalg.det(u) * np.linalg.det(vh))
    return np.conj(u * (others * turn[..., None])[..., None, :] @ vh)


lu_inv = matrices(lambda lu, pivots: inv(_whole(lu, pivots)), "lu_inv", [SAME], _lu_inv)
lu_det = matrices(lambda lu, pivots: det(_whole(lu, pivots)), "lu_det", [SCALAR], _lu_det, _single_det)
lu_slogdet = matrices(
    lambda lu, pivots: slogdet(_whole(lu, pivots)), "lu_slogdet", [SCALAR, REAL_SCALAR], _lu_slogdet, _single_slogdet
)
cofactors = matrices(_plain_cofactors, "cofactors", [SAME], _cofactors)
