"""Changes of spatial sizes: interpolation, windows unfolded and folded back, pixels moved to channels."""
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inplace import number
from ..tensor import wrap
from ..together import step, together
from .convolution import spread, windows
from .functional import pad
from .pooling import adaptive_mean, along


def _positions(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """Where in an axis of n elements the m new ones lie."""
    if align:
        return np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0)
    step = n / m if scale is None else 1.0 / scale
    return np.maximum((np.arange(m) + 0.5) * step - 0.5, 0.0)


def _linear(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """The matrix that interpolates n values at m places."""
    at = _positions(n, m, align, scale)
    below = np.minimum(at.astype(int), n - 1)
    above, part = np.minimum(below + 1, n - 1), at - below
    matrix, rows = np.zeros((m, n)), np.arange(m)
    np.add.at(matrix, (rows, below), 1 - part)
    np.add.at(matrix, (rows, above), part)
    return matrix


def _cubic(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """The matrix that interpolates n values at m places by cubic convolution with a = -3/4 (Keys, 1981); beyond the ends the last values go on."""
    at = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0) if align else (np.arange(m) + 0.5) * (n / m if scale is None else 1.0 / scale) - 0.5
    below, a = np.floor(at).astype(int), -0.75
    matrix, rows = np.zeros((m, n)), np.arange(m)
    for k in range(-1, 3):
        d = np.abs(at - (below + k))
        weight = np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a)
        np.add.at(matrix, (rows, np.clip(below + k, 0, n - 1)), weight)
    return matrix


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: "bool | None" = None,
                recompute_scale_factor: "bool | None" = None, antialias: bool = False) -> Any:
    """The spatial dimensions in other sizes, by the nearest element, linearly between neighbours ("linear", "bilinear", "trilinear") or cubically ("bicubic")."""
    rank = len(input.shape) - 2
    names = {"nearest": None, "nearest-exact": None, "linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "area": None}
    if (mode.startswith("nearest") or mode == "area") and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if mode not in names or names[mode] not in (None, rank) or antialias:
        raise NotImplementedError(f"interpolate: mode {mode!r} of a {len(input.shape)}-dimensional tensor is not supported; there are nearest, nearest-exact, "
                                  "area, linear (3D), bilinear and bicubic (4D) and trilinear (5D), without antialias")
    if not 1 <= rank <= 3:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank + 2}D) for the modes: nearest | linear | bilinear | bicubic | "
                                  f"trilinear | lanczos | area | nearest-exact (got {mode})")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined")
    for given, what, told in ((size, "output size", "output"), (scale_factor, "scale_factor of shape", "scale_factor")):
        if isinstance(given, (tuple, list)) and len(given) != rank:
            raise ValueError(f"Input and {told} must have the same number of spatial dimensions, but got input with spatial dimensions of {list(input.shape[2:])} and "
                             f"{what} {'of ' if told == 'output' else ''}{given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
                             f"{'output size' if told == 'output' else 'scale_factor'} in (s1, s2, ...,sK) format.")
    scales: Sequence = [None] * rank if scale_factor is None else [number(s, "interpolate", "scale_factor") for s in spread(scale_factor, rank)]
    wanted = spread(size, rank) if size is not None else tuple([int(math.floor(n * s)) for n, s in zip(input.shape[2:], scales)])
    if mode == "area":
        return adaptive_mean(input, wanted, rank)
    y = input
    for k, (m, s) in enumerate(zip(wanted, scales)):
        n = input.shape[2 + k]
        if mode.startswith("nearest"):
            at = np.minimum(((np.arange(m) + (0.5 if mode == "nearest-exact" else 0.0)) * (n / m if s is None or recompute_scale_factor else 1.0 / s)).astype(int), n - 1)
            y = y.index_select(2 + k, wrap(at))
        else:
            matrix = _cubic if mode == "bicubic" else _linear
            y = along(y, 2 + k, matrix(n, m, bool(align_corners), None if recompute_scale_factor else s))
    title = {"nearest": "Nearest", "nearest-exact": "NearestExact", "bicubic": "Bicubic", "linear": "Linear", "bilinear": "Bilinear", "trilinear": "Trilinear"}[mode]
    notes: dict = {"scales": scales[0]} if rank == 1 else {f"scales_{axis}": s for axis, s in zip("dhw"[3 - rank:], scales)}
    corners = {} if mode.startswith("nearest") else {"align_corners": bool(align_corners)}
    notes = {**notes, **corners, "output_size": wanted, "scale_factors": None if scale_factor is None else tuple(scales)}
    return together((y,), f"Upsample{title}{rank}DBackward0", (input,), {"self": input}, **notes)[0]


upsample = interpolate


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Every window of an image (N, C, H, W) as a column: (N, C KH KW, places); an image alone is a batch of one, which goes."""
    if len(input.shape) == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    return _unfold(input, *[spread(v, 2) for v in (kernel_size, dilation, padding, stride)])


@step("Im2ColBackward0", "input", "self=input", "kernel_size=size dilation padding stride")
def _unfold(input: Any, size: tuple, dilation: tuple, padding: tuple, stride: tuple) -> Any:
    seen = windows(pad(input, [v for p in reversed(padding) for v in (p, p)]), size, stride, dilation)
    n, c, rows, columns = seen.shape[:4]
    return seen.permute(0, 1, 4, 5, 2, 3).reshape(n, c * math.prod(size), rows * columns)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Windows, each a column, added up to the image they were cut from: the adjoint of unfold."""
    if len(input.shape) == 2:
        return fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    if input.shape[1] % math.prod(spread(kernel_size, 2)):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
                           f"{input.shape[1]} and kernel_size={spread(kernel_size, 2)}.")
    options = [spread(v, 2) for v in (output_size, padding, dilation, kernel_size, stride)]
    blocks = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(*options)]
    if input.shape[2] != math.prod(blocks):
        raise RuntimeError(f"Given output_size={options[0]}, kernel_size={options[3]}, dilation={options[2]}, padding={options[1]}, stride={options[4]}, expected "
                           f"size of input's dimension 2 to match the calculated number of sliding blocks {blocks[0]} * {blocks[1]} = {math.prod(blocks)}, but got "
                           f"input.size(2)={input.shape[2]}.")
    return _fold(input, spread(output_size, 2), *[spread(v, 2) for v in (kernel_size, dilation, padding, stride)])


@step("Col2ImBackward0", "input", "", "kernel_size=size dilation padding=edge stride")
def _fold(input: Any, output_size: tuple, size: tuple, dilation: tuple, edge: tuple, stride: tuple) -> Any:
    wide = [m + 2 * p for m, p in zip(output_size, edge)]
    places = unfold(wrap(np.arange(math.prod(wide), dtype=float).reshape(1, 1, *wide)), size, dilation, 0, stride)._a[0].astype(int)
    n, c = input.shape[0], input.shape[1] // math.prod(size)
    flat = wrap(np.zeros((n, c, math.prod(wide)), input.dtype)).index_add(2, wrap(places.reshape(-1)), input.reshape(n, c, -1))   # type: ignore[attr-defined]
    image = flat.reshape(n, c, *wide)
    return image[:, :, edge[0]:wide[0] - edge[0], edge[1]:wide[1] - edge[1]]


def _of_images(input: Any, name: str, factor: int, what: str) -> None:
    if len(input.shape) < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {len(input.shape)} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


@step("PixelShuffleBackward0", "input", "", "upscale_factor")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(N, C r², H, W) to (N, C, H r, W r)."""
    r = upscale_factor
    _of_images(input, "pixel_shuffle", r, "upscale_factor")
    *lead, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError(f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={c} is not "
                           f"divisible by {r * r}")
    y = input.reshape(*lead, c // (r * r), r, r, h, w)
    k = len(lead)
    return y.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2).reshape(*lead, c // (r * r), h * r, w * r)


@step("PixelUnshuffleBackward0", "input", "", "downscale_factor")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(N, C, H r, W r) to (N, C r², H, W)."""
    r = downscale_factor
    _of_images(input, "pixel_unshuffle", r, "downscale_factor")
    *lead, c, h, w = input.shape
    for name, size, place in (("height", h, -2), ("width", w, -1)):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({place})={size} is not divisible by {r}")
    k = len(lead)
    y = input.reshape(*lead, c, h // r, r, w // r, r)
    return y.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


@step("ChannelShuffleBackward0", "input", "", "groups")
def channel_shuffle(input: Any, groups: int) -> Any:
    """The channels of groups interleaved."""
    if len(input.shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    n, c, *rest = input.shape
    return input.reshape(n, groups, c // groups, *rest).transpose(1, 2).reshape(n, c, *rest)

