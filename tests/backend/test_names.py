"""Names in generated code: a user's i, j or k that is no loop's index has a name of its own, since compiled code gives
each name one type."""
import numpy as np
import pytest

import fad


def array_named_as_an_index(x):
    i = np.arange(3, 3 + x.shape[0])
    u = np.array([2.5, 3.0, 7.0, 1.0])
    for _ in x:
        i = (-u) + 0 * u
    return i


def float_named_as_an_index(x):
    y = x * 2.0
    k = 0.5
    for v in y:
        k = k * 0.9 + np.sum(y * v)
    i = np.cumsum(y) * k
    for _ in range(3):
        i = i * 0.5 + y
    return i * k


@pytest.mark.parametrize("f", [array_named_as_an_index, float_named_as_an_index])
def test_names_of_indices(f):
    x = np.array([0.3, 0.5, -0.2, 1.1])
    np.testing.assert_allclose(fad.jit(f, compile="now", fallback=False)(x), f(x), rtol=1e-13)
