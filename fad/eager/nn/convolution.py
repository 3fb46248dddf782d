"""Convolutions: windows gathered by index arrays, then one contraction."""
import math
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..registry import named
from .functional import call, pad, sizes


def spread(x: Any, rank: int) -> tuple:
    """One number for each spatial dimension."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * rank


def windows(input: Any, size: tuple, stride: tuple, dilation: tuple) -> Any:
    """All windows of the last dimensions: input (N, C, *spatial) gives (N, C, *places, *size)."""
    rank = len(size)
    places = []
    for k, (n, m, s, d) in enumerate(zip(sizes(input)[-rank:], size, stride, dilation)):
        count = (n - d * (m - 1) - 1) // s + 1
        if count < 1:
            raise RuntimeError(f"Calculated padded input size per channel: ({' x '.join(map(str, tuple(input.shape)[-rank:]))}). Kernel size: "
                               f"({' x '.join(str(d * (m - 1) + 1) for m, d in zip(size, dilation))}). Kernel size can't be greater than actual input size")
        at = np.arange(count)[:, None] * s + np.arange(m) * d
        shape = [1] * (2 * rank)
        shape[k], shape[rank + k] = at.shape
        places.append(at.reshape(shape))
    together = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*places)]
    lead = len(input.shape) - rank
    return op["index"](input, *together, spec=(":",) * lead + ("a",) * rank, at=lead)


def _convolve(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, rank: int) -> Any:
    stride, dilation = spread(stride, rank), spread(dilation, rank)
    size = sizes(weight)[2:]
    if padding == "same":
        total = [d * (m - 1) for d, m in zip(dilation, size)]
        input = pad(input, [v for t in reversed(total) for v in (t // 2, t - t // 2)])
    elif padding not in (0, "valid"):
        input = pad(input, [v for p in reversed(spread(padding, rank)) for v in (p, p)])
    if len(input.shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to conv{rank}d, but got input of size: {list(input.shape)}")
    single = len(input.shape) == rank + 1
    if single:
        input = op["reshape"](input, 1, *input.shape)
    n, channels = sizes(input)[:2]
    if channels != sizes(weight)[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
                           f"{weight.shape[1] * groups} channels, but got {channels} channels instead")
    seen = windows(input, size, stride, dilation)
    places, out = sizes(seen)[2:2 + rank], sizes(weight)[0]
    seen = op["reshape"](seen, n, groups, channels // groups, math.prod(places), math.prod(size))
    kernel = op["reshape"](weight, groups, out // groups, channels // groups, math.prod(size))
    y = call("numpy.einsum", "ngcpk,gock->ngop", seen, kernel)
    y = op["reshape"](y, *(() if single else (n,)), out, *places)
    if bias is not None:
        y = y + op["reshape"](bias, out, *[1] * rank)
    return named(y, "ConvolutionBackward0", bias_sym_sizes_opt=(0,) if bias is None else tuple(bias.shape))


def conv1d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
    """Correlation along one dimension: input (N, C, L), weight (out, C / groups, K)."""
    return _convolve(input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
    """Correlation along two dimensions: input (N, C, H, W), weight (out, C / groups, KH, KW)."""
    return _convolve(input, weight, bias, stride, padding, dilation, groups, 2)


def conv3d(input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
    """Correlation along three dimensions: input (N, C, D, H, W), weight (out, C / groups, KD, KH, KW)."""
    return _convolve(input, weight, bias, stride, padding, dilation, groups, 3)
