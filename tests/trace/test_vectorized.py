"""numpy.vectorize and numba.vectorize of functions that branch: one loop over the elements, whatever their number."""
import numba
import numpy as np
import pytest
from scipy.optimize import brentq

import fad
from fad.ir.graph import all_equations
from fad.trace.tracing import trace


def branching(t, a=1.0, k=2):
    return a * t ** k if t > 0.5 else (0.1 * t if t > 0.4 else 3.0)


@numba.vectorize
def of_numba(t, a):
    if t > 0.5:
        return a * np.exp(-t)
    return a * t


VECTORIZED = np.vectorize(branching)
CASES = {
    "one array": lambda x: np.sum(VECTORIZED(x) * x),
    "broadcast": lambda x: np.sum(VECTORIZED(x[:, None], x)),
    "a scalar, a keyword": lambda x: np.sum(VECTORIZED(x, x[3], k=3)),
    "made inside": lambda x: np.sum(np.vectorize(lambda t: t * x[1] if t > 0.6 else 2.0)(x.reshape(-1))),
    "excluded": lambda x: np.sum(np.vectorize(lambda a, t: a[0] * t if t > 0.5 else a[1], excluded=[0],
                                              otypes=[float])([x[0], x[1]], x)),
    "Numba's": lambda x: np.sum(of_numba(x, x[2])) + np.sum(of_numba(x[:, None], x)),
}
X = np.linspace(0.301, 1.2, 13)


def differences(f, x):
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, compile):
    f = CASES[name]
    value, gradient = fad.jit(fad.value_and_grad(f, fallback=False), compile=compile)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    np.testing.assert_allclose(gradient, differences(f, X), rtol=1e-6, atol=1e-6)


def test_second_derivatives():
    f = CASES["a scalar, a keyword"]
    np.testing.assert_allclose(fad.hessian(f)(X), differences(fad.grad(f), X), rtol=1e-5, atol=1e-5)


def test_the_program_does_not_grow_with_the_array():
    """Each element had its own branch before: 400 of them took a minute to compile."""
    def size(n):
        return len(list(all_equations(trace(CASES["one array"], [np.linspace(0, 1, n)]).func)))
    assert size(2000) == size(20) < 60


def test_results_of_several_dtypes_are_refused():
    f = np.vectorize(lambda t: t * t if t > 0.5 else 1)
    with pytest.raises(fad.FadError, match="otypes"):
        fad.grad(lambda x: np.sum(f(x)), fallback=False)(X)


@pytest.mark.parametrize("x", [3, 0.7, -0.7])
def test_a_number(x):
    """An int that is no value of the program, too."""
    for f in (np.vectorize(lambda t: t + 1), np.vectorize(lambda t: t * t if t > 0.5 else t)):
        assert fad.jit(lambda x: f(x) * f(2), fallback=False)(x) == f(x) * f(2)      # noqa: B023 - called at once


ASKING = {
    "size": lambda t: t * np.size(t),
    "a number as a vector": lambda t: t * len(np.atleast_1d(t)),
    "axes": lambda t: t * t if np.ndim(t) else -t,
    "the size, in a branch": lambda t: t if np.size(t) < 2 else 2 * t,
    "none": lambda t: t * t,
}


@pytest.mark.parametrize("x", [X[:3], X], ids=["short", "long"])
@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_asks_for_the_shape_of_what_it_gets(name, x):
    """It got the whole array before: np.size(t) was its length, silently."""
    f = ASKING[name]
    for whole in (np.vectorize(f, otypes=[float]), lambda x: np.piecewise(x, [x > 1.15, x < 0.5], [f, np.abs, f])):
        for g in (fad.jit(whole, fallback=False), fad.jit(whole, fallback=False, compile="now")):
            np.testing.assert_allclose(g(x), whole(x), rtol=1e-14)


def test_a_root_for_each_element():
    """What was traced of all elements at once, and given up, left a check that there is one."""
    roots = np.vectorize(lambda a: brentq(lambda t: t * t - a, 0.0, 5.0))
    np.testing.assert_allclose(fad.jit(roots, fallback=False)(X), np.sqrt(X))
    np.testing.assert_allclose(fad.grad(lambda x: np.sum(roots(x)))(X), 0.5 / np.sqrt(X))


OUTSIDE = np.vectorize(lambda a, b: a @ b if a[0] > 0.3 else a @ a, signature="(n),(n)->()")
ROWS = np.linspace(0.1, 1.0, 30)
SIGNATURES = {
    "outside": lambda x: OUTSIDE(x.reshape(10, 3), x[:3]), "few": lambda x: OUTSIDE(x[:6].reshape(2, 3), x[:3]),
    "one call": lambda x: OUTSIDE(x[:3], x[3:6]),
    "made within": lambda x: np.vectorize(lambda a: np.cumsum(a * a), signature="(n)->(n)")(x.reshape(2, 5, 3)),
    "two results": lambda x: np.vectorize(lambda a: (np.sum(a), a * a), signature="(n)->(),(n)")(x.reshape(10, 3))[1],
    "numpy's": lambda x: np.vectorize(np.linalg.det, signature="(n,n)->()")(x[:27].reshape(3, 3, 3) + np.eye(3)),
    "broadcast": lambda x: np.vectorize(np.outer, signature="(m),(n)->(m,n)")(x.reshape(5, 1, 6), x[:8].reshape(2, 4)),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_says_which_parts_a_call_gets(name):
    f = SIGNATURES[name]
    w = np.random.default_rng(0).standard_normal(np.shape(f(ROWS)))
    np.testing.assert_allclose(fad.jit(f, fallback=False)(ROWS), f(ROWS), 1e-12)
    found = fad.grad(lambda x: np.sum(w * f(x)), fallback=False)(ROWS)
    d = 1e-6 * np.cos(np.arange(30.0))
    np.testing.assert_allclose(found @ d, np.sum(w * (f(ROWS + d) - f(ROWS - d))) / 2, 1e-6)
