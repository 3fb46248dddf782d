"""Elliptic integrals and functions, by hypergeometric functions and Carlson's symmetric integrals, without removable
singularities.

Formulas: Digital Library of Mathematical Functions, chapters 19 and 22.
"""
from typing import Any

from ...ir.op import Op
from ...util.array import AnyArray, ArrayOrNumber
from ..arithmetic import rint
from ..choice import where
from ..transcendental import cos, sin, sqrt
from .base import PI, POSITIVE, special, special_part
from .hypergeometric import hyp2f1

MODULUS = (0.1, 0.8)

# -- complete: K = pi/2 2F1(1/2, 1/2; 1; m), E = pi/2 2F1(-1/2, 1/2; 1; m) -------------------------


def _k_slope(y: object, m: object) -> AnyArray:
    return PI / 8.0 * hyp2f1(1.5, 1.5, 2.0, m)


ellipk = special("ellipk", _k_slope, domain=MODULUS)
ellipkm1 = special("ellipkm1", lambda y, p: -_k_slope(y, 1.0 - p), domain=MODULUS)
ellipe = special("ellipe", lambda y, m: -PI / 8.0 * hyp2f1(0.5, 1.5, 2.0, m), domain=MODULUS)

# -- Carlson's, each an integral over t of powers of t + x, t + y, ... -----------------------------


def _rf(z: object, x: object, y: object) -> AnyArray:
    """The derivative of RF with respect to z, the one named first."""
    return elliprd(x, y, z) / -6.0


def _rd(f: AnyArray, x: ArrayOrNumber, y: ArrayOrNumber, z: AnyArray) -> AnyArray:
    """The derivative of f = RD(x, y, z) with respect to x, by partial fractions."""
    return (elliprd(y, z, x) - f) / (2.0 * (x - z))


def _rd_last(f: AnyArray, x: AnyArray, y: ArrayOrNumber, z: AnyArray) -> AnyArray:
    """With respect to z: RD is homogeneous of degree -3/2."""
    return (-1.5 * f - x * _rd(f, x, y, z) - y * _rd(f, y, x, z)) / z


def _rc(f: object, x: AnyArray, y: AnyArray) -> AnyArray:
    """The derivative of f = RC(x, y) with respect to x: elementary, but for where x and y nearly agree."""
    near = abs(x - y) < 1e-3 * abs(y)
    gap = where(near, 1.0, x - y)
    return where(near, _rf(x, y, y), (1.0 / sqrt(x) - f) / (2.0 * gap))


def _rc_last(f: AnyArray, x: AnyArray, y: AnyArray) -> AnyArray:
    """With respect to y: RC is homogeneous of degree -1/2."""
    return (-0.5 * f - x * _rc(f, x, y)) / y


def _rg(x: object, y: object, z: object) -> AnyArray:
    """The derivative of RG with respect to x, the one named first."""
    return 0.25 * (elliprf(x, y, z) - x * elliprd(y, z, x) / 3.0)


def _rj(f: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    """The derivative of f = RJ(x, y, z, p) with respect to x, by partial fractions."""
    return (f - elliprd(y, z, x)) / (2.0 * (p - x))


def _rj_last(f: Any, x: object, y: object, z: object, p: Any) -> Any:
    """With respect to p: RJ is homogeneous of degree -3/2."""
    others = x * _rj(f, x, y, z, p) + y * _rj(f, y, x, z, p) + z * _rj(f, z, x, y, p)
    return (-1.5 * f - others) / p


elliprd = special("elliprd", lambda f, x, y, z: _rd(f, x, y, z), lambda f, x, y, z: _rd(f, y, x, z), _rd_last,
                  domain=((0.3, 0.8), (1.0, 1.5), (2.0, 3.0)))
elliprf = special("elliprf", lambda f, x, y, z: _rf(x, y, z), lambda f, x, y, z: _rf(y, x, z),
                  lambda f, x, y, z: _rf(z, x, y), domain=((0.3, 0.8), (1.0, 1.5), (2.0, 3.0)))
elliprc = special("elliprc", lambda f, x, y: _rc(f, x, y), _rc_last, domain=((0.3, 0.8), (1.0, 1.5)))
elliprg = special("elliprg", lambda f, x, y, z: _rg(x, y, z), lambda f, x, y, z: _rg(y, x, z),
                  lambda f, x, y, z: _rg(z, x, y), domain=((0.3, 0.8), (1.0, 1.5), (2.0, 3.0)))
elliprj = special("elliprj", lambda f, x, y, z, p: _rj(f, x, y, z, p), lambda f, x, y, z, p: _rj(f, y, x, z, p),
                  lambda f, x, y, z, p: _rj(f, z, x, y, p), _rj_last,
                  domain=((0.3, 0.8), (1.0, 1.5), (2.0, 3.0), (3.5, 4.0)))

# -- incomplete ------------------------------------------------------------------------------------


def _reduced(phi: Any) -> tuple:
    """Half iterations k in phi; sine, and squared cosine, of what is left."""
    k = rint(phi / PI)
    s = sin(phi - k * PI)
    return k, s, cos(phi) * cos(phi)


def _f_modulus(phi: object, m: object) -> AnyArray:
    """The derivative of F(phi | m) with respect to m, with F = s RF(c^2, 1 - m s^2, 1) within half a period, and 2 K
    per half period."""
    k, s, cc = _reduced(phi)
    return s * s * s / 6.0 * elliprd(cc, 1.0, 1.0 - m * s * s) + 2.0 * k * _k_slope(None, m)


def _e_modulus(y: object, phi: object, m: object) -> Any:
    """The derivative of E(phi | m), which is (E - F) / (2 m)."""
    k, s, cc = _reduced(phi)
    return -s * s * s / 6.0 * elliprd(cc, 1.0 - m * s * s, 1.0) - 2.0 * k * PI / 8.0 * hyp2f1(0.5, 1.5, 2.0, m)


def _delta(phi: object, m: object) -> AnyArray:
    return sqrt(1.0 - m * sin(phi) * sin(phi))


ellipkinc = special("ellipkinc", lambda y, phi, m: 1.0 / _delta(phi, m), lambda y, phi, m: _f_modulus(phi, m),
                    domain=((0.2, 1.2), MODULUS))
ellipeinc = special("ellipeinc", lambda y, phi, m: _delta(phi, m), _e_modulus, domain=((0.2, 1.2), MODULUS))

# -- Jacobi's functions: F(ph | m) = u, so that the amplitude moves by -dn F_m as m does -----------


def _ph_modulus(u: object, m: object) -> AnyArray:
    return -ellipj_dn(u, m) * _f_modulus(ellipj_ph(u, m), m)


def _dn_modulus(y: Any, u: Any, m: Any) -> AnyArray:
    s, c = ellipj_sn(u, m), ellipj_cn(u, m)
    return -(s * s + 2.0 * m * s * c * _ph_modulus(u, m)) / (2.0 * y)


JACOBI = ((0.2, 1.2), MODULUS)
ellipj_sn = special_part("ellipj_sn", 0, lambda y, u, m: ellipj_cn(u, m) * ellipj_dn(u, m),
                         lambda y, u, m: ellipj_cn(u, m) * _ph_modulus(u, m), call="ellipj", domain=JACOBI)
ellipj_cn: Op = special_part("ellipj_cn", 1, lambda y, u, m: -ellipj_sn(u, m) * ellipj_dn(u, m),
                             lambda y, u, m: -ellipj_sn(u, m) * _ph_modulus(u, m), call="ellipj", domain=JACOBI)
ellipj_dn: Op = special_part("ellipj_dn", 2, lambda y, u, m: -m * ellipj_sn(u, m) * ellipj_cn(u, m), _dn_modulus,
                             call="ellipj", domain=JACOBI)
ellipj_ph = special_part("ellipj_ph", 3, lambda y, u, m: ellipj_dn(u, m), lambda y, u, m: _ph_modulus(u, m),
                         call="ellipj", domain=JACOBI)

# -- the arithmetic-geometric mean: M = (a + b) / (2 F), F = 2F1(1/2, 1/2; 1; k^2), k = (a - b) / (a + b)


def _agm(y: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
    """The derivative with respect to a."""
    total = a + b
    k = (a - b) / total
    return y / total - 2.0 * y * y * k * b * hyp2f1(1.5, 1.5, 2.0, k * k) / (total * total * total)


agm = special("agm", lambda y, a, b: _agm(y, a, b), lambda y, a, b: _agm(y, b, a), domain=POSITIVE)
