"""Riccati equations within functions: derivatives by a Lyapunov equation, of every argument and order."""
import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are

import fad

rng = np.random.default_rng(1)
A, B, S = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), 0.1 * rng.normal(size=(3, 2))
E = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
P = np.array([0.7, 1.3])


def matrices(p):
    """All of them depend on p."""
    return A * p[0], B * p[1], np.eye(3) * p[0] + np.diag([p[1], 0, 0]), np.eye(2) * p[1] + 0.1


CASES = {
    "continuous": lambda p: solve_continuous_are(*matrices(p)),
    "continuous, e and s": lambda p: solve_continuous_are(*matrices(p), e=E * p[0], s=S * p[1]),
    "continuous, e": lambda p: solve_continuous_are(A, B, np.eye(3), np.eye(2), E * p[0] * p[1]),
    "continuous, s, not balanced": lambda p: solve_continuous_are(*matrices(p), s=S * p[1], balanced=False),
    "discrete": lambda p: solve_discrete_are(*matrices(p)),
    "discrete, e and s": lambda p: solve_discrete_are(*matrices(p), E * p[0], S * p[1]),
    "discrete, s": lambda p: solve_discrete_are(A, B, np.eye(3), np.eye(2), s=S * p[1] * p[0]),
    "complex": lambda p: np.real(solve_continuous_are(A + 1j * p[0] * np.diag([1, 2, 3]), B, np.eye(3),
                                                      np.eye(2) * p[1])),
}


def differences(f, p, h=1e-6):
    return np.stack([(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(2)], axis=-1)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f = CASES[name]
    found = fad.jacrev(f, fallback=False)(P)
    np.testing.assert_allclose(fad.jit(f)(P), f(P), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found, differences(f, P), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fad.jacfwd(f)(P), found, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["continuous, e and s", "discrete, e and s"])
def test_second_derivatives(name):
    def loss(p):
        return np.sum(CASES[name](p) ** 2)
    np.testing.assert_allclose(fad.hessian(loss)(P), differences(fad.grad(loss), P), rtol=1e-6)


def test_many_at_once():
    rows = np.array([[0.7, 1.3], [1.1, 0.9]])
    np.testing.assert_allclose(fad.vmap(CASES["discrete"])(rows), [CASES["discrete"](p) for p in rows], rtol=1e-12)


def test_where_there_is_no_solution_scipys_error_stands():
    with pytest.raises(np.linalg.LinAlgError):
        fad.grad(lambda p: np.sum(solve_continuous_are(np.zeros((2, 2)) * p, np.zeros((2, 1)), np.eye(2),
                                                       np.eye(1))))(1.0)
