"""scipy.signal.resample in captured code: SciPy's values and their derivatives."""
import numpy as np
import pytest
from scipy.signal import get_window, resample

import fad

WINDOW = np.fft.fftshift(get_window("hamming", 8))
X = np.sin(np.arange(8.0) ** 1.3)


@pytest.mark.parametrize("n", [7, 8])
@pytest.mark.parametrize("num", [5, 6, 7, 8, 9, 12])
def test_values_and_derivatives(n, num):
    def f(x):
        return resample(x, num)
    x = X[:n]
    np.testing.assert_allclose(fad.jit(f, fallback=False)(x), f(x), atol=1e-14)
    np.testing.assert_allclose(fad.jacrev(f, fallback=False)(x), np.transpose([f(e) for e in np.eye(n)]), atol=1e-14)


@pytest.mark.parametrize("f", [
    lambda x: resample(np.outer(x, x), 5, axis=1),
    lambda x: resample(x, 6, t=np.arange(8.0))[0] * resample(x, 6, t=np.arange(8.0))[1],
    lambda x: resample(x, 6, window=WINDOW), lambda x: resample(x, 6, axis=None),
    lambda x: np.abs(resample(x + 2j * x[::-1], 11)), lambda x: resample(x, 6, window=lambda f: np.exp(-f * f)),
    lambda x: np.real(resample(np.fft.fft(x), 6, domain="freq"))])
def test_options(f):
    np.testing.assert_allclose(fad.jit(f, fallback=False)(X), f(X), atol=1e-12)
    step = 1e-6
    slopes = np.stack([(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(8)], axis=-1)
    np.testing.assert_allclose(fad.jacrev(f, fallback=False)(X), slopes, atol=1e-7)


def test_errors_are_scipys():
    with pytest.raises(ValueError, match="domain"):
        fad.grad(lambda x: np.sum(resample(x, 5, domain="space")))(X)


def test_a_window_by_its_name_is_refused():
    with pytest.raises(fad.FadError, match="get_window"):
        fad.grad(lambda x: np.sum(resample(x, 5, window="hamming")), fallback=False)(X)
