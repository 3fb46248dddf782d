"""A user's class that computes ufuncs and functions of its objects by NumPy's protocols, as classes of units do."""
import numpy as np
import pytest
from numpy.lib.mixins import NDArrayOperatorsMixin

import fad

X = np.array([0.3, 0.5, 0.7])
SCALES = {"m": 2.0}


class Quantity(NDArrayOperatorsMixin):
    def __init__(self, number, unit):
        self.number, self.unit = number, unit

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        numbers = [x.number * SCALES[x.unit] if isinstance(x, Quantity) else x for x in inputs]
        return Quantity(getattr(ufunc, method)(*numbers, **options), self.unit)

    def __array_function__(self, function, types, args, options):
        return Quantity(function(*[x.number if isinstance(x, Quantity) else x for x in args], **options), self.unit)


KNOWN = Quantity(np.array([1.0, 2.0, 3.0]), "m")
PROGRAMS = {
    "product": lambda x: Quantity(x, "m") * Quantity(x, "m"), "array on the left": lambda x: x * Quantity(x, "m"),
    "known, right": lambda x: x - KNOWN, "known, left": lambda x: KNOWN / x,
    "number": lambda x: 2.0 ** Quantity(x, "m"),
    "a number of the array": lambda x: x[0] * Quantity(x[1], "m"), "known array": lambda x: X * Quantity(x, "m"),
    "ufunc": lambda x: np.maximum(x * x, Quantity(0.3 * x, "m")), "sin": lambda x: np.sin(Quantity(x, "m")),
    "reduce": lambda x: np.add.reduce(Quantity(x, "m")), "function": lambda x: np.dot(x, Quantity(x, "m")),
    "where": lambda x: np.where(x > 0.4, Quantity(x, "m"), 0.0), "comparison": lambda x: x * (x > KNOWN).number,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays_leave_a_call_to_the_class_of_the_user(name, monkeypatch):
    def f(x):
        y = PROGRAMS[name](x)
        return np.sum(getattr(y, "number", y))
    g = fad.value_and_grad(f, fallback=False)
    for scale in (2.0, 3.0):                                  # what the class reads is looked at by each call
        monkeypatch.setitem(SCALES, "m", scale)
        value, slope = g(X)
        np.testing.assert_allclose(value, f(X))
        np.testing.assert_allclose(slope, [(f(X + e) - f(X - e)) / 2e-6 for e in 1e-6 * np.eye(3)], 1e-6, 1e-8)
