"""Joining, gathering, scattering and rearranging tensors."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.face import BY_NAME
from ..ops.table import TABLE as op
from . import composites
from .indexing import getitem
from .inplace import fill, in_place
from .registry import FUNCTIONS, function, named, one_dim, run, sizes_of, tensor_of
from .shapes import _completed, movedim, reshape
from .tensor import Size, Tensor, raw, wrap


@function("cat", "concat", "concatenate", method=False)
def cat(tensors: Sequence, dim: int = 0, *, axis: Any = None, out: Any = None) -> Any:
    """Tensors one after the other along a dimension."""
    xs = [tensor_of(t) for t in tensors]
    kept = [x for x in xs if x.shape != (0,)] or xs[:1]
    ax = one_dim(dim if axis is None else axis, len(kept[0].shape))
    for k, x in enumerate(kept):
        wrong = [j for j, (m, n) in enumerate(zip(x.shape, kept[0].shape)) if j != ax and isinstance(m, int) and m != n]
        if wrong or len(x.shape) != len(kept[0].shape):
            raise RuntimeError(f"Sizes of tensors must match except in dimension {ax}. Expected size {kept[0].shape[wrong[0]]} but got size "
                               f"{x.shape[wrong[0]]} for tensor number {k} in the list." if wrong else
                               f"Tensors must have same number of dimensions: got {len(kept[0].shape)} and {len(x.shape)}")
    dtype = np.result_type(*[x.dtype for x in xs])
    kept = [x if x.dtype == dtype else op["cast"](x, dtype=dtype) for x in kept]
    return run(op["concatenate"], *kept, axis=ax, label="CatBackward0")


@function(method=False)
def stack(tensors: Sequence, dim: int = 0, *, out: Any = None) -> Any:
    """Tensors of one shape along a new dimension."""
    xs = [tensor_of(t) for t in tensors]
    for k, x in enumerate(xs):
        if tuple(x.shape) != tuple(xs[0].shape):
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(xs[0].shape)} at entry 0 and {list(x.shape)} at entry {k}")
    ax = one_dim(dim, len(xs[0].shape) + 1)
    return named(composites.stack(*xs, axis=ax), "StackBackward0", dim=ax)


Tensor._stack_rows = staticmethod(stack)                                                    # type: ignore[attr-defined]
FUNCTIONS["hstack"] = lambda tensors: cat([reshape(x, -1) if not len(x.shape) else x for x in tensors], 0 if len(tensors[0].shape) < 2 else 1)
FUNCTIONS["vstack"] = lambda tensors: cat([reshape(x, 1, -1) if len(x.shape) < 2 else x for x in tensors], 0)


@function()
def gather(self: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """self[i][index[i, j]][j] along a dimension."""
    i = raw(index)
    if not len(self.shape):                             # one element is like a row of one
        return reshape(gather(reshape(self, 1), 0, wrap(i.reshape(-1))), *i.shape)
    ax = one_dim(dim, len(self.shape))
    if not i.ndim:
        return reshape(gather(self, dim, wrap(i.reshape((1,) * len(self.shape)))), ())
    return named(getitem(self, _along(i, ax)), "GatherBackward0")


def _along(index: np.ndarray, ax: int) -> tuple:
    places = list(np.ix_(*[np.arange(n) for n in index.shape]))
    places[ax] = index
    return tuple([np.broadcast_to(p, index.shape) for p in places])


FUNCTIONS["take_along_dim"] = Tensor.take_along_dim = lambda self, indices, dim: gather(self, dim, indices)       # type: ignore[attr-defined]


def _selection(x: Any, key: tuple) -> tuple:
    """The operands and parameters of a selection by index arrays (one an axis, from the first)."""
    return key, {"spec": ("a",) * len(key) + (":",) * (len(x.shape) - len(key)), "at": 0}


@function(changing=True)
def scatter(self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: "str | None" = None) -> Any:
    """self with src written at the indices along a dimension."""
    i = raw(index)
    operands, params = _selection(self, _along(i, one_dim(dim, len(self.shape))))
    part = value if src is None else src
    if isinstance(part, Tensor):
        part = getitem(part, tuple([slice(0, n) for n in i.shape])) if part.shape != i.shape else part
    if reduce == "add":
        return named(op["index_add"](self, part, *operands, **params), "ScatterAddBackward0")
    return named(op["update"](self, part, *operands, **params), "ScatterBackward0")


@function(changing=True)
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Any:
    """self with src added at the indices along a dimension."""
    return scatter(self, dim, index, src, reduce="add")


@function()
def index_select(self: Any, dim: int, index: Any) -> Any:
    """The parts at these indices along a dimension."""
    ax = one_dim(dim, len(self.shape))
    return named(getitem(self, (slice(None),) * ax + (np.atleast_1d(raw(index)),)), "IndexSelectBackward0")


def _along_one(x: Any, dim: int, index: Any) -> tuple:
    ax = one_dim(dim, len(x.shape))
    return (raw(index),), {"spec": tuple("a" if k == ax else ":" for k in range(len(x.shape))), "at": ax}


@function(changing=True)
def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """self with source added to the parts at these indices."""
    operands, params = _along_one(self, dim, index)
    return op["index_add"](self, source if alpha == 1 else source * alpha, *operands, **params)


@function(changing=True)
def index_copy(self: Any, dim: int, index: Any, source: Any) -> Any:
    """self with the parts at these indices replaced by source."""
    operands, params = _along_one(self, dim, index)
    return named(op["update"](self, source, *operands, **params), "IndexCopyBackward0")


@function(changing=True)
def index_fill(self: Any, dim: int, index: Any, value: Any) -> Any:
    """self with the parts at these indices filled with a value."""
    operands, params = _along_one(self, dim, index)
    return named(op["update"](self, value, *operands, **params), "IndexFillBackward0")


@function(changing=True)
def index_put(self: Any, indices: Sequence, values: Any, accumulate: bool = False) -> Any:
    """self with the elements at these indices replaced by (or, accumulating, increased by) values."""
    operands, params = _selection(self, tuple([raw(i) for i in indices]))
    if accumulate:
        return named(op["index_add"](self, values, *operands, **params), "IndexPutBackward0")
    return op["update"](self, values, *operands, **params)


@function()
def take(self: Any, index: Any) -> Any:
    """Elements by their places in row-major order."""
    return named(getitem(reshape(self, -1), raw(index)), "TakeBackward0")


@function()
def masked_select(self: Any, mask: Any) -> Any:
    """The elements where the mask holds, in one dimension."""
    x, m = np.broadcast_arrays(self._a, raw(mask))
    return named(getitem(self.expand(*x.shape), np.ascontiguousarray(m)), "MaskedSelectBackward0")


@function(changing=True)
def masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    """self with the elements where the mask holds replaced by source's, in order."""
    places = np.nonzero(np.broadcast_to(raw(mask), self.shape))
    operands, params = _selection(self, places)
    return op["update"](self, getitem(reshape(source, -1), slice(0, len(places[0]))), *operands, **params)


@function()
def flip(self: Any, *dims: Any) -> Any:
    """The order along dimensions reversed."""
    axes = {one_dim(d, len(self.shape)) for d in sizes_of(dims)}
    spec, operands = [], []
    for k, n in enumerate(self.shape):
        spec.append(("s", -1) if k in axes else ":")
        operands += [n - 1, n] if k in axes else []
    return run(op["index"], self, *operands, spec=tuple(spec), at=0, label="FlipBackward0") if self._a.size else self.clone()


FUNCTIONS["fliplr"] = Tensor.fliplr = lambda self: flip(self, 1)                              # type: ignore[attr-defined]
FUNCTIONS["flipud"] = Tensor.flipud = lambda self: flip(self, 0)                              # type: ignore[attr-defined]


@function()
def roll(self: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved around along dimensions."""
    if dims is None:
        return reshape(roll(reshape(self, -1), shifts, 0), *self.shape)
    for shift, d in zip(shifts if isinstance(shifts, (tuple, list)) else (shifts,), dims if isinstance(dims, (tuple, list)) else (dims,)):
        ax = one_dim(d, len(self.shape))
        self = index_select(self, ax, np.roll(np.arange(self.shape[ax]), shift))
    return named(self, "RollBackward0")


@function(only_method=True)
def repeat(self: Tensor, *sizes: Any) -> Tensor:
    """The tensor repeated along its dimensions."""
    size = sizes_of(sizes)
    if len(size) < self._a.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return composites.repeat(self, sizes=size)


@function()
def tile(self: Any, *dims: Any) -> Any:
    """The tensor repeated along its last dimensions."""
    size = sizes_of(dims)
    return self.repeat(*(1,) * (len(self.shape) - len(size)), *size)


@function()
def repeat_interleave(self: Any, repeats: Any, dim: Any = None) -> Any:
    """Each element repeated."""
    x, ax = (reshape(self, -1), 0) if dim is None else (self, one_dim(dim, len(self.shape)))
    return index_select(x, ax, np.repeat(np.arange(x.shape[ax]), raw(repeats)))


def _triangle(name: str, keep: Callable) -> Callable:
    def call(self: Any, diagonal: int = 0) -> Any:
        rows, columns = np.ogrid[:self.shape[-2], :self.shape[-1]]
        left_out = ~np.broadcast_to(keep(columns - rows, diagonal), self.shape)
        return composites.masked_fill(self, left_out, 0.0 if self.dtype.kind in "fc" else 0, label=f"{name.capitalize()}Backward0")
    call.__name__, call.__doc__ = name, f"The {'lower' if name == 'tril' else 'upper'} triangle; zeros elsewhere."
    return call


function("tril", changing=True)(_triangle("tril", lambda d, k: d <= k))
function("triu", changing=True)(_triangle("triu", lambda d, k: d >= k))


@function()
def diag_embed(self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last dimension's elements on a diagonal."""
    n = self.shape[-1] + abs(offset)
    rows, columns = np.arange(self.shape[-1]) + max(0, -offset), np.arange(self.shape[-1]) + max(0, offset)
    zeros = np.zeros((*self.shape[:-1], n, n), self.dtype)
    lead = len(self.shape) - 1
    y = named(op["update"](zeros, self, rows, columns, spec=(":",) * lead + ("a", "a"), at=lead, unique=True), "DiagEmbedBackward0")
    return y if (dim1, dim2) == (-2, -1) else movedim(y, (-2, -1), (dim1, dim2))


@function()
def diag(self: Any, diagonal: int = 0) -> Any:
    """A vector on a diagonal of a matrix, or a matrix' diagonal."""
    return diag_embed(self, diagonal) if len(self.shape) == 1 else self.diagonal(diagonal).clone()


@function()
def diff(self: Any, n: int = 1, dim: int = -1) -> Any:
    """Differences of neighbours along a dimension."""
    for _ in range(n):
        m = self.shape[dim]
        self = self.narrow(dim, 1, m - 1) - self.narrow(dim, 0, m - 1)
    return self


@function(method=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Vectors spread over a grid."""
    xs = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shape = [x.shape[0] for x in xs]
    grids = tuple([x.reshape([-1 if k == j else 1 for j in range(len(xs))]).expand(*shape) for k, x in enumerate(xs)])
    return tuple([g.transpose(0, 1) for g in grids]) if indexing == "xy" else grids


# -- changes of values ----------------------------------------------------------------------------------------------------------


@function(only_method=True)
def fill_(self: Tensor, value: Any) -> Tensor:
    """Every element set to a value, in place."""
    return fill(self, value, "FillBackward0")


@function(only_method=True)
def zero_(self: Tensor) -> Tensor:
    """Every element set to zero, in place."""
    return fill(self, 0, "ZeroBackward0")


@function(only_method=True)
def fill_diagonal_(self: Tensor, value: Any) -> Tensor:
    """The diagonal set to a value, in place."""
    self.diagonal().fill_(value)                                                                # type: ignore[attr-defined]
    return self


@function()
def numel(self: Any) -> int:
    """How many elements there are."""
    return int(np.prod(self.shape, dtype=int))


@function(only_method=True)
def size(self: Tensor, dim: "int | None" = None) -> Any:
    """The shape, or one of its sizes."""
    return Size(self._a.shape) if dim is None else self._a.shape[dim]


Tensor.nelement, Tensor.dim, Tensor.ndimension = numel, lambda self: self._a.ndim, lambda self: self._a.ndim           # type: ignore[attr-defined]
Tensor.element_size = lambda self: self._a.itemsize                                              # type: ignore[attr-defined]
__all__ = ["BY_NAME", "in_place", "_completed"]
