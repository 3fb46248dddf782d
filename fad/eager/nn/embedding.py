"""Embeddings: rows of a table by index, and their sums, means or largest elements over bags of indices."""
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..inplace import number
from ..state import changed
from ..tensor import Tensor, raw
from ..together import step
from . import init
from .functional import call
from .module import Module, Parameter, empty, typed


def _place(padding_idx: "int | None", rows: int) -> "int | None":
    """The row that counts for nothing, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


def _indices(input: Any, rows: Any) -> Any:
    index = raw(input)
    if isinstance(index, np.ndarray):
        if index.dtype.kind not in "iu":
            raise RuntimeError(f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {index.dtype} instead")
        if index.size and (index.min() < 0 or index.max() >= rows):
            raise IndexError("index out of range in self")
    return index


def _shrink(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are looked up, in place, to a norm of at most max_norm."""
    max_norm, norm_type = number(max_norm, "embedding", "max_norm"), number(norm_type, "embedding", "norm_type")
    used = np.unique(index)
    a = raw(weight)
    norms = np.linalg.norm(a[used], norm_type, axis=1, keepdims=True)
    a[used] *= np.where(norms > max_norm, max_norm / (norms + 1e-7), 1.0).astype(a.dtype)
    if isinstance(weight, Tensor):
        weight._vc[0] += 1


@step("EmbeddingBackward0", "weight", "weight indices=input", "padding_idx scale_grad_by_freq sparse")
def embedding(input: Any, weight: Any, padding_idx: "int | None" = None, max_norm: "float | None" = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Any:
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
    return _rows(weight, index, _place(padding_idx, weight.shape[0]), scale_grad_by_freq)


def _rows(weight: Any, index: Any, padding: "int | None", by_frequency: bool) -> Any:
    if padding is not None:
        weight = op["where"]((np.arange(weight.shape[0]) == padding)[:, None], op["stop_gradient"](weight), weight)
    rows = weight[index]
    if by_frequency:
        share = (1.0 / np.bincount(index.reshape(-1))[index]).astype(rows.dtype)[..., None]
        fixed = op["stop_gradient"](rows)
        rows = fixed + (rows - fixed) * share
    return rows


@step("EmbeddingBagBackward0", "weight per_sample_weights", "weight indices=input offsets", "padding_idx scale_grad_by_freq sparse mode")
def embedding_bag(input: Any, weight: Any, offsets: Any = None, max_norm: "float | None" = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                  mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
                  padding_idx: "int | None" = None) -> Any:
    """The sum, mean or largest elements of the rows of each bag: a row of a two-dimensional input, or what lies between two offsets of a one-dimensional one."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode="
                                  f"'{mode}'). Please open a feature request on GitHub.")
    if per_sample_weights is not None and tuple(per_sample_weights.shape) != tuple(input.shape):
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape as the input "
                         f"({input.shape})")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("max mode does not support scaling the gradient by the frequency" if scale_grad_by_freq else "max mode does not support sparse weights")
    index = raw(input)
    if index.size and (index.min() < 0 or index.max() >= weight.shape[0]):
        raise RuntimeError(f"Expected idx >= 0 && idx < num_embeddings to be true, but got idx {index.min()} to {index.max()} of {weight.shape[0]} embeddings")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError("padding_idx must be within the number of embeddings")
    starts = _starts(index, offsets, include_last_offset)
    if max_norm is not None:
        _shrink(weight, index, max_norm, norm_type)
    bags, index = np.searchsorted(starts, np.arange(index.size), "right") - 1, index.reshape(-1)
    kept = np.ones(index.size, bool) if padding_idx is None else index != _place(padding_idx, weight.shape[0])
    rows, bags = _rows(weight, index[kept], None, scale_grad_by_freq), bags[kept]
    if per_sample_weights is not None:
        rows = rows * op["reshape"](op["reshape"](per_sample_weights, index.size)[kept], len(bags), 1)
    return _largest(rows, bags, len(starts)) if mode == "max" else _total(rows, bags, len(starts), mode == "mean")


def _starts(index: np.ndarray, offsets: Any, include_last: bool) -> np.ndarray:
    """Where the bags begin."""
    if index.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found offsets of "
                             f"type {type(offsets)}")
        return np.arange(index.shape[0]) * index.shape[1]
    if index.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {index.ndim}")
    if offsets is None or raw(offsets).ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    starts = raw(offsets)
    if starts.size and starts[0] != 0:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                           f"{starts[0]}")
    if starts.size and starts[-1] > index.size:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {index.size} but got offsets[-1] of {starts[-1]}")
    return starts[:-1] if include_last else starts


def _total(rows: Any, bags: np.ndarray, count: int, mean: bool) -> Any:
    zero = np.zeros((count, rows.shape[1]), rows.dtype)
    total = op["index_add"](zero, rows, bags, spec=("a", ":"), at=0)
    if not mean:
        return total
    return total / np.maximum(np.bincount(bags, minlength=count), 1).astype(rows.dtype)[:, None]


def _largest(rows: Any, bags: np.ndarray, count: int) -> Any:
    """The largest elements of each bag; of equal ones the first has the gradient."""
    a = raw(rows)
    first = np.zeros((count, a.shape[1]), np.int64)
    for bag in np.unique(bags):
        places = np.flatnonzero(bags == bag)
        first[bag] = places[a[places].argmax(0)]
    if not len(bags):
        return call("numpy.sum", rows) * 0.0 + np.zeros((count, rows.shape[1]), rows.dtype)
    picked = op["index"](rows, first, np.broadcast_to(np.arange(a.shape[1]), first.shape).copy(), spec=("a", "a"), at=0)
    return op["where"](np.isin(np.arange(count), bags)[:, None], picked, 0.0)


class Embedding(Module):
    """Rows of a table, by index."""

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: "int | None" = None, max_norm: "float | None" = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None, _freeze: bool = False):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, _place(padding_idx, num_embeddings)
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = max_norm, norm_type, scale_grad_by_freq, sparse
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
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: "int | None" = None, max_norm: "float | None" = None,
                        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> "Embedding":
        """A layer with these rows, which are learned further unless frozen."""
        if embeddings._a.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings._a.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight=embeddings, _freeze=freeze)

    def forward(self, input: Any) -> Any:
        return embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + _options(self, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                                                                         sparse=False)


def _options(module: Any, **usual: Any) -> str:
    """The options of a module that are not as usual."""
    return "".join(f", {key}={getattr(module, key)}" for key, value in usual.items() if getattr(module, key) != value)


class EmbeddingBag(Module):
    """Sums, means or largest elements of the rows of bags of indices."""

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: "float | None" = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 mode: str = "mean", sparse: bool = False, _weight: Any = None, include_last_offset: bool = False, padding_idx: "int | None" = None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, _place(padding_idx, num_embeddings)
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode = max_norm, norm_type, scale_grad_by_freq, mode
        self.sparse, self.include_last_offset = sparse, include_last_offset
        if _weight is not None and tuple(_weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = empty(num_embeddings, embedding_dim) if _weight is None else Parameter(_weight)
        if _weight is None:
            self.reset_parameters()

    reset_parameters = Embedding.reset_parameters

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, max_norm: "float | None" = None, norm_type: float = 2.0,
                        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
                        padding_idx: "int | None" = None) -> "EmbeddingBag":
        """A layer with these rows, which are learned further unless frozen."""
        if embeddings._a.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        made = cls(*embeddings._a.shape, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx)
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
                             self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}" + _options(self, max_norm=None, norm_type=2.0, scale_grad_by_freq=False) + f", mode={self.mode!r}" + (
            "" if self.padding_idx is None else f", padding_idx={self.padding_idx}")
