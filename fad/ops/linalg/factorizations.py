"""Factorizations by elimination and orthogonalization: Cholesky, LU, QR.

Sources: I. Murray, "Differentiation of the Cholesky decomposition" (2016); M. Giles (2008), section 2; S. Walter and
L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum experimental design"
(2010); D. and L. Roberts, "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and deep
matrices" (2020).

Ops on Hermitian matrices (cholesky; eigh in spectral.py) read one triangle, and differentiate the function of (a +
a^H) / 2. So gradients are Hermitian, as PyTorch's are.
"""
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import INT, Type, type_of
from ...util.array import AnyArray, Extent
from .. import extents
from ..kinds import Explicit, Zero, is_complex, shape_of
from . import samples
from .matrices import (
    adjoint,
    batch_stack,
    below,
    count_up,
    diagonal,
    diagonal_matrix,
    halved_lower,
    hermitian_part,
    matmul,
    on_diagonal,
    rank,
    real,
    rounding,
    rows_from,
    square_type,
    strictly_lower,
    strictly_upper,
    transposed,
    upper,
    where,
)
from .solve import INT32, plain, routine, run_lu, triangular_solve


def solve_lower(a: AnyArray, b: AnyArray, trans: int = 0, unit: bool = False) -> AnyArray:
    """a^-1 b (trans 2: a^-H b) for a lower triangular a."""
    return triangular_solve(a, b, lower=True, trans=trans, unit=unit)


def solve_upper(a: AnyArray, b: AnyArray, trans: int = 0) -> AnyArray:
    """a^-1 b (trans 2: a^-H b) for an upper triangular a."""
    return triangular_solve(a, b, lower=False, trans=trans, unit=False)


def over_upper(b: AnyArray, a: AnyArray) -> AnyArray:
    """b a^-1 for an upper triangular a."""
    return adjoint(solve_upper(a, adjoint(b), trans=2))


# -- reading a Hermitian matrix --------------------------------------------------------------------
#
# The value comes from one triangle; for a Hermitian a it is a itself, and the derivative is that of (a + a^H) / 2.


def _run_hermitian(a: np.ndarray, lower: bool) -> np.ndarray:
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    d = np.diagonal(a, axis1=-2, axis2=-1).real
    return (half + np.conj(np.swapaxes(half, -1, -2)) + d[..., None] * np.eye(a.shape[-1])).astype(a.dtype)


def _expand_hermitian(a: AnyArray, lower: bool) -> AnyArray:
    half = strictly_lower(a) if lower else adjoint(strictly_upper(a))
    d = registry["cast"](real(diagonal(a)), dtype=type_of(a).dtype)
    return half + adjoint(half) + diagonal_matrix(d)


hermitian = Op("hermitian", _run_hermitian, lambda a, lower: square_type(a), kind="opaque", batch=batch_stack,
               expand=_expand_hermitian, hermitian=(0,), samples=samples.of_each_kind(samples.positive, lower=True),
               derivative=Explicit(lambda ys, xs, dxs, lower: (hermitian_part(dxs[0]),),
                                   lambda gs, ys, xs, needs, lower: (hermitian_part(gs[0]),)),
               doc="The Hermitian matrix of which a holds one triangle")

# -- Cholesky --------------------------------------------------------------------------------------
#
# a = l l^H. With half(m) the lower triangle of m with half its diagonal (Murray 2016, equations 8 and 10):
#   dl = l half(l^-1 da l^-H)        ga = l^-H half(l^H gl) l^-1, made Hermitian


def _cholesky_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    factor = ys[0]
    inner = solve_lower(factor, adjoint(solve_lower(factor, hermitian_part(dxs[0]))))
    return (matmul(factor, halved_lower(inner)),)


def _cholesky_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    factor = ys[0]
    inner = hermitian_part(halved_lower(matmul(adjoint(factor), gs[0])))
    right = adjoint(solve_lower(factor, inner, trans=2))
    return (solve_lower(factor, right, trans=2),)


def _infer_cholesky_ex(a: AnyArray) -> tuple:
    t = square_type(a)
    return t, Type(INT32, t.shape[:-2])


cholesky_ex = Op("cholesky_ex", lambda a: plain.cholesky_ex(a), _infer_cholesky_ex, kind="opaque",
                 derivative=Explicit(lambda ys, xs, dxs: (*_cholesky_jvp(ys, xs, dxs), None), _cholesky_pullback),
                 batch=batch_stack, kernel="linalg.cholesky_ex", kernel_params=(), hermitian=(0,), fails=None,
                 samples=samples.of_each_kind(samples.positive),
                 doc="As cholesky, and as LAPACK's potrf: it never raises. The second result is 0, or the order of the "
                     "first leading minor that is not positive; the factor is nan then")
cholesky = Op("cholesky", np.linalg.cholesky, square_type, kind="opaque",
              derivative=Explicit(_cholesky_jvp, _cholesky_pullback), batch=batch_stack, kernel="linalg.cholesky",
              kernel_params=(), hermitian=(0,), samples=samples.of_each_kind(samples.positive), safe=cholesky_ex,
              doc="The lower Cholesky factor of a Hermitian positive definite matrix, of which the lower triangle is "
                  "read")

# -- LU --------------------------------------------------------------------------------------------
#
# p^T a = l u, for a square or tall a, l1 the square top of l and l2 the rest, with the row exchanges held fixed. With x
#   = p^T da:
#   f = l1^-1 x1 u^-1,  dl1 = l1 strictly_lower(f),  du = upper(f) u,  dl2 = (x2 - l2 du) u^-1
# and backwards, gl and gu being the parts of the packed cotangent:
#   h2 = gl2 u^-H,  k = strictly_lower(l1^H gl1) + upper((gu - l2^H h2) u^H),  gx1 = l1^-H k u^-H,  gx2 = h2


def _infer_lu(a: AnyArray) -> tuple:
    t = type_of(a)
    *stack, m, n = shape_of(a)
    if isinstance(m, int) and isinstance(n, int) and m < n:
        raise extents.ExtentError("lu_factor takes square and tall matrices",
                                  do="factor the left square part of a wide matrix")
    return t, Type(INT32, (*stack, n))


def _run_permutation(pivots: np.ndarray, m: Any) -> np.ndarray:
    *stack, count = pivots.shape
    out = np.broadcast_to(np.arange(int(m)), (*stack, int(m))).copy()
    for index in np.ndindex(*stack):
        row = out[index]
        for k in range(count):
            p = pivots[index][k]
            row[k], row[p] = row[p], row[k]
    return out


permutation = Op("permutation", _run_permutation, lambda pivots, m: Type(INT, (*shape_of(pivots)[:-1], m)),
                 kind="opaque", derivative=Zero(),
                 batch=lambda op, xs, batched, params: NotImplemented if batched[1] else op(*xs),
                 kernel="linalg.permutation", kernel_params=(), fails=None,
                 doc="The order of the rows that LAPACK's row exchanges lead to: a[order] = l u")


def permutation_matrix(order: AnyArray, dtype: np.dtype) -> AnyArray:
    """The matrix p with p[order[k], k] = 1, so that a = p l u."""
    *stack, m = shape_of(order)
    rows = registry["reshape"](count_up(m), m, 1)
    return registry["cast"](registry["equal"](rows, registry["reshape"](order, *stack, 1, m)), dtype=dtype)


def _lu_parts(lu: AnyArray) -> tuple:
    """l1, l2 (None for a square matrix) and u, as they stand packed: triangular solves read their halves."""
    m, n = shape_of(lu)[-2:]
    rest = extents.difference(m, n)
    top = rows_from(lu, 0, n)
    return top, (None if isinstance(rest, int) and rest == 0 else rows_from(lu, n, rest))


def unit_lower(x: AnyArray) -> AnyArray:
    """The strictly lower part of x, with ones on the diagonal."""
    m, n = shape_of(x)[-2:]
    return where(below(m, n), x, registry["cast"](on_diagonal(m, n), dtype=type_of(x).dtype))


def _row_order(lu: AnyArray, pivots: AnyArray) -> AnyArray:
    """p, where p^T x are the rows of x in the order of the factors."""
    return permutation_matrix(permutation(pivots, shape_of(lu)[-2]), type_of(lu).dtype)


def _stacked_rows(top: AnyArray, rest: object) -> AnyArray:
    return top if rest is None else registry["concatenate"](top, rest, axis=rank(top) - 2)


def _lu_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    lu, pivots = ys
    (top, l2), (x1, x2) = _lu_parts(lu), _lu_parts(matmul(transposed(_row_order(lu, pivots)), dxs[0]))
    f = over_upper(solve_lower(top, x1, unit=True), top)
    du = matmul(upper(f), upper(top))
    d_top = matmul(unit_lower(top), strictly_lower(f)) + du
    return _stacked_rows(d_top, None if l2 is None else over_upper(x2 - matmul(l2, du), top)), None


def _lu_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    lu, pivots = ys
    (top, l2), (g1, g2) = _lu_parts(lu), _lu_parts(gs[0])
    u, gu, h2 = upper(top), upper(g1), None
    if l2 is not None:
        h2 = adjoint(solve_upper(top, adjoint(g2)))
        gu = gu - matmul(adjoint(l2), h2)
    k = strictly_lower(matmul(adjoint(unit_lower(top)), strictly_lower(g1))) + upper(matmul(gu, adjoint(u)))
    gx1 = solve_lower(top, adjoint(solve_upper(top, adjoint(k))), trans=2, unit=True)
    return (matmul(_row_order(lu, pivots), _stacked_rows(gx1, h2)),)


lu_factor = Op("lu_factor", run_lu, _infer_lu, kind="opaque", derivative=Explicit(_lu_jvp, _lu_pullback),
               batch=batch_stack, kernel="linalg.lu_factor", kernel_params=(), fails=None,
               samples=samples.of_each_kind(samples.regular)
               + samples.of_each_kind(samples.matrix, (((4, 2), float), ((2, 3, 2), complex))),
               doc="L and U of a square or tall matrix in one, and the row exchanges, as LAPACK's getrf gives them")

# -- QR --------------------------------------------------------------------------------------------
#
# a = q r with q^H q = 1, for a square or tall a of full rank; the diagonal of r is real. With b = da r^-1 and m = q^H
#   b,
# c = q^H dq is the skew-Hermitian matrix whose strictly lower part is m's and whose diagonal is m's imaginary part:
#   dr = (m - c) r,   dq = b - q (m - c)
# Backwards, with w = gr r^H - q^H gq and k the Hermitian matrix that has w's upper triangle (Walter & Lehmann 2010,
#   Roberts 2020):
#   ga = (gq + q k) r^-H


def _imaginary_diagonal(m: Extent) -> AnyArray:
    """The diagonal matrix of i times the imaginary parts of m's diagonal."""
    d = diagonal(m)
    return diagonal_matrix(d - real(d))


def _rotation(m: Extent) -> AnyArray:
    low = strictly_lower(m)
    turn = low - adjoint(low)
    return turn + _imaginary_diagonal(m) if is_complex(m) else turn


def _of_full_rank(r: AnyArray) -> AnyArray:
    """r, with nan where its diagonal is zero to rounding: there the columns of q are any that are orthogonal to the
    rest."""
    d = diagonal(r)
    none = registry["less_equal"](registry["abs"](d), rounding(d))
    return r + diagonal_matrix(where(none, float("nan"), registry["zeros_like"](d)))


def _qr_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    q, r = ys
    b = over_upper(dxs[0], _of_full_rank(r))
    m = matmul(adjoint(q), b)
    rest = upper(m - _rotation(m))
    return b - matmul(q, rest), matmul(rest, r)


def _qr_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (q, r), (gq, gr) = ys, gs
    w = None if gr is None else matmul(gr, adjoint(r))
    if gq is not None:
        inner = matmul(adjoint(q), gq)
        w = -inner if w is None else w - inner
    k = halved_lower(adjoint(w))
    k = k + adjoint(k)
    gb = matmul(q, k) if gq is None else gq + matmul(q, k)
    return (adjoint(solve_upper(_of_full_rank(r), adjoint(gb))),)


def _infer_qr(a: AnyArray) -> tuple:
    t = type_of(a)
    *stack, m, n = shape_of(a)
    if isinstance(m, int) and isinstance(n, int) and m < n:
        raise extents.ExtentError("qr takes square and tall matrices",
                                  do="orthogonalize the left square part of a wide matrix")
    return t, Type(t.dtype, (*stack, n, n))


def _run_qr(a: np.ndarray) -> tuple:
    return tuple(np.linalg.qr(a))


qr = Op("qr", _run_qr, _infer_qr, kind="opaque", derivative=Explicit(_qr_jvp, _qr_pullback), batch=batch_stack,
        kernel="linalg.qr", kernel_params=(), fails=None,
        samples=samples.of_each_kind(samples.regular)
        + samples.of_each_kind(samples.matrix, (((4, 2), float), ((2, 3, 2), complex))),
        doc="The reduced QR factorization of a square or tall matrix")


def _run_order(a: np.ndarray) -> np.ndarray:
    *stack, m, n = a.shape
    orders = np.zeros((*stack, n), INT32) + np.arange(n, dtype=INT32)
    for index in np.ndindex(*stack if m else (0,)):
        orders[index] = routine("geqp3", a)(a[index])[1] - 1
    return orders


qr_order = Op("qr_order", _run_order, lambda a: Type(INT32, (*shape_of(a)[:-2], shape_of(a)[-1])), kind="opaque",
              derivative=Zero(), batch=batch_stack, kernel="linalg.qr_order", kernel_params=(), fails=None,
              samples=samples.of_each_kind(samples.regular)
              + samples.of_each_kind(samples.matrix, (((4, 2), float), ((2, 2, 3), complex))),
              doc="The order of a matrix's columns in its QR factorization with pivoting, as LAPACK's geqp3 gives it")
