"""Parts of tensors selected by arrays of indices, and written there."""
import math

import numpy as np

from ..util.array import AnyArray
from .errors import refuse_if, scalar_name
from .indexing import getitem
from .joining import cat
from .picked import all_below, gathered
from .reductions import in_dtype
from .registry import function, named, one_dim
from .shapes import reshape
from .tensor import Tensor, raw, wrap
from .together import step, together


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


@function()
@step("TakeBackward0", "self", "self index")
def take(self: Tensor, index: AnyArray) -> Tensor:
    """Elements by their places in row-major order."""
    i, count = raw(index), math.prod(self.shape)
    if i.dtype.kind not in "iu":
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {scalar_name(i.dtype)}")
    bad = i[(i < -count) | (i >= count)]
    if bad.size:
        raise IndexError(f"out of range: tried to access index {bad[0]} on a tensor of {count} elements.")
    return getitem(reshape(self, -1), raw(index))


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


@function(changing=True)
@step("ScatterReduceBackward0", "self src", "self index src result", "dim reduce include_self")
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


@function(changing=True)
@step("IndexReduceBackward0", "self source", "self index source result", "dim reduce include_self")
def index_reduce(self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True) -> Tensor:
    """self with source's parts reduced ("prod", "mean", "amax", "amin") into the parts at these indices."""
    ax = one_dim(dim, len(self.shape))
    wide = raw(index).reshape([-1 if k == ax else 1 for k in range(len(source.shape))])
    return scatter_reduce(self, dim, wrap(np.broadcast_to(wide, source.shape)), source, reduce,
                          include_self=include_self)
