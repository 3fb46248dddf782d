"""Python's max and min as kernels see them: an instruction or two.

Numba's own are a function to compile each, which takes as long as a small kernel.

    >>> import numba
    >>> numba.njit(lambda n: (max(n, 3), min(n, 3)))(7)
    (7, 3)
"""
import builtins

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype, from_dtype

from fad.kernels.promotion import REAL, compiled_as

__all__ = ["max", "min"]


def _rule(*args):
    """The common type, for all arguments."""
    args = tuple(map(types.unliteral, args))
    if len(args) < 2 or not all(isinstance(t, REAL) for t in args):
        return None
    return (from_dtype(np.result_type(*map(as_dtype, args))),) * (1 + len(args))


def _emit(comparison):
    def emit(context, builder, sig, args):
        """The first number that no other one surpasses, as in Python: a nan does not, and is not surpassed."""
        is_float, is_signed = isinstance(sig.return_type, types.Float), getattr(sig.return_type, "signed", False)
        compare = builder.fcmp_ordered if is_float else builder.icmp_signed if is_signed else builder.icmp_unsigned
        best, *others = args
        for x in others:
            best = builder.select(compare(comparison, x, best), x, best)
        return best

    return emit


def max(*args):
    """As Python's."""
    return builtins.max(*args)


def min(*args):
    """As Python's."""
    return builtins.min(*args)


compiled_as(max, _rule, _emit(">"))
compiled_as(min, _rule, _emit("<"))
