"""scipy.signal's spectra through fad give SciPy's numbers and dtypes, whatever the options; tests/laws has their
derivatives."""
import numpy as np
import pytest
from scipy import signal

import fad
from fad.util.errors import UnsupportedFunctionError

RNG = np.random.default_rng(7)
X, M = RNG.normal(size=17), RNG.normal(size=(9, 4))
C = M + 1j * M[::-1]


def agrees(f, *args):
    """Every result is SciPy's."""
    for got, want in zip(fad.jit(f)(*args), f(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype in (np.float32, np.complex64) else 1e-9,
                                   atol=1e-7)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("options", [
    {"nperseg": 5}, {"nperseg": 5, "noverlap": 1, "nfft": 8, "boundary": "odd", "detrend": "linear"},
    {"nperseg": 6, "boundary": "constant", "scaling": "psd"},
    {"nperseg": 6, "window": ("kaiser", 2.0), "boundary": "even", "padded": False},
    {"nperseg": 4, "window": X[:4], "fs": 3.0}, {"nperseg": 7, "return_onesided": False}])
def test_transforms_over_time_and_back(options):
    agrees(lambda x: signal.stft(x, **options), X)
    agrees(lambda x: signal.stft(x.T, **options), M)
    kept = {name: value for name, value in options.items()
            if name in ("nperseg", "noverlap", "nfft", "window", "fs", "scaling")}
    z = signal.stft(X, **options)[2]
    agrees(lambda z: signal.istft(z, input_onesided=options.get("return_onesided", True), **kept), z)


@pytest.mark.filterwarnings("ignore:Input data is complex", "ignore:NOLA condition failed")
@pytest.mark.parametrize("axis", [0, -2])
def test_transforms_over_time_along_other_axes(axis):
    for x in (M, C, M.astype(np.float32)):
        agrees(lambda x: signal.stft(x, nperseg=4, axis=axis), x)
        agrees(lambda x: signal.spectrogram(x, nperseg=4, axis=axis), x)
    agrees(lambda z: signal.istft(z, time_axis=axis, freq_axis=1, noverlap=1, boundary=False), C)
    agrees(lambda z: signal.istft(z, input_onesided=False, time_axis=1, freq_axis=axis), C)


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude", "angle", "phase"])
def test_spectrograms(mode):
    for options in ({}, {"scaling": "spectrum", "detrend": False}, {"nfft": 9, "noverlap": 3}):
        agrees(lambda x: signal.spectrogram(x, 2.0, nperseg=6, mode=mode, **options), X)  # noqa: B023 - called at once


def test_products_of_spectra():
    agrees(lambda x, y: signal.csd(x, y, nperseg=5, nfft=6, window="hamming", scaling="spectrum"), X, X[:11] ** 2)
    agrees(lambda x, y: signal.csd(x, y, nperseg=3, axis=0), C, M)
    agrees(lambda x, y: signal.csd(x, y, nperseg=4), X[:9], M.T)
    agrees(lambda x, y: signal.coherence(x, y, nperseg=5), X, X[::-1] ** 2)
    agrees(lambda x: signal.welch(x, nperseg=3, axis=0), C)


def test_what_comes_back_is_what_was_transformed():
    f = fad.jit(lambda x: signal.istft(signal.stft(x, nperseg=6, noverlap=4)[2], nperseg=6, noverlap=4)[1][:17])
    np.testing.assert_allclose(f(X), X, rtol=1e-12)
    np.testing.assert_allclose(fad.jacobian(f)(X), np.eye(17), atol=1e-12)


def test_what_spectra_refuse():
    with pytest.raises(ValueError, match="noverlap must be less than nperseg"):
        fad.grad(lambda x: np.abs(signal.stft(x, nperseg=4, noverlap=4)[2]).sum())(X)
    with pytest.raises(UnsupportedFunctionError, match="a function for detrend"):
        fad.grad(lambda x: signal.welch(x, nperseg=4, detrend=lambda x: x)[1].sum())(X)
