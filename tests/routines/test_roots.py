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
