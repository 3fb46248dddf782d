"""scipy.signal: changes of the sampling rate, transforms along an arc, deconvolution, B-splines, wave forms, rational
transfer functions.

Formulas: SciPy's reference of scipy.signal; L. R. Rabiner, R. W. Schafer, C. M. Rader, Bell System Technical Journal
48 (1969) 1249 (chirp z-transform).
"""
import math
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber
from ...util.lazy import imported
from ..correlate import correlated, flipped, padded
from ..kinds import shape_of
from ..override import BY_NAME, METHODS, override
from .arguments import as_array, fixed, in_dtype, live, one_axis, rank, refuse
from .fft import signal
from .filters import extended

where = registry["where"]


def _moved(x: object, axis: int) -> AnyArray:
    return BY_NAME["numpy.moveaxis"].call(x, axis, -1)


def _back(x: ArrayOrNumber, axis: int) -> AnyArray:
    return BY_NAME["numpy.moveaxis"].call(x, -1, axis)


# -- another sampling rate -------------------------------------------------------------------------


@override("scipy.signal.upfirdn",
          samples=("signal.upfirdn(v, x[0], 2, 3)", "signal.upfirdn([1.0, 2.0, 1.0], x, 3, axis=0)"))
def upfirdn(h: ArrayLike, x: ArrayLike, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant",
            cval: float = 0) -> AnyArray:
    """Zeros put between the samples, a filter, and every down-th value of what results."""
    if mode != "constant" or cval != 0:
        raise refuse("scipy.signal.upfirdn", "mode or cval", do="extend the signal before the call")
    h, x = live(h), live(x)
    ax = one_axis(axis, rank(x))
    y = _moved(x, ax)
    n = fixed(shape_of(y)[-1], "the length of a signal")
    if up > 1:
        zeros = registry["full"](0, *shape_of(y), up - 1, dtype=type_of(y).dtype)
        spread = registry["concatenate"](registry["reshape"](y, *shape_of(y), 1), zeros, axis=rank(y))
        y = registry["reshape"](spread, *shape_of(y)[:-1], n * up)[..., :(n - 1) * up + 1]
    taps = registry["reshape"](h, *[1] * (rank(y) - 1), shape_of(h)[0])
    whole = BY_NAME["scipy.signal.fftconvolve"].call(y, taps, axes=-1) if rank(y) > 1 else correlated(
        padded(y, shape_of(h)[0] - 1), flipped(h))
    return _back(whole[..., ::down], ax)


@override("scipy.signal.resample_poly",
          samples=("signal.resample_poly(v, 3, 2)", "signal.resample_poly(x, 2, 3, axis=1)"),
          precision="given")
def resample_poly(x: AnyArray, up: int, down: int, axis: int = 0, window: ArrayLike = ("kaiser", 5.0),
                  padtype: str = "constant", cval: object = None) -> AnyArray:
    """upfirdn with a low-pass filter of twice ten periods, its delay taken off."""
    if padtype != "constant" or cval is not None:
        raise refuse("scipy.signal.resample_poly", "padtype or cval", do="take the trend off before the call")
    x = live(x)
    if axis is None or isinstance(axis, tuple):
        raise refuse("scipy.signal.resample_poly", "several axes")
    ax, common = one_axis(axis, rank(x)), math.gcd(up, down)
    up, down = up // common, down // common
    n = fixed(shape_of(x)[ax], "the length of a signal")
    if up == down == 1:
        return x * 1.0
    count = -(-n * up // down)
    half, h = _low_pass(up, down, window)
    before = down - half % down
    skipped, after = (half + before) // down, 0
    while _upfirdn_length(len(h) + before + after, n, up, down) < count + skipped:
        after += 1
    taps = np.concatenate([np.zeros(before), h, np.zeros(after)])
    return registry["slice_axis"](upfirdn(taps, x, up, down, axis=ax), ax, skipped, count)


def _low_pass(up: int, down: int, window: object) -> "tuple[int, np.ndarray]":
    if not isinstance(window, (str, tuple)):
        taps = np.asarray(window)
        return (len(taps) - 1) // 2, taps * up
    most = max(up, down)
    half = 10 * most
    return half, imported("scipy.signal").firwin(2 * half + 1, 1.0 / most, window=window) * up


def _upfirdn_length(taps: int, n: int, up: int, down: int) -> int:
    return ((n - 1) * up + taps - 1) // down + 1


@override("scipy.signal.decimate",
          samples=("signal.decimate(np.concatenate([v] * 8), 2)",
                   "signal.decimate(np.concatenate([v] * 8), 2, ftype='fir')"), precision="given")
def decimate(x: ArrayLike, q: int, n: Any = None, ftype: str = "iir", axis: int = -1,
             zero_phase: bool = True) -> AnyArray:
    design = imported("scipy.signal")
    x = live(x)
    ax = one_axis(axis, rank(x))
    if ftype == "fir":
        half = 10 * q if n is None else n / 2
        taps = design.firwin(int(2 * half) + 1, 1.0 / q, window="hamming")
        if zero_phase:
            return resample_poly(x, 1, q, axis=ax, window=taps)
        return upfirdn(taps, x, 1, q, axis=ax)[_every(rank(x), ax, slice(None, -(-fixed(shape_of(x)[ax], "") // q)))]
    if ftype != "iir":
        raise refuse("scipy.signal.decimate", "a filter of your own", do="filter, and take every q-th value")
    sections = design.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")
    call = "sosfiltfilt" if zero_phase else "sosfilt"
    return BY_NAME[f"scipy.signal.{call}"].call(sections, x, axis=ax)[_every(rank(x), ax, slice(None, None, q))]


def _every(count: int, ax: int, part: slice) -> tuple:
    return tuple([part if k == ax else slice(None) for k in range(count)])


# -- transforms along an arc -----------------------------------------------------------------------


def _arc(x: object, points: np.ndarray, axis: int) -> AnyArray:
    """The z-transform at points: a product with a matrix, for SciPy's is a sum of the same terms."""
    y = _moved(signal(live(x)), one_axis(axis, rank(live(x))))
    n = fixed(shape_of(y)[-1], "the length of a signal")
    matrix = points[None, :] ** -np.arange(n)[:, None]
    return _back(BY_NAME["numpy.matmul"].call(in_dtype(y, np.dtype(complex)), matrix), axis)


@override("scipy.signal.czt", samples=("signal.czt(v, 6)", "signal.czt(x, 3, 0.9 * np.exp(-0.5j), axis=0)"))
def czt(x: ArrayLike, m: object = None, w: Any = None, a: Any = 1 + 0j, *, axis: int = -1) -> AnyArray:
    if np.ndim(w) or np.ndim(a):
        raise refuse("scipy.signal.czt", "arrays of ratios or starts")
    n = fixed(shape_of(live(x))[one_axis(axis, rank(live(x)))], "the length of a signal")
    return _arc(x, np.asarray(imported("scipy.signal").czt_points(n if m is None else m, w, a)), axis)


@override("scipy.signal.zoom_fft", samples=("signal.zoom_fft(v, [0.1, 0.6], 5)", "signal.zoom_fft(x, 0.8)"))
def zoom_fft(x: ArrayLike, fn: Any, m: Any = None, *, fs: float = 2, endpoint: bool = False,
             axis: int = -1) -> AnyArray:
    low, high = (0.0, fn) if np.ndim(fn) == 0 else fn
    n = fixed(shape_of(live(x))[one_axis(axis, rank(live(x)))], "the length of a signal")
    count = n if m is None else m
    f = np.linspace(low, high, count, endpoint=endpoint)
    return _arc(x, np.exp(2j * math.pi * f / fs), axis)


# -- deconvolution and rational functions ----------------------------------------------------------


@override("scipy.signal.deconvolve", samples=("signal.deconvolve(v, v[:2])", "signal.deconvolve(v[:2], v)"))
def deconvolve(signal: ArrayLike, divisor: ArrayLike) -> "tuple[Any, Any]":
    """The quotient of the polynomials, and the rest, as long as the signal."""
    x, d = live(signal), live(divisor)
    n, m = (fixed(shape_of(part)[0], "the length of a signal") for part in (x, d))
    if n < m:
        return [], x * 1.0
    registry["check_that"](d[0] != 0, True, error="ValueError", what="the divisor's first coefficient must not be zero")
    quotient = BY_NAME["scipy.signal.lfilter"].call(x, d, np.eye(1, n - m + 1)[0])
    return quotient, x - BY_NAME["numpy.convolve"].call(d, quotient)


@override("scipy.signal.zpk2tf", samples=("signal.zpk2tf(v, x[0], x[1, 0])[1]",))
def zpk2tf(z: ArrayLike, p: ArrayLike, k: ArrayLike) -> tuple:
    poly = BY_NAME["numpy.poly"].call
    if rank(live(z)) > 1:
        raise refuse("scipy.signal.zpk2tf", "several numerators", do="call it for each")
    return as_array(k) * poly(live(z)), poly(live(p))


@override("scipy.signal.normalize", samples=("signal.normalize(v[:2], v[:3])",))
def normalize(b: AnyArray, a: AnyArray) -> tuple:
    """Both over the denominator's first coefficient, which must not be zero, as must not be the numerator's."""
    b, a = live(b), live(a)
    if rank(b) != 1 or rank(a) != 1:
        raise refuse("scipy.signal.normalize", "several numerators")
    registry["check_that"]((a[0] != 0) & (b[0] != 0), True, error="ValueError",
                           what="the first coefficients of a transfer function must not be zero")
    return b / a[0], a / a[0]


# -- wave forms ------------------------------------------------------------------------------------


@override("scipy.signal.gauss_spline", samples=("signal.gauss_spline(x, 3)",))
def gauss_spline(x: ArrayLike, n: int) -> AnyArray:
    spread = (n + 1) / 12.0
    return registry["exp"](-live(x) ** 2 / (2.0 * spread)) / math.sqrt(2.0 * math.pi * spread)


@override("scipy.signal.sawtooth",
          samples=("signal.sawtooth(7 * x)", "signal.sawtooth(7 * x, v)"), precision="installed")
def sawtooth(t: ArrayLike, width: ArrayLike = 1) -> AnyArray:
    t, w = live(t), live(width)
    at = BY_NAME["numpy.remainder"].call(t, 2.0 * math.pi)
    rising, never, always = at < w * 2.0 * math.pi, w == 0, w == 1
    up = at / (math.pi * where(never, 1.0, w)) - 1.0
    down = (math.pi * (w + 1.0) - at) / (math.pi * where(always, 1.0, 1.0 - w))
    return where((w < 0) | (w > 1), math.nan, where(rising, up, down))


@override("scipy.signal.square", note="constant: its derivative is zero", samples=("signal.square(9 * x) * x",),
          precision="installed")
def square(t: ArrayLike, duty: object = 0.5) -> AnyArray:
    t, w = live(t), live(duty)
    at = BY_NAME["numpy.remainder"].call(t, 2.0 * math.pi)
    return where((w < 0) | (w > 1), math.nan, where(at < w * 2.0 * math.pi, 1.0, -1.0))


@override("scipy.signal.chirp",
          samples=("signal.chirp(x, 1.0, 2.0, v[0])", "signal.chirp(x, 1.0, 2.0, 3.0, 'quadratic', 30)",
                   "signal.chirp(x, v[0], 2.0, 3.0, 'logarithmic')",
                   "signal.chirp(x, 1.0, 2.0, 3.0, 'hyperbolic')"))
def chirp(t: ArrayLike, f0: ArrayLike, t1: object, f1: ArrayLike, method: str = "linear", phi: object = 0,
          vertex_zero: bool = True, *, complex: bool = False) -> AnyArray:
    if complex:
        raise refuse("scipy.signal.chirp", "complex=True")
    t, f0, t1, f1 = (live(a) for a in (t, f0, t1, f1))
    return registry["cos"](_chirp_phase(t, f0, t1, f1, method, vertex_zero) + live(phi) * (math.pi / 180.0))


def _chirp_phase(t: Any, f0: Any, t1: Any, f1: Any, method: str, vertex_zero: bool) -> AnyArray:
    turn = 2.0 * math.pi
    if method in ("linear", "lin", "li"):
        return turn * (f0 * t + 0.5 * (f1 - f0) / t1 * t * t)
    if method in ("quadratic", "quad", "q"):
        beta = (f1 - f0) / t1 ** 2
        if vertex_zero:
            return turn * (f0 * t + beta * t ** 3 / 3.0)
        return turn * (f1 * t + beta * ((t1 - t) ** 3 - t1 ** 3) / 3.0)
    if method in ("logarithmic", "log", "lo"):
        registry["check_that"](f0 * f1 > 0, True, error="ValueError",
                               what="For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
        beta = t1 / where(f0 == f1, 1.0, registry["log"](f1 / f0))
        return where(f0 == f1, turn * f0 * t, turn * beta * f0 * ((f1 / f0) ** (t / t1) - 1.0))
    if method in ("hyperbolic", "hyp"):
        registry["check_that"]((f0 != 0) & (f1 != 0), True, error="ValueError",
                               what="For a hyperbolic chirp, f0 and f1 must be nonzero.")
        sing = -f1 * t1 / where(f0 == f1, 1.0, f0 - f1)
        return where(f0 == f1, turn * f0 * t, turn * (-sing * f0) * registry["log"](registry["abs"](1.0 - t / sing)))
    raise ValueError(f"method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', but a value of {method!r} "
                     "was given.")


# -- cascades --------------------------------------------------------------------------------------


@override("scipy.signal.sosfiltfilt",
          samples=("signal.sosfiltfilt([[1, 0.5, 0.2, 1, 0.3, 0.1]], np.concatenate([v] * 4))",))
def sosfiltfilt(sos: ArrayLike, x: ArrayLike, axis: int = -1, padtype: "str | None" = "odd",
                padlen: Any = None) -> AnyArray:
    """Forward and backward through the sections, over a signal that is continued beyond its ends (F. Gustafsson, IEEE
    Transactions on Signal Processing 44 (1996) 988)."""
    if not isinstance(sos, (list, tuple, np.ndarray)):
        raise refuse("scipy.signal.sosfiltfilt", "traced sections")
    design, sections = imported("scipy.signal"), np.asarray(sos, float)
    ntaps = 2 * len(sections) + 1 - min((sections[:, 2] == 0).sum(), (sections[:, 5] == 0).sum())
    x = live(x)
    ax = one_axis(axis, rank(x))
    y = _moved(x, ax)
    edge = 0 if padtype is None else int(3 * ntaps) if padlen is None else padlen
    if fixed(shape_of(y)[-1], "the length of a signal that is filtered forward and backward") <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    y = extended(y, edge, padtype, axis=-1)
    start, run = design.sosfilt_zi(sections), BY_NAME["scipy.signal.sosfilt"].call
    for _ in range(2):
        zi = registry["reshape"](start, len(sections), *[1] * (rank(y) - 1), 2) * y[..., :1]
        y = run(sections, y, -1, zi)[0][..., ::-1]
    return _back(y[..., edge:shape_of(y)[-1] - edge] if edge else y, ax)


@override("scipy.signal.vectorstrength", samples=("signal.vectorstrength(v, 0.7)",), precision="double")
def vectorstrength(events: ArrayLike, period: object) -> tuple:
    """The length and the angle of the mean of the events' phases."""
    e, p = live(events), live(period)
    if rank(e) > 1 or rank(p):
        raise refuse("scipy.signal.vectorstrength", "several periods")
    angle = 2.0 * math.pi * e / p
    c, s = (METHODS["mean"](registry[name](angle)) for name in ("cos", "sin"))
    return registry["hypot"](c, s), registry["arctan2"](s, c)
