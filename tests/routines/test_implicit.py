"""solve_ivp by BDF and Radau in captured code: SciPy's own steps, and derivatives of the solutions of their
equations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import fad

P = np.array([0.7, 1.3])
RATES = np.array([0.04, 1e4, 3e7])
TIMES = np.linspace(0.2, 2, 5)


def stiff(t, y, a, b):
    return np.array([-40 * a * (y[0] - np.cos(t)), y[0] - b * y[1] ** 2])


def kinetics(t, y, k):
    return np.array([-k[0] * y[0] + k[1] * y[1] * y[2], k[0] * y[0] - k[1] * y[1] * y[2] - k[2] * y[1] ** 2,
                     k[2] * y[1] ** 2])


def jacobian(t, y, a, b):
    return [[-40 * a, 0.0], [1.0, -2 * b * y[1]]]


def falls(t, y, a, b):
    return y[1] - 0.7


falls.terminal = True


def solved(method, p, span=(0, 2), start=None, **options):
    return solve_ivp(stiff, span, [p[1], 0.5] if start is None else start, method, args=(p[0], p[1]), rtol=1e-6,
                     atol=1e-8, **options)


CASES = {
    "steps": lambda m, p: np.sum(solved(m, p).y ** 2),
    "times": lambda m, p: np.sum(solved(m, p, t_eval=TIMES).y ** 2),
    "a Jacobian": lambda m, p: np.sum(solved(m, p, t_eval=TIMES, jac=jacobian).y ** 2),
    "a constant Jacobian": lambda m, p: solve_ivp(lambda t, y: -p[0] * y, (0, 1), p, m, jac=-0.7 * np.eye(2), rtol=1e-6,
                                                  atol=1e-9).y[0, -1],
    "ends that move": lambda m, p: solved(m, p, span=(0.1 * p[1], p[0] + 1)).y[1, -1],
    "backwards": lambda m, p: solve_ivp(lambda t, y: p[0] * y + t, (2, 0), p, m, t_eval=[1.5, 0.1], rtol=1e-6,
                                        atol=1e-8).y[0, -1],
    "options": lambda m, p: solved(m, p, max_step=0.05, first_step=0.01).y[1, -1],
    "dense_output": lambda m, p: np.sum(solved(m, p, dense_output=True).sol(TIMES) ** 2)
                                 + solved(m, p, dense_output=True).sol(p[0])[1],
    "an event": lambda m, p: solved(m, p, events=falls).t[-1] ** 2,
}


def differences(f, p, step=1e-5):
    return np.array([(f(p + step * e) - f(p - step * e)) / (2 * step) for e in np.eye(len(p))])


QUICK = {("times", "BDF"), ("a constant Jacobian", "Radau")}


@pytest.mark.parametrize("name, method",
                         [pytest.param(name, method, marks=[] if (name, method) in QUICK else [pytest.mark.slow])
                                          for name in CASES for method in ("BDF", "Radau")])
def test_the_steps_are_scipys_and_derivatives_are_those_of_the_steps(name, method):
    def f(p):
        return CASES[name](method, p)
    staged, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    np.testing.assert_allclose(staged(P), f(P), rtol=1e-9)
    np.testing.assert_allclose(gradient(P), differences(staged, P), rtol=2e-5, atol=1e-7)
    if name in ("times", "an event"):
        np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), gradient(P), rtol=1e-9)


@pytest.mark.parametrize("method", ["BDF", pytest.param("Radau", marks=pytest.mark.slow)])
def test_a_stiff_problem(method):
    def f(scale):
        y = solve_ivp(kinetics, (0, 4e3), [1.0, 0.0, 0.0], method, args=(scale * RATES,), rtol=1e-6, atol=1e-10,
                      t_eval=[0.4, 40.0, 4000.0]).y
        return np.sum(y[0] * y[2])
    one = np.ones(3)
    value, gradient = fad.value_and_grad(f)(one)
    np.testing.assert_allclose(value, f(one), rtol=1e-8)
    np.testing.assert_allclose(gradient, differences(f, one), rtol=1e-4)


@pytest.mark.parametrize("method", ["BDF", "Radau"])
def test_the_numbers_of_calls_are_scipys(method):
    def f(p):
        s = solved(method, p, jac=jacobian)
        return 1.0 * s.nfev, 1.0 * s.njev, s.t
    found, want = fad.jit(f, fallback=False)(P), f(P)
    assert found[:2] == want[:2] and np.allclose(found[2], want[2], rtol=1e-7)


@pytest.mark.parametrize("method", ["BDF", pytest.param("Radau", marks=pytest.mark.slow)])
def test_second_derivatives(method):
    def f(p):
        # differences see what Newton's method leaves over, which these tolerances make small
        return solve_ivp(lambda t, y: -p[0] * y ** 2, (0, 1), p[1:], method, t_eval=[1.0], rtol=1e-7,
                         atol=1e-9).y[0, -1]
    np.testing.assert_allclose(fad.hessian(f)(P), differences(fad.grad(f), P), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_many_at_once():
    rows = np.array([[0.5, 1.0], [1.0, 0.5]])
    np.testing.assert_allclose(fad.vmap(lambda p: CASES["times"]("BDF", p))(rows),
                               [CASES["times"]("BDF", p) for p in rows], rtol=1e-9)


@pytest.mark.parametrize("options, error, text", [
    ({"max_step": 0.0}, ValueError, "positive"), ({"lband": 1}, TypeError, "no option lband"),
    ({"t_span": (0, 5)}, RuntimeError, "step size is less than spacing")])
def test_errors_are_scipys(options, error, text):
    def f(p):
        return np.sum(solve_ivp(lambda t, y: p[0] * y ** 2,
                                **{"t_span": (0, 0.5), "y0": [1.0], "method": "BDF", **options}).y)
    with pytest.raises(error, match=text):
        fad.grad(f, fallback=False)(P)


def test_on_the_tape_it_is_refused():
    with pytest.raises(fad.FadError):
        fad.grad(lambda p: np.sum(solved("BDF", p, t_eval=TIMES).y)).on_tape((P,), {})
