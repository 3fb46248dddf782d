"""scipy.signal's filters: lfilter, sosfilt, filtfilt, savgol_filter.

A recursive filter is a loop over time in the transposed direct form II (A. V. Oppenheim and R. W. Schafer,
Discrete-Time Signal Processing, section 6.3), whose state is a row for each delay.
"""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import result_dtype, type_of
from ...util.array import AnyArray, ArrayLike
from ...util.lazy import imported
from ..kinds import shape_of
from ..literals import constant
from ..override import BY_NAME, override
from .arguments import captured, check_all, fixed, in_dtype, one_axis, rank, refuse, taken
from .fft import signal


def live_signal(x: object) -> AnyArray:
    """x as a floating array; one from outside the program is an input of it."""
    return signal(captured(x))


def _first(x: AnyArray, axis: int) -> AnyArray:
    return BY_NAME["numpy.moveaxis"].call(x, axis, 0) if axis else x


def _back(x: AnyArray, axis: int) -> AnyArray:
    return BY_NAME["numpy.moveaxis"].call(x, 0, axis) if axis else x


def _coefficients(b: Any, a: Any) -> tuple:
    """Both lists of coefficients, as numbers of the program, of one length, divided by a[0]."""
    b, a = (BY_NAME["numpy.atleast_1d"].call(live_signal(c)) for c in (b, a))
    counts = [fixed(shape_of(c)[0], "the number of a filter's coefficients") for c in (b, a)]
    bs, as_ = ([c[k] / a[0] for k in range(n)] for c, n in zip((b, a), counts))
    order = max(counts)
    return bs + [0.0] * (order - len(bs)), as_ + [0.0] * (order - len(as_))


def _filtered(b: list, a: list, x: AnyArray, state: list) -> tuple:
    """The filter along the first axis of x, and the state it ends in."""
    dtype = result_dtype(x, *b, *a, *state)
    rest = shape_of(x)[1:]
    state = [in_dtype(registry["broadcast_to"](z, *rest) if rest else z, dtype) for z in state]

    def iteration(k: AnyArray, y: AnyArray, *z: AnyArray) -> tuple:
        now = taken(x, k)
        out = b[0] * now + z[0] if z else b[0] * now
        after = [z[j + 1] if j + 1 < len(z) else 0.0 for j in range(len(z))]
        new = [in_dtype(after[j] + b[j + 1] * now - a[j + 1] * out, dtype) for j in range(len(z))]
        return (registry["update"](y, in_dtype(out, dtype), k, spec=("i",) + (":",) * len(rest), at=0), *new)
    n = shape_of(x)[0]
    y, *state = registry["for"].run_regions([0, n, 1, registry["full"](0, n, *rest, dtype=dtype), *state], (iteration,))
    return y, state


def _nothing(order: int, x: AnyArray) -> list:
    zero = registry["full"](0, *shape_of(x)[1:], dtype=type_of(x).dtype)
    return [zero] * order


@override("scipy.signal.lfilter",
          samples=("signal.lfilter([1.0, 0.5], [2.0, -0.3, 0.1], x)", "signal.lfilter(v[:2], [1.0], v)",
                   "signal.lfilter(v[:2], v[1:], x, axis=0)", "signal.lfilter([0.5], [1.0, -0.3], v, zi=v[:1])[1]"))
def lfilter(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int = -1, zi: "ArrayLike | None" = None) -> Any:
    x = live_signal(x)
    ax = one_axis(axis, rank(x))
    x = _first(x, ax)
    bs, as_ = _coefficients(b, a)
    if zi is None:
        return _back(_filtered(bs, as_, x, _nothing(len(bs) - 1, x))[0], ax)
    zi = _first(live_signal(zi), ax)
    y, state = _filtered(bs, as_, x, [zi[k] for k in range(len(bs) - 1)])
    return _back(y, ax), _back(BY_NAME["numpy.stack"].call(state), ax)


@override("scipy.signal.sosfilt",
          samples=("signal.sosfilt([[1.0, 0.5, 0.1, 1.0, -0.3, 0.1], [0.5, 0.2, 0.0, 1.0, 0.1, 0.0]], x)",))
def sosfilt(sos: ArrayLike, x: AnyArray, axis: int = -1, zi: "ArrayLike | None" = None) -> Any:
    """Sections of order two, one after the other."""
    sos, x = live_signal(sos), live_signal(x)
    ax = one_axis(axis, rank(x))
    x = _first(x, ax)
    check_all(sos[:, 3] == 1.0, "sos[:, 3] should be all ones")
    zi = None if zi is None else BY_NAME["numpy.moveaxis"].call(live_signal(zi), ax + 1, 1)
    ends = []
    for k in range(fixed(shape_of(sos)[0], "the number of sections")):
        b, a = ([sos[k, j] for j in part] for part in (range(3), range(3, 6)))
        x, state = _filtered(b, a, x, _nothing(2, x) if zi is None else [zi[k, 0], zi[k, 1]])
        ends.append(BY_NAME["numpy.stack"].call(state))
    y = _back(x, ax)
    return y if zi is None else (y, BY_NAME["numpy.moveaxis"].call(BY_NAME["numpy.stack"].call(ends), 1, ax + 1))


@override("scipy.signal.lfilter_zi", samples=("signal.lfilter_zi(v, v[::-1])",), precision="given")
def lfilter_zi(b: ArrayLike, a: ArrayLike) -> AnyArray:
    """The state in which a step's response is steady: (1 - A) z = B, with A the transpose of a's companion matrix."""
    bs, as_ = _coefficients(b, a)
    order = len(bs) - 1
    join = BY_NAME["numpy.stack"].call
    steady = join([bs[k] - as_[k] * bs[0] for k in range(1, order + 1)])
    unit = np.eye(order)
    system = constant(unit - np.eye(order, k=1)) + join(as_[1:])[:, None] * constant(unit[:1])
    return BY_NAME["numpy.linalg.solve"].call(system, steady)


@override("scipy.signal.sosfilt_zi",
          samples=("signal.sosfilt_zi(np.stack([np.append(v[:3], np.append(1.0, v[:2])), np.append(x[0, :3], "
                   "[1.0, 0.3, 0.1])]))",))
def sosfilt_zi(sos: ArrayLike) -> AnyArray:
    """The states in which a step's response is steady: each section's, times what those before it make of the step."""
    sos = live_signal(sos)
    scale, states = 1.0, []
    for k in range(fixed(shape_of(sos)[0], "the number of sections")):
        b, a = sos[k, :3], sos[k, 3:]
        states.append(lfilter_zi(b, a) * scale)
        scale = scale * (registry["sum"](b, axes=(0,)) / registry["sum"](a, axes=(0,)))
    return BY_NAME["numpy.stack"].call(states)


def extended(x: AnyArray, n: int, padtype: "str | None", axis: int = 0) -> AnyArray:
    """x with n values at each end of an axis, as filtfilt would have it, or stft."""
    if padtype is None or not n:
        return x
    if padtype not in ("even", "odd", "constant", "zeros"):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None.")
    modes: dict = {"constant": ("edge", {}), "zeros": ("constant", {})}
    mode, option = modes.get(padtype, ("reflect", {"reflect_type": padtype}))
    widths = [(0, 0)] * rank(x)
    widths[axis] = (n, n)
    return BY_NAME["numpy.pad"].call(x, tuple(widths), mode, **option)


@override("scipy.signal.filtfilt", samples=("signal.filtfilt([1.0, 0.5], [2.0, -0.3], np.tile(v, 3))",
                                            "signal.filtfilt([1.0, 0.5], [1.0, -0.3], np.tile(x, (3, 1)), axis=0, "
                                            "padtype='even', padlen=2)"))
def filtfilt(b: Any, a: Any, x: ArrayLike, axis: int = -1, padtype: "str | None" = "odd", padlen: Any = None,
             method: str = "pad") -> AnyArray:
    """Forward and backward, from steady states at the ends (F. Gustafsson, IEEE Transactions on Signal Processing 44
    (1996) 988)."""
    if method != "pad":
        raise refuse("scipy.signal.filtfilt", "method='gust'")
    x = live_signal(x)
    ax = one_axis(axis, rank(x))
    bs, as_ = _coefficients(b, a)
    edge = 0 if padtype is None else 3 * len(bs) if padlen is None else padlen
    n = fixed(shape_of(x)[ax], "the length of a signal that is filtered forward and backward")
    if n <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    y = extended(_first(x, ax), edge, padtype)
    steady = lfilter_zi(b, a) if len(bs) > 1 else ()
    for _ in range(2):
        y, _ = _filtered(bs, as_, y, [steady[k] * y[0] for k in range(len(bs) - 1)])
        y = y[::-1]
    return _back(y[edge:n + edge], ax)


@override("scipy.signal.savgol_filter",
          samples=("signal.savgol_filter(np.tile(v, 2), 5, 2)", "signal.savgol_filter(x, 3, 1, axis=0, mode='nearest')",
                   "signal.savgol_filter(np.tile(v, 2), 5, 3, deriv=1, delta=0.5)"), precision="given")
def savgol_filter(x: ArrayLike, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
                  mode: str = "interp", cval: float = 0.0) -> AnyArray:
    """Polynomials of least squares in a moving window (A. Savitzky and M. J. E. Golay, Analytical Chemistry 36 (1964)
    1627)."""
    x = live_signal(x)
    ax = one_axis(axis, rank(x))
    weights = imported("scipy.signal").savgol_coeffs(window_length, polyorder, deriv=deriv, delta=delta)
    inner = BY_NAME["scipy.ndimage.convolve1d"].call
    if mode != "interp":
        return inner(x, constant(weights), ax, None, mode, cval)
    if fixed(shape_of(x)[ax], "the length of a signal that is smoothed") < window_length:
        raise ValueError("If mode is 'interp', window_length must be less than or equal to the size of x.")
    x = _first(x, ax)
    middle, half = inner(x, constant(weights), 0, None, "constant"), window_length // 2
    window = np.arange(window_length, dtype=float)
    fits = [np.polyder(np.polyfit(window, unit, polyorder), deriv) for unit in np.eye(window_length)]
    fitted = np.column_stack([np.polyval(p, window) for p in fits]) / delta ** deriv
    times = BY_NAME["numpy.tensordot"].call
    edges = [times(constant(fitted[:half]), x[:window_length], axes=1),
             times(constant(fitted[window_length - half:]), x[-window_length:], axes=1)]
    return _back(BY_NAME["numpy.concatenate"].call([edges[0], middle[half:shape_of(x)[0] - half], edges[1]]), ax)
