"""The incomplete gamma and beta functions, their inverses, and the derivatives of both with respect to their shapes.

The derivative with respect to the argument is the density. The inverse y of p = F(a, y) has the derivatives 1 / F_y and
-F_a / F_y. F_a, the one with respect to a shape, has no closed form: kernels/incomplete integrates. Formulas: Digital
Library of Mathematical Functions, chapter 8.
"""
from collections.abc import Callable
from typing import Any

from ...ir.op import Op
from ...ir.types import ufunc_dtypes
from ...util.array import AnyArray, ArrayOrNumber
from ...util.lazy import LazyModule
from ..choice import where
from ..kinds import Partials
from ..pointwise import composed
from ..transcendental import exp, log, log1p
from .base import POSITIVE, SCIPY, Infer, NoFormula, places, special
from .gamma import betaln, digamma, gammaln, polygamma
from .information import xlog1py, xlogy

KERNELS = LazyModule("fad.kernels.incomplete")
THIRD = NoFormula("fad has first and second derivatives of an incomplete gamma or beta function with respect to its "
                  "shapes, and no third")
UNIT = (0.1, 0.9)
BETA = (POSITIVE, POSITIVE, UNIT)

# -- densities, and their logarithm's derivatives with respect to a shape --------------------------


def gamma_density(a: ArrayOrNumber, x: AnyArray) -> AnyArray:
    """x^(a-1) e^-x / gamma(a)."""
    return exp(xlogy(a - 1.0, x) - x - gammaln(a))


def beta_density(a: ArrayOrNumber, b: ArrayOrNumber, x: AnyArray) -> AnyArray:
    """x^(a-1) (1-x)^(b-1) / beta(a, b)."""
    return exp(xlogy(a - 1.0, x) + xlog1py(b - 1.0, -x) - betaln(a, b))


def _gamma_level(a: AnyArray, x: AnyArray) -> AnyArray:
    return log(x) - digamma(a)


def _beta_level(a: ArrayOrNumber, b: ArrayOrNumber, x: AnyArray) -> AnyArray:
    """With respect to a."""
    return log(x) - digamma(a) + digamma(a + b)


def _beta_level_of_b(a: ArrayOrNumber, b: ArrayOrNumber, x: AnyArray) -> AnyArray:
    return log1p(-x) - digamma(b) + digamma(a + b)


def _spread(a: AnyArray, b: AnyArray) -> Any:
    """The second derivative with respect to a."""
    return polygamma(1, a + b) - polygamma(1, a)


# -- derivatives with respect to shapes ------------------------------------------------------------


def _shape_derivative(of: str, suffix: str, *partials: object, domain: tuple) -> Op:
    """The op of the derivative of `of` with respect to the shapes that the suffix names."""
    def find() -> Any:
        return getattr(SCIPY, of)

    def run(*xs: ArrayOrNumber) -> AnyArray:
        dtype = ufunc_dtypes(find(), *xs)[-1]
        return getattr(KERNELS, name)(*xs).astype(dtype)
    name, arity = f"{of}_{suffix}", len(partials)
    return composed(name, run, Infer(find), f"{name}({places(arity)})", Partials(*partials, singular=(arity - 1,)),
                    domain, arity=arity, module="incomplete", doc=f"The derivative {suffix} of SciPy's {of}")


gammainc_daa = _shape_derivative(
    "gammainc", "daa", THIRD,
    lambda y, a, x: gamma_density(a, x) * (_gamma_level(a, x) ** 2 - polygamma(1, a)), domain=(POSITIVE, POSITIVE))
gammainc_da = _shape_derivative(
    "gammainc", "da", lambda y, a, x: gammainc_daa(a, x),
    lambda y, a, x: gamma_density(a, x) * _gamma_level(a, x), domain=(POSITIVE, POSITIVE))
betainc_daa = _shape_derivative(
    "betainc", "daa", THIRD, THIRD,
    lambda y, a, b, x: beta_density(a, b, x) * (_beta_level(a, b, x) ** 2 + _spread(a, b)), domain=BETA)
betainc_dab = _shape_derivative(
    "betainc", "dab", THIRD, THIRD,
    lambda y, a, b, x: beta_density(a, b, x) * (_beta_level(a, b, x) * _beta_level_of_b(a, b, x)
                                                + polygamma(1, a + b)), domain=BETA)
betainc_dbb = _shape_derivative(
    "betainc", "dbb", THIRD, THIRD,
    lambda y, a, b, x: beta_density(a, b, x) * (_beta_level_of_b(a, b, x) ** 2 + _spread(b, a)), domain=BETA)
betainc_da = _shape_derivative(
    "betainc", "da", lambda y, a, b, x: betainc_daa(a, b, x), lambda y, a, b, x: betainc_dab(a, b, x),
    lambda y, a, b, x: beta_density(a, b, x) * _beta_level(a, b, x), domain=BETA)
betainc_db = _shape_derivative(
    "betainc", "db", lambda y, a, b, x: betainc_dab(a, b, x), lambda y, a, b, x: betainc_dbb(a, b, x),
    lambda y, a, b, x: beta_density(a, b, x) * _beta_level_of_b(a, b, x), domain=BETA)

# -- the functions and their inverses --------------------------------------------------------------


def negative(f: Callable) -> Callable:
    """The partial of the complement, 1 less the function."""
    return lambda y, *xs: -f(*xs)


def of_inverse(slope: Callable, shape: Callable) -> Callable:
    """The partial of an inverse, whose last argument is the probability, with respect to a shape."""
    return lambda y, *xs: -shape(*xs[:-1], y) / slope(*xs[:-1], y)


gammainc = special("gammainc", lambda y, a, x: gammainc_da(a, x), lambda y, a, x: gamma_density(a, x), singular=(1,))
gammaincc = special("gammaincc", negative(gammainc_da), negative(gamma_density), singular=(1,))
gammaincinv = special("gammaincinv", of_inverse(gamma_density, gammainc_da),
                      lambda y, a, p: 1.0 / gamma_density(a, y), domain=(POSITIVE, UNIT))
gammainccinv = special("gammainccinv", of_inverse(gamma_density, gammainc_da),
                       lambda y, a, p: -1.0 / gamma_density(a, y), domain=(POSITIVE, UNIT))
betainc = special("betainc", lambda y, a, b, x: betainc_da(a, b, x), lambda y, a, b, x: betainc_db(a, b, x),
                  lambda y, a, b, x: beta_density(a, b, x), domain=BETA, singular=(2,))
betaincc = special("betaincc", negative(betainc_da), negative(betainc_db), negative(beta_density), domain=BETA,
                   singular=(2,))
betaincinv = special("betaincinv", of_inverse(beta_density, betainc_da), of_inverse(beta_density, betainc_db),
                     lambda y, a, b, p: 1.0 / beta_density(a, b, y), domain=BETA)
betainccinv = special("betainccinv", of_inverse(beta_density, betainc_da), of_inverse(beta_density, betainc_db),
                      lambda y, a, b, p: -1.0 / beta_density(a, b, y), domain=BETA)


def beta_shapes(a: ArrayOrNumber, b: ArrayOrNumber, x: ArrayOrNumber, w: ArrayOrNumber) -> tuple:
    """The derivatives of betainc(a, b, x) with respect to a and b, given w = 1 - x to full precision, too."""
    low = x <= w
    x, w = where(low, x, 0.5), where(low, 0.5, w)
    return (where(low, betainc_da(a, b, x), -betainc_db(b, a, w)),
            where(low, betainc_db(a, b, x), -betainc_da(b, a, w)))
