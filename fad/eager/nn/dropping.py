"""Dropout: of elements, and of whole channels."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.errors import UnsupportedFunctionError
from ..generators import source
from ..inplace import number
from ..tensor import Tensor, raw, wrap
from .activations import in_their_place


def _kept(input: Any, p: float, lead: int) -> np.ndarray:
    """Which elements stay, drawn: one number for all of the dimensions after the first `lead`."""
    if getattr(input, "__fad_level__", 0) == 2:
        raise UnsupportedFunctionError("dropout draws random numbers, which a traced program would draw once and for all",
                                       do="call the model in eval() mode, or run this part on tensors")
    shape = tuple(input.shape)
    return source(None).random((*shape[:lead], *[1] * (len(shape) - lead))) >= p


def _probability(p: Any) -> float:
    p = number(p, "dropout", "p")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p


@in_their_place
def _scaled(input: Any, factors: np.ndarray, shift: Any = None, inplace: bool = False) -> Any:
    """input * factors + shift."""
    def like(a: np.ndarray) -> Any:
        return wrap(a.astype(raw(input).dtype)) if isinstance(input, Tensor) else a
    y = input * like(factors)
    return y if shift is None else y + like(shift)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """In training, each element zero with probability p, the others scaled up by 1 / (1 - p)."""
    return _dropped(input, p, training, inplace, len(input.shape))


def _dropped(input: Any, p: float, training: bool, inplace: bool, lead: int) -> Any:
    p = _probability(p)
    return _scaled(input, _kept(input, p, lead) / (1.0 - p if p < 1 else 1.0), None, inplace) if training and p else input


def _of_channels(name: str, rank: int) -> Callable:
    def f(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        return _dropped(input, p, training, inplace, 1 if rank in (1, 3) and len(input.shape) == rank + 1 else 2)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"In training, whole channels ({rank} spatial dimension{'s' if rank > 1 else ''}) zero with probability p, the others scaled up."
    return f


dropout1d, dropout2d, dropout3d = _of_channels("dropout1d", 1), _of_channels("dropout2d", 2), _of_channels("dropout3d", 3)


def _alpha(input: Any, p: float, training: bool, inplace: bool, lead: int) -> Any:
    """The dropped at the value of selu far below 0, all then scaled and shifted to the mean and the variance that they had."""
    p = _probability(p)
    if not training or p == 0:
        return input
    alpha = -1.7580993408473766
    if p == 1:
        return _scaled(input, np.zeros(()), None, inplace)
    scale = 1 / math.sqrt(alpha ** 2 * p * (1 - p) + (1 - p))
    kept = _kept(input, p, lead)
    return _scaled(input, kept * scale, alpha * (1 - kept) * scale - scale * alpha * p, inplace)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and variance of what selu gives (Klambauer et al., Self-normalizing neural networks, 2017)."""
    return _alpha(input, p, training, inplace, len(input.shape))


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """alpha_dropout of whole channels."""
    return _alpha(input, p, training, inplace, min(2, len(input.shape)))
