"""Exponentials, logarithms, trigonometric and hyperbolic functions, their inverses, and sums in the logarithmic domain.

Formulas: Abramowitz & Stegun, Handbook of Mathematical Functions, chapter 4, in forms that neither overflow nor cancel.
"""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.traits import Traits
from ..util.array import AnyArray, ArrayOrNumber
from .arithmetic import POSITIVE, is_literal, sqrt
from .kinds import Partials, is_complex
from .pointwise import elementwise, in_program, op

INSIDE = (-0.8, 0.8)
LN2, LN10 = math.log(2.0), math.log(10.0)

# -- exponentials and logarithms -------------------------------------------------------------------

exp = elementwise("exp", np.exp, "exp({0})", Partials(lambda y, x: y), traits=Traits(raises="range", stem="e"))
exp2 = elementwise("exp2", np.exp2, "exp2({0})", Partials(lambda y, x: LN2 * y), traits=Traits(raises="range"))
expm1 = elementwise("expm1", np.expm1, "expm1({0})", Partials(lambda y, x: exp(x) if in_program(y) else y + 1.0),
                    traits=Traits(raises="range"))
log = elementwise("log", np.log, "log({0})", Partials(lambda y, x: 1.0 / x), POSITIVE,
                  traits=Traits(raises="domain", stem="log_of"))
log2 = elementwise("log2", np.log2, "log2({0})", Partials(lambda y, x: 1.0 / (LN2 * x)), POSITIVE,
                   traits=Traits(raises="domain"))
log10 = elementwise("log10", np.log10, "log10({0})", Partials(lambda y, x: 1.0 / (LN10 * x)), POSITIVE,
                    traits=Traits(raises="domain"))
log1p = elementwise("log1p", np.log1p, "log1p({0})", Partials(lambda y, x: 1.0 / (1.0 + x)), (-0.5, 2.0),
                    traits=Traits(raises="domain"))


def _share(rate: float) -> Any:
    """The weight of x in log(e^x + e^y) is the logistic function of x - y; equal infinities have equal weights."""
    def weight(x: AnyArray, y: ArrayOrNumber) -> AnyArray:
        return op("expit")(rate * (x - y if _is_finite(x) or _is_finite(y)
                                   else op("where")((x == y) & op("isinf")(x), 0.0, x - y)))
    return Partials(lambda z, x, y: weight(x, y), lambda z, x, y: weight(y, x))


def _is_finite(x: ArrayOrNumber) -> bool:
    """Whether x is a number written in the program, and finite."""
    return is_literal(x) and math.isfinite(x)


logaddexp = elementwise("logaddexp", np.logaddexp, "logaddexp({0}, {1})", _share(1.0))
logaddexp2 = elementwise("logaddexp2", np.logaddexp2, "logaddexp2({0}, {1})", _share(LN2))

# -- circular functions ----------------------------------------------------------------------------

sin = elementwise("sin", np.sin, "sin({0})", Partials(lambda y, x: cos(x)), traits=Traits(raises="domain", stem="sine"))
cos: Op = elementwise("cos", np.cos, "cos({0})", Partials(lambda y, x: -sin(x)),
                      traits=Traits(raises="domain", stem="cosine"))
tan = elementwise("tan", np.tan, "tan({0})", Partials(lambda y, x: 1.0 + y * y), (-1.2, 1.2),
                  traits=Traits(raises="domain"))


def _on_branch(root: AnyArray, x: AnyArray, guide: Callable) -> AnyArray:
    """The root, or its negative, as the guide says. On a branch cut rounding of zeros decides which one sqrt gives; the
    guide is a function of the op's own result, which is on the right side."""
    if not is_complex(x):
        return root
    against = op("real")(root * op("conj")(guide())) < 0
    return op("where")(against, -root, root)


def _circle(x: AnyArray, guide: Callable) -> AnyArray:
    """sqrt(1 - x^2)"""
    return _on_branch(sqrt((1.0 - x) * (1.0 + x)), x, guide)


arcsin = elementwise("arcsin", np.arcsin, "asin({0})",
                     Partials(lambda y, x: 1.0 / _circle(x, lambda: cos(y)), singular=(0,)), INSIDE,
                     traits=Traits(raises="domain"))
arccos = elementwise("arccos", np.arccos, "acos({0})",
                     Partials(lambda y, x: -1.0 / _circle(x, lambda: sin(y)), singular=(0,)), INSIDE,
                     traits=Traits(raises="domain"))
arctan = elementwise("arctan", np.arctan, "atan({0})", Partials(lambda y, x: 1.0 / (1.0 + x * x)))


def _nonzero(r: AnyArray) -> AnyArray:
    return op("where")(r == 0, 1.0, r)


def _angle_partial(across: AnyArray, x: AnyArray, y: AnyArray) -> AnyArray:
    r = _nonzero(hypot(x, y))                                 # at the origin the derivative is zero by convention
    return across / r / r


arctan2 = elementwise("arctan2", np.arctan2, "atan2({0}, {1})",
                      Partials(lambda z, y, x: _angle_partial(x, x, y), lambda z, y, x: _angle_partial(-y, x, y)),
                      traits=Traits(jumps=True))
hypot = elementwise("hypot", np.hypot, "hypot({0}, {1})",
                    Partials(lambda z, x, y: x / _nonzero(z), lambda z, x, y: y / _nonzero(z)))

# -- hyperbolic functions --------------------------------------------------------------------------


def _arcsinh_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    return 1.0 / (_on_branch(sqrt(1.0 + x * x), x, lambda: cosh(y)) if is_complex(x) else hypot(1.0, x))


sinh = elementwise("sinh", np.sinh, "sinh({0})", Partials(lambda y, x: cosh(x)), traits=Traits(raises="range"))
cosh: Op = elementwise("cosh", np.cosh, "cosh({0})", Partials(lambda y, x: sinh(x)), traits=Traits(raises="range"))
tanh = elementwise("tanh", np.tanh, "tanh({0})", Partials(lambda y, x: (1.0 - y) * (1.0 + y)))
arcsinh = elementwise("arcsinh", np.arcsinh, "asinh({0})", Partials(_arcsinh_partial))
arccosh = elementwise("arccosh", np.arccosh, "acosh({0})",
                      Partials(lambda y, x: 1.0 / _on_branch(sqrt(x - 1.0) * sqrt(x + 1.0), x, lambda: sinh(y)),
                               singular=(0,)), (1.2, 3.0), traits=Traits(raises="domain"))
arctanh = elementwise("arctanh", np.arctanh, "atanh({0})", Partials(lambda y, x: 1.0 / ((1.0 - x) * (1.0 + x))), INSIDE,
                      traits=Traits(raises="domain"))
