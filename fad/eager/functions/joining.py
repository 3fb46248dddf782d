"""Joining, splitting and rearranging tensors."""
import math
from collections.abc import Callable, Sequence

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes
from ..graph.inplace import fill
from ..graph.single_node import together
from ..graph.view_kinds import index_view
from ..graph.views import apart
from ..tensors.dtypes import fitting
from ..tensors.errors import override, refuse_if
from ..tensors.promotion import promoted_type
from ..tensors.tensor import Size, Tensor, recount
from . import composites
from .composite import by_short_way
from .registry import define, function, in_precision, named, one_dim, run, sizes_of, tensor_of
from .shapes import movedim


def _elements(name: str, tensors: object) -> list:
    """The tensors of a list of them (arrays too)."""
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    for k, t in enumerate(tensors):
        if isinstance(t, (int, float, complex)):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type(t).__name__}")
    return [tensor_of(t) for t in tensors]


def _alike(all: list, xs: list) -> list:
    """xs in the dtype that all tensors together have."""
    dtypes = [x.dtype for x in all]
    if dtypes.count(dtypes[0]) == len(dtypes):
        return xs
    dtype = promoted_type(*dtypes)
    return [x if x.dtype == dtype else op["cast"](x, dtype=dtype) for x in xs]


@function("cat", "concat", "concatenate", method=False)
def cat(tensors: Sequence, dim: int = 0, *, axis: object = None) -> AnyArray:
    """Tensors one after the other along a dimension."""
    xs = _elements("cat", tensors)
    refuse_if(not xs, "torch.cat(): expected a non-empty list of Tensors", ValueError)
    kept = [x for x in xs if x.shape != (0,)] or xs[:1]
    # what is empty fits everywhere
    ax = one_dim(dim if axis is None else axis, len(kept[0].shape)) if kept[0].shape != (0,) else 0
    return by_short_way(op["concatenate"], tuple(_alike(xs, kept)), {"axis": ax}, "CatBackward0")


@function(method=False)
def stack(tensors: Sequence, dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    xs = _elements("stack", tensors)
    refuse_if(not xs, "stack expects a non-empty TensorList")
    ax = one_dim(dim, len(xs[0].shape) + 1)
    return named(composites.stack(*_alike(xs, xs), axis=ax), "StackBackward0", dim=ax)


Tensor._stack_rows = staticmethod(stack)


def _stacking(name: str, doc: str, *others: str) -> None:
    def call(tensors: Sequence) -> Tensor:
        xs = _elements(name, tensors)
        return in_precision(override(f"numpy.{name}", xs), tuple(xs))
    for one in (name, *others):
        define(one, call, doc, method=False)


_stacking("hstack", "Tensors one beside the other.")
_stacking("vstack", "Tensors one above the other.", "row_stack")


@function()
def flip(self: Tensor, *axes: object, dims: object = None) -> AnyArray:
    """The order along dimensions reversed."""
    refuse_if(dims is None and not axes, 'flip() missing 1 required positional arguments: "dims"', TypeError)
    given = [one_dim(d, len(self.shape)) for d in sizes_of(axes if dims is None else (dims,))]
    for d in given:
        refuse_if(given.count(d) > 1, f"dim {d} appears multiple times in the list of dims")
    spec, operands = [], []
    for k, n in enumerate(self.shape):
        spec.append(("s", -1) if k in given else ":")
        operands += [n - 1, n] if k in given else []
    return (named(run(op["index"], self, *operands, spec=tuple(spec), at=0), "FlipBackward0", dims=tuple(given))
            if self._a.size else self.clone())


def _flipped(name: str, dim: int, what: str) -> None:
    def call(self: Tensor) -> AnyArray:
        refuse_if(len(self.shape) <= dim, f"Input must be >= {dim + 1}-d.")
        return flip(self, dim)
    define(name, call, f"The order of the {what} reversed.")


_flipped("fliplr", 1, "columns")
_flipped("flipud", 0, "rows")


@function(node=("RollBackward0", "self", "", "shifts dims"))
def roll(self: Tensor, shifts: object, dims: Axes = None) -> Tensor:
    """Elements moved around along dimensions."""
    count = 1 if dims is None else np.size(dims)
    if np.size(shifts) != count or not count:
        raise RuntimeError(f"shifts and dimensions must align. shifts: {np.size(shifts)}, dims: {count}")
    return override("numpy.roll", self, shifts, dims)


@function(only_method=True)
def repeat(self: Tensor, *sizes: object) -> Tensor:
    """The tensor repeated along its dimensions."""
    size = sizes_of(sizes)
    if len(size) < self._a.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return apart(composites.repeat(self, sizes=size), (self,))


@function()
def tile(self: Tensor, *dims: object) -> Tensor:
    """The tensor repeated along its last dimensions."""
    size = sizes_of(dims)
    return self.repeat(*(1,) * (len(self.shape) - len(size)), *size)


def _triangle(name: str, keep: Callable) -> None:
    def call(self: Tensor, diagonal: int = 0) -> AnyArray:
        if len(self.shape) < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        rows, columns = np.ogrid[:self.shape[-2], :self.shape[-1]]
        left_out = ~np.broadcast_to(keep(columns - rows, diagonal), self.shape)
        zero = {"b": False, "f": 0.0, "c": 0.0}.get(self.dtype.kind, 0)
        return together((op["where"](left_out, zero, self),), f"{name.capitalize()}Backward0", (self,))[0]
    define(name, call, f"The {'lower' if name == 'tril' else 'upper'} triangle; zeros elsewhere.", changing=True)


_triangle("tril", lambda d, k: d <= k)
_triangle("triu", lambda d, k: d >= k)


@function()
def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> AnyArray:
    """Matrices with the last dimension's elements on a diagonal."""
    if one_dim(dim1, len(self.shape) + 1) == one_dim(dim2, len(self.shape) + 1):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = self.shape[-1] + abs(offset)
    rows, columns = np.arange(self.shape[-1]) + max(0, -offset), np.arange(self.shape[-1]) + max(0, offset)
    zeros = np.zeros((*self.shape[:-1], n, n), self.dtype)
    lead = len(self.shape) - 1
    y = named(op["update"](zeros, self, rows, columns, spec=(":",) * lead + ("a", "a"), at=lead, unique=True),
              "DiagEmbedBackward0")
    if (dim1, dim2) == (-2, -1):
        return y
    return together((movedim(y, (-2, -1), (dim1, dim2)),), "DiagEmbedBackward0", (self,))[0]


@function()
def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A vector on a diagonal of a matrix, or a matrix' diagonal."""
    refuse_if(len(self.shape) not in (1, 2), f"diag(): Supports 1D or 2D tensors. Got {len(self.shape)}D")
    return diag_embed(self, diagonal) if len(self.shape) == 1 else self.diagonal(diagonal).clone()


@function()
def diff(self: Tensor, n: int = 1, dim: int = -1, prepend: "Tensor | None" = None,
         append: "Tensor | None" = None) -> Tensor:
    """Differences of neighbours along a dimension, of what is prepended and appended too."""
    refuse_if(not len(self.shape), "diff expects input to be at least one-dimensional")
    refuse_if(n < 0, f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()
    if prepend is not None or append is not None:
        self = cat([t for t in (prepend, self, append) if t is not None], dim)
    for _ in range(n):
        m = self.shape[dim]
        after, before = self.narrow(dim, min(1, m), max(m - 1, 0)), self.narrow(dim, 0, max(m - 1, 0))
        self = after ^ before if self.dtype.kind == "b" else after - before
    return self


@function(method=False)
def meshgrid(*tensors: object, indexing: str = "ij") -> tuple:
    """Vectors spread over a grid."""
    xs = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in xs:
        refuse_if(len(x.shape) > 1, f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}")
    refuse_if(not xs, "meshgrid expects a non-empty TensorList")
    refuse_if(any(x.dtype != xs[0].dtype for x in xs), "meshgrid expects all tensors to have the same dtype")
    shape = [math.prod(x.shape) for x in xs]
    grids = tuple([x.reshape([-1 if k == j else 1 for j in range(len(xs))]).expand(*shape) for k, x in enumerate(xs)])
    return tuple([g.transpose(0, 1) for g in grids]) if indexing == "xy" and len(xs) > 1 else grids


# -- changes of values -------------------------------------------------------------------------------------------------


@function(only_method=True)
def fill_(self: Tensor, value: ArrayOrNumber) -> Tensor:
    """Every element set to a value, in place."""
    if isinstance(value, Tensor):
        refuse_if(value._a.ndim, f"fill_ only supports 0-dimension value tensor but got tensor with {value._a.ndim} "
                  "dimensions.")
    return fill(self, fitting(value, self._a.dtype), f"FillBackward{2 + isinstance(value, Tensor)}")


define("zero_", lambda self: fill(self, 0, "ZeroBackward0"), "Every element set to zero, in place.", only_method=True)


@function(only_method=True)
def fill_diagonal_(self: Tensor, fill_value: int, wrap: bool = False) -> Tensor:
    """The diagonal set to a value, in place; wrap: begun anew below the square of a tall matrix."""
    refuse_if(len(self.shape) < 2, "dimensions must larger than 1")
    refuse_if(len(self.shape) > 2 and len(set(self.shape)) > 1, "all dimensions of input must be of equal length")
    rows, columns = self.shape[0], self.shape[-1]
    if len(self.shape) > 2:
        self[(np.arange(rows),) * len(self.shape)] = fill_value
        return self
    for start in range(0, rows if wrap else 1, columns + 1):
        self.narrow(0, start, rows - start).diagonal().fill_(fill_value)
    return self


numel = define("numel", lambda self: int(np.prod(self.shape, dtype=int)), "How many elements there are.")
size = define("size", lambda self, dim=None: Size(self._a.shape) if dim is None
              else self._a.shape[one_dim(dim, self._a.ndim)], "The shape, or one of its sizes.", only_method=True)


Tensor.nelement, Tensor.dim, Tensor.ndimension = numel, lambda self: self._a.ndim, lambda self: self._a.ndim
Tensor.element_size = lambda self: self._a.itemsize


@function()
def unbind(self: Tensor, dim: int = 0) -> tuple:
    """The parts along a dimension, one for each index."""
    refuse_if(not len(self.shape), f"Dimension specified as {dim} but tensor has no dimensions", IndexError)
    ax = one_dim(dim, len(self.shape))
    parts = [index_view(self, (slice(None),) * ax + (k,), label="SelectBackward0", creation="multi")
             for k in range(self.shape[ax])]
    return together(tuple(parts), "UnbindBackward0", (self,), dim=dim)


@function()
def split(self: Tensor, split_size: object, dim: int = 0) -> tuple:
    """Stretches of a dimension, of one size or of given sizes."""
    refuse_if(not len(self.shape), "split expects at least a 1-dimensional tensor")
    ax, n = one_dim(dim, len(self.shape)), self.shape[one_dim(dim, len(self.shape))]
    if isinstance(split_size, int):
        refuse_if(split_size < 0, f"split expects split_size be non-negative, but got split_size={split_size}")
        if not split_size and n:
            raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
        sizes = [min(split_size, n - k) for k in range(0, n, max(split_size, 1))] or [0]
    else:
        sizes = list(split_size)
        refuse_if(sum(sizes) != n, f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size "
                  f"at dimension {dim}), but got split_sizes={sizes}")
    starts = np.cumsum([0, *sizes])
    parts = [index_view(self, (slice(None),) * ax + (slice(int(s), int(s) + m),), label="SliceBackward0",
                        creation="multi") for s, m in zip(starts, sizes)]
    return together(tuple(parts), "SplitBackward0" if isinstance(split_size, int) else "SplitWithSizesBackward0",
                    (self,), {"self": self}, dim=dim,
                    **{"split_size" if isinstance(split_size, int) else "split_sizes": split_size})


@function()
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple:
    """The tensor in (at most) this many stretches of a dimension."""
    refuse_if(not len(self.shape), "chunk expects at least a 1-dimensional tensor")
    refuse_if(chunks <= 0, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
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
