"""Sorting along one axis, and finding places in sorted arrays.

A sorted array is a permutation of the original, so the derivative of sorting permutes, and its transpose permutes back: nothing
is scattered. Equal elements keep their order (the sort is stable), which decides whose derivative is whose.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ir.types import INT, Type, type_of
from .batching import batch_extent, spread_batch
from .kinds import Explicit, Linear, Zero, shape_of


def _infer_same(x: Any, *others: Any, axis: int) -> Type:
    return Type(type_of(x).dtype, shape_of(x))


def _infer_order(x: Any, axis: int) -> Type:
    return Type(INT, shape_of(x))


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    n = batch_extent(xs, batched)
    return op(*[spread_batch(x, n, b) for x, b in zip(xs, batched)], axis=params["axis"] + 1)


def _sample(*shape: int, axis: int, dtype: Any = float) -> Callable:
    return lambda rng: ((rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype) / 7,), {"axis": axis})


_SAMPLES = (_sample(5, axis=0), _sample(3, 4, axis=1), _sample(3, 4, 2, axis=0))


def _record(name: str, run: Callable, infer: Callable, derivative: Any, samples: tuple, doc: str) -> Op:
    return Op(name, run, infer, kind="opaque", kernel=f"sorting.{name}", kernel_params=("axis",), derivative=derivative, batch=_batch,
              samples=samples, doc=doc)


argsort = _record("argsort", lambda x, axis: np.argsort(x, axis, kind="stable"), _infer_order, Zero(), _SAMPLES,
                  "The indices that sort x along one axis, those of equal elements in their order; nan last")


def _run_invert(order: Any, axis: int) -> Any:
    inverse = np.empty(order.shape, order.dtype)
    places = np.arange(order.shape[axis]).reshape([-1 if k == axis else 1 for k in range(order.ndim)])
    np.put_along_axis(inverse, order, np.broadcast_to(places, order.shape), axis)
    return inverse


def _order_sample(rng: Any) -> tuple:
    return (np.argsort(rng.standard_normal((3, 4)), axis=1),), {"axis": 1}


def _permute_sample(rng: Any) -> tuple:
    return (rng.standard_normal((3, 4)), np.argsort(rng.standard_normal((3, 4)), axis=1)), {"axis": 1}


invert_order = _record("invert_order", _run_invert, _infer_order, Zero(), (_order_sample,), "The inverses of the permutations along one axis")
permute = _record("permute", lambda x, order, axis: np.take_along_axis(x, order, axis), _infer_same,
                  Linear(lambda g, xs, axis: permute(g, invert_order(xs[1], axis=axis), axis=axis), args=(0,)), (_permute_sample,),
                  "x[order] along one axis, where order holds permutations of the indices there")


def _sort_jvp(ys: tuple, xs: tuple, dxs: tuple, axis: int) -> tuple:
    return (permute(dxs[0], argsort(xs[0], axis=axis), axis=axis),)


def _sort_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int) -> tuple:
    return (permute(gs[0], invert_order(argsort(xs[0], axis=axis), axis=axis), axis=axis),)


sort = _record("sort", lambda x, axis: np.sort(x, axis), _infer_same, Explicit(_sort_jvp, _sort_pullback), _SAMPLES,
               "x sorted along one axis; nan last")

# -- places in a sorted array ----------------------------------------------------------------------------------------------------------


def _batch_search(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return NotImplemented if batched[0] else op(*xs, **params)


def _search_sample(rng: Any) -> tuple:
    return (np.sort(rng.standard_normal(6)), rng.standard_normal((2, 3))), {"side": "left"}


searchsorted = Op("searchsorted", lambda a, v, side: np.searchsorted(a, v, side), lambda a, v, side: Type(INT, shape_of(v)), kind="opaque",
                  kernel="sorting.searchsorted", kernel_params=("side",), derivative=Zero(), batch=_batch_search, samples=(_search_sample,),
                  doc="For each element of v where it would stand in the sorted vector a: before (left) or after (right) its equals")
