"""odeint and solve_ivp by LSODA within functions: derivatives by sensitivities, of every position, order and batch."""
import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import fad

from ..turns import in_turn

P = np.array([0.7, 1.3])
TIMES = np.linspace(0.0, 2.0, 5)


def hunting(y, t, a, b):
    return [a * y[0] - y[0] * y[1], b * y[0] * y[1] - y[1] + 0.1 * t]


def hunted(t, y, a, b):
    return hunting(y, t, a, b)


class Model:
    def __init__(self, rates):
        self.rates = rates

    def slope(self, y, t):
        return -self.rates * y + np.sin(t)


def tight(fun, span, y0, **options):
    return solve_ivp(fun, span, y0, method="LSODA", rtol=1e-10, atol=1e-12, **options)


CASES = {
    "args": lambda p: np.sum(odeint(hunting, [p[1], 0.5], TIMES, args=(p[0], p[1])) ** 2),
    "args alone": lambda p: np.sum(odeint(hunting, [1.0, 0.5], TIMES, args=tuple(p))[-1] ** 2),
    "a start alone": lambda p: np.sum(odeint(hunting, p, TIMES, (0.5, 1.2))[-1] ** 2),
    "a number": lambda p: odeint(lambda y, t: -p[0] * y, p[1], [0.0, 1.0])[-1, 0],
    "tfirst": lambda p: np.sum(odeint(lambda t, y: -p[0] * y + t, [p[1], 0.5], TIMES, tfirst=True) ** 2),
    "a method": lambda p: np.sum(odeint(Model(p).slope, [1.0, 0.5], TIMES)),
    "what a function sees that sees it": lambda p: np.sum(odeint(lambda y, t: Model(p).slope(y, t), [1.0, 0.5], TIMES)),
    "times that move": lambda p: np.sum(odeint(hunting, [1.0, 0.5], p[0] * TIMES + p[1], args=(0.5, 1.2)) ** 2),
    "the last time": lambda p: odeint(hunting, [1.0, 0.5], np.array([0.0, p[0]]), args=(0.5, p[1]))[1, 0],
    "backwards": lambda p: np.sum(odeint(hunting, p, TIMES[::-1], args=(p[0], 1.2)) ** 2),
    "tolerances": lambda p: np.sum(odeint(hunting, [p[1], 0.5], TIMES, (p[0], p[1]), rtol=1e-9,
                                          atol=[1e-9, 1e-10]) ** 2),
    "a time twice": lambda p: np.sum(odeint(hunting, p, [0.0, 1.0, 1.0, 2.0], args=(0.4, 1.0))),
    "a maximum": lambda p: np.sum(odeint(lambda y, t: -np.maximum(y - p[0], 0.0), [2.0, p[1]], TIMES)),
    "LSODA, times": lambda p: np.sum(tight(hunted, (0, 2), [p[1], 0.5], args=tuple(p), t_eval=TIMES).y ** 2),
    "LSODA, the end": lambda p: tight(hunted, (0, p[0] + 1), [p[1], 0.5], args=(p[0], 1.0)).y[0, -1],
    "LSODA, a start that moves": lambda p: tight(hunted, (p[0], 2.0), [p[1], 0.5], args=(0.5, 1.0)).y[0, -1],
}


def differences(f, p, h=1e-3):
    """Central differences of fourth order."""
    return np.array([(8 * (f(p + h * e) - f(p - h * e)) - (f(p + 2 * h * e) - f(p - 2 * h * e))) / (12 * h)
                     for e in np.eye(len(p))])


@pytest.mark.parametrize("name", in_turn(CASES))
def test_derivatives(name):
    f = CASES[name]
    found = fad.grad(f, fallback=False)(P)
    np.testing.assert_allclose(fad.jit(f, fallback=False)(P), f(P), rtol=1e-12)
    np.testing.assert_allclose(found, differences(f, P), rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), found, rtol=1e-9)


@pytest.mark.parametrize("name", ["args", "the last time", "LSODA, times"])
def test_second_derivatives(name):
    gradient = fad.grad(CASES[name], fallback=False)
    np.testing.assert_allclose(fad.hessian(CASES[name], fallback=False)(P), differences(gradient, P), rtol=1e-4,
                               atol=1e-4)


def test_many_at_once():
    rows = np.array([[0.5, 1.0], [1.0, 0.5]])
    np.testing.assert_allclose(fad.vmap(fad.grad(CASES["args"]))(rows), [fad.grad(CASES["args"])(p) for p in rows],
                               rtol=1e-10)


def test_full_output():
    def f(p):
        y, facts = odeint(hunting, [1.0, 0.5], TIMES, args=tuple(p), full_output=True)
        return np.sum(y) if facts["message"] == "Integration successful." else 0.0
    assert fad.jit(f)(P) == pytest.approx(f(P), rel=1e-13)


def test_numbers_are_left_to_scipy():
    def f(p):
        return p[0] * odeint(hunting, [1.0, 0.5], [0.0, 1.0], args=(0.5, 1.0), full_output=True)[1]["nst"][-1]
    assert fad.grad(f)(P)[0] == f(P) / P[0]


@pytest.mark.parametrize("slope",
                         [lambda y, t, p: np.where(t < p, 1.0, 0.0) - 0 * y, lambda y, t, p: np.where(y > p, 0.5, 1.0)])
def test_a_jump_that_moves_has_no_derivative(slope):
    with pytest.raises(RuntimeError, match="jumps"):
        fad.grad(lambda p: odeint(slope, [0.0], TIMES, args=(p,), hmax=0.01)[-1, 0])(0.7)


@pytest.mark.parametrize("f, error, text", [
    (lambda p: odeint(hunting, p, TIMES, args=(0.5, 1.0), rtol=[1e-3, 1e-4])[1, 0], fad.FadError, "rtol"),
    (lambda p: odeint(hunting, p, [0.0, 2.0, 1.0], args=(0.5, 1.0))[1, 0], ValueError, "monotonically"),
    (lambda p: odeint(lambda y, t: y ** 2 * p, p, [0.0, 5.0])[1, 0], RuntimeError, "no solution"),
    (lambda p: solve_ivp(hunted, (0, 1), p, method="LSODA", args=tuple(p), dense_output=True).y[0, -1], fad.FadError,
     "LSODA")])
def test_errors(f, error, text):
    with pytest.raises(error, match=text):
        fad.grad(f, fallback=False)(P)
