"""The compiled Fourier transforms against numpy.fft: lengths, precisions, stacks."""
import numpy as np
import pytest

from fad.kernels import fft

from .support import jit

FFT, IFFT, RFFT = jit(lambda x: fft.fft(x)), jit(lambda x: fft.ifft(x)), jit(lambda x: fft.rfft(x))
IRFFT = jit(lambda x, n: fft.irfft(x, n))
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 30, 31, 37, 64, 74, 97, 100, 128, 143, 360, 1000, 1009, 1024, 3125]


def signal(*shape):
    rng = np.random.default_rng(0)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def close(actual, expected, tolerance=1e-13):
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    x = signal(n)
    before = x.copy()
    close(FFT(x), np.fft.fft(x))
    close(IFFT(x), np.fft.ifft(x))
    np.testing.assert_array_equal(x, before)
    close(RFFT(x.real.copy()), np.fft.rfft(x.real))
    close(IRFFT(x, n), np.fft.irfft(x, n))
    for function in (fft.fft, fft.ifft):
        close(function(x), getattr(np.fft, function.__name__)(x))


@pytest.mark.parametrize("dtype", [np.complex64, np.float64])
def test_stacks_and_strides(dtype):
    x = signal(3, 10, 4).astype(dtype).swapaxes(1, 2)
    tolerance = 1e-6 if dtype == np.complex64 else 1e-13
    close(FFT(x), np.fft.fft(x), tolerance)
    close(IFFT(x[0]), np.fft.ifft(x[0]), tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [9, 10])
def test_stacks_of_real_rows(dtype, n):
    x = signal(2, n, 3).real.astype(dtype).swapaxes(1, 2)
    tolerance = 1e-6 if dtype == np.float32 else 1e-13
    close(RFFT(x), np.fft.rfft(x), tolerance)
    close(IRFFT(np.fft.rfft(x), n), x, tolerance)


@pytest.mark.parametrize("n", [2, 9, 10, 18, 19, 40])
def test_real_results_of_any_length(n):
    close(IRFFT(signal(10), n), np.fft.irfft(signal(10), n))


def test_no_points():
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        FFT(signal(0))
