"""Operators of numbers in a few instructions: products of complex numbers, powers with a small constant.

Numba compiles a function for each. The numbers are the same: a product is rounded as it stands, and never becomes one
instruction with a sum.
"""
import operator

from numba.core import types

__all__ = ["emit"]

MOST = 4  # the largest power that is written out
# a flag without meaning for products and sums: an instruction without flags gets the function's, which let LLVM
# contract
ROUNDED = ("arcp",)


def emit(context, builder, op, signature, values, constant):
    """Emit an operator; None where Numba's own code will do. constant: the second operand where it is known, else None.
    """
    kinds = signature.args
    if (
        op is operator.mul
        and isinstance(signature.return_type, types.Complex)
        and all(t == signature.return_type for t in kinds)
    ):
        return _product(context, builder, signature.return_type, *values)
    is_power = (
        op is operator.pow and type(constant) is int and 2 <= constant <= MOST and isinstance(kinds[1], types.Integer)
    )
    if is_power and isinstance(kinds[0], types.Float) and signature.return_type == kinds[0]:
        return _power(builder, values[0], constant)
    return None


def _product(context, builder, kind, x, y):
    """(a + bi) (c + di) = (ac - bd) + (ad + bc) i"""
    x, y, out = (context.make_complex(builder, kind, value=value) for value in (x, y, None))
    ac, bd, ad, bc = (
        builder.fmul(p, q, flags=ROUNDED)
        for p, q in ((x.real, y.real), (x.imag, y.imag), (x.real, y.imag), (x.imag, y.real))
    )
    out.real, out.imag = builder.fsub(ac, bd, flags=ROUNDED), builder.fadd(ad, bc, flags=ROUNDED)
    return out._getvalue()


def _power(builder, x, count):
    """x to the power of 2, 3 or 4: x x, x (x x), (x x) (x x)."""
    square = builder.fmul(x, x, flags=ROUNDED)
    return square if count == 2 else builder.fmul(x if count == 3 else square, square, flags=ROUNDED)
