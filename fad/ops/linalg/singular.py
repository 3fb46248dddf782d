"""Singular values, and what stands on them: pseudo-inverses, least squares, complements.

Sources: J. Townsend, "Differentiating the singular value decomposition" (2016); Z. Wan and S. Zhang, "Automatic
differentiation for complex valued SVD" (2019); G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and
nonlinear least squares problems whose variables separate" (1973).

Singular vectors are determined up to a common factor of modulus 1; what spectral.py says of eigenvectors holds here,
too. `aspect` ("square", "tall", "wide", or "any" if unknown) tells whether u or v is square.
"""
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import Type, real_dtype, result_dtype, type_of
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike
from .. import extents
from ..batching import pad_rank, spread_batch
from ..kinds import Explicit, is_complex, shape_of
from . import samples
from .matrices import (
    adjoint,
    alike,
    as_columns,
    as_rows,
    batch_stack,
    columns_from,
    diagonal,
    diagonal_matrix,
    identity_like,
    matmul,
    over_gaps,
    rank,
    real,
    rounding,
    smaller_extent,
    unknown,
    unknown_columns,
    where,
)
from .spectral import numpys_eigh

RECTANGLES = (((4, 2), float), ((2, 2, 3), float), ((3, 3), float))


def _aspect(shape: tuple) -> str:
    return "square" if shape[-2] == shape[-1] else "tall" if shape[-2] > shape[-1] else "wide"


def rectangles(kinds: tuple = RECTANGLES) -> tuple:
    """Samples of an op that is told the aspect."""
    return sum([samples.of_each_kind(samples.matrix, (kind,), aspect=_aspect(kind[0])) for kind in kinds], ())


# -- the decomposition -----------------------------------------------------------------------------
#
# a = u diag(s) v^H. With p = u^H da v, x its part off the diagonal, f[i, j] = 1 / (s[j]^2 - s[i]^2) off the diagonal, 0
#   on it:
#   ds = Re diag(p)
#   du = u (f * (x s + s x^H) + i Im diag(p) / 2s) + (1 - u u^H) da v / s
#   dv = v (f * (s x + x^H s) - i Im diag(p) / 2s) + (1 - v v^H) da^H u / s
# and backwards, with y = u^H gu and z = v^H gv:
#   gp = f * (y - y^H) s + s f * (z - z^H) + diag(gs) + i Im diag(y - z) / 2s
#   ga = u gp v^H + (1 - u u^H) gu / s v^H + u (s^-1 gv^H (1 - v v^H))
# The projection 1 - u u^H is zero for a square u and left out.


def _square_gaps(s: AnyArray) -> AnyArray:
    rows, columns = as_rows(s), as_columns(s)
    return (rows - columns) * (rows + columns)


def _null(s: AnyArray) -> AnyArray:
    """The mask of the singular values that are zero to rounding."""
    return registry["less_equal"](s, rounding(s))


def _over(x: AnyArray, s: AnyArray, doubt: AnyArray) -> AnyArray:
    """The columns of x over s; `doubt` where s is zero: the limit of x is unknown there."""
    none = as_rows(_null(s))
    return where(none, doubt, where(none, 0.0, x) * (1.0 / where(none, 1.0, as_rows(s))))


def _off_diagonal(x: AnyArray, s: AnyArray, doubt: AnyArray) -> AnyArray:
    return over_gaps(x, _square_gaps(s), alike(s), doubt)


def _outside(u: AnyArray, x: AnyArray) -> AnyArray:
    """(1 - u u^H) x"""
    return x - matmul(u, matmul(adjoint(u), x))


def _phase(d: AnyArray, s: AnyArray) -> AnyArray:
    """i times the imaginary part of d over 2 s, as a diagonal matrix."""
    imaginary = 0.5 * (d - real(d))
    none = _null(s)
    return diagonal_matrix(where(none, unknown(imaginary), where(none, 0.0, imaginary) * (1.0 / where(none, 1.0, s))))


def _svd_jvp(ys: tuple, xs: tuple, dxs: tuple, aspect: str) -> tuple:
    (u, s, vh), da = ys, dxs[0]
    v, uh, sr, sc = adjoint(vh), adjoint(u), as_rows(s), as_columns(s)
    dav = matmul(da, v)
    p = matmul(uh, dav)
    ph, doubt = adjoint(p), unknown(p)
    signs, doubt = _of_null(diagonal(doubt), s), doubt + adjoint(doubt)
    turn_u, turn_v = (_off_diagonal(p * sr + sc * ph, s, doubt) + signs,
                      _off_diagonal(sc * p + ph * sr, s, doubt) + signs)
    if is_complex(p):
        phase = _phase(diagonal(p), s)
        turn_u, turn_v = turn_u + phase, turn_v - phase
    du, dv = matmul(u, turn_u), matmul(v, turn_v)
    if aspect in ("tall", "any"):
        outside = _outside(u, dav)
        du = du + _over(outside, s, unknown(outside))
    if aspect in ("wide", "any"):
        outside = _outside(v, matmul(adjoint(da), u))
        dv = dv + _over(outside, s, unknown(outside))
    return du, real(diagonal(p)), adjoint(dv)


def _of_null(x: AnyArray, s: AnyArray) -> AnyArray:
    """x where singular values are zero, as a diagonal matrix."""
    return diagonal_matrix(where(_null(s), x))


def _svd_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, aspect: str) -> tuple:
    (u, s, vh), (gu, gsv, gvh) = ys, gs
    if gu is None and gvh is None:
        return (matmul(u * as_rows(gsv), vh),)
    v, sr = adjoint(vh), as_rows(s)
    gv = None if gvh is None else adjoint(gvh)
    turned, lost = unknown_columns((gu, True), (gv, True)), unknown_columns((gu, True), (gv, True), (gsv, False))
    doubt = as_rows(lost) + as_columns(lost)
    inner = _of_null(turned, s)  # the two vectors of a zero singular value may change sign each
    if gsv is not None:
        inner = inner + diagonal_matrix(gsv)
    if gu is not None:
        y = matmul(adjoint(u), gu)
        inner = inner + _off_diagonal(y - adjoint(y), s, doubt) * sr
        inner = inner + _phase(diagonal(y), s) if is_complex(y) else inner
    if gv is not None:
        z = matmul(vh, gv)
        inner = inner + as_columns(s) * _off_diagonal(z - adjoint(z), s, doubt)
        inner = inner - _phase(diagonal(z), s) if is_complex(z) else inner
    left = matmul(u, inner)
    if gu is not None and aspect in ("tall", "any"):
        left = left + _over(_outside(u, gu), s, as_rows(lost))
    ga = matmul(left, vh)
    if gv is not None and aspect in ("wide", "any"):
        ga = ga + matmul(u, adjoint(_over(_outside(v, gv), s, as_rows(lost))))
    return (ga,)


def _infer_svd(a: AnyArray, aspect: str) -> tuple:
    t = type_of(a)
    *stack, m, n = shape_of(a)
    k = smaller_extent(a, aspect)
    return Type(t.dtype, (*stack, m, k)), Type(real_dtype(t.dtype), (*stack, k)), Type(t.dtype, (*stack, k, n))


svd = Op("svd", lambda a, aspect: tuple(np.linalg.svd(a, full_matrices=False)), _infer_svd, kind="opaque",
         derivative=Explicit(_svd_jvp, _svd_pullback), batch=batch_stack, kernel="linalg.svd", kernel_params=(),
         samples=rectangles(), doc="The reduced singular value decomposition u, s, v^H")


def _least(gs: AnyArray, s: AnyArray) -> AnyArray:
    """(Co)tangents of singular values. The value zero is a kink like that of abs: the subgradient of least norm is
    zero."""
    return gs * where(_null(s), 0.0, registry["full"](1, *shape_of(s), dtype=type_of(s).dtype))


def _svdvals_jvp(ys: tuple, xs: tuple, dxs: tuple, aspect: str) -> tuple:
    u, s, vh = svd(xs[0], aspect=aspect)
    return (_least(real(diagonal(matmul(adjoint(u), matmul(dxs[0], adjoint(vh))))), s),)


def _svdvals_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, aspect: str) -> tuple:
    u, s, vh = svd(xs[0], aspect=aspect)
    return (matmul(u * as_rows(_least(gs[0], s)), vh),)


svdvals = Op("svdvals", lambda a, aspect: np.linalg.svd(a, compute_uv=False),
             lambda a, aspect: _infer_svd(a, aspect)[1], kind="opaque",
             derivative=Explicit(_svdvals_jvp, _svdvals_pullback), batch=batch_stack, kernel="linalg.svdvals",
             kernel_params=(), samples=rectangles((*RECTANGLES, ((3, 2), complex), ((2, 2, 3), complex))),
             doc="The singular values, descending")

# -- complements -----------------------------------------------------------------------------------
#  A basis of the complement of u's columns is any of many, so nothing that depends on the choice has a derivative: it
# is nan, and what does not use the basis (a zero cotangent) is left alone.


def _run_complement(u: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.linalg.qr(u, mode="complete")[0][..., u.shape[-1]:])


def _infer_complement(u: AnyArray) -> Type:
    t = type_of(u)
    *stack, m, n = shape_of(u)
    return Type(t.dtype, (*stack, m, extents.difference(m, n)))


def _complement_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    lost = registry["guarded_mul"](gs[0], float("nan"))
    k = rank(lost)
    lost = registry["reshape"](registry["sum"](lost, axes=(k - 2, k - 1)), *shape_of(lost)[:-2], 1, 1)
    return (registry["broadcast_to"](lost, *shape_of(xs[0])),)


def _expand_complement(u: AnyArray) -> AnyArray:
    """The eigenvectors of eigenvalue 1, which come last, of the projection 1 - u u^H."""
    m, n = shape_of(u)[-2:]
    inside = matmul(u, adjoint(u))
    return columns_from(numpys_eigh(identity_like(inside) - inside)[1], n, extents.difference(m, n))


complement = Op("complement", _run_complement, _infer_complement, kind="opaque", batch=batch_stack,
                expand=_expand_complement,
                derivative=Explicit(
                    lambda ys, xs, dxs: (registry["full"](float("nan"), *shape_of(ys[0]), dtype=type_of(ys[0]).dtype),),
                    _complement_pullback),
                doc="An orthonormal basis of the complement of u's orthonormal columns")

# -- truncation ------------------------------------------------------------------------------------
#
# The part of a = u diag(s) v^H whose singular values are kept, those above a tolerance. It is a spectral function with
# g(s) = s or 0 (V. Noferini, "A formula for the Frechet derivative of a generalized matrix function", 2017). With
# e = u^H da v, k the mask of the kept, and i and j of different kinds:
#   d(part) = da - (1 - u_k u_k^H) da (1 - v_k v_k^H) + u c v^H
#   c[i, j] = (min(s[i], s[j])^2 e[i, j] + s[i] s[j] conj(e[j, i])) / |s[i]^2 - s[j]^2|
# The map is its own adjoint. What is left out may be anything; where it is zero, c is, and the rank does not change.


def _kept_values(s: AnyArray, rcond: ArrayOrNumber) -> AnyArray:
    """The mask of the singular values above rcond times the largest."""
    share = as_columns(rcond) if shape_of(rcond) else rcond
    return registry["greater"](s, registry["slice_axis"](s, rank(s) - 1, 0, 1) * share)


def _run_truncated(a: np.ndarray, rcond: ArrayOrNumber) -> np.ndarray:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    left_out = np.where(s > s[..., :1] * np.asarray(rcond)[..., None], 0, s)
    return (a - (u * left_out[..., None, :]) @ vh).astype(a.dtype)


def _expand_truncated(a: AnyArray, rcond: Any) -> AnyArray:
    u, s, vh = svd(a, aspect="any")
    return a - matmul(u * as_rows(where(_kept_values(s, rcond), 0.0, s)), vh)


def _truncated_change(da: AnyArray, a: AnyArray, rcond: ArrayOrNumber) -> AnyArray:
    u, s, vh = svd(a, aspect="any")
    kept = _kept_values(s, rcond)
    uk, vk = (where(as_rows(kept), x) for x in (u, adjoint(vh)))
    outside = _outside(uk, da)
    outside = outside - matmul(matmul(outside, vk), adjoint(vk))
    rows, columns = as_rows(s), as_columns(s)
    mixed = registry["not_equal"](as_rows(kept), as_columns(kept))
    gap = where(mixed, registry["abs"](_square_gaps(s)), 1.0)
    least = registry["minimum"](rows, columns)
    e = matmul(adjoint(u), matmul(da, adjoint(vh)))
    turned = where(mixed, (least * least * e + rows * columns * adjoint(e)) * (1.0 / gap))
    return da - outside + matmul(u, matmul(turned, vh))


truncated = Op("truncated", _run_truncated, lambda a, rcond: Type(type_of(a).dtype, shape_of(a)), kind="opaque",
               derivative=Explicit(
                   lambda ys, xs, dxs: (None if dxs[0] is None else _truncated_change(dxs[0], *xs),),
                   lambda gs, ys, xs, needs: (_truncated_change(gs[0], *xs), None)),
               batch=lambda op, xs, batched, params: _batch_pinv(op, xs, batched, params), expand=_expand_truncated,
               samples=samples.of_each_kind(lambda rng, *shape, dtype: (samples.matrix(rng, *shape, dtype=dtype), 0.6),
                                            (*RECTANGLES, ((3, 2), complex))),
               doc="The matrix without the singular values up to rcond times the largest")

# -- pseudo-inverse --------------------------------------------------------------------------------
#
# x = a^+ while the rank stays as it is (Golub & Pereyra 1973, equation 4.12):
#   dx = -x da x + x x^H da^H (1 - a x) + (1 - x a) da^H x^H x
#   ga = -x^H g x^H + (1 - a x) g^H x x^H + x^H x g^H (1 - x a)


def _run_pinv(a: np.ndarray, rcond: ArrayOrNumber) -> np.ndarray:
    return np.linalg.pinv(a, rcond=np.asarray(rcond)).astype(a.dtype)


def _chain(a: AnyArray, b: AnyArray, c: AnyArray) -> AnyArray:
    """a b c, if b has the shape of their transposes: by way of the smaller square, for matrices of many rows."""
    rows, columns = (extents.hint(n) or 0 for n in shape_of(a)[-2:])
    return matmul(matmul(a, b), c) if rows < columns else matmul(a, matmul(b, c))


def _pinv_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    x, a, da = ys[0], xs[0], dxs[0]
    if da is None:
        return (None,)
    xh, dah = adjoint(x), adjoint(da)
    range_part, null_part = _chain(x, xh, dah), _chain(dah, xh, x)
    return (range_part - _chain(range_part, a, x) + null_part - _chain(x, a, null_part) - _chain(x, da, x),)


def _pinv_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    g, x, a = gs[0], ys[0], xs[0]
    xh, gh = adjoint(x), adjoint(g)
    range_part, null_part = _chain(gh, x, xh), _chain(xh, x, gh)
    return range_part - _chain(a, x, range_part) + null_part - _chain(null_part, x, a) - _chain(xh, g, xh), None


def _infer_pinv(a: AnyArray, rcond: ArrayOrNumber) -> Type:
    t = type_of(a)
    *stack, m, n = shape_of(a)
    return Type(t.dtype, (*stack, n, m))


def _batch_pinv(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    if not batched[1]:
        return op(*xs)
    a = spread_batch(xs[0], shape_of(xs[1])[0], batched[0])
    return op(a, pad_rank(xs[1], rank(a) - 3))


def _expand_pinv(a: AnyArray, rcond: ArrayOrNumber) -> AnyArray:
    u, s, vh = svd(a, aspect="any")
    used = _kept_values(s, rcond)
    inverse = where(used, 1.0 / where(used, s, 1.0))
    return matmul(adjoint(vh) * as_rows(inverse), adjoint(u))


def _with_tolerance(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
    return samples.matrix(rng, *shape, dtype=dtype), 1e-13


pinv = Op("pinv", _run_pinv, _infer_pinv, kind="opaque", derivative=Explicit(_pinv_jvp, _pinv_pullback),
          batch=_batch_pinv, expand=_expand_pinv,
          samples=samples.of_each_kind(_with_tolerance, (*RECTANGLES, ((3, 2), complex), ((2, 2, 3), complex))),
          doc="The pseudo-inverse; singular values up to rcond times the largest are taken for zero")

# -- least squares ---------------------------------------------------------------------------------
#
# x = a^+ b, with p = a^+ and the residual r = b - a x; from the pseudo-inverse's derivative:
#   dx = p (db - da x) + p p^H da^H r + (1 - p a) da^H p^H x
#   gb = p^H g,  ga = -gb x^H + r (p p^H g)^H + p^H x ((1 - p a) g)^H


def _run_lstsq(a: np.ndarray, b: np.ndarray, rcond: ArrayOrNumber) -> np.ndarray:
    out = np.empty((*a.shape[:-2], a.shape[-1], b.shape[-1]), b.dtype)
    for index in np.ndindex(*a.shape[:-2]):
        out[index] = np.linalg.lstsq(a[index], b[index], rcond=float(rcond))[0]
    return out


def _lstsq_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    x, (a, b, rcond), (da, db, _) = ys[0], xs, dxs
    p = pinv(a, rcond)
    if da is None:
        return (None if db is None else matmul(p, db),)
    side = -matmul(da, x) if db is None else db - matmul(da, x)
    ph, dah = adjoint(p), adjoint(da)
    null_part = matmul(dah, matmul(ph, x))
    null_part = null_part - matmul(p, matmul(a, null_part))
    return (matmul(p, side + matmul(ph, matmul(dah, b - matmul(a, x)))) + null_part,)


def _lstsq_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    g, x, (a, b, rcond) = gs[0], ys[0], xs
    p = pinv(a, rcond)
    ph = adjoint(p)
    gb = matmul(ph, g)
    if not needs[0]:
        return None, gb, None
    outside = g - matmul(p, matmul(a, g))
    ga = (matmul(b - matmul(a, x), adjoint(matmul(p, gb))) + matmul(matmul(ph, x), adjoint(outside))
          - matmul(gb, adjoint(x)))
    return ga, gb, None


def _infer_lstsq(a: AnyArray, b: AnyArray, rcond: ArrayOrNumber) -> Type:
    *stack, m, n = shape_of(a)
    rows, k = shape_of(b)[-2:]
    extents.agree(m, rows, "the extents of a matrix and its right-hand side")
    return Type(result_dtype(a, b), (*stack, n, k))


def _batch_lstsq(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    if batched[2]:
        return NotImplemented
    n = next(shape_of(x)[0] for x, b in zip(xs, batched) if b)
    return op(spread_batch(xs[0], n, batched[0]), spread_batch(xs[1], n, batched[1]), xs[2])


def _overdetermined(rng: np.random.Generator, *shape: int, dtype: DTypeLike) -> tuple:
    return samples.matrix(rng, *shape, dtype=dtype), samples.matrix(rng, *shape[:-1], 2, dtype=dtype), 1e-13


lstsq = Op("lstsq", _run_lstsq, _infer_lstsq, kind="opaque", derivative=Explicit(_lstsq_jvp, _lstsq_pullback),
           batch=_batch_lstsq, expand=lambda a, b, rcond: matmul(pinv(a, rcond), b),
           samples=samples.of_each_kind(_overdetermined, (*RECTANGLES, ((3, 2), complex), ((2, 2, 3), complex))),
           doc="The solution of least norm of a x = b in the sense of least squares")
