"""The short-time Fourier transform: spectra of the frames of a signal, and the signal of such spectra."""

import numpy as np

from ..ops.face import BY_NAME
from ..util.array import AnyArray
from .joining import stack
from .registry import function
from .tensor import Tensor, wrap
from .together import together


def _window(window: "Tensor | None", n_fft: int, win_length: "int | None", dtype: np.dtype) -> AnyArray:
    """The window, in the middle of n_fft elements."""
    size = n_fft if win_length is None else win_length
    if not 0 < size <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={size}")
    a: AnyArray = wrap(np.ones(size, dtype)) if window is None else window
    if tuple(a.shape) != (size,):
        raise RuntimeError(f"expected a 1D window tensor of size equal to win_length={size}, but got window with size "
                           f"{list(a.shape)}")
    left = (n_fft - size) // 2
    return a if size == n_fft else BY_NAME["numpy.pad"].call(a, (left, n_fft - size - left))


@function()
def stft(input: Tensor, n_fft: int, hop_length: "int | None" = None, win_length: "int | None" = None,
         window: "Tensor | None" = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: "bool | None" = None, return_complex: "bool | None" = None) -> Tensor:
    """Spectra of frames of n_fft elements, hop_length apart: (..., frequencies, frames); center: the first frame's
    middle is the first element.

    >>> import fad
    >>> fad.stft(fad.ones(8), 4, return_complex=True).shape
    torch.Size([3, 9])
    """
    x: AnyArray = input
    if x.dtype.kind != "c" and return_complex is None:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further "
                           "require that return_complex=True in a future PyTorch release.")
    hop = n_fft // 4 if hop_length is None else hop_length
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    batched = len(x.shape) == 2
    x = x if batched else x.unsqueeze(0)
    if center:
        places = np.pad(
            np.arange(x.shape[1]),
            n_fft // 2,
            mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}.get(pad_mode, "edge"),
        )  # type: ignore[call-overload]
        around = x.index_select(1, wrap(places))
        x = around if pad_mode != "constant" else around * wrap((np.arange(len(places)) >= n_fft // 2)
                                                                & (np.arange(len(places)) < n_fft // 2 + x.shape[1]))
    if not 0 < n_fft <= x.shape[1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {x.shape[1]}, but got n_fft={n_fft}")
    frames = x.unfold(1, n_fft, hop) * _window(window, n_fft, win_length, x.dtype)
    half = x.dtype.kind != "c" if onesided is None else onesided
    y = BY_NAME["numpy.fft.rfft" if half else "numpy.fft.fft"].call(frames, axis=-1, norm="ortho" if normalized
                                                                    else None).transpose(1, 2)
    y, = together((y if batched else y.squeeze(0),), "StftBackward0", (input, window))
    return stack([y.real, y.imag], -1) if return_complex is False or not (return_complex or x.dtype.kind == "c") else y


@function()
def istft(input: Tensor, n_fft: int, hop_length: "int | None" = None, win_length: "int | None" = None,
          window: "Tensor | None" = None, center: bool = True, normalized: bool = False, onesided: "bool | None" = None,
          length: "int | None" = None, return_complex: bool = False) -> Tensor:
    """The signal whose frames have these spectra, as nearly as can be (Griffin & Lim, 1984)."""
    x: AnyArray = input
    if x.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                           "return_complex=True.")
    hop = n_fft // 4 if hop_length is None else hop_length
    batched = len(x.shape) == 3
    x = x if batched else x.unsqueeze(0)
    half = x.shape[1] != n_fft if onesided is None else onesided
    if x.shape[1] != (n_fft // 2 + 1 if half else n_fft):
        raise RuntimeError("istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"n_fft / 2 + 1 when onesided=True, but got {x.shape[1]}")
    win = _window(window, n_fft, win_length, x.real.dtype)
    norm = "ortho" if normalized else None
    spectra = x.transpose(1, 2)
    if half or not return_complex:                              # of a real signal's spectrum the first half says all
        frames = BY_NAME["numpy.fft.irfft"].call(spectra[..., :n_fft // 2 + 1], n=n_fft, axis=-1, norm=norm)
    else:
        frames = BY_NAME["numpy.fft.ifft"].call(spectra, axis=-1, norm=norm)
    n, count = frames.shape[:2]
    total = n_fft + hop * (count - 1)
    places = wrap((np.arange(count)[:, None] * hop + np.arange(n_fft)).reshape(-1))
    y = wrap(np.zeros((n, total), frames.dtype)).index_add(1, places, (frames * win).reshape(n, -1))  # type: ignore[attr-defined]
    weight = wrap(np.zeros(total, win.dtype)).index_add(0, places, (win * win).repeat(count))  # type: ignore[attr-defined]
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = weight[start:min(end, total)]
    if not kept.numel() or np.abs(kept._a).min() <= 1e-11:
        raise RuntimeError("istft: window overlap add min: 1 of the windows does not reach all elements: they cannot "
                           "be known")
    y = y[:, start:min(end, total)] / kept
    if end > total:
        y = wrap(np.zeros((n, end - start), y.dtype)).slice_scatter(y, 1, 0, total - start)  # type: ignore[attr-defined]
    y = y if batched else y.squeeze(0)
    return together((y,), "IstftBackward0", (input, window))[0]
