"""Arrays that are written to by an index array, from their own elements: in the generated text the reads see the
elements as they were."""
import numpy as np
import pytest

import fad

from ..fuzz.text import as_text

X = np.array([0.3141593, -0.6180340, 0.8318531, 0.1414214, -0.2718282, 0.5498161])
PLACES = np.array([3, 1, 1, 5, 0, 2])


def of_itself(x):
    y = x * 1.0
    y[PLACES] = y
    return y @ np.arange(6)


def scaled(x):
    y = x * 1.0
    y[PLACES] += 2 * y
    return y @ np.arange(6)


def added_at(x):
    y = x * 1.0
    np.add.at(y, PLACES, y)
    return (y * y) @ np.arange(6)


def backwards(x):
    y = x * 1.0
    y[PLACES] = np.tanh(y) + y[::-1]
    return (y * y) @ np.arange(6)


PROGRAMS = [of_itself, scaled, added_at, backwards, lambda x: np.sum(np.tanh(np.sort(x) + x)),
            lambda x: np.sum(np.tanh(3 * x[PLACES] + 2 * x)),
            lambda x: np.sum(np.tanh(x[PLACES] + x[::-1] + x)),
            lambda x: np.sum(np.tanh(np.cumsum(x)[PLACES] + np.cumsum(x))),
            lambda x: np.sum(np.tanh(np.outer(x, x) + np.outer(x, x)[PLACES]))]


@pytest.mark.parametrize("f", PROGRAMS)
def test_generated_text(f):
    def slope(f):
        return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(6)])
    with as_text():
        gradient = fad.grad(f)
        assert fad.jit(f)(X) == pytest.approx(f(X))
        np.testing.assert_allclose(gradient(X), slope(f), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(fad.jvp(gradient, (X,), (X,))[1], X @ slope(gradient), rtol=1e-6, atol=1e-6)
