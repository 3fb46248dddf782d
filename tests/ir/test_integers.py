"""Facts about the integers of a program."""
import numpy as np
import pytest

import fad


@pytest.mark.parametrize("n, shape", [(4, (22, 12)), (4, (22, 3, 4)), (6, (-1, 9)), (1, (66,))])
def test_an_extent_that_a_reshape_fixes_is_a_number(n, shape):
    """66 n = 264 says n = 4."""
    def f(x):
        return np.reshape(x * np.full((22, 3, 1), 2.0), shape)
    x = np.random.default_rng(0).standard_normal((22, 3, n))
    g = fad.jit(f, compile="now")
    np.testing.assert_array_equal(g(x), f(x))
    assert shape[0] < 0 or f"float64[22, 3, {n}]" in fad.source(g, x)
    other = np.ones((22, 3, n + 3))
    if shape[0] < 0:
        np.testing.assert_array_equal(g(other), f(other))
    else:
        with pytest.raises(ValueError):
            g(other)


def test_extents_whose_multiples_are_equal():
    def f(x, y):
        return np.reshape(x, (2, -1)) + np.reshape(y, (2, len(x)))
    x, y = np.ones(6), np.ones((3, 4))
    with pytest.raises(ValueError):
        fad.jit(f, compile="now")(x, y)
    y = np.arange(12.0).reshape(4, 3)
    g = fad.jit(lambda x, y: np.reshape(x, (2, len(y))) + np.sum(y), compile="now")
    np.testing.assert_array_equal(g(np.arange(8.0), y), np.arange(8.0).reshape(2, 4) + 66.0)
    np.testing.assert_array_equal(g(np.arange(10.0), np.ones((5, 3))), np.arange(10.0).reshape(2, 5) + 15.0)
