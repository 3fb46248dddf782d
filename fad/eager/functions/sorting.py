"""Sorting along a dimension, order statistics, scans, what occurs how often: values have a history, indices none."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..graph.inplace import requires_grad, wanted
from ..graph.node import Undifferentiable
from ..graph.record import edge
from ..graph.single_node import own_copy, together
from ..tensors.errors import override, refuse_if, scalar_name
from ..tensors.state import now
from ..tensors.tensor import Tensor, raw, wrap
from .composite import Composite
from .joining import stack
from .reductions import Extreme, _shared, _take, extremes, in_dtype, summed
from .registry import define, delivered, function, named, one_dim, run
from .selections import foremost, in_order


def on_vectors(f: Callable) -> Callable:
    """f(self, ...) along a dimension; a tensor without dimensions counts as a vector of one, and so do its results."""
    @functools.wraps(f)
    def call(self: Tensor, *args: object, **kwargs: object) -> tuple:
        if len(self.shape):
            return f(self, *args, **kwargs)
        y = f(op["reshape"](self, 1), *args, **kwargs)
        return Extreme(*[op["reshape"](part) for part in y]) if isinstance(y, tuple) else op["reshape"](y)
    return call


def _real(x: Tensor, name: str) -> None:
    refuse_if(x.dtype.kind == "c", f" {name} does not support complex dtypes on CPU")


@function()
def sort(self: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple:
    """(values, indices), sorted along a dimension; equal elements stay in their order."""
    order = argsort(self, dim, descending)
    return Extreme(_at(in_order, self, order, dim), order)


@function()
def argsort(self: AnyArray, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that sort along a dimension; equal elements stay in their order."""
    if not isinstance(self, Tensor):
        ax = one_dim(dim, len(self.shape))
        if not len(self.shape):
            return op["reshape"](argsort(op["reshape"](self, 1), dim, descending))
        return override("numpy.argsort", op["neg"](self) if descending else self, axis=ax)
    a = self._a
    ax = one_dim(dim, a.ndim)
    if a.dtype.kind in "bc":
        _real(self, "Sort")
        a = a.astype(np.int8)
    if not a.ndim:
        return wrap(np.zeros((), np.int64))
    if not descending:
        return wrap(a.argsort(ax, "stable"))
    flipped = (slice(None),) * ax + (slice(None, None, -1),)
    return wrap((a.shape[ax] - 1 - a[flipped].argsort(ax, "stable"))[flipped].copy())


@function()
def topk(self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple:
    """(values, indices) of the k largest (or smallest) elements along a dimension."""
    ax = one_dim(dim, len(self.shape))
    refuse_if(isinstance(k, bool), "topk(): argument 'k' must be int, not bool", TypeError)
    refuse_if(not 0 <= k <= (self.shape[ax] if len(self.shape) else 1), "selected index k out of range")
    order = argsort(self, ax, descending=largest)
    if len(self.shape):
        order = wrap(order._a[(slice(None),) * ax + (slice(0, k),)])
    return Extreme(_at(foremost, self, order, ax), order)


def _at(step: Composite, x: AnyArray, order: AnyArray, dim: int) -> AnyArray:
    """x in another order along a dimension, as a step."""
    if x._a.dtype.kind not in "fc":
        return wrap(np.take_along_axis(x._a, order._a, dim) if x._a.ndim else x._a.copy())
    if not x._a.ndim or not order._a.size:
        return together((own_copy(x).gather(dim, order),), step.label, (x,), {"indices": order}, dim=dim)[0]
    return step(x, order, dim=dim if dim >= 0 else dim + x._a.ndim)


def _picked(x: Tensor, places: np.ndarray, ax: int, keepdim: bool) -> tuple:
    """The elements at one place along an axis each."""
    return extremes(_take(x, wrap(places), ax), wrap(places), x, ax, keepdim)


def _medians(name: str, doc: str) -> None:
    def call(self: Tensor, dim: "int | None" = None, keepdim: bool = False) -> Any:
        return _median_of_all(self, name) if dim is None else _median(self, dim, keepdim, name)
    call.__name__, call.__doc__ = name, doc
    function(name, node=(lambda given: f"{name.capitalize()}Backward{int(given['dim'] is not None)}", "self",
                         "self result indices", "dim keepdim"))(call)


_medians("median", "The (lower) median, nan where there is one; along a dimension (values, indices).")
_medians("nanmedian", "The (lower) median of what is not nan; along a dimension (values, indices).")


def _median_of_all(x: Tensor, name: str) -> Tensor:
    """The median of all elements; equal ones share the gradient."""
    if not x._a.size and x._a.dtype.kind in "iu":
        return x.new_full((), np.iinfo(x._a.dtype).min)
    a = np.sort(x._a if name == "median" else x._a[~np.isnan(x._a)], None)                     # nan comes last
    middle = a[(a.size - 1) // 2] if a.size and a[-1] == a[-1] else np.nan
    return _shared(x, (x._a == middle) | (middle != middle) & (x._a != x._a))


@on_vectors
def _median(self: Tensor, dim: int, keepdim: bool, name: str) -> tuple:
    ax = one_dim(dim, len(self.shape))
    refuse_if(not self.shape[ax], f"{name}(): Expected reduction dim {ax} to have non-zero size.", IndexError)
    if self._a.dtype.kind in "bc":
        raise NotImplementedError(f"\"median_out\" not implemented for '{scalar_name(self._a.dtype)}'")
    order, lost = np.argsort(self._a, ax, kind="stable"), np.isnan(self._a)                    # nan comes last
    middle = np.maximum((~lost).sum(ax, keepdims=True) - 1, 0) // 2 if name == "nanmedian" else np.where(
        lost.any(ax, keepdims=True), (~lost).sum(ax, keepdims=True), (self._a.shape[ax] - 1) // 2)
    return _picked(self, np.squeeze(np.take_along_axis(order, middle, ax), ax), ax, keepdim)


# -- what there is, and how often: no derivatives ----------------------------------------------------------------------


@function()
def unique_consecutive(self: Tensor, return_inverse: bool = False, return_counts: bool = False,
                       dim: "int | None" = None) -> Any:
    """The elements (or parts along a dimension) without those that equal the one before."""
    a = self._a.reshape(-1) if dim is None else np.moveaxis(self._a, one_dim(dim, self._a.ndim), 0)
    new = np.ones(len(a), bool)
    if len(a) > 1:
        new[1:] = (a[1:] != a[:-1]).reshape(len(a) - 1, -1).any(1)
    starts = np.nonzero(new)[0]
    values = distinct(self, a[new] if dim is None else np.moveaxis(a[new], 0, dim), "unique_consecutive")
    inverse = wrap((np.cumsum(new) - 1).reshape(self._a.shape if dim is None else (-1,)))
    return _answers(values, inverse if return_inverse else None,
                    wrap(np.diff([*starts, len(a)])) if return_counts else None)


def distinct(x: Tensor, a: np.ndarray, name: str) -> Tensor:
    """The distinct elements a of x: part of the graph, but without a derivative."""
    refuse_if(wanted(x) and not requires_grad(x), f"Trying to use forward AD with {name} that does not support it "
              "because it has not been implemented yet.", NotImplementedError)
    t = wrap(a)
    into = edge(x) if now().grad and not now().inference else None
    if into is not None:
        label = "Unique2" if name == "unique" else name.title().replace("_", "")
        error = NotImplementedError(f"the derivative for '{name}' is not implemented.")
        t._fn, t._rg = Undifferentiable((into,), f"{label}Backward0", error), True
    return t


def _answers(*parts: "Tensor | None") -> "Tensor | tuple":
    given = [p for p in parts if p is not None]
    return given[0] if len(given) == 1 else tuple(given)


@function()
def unique(self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: "int | None" = None) -> Any:
    """The distinct elements (or parts along a dimension); no nan equals another."""
    if dim is not None:
        dim = one_dim(dim, self._a.ndim)
        if 0 in (*self._a.shape[:dim], *self._a.shape[dim + 1:]):
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    values, inverse, counts = np.unique(self._a, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    inverse = inverse.reshape(self._a.shape if dim is None else (-1,))
    return _answers(distinct(self, values, "unique"), wrap(inverse) if return_inverse else None,
                    wrap(counts) if return_counts else None)


@function(method=False)
def searchsorted(sorted_sequence: Tensor, input: ArrayOrNumber, *, out_int32: bool = False, right: bool = False,
                 side: "str | None" = None, sorter: object = None, out: object = None) -> Tensor:
    """The places where elements would be put in to keep sequences sorted: before equal ones, or (right) after them."""
    refuse_if(side not in (None, "left", "right") or side == "left" and right, "torch.searchsorted(): side can only be "
              f"'left' or 'right', not the opposite of right, but got {side}")
    a, v = raw(sorted_sequence), np.asarray(raw(input))
    way = "right" if right or side == "right" else "left"
    if sorter is not None:
        a = np.take_along_axis(a, raw(sorter), -1)
    refuse_if(a.ndim > 1 and a.shape[:-1] != v.shape[:-1], f"torch.searchsorted(): sequences {list(a.shape)} and "
              f"values {list(v.shape)} should differ in their last dimension alone")
    if a.ndim == 1:
        found = np.asarray(np.searchsorted(a, v, way))
    else:
        found = np.empty(v.shape, np.int64)
        for row in np.ndindex(v.shape[:-1]):
            found[row] = np.searchsorted(a[row], v[row], way)
    return delivered(wrap(found.astype(np.int32 if out_int32 else np.int64)), out, "searchsorted")


@function(method=False)
def bucketize(input: ArrayOrNumber, boundaries: Tensor, *, out_int32: bool = False, right: bool = False,
              out: object = None) -> Tensor:
    """The number of the interval between boundaries in which each element lies."""
    if raw(boundaries).ndim != 1:
        raise RuntimeError(f"torch.bucketize(): boundaries tensor must be 1 dimension, but got "
                           f"dim({raw(boundaries).ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)


@function(method=False)
def isin(elements: Tensor, test_elements: ArrayOrNumber, *, assume_unique: bool = False,
         invert: bool = False) -> Tensor:
    """Whether each element is among the test elements."""
    return wrap(np.asarray(np.isin(raw(elements), raw(test_elements), invert=invert)))


define("cumsum", lambda self, dim, *, dtype=None: _accumulated("cumsum", self, dim, dtype),
       "Sums of the elements up to each place along a dimension.", changing=True)
define("cumprod", lambda self, dim, *, dtype=None: _accumulated("cumprod", self, dim, dtype),
       "Products of the elements up to each place along a dimension.", changing=True)


def _accumulated(name: str, self: Tensor, dim: int, dtype: "np.dtype | None") -> AnyArray:
    ax = one_dim(dim, len(self.shape))
    x, kind = summed(self, dtype)
    y = override(f"numpy.{name}", x, axis=ax) if len(x.shape) else x.clone()
    return in_dtype(named(y, f"{name.capitalize()}Backward0"), kind)


@function()
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """log of the sums of exp of the elements up to each place along a dimension."""
    if not len(self.shape):
        one_dim(dim, 0)
        return self.clone()
    if self.dtype.kind == "c":
        parts = list(self.unbind(dim))
        for k in range(1, len(parts)):
            parts[k] = parts[k - 1].logaddexp(parts[k])
        y = stack(parts, dim) if parts else self.clone()
        return together((y,), "LogcumsumexpBackward0", (self,), {"self": self, "result": y}, dim=dim)[0]
    return run(op["cumlogaddexp"], self, axis=one_dim(dim, len(self.shape)), reverse=False,
               label="LogcumsumexpBackward0")


def _running(self: Tensor, dim: int, better: Callable, label: str) -> tuple:
    """The best element up to each place, the latest of equal ones, and its index."""
    ax = one_dim(dim, len(self.shape))
    if not len(self.shape):
        return Extreme(self.clone(), wrap(np.zeros((), np.int64)))
    a = self._a
    best = better.accumulate(a, ax)
    places = np.arange(a.shape[ax]).reshape([-1 if k == ax else 1 for k in range(a.ndim)])
    index = np.maximum.accumulate(np.where((a == best) | (a != a), places, 0), ax)
    return Extreme(named(self.gather(ax, index), label), wrap(index))


define("cummax", lambda self, dim: _running(self, dim, np.maximum, "CummaxBackward0"),
       "(values, indices) of the largest element up to each place.")
define("cummin", lambda self, dim: _running(self, dim, np.minimum, "CumminBackward0"),
       "(values, indices) of the smallest element up to each place.")
