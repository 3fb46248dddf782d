"""The elementary functions exp, log, sin, ... in a form that LLVM's loop vectoriser widens (see `widen`).

float64 and float32 go to libmvec (to 4 units in the last place), integers convert as in NumPy, everything else (complex
numbers, arrays) goes to Numba's own function of that name. Where libmvec is missing Numba's own function serves all.

    >>> float(exp(0.0)), float(atan2(0.0, 1.0))
    (1.0, 0.0)
    >>> import numba
    >>> numba.njit(lambda x: log(x))(1)
    0.0
"""
import math

import numpy as np
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


def _emit(name, numbas):
    """Emit a call that LLVM can widen, or Numba's own function where libmvec has none."""

    def emit(context, builder, sig, args):
        if name in OF_COMPLEX and isinstance(sig.args[0], types.Complex):
            return context.compile_internal(builder, OF_COMPLEX[name], sig, args)
        wide = call_wide(context, builder, name, args)
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
pow, cbrt, hypot = _elementary("pow", np.power), _elementary("cbrt", np.cbrt), _elementary("hypot", np.hypot)  # noqa: A001
sin, cos, tan = _elementary("sin", np.sin), _elementary("cos", np.cos), _elementary("tan", np.tan)
asin, acos, atan = _elementary("asin", np.arcsin), _elementary("acos", np.arccos), _elementary("atan", np.arctan)
sinh, cosh, tanh = _elementary("sinh", np.sinh), _elementary("cosh", np.cosh), _elementary("tanh", np.tanh)
asinh, acosh = _elementary("asinh", np.arcsinh), _elementary("acosh", np.arccosh)
atanh, atan2 = _elementary("atanh", np.arctanh), _elementary("atan2", np.arctan2)
erf, erfc = _error_function("erf", math.erf), _error_function("erfc", math.erfc)
