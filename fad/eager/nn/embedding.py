"""Embeddings: rows of a table by index."""

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..inplace import number
from ..picked import all_below, rows
from ..state import changed
from ..tensor import Tensor, raw, wrap
from ..together import step
from . import init
from .module import Module, Parameter, empty, typed


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


def _shrink(weight: object, index: AnyArray, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are looked up, in place, to a norm of at most max_norm."""
    max_norm, norm_type = number(max_norm, "embedding", "max_norm"), number(norm_type, "embedding", "norm_type")
    used = np.unique(index)
    a = raw(weight)
    norms = np.linalg.norm(a[used], norm_type, axis=1, keepdims=True)
    a[used] *= np.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0).astype(a.dtype)
    if isinstance(weight, Tensor):
        weight._vc[0] += 1


def embedding(input: object, weight: object, padding_idx: "int | None" = None, max_norm: "float | None" = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> AnyArray:
    """Rows of weight at the indices; the row padding_idx gets no gradient.

    max_norm      rows of a larger norm_type-norm are first scaled down, in place
    scale_grad_by_freq   a row's gradient is divided by how often it is looked up
    sparse        taken for PyTorch's sake: gradients are dense
    """
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    index = _indices(input, weight.shape[0])
    if max_norm is not None:
        _shrink(weight, index, max_norm, norm_type)
    if isinstance(weight, Tensor) and padding_idx is None and not scale_grad_by_freq and index.ndim:
        return rows(weight, input if isinstance(input, Tensor) else wrap(index), dim=0, scale_grad_by_freq=False,
                    sparse=sparse)
    return _rows(input, weight, index, _place(padding_idx, weight.shape[0]), scale_grad_by_freq, padding_idx, sparse)


@step("EmbeddingBackward0", "weight", "weight indices=input", "padding_idx scale_grad_by_freq=by_frequency sparse")
def _rows(input: AnyArray, weight: object, index: ArrayOrNumber, padding: "int | None", by_frequency: bool,
          padding_idx: "int | None", sparse: bool) -> AnyArray:
    if padding is not None:
        weight = op["where"]((np.arange(weight.shape[0]) == padding)[:, None], op["stop_gradient"](weight), weight)
    y = weight[index]
    if by_frequency:
        share = (1.0 / np.bincount(index.reshape(-1))[index]).astype(y.dtype)[..., None]
        fixed = op["stop_gradient"](y)
        y = fixed + (y - fixed) * share
    return y


class Embedding(Module):
    """Rows of a table, by index."""

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: "int | None" = None,
                 max_norm: "float | None" = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: "Tensor | None" = None, _freeze: bool = False):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm = _place(padding_idx, num_embeddings), max_norm
        self.norm_type, self.scale_grad_by_freq, self.sparse = norm_type, scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = empty(num_embeddings, embedding_dim)
            self.weight.requires_grad = not _freeze
            self.reset_parameters()
            return
        if tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with changed(grad=False):
                self.weight[self.padding_idx] = 0.0                                            # type: ignore[index]

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: "int | None" = None,
                        max_norm: "float | None" = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> "Embedding":
        """A layer with these rows, which are learned further unless frozen."""
        if embeddings._a.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings._a.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
                   _weight=embeddings, _freeze=freeze)

    def forward(self, input: object) -> AnyArray:
        return embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                         self.sparse)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + self._unusual(
            padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False)
