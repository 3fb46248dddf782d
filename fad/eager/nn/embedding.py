"""Embeddings: rows of a table by index."""

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..picked import all_below, rows
from ..state import changed
from ..tensor import Tensor, raw, wrap
from ..together import step
from . import init
from .module import Module, empty, typed


def _place(padding_idx: "int | None", count: int) -> "int | None":
    """The row that counts for nothing, counted from the front."""
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % count


def _indices(input: object, count: ArrayOrNumber) -> AnyArray:
    index = raw(input)
    if isinstance(index, np.ndarray):
        if index.dtype.kind not in "iu":
            raise RuntimeError(f"Expected tensor for argument #1 'indices' to have one of the following scalar types: "
                               f"Long, Int; but got {index.dtype} instead")
        if index.size and not all_below(index, count):
            raise IndexError("index out of range in self")
    return index


def embedding(input: object, weight: object, padding_idx: "int | None" = None) -> AnyArray:
    """Rows of weight at the indices; the row padding_idx gets no gradient."""
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    index = _indices(input, weight.shape[0])
    if isinstance(weight, Tensor) and padding_idx is None and index.ndim:
        return rows(weight, input if isinstance(input, Tensor) else wrap(index), dim=0)
    return _rows(input, weight, index, _place(padding_idx, weight.shape[0]), padding_idx)


@step("EmbeddingBackward0", "weight", "weight indices=input", "padding_idx")
def _rows(input: AnyArray, weight: object, index: ArrayOrNumber, padding: "int | None",
          padding_idx: "int | None") -> AnyArray:
    if padding is not None:
        weight = op["where"]((np.arange(weight.shape[0]) == padding)[:, None], op["stop_gradient"](weight), weight)
    return weight[index]


class Embedding(Module):
    """Rows of a table, by index."""

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: "int | None" = None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _place(padding_idx, num_embeddings)
        self.weight = empty(num_embeddings, embedding_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with changed(grad=False):
                self.weight[self.padding_idx] = 0.0                                            # type: ignore[index]

    def forward(self, input: object) -> AnyArray:
        return embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + self._unusual(padding_idx=None)
