"""Determinants, with the factors of their matrices at hand (see solve.py).

Formulas: M. Giles (2008), section 2.2.
"""
import numpy as np

from ...ir.op import Op
from ...ir.types import real_dtype, type_of
from ...util.array import AnyArray
from ..kinds import Explicit, conjugate, is_complex
from .matrices import (
    adjoint,
    as_matrices,
    batch_stack,
    matmul,
    number_type,
    real,
    square_type,
    total,
    trace_of_product,
    transposed,
)
from .solve import factor, factored_inv, matrix_alone, samples_with_factors, with_factors

# -- determinant -----------------------------------------------------------------------------------
#
# d det = sum(c * da), where c is the matrix of cofactors, det(a) a^-T; it exists where a is singular, too.
# For regular a, with x = a^-1:  dc = tr(x da) c - x^T da^T c.


def _swaps(pivots: np.ndarray) -> np.ndarray:
    """1 for an even number of row exchanges, else -1."""
    return 1 - 2 * (np.sum(pivots != np.arange(pivots.shape[-1]), axis=-1) % 2)


def _run_det(a: np.ndarray, lu: np.ndarray, pivots: np.ndarray) -> AnyArray:
    return (np.prod(np.diagonal(lu, axis1=-2, axis2=-1), axis=-1) * _swaps(pivots)).astype(a.dtype)[()]


def _run_cofactors(a: np.ndarray, lu: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    det = _run_det(a, lu, pivots)
    if np.all(det != 0):
        return det[..., None, None] * np.swapaxes(factored_inv.run(a, lu, pivots), -1, -2)
    u, s, vh = np.linalg.svd(a)
    others = np.stack([np.prod(np.delete(s, k, axis=-1), axis=-1) for k in range(s.shape[-1])], axis=-1)
    turn = np.linalg.det(u) * np.linalg.det(vh)
    return np.conj(u * (others * np.conj(turn)[..., None]).astype(a.dtype)[..., None, :] @ vh)


def _cofactors_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    (c,), (a, lu, pivots), da = ys, xs, dxs[0]
    if da is None:
        return (None,)
    x = factored_inv(a, lu, pivots)
    return (as_matrices(trace_of_product(x, da)) * c - matmul(transposed(matmul(da, x)), c),)


def _cofactors_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (g,), (c,), (a, lu, pivots) = gs, ys, xs
    inverse, c = adjoint(factored_inv(a, lu, pivots)), conjugate(c)
    return as_matrices(total(g * c)) * inverse - matmul(matmul(c, transposed(g)), inverse), None, None


_cofactors = Op("cofactors", _run_cofactors, lambda a, lu, pivots: square_type(a), kind="opaque", batch=batch_stack,
                kernel="linalg.cofactors", kernel_params=(), fails=None, means=(1, 2), complete=with_factors,
                derivative=Explicit(_cofactors_jvp, _cofactors_pullback), samples=samples_with_factors(matrix_alone),
                doc="The derivative of the determinant; of singular matrices, too")


def _det_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    return (None if dxs[0] is None else total(_cofactors(*xs) * dxs[0]),)


def _det_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    return as_matrices(gs[0]) * conjugate(_cofactors(*xs)), None, None


_det = Op("det", _run_det, lambda a, lu, pivots: number_type(a), kind="opaque",
          derivative=Explicit(_det_jvp, _det_pullback), batch=batch_stack, kernel="linalg.lu_det", kernel_inputs=(1, 2),
          kernel_params=(), fails=None, means=(1, 2), complete=with_factors,
          samples=samples_with_factors(matrix_alone), doc="The determinant of a, with its factors at hand")


def det(a: AnyArray) -> AnyArray:
    """The determinant of square matrices."""
    return _det(a, *factor(a))


# -- sign and logarithm of the determinant ---------------------------------------------------------
#
# With t = tr(a^-1 da):  d log|det| = Re t,  and the sign, a number of modulus 1, turns by i Im t.
# So ga = (glog + i c) a^-H with c = -Im(conj(gsign) sign); c = 0 for real a.


def _run_slogdet(a: np.ndarray, lu: np.ndarray, pivots: np.ndarray) -> tuple:
    d = np.diagonal(lu, axis1=-2, axis2=-1)
    size = np.abs(d)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.sum(np.log(size), axis=-1)
        sign = np.prod(np.where(size == 0, 0, d / size), axis=-1) * _swaps(pivots)
    return sign.astype(a.dtype)[()], log.astype(real_dtype(a.dtype))[()]


def _infer_slogdet(a: AnyArray, lu: AnyArray, pivots: AnyArray) -> tuple:
    return number_type(a), number_type(a, real_dtype(type_of(a).dtype))


def _slogdet_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    if dxs[0] is None:
        return None, None
    turn = trace_of_product(factored_inv(*xs), dxs[0])
    if not is_complex(turn):
        return None, turn
    return ys[0] * (turn - real(turn)), real(turn)


def _slogdet_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    (gsign, glog), sign = gs, ys[0]
    weight = glog
    if gsign is not None and is_complex(sign):
        turned = conjugate(gsign) * sign
        turned = real(turned) - turned                                # i c
        weight = turned if glog is None else glog + turned
    return (None if weight is None else as_matrices(weight) * adjoint(factored_inv(*xs))), None, None


_slogdet = Op("slogdet", _run_slogdet, _infer_slogdet, kind="opaque",
              derivative=Explicit(_slogdet_jvp, _slogdet_pullback), batch=batch_stack, kernel="linalg.lu_slogdet",
              kernel_inputs=(1, 2), kernel_params=(), fails=None, means=(1, 2), complete=with_factors,
              samples=samples_with_factors(matrix_alone),
              doc="Sign and logarithm of the determinant of a, with its factors at hand")


def slogdet(a: AnyArray) -> tuple:
    """Sign of the determinant, and the logarithm of its absolute value."""
    return _slogdet(a, *factor(a))
