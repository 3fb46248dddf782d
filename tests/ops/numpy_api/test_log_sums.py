"""Sums in the logarithmic domain of nothing: values, signs, and derivatives that reach no result."""
import numpy as np
import pytest
from scipy.special import logsumexp

import fad

INF = np.inf
MASK = np.array([[True, False, True], [False, False, False]])


@pytest.mark.parametrize("x, b", [([-INF, -INF], None), ([1.0, 2.0], [False, False]), ([1.0, 1.0], [1, -2]),
                                  ([2.0, -INF], None), ([-INF], None), ([1.0, 2.0], [0.0, 0.0])])
def test_values_and_signs(x, b):
    def f(x):
        return logsumexp(x, b=b, return_sign=True)
    np.testing.assert_array_equal(fad.jit(f)(np.array(x)), f(np.array(x)))


@pytest.mark.parametrize("x", [[0.0, -40.0], [3.0, 3.0, -40.0], [-1e3, -1e3 - 38.0], [0.0, 1e-17, -40.0], [INF, 0.0],
                               [INF, -INF], [np.nan, 1.0], [5.0]])
def test_small_terms_beside_the_largest_keep_their_digits(x):
    """log(1 + 4e-18) is 4e-18, and its slopes are shares of the sum."""
    want = logsumexp(np.array(x))
    got, slopes = fad.value_and_grad(logsumexp)(np.array(x))
    np.testing.assert_allclose(got, want, rtol=1e-15)
    if np.isfinite(want):
        np.testing.assert_allclose(slopes, np.exp(np.array(x) - want), rtol=1e-14)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_rows_without_a_weight(compile):
    def f(a):
        return np.sum(np.logaddexp(1.0, logsumexp(a, b=MASK, axis=1)))
    a = np.arange(6.0).reshape(2, 3)
    step = np.array([(f(a + h) - f(a - h)) / 2e-6 for h in 1e-6 * np.eye(6).reshape(6, 2, 3)]).reshape(2, 3)
    np.testing.assert_allclose(fad.grad(f, compile=compile)(a), step, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(fad.jvp(f, (a,), (a,))[1], np.sum(step * a), rtol=1e-7)
    assert np.all(np.isfinite(fad.hvp(f, a, a)))


def test_a_forward_algorithm_with_states_that_cannot_be_reached():
    """The alignments of a CTC loss: most places have no way to them at first."""
    def loss(z):
        p = z - logsumexp(z, axis=1, keepdims=True)
        a = np.full(3, -INF)
        a[0] = p[0, 0]
        for t in range(1, 4):
            b = np.full(3, -INF)
            for s in range(3):
                ways = a[max(0, s - 1): s + 1]
                b[s] = np.logaddexp.reduce(ways) + p[t, s]
            a = b
        return -a[2]
    z = np.sin(np.arange(12.0)).reshape(4, 3)
    d = np.cos(np.arange(12.0)).reshape(4, 3)
    step = (loss(z + 1e-6 * d) - loss(z - 1e-6 * d)) / 2e-6
    assert np.sum(fad.grad(loss)(z) * d) == pytest.approx(step, rel=1e-7)
    assert fad.jvp(loss, (z,), (d,))[1] == pytest.approx(step, rel=1e-7)
    assert np.all(np.isfinite(fad.hvp(loss, z, d)))
