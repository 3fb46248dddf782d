"""The error function's family, and the normal distribution. Formulas: Digital Library of Mathematical Functions,
chapter 7."""
import cmath
import math

from ...util.array import AnyArray
from ..complex import imag, make_complex, real
from ..transcendental import cos, exp, sin
from .base import PI, SQRT2, SQRT_PI, special, special_part

WIDE, UNIT = (-2.0, 2.0), (-0.9, 0.9)
SQRT_2PI = math.sqrt(2 * PI)

erf = special("erf", lambda y, x: 2.0 / SQRT_PI * exp(-x * x), domain=WIDE)
erfc = special("erfc", lambda y, x: -2.0 / SQRT_PI * exp(-x * x), domain=WIDE)
erfcx = special("erfcx", lambda y, x: 2.0 * x * y - 2.0 / SQRT_PI, domain=WIDE)
erfi = special("erfi", lambda y, x: 2.0 / SQRT_PI * exp(x * x), domain=(-1.5, 1.5))
dawsn = special("dawsn", lambda y, x: 1.0 - 2.0 * x * y, domain=WIDE)
wofz = special("wofz", lambda y, x: 2j / SQRT_PI - 2.0 * x * y, domain=WIDE)
erfinv = special("erfinv", lambda y, x: 0.5 * SQRT_PI * exp(y * y), domain=UNIT)
erfcinv = special("erfcinv", lambda y, x: -0.5 * SQRT_PI * exp(y * y), domain=(0.1, 1.9))

# -- the normal distribution -----------------------------------------------------------------------


def density(x: AnyArray) -> AnyArray:
    """Of the standard normal distribution."""
    return exp(-0.5 * x * x) / SQRT_2PI


def hazard(x: AnyArray) -> AnyArray:
    """density(x) / ndtr(x), without underflow."""
    return math.sqrt(2.0 / PI) / erfcx(-x / SQRT2)


ndtr = special("ndtr", lambda y, x: density(x), domain=WIDE)
log_ndtr = special("log_ndtr", lambda y, x: hazard(x), domain=WIDE)
ndtri = special("ndtri", lambda y, x: SQRT_2PI * exp(0.5 * y * y), domain=(0.1, 0.9))
ndtri_exp = special("ndtri_exp", lambda y, x: 1.0 / hazard(y), domain=(-2.0, -0.2))
owens_t = special("owens_t", lambda y, h, a: -0.5 * density(h) * erf(a * h / SQRT2),
                  lambda y, h, a: exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * PI * (1.0 + a * a)), domain=WIDE)
nrdtrimn = special("nrdtrimn", lambda y, p, sd, x: -sd / density(ndtri(p)), lambda y, p, sd, x: -ndtri(p),
                   lambda y, p, sd, x: 1.0, domain=((0.1, 0.4), (0.5, 2.0), (-1.0, 1.0)))
nrdtrisd = special("nrdtrisd", lambda y, m, p, x: -1.0 / ndtri(p),
                   lambda y, m, p, x: -y / (ndtri(p) * density(ndtri(p))), lambda y, m, p, x: 1.0 / ndtri(p),
                   domain=((-1.0, 0.0), (0.6, 0.9), (0.5, 2.0)))

# -- Voigt's profile: Re w(z) / (s sqrt(2 pi)), with w = wofz and z = (x + i g) / (s sqrt(2))


def _voigt_w(x: object, s: AnyArray, g: object) -> tuple:
    """z and w'(z)."""
    z = make_complex(x, g) / (SQRT2 * s)
    return z, 2j / SQRT_PI - 2.0 * z * wofz(z)


def _voigt_width(y: AnyArray, x: object, s: AnyArray, g: object) -> AnyArray:
    z, slope = _voigt_w(x, s, g)
    return -(y + real(z * slope) / (SQRT_2PI * s)) / s


voigt_profile = special("voigt_profile", lambda y, x, s, g: real(_voigt_w(x, s, g)[1]) / (2.0 * SQRT_PI * s * s),
                        _voigt_width, lambda y, x, s, g: -imag(_voigt_w(x, s, g)[1]) / (2.0 * SQRT_PI * s * s),
                        domain=((-2.0, 2.0), (0.5, 2.0), (0.5, 2.0)))

# -- Fresnel's integrals ---------------------------------------------------------------------------

fresnel_s = special_part("fresnel_s", 0, lambda y, x: sin(0.5 * PI * x * x), call="fresnel", domain=WIDE)
fresnel_c = special_part("fresnel_c", 1, lambda y, x: cos(0.5 * PI * x * x), call="fresnel", domain=WIDE)
modfresnelp_f = special_part("modfresnelp_f", 0, lambda y, x: -exp(1j * x * x), call="modfresnelp")
modfresnelp_k = special_part("modfresnelp_k", 1, lambda y, x: -2j * x * y - cmath.exp(-0.25j * PI) / SQRT_PI,
                             call="modfresnelp")
modfresnelm_f = special_part("modfresnelm_f", 0, lambda y, x: -exp(-1j * x * x), call="modfresnelm")
modfresnelm_k = special_part("modfresnelm_k", 1, lambda y, x: 2j * x * y - cmath.exp(0.25j * PI) / SQRT_PI,
                             call="modfresnelm")
