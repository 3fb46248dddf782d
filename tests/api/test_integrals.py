"""SciPy's integrals within functions: derivatives by Leibniz' rule, of every integral, order and position."""
import numpy as np
import pytest
from scipy import integrate

import fad

from ..turns import in_turn

P = np.array([0.7, 1.3])


def wave(t, a, b):
    return np.exp(-a * t * t) * np.cos(b * t)


def weighted(p, **options):
    return integrate.quad(lambda t: np.exp(-p[0] * t) * p[1], 0.1, 2.0, **options)[0]


class Model:
    def __init__(self, rate):
        self.rate = rate

    def at(self, t):
        return np.exp(-self.rate * t)


INTEGRALS = {
    "quad": lambda p: integrate.quad(lambda t: wave(t, p[0], p[1]), 0.0, 2.0)[0],
    "quad, args, ends": lambda p: integrate.quad(wave, -p[1], p[0] * p[1], args=(p[0], 1.2))[0],
    "quad, one argument, by name": lambda p: integrate.quad(func=lambda t, a: np.exp(-a * t), a=p[1], b=3,
                                                            args=p[0])[0],
    "quad, infinite ends": lambda p: integrate.quad(lambda t, a, b: b * np.exp(-a * t * t), -np.inf, np.inf,
                                                    args=tuple(p))[0],
    "quad, one infinite end": lambda p: integrate.quad(lambda t: np.exp(-p[0] * t), p[1], np.inf, epsabs=1e-12)[0],
    "quad, points": lambda p: integrate.quad(lambda t: np.abs(t - 0.5) ** p[0], 0.0, p[1], points=[0.5], limit=100)[0],
    "quad, backwards": lambda p: integrate.quad(lambda t: wave(t, p[0], p[1]), 2.0, p[0])[0],
    "quad, a weight": lambda p: weighted(p, weight="cos", wvar=3.0),
    "quad, a pole": lambda p: weighted(p, weight="cauchy", wvar=0.8),
    "quad, ends that have powers": lambda p: weighted(p, weight="alg", wvar=(-0.5, 0.5)),
    "quad, arrays": lambda p: integrate.quad(lambda t: np.sum(np.sin(t * p)) + p @ p, 0.0, 1.0)[0],
    "quad, a bound method": lambda p: integrate.quad(Model(p[0]).at, 0.0, p[1])[0],
    "quad, a kink that moves": lambda p: integrate.quad(lambda t: np.where(t < p[0], t, p[0]), 0.0, p[1],
                                                        epsabs=1e-12)[0],
    "quad, a maximum": lambda p: integrate.quad(lambda t: max(t - p[0], 0.0), 0.0, 2.0, epsabs=1e-12)[0] * p[1],
    "quad, in a loop": lambda p: sum([integrate.quad(lambda t: np.exp(-p[0] * t * k), 0.0, p[1])[0]  # noqa: B023
                                      for k in range(3)]),
    "quad, of an integral": lambda p: integrate.quad(lambda x: integrate.quad(lambda t: np.exp(-p[0] * t * x), 0, x)[0],
                                                     0, p[1])[0],
    "quad_vec": lambda p: np.sum(integrate.quad_vec(lambda t: np.sin(t * p) * p[::-1], 0.0, p[0])[0] ** 2),
    "quad_vec, a matrix": lambda p: np.sum(
        integrate.quad_vec(lambda t: np.outer(np.exp(-t * p), p), 0.0, np.inf)[0] ** 2),
    "dblquad": lambda p: integrate.dblquad(lambda y, x: np.exp(-p[0] * x * y), 0.0, p[1], 0.0, lambda x: x)[0],
    "dblquad, args": lambda p: integrate.dblquad(lambda y, x, a: a * x * y, 0.0, 1.0, lambda x: p[1] * x, 2.0,
                                                 args=(p[0],))[0],
    "tplquad": lambda p: integrate.tplquad(
        lambda z, y, x: p[0] * x * y + z ** 2, 0, 1, 0.0, lambda x: x, lambda x, y: p[1] * y, lambda x, y: 2.0,
        epsabs=1e-6)[0],
    "nquad": lambda p: integrate.nquad(lambda x, y: np.cos(p[0] * x + y), [lambda y: (0.0, p[1] * y), (0.0, 1.0)],
                                       opts=[{"epsabs": 1e-10}, {}])[0],
    "fixed_quad": lambda p: integrate.fixed_quad(lambda t: np.exp(-p[0] * t), 0.0, p[1], n=7)[0],
    "fixed_quad, args": lambda p: np.sum(
        integrate.fixed_quad(lambda t, a: np.outer(a, t ** 2), p[0], 2.0, args=(p,))[0]),
}


def differences(f, p, h=2e-3):
    """Central differences of fourth order."""
    return np.array([(8 * (f(p + h * e) - f(p - h * e)) - (f(p + 2 * h * e) - f(p - 2 * h * e))) / (12 * h)
                     for e in np.eye(len(p))])


@pytest.mark.parametrize("name", in_turn(INTEGRALS))
def test_derivatives(name):
    f = INTEGRALS[name]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(P), f(P), rtol=1e-12)
    found = fad.grad(f, fallback=False)(P)
    np.testing.assert_allclose(found, differences(f, P), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), found, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name",
                         ["quad", "quad, args, ends", "quad, infinite ends", "quad, a weight", "quad_vec", "dblquad",
                          "fixed_quad"])
def test_second_derivatives(name):
    f = INTEGRALS[name]
    want = differences(fad.grad(f), P)
    np.testing.assert_allclose(fad.hessian(f, fallback=False)(P), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fad.jacrev(fad.grad(f), fallback=False)(P), want, rtol=1e-5, atol=1e-6)


def test_third_derivative():
    def f(a):
        return integrate.quad(lambda t: np.exp(-a * t), 0.0, 1.0)[0]
    want = -integrate.quad(lambda t: t ** 3 * np.exp(-0.5 * t), 0.0, 1.0)[0]
    assert fad.grad(fad.grad(fad.grad(f)))(0.5) == pytest.approx(want, rel=1e-9)


def test_many_parameters_and_many_examples():
    w = np.linspace(0.1, 1.0, 40)

    def f(w):
        return integrate.quad(lambda t: np.tanh(np.sum(w * np.sin(t * np.arange(40.0)))), 0.0, 1.0)[0]
    assert fad.grad(f)(w)[3] == pytest.approx(differences(lambda s: f(np.where(np.arange(40) == 3, s[0], w)),
                                                          w[3:4])[0], rel=1e-6)
    g = fad.grad(INTEGRALS["quad"])
    rows = np.array([P, 2 * P, 0.3 * P])
    np.testing.assert_allclose(fad.vmap(g)(rows), [g(p) for p in rows], rtol=1e-9)


def test_the_estimate_of_the_error_is_scipys():
    found = fad.jit(lambda p: integrate.quad(wave, 0.0, 2.0, args=(p[0], p[1])))(P)
    assert found == integrate.quad(wave, 0.0, 2.0, args=tuple(P))


@pytest.mark.parametrize("f", [
    lambda p: integrate.quad(lambda t: np.where(t < p[0], 1.0, 0.0), 0.0, 2.0)[0],
    lambda p: integrate.quad(lambda t: t * t if t < p[0] else p[1], 0.0, 2.0)[0],
    lambda p: integrate.quad(lambda t: np.floor(3 * t * p[0]) + t, 0.0, 2.0, limit=200)[0],
    lambda p: integrate.quad(lambda t: (t * p[0]) % 0.5, 0.0, 2.0, limit=200)[0],
], ids=["where", "if", "floor", "remainder"])
def test_a_jump_that_moves_raises(f):
    with pytest.raises(RuntimeError, match="jumps"):
        fad.grad(f, fallback=False)(P)


def test_a_jump_that_stays_is_right():
    def f(p):
        return integrate.quad(lambda t: p[0] * t if t < 1.0 else p[1], 0.0, 2.0, points=[1.0])[0]
    np.testing.assert_allclose(fad.grad(f)(P), [0.5, 1.0], rtol=1e-12)


@pytest.mark.parametrize("f, text", [
    (lambda p: integrate.quad(wave, 0.0, 2.0, args=(p[0], p[1]), full_output=True)[0], "full_output"),
    (lambda p: integrate.quad(lambda t: p[0] * t, 0.0, p[1], weight="cos", wvar=2.0)[0], "the ends"),
    (lambda p: integrate.quad(lambda t: p[0] * t, 0.0, 1.0, epsabs=p[1])[0], "traced"),
])
def test_what_has_no_derivative_is_refused(f, text):
    with pytest.raises(fad.FadError, match=text):
        fad.grad(f, fallback=False)(P)


@pytest.mark.parametrize("jump", [np.sign, lambda v: np.copysign(1.0, v), lambda v: np.heaviside(v, 0.5)])
def test_a_sign_jumps(jump):
    """Leibniz' rule does not know where: the gradient was finite and wrong."""
    f = fad.grad(lambda x: integrate.quad(lambda s: jump(s * x - 0.9) * s * x, 0.0, 1.0)[0])
    with pytest.raises(RuntimeError, match="jumps"):
        f(2.13)
