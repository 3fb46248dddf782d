"""Schur's and Hessenberg's form of real matrices: derivatives where they are unique, errors where they are not."""
import numpy as np
import pytest
from scipy import linalg

import fad
from fad.util.errors import NoDerivativeError

RNG = np.random.default_rng(3)
SYMMETRIC = RNG.normal(size=(4, 4))
SYMMETRIC = SYMMETRIC + SYMMETRIC.T
MATRICES = {
    "complex pairs": np.array([[0.3, 2.0, 0.1, 0.4], [-1.5, 0.2, 0.7, -0.3], [0.2, 0.1, -1.0, 3.0],
                               [0.5, 0.3, -2.0, -0.8]]),
    "real eigenvalues": np.diag([1.0, 2.5, -2.0, 4.0]) + 0.3 * RNG.normal(size=(4, 4)),
    "one pair": np.array([[1.0, 3.0, 0.5], [-2.0, 0.5, 0.3], [0.4, -0.2, 5.0]]),
    "symmetric": SYMMETRIC, "two": np.array([[1.0, 0.3], [0.2, -1.0]]), "one": np.array([[2.0]]),
}
FORMS = {"schur": linalg.schur, "hessenberg": lambda a: linalg.hessenberg(a, calc_q=True)}


def differences(f, a, h=1e-5):
    E = np.eye(a.size).reshape(-1, *a.shape)
    return np.stack([(f(a + h * e) - f(a - h * e)) / (2 * h) for e in E], -1).reshape(*f(a).shape, *a.shape)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("matrix", MATRICES)
def test_derivatives(name, matrix):
    a = MATRICES[matrix]

    def f(a):
        return np.stack(FORMS[name](a))
    np.testing.assert_allclose(fad.jit(f, fallback=False)(a), f(a), rtol=1e-12, atol=1e-14)
    want = differences(f, a)
    np.testing.assert_allclose(fad.jacrev(f, fallback=False)(a), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(a), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FORMS)
def test_second_derivatives_compiled(name):
    def f(a):
        t, z = FORMS[name](a)
        return np.sum(np.sin(t) * np.arange(9.0).reshape(3, 3)) + z[0, 1] * z[2, 2]
    a = MATRICES["one pair"]
    np.testing.assert_allclose(fad.hessian(f, compile="now")(a), differences(fad.grad(f), a), rtol=1e-4, atol=1e-5)


def test_hessenberg_alone_and_in_a_batch():
    a = np.stack((MATRICES["one pair"], MATRICES["one pair"].T))
    g = fad.grad(lambda a: np.sum(linalg.hessenberg(a) ** 3))
    np.testing.assert_allclose(fad.vmap(g)(a), [g(x) for x in a], rtol=1e-9)


@pytest.mark.parametrize("f, a", [
    (linalg.schur, np.eye(3)), (linalg.schur, np.diag([1.0, 1.0, 2.0]) + np.diag([1.0, 0.0], 1)),
    (linalg.hessenberg, np.triu(MATRICES["complex pairs"], -1)), (linalg.hessenberg, np.eye(4))])
def test_what_is_not_unique_has_a_value_and_no_derivative(f, a):
    def total(a):
        return np.sum(f(a)[0] ** 3)
    np.testing.assert_allclose(fad.jit(total)(a), total(a))
    with pytest.raises(np.linalg.LinAlgError):
        fad.grad(total)(a)


@pytest.mark.parametrize("f", [
    lambda a: linalg.schur(a + 1j)[0], lambda a: linalg.schur(a, output="complex")[0],
    lambda a: linalg.schur(a, sort="lhp")[0], lambda a: linalg.hessenberg(a * 1j)])
def test_refusals(f):
    with pytest.raises(NoDerivativeError):
        fad.jacobian(lambda a: np.real(f(a)), fallback=False)(MATRICES["one pair"])
