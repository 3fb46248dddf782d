"""Polynomials and series as objects, with traced coefficients: operators, derivatives, integrals and degrees."""
import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Hermite, Legendre, Polynomial

import fad

X = np.array([3.0, 1.0, 2.0])
PROGRAMS = {
    "operators": lambda q: (-q)(0.5) + (q - 1.0)(1.5) + (1.0 - q)(0.2) + (q * q)(0.4) + (2.0 * q)(0.1),
    "calculus": lambda q: q.integ()(1.2) + q.deriv()(0.3) + q.integ(2)(0.7),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("make", [np.poly1d, Polynomial, Chebyshev])
def test_series_are_numpys(make, name):
    def f(p):
        return PROGRAMS[name](make(p))
    np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X), rtol=1e-12)
    slope = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fad.grad(f, fallback=False)(X), slope, rtol=1e-6)


WINDOWS = {
    "domain": lambda p: Legendre(p, domain=[0, 2])(p), "window": lambda p: Chebyshev(p, [0, 2], [-2, 1]).deriv(2)(0.3),
    "calculus": lambda p: (-Legendre(p, [0, 3])).integ()(p) + Polynomial(p, [1, 4]).integ(2, [1.0], 1.5).deriv()(p),
    "products": lambda p: (Hermite(p, [0, 3]) * Hermite([1.0, 2.0], [0, 3]) - 2)(0.4) + (Hermite(p, [1, 3]) ** 2)(p),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_domain_is_mapped_to_the_window(name):
    f = WINDOWS[name]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X), rtol=1e-12)
    slope = np.stack([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)], axis=-1)
    np.testing.assert_allclose(fad.jacobian(f, fallback=False)(X), slope, rtol=1e-6, atol=1e-5)
    with pytest.raises(TypeError, match="Domains differ"):
        fad.jit(lambda p: (Legendre(p) + Legendre([1.0, 2.0], [0, 2]))(0.3))(X)


@pytest.mark.parametrize("make", [Polynomial, Chebyshev])
def test_coefficients_and_degree(make):
    def f(p):
        q = make(p)
        return np.sum(q.coef * p) + q.degree()
    np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X))
    np.testing.assert_allclose(fad.grad(f, fallback=False)(X), 2.0 * X)


CONSTANTS = {
    "call": lambda make, c: make(c)(X), "product": lambda make, c: (make(c) * make(X))(0.3),
    "sum": lambda make, c: (make(X) - make(c))(0.3), "slope": lambda make, c: make(c).deriv()(X),
    "integral": lambda make, c: make(c).integ()(X),
}


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("make", [np.poly1d, Polynomial, Chebyshev])
def test_a_number_is_one_coefficient(make, name):
    def f(c):
        return CONSTANTS[name](make, c)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(1.5), f(1.5), rtol=1e-12)


def test_the_polynomial_of_no_coefficients_is_zero_and_integers_remain():
    np.testing.assert_array_equal(fad.jit(lambda p: np.poly1d(p[:0]).coeffs)(X), [0.0])
    assert fad.jit(lambda p: np.poly1d((p > 1.5).astype(int)).coeffs)(X).dtype == int


@pytest.mark.parametrize(("make", "message"), [
    (lambda p: Polynomial(p[None]), "not 1-d"), (lambda p: np.poly1d(p[None]), "1d only"),
    (lambda p: Legendre(p[:0]), "is empty"), (lambda p: Legendre(p, domain=[0, 1, 2]), "wrong number of elements"),
    (lambda p: Hermite(p, symbol="1x"), "identifier")])
def test_what_numpy_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make(X)
    with pytest.raises(ValueError, match=message):
        fad.jit(lambda p: make(p)(0.3), fallback=False)(X)
