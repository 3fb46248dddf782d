"""Root finders as loops of the program: SciPy's steps, in loops, branches and batches, to every order."""
import numpy as np
import pytest
from scipy import optimize

import fad

METHODS = ["brentq", "brenth", "bisect", "ridder"]


@pytest.mark.parametrize("method", METHODS)
def test_the_calls_are_scipys(method):
    """The points at which SciPy asks for the function, in order."""
    def asked(find):
        places = []

        def f(x):
            places.append(float(x))
            return np.exp(x) - 2.0 - 0.3 * np.sin(4 * x)
        find(f)
        return places
    from fad.routines import above, roots
    kept = dict(vars(above))
    above.held, above.stopped, above.solution = lambda f, *_: f, lambda x: x, lambda f, x: x
    try:
        places = asked(lambda f: roots.find(roots.METHODS[method], f, -1.0, 3.0))
    finally:
        vars(above).update(kept)
        for name in set(vars(above)) - set(kept):
            delattr(above, name)
    np.testing.assert_array_equal(places, asked(lambda f: getattr(optimize, method)(f, -1.0, 3.0)))


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_in_loops_and_branches(method):
    def step(p, total, k):
        return getattr(optimize, method)(lambda x: x ** 3 + x * p[k] - total, -9.0, 9.0, xtol=1e-14)

    def f(p):
        total = p[0]
        for k in range(2):
            if p[k] > 0:
                total = total * step(p, total, k)
        return total
    p, h = np.array([1.3, 0.7]), 1e-5
    for g, of in ((fad.grad(f, compile="now"), f), (fad.hessian(f, compile="now"), fad.grad(f))):
        found = g(p)
        np.testing.assert_allclose(found, [(of(p + h * e) - of(p - h * e)) / (2 * h) for e in np.eye(2)], rtol=1e-6)
        assert "call_python" not in str(fad.source(g, p))


@pytest.mark.parametrize("fprime", [None, lambda x, p: 1.0 - p * np.cos(x)])
@pytest.mark.parametrize("x0", [0.3, 2, -1.0])
def test_newton(fprime, x0):
    """Kepler's equation."""
    def f(p):
        return optimize.newton(lambda x, p: x - p * np.sin(x) - 0.7, x0, fprime, args=(p,), tol=1e-12)
    g, h = fad.value_and_grad(f, compile="now", fallback=False), 1e-5
    value, slope = g(0.4)
    np.testing.assert_allclose(value, f(0.4), rtol=1e-12)
    np.testing.assert_allclose(slope, (f(0.4 + h) - f(0.4 - h)) / (2 * h), rtol=1e-8)
    assert "call_python" not in str(fad.source(g, 0.4))


def test_newton_without_a_root():
    for options, error in (({"maxiter": 2}, RuntimeError), ({"tol": 0.0}, ValueError),
                           ({"fprime": lambda x: 0.0 * x}, RuntimeError)):
        with pytest.raises(error):
            fad.grad(lambda p, o=options: optimize.newton(lambda x: x ** 2 + p, 1.0, **o))(1.0)
    assert np.isclose(fad.grad(lambda p: optimize.newton(lambda x: x - p, 2.0, lambda x: 1.0))(2.0), 1.0)
