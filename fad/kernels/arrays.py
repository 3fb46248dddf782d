"""NumPy as kernels see it: itself, except that array makers and the product of matrices emit their code at once.

Numba's own np.empty, np.zeros, np.full, np.dot and np.ascontiguousarray are several functions to compile each, for
each dtype, rank and layout anew: together more work than a small kernel.

    >>> import numba
    >>> numba.njit(lambda n: zeros((n, 2)))(1)
    array([[0., 0.]])
    >>> __getattr__("exp") is np.exp
    True
"""
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.npydecl import parse_dtype

from fad.kernels import parts
from fad.kernels.c_symbols import routine
from fad.kernels.memory import duplicate, made
from fad.kernels.promotion import compiled_as

BLAS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}
PRODUCTS = {dtype: routine(f"{letter}gemm")[0] for dtype, letter in BLAS.items()}  # bound now: users cache code
CHAR, WORD, PLACE, INT = ir.IntType(8), ir.IntType(64), ir.IntType(8).as_pointer(), ir.IntType(32)
GEMM = ir.FunctionType(ir.VoidType(), [PLACE] * 13)
MULTIPLY = ir.FunctionType(ir.VoidType(), [GEMM.as_pointer()] + [CHAR] * 2 + [WORD] * 3 + [PLACE] * 3)


def __getattr__(name: str) -> Any:
    return getattr(np, name)


def _array_of(shape, dtype=None):
    """The types of a call that makes an array: the array's, then those of its arguments."""
    extents = shape if isinstance(shape, types.BaseTuple) else (shape,)
    kind = types.float64 if dtype is None else parse_dtype(dtype)
    if kind is None or not all(isinstance(n, types.Integer) for n in extents):
        return None
    return types.Array(kind, len(extents), "C"), shape, *([] if dtype is None else [dtype])


def _full_of(shape, value, dtype=None):
    """The same for np.full."""
    if not isinstance(value, (types.Number, types.Boolean)):
        return None
    found = _array_of(shape, dtype or types.NumberClass(types.unliteral(value)))
    return found and (found[0], shape, value, *([] if dtype is None else [dtype]))


def _empty(context, builder, sig, args):
    given = sig.args[0]
    extents = cgutils.unpack_tuple(builder, args[0]) if isinstance(given, types.BaseTuple) else [args[0]]
    kinds = given if isinstance(given, types.BaseTuple) else (given,)
    extents = [context.cast(builder, n, t, types.intp) for n, t in zip(extents, kinds)]
    return made(context, builder, sig.return_type, extents)


def _zeros(context, builder, sig, args):
    value = _empty(context, builder, sig, args)
    data, count, size = _fields(context, builder, sig.return_type, value)
    cgutils.memset(builder, data, builder.mul(size, count), 0)
    return value


def _full(context, builder, sig, args):
    array = _empty(context, builder, sig, args)
    data, count, _ = _fields(context, builder, sig.return_type, array)
    value = context.cast(builder, args[1], sig.args[1], sig.return_type.dtype)
    with cgutils.for_range(builder, count) as loop:
        context.pack_value(builder, sig.return_type.dtype, value, cgutils.gep(builder, data, loop.index))
    return array


def _dot_of(a, b):
    """The same for np.dot of two matrices that BLAS takes as they are."""
    if (
        not all(isinstance(t, types.Array) and t.ndim == 2 and t.layout in "CF" and t.dtype in BLAS for t in (a, b))
        or a.dtype != b.dtype
    ):
        return None
    return types.Array(a.dtype, 2, "C"), a, b


def _dot(context, builder, sig, args):
    a, b = (context.make_array(t)(context, builder, value) for t, value in zip(sig.args, args))
    (m, k), (other, n) = (cgutils.unpack_tuple(builder, x.shape) for x in (a, b))
    refuse = context.call_conv.return_user_exc
    differs, largest = builder.icmp_signed("!=", k, other), builder.or_(builder.or_(m, k), n)
    is_large = builder.icmp_unsigned(">", largest, WORD(2**31 - 1))
    with builder.if_then(builder.or_(differs, is_large), likely=False):
        with builder.if_then(differs):
            refuse(builder, ValueError, ("incompatible array sizes for np.dot(a, b) (matrix * matrix)",))
        refuse(builder, OverflowError, ("array size too large to fit in C int",))
    value = made(context, builder, sig.return_type, [m, n])
    data, _, _ = _fields(context, builder, sig.return_type, value)
    flags = [CHAR(ord("n" if t.layout == "C" else "t")) for t in sig.args]
    places = [builder.bitcast(place, PLACE) for place in (a.data, b.data, data)]
    multiply = _multiplication(context, builder.module, sig.return_type.dtype)
    gemm = cgutils.get_or_insert_function(builder.module, GEMM, PRODUCTS[sig.return_type.dtype])
    builder.call(multiply, [gemm, *flags, m, k, n, *places])
    return value


def _multiplication(context, module, dtype):
    """The function (gemm, flags and extents, places of two matrices and of their product).

    A flag says how a matrix lies: n in C order, t in the order of Fortran.
    """
    return parts.function(context, module, f"multiply_{dtype}", MULTIPLY, _multiplying(dtype))


def _multiplying(dtype):
    def body(context, builder, function):
        """Call SciPy's gemm. BLAS's matrices are in the order of Fortran: all is transposed."""
        gemm, left, right, m, k, n, x, y, out = function.args
        number = context.get_value_type(dtype)
        with builder.if_then(builder.icmp_signed("==", builder.mul(builder.mul(m, n), k), WORD(0)), likely=False):
            count = builder.mul(builder.mul(m, n), WORD(context.get_abi_sizeof(number)))
            cgutils.memset(builder, out, count, 0)
            builder.ret_void()
        steps = [
            builder.select(builder.icmp_unsigned("==", flag, CHAR(ord("n"))), columns, rows)
            for flag, rows, columns in ((left, m, k), (right, k, n))
        ]
        extents = [builder.trunc(extent, INT) for extent in (n, m, k, steps[1], steps[0], n)]
        numbers = [right, left, *extents, *(_number(number, value) for value in (1.0, 0.0))]
        right, left, n, m, k, *steps, last, one, zero = (
            builder.bitcast(cgutils.alloca_once_value(builder, value), PLACE) for value in numbers
        )
        builder.call(gemm, [right, left, n, m, k, one, y, steps[0], x, steps[1], zero, out, last])
        builder.ret_void()
    return body


def _contiguous_of(a):
    """The same for np.ascontiguousarray."""
    is_plain = isinstance(a, types.Array) and a.ndim and a.mutable and a.aligned
    return (types.Array(a.dtype, a.ndim, "C"), a) if is_plain else None


def _contiguous(context, builder, sig, args):
    kind = sig.args[0]
    if kind.layout != "C":
        return duplicate(context, builder, kind, args[0])
    context.nrt.incref(builder, kind, args[0])
    return args[0]


def _number(kind, value):
    """A constant of LLVM, which has complex numbers as pairs."""
    return ir.Constant(
        kind, [ir.Constant(kind.elements[0], part) for part in (value, 0.0)] if hasattr(kind, "elements") else value
    )


def _fields(context, builder, kind, array):
    """The address of an array's elements, their number, and the size of one."""
    place = context.data_model_manager[kind].get_field_position
    return [builder.extract_value(array, place(name)) for name in ("data", "nitems", "itemsize")]


def empty(shape, dtype=np.float64):
    """As np.empty."""
    return np.empty(shape, dtype)


def zeros(shape, dtype=np.float64):
    """As np.zeros."""
    return np.zeros(shape, dtype)


def full(shape, value, dtype=None):
    """As np.full."""
    return np.full(shape, value, dtype)


def dot(a, b):
    """As np.dot."""
    return np.dot(a, b)


def ascontiguousarray(a):
    """As np.ascontiguousarray."""
    return np.ascontiguousarray(a)


compiled_as(empty, _array_of, _empty, fallback=np.empty)
compiled_as(zeros, _array_of, _zeros, fallback=np.zeros)
compiled_as(full, _full_of, _full, fallback=np.full)
compiled_as(dot, _dot_of, _dot, fallback=np.dot)
compiled_as(ascontiguousarray, _contiguous_of, _contiguous, fallback=np.ascontiguousarray)
parts.part("multiply_float64", MULTIPLY)(_multiplying(types.float64))
