"""NumPy calls __array__ of a user's object in functions, operators and assignments. It is captured there."""
import math
import warnings

import numpy as np
import pytest

import fad

from .scaled import assert_as_python_says

X = np.array([0.8, 0.55, 1.1])
SCALE = [2.0]


class Doubled:
    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.a) * SCALE[0]


class OfElements(Doubled):
    def __array__(self, dtype=None, copy=None):
        y = np.zeros(3)
        for k in range(3):
            y[k] = math.sin(self.a[k]) if self.a[k] > 0.7 else self.a[k]
        return y

    def __radd__(self, other):
        return -1e9                                           # NumPy's arrays do not ask it


class First(Doubled):
    """Its operators go first."""

    __array_priority__ = 10.0

    def __radd__(self, other):
        return other * self.a * SCALE[0]


def assigned(x):
    y = np.zeros(3)
    y[:] = Doubled(x)
    y[:2] += OfElements(x).__array__()[1:]
    y += OfElements(x)
    return y @ x


PROGRAMS = {
    "functions": lambda x: np.sum(Doubled(x)) + np.dot(OfElements(x), x) + np.exp(Doubled(x))[1]
                           + np.linalg.norm(OfElements(x)),
    "arrays": lambda x: np.asarray(OfElements(x))[2] + np.array(Doubled(x))[0]
                        + np.where(x > 0.7, OfElements(x), 0.0).sum() + np.max(Doubled(x)),
    "lists": lambda x: np.concatenate([Doubled(x), np.ones(2)]).sum() + np.stack((OfElements(x), x)).sum(),
    "operators": lambda x: (x * Doubled(x)).sum() + (x + OfElements(x)).sum() + (x - OfElements(x))[0]
                           + (x[1] + First(x))[0] + (x < Doubled(x)).sum() * x[0],
    "assigned": assigned,
    "known": lambda x: (np.asarray(Doubled(np.arange(3.0))) * x).sum(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_numpy_makes_an_array_of(name):
    f = PROGRAMS[name]
    value, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_as_python_says(value, gradient, f, SCALE, (2.0, 0.75, 2.0), X)
