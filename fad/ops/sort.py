"""Sorting along the last axis, and finding places in sorted arrays.

A sorted array is a permutation of the original, so the derivative of sorting permutes the tangent, and its transpose
undoes this for the cotangent. The sort is stable: equal elements keep their order, which decides whose derivative is
whose.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import ORDER_KEPT, Traits
from ..ir.types import INT, Type, type_of
from ..util.array import AnyArray
from .kinds import AddInto, Explicit, Zero, shape_of


def rows_and(order: AnyArray) -> tuple:
    """Index arrays that go with one along the last axis, so that together they pick order[..., k] from each row."""
    shape = shape_of(order)
    rows = []
    for k, m in enumerate(shape[:-1]):
        along = registry["reshape"](registry["iota"](m, dtype=INT), *[m if j == k else 1 for j in range(len(shape))])
        rows.append(registry["broadcast_to"](along, *shape))
    return (*rows, order)


def picked(x: object, order: AnyArray) -> AnyArray:
    """numpy.take_along_axis(x, order, -1), for indices in range."""
    return registry["index"](x, *rows_and(order), spec=("a",) * len(shape_of(x)), at=0)


def put_back(g: AnyArray, order: AnyArray) -> AddInto:
    """The cotangent of x, given that of picked(x, order)."""
    spec = ("a",) * len(shape_of(g))
    return AddInto(lambda total: registry["index_add"](total, g, *rows_and(order), spec=spec, at=0),
                   lambda: registry["nothing_like"](g))


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return op(*xs)


def _sample(*shape: int) -> Callable:
    return lambda rng: ((rng.permutation(int(np.prod(shape))).reshape(shape) / 7.0,), {})


def _sort_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    return (picked(dxs[0], argsort(xs[0])),)


def _sort_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    return (put_back(gs[0], argsort(xs[0])),)


argsort = Op("argsort", lambda x: np.argsort(x, -1, kind="stable"), lambda x: Type(INT, shape_of(x)), kind="opaque",
             kernel="sorting.argsort", kernel_params=(), derivative=Zero(), batch=_batch,
             samples=(_sample(5), _sample(3, 4)),
             doc="The indices that sort x along its last axis, those of equal elements in their order; nan last",
             traits=Traits(widens=ORDER_KEPT, places=0))
sort = Op("sort", lambda x: np.sort(x, -1), lambda x: Type(type_of(x).dtype, shape_of(x)), kind="opaque",
          expand=lambda x: picked(x, argsort(x)), derivative=Explicit(_sort_jvp, _sort_pullback), batch=_batch,
          samples=(_sample(5), _sample(3, 4), _sample(2, 3, 4)), doc="x sorted along its last axis; nan last",
          traits=Traits(widens=ORDER_KEPT, rowwise=True))

# -- places in a sorted array ----------------------------------------------------------------------


def _batch_search(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return NotImplemented if batched[0] else op(*xs, **params)


def _search_sample(*shape: int) -> Callable:
    return lambda rng: ((np.sort(rng.standard_normal(6)), rng.standard_normal(shape)[()]), {"right": False})


searchsorted = Op("searchsorted", lambda a, v, right: np.searchsorted(a, v, "right" if right else "left"),
                  lambda a, v, right: Type(INT, shape_of(v)), kind="opaque", kernel="sorting.searchsorted",
                  kernel_params=("right",), derivative=Zero(), batch=_batch_search,
                  samples=(_search_sample(2, 3), _search_sample()),
                  doc="For each element of v where it would stand in the sorted vector a: before its equals, or behind "
                      "them (right)", traits=Traits(places=1))
