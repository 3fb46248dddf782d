"""Dropout."""

import numpy as np

from ...util.array import AnyArray
from ...util.errors import UnsupportedFunctionError
from ..generators import source
from ..inplace import number
from ..tensor import Tensor, raw, wrap
from .activations import in_their_place


def _kept(input: object, p: float) -> np.ndarray:
    """The elements that stay, drawn."""
    if getattr(input, "__fad_level__", 0) == 2:
        raise UnsupportedFunctionError("dropout draws random numbers, which a traced program would draw once and for "
                                       "all",
                                       do="call the model in eval() mode, or run this part on tensors")
    return source(None).random(tuple(input.shape)) >= p


@in_their_place
def _scaled(input: Tensor, factors: np.ndarray, inplace: bool = False) -> Tensor:
    """input * factors."""
    return input * (wrap(factors.astype(raw(input).dtype)) if isinstance(input, Tensor) else factors)


def dropout(input: AnyArray, p: float = 0.5, training: bool = True, inplace: bool = False) -> AnyArray:
    """In training, each element zero with probability p, the others scaled up by 1 / (1 - p)."""
    p = number(p, "dropout", "p")
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _scaled(input, _kept(input, p) / (1.0 - p if p < 1 else 1.0), inplace) if training and p else input
