"""Interpolation: the spatial dimensions in other sizes."""
import math
from collections.abc import Sequence

import numpy as np

from ..inplace import number
from ..tensor import Tensor, wrap
from ..together import together
from .convolution import spread

_TITLES = {"nearest": "Nearest", "linear": "Linear", "bilinear": "Bilinear", "trilinear": "Trilinear"}
_RANKS = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _linear(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """The matrix that interpolates n values at m places."""
    at = (np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0) if align
          else np.maximum((np.arange(m) + 0.5) * (n / m if scale is None else 1.0 / scale) - 0.5, 0.0))
    below = np.minimum(at.astype(int), n - 1)
    above, part = np.minimum(below + 1, n - 1), at - below
    matrix, rows = np.zeros((m, n)), np.arange(m)
    np.add.at(matrix, (rows, below), 1 - part)
    np.add.at(matrix, (rows, above), part)
    return matrix


def interpolate(input: Tensor, size: object = None, scale_factor: object = None, mode: str = "nearest",
                align_corners: "bool | None" = None) -> Tensor:
    """The spatial dimensions in other sizes, by the nearest element, or linearly between neighbours ("linear",
    "bilinear", "trilinear")."""
    rank = len(input.shape) - 2
    if mode not in _TITLES:
        raise NotImplementedError(f"interpolate: mode {mode!r} is not supported; there are {', '.join(_TITLES)}")
    if not 1 <= rank <= 3 or _RANKS.get(mode, rank) != rank:
        raise NotImplementedError(f"interpolate: mode {mode!r} of a {len(input.shape)}-dimensional tensor is not "
                                  "supported")
    if mode == "nearest" and align_corners is not None:
        raise ValueError("align_corners option can only be set with the modes that interpolate linearly")
    if (size is None) == (scale_factor is None):
        raise ValueError("exactly one of size and scale_factor should be defined")
    given = spread(scale_factor if size is None else size, rank)
    if len(given) != rank:
        raise ValueError(f"interpolate: {len(given)} sizes or scale factors were given for {rank} spatial dimensions")
    scales: Sequence = [number(s, "interpolate", "scale_factor") for s in given] if size is None else [None] * rank
    wanted = given if size is not None else tuple([math.floor(n * s) for n, s in zip(input.shape[2:], scales)])
    y = input
    for axis, (m, s) in enumerate(zip(wanted, scales), 2):
        n = input.shape[axis]
        if mode == "nearest":
            places = (np.arange(m) * (n / m if s is None else 1.0 / s)).astype(int)
            y = y.index_select(axis, wrap(places.clip(max=n - 1)))
        else:
            matrix = wrap(_linear(n, m, bool(align_corners), s).T.astype(y.dtype))
            y = (y.movedim(axis, -1) @ matrix).movedim(-1, axis)
    notes: dict = {"scales": scales[0]} if rank == 1 else {f"scales_{axis}": s
                                                           for axis, s in zip("dhw"[3 - rank:], scales)}
    corners = {} if mode == "nearest" else {"align_corners": bool(align_corners)}
    return together((y,), f"Upsample{_TITLES[mode]}{rank}DBackward0", (input,), {"self": input}, **notes, **corners,
                    output_size=wanted)[0]
