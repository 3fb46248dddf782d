"""The compiled passes over vectors against NumPy."""
import numpy as np
import pytest

from fad.kernels import filters

from .support import jit

PLACES, CORRELATE = jit(lambda mask, n: filters.places_true(mask, n)), jit(lambda x, w: filters.correlate(x, w))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("n", [0, 1, 100])
def test_places_true(n, share):
    mask = np.random.default_rng(0).random(n) < share
    for given in (mask, mask[::-2]):
        want = np.flatnonzero(given)
        np.testing.assert_array_equal(PLACES(given, want.size), want)
        np.testing.assert_array_equal(filters.places_true(given, want.size), want)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64])
@pytest.mark.parametrize("m", [1, 3, 50])
def test_correlate(dtype, m):
    rng = np.random.default_rng(1)
    x, w = ((10 * rng.standard_normal(n)
             + (10j * rng.standard_normal(n) if dtype is np.complex128 else 0)).astype(dtype) for n in (50, m))
    for given in (x, x[::-1]):
        want = np.correlate(given, np.conj(w), "valid")
        np.testing.assert_allclose(CORRELATE(given, w), want, rtol=1e-4 if dtype is np.float32 else 1e-12)
        np.testing.assert_array_equal(filters.correlate(given, w), want)
