"""Reductions of what is scattered to the same place."""
import numpy as np

from .gathering import _along
from .indexing import getitem
from .joining import cat
from .reductions import in_dtype
from .registry import function, one_dim
from .shapes import reshape
from .tensor import Tensor, raw, wrap
from .together import step

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
    """self with src reduced ("sum", "prod", "mean", "amax", "amin") into the places at the indices along a
    dimension."""
    if reduce not in _NEUTRAL:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    i = raw(index)
    if not i.size:
        return self.clone()
    part = getitem(src, tuple([slice(0, n) for n in i.shape])) if src.shape != i.shape else src
    places = np.ravel_multi_index(_along(i, one_dim(dim, len(self.shape))),
                                  self.shape).reshape(-1) if self.shape else np.zeros(i.size, np.int64)
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
