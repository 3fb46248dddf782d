"""Hypergeometric functions, exponential and trigonometric integrals, Lambert's and Wright's functions.

Formulas: Digital Library of Mathematical Functions, chapters 4, 6, 13, 15, 16.
"""
import math
from typing import Any

import numpy as np

from ...ir.op import Op
from ...util.array import AnyArray
from ..choice import abs as absolute
from ..choice import where
from ..kinds import Partials
from ..pointwise import composed, op
from ..transcendental import cos, cosh, exp, log
from .base import PI, POSITIVE, NoFormula, special, special_part

PARAMETER = NoFormula("the derivative of a hypergeometric function with respect to a parameter has no closed form")
WIDE = (-0.8, 0.8)

hyp0f1: Op = special("hyp0f1", PARAMETER, lambda y, b, x: hyp0f1(b + 1.0, x) / b, domain=(1.5, WIDE))
hyp1f1: Op = special("hyp1f1", PARAMETER, PARAMETER, lambda y, a, b, x: a / b * hyp1f1(a + 1.0, b + 1.0, x),
                     domain=(0.7, 1.5, WIDE))
hyp2f1: Op = special("hyp2f1", PARAMETER, PARAMETER, PARAMETER,
                     lambda y, a, b, c, x: a * b / c * hyp2f1(a + 1.0, b + 1.0, c + 1.0, x),
                     domain=(0.7, 1.2, 1.5, WIDE))
hyperu: Op = special("hyperu", PARAMETER, PARAMETER, lambda y, a, b, x: -a * hyperu(a + 1.0, b + 1.0, x),
                     domain=(0.7, 1.5, POSITIVE))
wright_bessel: Op = special("wright_bessel", PARAMETER, PARAMETER, lambda y, a, b, x: wright_bessel(a, a + b, x),
                            domain=(0.7, 1.5, POSITIVE))
log_wright_bessel: Op = special("log_wright_bessel", PARAMETER, PARAMETER,
                                lambda y, a, b, x: exp(log_wright_bessel(a, a + b, x) - y), domain=(0.7, 1.5, POSITIVE))

# -- exponential and trigonometric integrals -------------------------------------------------------


def _expn_slope(y: Any, n: Any, x: Any) -> Any:
    """-E_{n-1}(x), which for n = 0 SciPy does not have: there by the recurrence."""
    if isinstance(n, int):
        return -expn(n - 1, x) if n > 0 else -(exp(-x) + y) / x
    return where(n < 1, -(exp(-x) + y) / x, -expn(abs(n - 1), x))


exp1 = special("exp1", lambda y, x: -exp(-x) / x)
expi = special("expi", lambda y, x: exp(x) / x)
expn = special("expn", NoFormula("it is a function of an integer order"), _expn_slope, domain=(2, POSITIVE))
sici_si = special_part("sici_si", 0, lambda y, x: hyp0f1(1.5, -0.25 * x * x), call="sici")           # sin(x) / x
sici_ci = special_part("sici_ci", 1, lambda y, x: cos(x) / x, call="sici")
shichi_shi = special_part("shichi_shi", 0, lambda y, x: hyp0f1(1.5, 0.25 * x * x), call="shichi")    # sinh(x) / x
shichi_chi = special_part("shichi_chi", 1, lambda y, x: cosh(x) / x, call="shichi")
def _of_spence(y: AnyArray, x: AnyArray) -> AnyArray:
    """log(x) / (1 - x), -1 at 1: by a series around 1, which SciPy loses far from it."""
    near = absolute(x - 1.0) < 0.5
    far = where(near, 2.0, x)
    return where(near, -hyp2f1(1.0, 1.0, 2.0, -(where(near, x, 1.0) - 1.0)), log(far) / (1.0 - far))


spence = special("spence", _of_spence)

# d/dx sin(u) / u = pi sum_k (-1)^k 2k u^(2k-1) / (2k+1)!, where u = pi x
_SINC_SERIES = [(-1) ** k * 2.0 * k / math.factorial(2 * k + 1) for k in range(1, 12)]


def _sinc_slope(y: Any, x: Any) -> Any:
    """(cos(pi x) - sinc(x)) / x; near zero, where that loses digits, the series. PyTorch saves x alone, too."""
    is_near = abs(x) < 0.5
    u = PI * where(is_near, x, 0.0)
    total: Any = 0.0
    for c in reversed(_SINC_SERIES):
        total = total * (u * u) + c
    return where(is_near, PI * u * total, (cos(PI * x) - op("sinc")(x)) / where(is_near, 1.0, x))


sinc = composed("sinc", lambda x: np.sinc(x)[()], lambda x: op("sin").infer(x), "sinc({0})", Partials(_sinc_slope),
                (-2.0, 2.0), arity=1, doc="sin(pi x) / (pi x), 1 at zero")

# -- inverses of x e^x and x + log x ---------------------------------------------------------------

wrightomega = special("wrightomega", lambda y, x: y / (1.0 + y), domain=(-2.0, 2.0))
lambertw = special("lambertw", lambda y, x, k, tol: exp(-y) / (1.0 + y), None, None, domain=(POSITIVE, 0, 1e-8),
                   behind="_lambertw")
