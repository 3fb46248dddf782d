"""The elementary functions exp, log, sin, ... in a form that LLVM's loop vectoriser widens (see `widen`).

float64 and float32 go to libmvec (to 4 units in the last place; tanh through its exponential), integers convert as in
NumPy, everything else (complex numbers, arrays) goes to Numba's own function of that name. Where libmvec is missing
Numba's own function serves all.

    >>> float(exp(0.0)), float(atan2(0.0, 1.0))
    (1.0, 0.0)
    >>> import numba
    >>> numba.njit(lambda x: log(x))(1)
    0.0
"""
import math

import numpy as np
from llvmlite import ir
from numba.core import types

from fad.kernels.promotion import compiled_as, like_ufunc, quiet, real_floats
from fad.kernels.widen import call_wide

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "hypot", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh",
]  # fmt: skip


def _principal_acosh(x):
    """The arccosh whose real part is not negative. Numba gives the other one below the branch cut, at -2 - 0j."""
    y = np.arccosh(x)
    return -y if y.real < 0 else y


OF_COMPLEX = {"acosh": _principal_acosh}  # in place of functions of Numba that differ from NumPy's


FROM_EXP = 0.625  # on, tanh is 1 - 2 / (exp(2 x) + 1); below, x + x z P(z) / Q(z), z = x x (S. Moshier's Cephes)
P = -0.964399179425052238628, -99.2877231001918586564, -1614.68768441708447952
Q = 1.0, 112.811678491632931402, 2235.48839060100448583, 4844.06305325125486048


def _tanh(context, builder, x):
    """Emit tanh of a float64 by one exponential and one division; None where no exponential is wide. libmvec's own
    takes three times as long with AVX2.
    """
    real = x.type
    size = builder.call(builder.module.declare_intrinsic("llvm.fabs", [real]), [x])
    e = call_wide(context, builder, "exp", [builder.fadd(size, size)])
    if e is None:
        return None
    square = builder.fmul(x, x)

    def polynomial(coefficients):
        total = ir.Constant(real, coefficients[0])
        for c in coefficients[1:]:
            total = builder.fadd(builder.fmul(total, square, flags=("contract",)), ir.Constant(real, c),
                                 flags=("contract",))
        return total

    is_small, one = builder.fcmp_ordered("<", size, ir.Constant(real, FROM_EXP)), ir.Constant(real, 1.0)
    above = builder.select(is_small, builder.fmul(builder.fmul(size, square), polynomial(P)), ir.Constant(real, -2.0))
    below = builder.select(is_small, polynomial(Q), builder.fadd(e, one))
    found = builder.fadd(builder.select(is_small, size, one), builder.fdiv(above, below))
    kind = ir.FunctionType(real, [real, real])
    return builder.call(builder.module.declare_intrinsic("llvm.copysign", [real], kind), [found, x])


def _emit(name, numbas):
    """Emit a call that LLVM can widen, or Numba's own function where libmvec has none."""

    def emit(context, builder, sig, args):
        if name in OF_COMPLEX and isinstance(sig.args[0], types.Complex):
            return context.compile_internal(builder, OF_COMPLEX[name], sig, args)
        wide = _tanh(context, builder, args[0]) if name == "tanh" and sig.args[0] == types.float64 else None
        wide = call_wide(context, builder, name, args) if wide is None else wide
        if wide is not None:
            return wide
        callee = context.typing_context.resolve_value_type(numbas)
        callee.get_call_type(context.typing_context, sig.args, {})
        return context.get_function(callee, sig)(builder, args)

    return emit


def _elementary(name, ufunc):
    function = quiet(ufunc, f"NumPy's {ufunc.__name__}; compiled, a call of libm's {name} that LLVM can widen.", name)
    kinds = (types.Float, types.Complex) if name in OF_COMPLEX else (types.Float,)
    return compiled_as(function, like_ufunc(ufunc, *kinds), _emit(name, ufunc), fallback=ufunc)


def _error_function(name, numbas):
    """erf and erfc, which NumPy lacks: SciPy's in plain Python."""

    def plain(x):
        import scipy.special

        return getattr(scipy.special, name)(x)

    function = quiet(plain, f"SciPy's {name} of a real; compiled, a call of libm's {name} that LLVM can widen.", name)
    return compiled_as(function, real_floats(1), _emit(name, numbas))


exp, expm1, exp2 = _elementary("exp", np.exp), _elementary("expm1", np.expm1), _elementary("exp2", np.exp2)
log, log1p = _elementary("log", np.log), _elementary("log1p", np.log1p)
log2, log10 = _elementary("log2", np.log2), _elementary("log10", np.log10)
pow, cbrt, hypot = _elementary("pow", np.power), _elementary("cbrt", np.cbrt), _elementary("hypot", np.hypot)
sin, cos, tan = _elementary("sin", np.sin), _elementary("cos", np.cos), _elementary("tan", np.tan)
asin, acos, atan = _elementary("asin", np.arcsin), _elementary("acos", np.arccos), _elementary("atan", np.arctan)
sinh, cosh, tanh = _elementary("sinh", np.sinh), _elementary("cosh", np.cosh), _elementary("tanh", np.tanh)
asinh, acosh = _elementary("asinh", np.arcsinh), _elementary("acosh", np.arccosh)
atanh, atan2 = _elementary("atanh", np.arctanh), _elementary("atan2", np.arctan2)
erf, erfc = _error_function("erf", math.erf), _error_function("erfc", math.erfc)
