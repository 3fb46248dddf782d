"""Interpolation: the spatial dimensions in other sizes."""
import math
from collections.abc import Sequence

import numpy as np

from ..inplace import number
from ..tensor import Tensor, wrap
from ..together import together
from .convolution import spread
from .pooling import adaptive_mean, along


def _positions(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """The places of the m new elements in an axis of n."""
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
    """The matrix that interpolates n values at m places by cubic convolution with a = -3/4 (Keys, 1981); beyond the
    ends the last values go on."""
    at = (np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0) if align
          else (np.arange(m) + 0.5) * (n / m if scale is None else 1.0 / scale) - 0.5)
    below, a = np.floor(at).astype(int), -0.75
    matrix, rows = np.zeros((m, n)), np.arange(m)
    for k in range(-1, 3):
        d = np.abs(at - (below + k))
        weight = np.where(d <= 1, ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a)
        np.add.at(matrix, (rows, np.clip(below + k, 0, n - 1)), weight)
    return matrix


def interpolate(input: Tensor, size: object = None, scale_factor: object = None, mode: str = "nearest",
                align_corners: "bool | None" = None,
                recompute_scale_factor: "bool | None" = None, antialias: bool = False) -> Tensor:
    """The spatial dimensions in other sizes, by the nearest element, linearly between neighbours ("linear",
    "bilinear", "trilinear") or cubically ("bicubic")."""
    rank = len(input.shape) - 2
    names = {"nearest": None, "nearest-exact": None, "linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2,
             "area": None}
    if (mode.startswith("nearest") or mode == "area") and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                         "bicubic | trilinear")
    if mode not in names or names[mode] not in (None, rank) or antialias:
        raise NotImplementedError(f"interpolate: mode {mode!r} of a {len(input.shape)}-dimensional tensor is not "
                                  "supported; there are nearest, nearest-exact, "
                                  "area, linear (3D), bilinear and bicubic (4D) and trilinear (5D), without antialias")
    if not 1 <= rank <= 3:
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank + 2}D) for the "
                                  "modes: nearest | linear | bilinear | bicubic | "
                                  f"trilinear | lanczos | area | nearest-exact (got {mode})")
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None
                         else "either size or scale_factor should be defined")
    for given, what, told in ((size, "output size", "output"), (scale_factor, "scale_factor of shape", "scale_factor")):
        if isinstance(given, (tuple, list)) and len(given) != rank:
            raise ValueError(f"Input and {told} must have the same number of spatial dimensions, but got input with "
                             f"spatial dimensions of {list(input.shape[2:])} and "
                             f"{what} {'of ' if told == 'output' else ''}{given}. Please provide input tensor in (N, "
                             "C, d1, d2, ...,dK) format and "
                             f"{'output size' if told == 'output' else 'scale_factor'} in (s1, s2, ...,sK) format.")
    scales: Sequence = [None] * rank if scale_factor is None else [number(s, "interpolate", "scale_factor")
                                                                   for s in spread(scale_factor, rank)]
    wanted = spread(size, rank) if size is not None else tuple([int(math.floor(n * s))
                                                                for n, s in zip(input.shape[2:], scales)])
    if mode == "area":
        return adaptive_mean(input, wanted, rank)
    y = input
    for k, (m, s) in enumerate(zip(wanted, scales)):
        n = input.shape[2 + k]
        if mode.startswith("nearest"):
            at = np.minimum(((np.arange(m) + (0.5 if mode == "nearest-exact" else 0.0))
                             * (n / m if s is None or recompute_scale_factor else 1.0 / s)).astype(int), n - 1)
            y = y.index_select(2 + k, wrap(at))
        else:
            matrix = _cubic if mode == "bicubic" else _linear
            y = along(y, 2 + k, matrix(n, m, bool(align_corners), None if recompute_scale_factor else s))
    title = {
        "nearest": "Nearest",
        "nearest-exact": "NearestExact",
        "bicubic": "Bicubic",
        "linear": "Linear",
        "bilinear": "Bilinear",
        "trilinear": "Trilinear",
    }[mode]
    scales = [None] * rank if recompute_scale_factor else scales
    notes: dict = {"scales": scales[0]} if rank == 1 else {f"scales_{axis}": s
                                                           for axis, s in zip("dhw"[3 - rank:], scales)}
    corners = {} if mode.startswith("nearest") else {"align_corners": bool(align_corners)}
    notes = {**notes, **corners, "output_size": wanted}
    return together((y,), f"Upsample{title}{rank}DBackward0", (input,), {"self": input}, **notes)[0]



