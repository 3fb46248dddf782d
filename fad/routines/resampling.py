"""scipy.signal.resample: a signal through its Fourier series at other places."""
from typing import Any

import numpy as np

from ..util.array import AnyArray
from ..util.errors import UnsupportedFunctionError


def resample(x: AnyArray, num: int, t: "AnyArray | None" = None, axis: int = 0, window: object = None,
             domain: str = "time") -> "AnyArray | tuple":
    if domain not in ("time", "freq"):
        raise ValueError(f"Parameter domain={domain!r} not in ('time', 'freq')!")
    x = np.asarray(x)
    if x.ndim == 0:
        raise UnsupportedFunctionError("scipy.signal.resample is called with a number", do="give it a signal, an array")
    if x.ndim > 1:
        x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    series = np.fft.fft(x) if domain == "time" else x
    if window is not None:
        series = series * _weights(window, n)
    kept = min(num, n)
    half = kept // 2 + 1
    low, high = series[..., :half], series[..., n - kept + half:]
    if kept % 2 == 0 and num < n:                             # the last frequency stands for two
        low = np.concatenate((low[..., :-1], low[..., -1:] + series[..., n - kept // 2:n - kept // 2 + 1]), axis=-1)
    middle = np.zeros((*x.shape[:-1], num - kept))
    if kept % 2 == 0 and num > n:
        edge = 0.5 * low[..., -1:]
        low, high = np.concatenate((low[..., :-1], edge), axis=-1), np.concatenate((edge, high), axis=-1)
        middle = middle[..., 1:]
    y = np.fft.ifft(np.concatenate((low, middle, high), axis=-1)) * (num / n)
    if domain == "time" and not np.iscomplexobj(x):
        y = np.real(y)
    if y.ndim > 1:
        y = np.moveaxis(y, -1, axis)
    return y if t is None else (y, t[0] + (t[1] - t[0]) * (n / num) * np.arange(num))


def _weights(window: object, n: int) -> Any:
    if callable(window):
        return window(np.fft.fftfreq(n))
    if hasattr(window, "shape"):
        if window.shape != (n,):
            raise ValueError(f"window.shape={window.shape} != ({n},), i.e., window length is not equal to number of "
                             "frequency bins!")
        return window
    raise UnsupportedFunctionError("scipy.signal.resample does not know a window by its name here",
                                   why="the number of samples is open while the function is traced",
                                   do="pass the array np.fft.fftshift(scipy.signal.get_window(name, n))")
