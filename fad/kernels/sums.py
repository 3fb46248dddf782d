"""Sums whose order is free: `total = add_up(total, x)` lets LLVM keep a partial sum in each lane of a vector.

All other arithmetic of generated code is done in the order in which it is written, so that compensated sums, differences of nearly equal
numbers and tests such as `1.0 + e == 1.0` mean what they mean in Python.

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
from numba.core import types

from fad.kernels.promotion import compiled_as, like_ufunc

__all__ = ["add_up", "multiply_up"]

FREE = "reassoc", "contract"                               # with "nsz", LLVM takes apart what is added as well: (x + big) - big in a sum


def add_up(total, x):
    """total + x, of which it does not matter when it is added.

    >>> add_up(1.0, 2)
    3.0
    """
    return total + x


def multiply_up(total, x):
    """total * x, of which it does not matter when it is multiplied.

    >>> multiply_up(1.5, 2)
    3.0
    """
    return total * x


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
