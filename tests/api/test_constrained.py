"""SciPy's constrained minima within functions: derivatives where the active constraints stay, errors where not."""
import numpy as np
import pytest
from scipy import optimize

import fad

from ..turns import in_turn

P = np.array([0.7, 1.3])
A = np.array([[1.0, 0.4, 0.2], [0.3, 1.2, -0.5], [0.2, 0.1, 0.9], [-0.4, 0.6, 0.3]])
B = np.array([1.0, -0.8, 0.5, 0.2])
TIGHT = {"tol": 1e-12}


def valley(t, p):
    return (t[0] - p[0]) ** 2 + 2 * (t[1] - p[1]) ** 2 + t[0] * t[1] + 0.1 * t[0] ** 4


def plan(p, **options):
    return optimize.linprog(-np.stack((p[0], p[1], 1.0)), np.array([[1.0, 1.0, 1.0], [0.2, 1.0, 0.5]]),
                            np.stack((4.0 + p[1], 2.0)), bounds=[(0, 2.5), (0, None), (0, 10)], **options)


def constrained(constraints, **options):
    return lambda p: optimize.minimize(valley, np.array([0.5, 0.2]), args=(p,), constraints=constraints(p),
                                       **{"method": "SLSQP", **TIGHT, **options}).x


CALLS = {
    "linprog, x": lambda p: plan(p).x,
    "linprog, value": lambda p: plan(p).fun * P,
    "linprog, slack": lambda p: plan(p, method="highs-ds").slack * p[0],
    "linprog, equalities": lambda p: optimize.linprog(
        [1.0, 2.0, p[0]], A_eq=np.stack((np.stack((1.0, p[1], 1.0)),)), b_eq=p[:1] + 1.0, A_ub=[[1.0, 0.0, 0.0]],
        b_ub=[0.5]).x,
    "nnls": lambda p: optimize.nnls(A * p[0] + np.eye(4, 3), B * p[1])[0],
    "nnls, rest": lambda p: optimize.nnls(A * p[0], B + p[1])[1] * P,
    "lsq_linear": lambda p: optimize.lsq_linear(A * p[0], B + p[1], bounds=(-0.1, 0.8), method="bvls").x,
    "lsq_linear, no bounds": lambda p: optimize.lsq_linear(A * p[0], B + p[1]).x,
    "lsq_linear, cost": lambda p: optimize.lsq_linear(A, B * p[0] + p[1], (0.0, [0.3, np.inf, np.inf]), "bvls").cost
                                  * P,
    "an equality": constrained(lambda p: {"type": "eq", "fun": lambda t: t[0] ** 2 + t[1] - p[1]}),
    "an inequality that holds": constrained(lambda p: {"type": "ineq", "fun": lambda t, q: q - t[0] - t[1],
                                                       "args": (p[0],)}),
    "an inequality that does not": constrained(lambda p: [{"type": "ineq", "fun": lambda t: 9.0 - t[0] - p[0] * t[1]}]),
    "two, and a bound": constrained(lambda p: (
        {"type": "ineq", "fun": lambda t: np.stack((p[0] - t[0] - t[1], t[1] + 5.0)),
         "jac": lambda t: [[-1.0, -1.0], [0.0, 1.0]]},
        {"type": "ineq", "fun": lambda t: 4.0 - t @ t}), bounds=[(None, None), (0.6, 3.0)]),
    "LinearConstraint": constrained(lambda p: optimize.LinearConstraint(
        [[1.0, 1.0], [1.0, -1.0]], [-np.inf, -8.0], [0.4, 9.0])),
    "NonlinearConstraint": constrained(lambda p: optimize.NonlinearConstraint(
        lambda t: np.stack((t[0] * p[0] + t[1], t[0] - t[1])), [0.3, -9.0], [0.3, 9.0])),
    "COBYQA": constrained(lambda p: {"type": "ineq", "fun": lambda t: p[0] - t[0] - t[1]}, method="COBYQA"),
    "value": lambda p: optimize.minimize(valley, np.zeros(2), args=(p,), method="SLSQP", **TIGHT,
                                         constraints={"type": "eq", "fun": lambda t: t[0] + t[1] - p[0]}).fun * P,
}


def jacobian_by_differences(f, p, h=1e-3):
    return np.transpose([(8 * (f(p + h * e) - f(p - h * e)) - f(p + 2 * h * e) + f(p - 2 * h * e)) / (12 * h)
                         for e in np.eye(len(p))])


@pytest.mark.parametrize("name", in_turn(CALLS))
def test_derivatives(name):
    f = CALLS[name]
    np.testing.assert_allclose(fad.jit(f)(P), f(P), rtol=1e-6, atol=1e-8)
    found = fad.jacrev(f, fallback=False)(P)
    np.testing.assert_allclose(found, jacobian_by_differences(f, P), rtol=2e-4, atol=2e-5)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(P), found, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["linprog, value", "nnls, rest", "an equality", "two, and a bound"])
def test_second_derivatives(name):
    def f(p):
        return np.sum(CALLS[name](p) ** 2 * np.array([1.0, 2.0]))
    g = fad.grad(f)
    np.testing.assert_allclose(fad.hessian(f)(P), jacobian_by_differences(g, P), rtol=1e-3, atol=1e-4)


def test_over_a_batch_and_compiled():
    def f(p):
        return plan(p).fun + np.sum(CALLS["nnls"](p))
    ps = np.stack((P, 1.1 * P))
    np.testing.assert_allclose(fad.vmap(fad.grad(f))(ps), [fad.grad(f)(p) for p in ps], rtol=1e-10)
    g = fad.grad(f, compile="now")
    np.testing.assert_allclose(g(P), fad.grad(f, compile="never")(P), rtol=1e-10)
    assert g.program_for(P)[0].runner.kernel is not None


DEGENERATE = {
    "a multiplier of zero": (lambda p: optimize.nnls(np.eye(2), np.stack((p[0], p[0] - 0.7)))[0], "multiplier of zero"),
    "an override of minima": (lambda p: optimize.linprog(np.stack((p[0], p[0])), [[-1.0, -1.0]], [-1.0]).x,
                              "multiplier of zero"),
    "dependent constraints": (lambda p: optimize.linprog(p, [[1.0, 1.0], [2.0, 2.0]], np.stack((1.0, 2.0)),
                                                         [[1.0, 1.0]],
                                                         [1.0]).x, "dependent"),
    "a wide tolerance": (lambda p: optimize.minimize(
        valley, np.zeros(2), args=(p,), method="COBYLA", tol=1e-2,
        constraints={"type": "ineq", "fun": lambda t: p[0] - t[0] - t[1]}).x, "no derivative here"),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_without_a_derivative_there_is_a_value(name):
    f, match = DEGENERATE[name]
    np.testing.assert_allclose(fad.jit(f)(P), f(P), atol=1e-9)
    with pytest.raises((RuntimeError, np.linalg.LinAlgError), match=match):
        fad.jacobian(f)(P)


def test_no_solution_raises():
    with pytest.raises(RuntimeError, match="found no solution"):
        fad.jit(lambda p: optimize.linprog(p, [[1.0, 1.0]], [-1.0]).x)(P)
    with pytest.raises(RuntimeError, match="found no solution"):
        fad.jit(lambda p: optimize.linprog(-p).x)(P)


@pytest.mark.parametrize("call, match", [
    (lambda p: optimize.linprog(p, bounds=[(0.0, p[0]), (0, 1)]).x, "traced bounds"),
    (lambda p: optimize.linprog(p, integrality=[1, 1]).x, "integrality"),
    (lambda p: optimize.lsq_linear(np.eye(2), p, bounds=(p - 1.0, p + 1.0)).x, "traced bounds"),
])
def test_what_has_no_derivative_here_is_refused(call, match):
    with pytest.raises(fad.FadError, match=match):
        fad.jacobian(call, fallback=False)(P)
