"""Arithmetic with NumPy's meaning where Python's or Numba's differs: nans, zeros, signs, division by zero.

Each function is a formula on scalars, without branches where that can be, so that LLVM vectorises a loop of it.

    >>> float(floor_divide(-7.0, 2.0)), float(maximum(np.nan, 1.0))
    (-4.0, nan)
"""
import math

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from fad.kernels.elementary import pow, sin
from fad.kernels.promotion import compiled_as, emit_python, formula, like_ufunc, quiet, real_floats

__all__ = [
    "absolute", "bitwise_count", "ceil", "copysign", "floor", "floor_divide", "fmax", "fmin", "fmod", "heaviside",
    "left_shift", "like", "maximum", "minimum", "power", "quotient", "reciprocal", "remainder",
    "right_shift", "rint", "sign", "sinc", "sqrt", "trunc", "where",
]  # fmt: skip

REAL = types.Float, types.Integer, types.Boolean


# --- choice ---------------------------------------------------------------------------------------------------------


def where(condition, x, y):
    """NumPy's where; compiled, x and y are both computed and one instruction selects, so that a loop of it vectorises.

    >>> int(where(True, 1, 2))
    1
    """
    # of scalars a scalar: a `+=` would change an array of no axes under all its names
    return np.where(condition, x, y)[()]


def _where_types(*args):
    found = like_ufunc(np.add)(*args[1:]) if len(args) == 3 else None
    return found and (found[0], types.boolean, *found[1:])


def _emit_where(context, builder, sig, args):
    if isinstance(sig.return_type, types.Complex):
        x, y = (context.make_complex(builder, sig.return_type, value=a) for a in args[1:])
        x.real, x.imag = (_choose(builder, args[0], *parts) for parts in ((x.real, y.real), (x.imag, y.imag)))
        return x._getvalue()
    return _choose(builder, *args)


def _choose(builder, condition, x, y):
    return builder.select(cgutils.as_bool_bit(builder, condition), x, y)


compiled_as(where, _where_types, _emit_where, fallback=np.where)


def like(c, x):
    """The constant c in the type of x (a plain Python number adapts by itself).

    >>> like(1.0, np.float32(3))
    1.0
    """
    return c


def _emit_like(context, builder, sig, args):
    return args[0]


compiled_as(like, lambda c, x: (x, x, x), _emit_like)


# --- one instruction ------------------------------------------------------------------------------------------------


def _instruction(name, ufunc, *kinds):
    def emit(context, builder, sig, args):
        if not isinstance(sig.return_type, types.Float):  # an integer needs no rounding
            return args[0]
        real = args[0].type
        shape = ir.FunctionType(real, [real] * len(args))
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [real], shape), args)

    function = quiet(ufunc, f"NumPy's {ufunc.__name__}; compiled, one instruction.")
    return compiled_as(function, like_ufunc(ufunc, *(kinds or (types.Float,))), emit, fallback=ufunc)


sqrt, absolute = _instruction("sqrt", np.sqrt), _instruction("fabs", np.absolute)
copysign = _instruction("copysign", np.copysign)
floor, ceil, trunc = (_instruction(f.__name__, f, *REAL) for f in (np.floor, np.ceil, np.trunc))
rint = _instruction("rint", np.rint)


def bitwise_count(x):
    """The number of set bits of |x|.

    >>> int(bitwise_count(-7))
    3
    """
    return np.bitwise_count(x)


def _emit_bitwise_count(context, builder, sig, args):
    (x,), (kind,) = args, sig.args
    size = builder.select(builder.icmp_signed("<", x, x.type(0)), builder.neg(x), x) if kind.signed else x
    return context.cast(builder, builder.ctpop(size), kind, types.uint8)


compiled_as(bitwise_count, lambda x: (types.uint8, x) if isinstance(x, types.Integer) else None, _emit_bitwise_count)


def _shift(ufunc, beyond):
    """NumPy's shift: by as many bits as the number has, or more, or by a negative number of bits, is `beyond(builder,
    kind, x)`.
    """

    def emit(context, builder, sig, args):
        (x, n), kind = args, sig.return_type
        fits = builder.icmp_unsigned("<", n, n.type(kind.bitwidth))
        n = builder.select(fits, n, n.type(0))  # the processor's own shift knows no others
        move = builder.shl if ufunc is np.left_shift else builder.ashr if kind.signed else builder.lshr
        return builder.select(fits, move(x, n), beyond(builder, kind, x))

    function = quiet(ufunc, f"NumPy's {ufunc.__name__}, by any number of bits.")
    return compiled_as(function, like_ufunc(ufunc, types.Integer), emit)


def _no_bits(builder, kind, x):
    return x.type(0)


def _signs(builder, kind, x):
    return builder.ashr(x, x.type(kind.bitwidth - 1)) if kind.signed else x.type(0)


left_shift, right_shift = _shift(np.left_shift, _no_bits), _shift(np.right_shift, _signs)


# --- one formula for each kind of number ----------------------------------------------------------------------------


def _by_kind(ufunc, **bodies):
    """NumPy's `ufunc`, compiled from a formula for each kind (Float, Integer, Complex); Numba's own for the others."""
    emits = {getattr(types, kind): emit_python(body) for kind, body in bodies.items()}

    def emit(context, builder, sig, args):
        chosen = next(e for kind, e in emits.items() if isinstance(sig.return_type, kind))
        return chosen(context, builder, sig, args)

    function = quiet(ufunc, f"NumPy's {ufunc.__name__}, without its warnings.")
    return compiled_as(function, like_ufunc(ufunc, *emits), emit, fallback=ufunc)


def _float_floor_divide(x, y):
    # npy_divmod in numpy/core/src/npymath/npy_math_internal.h.src: (x - r) / y is nearly an integer, unlike x / y
    if y == 0:
        return x / y
    r = np.fmod(x, y)
    q = (x - r) / y
    if r != 0 and (y < 0) != (r < 0):
        q -= 1
    if q == 0:
        return copysign(q, x / y)
    low = floor(q)
    return low + 1 if q - low > 0.5 else low


def _float_remainder(x, y):
    r = np.fmod(x, y)
    if r == 0:
        return copysign(r, y)
    return r + y if (y < 0) != (r < 0) else r


def _float_fmod(x, y):
    return np.fmod(x, y)


# A division by zero is zero. Division by -1 is a negation, because the smallest integer by -1 stops the machine.


def _integer_floor_divide(x, y):
    if y == 0:
        return y
    return (x ^ x) - x if y < 0 and y + 1 == 0 else x // y


def _integer_remainder(x, y):
    return x ^ x if y == 0 or (y < 0 and y + 1 == 0) else x % y


def _integer_fmod(x, y):
    if y == 0 or (y < 0 and y + 1 == 0):
        return x ^ x
    r = x % y
    return r - y if r != 0 and (x < 0) != (y < 0) else r


def _integer_power(x, n):
    # Numba's own may go by way of a float, which rounds beyond 2**53: up to 0.63 always, later where n > 0x10000
    if n < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    y = like(1, x)
    while n > 0:  # by squaring, bit after bit of n; products wrap around, as NumPy's do
        if n & 1:
            y = y * x
        x = x * x
        n = n >> 1
    return y


def _float_power(x, y):
    return pow(x, y)


def _real_sign(x):
    return where(x > 0, like(1, x), where(x < 0, like(-1, x), where(x == 0, like(0, x), x)))  # a nan stays


def _complex_sign(x):
    # npy_csgn of NumPy 2: x / |x|, by the infinite part alone where there is one
    a, b = x.real, x.imag
    if math.isinf(a) != math.isinf(b):
        return complex(where(math.isinf(a), copysign(1.0, a), 0.0), where(math.isinf(b), copysign(1.0, b), 0.0))
    size = abs(x)
    return x if a == 0 and b == 0 else complex(a / size, b / size)


def _complex_power(x, y):  # zero to a power of positive real part is zero; Numba returns nan
    return x - x if x == 0 and y.real > 0 else x**y


# Numba's quotient of complex numbers raises where the divisor is zero.


def _complex_quotient(x, y):
    # Smith's method, as in NumPy's loops
    if y.real == 0 and y.imag == 0:
        return complex(x.real / abs(y.real), x.imag / abs(y.real))
    if abs(y.real) >= abs(y.imag):
        ratio = y.imag / y.real
        scale = 1 / (y.real + y.imag * ratio)
        return complex((x.real + x.imag * ratio) * scale, (x.imag - x.real * ratio) * scale)
    ratio = y.real / y.imag
    scale = 1 / (y.imag + y.real * ratio)
    return complex((x.real * ratio + x.imag) * scale, (x.imag * ratio - x.real) * scale)


def _complex_reciprocal(x):
    if abs(x.imag) <= abs(x.real):
        ratio = x.imag / x.real
        scale = x.real + x.imag * ratio
        return complex(1 / scale, -ratio / scale)
    ratio = x.real / x.imag
    scale = x.real * ratio + x.imag
    return complex(ratio / scale, -1 / scale)


quotient = _by_kind(np.true_divide, Complex=_complex_quotient)
reciprocal = _by_kind(np.reciprocal, Complex=_complex_reciprocal)
floor_divide = _by_kind(np.floor_divide, Float=_float_floor_divide, Integer=_integer_floor_divide)
remainder = _by_kind(np.remainder, Float=_float_remainder, Integer=_integer_remainder)
fmod = _by_kind(np.fmod, Float=_float_fmod, Integer=_integer_fmod)
power = _by_kind(np.power, Float=_float_power, Integer=_integer_power, Complex=_complex_power)
sign = _by_kind(np.sign, Float=_real_sign, Integer=_real_sign, Complex=_complex_sign)


# --- order: maximum and minimum pass nans on, fmax and fmin pass them over ------------------------------------------


def _extreme(ufunc, comparison, passes_nans_on, summary):
    """The one of two numbers that the comparison holds for; which of them a nan is, tells the rest."""

    def emit(context, builder, sig, args):
        x, y = args
        if not isinstance(sig.return_type, types.Float):
            is_signed = getattr(sig.return_type, "signed", False)
            compare = builder.icmp_signed if is_signed else builder.icmp_unsigned
            return builder.select(compare(comparison, x, y), x, y)
        suspect = x if passes_nans_on else y
        is_nan = builder.fcmp_unordered("!=", suspect, suspect)
        return builder.select(builder.or_(builder.fcmp_ordered(comparison, x, y), is_nan), x, y)

    return compiled_as(quiet(ufunc, summary), like_ufunc(ufunc, *REAL), emit, fallback=ufunc)


maximum = _extreme(np.maximum, ">=", True, "The larger, or the nan.")
minimum = _extreme(np.minimum, "<=", True, "The smaller, or the nan.")
fmax = _extreme(np.fmax, ">=", False, "The larger, or the one that is not a nan.")
fmin = _extreme(np.fmin, "<=", False, "The smaller, or the one that is not a nan.")


@formula(like_ufunc(np.heaviside), np.heaviside)
def heaviside(x, h):
    """0 below zero, 1 above, h at zero.

    >>> float(heaviside(0.0, 0.5))
    0.5
    """
    return where(x > 0, like(1, x), where(x < 0, like(0, x), where(x == 0, h, x)))


# --- the cardinal sine ----------------------------------------------------------------------------------------------


@formula(real_floats(1), np.sinc)
def sinc(x):
    """NumPy's sinc, sin(pi x) / (pi x).

    >>> float(sinc(0.0))
    1.0
    """
    y = like(math.pi, x) * where(x == 0, like(1.0e-20, x), x)
    return sin(y) / y
