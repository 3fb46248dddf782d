"""scipy.signal's spectra: freqz, periodogram, welch, csd, coherence, spectrogram, stft and istft.

All but the first are made of the Fourier transforms of a signal's overlapping segments.
"""
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import real_dtype, result_dtype, type_of
from ...routines.discrete_systems import dimpulse, dlsim, dstep
from ...routines.resampling import resample
from ...util.array import AnyArray, ArrayLike
from ...util.lazy import imported
from ..kinds import conjugate, is_complex, shape_of
from ..literals import constant
from ..override import BY_NAME, override
from ..precision import as_given
from .arguments import fixed, in_dtype, one_axis, rank, refuse
from .fft import as_complex
from .filters import extended, live_signal


@override("scipy.signal.freqz",
          samples=("np.abs(signal.freqz(v, v[::-1], 5)[1])", "np.angle(signal.freqz(v, 1, [0.1, 0.5])[1])"))
def freqz(b: ArrayLike, a: ArrayLike = 1, worN: Any = 512, whole: bool = False, plot: object = None,
          fs: Any = 2 * np.pi, include_nyquist: bool = False) -> tuple:
    """The frequencies, and the filter's response there."""
    if plot is not None:
        raise refuse("scipy.signal.freqz", "plot")
    b, a = (BY_NAME["numpy.atleast_1d"].call(live_signal(c)) for c in (b, a))
    dtype = result_dtype(b, a)
    if isinstance(worN, (int, np.integer)):
        stop = 2 * np.pi if whole else np.pi
        w: Any = constant(np.linspace(0, stop, worN, endpoint=include_nyquist and not whole, dtype=real_dtype(dtype)))
    else:
        w = in_dtype(live_signal(worN), dtype) * (2 * np.pi / fs)
    step = registry["exp"](w * -1j)
    val = BY_NAME["numpy.polynomial.polynomial.polyval"].call
    return w * (fs / (2 * np.pi)), as_given(lambda *_: val(step, b) / val(step, a))(b, a)

# -- segments --------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """The layout of a signal's segments: the window, their length, the steps between them, the transforms' length,
    one-sided or not."""

    weights: Any
    size: int
    step: int
    length: int
    onesided: bool

    def frequencies(self, fs: Any) -> AnyArray:
        return (np.fft.rfftfreq if self.onesided else np.fft.fftfreq)(self.length, 1.0) * fs

    def scale(self, fs: object, scaling: str) -> AnyArray:
        """The factor of a squared spectrum."""
        if scaling not in ("density", "spectrum"):
            raise ValueError(f"Unknown scaling: {scaling!r}")
        total = registry["sum"](self.weights * self.weights if scaling == "density" else self.weights, axes=(0,))
        return 1.0 / (fs * total) if scaling == "density" else 1.0 / (total * total)


def _cut(x: AnyArray, window: object, nperseg: object, noverlap: Any, nfft: Any, onesided: bool) -> Cut:
    """The settings for a signal, whose last axis is time."""
    weights, size = _window(window, nperseg, fixed(shape_of(x)[-1], "the length of a signal"))
    overlap, length = (size // 2 if noverlap is None else int(noverlap)), (size if nfft is None else int(nfft))
    if overlap >= size:
        raise ValueError("noverlap must be less than nperseg.")
    if length < size:
        raise ValueError("nfft must be greater than or equal to nperseg.")
    weights = in_dtype(weights, type_of(x).dtype.type(0).real.dtype)
    return Cut(weights, size, size - overlap, length, onesided and not is_complex(x))


def _window(window: object, nperseg: Any, n: int) -> tuple:
    """The window's values, and how many they are."""
    if isinstance(window, (str, tuple)):
        size = min(256 if nperseg is None else int(nperseg), n)
        return constant(imported("scipy.signal").get_window(window, size)), size
    window = live_signal(window)
    size = fixed(shape_of(window)[0], "the length of a window")
    if size > n:
        raise ValueError("window is longer than input signal")
    if is_complex(window):
        raise refuse("a spectrum of scipy.signal", "a complex window")
    if nperseg not in (None, size):
        raise ValueError("value specified for nperseg is different from length of window")
    return window, size


def _starts(cut: Cut, n: int) -> np.ndarray:
    return np.arange(0, n - cut.size + 1, cut.step)


def _transformed(x: AnyArray, cut: Cut, detrend: object) -> AnyArray:
    """The spectra of the segments, which take the place of the last axis: segments, frequencies."""
    if callable(detrend):
        raise refuse("a spectrum of scipy.signal", "a function for detrend")
    places = _starts(cut, int(shape_of(x)[-1]))[:, None] + np.arange(cut.size)
    segments = BY_NAME["numpy.take"].call(x, constant(places), axis=-1)
    if detrend:
        segments = BY_NAME["scipy.signal.detrend"].call(segments, -1, detrend)
    return BY_NAME["numpy.fft.rfft" if cut.onesided else "numpy.fft.fft"].call(segments * cut.weights, cut.length)


def _both_sides(power: AnyArray, cut: Cut) -> AnyArray:
    """A one-sided spectrum of powers, doubled where it stands for two frequencies."""
    if not cut.onesided:
        return power
    double = np.full(cut.length // 2 + 1, 2.0, type_of(power).dtype.type(0).real.dtype)
    double[0] = 1.0
    double[-1] = 2.0 if cut.length % 2 else 1.0
    return power * constant(double)


def _last(x: AnyArray, axis: int) -> AnyArray:
    return BY_NAME["numpy.moveaxis"].call(x, axis, -1)


# -- means over segments ---------------------------------------------------------------------------


@override("scipy.signal.periodogram",
          samples=("signal.periodogram(v)[1]",
                   "signal.periodogram(x, fs=2.0, window='hann', axis=0, scaling='spectrum')[1]"))
def periodogram(x: ArrayLike, fs: object = 1.0, window: str = "boxcar", nfft: Any = None, detrend: str = "constant",
                return_onesided: bool = True, scaling: str = "density", axis: int = -1) -> tuple:
    x = live_signal(x)
    ax = one_axis(axis, rank(x))
    n = fixed(shape_of(x)[ax], "the length of a signal")
    if nfft is not None and nfft < n:
        x, n = BY_NAME["numpy.moveaxis"].call(_last(x, ax)[..., :nfft], -1, ax), nfft
    return welch(x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, ax)


@override("scipy.signal.welch", samples=("signal.welch(np.tile(v, 3), nperseg=6)[1]",
                                         "signal.welch(np.tile(x, 3), nperseg=5, noverlap=1, detrend='linear')[1]"))
def welch(x: ArrayLike, fs: object = 1.0, window: str = "hann", nperseg: object = None, noverlap: object = None,
          nfft: object = None, detrend: str = "constant", return_onesided: bool = True, scaling: str = "density",
          axis: int = -1, average: str = "mean") -> tuple:
    """The mean of the periodograms of overlapping segments (P. D. Welch, IEEE Transactions on Audio and
    Electroacoustics 15 (1967) 70)."""
    frequencies, power = csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
                             average)
    return frequencies, registry["real"](power) if is_complex(power) else power


@override("scipy.signal.csd",
          samples=("np.abs(signal.csd(np.tile(v, 3), np.tile(x, 3), nperseg=6)[1])",
                   "np.real(signal.csd(x, x[:2] * 1j, nperseg=3, axis=0, return_onesided=False)[1])"))
def csd(x: ArrayLike, y: ArrayLike, fs: object = 1.0, window: str = "hann", nperseg: object = None,
        noverlap: object = None, nfft: object = None, detrend: str = "constant", return_onesided: bool = True,
        scaling: str = "density", axis: int = -1, average: str = "mean") -> tuple:
    """The mean of the products of the spectra of two signals' segments, the first conjugated."""
    if average != "mean":
        raise refuse("scipy.signal.csd", f"average={average!r}")
    alone = y is x
    x, y = (_last(live_signal(z), axis) for z in (x, y))
    lengths = [fixed(shape_of(z)[-1], "the length of a signal") for z in (x, y)]
    if any(n == 0 for z in (x, y) for n in shape_of(z) if isinstance(n, int)):
        raise refuse("scipy.signal.csd", "an empty signal")
    x, y = (_with_zeros(z, max(lengths) - n) for z, n in zip((x, y), lengths))
    cut = _cut(x, window, nperseg, noverlap, nfft, return_onesided)
    spectrum = _transformed(x, cut, detrend)
    other = spectrum if alone else _transformed(y, cut, detrend)
    power = conjugate(spectrum) * other
    power = _both_sides((registry["real"](power) if alone else power) * cut.scale(fs, scaling), cut)
    mean = registry["sum"](power, axes=(rank(power) - 2,)) / len(_starts(cut, max(lengths)))
    return cut.frequencies(fs), BY_NAME["numpy.moveaxis"].call(mean, -1, axis)


def _with_zeros(x: AnyArray, n: int) -> AnyArray:
    """x with n zeros behind its last axis."""
    if not n:
        return x
    return BY_NAME["numpy.concatenate"].call([x, registry["full"](0, *shape_of(x)[:-1], n, dtype=type_of(x).dtype)],
                                             axis=-1)


@override("scipy.signal.coherence",
          samples=("signal.coherence(np.tile(v, 3), np.tile(x[0] ** 2, 3) + np.arange(12.0) ** 2, nperseg=4)[1][1:]",))
def coherence(x: ArrayLike, y: ArrayLike, fs: object = 1.0, window: str = "hann", nperseg: object = None,
              noverlap: object = None, nfft: object = None, detrend: str = "constant", axis: int = -1) -> tuple:
    options = {"fs": fs, "window": window, "nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "detrend": detrend,
               "axis": axis}
    both = csd(x, y, **options)[1]
    frequencies, first = welch(x, **options)
    square = registry["real"](both) ** 2 + registry["imag"](both) ** 2 if is_complex(both) else both * both
    return frequencies, square / first / welch(y, **options)[1]


# -- spectra over time -----------------------------------------------------------------------------


def _over_time(x: AnyArray, fs: Any, cut: Cut, detrend: object, axis: int) -> tuple:
    """Frequencies, the segments' middle times, and their spectra. Frequencies replace the signal's axis; time is last.
    """
    n = int(shape_of(x)[-1])
    spectra = BY_NAME["numpy.moveaxis"].call(_transformed(x, cut, detrend), -1, axis - 1 if axis < 0 else axis)
    return cut.frequencies(fs), np.arange(cut.size / 2, n - cut.size / 2 + 1, cut.step) / fs, spectra


@override("scipy.signal.stft",
          samples=("np.abs(signal.stft(np.tile(v, 3), nperseg=5)[2])",
                   "np.real(signal.stft(np.tile(x, (3, 1)), 2.0, ('tukey', 0.5), 4, 1, 6, 'constant', "
                   "axis=0, boundary='even')[2])",
                   "np.imag(signal.stft(np.tile(v, 3), window=v, nperseg=4, boundary=None, "
                   "padded=False, scaling='psd')[2])"))
def stft(x: ArrayLike, fs: Any = 1.0, window: ArrayLike = "hann", nperseg: object = 256, noverlap: object = None,
         nfft: object = None, detrend: bool = False, return_onesided: bool = True, boundary: str = "zeros",
         padded: bool = True, axis: int = -1, scaling: str = "spectrum") -> tuple:
    x = _last(live_signal(x), axis)
    cut = _cut(x, window, nperseg, noverlap, nfft, return_onesided)
    half = cut.size // 2
    x = extended(x, half, boundary, axis=-1)
    if padded:
        n = fixed(shape_of(x)[-1], "the length of a signal")
        x = _with_zeros(x, (-(n - cut.size) % cut.step) % cut.size)
    frequencies, time, spectra = _over_time(x, fs, cut, detrend, axis)
    scale = registry["sqrt"](cut.scale(fs, {"psd": "density"}.get(scaling, scaling)))
    return frequencies, time if boundary is None else time - cut.size / 2 / fs, spectra * scale


@override("scipy.signal.spectrogram", samples=("signal.spectrogram(np.tile(v, 3), nperseg=5)[2]",
                                               "signal.spectrogram(np.tile(x, (3, 1)), nperseg=4, axis=0, "
                                               "mode='magnitude')[2]"))
def spectrogram(x: ArrayLike, fs: object = 1.0, window: object = ("tukey", 0.25), nperseg: object = None,
                noverlap: object = None, nfft: object = None, detrend: str = "constant", return_onesided: bool = True,
                scaling: str = "density", axis: int = -1, mode: str = "psd") -> tuple:
    if mode not in ("psd", "complex", "magnitude", "angle", "phase"):
        raise ValueError(f"unknown value for mode {mode}")
    x = _last(live_signal(x), axis)
    _, size = _window(window, nperseg, fixed(shape_of(x)[-1], "the length of a signal"))
    cut = _cut(x, window, nperseg, size // 8 if noverlap is None else noverlap, nfft, return_onesided)
    frequencies, time, spectra = _over_time(x, fs, cut, detrend, -1)
    scale, place = cut.scale(fs, scaling), axis - 1 if axis < 0 else axis
    if mode == "psd":
        power = _last(registry["real"](conjugate(spectra) * spectra) * scale, -2)
        return frequencies, time, BY_NAME["numpy.moveaxis"].call(_both_sides(power, cut), -1, place)
    y = BY_NAME["numpy.moveaxis"].call(spectra * registry["sqrt"](scale), -2, place)
    if mode == "magnitude":
        y = registry["abs"](y)
    elif mode != "complex":
        y = BY_NAME["numpy.angle"].call(y)
    return frequencies, time, BY_NAME["numpy.unwrap"].call(y, axis=place) if mode == "phase" else y


@override("scipy.signal.istft", samples=("signal.istft(signal.stft(np.tile(v, 3), nperseg=4)[2] ** 2, nperseg=4)[1]",
                                         "np.real(signal.istft(np.tile(x, (3, 1)) * 1j, window=v, boundary=False, "
                                         "input_onesided=False, time_axis=0, freq_axis=1)[1])"))
def istft(Zxx: ArrayLike, fs: Any = 1.0, window: object = "hann", nperseg: Any = None, noverlap: Any = None,
          nfft: Any = None, input_onesided: bool = True, boundary: bool = True, time_axis: int = -1,
          freq_axis: int = -2, scaling: str = "spectrum") -> tuple:
    """The overlap-add of windowed segments, over the sum of the window's squares (D. W. Griffin and J. S. Lim, IEEE
    Transactions on Acoustics, Speech, and Signal Processing 32 (1984) 236)."""
    z = as_complex(live_signal(Zxx))
    if rank(z) < 2:
        raise ValueError("Input stft must be at least 2d!")
    time_axis, freq_axis = one_axis(time_axis, rank(z)), one_axis(freq_axis, rank(z))
    if time_axis == freq_axis:
        raise ValueError("Must specify differing time and frequency axes!")
    z = BY_NAME["numpy.moveaxis"].call(z, (time_axis, freq_axis), (-2, -1))
    count = fixed(shape_of(z)[-2], "the number of segments")
    cut = _cut_back(fixed(shape_of(z)[-1], "the number of frequencies"), window, nperseg, noverlap, nfft,
                    input_onesided)
    segments = BY_NAME["numpy.fft.irfft" if input_onesided else "numpy.fft.ifft"].call(z, cut.length)[..., :cut.size]
    weights = in_dtype(cut.weights, type_of(segments).dtype.type(0).real.dtype)
    segments = segments * (_loudness(weights, fs, scaling) * weights)
    norm = BY_NAME["numpy.broadcast_to"].call(weights * weights, (count, cut.size))
    x, norm = (_overlapped(part, cut, count) for part in (segments, norm))
    if boundary:
        half = cut.size // 2
        x, norm = x[..., half:-half], norm[half:-half]
    x = x / registry["where"](norm > 1e-10, norm, 1.0)
    x = BY_NAME["numpy.moveaxis"].call(x, -1, time_axis - (freq_axis < time_axis))
    return np.arange(fixed(shape_of(x)[0], "the length of a signal")) / float(fs), x


def _cut_back(bins: int, window: object, nperseg: Any, noverlap: Any, nfft: Any, onesided: bool) -> Cut:
    """The settings of a transform that has come to so many frequencies."""
    likely = 2 * (bins - 1) if onesided else bins
    size = likely if nperseg is None else int(nperseg)
    length = nfft if nfft is not None else size if onesided and size == likely + 1 else likely
    weights, _ = _window(window, size, size)
    overlap = size // 2 if noverlap is None else int(noverlap)
    if overlap >= size or int(length) < size:
        raise ValueError("noverlap must be less than nperseg, and nfft at least as large.")
    return Cut(weights, size, size - overlap, int(length), onesided)


def _loudness(weights: AnyArray, fs: object, scaling: str) -> AnyArray:
    """The divisor of a transform of this scaling."""
    if scaling not in ("spectrum", "psd"):
        raise ValueError(f"Parameter {scaling=} not in ['spectrum', 'psd']!")
    if scaling == "spectrum":
        return registry["sum"](weights, axes=(0,))
    return registry["sqrt"](fs * registry["sum"](weights * weights, axes=(0,)))


def _overlapped(segments: AnyArray, cut: Cut, count: int) -> AnyArray:
    """The sum of the segments, each in its place."""
    *lanes, _, _ = shape_of(segments)
    n = cut.size + (count - 1) * cut.step
    places = constant(_starts(cut, n)[:, None] + np.arange(cut.size))
    return registry["index_add"](registry["full"](0, *lanes, n, dtype=type_of(segments).dtype), segments, places,
                                 spec=(":",) * len(lanes) + ("a",), at=len(lanes))


override("scipy.signal.resample", routine=True)(resample)
for _call in (dlsim, dimpulse, dstep):
    override(f"scipy.signal.{_call.__name__}", routine=True)(_call)
