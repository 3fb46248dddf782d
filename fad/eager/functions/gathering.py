"""Parts of tensors selected by arrays of indices, and written there."""
import math

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..graph.inplace import number
from ..graph.single_node import step, together
from ..tensors.dtypes import fitting
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.promotion import agree
from ..tensors.tensor import Tensor, raw, wrap
from .indexing import getitem
from .joining import cat
from .reductions import in_dtype
from .registry import FUNCTIONS, function, named, one_dim
from .selections import all_below, gathered, parts, scattered
from .shapes import broadcast_shapes, reshape


@function()
def gather(self: AnyArray, dim: int, index: AnyArray, *, sparse_grad: bool = False) -> AnyArray:
    """self[i][index[i, j]][j] along a dimension."""
    if not isinstance(self, Tensor):
        return getitem(self, _along(_index("gather", self, dim, index), one_dim(dim, len(self.shape))))
    i = _index("gather", self, dim, index)
    shape = self._a.shape
    if i.size and i.ndim and shape:
        y = gathered(self, index if isinstance(index, Tensor) else wrap(i), dim=dim if dim >= 0 else dim + len(shape))
        return named(y, "GatherBackward0", sparse_grad=True) if sparse_grad else y
    if i.size:                                          # one element is like a row of one
        y = gather(reshape(self, *(shape or (1,))), dim, wrap(i.reshape(i.shape or (1,) * len(shape) or (1,))))
    else:
        y = getitem(reshape(self, -1), slice(0, 0))
    return together((reshape(y, *i.shape),), "GatherBackward0", (self,), {"self": self, "index": index}, dim=dim)[0]


def _along(index: np.ndarray, ax: int) -> tuple:
    places = list(np.ix_(*[np.arange(n) for n in index.shape]))
    places[ax] = index
    return tuple([np.broadcast_to(p, index.shape) for p in places])


@function()
def take_along_dim(self: AnyArray, indices: AnyArray, dim: "int | None" = None) -> AnyArray:
    """self[i][indices[i, j]][j] along a dimension, the others broadcast; of the flattened tensor without a dimension.

    >>> import fad
    >>> x = fad.tensor([[3.0, 1.0], [2.0, 4.0]])
    >>> fad.take_along_dim(x, x.argsort(dim=1), dim=1)
    tensor([[1., 3.],
            [2., 4.]])
    """
    i = raw(indices)
    refuse_if(i.dtype != np.int64, "torch.take_along_dim(): dtype of indices should be Long but got "
              f"{scalar_name(i.dtype)}")
    if dim is None:
        return gather(reshape(self, -1), 0, i.reshape(-1))
    n = len(self.shape)
    refuse_if(i.ndim != n, "torch.take_along_dim(): input and indices should have the same number of dimensions, but "
              f"got {n} dimensions for input, and {i.ndim} dimensions for indices")
    ax = one_dim(dim, n)
    shape = broadcast_shapes(*[(*s[:ax], 1, *s[ax + 1:]) for s in (tuple(self.shape), i.shape)])
    x, i = (op["broadcast_to"](v, *shape[:ax], *v.shape[ax:ax + 1], *shape[ax + 1:]) for v in (self, i))
    return gather(x, ax, i)


def _selection(x: Tensor, key: tuple) -> tuple:
    """The operands and parameters of a selection by index arrays (one an axis, from the first)."""
    return key, {"spec": ("a",) * len(key) + (":",) * (len(x.shape) - len(key)), "at": 0}


def _scatter_name(given: dict) -> str:
    return ("ScatterReduceBackward0" if given["reduce"] else "ScatterBackward0" if isinstance(given["src"], Tensor)
            else "ScatterBackward1")


@function(changing=True, node=(_scatter_name, "self src", "index", "dim"))
def scatter(self: Tensor, dim: int, index: Tensor, src: "ArrayOrNumber | None" = None, *, value: object = None,
            reduce: "str | None" = None) -> Tensor:
    """self with src written at indices along a dimension, or combined with what is there ("add", "multiply")."""
    i = _index("scatter", self, dim, index)
    part = fitting(number(value, "scatter", "value") if src is None else src, self.dtype)
    if not len(self.shape):
        return reshape(scatter(reshape(self, 1), 0, wrap(i.reshape(-1)),
                               reshape(part, 1) if isinstance(part, Tensor) else part, reduce=reduce), ())
    operands, params = _selection(self, _along(i, one_dim(dim, len(self.shape))))
    refuse_if(reduce not in (None, "add", "multiply"), "reduce argument must be either add or multiply.")
    if isinstance(part, Tensor):
        refuse_if(part.dtype != self.dtype, "scatter(): Expected self.dtype to be equal to src.dtype")
        if any(n > m for n, m in zip(i.shape, part.shape)):
            raise RuntimeError(f"Expected index {list(i.shape)} to be no larger than src {list(part.shape)}")
        part = getitem(part, tuple([slice(0, n) for n in i.shape])) if part.shape != i.shape else part
    if reduce == "add":
        return op["index_add"](self, part, *operands, **params)
    if reduce == "multiply":
        part = part if isinstance(part, Tensor) else wrap(np.full(i.shape, part, self.dtype))
        return self.scatter_reduce(dim, wrap(i), part, "prod")
    return op["update"](self, part, *operands, **params)


def _index(name: str, x: Tensor, dim: int, index: AnyArray) -> np.ndarray:
    """The indices of gather and its kin, checked against what they select from."""
    i = raw(index)
    refuse_if(i.dtype.kind not in "iu", f"{name}(): Expected dtype int32/int64 for index")
    shape = x._a.shape if isinstance(x, Tensor) else x.shape
    if i.size and max(i.ndim, 1) != max(len(shape), 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as "
                           + ("input" if name == "gather" else "self") + " tensor")
    ax = one_dim(dim, len(shape))
    if name == "gather" and (i.shape[:ax] != shape[:ax] or i.shape[ax + 1:] != shape[ax + 1:]) and any(
            n > m for k, (n, m) in enumerate(zip(i.shape, shape)) if k != ax):
        raise RuntimeError("Size does not match at dimension "
                           f"{next(k for k, (n, m) in enumerate(zip(i.shape, x.shape)) if n > m and k != ax)} expected "
                           f"index {list(i.shape)} to be no larger than self {list(x.shape)} apart from dimension {ax}")
    n = shape[ax] if shape else 1
    if i.size and not all_below(i, n):
        raise RuntimeError(f"index {i[(i < 0) | (i >= n)].flat[0]} is out of bounds for dimension {ax} with size {n}")
    return i


@function(changing=True)
def scatter_add(self: Tensor, dim: int, index: Tensor, src: Tensor) -> AnyArray:
    """self with src added at the indices along a dimension."""
    i = _index("scatter", self, dim, index)
    if (i.size and i.ndim and isinstance(self, Tensor) and isinstance(src, Tensor) and src._a.shape == i.shape
            and src._a.dtype is self._a.dtype):
        return scattered(self, src, index if isinstance(index, Tensor) else wrap(i), dim=dim % i.ndim)
    return _scatter_added(self, dim, index, src)


@step("ScatterAddBackward0", "self src", "index", "dim")
def _scatter_added(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return scatter(self, dim, index, src, reduce="add")


@function()
def index_select(self: Tensor, dim: int, index: AnyArray) -> AnyArray:
    """The parts at these indices along a dimension."""
    ax, i = one_dim(dim, len(self.shape)), raw(index)
    refuse_if(i.ndim > 1, "index_select(): Index is supposed to be a vector", IndexError)
    refuse_if(i.dtype.kind not in "iu", "index_select(): Expected dtype int32 or int64 for index")
    shape = self.shape or (1,)
    refuse_if(i.size and not all_below(i, shape[ax]), "index out of range in self", IndexError)
    if isinstance(self, Tensor) and i.ndim and self.shape:
        return parts(self, index if isinstance(index, Tensor) else wrap(i), dim=ax)
    y = getitem(reshape(self, *shape), (slice(None),) * ax + (np.atleast_1d(i),))
    y = y if self.shape else reshape(y, ())
    return together((y,), "IndexSelectBackward0", (self,), {"self": self, "index": index}, dim=ax)[0]


def _written(name: str, x: Tensor, part: ArrayOrNumber, dim: int, index: Tensor) -> Tensor:
    """x with a part written (or added) at indices along a dimension, by the op of this name."""
    ax = one_dim(dim, len(x.shape))
    return op[name](x, part, raw(index), spec=tuple("a" if k == ax else ":" for k in range(len(x.shape))), at=ax)


@function(changing=True, node=("IndexAddBackward0", "self source", "index source", "dim alpha"))
def index_add(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: int = 1) -> Tensor:
    """self with source added to the parts at these indices."""
    ax, count = one_dim(dim, len(self.shape)), raw(index).size
    agree("index_add_(): self ({}) and source ({}) must have the same scalar type", self, source)
    _part_each(RuntimeError, "index_add_", self, ax, count, source)
    return _written("index_add", self, source if alpha == 1 else source * fitting(alpha, self.dtype), dim, index)


@function(changing=True, node=("IndexCopyBackward0", "self source", "index source", "dim"))
def index_copy(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """self with the parts at these indices replaced by source."""
    agree("index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}", self,
          source)
    _part_each(IndexError, "index_copy_", self, one_dim(dim, len(self.shape)), raw(index).size, source)
    return _written("update", self, source, dim, index)


def _part_each(error: type, name: str, x: Tensor, ax: int, count: int, source: Tensor) -> None:
    """Raise unless there is a part of the source for each of so many indices."""
    wanted = (*x.shape[:ax], count, *x.shape[ax + 1:]) if len(x.shape) else tuple(source.shape)
    alone = error is IndexError and count == 1 and not len(source.shape)
    if tuple(source.shape) != wanted and not alone:
        raise error(f"{name}(): for {count} indices along dimension {ax} source should have the shape {list(wanted)}, "
                    f"but has {list(source.shape)}")


@function(changing=True, node=(lambda given: f"IndexFillBackward{int(isinstance(given['value'], Tensor))}",
                               "self value", "index", "dim"))
def index_fill(self: Tensor, dim: int, index: Tensor, value: ArrayOrNumber) -> Tensor:
    """self with the parts at these indices filled with a value."""
    refuse_if(np.iscomplexobj(raw(value)) and self.dtype.kind != "c",
              "index_fill_(): Converting complex Scalar to non-complex type is not supported")
    return _written("update", self, fitting(value, self.dtype), dim, index)


@function(node=("TakeBackward0", "self", "self index"))
def take(self: Tensor, index: AnyArray) -> Tensor:
    """Elements by their places in row-major order."""
    i, count = raw(index), math.prod(self.shape)
    if i.dtype.kind not in "iu":
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {scalar_name(i.dtype)}")
    bad = i[(i < -count) | (i >= count)]
    if bad.size:
        raise IndexError(f"out of range: tried to access index {bad[0]} on a tensor of {count} elements.")
    return getitem(reshape(self, -1), raw(index))


@function(node=("MaskedSelectBackward0", "self", "self mask"))
def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension."""
    refuse_if(raw(mask).dtype.kind != "b", "masked_select: expected BoolTensor for mask")
    x, m = np.broadcast_arrays(self._a, raw(mask))
    return getitem(reshape(self.expand(*x.shape), -1), m.reshape(-1))


@function()
def repeat_interleave(self: Tensor, repeats: "ArrayOrNumber | None" = None, dim: "int | None" = None, *,
                      output_size: "int | None" = None) -> Tensor:
    """Each element repeated; of a tensor alone: each index so often as the tensor says."""
    if repeats is None:
        refuse_if(len(self.shape) != 1, "repeat_interleave only accept 1D vector as repeat")
        refuse_if(raw(self).size and raw(self).min() < 0, "repeats can not be negative")
        return wrap(np.repeat(np.arange(self.shape[0]), raw(self)))
    times = np.asarray(raw(repeats))
    if times.dtype.kind not in "iu":
        raise NotImplementedError(f'"repeat_interleave_cpu" not implemented for \'{scalar_name(times.dtype)}\'')
    if (times < 0).any():
        raise RuntimeError("repeats can not be negative" if times.ndim else "Repeats must be non-negative")
    x, ax = (reshape(self, -1), 0) if dim is None else (self, one_dim(dim, len(self.shape)))
    if times.ndim and times.size not in (1, x.shape[ax]):
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{times.size} and input.size(0) = {x.shape[ax]}")
    if not times.ndim and isinstance(self, Tensor):
        shape = tuple(x.shape)
        wide = x.unsqueeze(ax + 1).expand(*shape[:ax + 1], int(times), *shape[ax + 1:])
        wide = wide.clone(memory_format=FUNCTIONS["contiguous_format"])
        return reshape(wide, *shape[:ax], shape[ax] * int(times), *shape[ax + 1:])
    return index_select(x, ax, np.repeat(np.arange(x.shape[ax]), times))


@function(changing=True, node=("MaskedScatterBackward0", "self source", "mask source"))
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """self with the elements where the mask holds replaced by source's, in order."""
    agree("masked_scatter: expected self and source to have same dtypes but got{} and {}", self, source)
    if raw(mask).dtype.kind != "b":
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype "
                           f"{scalar_name(raw(mask).dtype)}")
    shape = np.broadcast_shapes(tuple(self.shape), raw(mask).shape)
    self = self if shape == tuple(self.shape) else self.expand(*shape)
    places = np.nonzero(np.broadcast_to(raw(mask), shape))
    refuse_if(source.numel() < len(places[0]), "Number of elements of source < number of ones in mask")
    operands, params = _selection(self, places)
    return op["update"](self, getitem(reshape(source, -1), slice(0, len(places[0]))), *operands, **params)


# -- reductions of what is scattered to the same place -----------------------------------------------------------------

_NEUTRAL = {"sum": 0.0, "prod": 1.0, "mean": 0.0, "amax": -np.inf, "amin": np.inf}


def _members(places: np.ndarray, count: int, include: bool) -> np.ndarray:
    """For each of `count` targets a row of what is reduced there: its own number (if included), count + k for each k
    with places[k] = target, and count + len(places) where a row is shorter than the longest."""
    size = np.bincount(places, minlength=count)
    rows = np.full((count, int(size.max(initial=0)) + 1), count + places.size)
    # a target nothing goes to keeps its value
    rows[:, 0] = np.where(include | (size == 0), np.arange(count), count + places.size)
    order = np.argsort(places, kind="stable")
    rank = np.arange(places.size) - np.repeat(np.cumsum(size) - size, size)
    rows[places[order], 1 + rank] = count + order
    return rows


@function(changing=True, node=("ScatterReduceBackward0", "self src", "self index src result",
                               "dim reduce include_self"))
def scatter_reduce(self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True) -> Tensor:
    """self with src reduced ("sum", "prod", "mean", "amax", "amin") into the places at indices along a dimension."""
    refuse_if(reduce not in _NEUTRAL, f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    i = raw(index)
    if not i.size:
        return self.clone()
    part = getitem(src, tuple([slice(0, n) for n in i.shape])) if src.shape != i.shape else src
    places = (np.ravel_multi_index(_along(i, one_dim(dim, len(self.shape))), self.shape).reshape(-1)
              if self.shape else np.zeros(i.size, np.int64))
    whole = self.dtype.kind not in "fc"
    neutral = wrap(np.asarray([_limits(self.dtype).get(reduce, _NEUTRAL[reduce])]).astype(self.dtype))
    rows = _members(places, int(np.prod(self.shape, dtype=int)), include_self)
    members = getitem(cat([reshape(self, -1), reshape(part, -1), neutral]), rows)
    if reduce == "mean":
        counts = (rows < rows.shape[0] + places.size).sum(1)
        y = members.sum(1)
        y = y.floor_divide(wrap(counts)) if whole else y / wrap(counts.astype(self.dtype))
    else:
        y = getattr(members, reduce)(1)
    return reshape(in_dtype(y, self.dtype), *self.shape)


def _limits(dtype: np.dtype) -> dict:
    """The least and the greatest of numbers that have no infinities."""
    if dtype.kind == "b":
        return {"amax": False, "amin": True}
    return {"amax": np.iinfo(dtype).min, "amin": np.iinfo(dtype).max} if dtype.kind in "iu" else {}


@function(changing=True, node=("IndexReduceBackward0", "self source", "self index source result",
                               "dim reduce include_self"))
def index_reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True) -> Tensor:
    """self with source's parts reduced ("prod", "mean", "amax", "amin") into the parts at these indices."""
    ax = one_dim(dim, len(self.shape))
    wide = raw(index).reshape([-1 if k == ax else 1 for k in range(len(source.shape))])
    return scatter_reduce(self, dim, wrap(np.broadcast_to(wide, source.shape)), source, reduce,
                          include_self=include_self)
