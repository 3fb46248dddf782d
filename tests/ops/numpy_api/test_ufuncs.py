"""Ufuncs with options and by their methods, elementwise functions, special functions, math: values as NumPy's,
derivatives as differences."""
import cmath
import math

import numpy as np
import pytest
import scipy.special as sp

import fad
from fad.trace.tracing import trace
from fad.util.errors import ConcreteValueError, NoDerivativeError, UnsupportedFunctionError

from .overrides_at import check_derivatives, check_value, function_of, listed


def written(x):
    y = np.empty_like(x)
    np.exp(x, out=y)
    np.multiply(y, x, y)
    np.log(x - 0.5, out=y, where=x > 0.5)
    return y


def added_at(x):
    z = np.zeros(4)
    np.add.at(z, [0, 0, 2], x[:, 0])
    np.subtract.at(z, np.array([1, 1, 3]), x[:, 1] * x[:, 0])
    return z


def branching(t):
    return t * t if t > 0.45 else 3 * t


SCOPE = {"branching": branching, "math": math, "cmath": cmath, "written": written, "added_at": added_at}
EXPRESSIONS = listed(r"""
written(x); added_at(x); np.where(x > 0.5, np.log(x - 0.5, where=x > 0.5, out=None), 0); np.add(x, 1, dtype=np.float64)
np.multiply.reduceat(x, np.argsort(v)[:3], axis=1); np.logaddexp.reduceat(x, np.flatnonzero(v[:3] > 0.3))
np.add.reduceat(x, [0, 2, 1], axis=1); np.multiply.reduceat(v * v, [0, 2])
np.logaddexp.reduce(x, axis=0, where=x > 0.3, initial=-1.0)
np.maximum.reduce(x, axis=(0, 1)); np.hypot.reduce(x, axis=None); np.logaddexp2.reduce(x, axis=1, keepdims=True)
np.fmin.reduce(x)
np.logaddexp.accumulate(x, axis=1); np.hypot.accumulate(x, axis=0); np.subtract.outer(v, v * v)
np.arctan2.outer(v, [1.0, 2.0])
np.subtract.reduce(x, axis=1); np.divide.reduce(x, axis=0); np.power.reduce(x, axis=0)
np.maximum([0.4, 0.4, 0.4, 0.4], v)
np.add([v[0], 2.0, v[1], 1.0], v); np.sqrt([v[0], v[1] * v[2]]); np.add.reduce([v[0], v[1]])
np.clip(x, min=0.31, max=0.6)
sp.logsumexp(x, axis=1, b=[1.0, -0.5, 0.2, 1.0], return_sign=True, keepdims=True)[0]
sp.logsumexp(x, axis=1, b=[1.0, 0, 0.2, 1.0])
sp.logsumexp(v[0]); sp.logsumexp([v[0], v[1]]); sp.logsumexp(x, axis=(0, 1)); sp.softmax(x, axis=0)
sp.log_softmax(x, axis=1)
sp.multigammaln(v + 3, 3); sp.airy(v)[2]; sp.ellipj(v, 0.3)[1]; sp.fresnel(v)[1]; sp.lambertw(v, -1).imag
np.imag(sp.kelvin(v)[1])
sp.jvp(2, v, 2); sp.kvp(1, v); sp.h1vp(1, v).real; sp.spherical_jn(2, v, derivative=True); sp.comb(v + 3, 2)
sp.perm(v + 3, 2); sp.diric(v, 4)
sp.diric(v, 3); sp.factorial(v); sp.boxcox(v, 0.0) + sp.inv_boxcox(v, v); sp.kl_div(x, v) + sp.rel_entr(x, 0.3)
sp.zeta(3.0, v)
sp.betainc(2.0, 3.0, v) + sp.gammaincinv(2.0, v); sp.psi(v); sp.jn(2, v); sp.softplus(v); sp.sici(v)[0]
sp.shichi(v)[1]; sp.spence(v)
math.sin(v[0]) * math.log(v[1], 2) + math.hypot(v[0], 1, v[2]); v[0] * math.floor(3 * v[1]) + math.ceil(v[2]) * v[1]
abs(cmath.exp(1j * v[0]) + cmath.sqrt(v[1])); cmath.phase(v[0] + 1j * v[1]); abs(cmath.rect(v[0], v[1]) + 1)
cmath.polar(v[0] + 2j)[0]
np.abs(np.sign(v + 1j * v ** 2) * np.angle(v - 2j)); np.real((v + 1j) ** (2 + 1j) * np.conj(v * 1j)); np.round(x, 1) * x
round(v[0] * 10) * v[1]; np.interp([0.1, 0.45, 0.9, 0.38], np.sort(v), [1.0, 2.0, 4.0, 3.0])
np.interp([0.1, 0.9], v[:1], v[1:2]); np.piecewise(x, [x < 0.5], [lambda t: t - t.mean(), lambda t: np.cumsum(t)])
np.piecewise(x, [x < 0.5, x > 0.7], [1.0, lambda t, a: a * t, lambda t, a: np.log(t) + a], 3.0)
np.vectorize(branching)(v); np.vectorize(lambda a, b: a * b + math.sin(a))(x, x[0])
np.vectorize(lambda a, p=2: a ** p)(x, p=3); np.vectorize(lambda a, p=2: a ** p)(x, p=v[0])
np.vectorize(lambda a, w: a * w[0] + w.sum(), excluded=[1])(x, v); np.vectorize(pow)(x, v[:1])
np.vectorize(lambda a, w=None: np.where(a > w, a * w.sum(), 0.0).sum(), excluded={"w"})(v, w=x[0])
np.vectorize(lambda a: 2.0 * a, excluded=[0])(v); np.nan_to_num(np.where(x > 0.5, x, np.inf) * x, posinf=2.0)
np.unwrap(20 * x, axis=0); np.select([x > 0.7, x > 0.4], [x * x, np.log(x)], default=x.sum()); np.frexp(5 * x)[0]
np.modf(5 * x)[0]; np.ldexp(x, np.array([1, 2, 3, 4])); divmod(1.0, x)[1]; np.where(np.isclose(x, 0.3), x * x, x)
np.heaviside(x - 0.5, x); np.float_power(x, 2) + x.clip(0.3); np.real(z) * np.imag(np.sin(z)); np.abs(z / (1 + z))
np.log(z).real
""")
VALUES_ONLY = listed(r"""
sp.multigammaln(f, 1); sp.multigammaln(f + 2, 2)
np.sin(f); f ** 2; f * 2.0; f + x; np.maximum(f, 0.5); np.where(f > 0.5, f, 0.0); np.clip(f, 0.3, 0.6); np.add(k, 1)
k // 2; k % 2; k / 2; k ** 2; -k; np.sin(k); np.sqrt(k); np.exp2(f); np.deg2rad(k); np.fabs(k); np.float_power(f, 2)
np.logaddexp(f, f); np.hypot(k[0], f); np.abs(z); np.angle(z); np.sign(z); np.conj(z); np.real(f); np.imag(f)
np.isnan(f); np.isfinite(z); np.signbit(f); np.floor(f); np.round(f, 1); np.round(k, -1); np.fix(f)
np.bitwise_and(k, 3); k << 1; ~k; np.logical_and(k, f[:2]); np.logical_not(k); np.gcd(k, 4); np.equal(k, 2)
np.frexp(f)[1]; np.modf(f)[1]; np.divmod(k, 2)[0]; np.piecewise(k, [k < 3, k > 4], [lambda t: t / 2, 7.5, 1.5])
np.piecewise(f, [f > 0.5], [2.0, 0.1]); np.add.reduce(k); np.multiply.reduce(k, axis=1)
np.logical_or.reduce(k > 4, axis=0); np.bitwise_xor.reduce(k, axis=0); np.gcd.reduce(k, axis=None)
np.isclose(x, x + 1e-9); np.allclose(x, x); np.array_equal(x, x); np.array_equiv(x, x[:1]); np.isposinf(x); np.isreal(z)
np.iscomplexobj(z); sp.erf(f); sp.gammaln(f); sp.jv(2, f); sp.expit(f); sp.xlogy(f, f); sp.logsumexp(f)
sp.softmax(f, axis=1); sp.erf(z); sp.gamma(z); sp.wofz(z); math.floor(f[0, 0] * 10); math.trunc(-x[0, 0] * 10)
math.isclose(x[0, 0], x[0, 0]); np.heaviside(k - 2, 0.5); np.nextafter(x, 1.0); np.spacing(f)
np.add(f, f, dtype=np.float64); np.sqrt(k, dtype=np.float32); np.copysign(x, -1.0); np.cbrt(f); np.i0(f); np.sinc(f)
np.nan_to_num(n)
""")


@pytest.mark.parametrize("expression", EXPRESSIONS + VALUES_ONLY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_value(expression):
    inexact = expression.startswith(("math.", "round", "sp.logsumexp(f", "abs(", "cmath."))
    check_value(expression, exact_dtype=not inexact, scope=SCOPE)


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_derivatives(expression):
    check_derivatives(expression, SCOPE)


def test_methods_of_ufuncs_take_lists_of_traced_numbers():
    def f(x, y):
        inside = np.logical_and.reduce((np.greater(x, 0), np.less(y, 1), True))
        return np.select([inside, True], [x * x * y, np.add.reduce([x, y])]) + np.minimum.accumulate((y, x))[1]
    assert fad.grad(f, (0, 1), fallback=False)(1.5, 0.5) == (1.5, 3.25)
    assert fad.grad(f, (0, 1), fallback=False)(-1.5, 0.5) == (2.0, 1.0)


def test_the_slope_of_spence_far_from_one():
    x = np.array([1e-30, 0.5, 1.2, 1.5, 1e14, 1e20])
    np.testing.assert_allclose(fad.grad(lambda x: np.sum(sp.spence(x)))(x), np.log(x) / (1 - x), rtol=1e-12)
    assert fad.grad(sp.spence)(1.0) == -1.0


REFUSED = {
    "np.multiply.at(v * 1.0, [0, 1])": TypeError,
    "np.modf.at(v * 1.0, [0, 1])": TypeError,
    "np.real_if_close(z)": ConcreteValueError,
    "sp.factorial(v, exact=True)": UnsupportedFunctionError,
    "np.add(k, v, out=k * 1)": TypeError,
}


@pytest.mark.parametrize("expression", REFUSED)
def test_what_cannot_be_is_refused(expression):
    f, xs = function_of(expression)
    with pytest.raises(REFUSED[expression]):
        trace(f, xs)


UNKNOWN = ["sp.jv(v, 1.0)", "sp.chndtr(0.5, v, 1.0)", "sp.zeta(v + 2, 1.0)", "sp.hyp1f1(v, 1.0, 0.3)",
           "sp.pdtrik(0.3, v)", "np.nextafter(v, 1.0)",
           "sp.kolmogorov(v)", "sp.digamma(v + 1j).real"]


@pytest.mark.parametrize("expression", UNKNOWN)
def test_an_unknown_partial_raises(expression):
    with pytest.raises(NoDerivativeError):
        check_derivatives(expression)


def test_log_sum_exp_of_what_has_no_weight():
    """The derivative with respect to a weight of zero is not zero; an exponential without weight may overflow."""
    a, b = np.array([0.3, 3.0, -2.0, 0.5]), np.array([1.0, 0.0, 0.5, 0.0])
    np.testing.assert_allclose(fad.grad(lambda b: sp.logsumexp(a, b=b))(b), np.exp(a - sp.logsumexp(a, b=b)))
    a[1] = 1e4
    np.testing.assert_allclose(fad.jit(lambda a: sp.logsumexp(a, b=b))(a), sp.logsumexp(a, b=b))
    np.testing.assert_allclose(fad.grad(lambda a: sp.logsumexp(a, b=b))(a),
                               b * np.exp([0.3, 0.0, -2.0, 0.0]) / np.exp(sp.logsumexp(a, b=b)))


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply])
@pytest.mark.parametrize("v",
                         [0.1, 2, True, np.float32(0.1), np.float64(0.1), np.linspace(0.1, 0.5, 5),
                          np.linspace(0.1, 0.5, 5, dtype=np.float32)])
def test_at_computes_in_the_dtype_of_both(ufunc, v):
    """NumPy makes arrays of numbers here, so that a float32 and 0.1 are added as float64, and rounded for each
    index."""
    start, places = np.linspace(-0.3, 0.9, 9, dtype=np.float32), np.array([0, 2, 2, 5, 0])

    def f(x, v):
        y = np.array(x)
        ufunc.at(y, places, v)
        return y

    def g(x):
        return f(x, v)
    for found in (fad.jit(f)(start, v), fad.jit(g)(start)):
        np.testing.assert_array_equal(found, f(start, v), strict=True)
