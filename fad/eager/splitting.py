"""Splitting into parts, and stacking of what has fewer dimensions."""
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import scalar_name
from .registry import define, function, one_dim
from .shapes import reshape
from .tensor import Tensor, raw, recount
from .together import together
from .view_kinds import index_view


@function()
def unbind(self: Tensor, dim: int = 0) -> tuple:
    """The parts along a dimension, one for each index."""
    if not len(self.shape):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    ax = one_dim(dim, len(self.shape))
    parts = [index_view(self, (slice(None),) * ax + (k,), label="SelectBackward0", creation="multi")
             for k in range(self.shape[ax])]
    return together(tuple(parts), "UnbindBackward0", (self,), dim=dim)


@function()
def split(self: Tensor, split_size: object, dim: int = 0) -> tuple:
    """Stretches of a dimension, of one size or of given sizes."""
    if not len(self.shape):
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    ax, n = one_dim(dim, len(self.shape)), self.shape[one_dim(dim, len(self.shape))]
    if isinstance(split_size, int):
        if split_size < 0:
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
        if not split_size and n:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        sizes = [min(split_size, n - k) for k in range(0, n, max(split_size, 1))] or [0]
    else:
        sizes = list(split_size)
        if sum(sizes) != n:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                               f"dimension {dim}), but got split_sizes={sizes}")
    starts = np.cumsum([0, *sizes])
    parts = [
        index_view(self, (slice(None),) * ax + (slice(int(s), int(s) + m),), label="SliceBackward0", creation="multi")
        for s, m in zip(starts, sizes)
    ]
    return together(tuple(parts), "SplitBackward0" if isinstance(split_size, int) else "SplitWithSizesBackward0",
                    (self,), {"self": self}, dim=dim,
                    **{"split_size" if isinstance(split_size, int) else "split_sizes": split_size})


@function()
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple:
    """The tensor in (at most) this many stretches of a dimension."""
    if not len(self.shape):
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = self.shape[one_dim(dim, len(self.shape))]
    return split(self, -(-n // chunks), dim) if n else split(self, [0] * chunks, dim)


@function()
def split_with_sizes(self: object, split_sizes: object, dim: int = 0) -> tuple:
    """Stretches of a dimension of given sizes."""
    parts = split(self, list(split_sizes), dim)
    for part in parts:
        if part._fn is not None:
            part._fn.label = "SplitWithSizesBackward0"
    return parts


def _unsafe(name: str, safe: Callable) -> None:
    def call(self: Tensor, *args: object, **kwargs: object) -> tuple:
        parts = safe(self, *args, **kwargs)
        for part in parts:
            part._view = None                                     # the graph takes no notice of the memory they share
            recount(part)
        return parts
    define(name, call, f"{name.removeprefix('unsafe_')}, whose parts may be changed in place.")


for _name, _safe in {"unsafe_split": split, "unsafe_split_with_sizes": split_with_sizes, "unsafe_chunk": chunk}.items():
    _unsafe(_name, _safe)


@function()
def tensor_split(self: Tensor, indices_or_sections: object, dim: int = 0) -> tuple:
    """Stretches of a dimension: this many, as equal as can be, or those between these indices."""
    if not len(self.shape):
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    ax, given = one_dim(dim, len(self.shape)), raw(indices_or_sections)
    if isinstance(indices_or_sections, Tensor):
        if given.dtype != np.int64:
            raise RuntimeError(f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                               f"{scalar_name(given.dtype)}")
        if given.ndim > 1:
            raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                               f"one-dimensional tensor, but got a tensor with {given.ndim} dims")
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
    return tuple([index_view(self, (slice(None),) * ax + (slice(int(a), int(b)),), label="SliceBackward0")
                  for a, b in zip(starts, ends)])


def _split_along(name: str, least: int, dim: Callable) -> None:
    def call(self: object, indices_or_sections: object) -> tuple:
        if len(self.shape) < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                               f"{len(self.shape)} dimensions!")
        ax = dim(len(self.shape))
        if np.ndim(raw(indices_or_sections)) == 0 and self.shape[ax] % int(indices_or_sections):
            raise RuntimeError(f"torch.{name} attempted to split along dimension {ax}, but the size of the dimension "
                               f"{self.shape[ax]} is not divisible by the split_size {int(indices_or_sections)}!")
        return tensor_split(self, indices_or_sections, ax)
    define(name, call, "tensor_split along one dimension.")


_split_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
_split_along("vsplit", 2, lambda ndim: 0)
_split_along("dsplit", 3, lambda ndim: 2)


def _at_least(name: str, shape: Callable) -> None:
    def call(*tensors: object) -> Any:
        given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
        made = tuple([x if shape(tuple(x.shape)) == tuple(x.shape) else reshape(x, *shape(tuple(x.shape)))
                      for x in given])
        return made if len(given) > 1 or given is not tensors else made[0]
    define(name, call, "Tensors with at least this many dimensions.", method=False)


_at_least("atleast_1d", lambda s: s or (1,))
_at_least("atleast_2d", lambda s: s if len(s) > 1 else (1, *(s or (1,))))
_at_least("atleast_3d", lambda s: s if len(s) > 2 else (*s, 1) if len(s) == 2 else (1, *(s or (1,)), 1))
