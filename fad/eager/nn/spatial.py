"""Changes of spatial sizes: interpolation, windows unfolded and folded back, pixels moved to channels, transposed convolutions."""
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..registry import named
from ..tensor import wrap
from .convolution import _convolve, spread, windows
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


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: "bool | None" = None,
                recompute_scale_factor: "bool | None" = None, antialias: bool = False) -> Any:
    """The spatial dimensions in other sizes, by the nearest element or linearly between neighbours ("linear", "bilinear", "trilinear")."""
    rank = len(input.shape) - 2
    names = {"nearest": None, "linear": 1, "bilinear": 2, "trilinear": 3, "area": None}
    if mode not in names or names[mode] not in (None, rank) or antialias:
        raise NotImplementedError(f"interpolate: mode {mode!r} of a {len(input.shape)}-dimensional tensor is not supported; there are nearest, area, linear (3D), "
                                  "bilinear (4D) and trilinear (5D), without antialias")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined")
    scales: Sequence = [None] * rank if scale_factor is None else spread(scale_factor, rank)
    wanted = spread(size, rank) if size is not None else tuple([int(math.floor(n * s)) for n, s in zip(input.shape[2:], scales)])
    if mode == "area":
        return adaptive_mean(input, wanted, rank)
    y = input
    for k, (m, s) in enumerate(zip(wanted, scales)):
        n = input.shape[2 + k]
        if mode == "nearest":
            at = np.minimum((np.arange(m) * (n / m if s is None or recompute_scale_factor else 1.0 / s)).astype(int), n - 1)
            y = y.index_select(2 + k, wrap(at))
        else:
            y = along(y, 2 + k, _linear(n, m, bool(align_corners), None if recompute_scale_factor else s))
    title = {"nearest": "Nearest", "linear": "Linear", "bilinear": "Bilinear", "trilinear": "Trilinear"}[mode]
    notes = {"scales": scales[0]} if rank == 1 else {"scales_h": scales[0], "scales_w": scales[1]}
    corners = {} if mode == "nearest" else {"align_corners": bool(align_corners)}
    return named(y, f"Upsample{title}{rank}DBackward0", output_size=wanted, scale_factors=None if scale_factor is None else tuple(scales), **notes, **corners)


upsample = interpolate


def transposed(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int, dilation: Any, rank: int) -> Any:
    """The adjoint of a convolution: the input with zeros between its elements, correlated with the weight turned round."""
    stride, padding, extra, dilation = spread(stride, rank), spread(padding, rank), spread(output_padding, rank), spread(dilation, rank)
    single = len(input.shape) == rank + 1
    x = input.unsqueeze(0) if single else input
    wide = wrap(np.zeros((*x.shape[:2], *[(n - 1) * s + 1 for n, s in zip(x.shape[2:], stride)]), x.dtype))
    apart = (slice(None), slice(None), *[slice(None, None, s) for s in stride])
    wide[apart] = x                                                                            # type: ignore[index]
    edges = [(d * (m - 1) - p, d * (m - 1) - p + e) for d, m, p, e in zip(dilation, weight.shape[2:], padding, extra)]
    wide = pad(wide, [v for pair in reversed(edges) for v in pair])
    channels, out = weight.shape[:2]
    kernel = weight.flip(*range(2, 2 + rank)).reshape(groups, channels // groups, out, *weight.shape[2:]).transpose(1, 2)
    y = _convolve(wide, kernel.reshape(groups * out, channels // groups, *weight.shape[2:]), bias, 1, 0, dilation, groups, rank)
    return y.squeeze(0) if single else y


def conv_transpose1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Any:
    """The transposed convolution along one dimension: weight (C, out / groups, K)."""
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 1)


def conv_transpose2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Any:
    """The transposed convolution along two dimensions: weight (C, out / groups, KH, KW)."""
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 2)


def conv_transpose3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                     dilation: Any = 1) -> Any:
    """The transposed convolution along three dimensions: weight (C, out / groups, KD, KH, KW)."""
    return transposed(input, weight, bias, stride, padding, output_padding, groups, dilation, 3)


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Every window of an image (N, C, H, W) as a column: (N, C KH KW, places); an image alone is a batch of one, which goes."""
    if len(input.shape) == 3:
        return unfold(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    size = spread(kernel_size, 2)
    notes = {f"self_sym_argsize_minus_{k}": input.shape[-k] for k in (1, 2)}
    x = pad(input, [v for p in reversed(spread(padding, 2)) for v in (p, p)])
    seen = windows(x, size, spread(stride, 2), spread(dilation, 2))
    n, c, rows, columns = seen.shape[:4]
    return named(seen.permute(0, 1, 4, 5, 2, 3).reshape(n, c * math.prod(size), rows * columns), "Im2ColBackward0", **notes)


def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Windows, each a column, added up to the image they were cut from: the adjoint of unfold."""
    if len(input.shape) == 2:
        return fold(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    if input.shape[1] % math.prod(spread(kernel_size, 2)):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)="
                           f"{input.shape[1]} and kernel_size={spread(kernel_size, 2)}.")
    size, edge = spread(kernel_size, 2), spread(padding, 2)
    wide = [m + 2 * p for m, p in zip(spread(output_size, 2), edge)]
    places = unfold(wrap(np.arange(math.prod(wide), dtype=float).reshape(1, 1, *wide)), size, dilation, 0, stride)._a[0].astype(int)
    n, c = input.shape[0], input.shape[1] // math.prod(size)
    flat = wrap(np.zeros((n, c, math.prod(wide)), input.dtype)).index_add(2, wrap(places.reshape(-1)), input.reshape(n, c, -1))   # type: ignore[attr-defined]
    image = flat.reshape(n, c, *wide)
    return named(image[:, :, edge[0]:wide[0] - edge[0], edge[1]:wide[1] - edge[1]], "Col2ImBackward0")


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """(N, C r², H, W) to (N, C, H r, W r)."""
    r = upscale_factor
    *lead, c, h, w = input.shape
    y = input.reshape(*lead, c // (r * r), r, r, h, w)
    k = len(lead)
    return y.permute(*range(k), k, k + 3, k + 1, k + 4, k + 2).reshape(*lead, c // (r * r), h * r, w * r)


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """(N, C, H r, W r) to (N, C r², H, W)."""
    r = downscale_factor
    *lead, c, h, w = input.shape
    k = len(lead)
    y = input.reshape(*lead, c, h // r, r, w // r, r)
    return y.permute(*range(k), k, k + 2, k + 4, k + 1, k + 3).reshape(*lead, c * r * r, h // r, w // r)


def channel_shuffle(input: Any, groups: int) -> Any:
    """The channels of groups interleaved."""
    n, c, *rest = input.shape
    return input.reshape(n, groups, c // groups, *rest).transpose(1, 2).reshape(n, c, *rest)

