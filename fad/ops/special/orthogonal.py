"""Orthogonal polynomials, parabolic cylinder and Mathieu functions: families that are closed under differentiation.

Formulas: Digital Library of Mathematical Functions, chapters 12, 18, 28. With respect to degree and parameters fad has
no rule.
"""
from collections.abc import Callable
from typing import Any

from ...ir.op import Op
from ...util.array import AnyArray
from ..transcendental import cos, cosh
from .base import PI, NoFormula, special, special_part
from .gamma import binom

DEGREE = NoFormula("the derivative with respect to the degree or a parameter of a polynomial has no closed form")
INSIDE = (-0.8, 0.8)
SHIFTED = (0.2, 0.8)


def _polynomial(name: str, slope: Callable, parameters: int = 0, domain: tuple = INSIDE) -> Op:
    """slope(n, parameters..., x); one degree less of a polynomial of degree 0 is 0, or stands beside a factor n."""
    values = (0.7, 1.3)[:parameters]
    return special(name, DEGREE, *[DEGREE] * parameters, lambda y, *args: slope(*args), domain=(3, *values, domain))


eval_jacobi: Op = _polynomial("eval_jacobi",
                              lambda n, a, b, x: 0.5 * (n + a + b + 1.0) * eval_jacobi(n - 1, a + 1.0, b + 1.0, x), 2)
eval_legendre = _polynomial("eval_legendre", lambda n, x: 0.5 * (n + 1.0) * eval_jacobi(n - 1, 1.0, 1.0, x))
eval_gegenbauer: Op = _polynomial("eval_gegenbauer", lambda n, a, x: 2.0 * a * eval_gegenbauer(n - 1, a + 1.0, x), 1)
eval_chebyt = _polynomial("eval_chebyt", lambda n, x: n * eval_chebyu(n - 1, x))
eval_chebyu: Op = _polynomial("eval_chebyu", lambda n, x: 2.0 * eval_gegenbauer(n - 1, 2.0, x))
eval_chebyc = _polynomial("eval_chebyc", lambda n, x: n * eval_chebys(n - 1, x))
eval_chebys: Op = _polynomial("eval_chebys", lambda n, x: eval_gegenbauer(n - 1, 2.0, 0.5 * x))
eval_laguerre = _polynomial("eval_laguerre", lambda n, x: -eval_genlaguerre(n - 1, 1.0, x))
eval_genlaguerre: Op = _polynomial("eval_genlaguerre", lambda n, a, x: -eval_genlaguerre(n - 1, a + 1.0, x), 1)
eval_hermite: Op = _polynomial("eval_hermite", lambda n, x: 2.0 * n * eval_hermite(abs(n - 1), x))
eval_hermitenorm: Op = _polynomial("eval_hermitenorm", lambda n, x: n * eval_hermitenorm(abs(n - 1), x))
eval_sh_legendre = _polynomial("eval_sh_legendre", lambda n, x: (n + 1.0) * eval_jacobi(n - 1, 1.0, 1.0, 2.0 * x - 1.0),
                               domain=SHIFTED)
eval_sh_chebyt = _polynomial("eval_sh_chebyt", lambda n, x: 2.0 * n * eval_sh_chebyu(n - 1, x), domain=SHIFTED)
eval_sh_chebyu: Op = _polynomial("eval_sh_chebyu", lambda n, x: 4.0 * eval_gegenbauer(n - 1, 2.0, 2.0 * x - 1.0),
                                 domain=SHIFTED)


def _shifted_jacobi(n: Any, p: Any, q: Any, x: AnyArray) -> AnyArray:
    return (n + p) * eval_jacobi(n - 1, p - q + 1.0, q, 2.0 * x - 1.0) / binom(2 * n + p - 1.0, n)


eval_sh_jacobi = special("eval_sh_jacobi", DEGREE, DEGREE, DEGREE, lambda y, *args: _shifted_jacobi(*args),
                         domain=(3, 2.2, 1.3, SHIFTED))
lpmv: Op = special("lpmv", DEGREE, DEGREE,
                   lambda y, m, v, x: (v * x * y - (v + m) * lpmv(m, v - 1.0, x)) / (x * x - 1.0),
                   domain=(2.0, 3.0, INSIDE))

# -- a function and its derivative, with the equation of second order that they solve --------------


def _pair(call: str, second: Any, domain: tuple, scale: float = 1.0) -> tuple:
    """The ops of the two results of `call`; second(f, *args) is the second derivative of the first. `scale`: of the
    last argument."""
    unknown = [DEGREE] * (len(domain) - 1)
    value: Op = special_part(f"{call}_value", 0, *unknown, lambda y, *args: scale * slope(*args),
                             call=call, domain=domain)
    slope: Op = special_part(f"{call}_slope", 1, *unknown, lambda y, *args: scale * second(y, value(*args), *args),
                             call=call, domain=domain)
    return value, slope


def _parabolic(slope: object, f: AnyArray, v: Any, x: Any) -> AnyArray:
    return (0.25 * x * x - v - 0.5) * f


pbdv_value, pbdv_slope = _pair("pbdv", _parabolic, (1.3, INSIDE))
pbvv_value, pbvv_slope = _pair("pbvv", _parabolic, (1.3, INSIDE))
pbwa_value, pbwa_slope = _pair("pbwa", lambda slope, f, a, x: (a - 0.25 * x * x) * f, (1.3, INSIDE))
mathieu_a = special("mathieu_a", DEGREE, DEGREE, domain=(2, 1.5))
mathieu_b = special("mathieu_b", DEGREE, DEGREE, domain=(2, 1.5))
RADIAN = PI / 180.0


def _angular(characteristic: Op) -> Any:
    return lambda slope, f, m, q, x: (2.0 * q * cos(2.0 * RADIAN * x) - characteristic(m, q)) * f


def _radial(characteristic: Any) -> Any:
    return lambda slope, f, m, q, x: (characteristic(m, q) - 2.0 * q * cosh(2.0 * x)) * f


for _call, _second, _span, _scale in [
        ("mathieu_cem", _angular(mathieu_a), (20.0, 70.0), RADIAN),
        ("mathieu_sem", _angular(mathieu_b), (20.0, 70.0), RADIAN),
        ("mathieu_modcem1", _radial(mathieu_a), (0.3, 1.0), 1.0),
        ("mathieu_modcem2", _radial(mathieu_a), (0.3, 1.0), 1.0),
        ("mathieu_modsem1", _radial(mathieu_b), (0.3, 1.0), 1.0),
        ("mathieu_modsem2", _radial(mathieu_b), (0.3, 1.0), 1.0)]:
    _pair(_call, _second, (2, 1.5, _span), _scale)
