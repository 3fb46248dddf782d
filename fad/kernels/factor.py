"""Linear systems in O(n^3): LU and Cholesky factors, solve, inverse, determinant, triangular systems.

NumPy's arrays are in C order and LAPACK reads columns, so LAPACK sees the transpose of each matrix. Most routines are
called so that this needs no copy: a determinant is that of the transpose, an inverse the transpose of its inverse.
"""
import numpy as np
import scipy.linalg
from numba.core import types

from fad.kernels import plain_factors
from fad.kernels.elimination import (
    SMALL,
    cholesky_by_loops,
    eliminate,
    eliminate_all,
    has_zero_pivot,
    identities,
    solve_all,
    substitute,
)
from fad.kernels.lapack import getrf, getri, getrs, potrf, trsm
from fad.kernels.memory import blank, contiguous, copied, flattened, transposed, viewed
from fad.kernels.promotion import inner
from fad.kernels.stacks import REAL, Result, matrices, right_sides, scratch, shaped, systems

__all__ = ["cholesky", "cholesky_ex", "det", "inv", "lu_factor", "lu_solve", "slogdet", "solve", "triangular_solve"]

NO, TRANSPOSED, ADJOINT, UPPER, LOWER, LEFT, RIGHT, UNIT = (ord(c) for c in "NTCULLRU")
SAME, SCALAR, REAL_SCALAR = Result(), Result(rank=-2), Result("real", -2)


@inner(lambda m: types.int32)
def _cholesky_in_place(m):
    """The lower Cholesky factor in place of one matrix, from its lower triangle; LAPACK's info, 0 if there is one."""
    n = m.shape[0]
    info = cholesky_by_loops(m) if n <= SMALL else potrf(UPPER, n, m, max(1, n))
    for i in range(n):
        for j in range(i + 1, n):
            m[i, j] = 0
    return info


def _cholesky(a):
    """The lower Cholesky factor of each matrix, from its lower triangle.

    >>> cholesky(np.array([[4.0, 0.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    stack = copied(a)
    for c in range(stack.shape[0]):
        if _cholesky_in_place(stack[c]) != 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
    return viewed(stack, a.shape)


@inner(lambda m: types.int32)
def _one_cholesky_ex(m):
    """The same in place of one matrix, nan where there is none."""
    info = _cholesky_in_place(m)
    if info != 0:
        for i in range(m.shape[0]):
            for j in range(m.shape[0]):
                m[i, j] = np.nan
    return info


def _single_cholesky_ex(a):
    stack = copied(a)
    return viewed(stack, a.shape), _one_cholesky_ex(stack[0])


def _cholesky_ex(a):
    """As cholesky. It never raises: for a matrix that is not positive definite the factor is nan, and the second result
    the order of the first leading minor that is not positive.

    >>> cholesky_ex(np.array([[[4.0]], [[-1.0]]]))[1].tolist()
    [0, 1]
    """
    stack = copied(a)
    info = blank((stack.shape[0],), np.int32)
    for c in range(stack.shape[0]):
        info[c] = _one_cholesky_ex(stack[c])
    return viewed(stack, a.shape), viewed(info, a.shape[:-2])


cholesky = matrices(np.linalg.cholesky, "cholesky", [SAME], _cholesky)
cholesky_ex = matrices(
    plain_factors.cholesky_ex, "cholesky_ex", [SAME, Result("int32", -2)], _cholesky_ex, _single_cholesky_ex
)


# --- LU -------------------------------------------------------------------------------------------------------------


@inner(lambda m, swaps: types.int32)
def _eliminate(m, swaps):
    """LU in place of one square or tall matrix in LAPACK's order, row swaps beside; the first zero pivot (from 1), or
    0.
    """
    return getrf(m.shape[1], m.shape[0], m, max(1, m.shape[1]), swaps)


@inner(lambda stack: types.Array(types.int32, 2, "C"), inline=True)
def _no_swaps(stack):
    return blank((stack.shape[0], stack.shape[1]), np.int32)


def _lu_factor(a):
    """LU with pivots of each square or tall matrix, as in scipy.linalg.lu_factor: L and U in one, row swaps counted
    from 0.

    >>> lu, pivots = lu_factor(np.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> lu.tolist(), pivots.tolist()
    ([[1.0, 3.0], [0.0, 2.0]], [1, 1])
    """
    if a.shape[-2] <= SMALL:
        stack = copied(a)
        swaps = blank((stack.shape[0], stack.shape[2]), np.int32)
        for c in range(stack.shape[0]):
            eliminate(stack[c], swaps[c])
    else:
        columns = transposed(a)
        swaps = _no_swaps(columns)
        for c in range(columns.shape[0]):
            _eliminate(columns[c], swaps[c])
            for i in range(swaps.shape[1]):
                swaps[c, i] -= 1
        stack = transposed(columns)
    return viewed(stack, a.shape), viewed(swaps, a.shape[:-2] + (a.shape[-1],))


lu_factor = matrices(plain_factors.lu_factor, "lu_factor", [SAME, Result("int32", -1)], _lu_factor)


@inner(lambda sides, row, other: types.none, inline=True)
def _exchange(sides, row, other):
    if row != other:
        for k in range(sides.shape[0]):
            sides[k, row], sides[k, other] = sides[k, other], sides[k, row]


@inner(lambda flag, m, swaps, sides: types.none)
def _substitute(flag, m, swaps, sides):
    """Solve systems of one matrix in place of their right-hand sides, one a row; m: its LU factors, as LAPACK sees
    them; swaps: the row swaps, counted from 1.

    OpenBLAS starts threads in LAPACK's getrs for several of them, be m of two rows, and in BLAS' trsm for one. On a
    busy machine a call takes 8 ms then.
    """
    k, n = sides.shape
    ld = max(1, n)
    if k == 1:
        getrs(flag, n, k, m, ld, swaps, sides, ld)
    elif flag == NO:
        for i in range(n):
            _exchange(sides, i, swaps[i] - 1)
        trsm(LEFT, LOWER, NO, UNIT, n, k, 1.0, m, ld, sides, ld)
        trsm(LEFT, UPPER, NO, NO, n, k, 1.0, m, ld, sides, ld)
    else:
        trsm(LEFT, UPPER, flag, NO, n, k, 1.0, m, ld, sides, ld)
        trsm(LEFT, LOWER, flag, UNIT, n, k, 1.0, m, ld, sides, ld)
        for i in range(n - 1, -1, -1):
            _exchange(sides, i, swaps[i] - 1)


def _lu_solve(lu, pivots, b, transpose):
    """Solve a x = b (transpose 0), a^T x = b (1) or a^H x = b (2), where lu, pivots = lu_factor(a).

    >>> a = np.array([[0.0, 2.0], [1.0, 3.0]])
    >>> lu_solve(*lu_factor(a), a @ np.array([1.0, 2.0]), 0).tolist()
    [1.0, 2.0]
    """
    if lu.shape[-1] <= SMALL:
        stack = flattened(lu)
        if has_zero_pivot(stack):
            raise np.linalg.LinAlgError("Singular matrix")
        given = viewed(contiguous(pivots), (stack.shape[0], stack.shape[1]))
        return shaped(solve_all(stack, given, right_sides(lu, b), transpose), lu, b)
    x, columns = transposed(right_sides(lu, b)), transposed(lu)
    swaps = _no_swaps(columns)
    given = viewed(contiguous(pivots), swaps.shape)
    if has_zero_pivot(columns):
        raise np.linalg.LinAlgError("Singular matrix")
    for m in range(swaps.shape[0]):
        for i in range(swaps.shape[1]):
            swaps[m, i] = given[m, i] + 1
    flag = NO if transpose == 0 else TRANSPOSED if transpose == 1 else ADJOINT
    for c in range(x.shape[0]):
        m = c if columns.shape[0] > 1 else 0
        _substitute(flag, columns[m], swaps[m], x[c])
    return shaped(transposed(x), lu, b)


def _plain_lu_solve(lu, pivots, b, transpose):
    """The same on stacks, by NumPy and SciPy."""
    lead = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    b = b if b.ndim > 1 else np.broadcast_to(b[:, None], (*lead, b.size, 1))
    lu, pivots = np.broadcast_to(lu, lead + lu.shape[-2:]), np.broadcast_to(pivots, lead + pivots.shape[-1:])
    out = np.empty(b.shape, lu.dtype)
    for index in np.ndindex(lead):
        out[index] = plain_factors.lu_solve(lu[index], pivots[index], b[index], transpose)
    return out


def _keeping_vectors(solver, at):
    """A solver of stacks (..., n, k) that also takes b of shape (n,)."""

    def solve(*args):
        vector = args[at].ndim == 1
        x = solver(*args)
        return x[..., 0] if vector and x.ndim == max(2, args[0].ndim) else x

    return solve


lu_solve = systems(_keeping_vectors(_plain_lu_solve, 2), "lu_solve", _lu_solve, at=2)


def _solve(a, b):
    """Solve a x = b for each matrix; b is (n,), or (n, k) for each.

    >>> solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [0.5, 0.25]
    """
    stack = copied(a)
    swaps = _no_swaps(stack)
    if a.shape[-1] <= SMALL:
        if not eliminate_all(stack, swaps):
            raise np.linalg.LinAlgError("Singular matrix")
        return shaped(solve_all(stack, swaps, right_sides(a, b), 0), a, b)
    x = transposed(right_sides(a, b))
    for m in range(stack.shape[0]):
        if _eliminate(stack[m], swaps[m]) > 0:
            raise np.linalg.LinAlgError("Singular matrix")
    for c in range(x.shape[0]):
        m = c if stack.shape[0] > 1 else 0
        _substitute(TRANSPOSED, stack[m], swaps[m], x[c])
    return shaped(transposed(x), a, b)


solve = systems(np.linalg.solve, "solve", _solve)


# --- inverse and determinant ----------------------------------------------------------------------------------------


def _inv(a):
    """The inverse of each matrix.

    >>> inv(np.array([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    stack = copied(a)
    n, swaps = stack.shape[1], _no_swaps(stack)
    if n <= SMALL:
        if not eliminate_all(stack, swaps):
            raise np.linalg.LinAlgError("Singular matrix")
        return viewed(solve_all(stack, swaps, identities(stack), 0), a.shape)
    work = scratch(a, 64 * n)
    for c in range(stack.shape[0]):
        if _eliminate(stack[c], swaps[c]) > 0:
            raise np.linalg.LinAlgError("Singular matrix")
        getri(n, stack[c], max(1, n), swaps[c], work, work.size)
    return viewed(stack, a.shape)


@inner(lambda m, swaps, first: m.dtype)
def pivots_det(m, swaps, first):
    """The determinant of one matrix whose LU factors are m: the product of the pivots, negated for each row swap.
    first: what the rows are counted from in swaps.
    """
    result = m.dtype.type(1)
    for i in range(m.shape[0]):
        result = result * (m[i, i] if swaps[i] == i + first else -m[i, i])
    return result


@inner(lambda m, swaps: types.int32)
def _pivots(m, swaps):
    """LU in place of one matrix or of its transpose, which has the same determinant; the first row's number in swaps.
    """
    if m.shape[0] <= SMALL:
        eliminate(m, swaps)
        return 0
    _eliminate(m, swaps)
    return 1


@inner(lambda m: m.dtype)
def _one_det(m):
    """The determinant of one matrix, which is overwritten."""
    swaps = blank((m.shape[0],), np.int32)
    first = _pivots(m, swaps)
    return pivots_det(m, swaps, first)


def _single_det(a):
    return _one_det(copied(a)[0])


def _det(a):
    """The determinant of each matrix.

    >>> round(float(det(np.array([[1.0, 2.0], [3.0, 4.0]]))), 12)
    -2.0
    """
    stack = copied(a)
    out = blank((stack.shape[0],), a.dtype)
    for c in range(out.size):
        out[c] = _one_det(stack[c])
    return viewed(out, a.shape[:-2])


@inner(lambda m, swaps, first: types.Tuple([m.dtype, REAL.get(m.dtype, m.dtype)]))
def pivots_slogdet(m, swaps, first):
    """Sign (or phase) and logarithm of the determinant of one matrix whose LU factors are m, as in pivots_det."""
    sign, log = m.dtype.type(1), abs(m.dtype.type(0))
    for i in range(m.shape[0]):
        size = abs(m[i, i])
        phase = m[i, i] / size if size != 0 else m[i, i]
        sign = sign * (phase if swaps[i] == i + first else -phase)
        log = log + np.log(size)
    return sign, log


@inner(lambda m: types.Tuple([m.dtype, REAL.get(m.dtype, m.dtype)]))
def _one_slogdet(m):
    """Sign (or phase) and logarithm of the determinant of one matrix, which is overwritten."""
    swaps = blank((m.shape[0],), np.int32)
    first = _pivots(m, swaps)
    return pivots_slogdet(m, swaps, first)


def _single_slogdet(a):
    return _one_slogdet(copied(a)[0])


def _slogdet(a):
    """Sign and logarithm of the absolute value of the determinant of each matrix.

    >>> sign, log = slogdet(np.diag([-1.0, np.e]))
    >>> float(sign), round(float(log), 12)
    (-1.0, 1.0)
    """
    stack = copied(a)
    signs, logs = blank((stack.shape[0],), a.dtype), blank((stack.shape[0],), a.real.dtype)
    for c in range(signs.size):
        signs[c], logs[c] = _one_slogdet(stack[c])
    return viewed(signs, a.shape[:-2]), viewed(logs, a.shape[:-2])


inv = matrices(np.linalg.inv, "inv", [SAME], _inv)
det = matrices(np.linalg.det, "det", [SCALAR], _det, _single_det)
slogdet = matrices(np.linalg.slogdet, "slogdet", [SCALAR, REAL_SCALAR], _slogdet, _single_slogdet)


# --- triangular systems ---------------------------------------------------------------------------------------------


def _triangular_solve(a, b, lower, transpose, unit):
    """Solve a x = b (transpose 0), a^T x = b (1) or a^H x = b (2) for triangular a; unit says that a's diagonal is one.

    >>> triangular_solve(np.array([[2.0, 9.0], [1.0, 4.0]]), np.array([2.0, 5.0]), True, 0, False).tolist()
    [1.0, 1.0]
    """
    sides, stack = right_sides(a, b), flattened(a)
    n, k = a.shape[-1], sides.shape[2]
    # LAPACK sees m = a^T and x^T: the system is x^T op(a)^T = b^T, and op(a)^T is m, m^T or m^H
    flag = NO if transpose == 0 else TRANSPOSED if transpose == 1 else ADJOINT
    triangle = UPPER if lower else LOWER
    if not unit and has_zero_pivot(stack):
        raise np.linalg.LinAlgError("singular matrix")
    for c in range(sides.shape[0]):
        m = stack[c if stack.shape[0] > 1 else 0]
        if n <= SMALL:
            substitute(m, sides[c], lower, transpose, unit)
            continue
        trsm(RIGHT, triangle, flag, UNIT if unit else NO, k, n, 1.0, m, max(1, n), sides[c], max(1, k))
    return shaped(sides, a, b)


def _plain_triangular_solve(a, b, lower, transpose, unit):
    """scipy.linalg.solve_triangular on stacks."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = b if b.ndim > 1 else np.broadcast_to(b[:, None], (*lead, b.size, 1))
    a, out = np.broadcast_to(a, lead + a.shape[-2:]), np.empty(b.shape, a.dtype)
    for index in np.ndindex(lead):
        out[index] = scipy.linalg.solve_triangular(a[index], b[index], transpose, lower, unit, check_finite=False)
    return out


triangular_solve = systems(_keeping_vectors(_plain_triangular_solve, 1), "triangular_solve", _triangular_solve)
