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


def ring(x):
    """Each element beside its neighbours; the last one is beside the first."""
    n, s = len(x), 0.0
    for i in range(n):
        s += x[i] * x[(i + 1) % n] - x[(i - 1) % n] ** 2 + x[i % n] * x[(i - n) % n]
    return s


def backward(x):
    n, s = len(x), 0.0
    for i in range(n - 1, -1, -1):
        s += x[i] * x[(i + n - 1) % n] * x[(i + 1) % n]
    return s


def far(x):
    """Remainders that need a division."""
    n, s = len(x), 0.0
    for i in range(n):
        s += x[i] * x[(2 * i) % n] * x[(i - n - 1) % n] * x[(i + 2) % n] * x[(i + 1) % 4]
    return s


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("f", [ring, backward, far], ids=lambda f: f.__name__)
def test_neighbours_on_a_ring(f, compile):
    g = fad.value_and_grad(f, compile=compile)
    for n in (4, 5, 9):
        x = np.linspace(0.5, 1.5, n)
        value, gx = g(x)
        assert value == pytest.approx(f(x), rel=1e-13)
        slopes = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(n)]
        np.testing.assert_allclose(gx, slopes, rtol=1e-7)


def test_neighbours_on_a_ring_need_no_division_and_no_check():
    x = np.linspace(0.5, 1.5, 5)
    for f in (ring, backward):
        source = fad.source(fad.grad(f), x)
        assert "remainder(" not in source and "IndexError" not in source
    assert fad.source(fad.grad(far), x).count("raise IndexError") == 1              # four elements are there


def test_a_ring_of_one_and_of_none():
    g = fad.value_and_grad(ring, compile="now")
    x = np.array([2.0])
    assert g(x)[0] == ring(x)
    assert g(np.zeros(0))[0] == 0.0
