"""Splitting into parts, and stacking of what has fewer dimensions."""
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import scalar_name
from .registry import function, one_dim
from .shapes import chunk, reshape, split
from .tensor import Tensor, raw
from .views import index_view


@function()
def split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> tuple:
    """Stretches of a dimension of given sizes."""
    parts = split(self, list(split_sizes), dim)
    for part in parts:
        if part._fn is not None:
            part._fn.label = "SplitWithSizesBackward0"
    return parts


def _unsafe(name: str, safe: Callable) -> None:
    def call(self: Any, *args: Any, **kwargs: Any) -> tuple:
        parts = safe(self, *args, **kwargs)
        for part in parts:
            part._view, part._vc = None, [0]                      # the graph takes no notice of the memory they share
        return parts
    call.__name__, call.__doc__ = name, f"{name.removeprefix('unsafe_')}, whose parts may be changed in place."
    function(name)(call)


for _name, _safe in {"unsafe_split": split, "unsafe_split_with_sizes": split_with_sizes, "unsafe_chunk": chunk}.items():
    _unsafe(_name, _safe)


@function()
def tensor_split(self: Any, indices_or_sections: Any, dim: int = 0) -> tuple:
    """Stretches of a dimension: this many, as equal as can be, or those between these indices."""
    if not len(self.shape):
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    ax, given = one_dim(dim, len(self.shape)), raw(indices_or_sections)
    if isinstance(indices_or_sections, Tensor):
        if given.dtype != np.int64:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {scalar_name(given.dtype)}")
        if given.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                               f"but got a tensor with {given.ndim} dims")
    n = self.shape[ax]
    if np.ndim(given) == 0:
        count = int(given)
        if count <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {count}")
        ends = np.cumsum([n // count + (k < n % count) for k in range(count)])
        starts = [0, *ends[:-1]]
    else:
        cuts = [int(k) for k in np.asarray(given)]
        starts, ends = [0, *cuts], [*cuts, n]
    return tuple([index_view(self, (slice(None),) * ax + (slice(int(a), int(b)),), label="SliceBackward0", creation="multi") for a, b in zip(starts, ends)])


def _split_along(name: str, least: int, dim: Callable) -> None:
    def call(self: Any, indices_or_sections: Any) -> tuple:
        if len(self.shape) < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(self.shape)} dimensions!")
        ax = dim(len(self.shape))
        if np.ndim(raw(indices_or_sections)) == 0 and self.shape[ax] % int(indices_or_sections):
            raise RuntimeError(f"torch.{name} attempted to split along dimension {ax}, but the size of the dimension {self.shape[ax]} is not divisible by the "
                               f"split_size {int(indices_or_sections)}!")
        return tensor_split(self, indices_or_sections, ax)
    call.__name__, call.__doc__ = name, "tensor_split along one dimension."
    function(name)(call)


_split_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
_split_along("vsplit", 2, lambda ndim: 0)
_split_along("dsplit", 3, lambda ndim: 2)


def _at_least(name: str, shape: Callable) -> None:
    def call(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
        made = tuple([reshape(x, *shape(tuple(x.shape))) for x in given])
        return made if len(given) > 1 or given is not tensors else made[0]
    call.__name__, call.__doc__ = name, "Tensors with at least this many dimensions."
    function(name, method=False)(call)


_at_least("atleast_1d", lambda s: s or (1,))
_at_least("atleast_2d", lambda s: s if len(s) > 1 else (1, *(s or (1,))))
_at_least("atleast_3d", lambda s: s if len(s) > 2 else (*s, 1) if len(s) == 2 else (1, *(s or (1,)), 1))
