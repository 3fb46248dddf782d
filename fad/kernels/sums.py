"""Sums whose order is free: `total = add_up(total, x)` lets LLVM keep a partial sum in each lane of a vector; so does
the largest of many numbers.

All other arithmetic of generated code is done in the order in which it is written, so that compensated sums,
differences of nearly equal numbers and tests such as `1.0 + e == 1.0` mean what they mean in Python.

    >>> import numba, numpy as np
    >>> @numba.njit
    ... def total_of(x):
    ...     total = 0.0
    ...     for i in range(x.size):
    ...         total = add_up(total, x[i])
    ...     return total
    >>> total_of(np.arange(5.0))
    10.0
"""
import numpy as np
from llvmlite import ir
from numba.core import types

from fad.kernels.promotion import compiled_as, like_ufunc

__all__ = ["add_up", "maximum_up", "minimum_up", "multiply_up"]

FREE = "reassoc", "contract"  # with "nsz", LLVM takes the addends apart as well: (x + big) - big in a sum


def add_up(total, x):
    """total + x, in an order that does not matter.

    >>> add_up(1.0, 2)
    3.0
    """
    return total + x


def multiply_up(total, x):
    """total * x, in an order that does not matter.

    >>> multiply_up(1.5, 2)
    3.0
    """
    return total * x


def maximum_up(top, x):
    """The larger of two numbers, or the nan, in an order that does not matter: LLVM knows `llvm.maximum` as a
    reduction, but not comparisons with nans.

    >>> float(maximum_up(1.5, 2.0))
    2.0
    """
    return np.maximum(top, x)[()]


def minimum_up(low, x):
    """The smaller, or the nan, likewise.

    >>> float(minimum_up(1.5, 2.0))
    1.5
    """
    return np.minimum(low, x)[()]


def _emit_extreme(name, sign):
    def emit(context, builder, sig, args):
        kind = args[0].type
        if isinstance(sig.return_type, types.Float):
            function = builder.module.declare_intrinsic(f"llvm.{name}", [kind], ir.FunctionType(kind, [kind, kind]))
            return builder.call(function, args)
        compare = builder.icmp_signed if sig.return_type.signed else builder.icmp_unsigned
        return builder.select(compare(sign, *args), *args)
    return emit


def _emit_add(context, builder, sig, args):
    if isinstance(sig.return_type, types.Integer):
        return builder.add(*args)
    if isinstance(sig.return_type, types.Float):
        return builder.fadd(*args, flags=FREE)
    x, y = (context.make_complex(builder, sig.return_type, value=a) for a in args)
    x.real, x.imag = builder.fadd(x.real, y.real, flags=FREE), builder.fadd(x.imag, y.imag, flags=FREE)
    return x._getvalue()


def _emit_multiply(context, builder, sig, args):
    return builder.mul(*args) if isinstance(sig.return_type, types.Integer) else builder.fmul(*args, flags=FREE)


compiled_as(add_up, like_ufunc(np.add, types.Integer, types.Float, types.Complex), _emit_add, fallback=np.add)
compiled_as(multiply_up, like_ufunc(np.multiply, types.Integer, types.Float), _emit_multiply, fallback=np.multiply)
compiled_as(
    maximum_up, like_ufunc(np.maximum, types.Integer, types.Float), _emit_extreme("maximum", ">="), fallback=np.maximum
)
compiled_as(
    minimum_up, like_ufunc(np.minimum, types.Integer, types.Float), _emit_extreme("minimum", "<="), fallback=np.minimum
)
