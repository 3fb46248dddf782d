"""Matrix products: loops for small ones, BLAS for large ones, whichever way the strides lie, without copies.

    >>> matmul(np.array([[1.0, 2.0]]), np.array([3.0, 4.0])).tolist()
    [11.0]
"""
import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype, from_dtype

from fad.kernels.lapack import LETTERS, gemm, gemv
from fad.kernels.memory import as_columns, as_rows, blank, copied, viewed
from fad.kernels.promotion import compiled_as, emit_python, inner, inner_of_types, quiet

__all__ = ["matmul"]

NO, TRANSPOSED = ord("N"), ord("T")
#: Multiplications from which BLAS beats loops: a call costs about half a microsecond.
WORTH_A_CALL = 1000


def _types(*args):
    """As numpy.matmul: 1-D arguments are rows on the left, columns on the right; stacks (..., m, n) of equal leads."""
    if len(args) != 2 or not all(isinstance(t, types.Array) and t.ndim for t in args):
        return None
    a, b = args
    if a.ndim > 2 and b.ndim > 2 and a.ndim != b.ndim:
        return None
    rank = _rank(a, b)
    return (types.Array(_common(a, b), rank, "C") if rank else _common(a, b), a, b)


def _rank(a, b):
    return max(0, max(a.ndim, b.ndim) - (a.ndim == 1) - (b.ndim == 1))


def _common(a, b):
    return from_dtype(np.result_type(as_dtype(a.dtype), as_dtype(b.dtype)))


@intrinsic
def _result_dtype(typingctx, a, b):
    """The dtype of the product of two arrays."""
    return types.DType(_common(a, b))(a, b), lambda context, builder, sig, args: context.get_dummy_value()


@inner(lambda *_: types.none)
def _loops(a, b, out):
    """out = a b by loops; the inner one runs along rows of b and out."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(out.shape[1]):
                out[i, j] += x * b[k, j]


@inner(lambda a: types.UniTuple(types.intp, 2))
def _strides(a):
    """A matrix as BLAS may read it: flag (of its transpose) and leading dimension, or 0 if it must be copied."""
    size = a.itemsize
    down, right = a.strides[0] // size, a.strides[1] // size
    if (right == 1 or a.shape[1] == 1) and down >= max(1, a.shape[1]):
        return NO, down
    if (down == 1 or a.shape[0] == 1) and right >= max(1, a.shape[0]):
        return TRANSPOSED, right
    return NO, 0


@inner(lambda v: types.intp)
def _steps(v):
    """The step of BLAS along a matrix that is one row or one column."""
    return (v.strides[0] if v.shape[1] == 1 else v.strides[1]) // v.itemsize


@inner(lambda *_: types.boolean)
def _blas(a, b, out):
    """Whether BLAS could compute out = a b. It sees the transposes: out^T = b^T a^T."""
    (flag_a, lead_a), (flag_b, lead_b), (m, n) = _strides(a), _strides(b), out.shape
    if n == 1 and lead_a > 0 and _steps(b) > 0:
        if flag_a == NO:
            gemv(TRANSPOSED, a.shape[1], m, 1.0, a, lead_a, b, _steps(b), 0.0, out, 1)
        else:
            gemv(NO, m, a.shape[1], 1.0, a, lead_a, b, _steps(b), 0.0, out, 1)
    elif lead_a > 0 and lead_b > 0:
        gemm(flag_b, flag_a, n, m, a.shape[1], 1.0, b, lead_b, a, lead_a, 0.0, out, max(1, n))
    else:
        return False
    return True


@inner_of_types(lambda *_: types.none)
def _product(a, b, out):
    """out = a b for matrices."""
    if a.dtype != b.dtype or a.dtype not in LETTERS:
        return lambda a, b, out: _loops(a, b, out)

    def product(a, b, out):
        if out.size * a.shape[1] < WORTH_A_CALL:
            _loops(a, b, out)
        elif not _blas(a, b, out):
            _blas(copied(a)[0], copied(b)[0], out)

    return product


@inner_of_types(lambda a, b: types.UniTuple(types.intp, _rank(a, b)))
def _extents(a, b):
    """The shape of the product of two arrays."""
    if a.ndim == 1:
        return lambda a, b: b.shape[:-2] + (b.shape[-1],)
    if b.ndim == 1:
        return lambda a, b: a.shape[:-1]
    if a.ndim >= b.ndim:
        return lambda a, b: a.shape[:-1] + (b.shape[-1],)
    return lambda a, b: b.shape[:-2] + (a.shape[0], b.shape[-1])


def _matmul(a, b):
    """numpy.matmul: products of matrices, of stacks (..., m, n), and with vectors.

    >>> matmul(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    left, right = as_rows(a), as_columns(b)
    p, q = left.shape[0], right.shape[0]
    if left.shape[2] != right.shape[1] or (p != q and p != 1 and q != 1):
        raise ValueError("matmul: the shapes do not fit")
    out = blank((max(p, q) if p * q > 0 else 0, left.shape[1], right.shape[2]), _result_dtype(a, b))
    for c in range(out.shape[0]):
        _product(left[c if p > 1 else 0], right[c if q > 1 else 0], out[c])
    return viewed(out, _extents(a, b))


def _dot(a, b):
    if a.size != b.size:
        raise ValueError("matmul: the shapes do not fit")
    total = _result_dtype(a, b).type(0)
    for i in range(a.size):
        total += a[i] * b[i]
    return total


_emit_dot, _emit_matmul = emit_python(_dot, fast=True), emit_python(_matmul, fast=True, apart=True)


def _emit(context, builder, sig, args):
    chosen = _emit_matmul if isinstance(sig.return_type, types.Array) else _emit_dot
    return chosen(context, builder, sig, args)


matmul = compiled_as(quiet(np.matmul, _matmul.__doc__, "matmul"), _types, _emit)
