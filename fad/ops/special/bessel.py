"""Bessel functions and their kin. Formulas: Digital Library of Mathematical Functions, chapters 9 to 11.

The derivative of a Bessel function is a combination of the neighbouring orders. It does not divide by x, so it is
right at zero and so are all higher derivatives. With respect to the order there is no closed form, and fad raises.
"""
from collections.abc import Callable
from typing import Any

from ...ir.op import Op
from ...util.array import AnyArray
from ..choice import sign, where
from ..transcendental import sqrt
from .base import POSITIVE, SQRT_PI, NoFormula, real_only, special, special_part
from .gamma import rgamma

ORDER = NoFormula("the derivative with respect to the order of a Bessel function has no closed form")
NOT_HOLOMORPHIC = "it is scaled by a function that is not holomorphic"
ARGUMENTS = (1.5, POSITIVE)


def _halves(name: str, lower: float, upper: float, extra: "Callable | None" = None, check: str = "") -> Op:
    """The op f of order v with f_v' = lower f_{v-1} + upper f_{v+1} + extra(y, x)."""
    def slope(y: AnyArray, v: Any, x: AnyArray) -> AnyArray:
        neighbours = lower * op(v - 1, x) + upper * op(v + 1, x)
        return neighbours if extra is None else neighbours + extra(y, x)
    op = special(name, ORDER, real_only(slope, check) if check else slope, domain=ARGUMENTS)
    return op


jv = _halves("jv", 0.5, -0.5)
yv = _halves("yv", 0.5, -0.5)
iv = _halves("iv", 0.5, 0.5)
kv = _halves("kv", -0.5, -0.5)
hankel1 = _halves("hankel1", 0.5, -0.5)
hankel2 = _halves("hankel2", 0.5, -0.5)
jve = _halves("jve", 0.5, -0.5, check=NOT_HOLOMORPHIC)
yve = _halves("yve", 0.5, -0.5, check=NOT_HOLOMORPHIC)
ive = _halves("ive", 0.5, 0.5, lambda y, x: -sign(x) * y, check=NOT_HOLOMORPHIC)
kve = _halves("kve", -0.5, -0.5, lambda y, x: y)
hankel1e = _halves("hankel1e", 0.5, -0.5, lambda y, x: -1j * y)
hankel2e = _halves("hankel2e", 0.5, -0.5, lambda y, x: 1j * y)
yn: Op = special("yn", ORDER, lambda y, n, x: 0.5 * (yn(n - 1, x) - yn(n + 1, x)), domain=(2, POSITIVE))
kn: Op = special("kn", ORDER, lambda y, n, x: -0.5 * (kn(abs(n - 1), x) + kn(n + 1, x)), domain=(2, POSITIVE))

j0 = special("j0", lambda y, x: -j1(x))
j1: Op = special("j1", lambda y, x: 0.5 * (j0(x) - jv(2, x)))
y0 = special("y0", lambda y, x: -y1(x))
y1: Op = special("y1", lambda y, x: 0.5 * (y0(x) - yn(2, x)))
i0 = special("i0", lambda y, x: i1(x))
i1: Op = special("i1", lambda y, x: 0.5 * (i0(x) + iv(2, x)))
k0 = special("k0", lambda y, x: -k1(x))
k1: Op = special("k1", lambda y, x: -0.5 * (k0(x) + kn(2, x)))
i0e = special("i0e", lambda y, x: i1e(x) - sign(x) * y)
i1e: Op = special("i1e", lambda y, x: 0.5 * (i0e(x) + ive(2, x)) - sign(x) * y)
k0e = special("k0e", lambda y, x: y - k1e(x))
k1e: Op = special("k1e", lambda y, x: y - 0.5 * (k0e(x) + kve(2, x)))

# -- spherical -------------------------------------------------------------------------------------


def _spherical(name: str, lower: float, upper: float) -> Op:
    """(2n + 1) f_n' = lower n f_{n-1} + upper (n + 1) f_{n+1}. For n = 0 the first term is zero, whatever its factor.
    """
    def slope(y: AnyArray, n: int, x: AnyArray) -> AnyArray:
        return (lower * n * op(abs(n - 1), x) + upper * (n + 1) * op(n + 1, x)) / (2 * n + 1)
    op = special(name, ORDER, slope, domain=(2, POSITIVE), behind="_" + name)
    return op


spherical_jn = _spherical("spherical_jn", 1.0, -1.0)
spherical_yn = _spherical("spherical_yn", 1.0, -1.0)
spherical_in = _spherical("spherical_in", 1.0, 1.0)
spherical_kn = _spherical("spherical_kn", -1.0, -1.0)

# -- Struve functions, integrals -------------------------------------------------------------------


def _struve_term(v: Any, x: Any) -> Any:
    return (0.5 * x) ** v * rgamma(v + 1.5) / SQRT_PI


struve: Op = special("struve", ORDER, lambda y, v, x: 0.5 * (struve(v - 1, x) - struve(v + 1, x) + _struve_term(v, x)),
                     domain=ARGUMENTS)
modstruve: Op = special("modstruve", ORDER,
                        lambda y, v, x: 0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x) + _struve_term(v, x)),
                        domain=ARGUMENTS)
itstruve0 = special("itstruve0", lambda y, x: struve(0, x))
it2struve0 = special("it2struve0", lambda y, x: -struve(0, x) / x)
itmodstruve0 = special("itmodstruve0", lambda y, x: modstruve(0, x))
itj0 = special_part("itj0", 0, lambda y, x: j0(x), call="itj0y0")
ity0 = special_part("ity0", 1, lambda y, x: y0(x), call="itj0y0")
iti0 = special_part("iti0", 0, lambda y, x: i0(x), call="iti0k0")
itk0 = special_part("itk0", 1, lambda y, x: k0(x), call="iti0k0")
it2j0 = special_part("it2j0", 0, lambda y, x: (1.0 - j0(x)) / x, call="it2j0y0")
it2y0 = special_part("it2y0", 1, lambda y, x: -y0(x) / x, call="it2j0y0")
it2i0 = special_part("it2i0", 0, lambda y, x: (i0(x) - 1.0) / x, call="it2i0k0")
it2k0 = special_part("it2k0", 1, lambda y, x: -k0(x) / x, call="it2i0k0")
besselpoly: Op = special("besselpoly",
                         lambda y, a, b, v: besselpoly(a, b + 1.0, v - 1.0) - besselpoly(a, b + 1.0, v + 1.0),
                         ORDER, ORDER, domain=(POSITIVE, 0.5, 1.5))

# -- Airy functions: Ai'' = x Ai -------------------------------------------------------------------

NEAR_ZERO = (-1.5, 1.5)
airy_ai = special_part("airy_ai", 0, lambda y, x: airy_aip(x), call="airy", domain=NEAR_ZERO)
airy_aip: Op = special_part("airy_aip", 1, lambda y, x: x * airy_ai(x), call="airy", domain=NEAR_ZERO)
airy_bi = special_part("airy_bi", 2, lambda y, x: airy_bip(x), call="airy", domain=NEAR_ZERO)
airy_bip: Op = special_part("airy_bip", 3, lambda y, x: x * airy_bi(x), call="airy", domain=NEAR_ZERO)


def _growth(x: Any) -> AnyArray:
    """The rate at which airye scales Bi down: sqrt(x) right of zero."""
    return where(x > 0, sqrt(where(x > 0, x, 1.0)), 0.0)


airye_ai = special_part("airye_ai", 0, lambda y, x: airye_aip(x) + sqrt(x) * y, call="airye")
airye_aip: Op = special_part("airye_aip", 1, lambda y, x: x * airye_ai(x) + sqrt(x) * y, call="airye")
airye_bi = special_part("airye_bi", 2, real_only(lambda y, x: airye_bip(x) - _growth(x) * y, NOT_HOLOMORPHIC),
                        call="airye")
airye_bip: Op = special_part("airye_bip", 3, real_only(lambda y, x: x * airye_bi(x) - _growth(x) * y, NOT_HOLOMORPHIC),
                             call="airye")
itairy_ai = special_part("itairy_ai", 0, lambda y, x: airy_ai(x), call="itairy")
itairy_bi = special_part("itairy_bi", 1, lambda y, x: airy_bi(x), call="itairy")
itairy_minus_ai = special_part("itairy_minus_ai", 2, lambda y, x: airy_ai(-x), call="itairy")
itairy_minus_bi = special_part("itairy_minus_bi", 3, lambda y, x: airy_bi(-x), call="itairy")

# -- Kelvin functions: w = ber + i bei (or ker + i kei) solves w'' + w' / x = i w ------------------


def _over(y: AnyArray, x: AnyArray) -> AnyArray:
    """y / x for a y that vanishes at zero, and 0 there."""
    return where(x == 0, 0.0, y / where(x == 0, 1.0, x))


ber = special("ber", lambda y, x: berp(x))
bei = special("bei", lambda y, x: beip(x))
ker = special("ker", lambda y, x: kerp(x))
kei = special("kei", lambda y, x: keip(x))
berp: Op = special("berp", lambda y, x: -bei(x) - _over(y, x))
beip: Op = special("beip", lambda y, x: where(x == 0, 0.5, ber(x) - _over(y, x)))
kerp: Op = special("kerp", lambda y, x: -kei(x) - y / x)
keip: Op = special("keip", lambda y, x: ker(x) - y / x)
