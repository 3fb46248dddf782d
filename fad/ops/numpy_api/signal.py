"""scipy.signal: convolution and correlation in any number of dimensions, the analytic signal, trends taken away.

In one dimension convolutions are sums; in more dimensions they use Fourier transforms, as SciPy does for large ones.
"""
from collections.abc import Callable
from typing import Any

from ...ir.op import registry
from ...ir.types import INT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, Axes, Extent
from .. import extents
from ..correlate import correlated, flipped, padded
from ..extents import is_at_least
from ..kinds import conjugate, is_complex, shape_of
from ..override import BY_NAME, override
from .arguments import as_array, axes_of, in_dtype, live, one_axis, rank, refuse
from .fft import signal
from .scan import part

MODES = ("full", "same", "valid")
BOUNDARIES = {"fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric",
              "symmetric": "symmetric"}


def _pair(first: object, second: object, mode: str) -> "tuple[Any, Any]":
    """Two arrays of one rank."""
    a, b = as_array(first), as_array(second)
    if rank(a) != rank(b):
        raise ValueError("in1 and in2 should have the same dimensionality")
    if mode not in MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    return a, b


def _cut(whole: AnyArray, n: Extent, m: Extent, ax: int, mode: str) -> AnyArray:
    """The part of the full convolution of n values with m, along an axis, that a mode keeps."""
    if mode == "full":
        return whole
    if mode in ("same", "same, turned"):  # correlate2d turns its window after it has found the middle
        return part(whole, ax, m // 2 if mode == "same, turned" else (m - 1) // 2, n)
    return part(whole, ax, *((m - 1, n - m + 1) if is_at_least(n, m) else (n - 1, m - n + 1)))


def _by_transform(a: AnyArray, b: AnyArray, axes: tuple) -> AnyArray:
    """The full convolution along the axes, broadcast along the others: the inverse transform of the transforms'
    product."""
    sizes = [shape_of(a)[ax] + shape_of(b)[ax] - 1 for ax in axes]
    forth, back = ("fftn", "ifftn") if is_complex(a) or is_complex(b) else ("rfftn", "irfftn")
    spectra = [BY_NAME[f"scipy.fft.{forth}"].call(signal(x), s=sizes, axes=axes) for x in (a, b)]
    return BY_NAME[f"scipy.fft.{back}"].call(spectra[0] * spectra[1], s=sizes, axes=axes)


def _convolved(a: AnyArray, b: AnyArray, mode: str, axes: "tuple | None" = None) -> AnyArray:
    dtype = result_dtype(a, b)
    axes = tuple(range(rank(a))) if axes is None else axes
    if not axes:
        return a * b
    if rank(a) == 1:
        whole = correlated(padded(a, shape_of(b)[0] - 1), flipped(b))
    else:
        whole = _by_transform(a, b, axes)
    pairs = [(shape_of(a)[ax], shape_of(b)[ax]) for ax in axes]
    if mode == "valid" and not (all(is_at_least(n, m) for n, m in pairs) or all(is_at_least(m, n) for n, m in pairs)):
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    for ax in axes:
        whole = _cut(whole, shape_of(a)[ax], shape_of(b)[ax], ax, mode)
    is_rounded = dtype.kind in "iu" and type_of(whole).dtype.kind == "f"
    return in_dtype(registry["rint"](whole) if is_rounded else whole, dtype)


def _reversed(x: AnyArray) -> AnyArray:
    x = conjugate(x)
    for ax in range(rank(x)):
        x = flipped(x, ax)
    return x


def _correlated(a: AnyArray, b: AnyArray, mode: str) -> AnyArray:
    return _convolved(a, _reversed(b), mode)


def _correlated_on_plane(a: AnyArray, b: AnyArray, mode: str) -> AnyArray:
    """SciPy exchanges the arrays if only the second covers the first, and conjugates the second one even then."""
    y = _correlated(a, b, mode)
    is_exchanged = mode == "valid" and is_complex(y) and not all(map(is_at_least, shape_of(a), shape_of(b)))
    return conjugate(y) if is_exchanged else y


@override("scipy.signal.convolve", samples=("signal.convolve(v, v[:3])", "signal.convolve(x, x[:2, :2], mode='same')",
                                            "signal.convolve(x, x[1:, 1:], mode='valid')"))
def convolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> AnyArray:
    _require_method(method)
    return _convolved(*_pair(in1, in2, mode), mode)


def _require_method(method: str) -> None:
    """An error for what is no way to convolve; those that there are differ by rounding."""
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")


@override("scipy.signal.fftconvolve", "scipy.signal.oaconvolve",
          samples=("signal.fftconvolve(x, x[:, :2], axes=1)", "signal.oaconvolve(v, v[:2], mode='same')"))
def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Axes = None) -> AnyArray:
    a, b = _pair(in1, in2, mode)
    over = axes_of(axes, rank(a))
    if axes is not None and not over:
        raise ValueError("when provided, axes cannot be empty")
    if not all(extents.is_one(shape_of(a)[ax]) or extents.is_one(shape_of(b)[ax]) for ax in over):
        a, b = live(a), live(b)  # a product without transforms keeps integers
    return _convolved(a, b, mode, over)


@override("scipy.signal.correlate",
          samples=("signal.correlate(v, v[:3])", "signal.correlate(x, x[:2, :2], mode='same')"))
def correlate(in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto") -> AnyArray:
    _require_method(method)
    return _correlated(*_pair(in1, in2, mode), mode)


def _on_plane(name: str, of_zeros: Callable, same: str) -> Callable:
    """convolve2d or correlate2d: what lies outside the first array is a number, or the array again."""
    def plane(in1: AnyArray, in2: AnyArray, mode: str = "full", boundary: str = "fill",
              fillvalue: object = 0) -> AnyArray:
        a, b = _pair(in1, in2, mode)
        mode = same if mode == "same" else mode
        if rank(a) != 2:
            raise ValueError(f"{name} inputs must both be 2-D arrays")
        if boundary not in BOUNDARIES:
            raise ValueError(
                "Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
        if isinstance(fillvalue, complex) and not (is_complex(a) or is_complex(b)):
            raise ValueError("could not cast `fillvalue` directly to the output type")
        if mode == "valid" or (BOUNDARIES[boundary] == "constant" and isinstance(fillvalue, (int, float))
                               and fillvalue == 0):
            return of_zeros(a, b, mode)
        a = in_dtype(a, result_dtype(a, b))
        widths = tuple([(m - 1, m - 1) for m in shape_of(b)])
        option = {"constant_values": fillvalue} if BOUNDARIES[boundary] == "constant" else {}
        around = of_zeros(BY_NAME["numpy.pad"].call(a, widths, BOUNDARIES[boundary], **option), b, "valid")
        for ax, (n, m) in enumerate(zip(shape_of(a), shape_of(b))):
            around = _cut(around, n, m, ax, mode)
        return around
    return plane


override("scipy.signal.convolve2d",
         samples=("signal.convolve2d(x, x[:2, :2], boundary='symm')", "signal.convolve2d(x, x[:2, :2], 'same')"))(
    _on_plane("convolve2d", _convolved, "same"))
override("scipy.signal.correlate2d", samples=("signal.correlate2d(x, x[:2, :2], mode='same', boundary='wrap')",))(
    _on_plane("correlate2d", _correlated_on_plane, "same, turned"))


@override("scipy.signal.hilbert", samples=("np.imag(signal.hilbert(v))", "np.abs(signal.hilbert(x, axis=0))"),
          precision="given")
def hilbert(x: ArrayLike, N: object = None, axis: int = -1) -> AnyArray:
    """The analytic signal: it removes negative frequencies and doubles positive ones (S. L. Marple, IEEE Transactions
    on Signal Processing 47 (1999) 2600)."""
    x = as_array(x)
    if is_complex(x):
        raise ValueError("x must be real.")
    ax = one_axis(axis, rank(x))
    n = shape_of(x)[ax] if N is None else N
    frequency = registry["iota"](n, dtype=INT)
    kept = (frequency == 0) | (2 * frequency == n)
    weight = registry["where"](kept, 1.0, registry["where"](2 * frequency < n, 2.0, 0.0))
    weight = registry["reshape"](weight, *[n if k == ax else 1 for k in range(rank(x))])
    return BY_NAME["numpy.fft.ifft"].call(BY_NAME["numpy.fft.fft"].call(x, n, ax) * weight, None, ax)


@override("scipy.signal.detrend", samples=("signal.detrend(x)", "signal.detrend(x, axis=0, type='constant')"),
          precision="given")
def detrend(data: ArrayLike, axis: int = -1, type: str = "linear", bp: object = 0,
            overwrite_data: bool = False) -> AnyArray:
    """The data less its mean, or less the straight line of least squares."""
    if not (isinstance(bp, int) and bp == 0):
        raise refuse("scipy.signal.detrend", "bp", "it fits one line to the whole axis")
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    x = signal(data)
    ax = one_axis(axis, rank(x))
    n = shape_of(x)[ax]
    shape = [1 if k == ax else m for k, m in enumerate(shape_of(x))]
    centred = x - registry["reshape"](registry["sum"](x, axes=(ax,)) / n, *shape)
    if type[0] == "c":
        return centred
    time = registry["reshape"](registry["iota"](n, dtype=INT) - 0.5 * (n - 1),
                               *[n if k == ax else 1 for k in range(rank(x))])
    norm = registry["sum"](registry["reshape"](time * time, n), axes=(0,))
    slope = registry["sum"](centred * time, axes=(ax,)) / registry["maximum"](norm, 0.5)  # 0.5 is that of two samples
    return centred - time * registry["reshape"](slope, *shape)
