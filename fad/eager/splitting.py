"""Splitting into parts, and stacking of what has fewer dimensions."""
from collections.abc import Callable

import numpy as np

from .registry import define, function, one_dim
from .tensor import Tensor, recount
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


split_with_sizes = define("split_with_sizes", lambda self, split_sizes, dim=0: split(self, list(split_sizes), dim),
                          "Stretches of a dimension of given sizes.")


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
