"""Sampling of images at places between their elements; the loss of unaligned sequences."""
import itertools
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..formulas import where
from ..tensor import raw, wrap
from ..together import step, together
from .composites import reduced


def _axis(n: int, align_corners: bool, dtype: np.dtype) -> np.ndarray:
    """The places of n elements between -1 and 1, which are the centres of the outermost ones or their outer edges."""
    ends = 1.0 if align_corners else 1.0 - 1.0 / n
    return np.linspace(-ends, ends, n).astype(dtype) if n > 1 else np.zeros(1, dtype)


@step("AffineGridGeneratorBackward0", "theta", "", "size align_corners")
def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    """The places that an image of this size (N, C, ..., H, W) is sampled at for an affine map theta (N, d, d + 1): (N, ..., H, W, d), x first.

    >>> import fad
    >>> fad.nn.functional.affine_grid(fad.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 2, 2), align_corners=True)[0, 0]
    tensor([[-1., -1.],
            [ 1., -1.]])
    """
    d = len(size) - 2
    if tuple(theta.shape) != (size[0], d, d + 1):
        raise ValueError(f"Expected a batch of {d}D affine matrices of shape {size[0]}x{d}x{d + 1} for size {tuple(size)}. Got {tuple(theta.shape)}.")
    if not theta.dtype.kind == "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    axes = np.meshgrid(*[_axis(n, align_corners, theta.dtype) for n in size[2:]], indexing="ij")
    base = np.stack([*axes[::-1], np.ones_like(axes[0])], -1).reshape(1, -1, d + 1)
    grid = wrap(np.broadcast_to(base, (size[0], *base.shape[1:]))) @ theta.transpose(1, 2)                  # type: ignore[operator]
    return grid.reshape(size[0], *size[2:], d)


@step(lambda given: f"GridSampler{len(given['input'].shape) - 2}DBackward0", "input grid", "input grid", "align_corners")
def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Any:
    """input (N, C, H, W) or (N, C, D, H, W) at the places of a grid (N, ..., d), from -1 to 1, x first: bilinear or (of images) bicubic between elements, or
    the nearest one.

    padding_mode: what lies outside is zero ("zeros"), the "border", or the image reflected ("reflection").
    """
    if mode not in _NEIGHBOURS:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    n, c, *extents = input.shape
    d = len(extents)
    if grid.shape[0] != n or grid.shape[-1] != d or len(grid.shape) != d + 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {d} in last dimension and the batch of the input, but got input with sizes "
                           f"{list(input.shape)} and grid with sizes {list(grid.shape)}")
    if mode == "bicubic" and d != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    out = tuple(grid.shape[1:-1])
    places = [_place(grid[..., d - 1 - k].reshape(n, -1), m, align_corners) for k, m in enumerate(extents)]
    if mode != "bicubic":                                              # else each neighbour is put within the image, not the place between them
        places = [_within(place, m, padding_mode, align_corners) for place, m in zip(places, extents)]
    flat, total = input.reshape(n, c, -1), 0.0
    corners = [np.rint(raw(p)) for p in places] if mode == "nearest" else [np.floor(raw(p)) for p in places]
    for offsets in itertools.product(_NEIGHBOURS[mode], repeat=d):
        at = [corner + offset for corner, offset in zip(corners, offsets)]
        if mode == "bicubic":
            at = [raw(_within(wrap(a), m, padding_mode, align_corners)) for a, m in zip(at, extents)]
        inside = np.logical_and.reduce([(a >= 0) & (a < m) for a, m in zip(at, extents)])
        index = np.ravel_multi_index([np.clip(np.nan_to_num(a), 0, m - 1).astype(np.int64) for a, m in zip(at, extents)], tuple(extents))
        part = flat.gather(2, wrap(np.broadcast_to(index[:, None], (n, c, index.shape[1])).copy()))
        weight: Any = wrap(inside.astype(input.dtype))
        for place, corner, offset in zip(places, corners, offsets) if mode != "nearest" else ():
            weight = weight * _share(place - wrap(corner), offset, mode)
        total = total + part * weight.unsqueeze(1)
    return total.reshape(n, c, *out)                                       # type: ignore[attr-defined]


_NEIGHBOURS = {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}


def _share(part: Any, offset: int, mode: str) -> Any:
    """What the neighbour at this offset counts at a place that lies `part` after neighbour 0; bicubic: cubic convolution with a = -3/4 (Keys, 1981)."""
    if mode == "bilinear":
        return part if offset else 1.0 - part
    d = part - offset if offset < 1 else offset - part
    return (1.25 * d - 2.25) * d * d + 1.0 if offset in (0, 1) else ((3.75 - 0.75 * d) * d - 6.0) * d + 3.0


def _place(g: Any, n: int, align_corners: bool) -> Any:
    """Coordinates from -1 to 1 as places among n elements."""
    return (g + 1) / 2 * (n - 1) if align_corners else ((g + 1) * n - 1) / 2


def _within(x: Any, n: int, padding_mode: str, align_corners: bool) -> Any:
    """Places, those outside put where the padding takes its values from."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        low, high = (0.0, n - 1.0) if align_corners else (-0.5, n - 0.5)
        x = _reflected(x, low, high - low) if high > low else x * 0
    return x.clamp(0, n - 1)


def _reflected(x: Any, low: float, span: float) -> Any:
    """x mirrored at low and at low + span until it lies between them."""
    away = (x - low).abs()
    turns = np.floor(raw(away) / span)
    rest = away - wrap((turns * span).astype(away.dtype))
    return where(wrap(turns % 2 == 0), rest + low, span - rest + low)


_NEVER = -1e30                                                # the logarithm of no chance at all, finite so that its derivative is zero


def ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Any:
    """Minus the log likelihood of label sequences under all their alignments (Graves et al., Connectionist temporal classification, 2006).

    log_probs (T, N, C) or (T, C), targets (N, S), one after the other in one dimension, or (S,); "mean" divides by each target's length first.
    """
    if len(log_probs.shape) == 2:
        loss = ctc_loss(log_probs.unsqueeze(1), targets, [int(raw(input_lengths))], [int(raw(target_lengths))], blank,
                        reduction if reduction != "none" else "sum", zero_infinity)
        return loss
    steps, n, _ = log_probs.shape
    ends, sizes = [np.asarray(raw(v), np.int64).reshape(-1) for v in (input_lengths, target_lengths)]
    if len(ends) != n or len(sizes) != n:
        raise RuntimeError(f"ctc_loss: expected {n} input_lengths and target_lengths, one for each example, but got {len(ends)} and {len(sizes)}")
    if ends.max(initial=0) > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {ends.max()}")
    labels = _between_blanks(raw(targets), sizes, blank)
    width = labels.shape[1]
    skips = np.zeros((n, width), bool)                         # where an alignment may leave out the blank before a label
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    never = wrap(np.full((n, 2), _NEVER, log_probs.dtype))
    chances = [log_probs[t].gather(1, wrap(labels)) for t in range(steps)]
    alpha = where(wrap(np.broadcast_to(np.arange(width) < 2, (n, width))), chances[0], _NEVER)
    for t in range(1, steps):
        before = op["concatenate"](never, alpha, axis=1)
        way = op["logaddexp"](op["logaddexp"](alpha, before[:, 1:-1]), where(wrap(skips), before[:, :-2], _NEVER))
        alpha = where(wrap((t < ends)[:, None]), way + chances[t], alpha)
    rows = np.arange(n)
    last = alpha[rows, 2 * sizes]
    loss = -where(wrap(sizes > 0), op["logaddexp"](last, alpha[rows, np.maximum(2 * sizes - 1, 0)]), last)
    impossible = raw(loss) > -_NEVER / 2
    if impossible.any():
        loss = where(wrap(impossible), 0.0 if zero_infinity else np.inf, loss)
    loss, = together((loss,), "CtcLossBackward0", (log_probs,), {"log_probs": log_probs, "result0": loss})
    if reduction == "mean":
        return (loss / wrap(np.maximum(sizes, 1).astype(log_probs.dtype))).mean()
    return reduced(loss, reduction)


def _between_blanks(targets: np.ndarray, sizes: np.ndarray, blank: int) -> np.ndarray:
    """Each example's labels with a blank before, between and after them; short ones are filled with blanks."""
    labels = np.full((len(sizes), 2 * int(sizes.max(initial=0)) + 1), blank, np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for k, size in enumerate(sizes):
        labels[k, 1:2 * size + 1:2] = targets[k, :size] if targets.ndim == 2 else targets[starts[k]:starts[k] + size]
    return labels


