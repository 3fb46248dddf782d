"""Reductions: one number out of the elements along axes. `axes` is a sorted tuple of non-negative axes; none are kept.

Their trait `reduction` names the op that joins two elements, and its identity. Their derivatives need no division by an
element and no search, so that they hold where elements are zero or equal.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import (
    ANY_WIDENING,
    ORDER_KEPT,
    PRODUCTS_KEPT,
    SUMS_KEPT,
    Reduction,
    Traits,
    greatest,
    least,
    nought,
)
from ..ir.types import BOOL, INT, Type, type_of
from ..util.array import AnyArray, DTypeLike
from . import extents
from .kinds import Explicit, LinearIn, Zero, conjugate, shape_of
from .scan import exclusive_products, own_dtype, sum_dtype


def without(shape: tuple, axes: tuple) -> tuple:
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def put_back(y: AnyArray, x: object, axes: tuple) -> AnyArray:
    """y, whose axes were reduced away, with extent 1 in their places, ready to broadcast against x."""
    return registry["reshape"](y, *[1 if k in axes else n for k, n in enumerate(shape_of(x))])


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    return op(xs[0], axes=tuple(k + 1 for k in params["axes"]))


def reduction(name: str, run: Callable, dtype: Callable, derivative: object, joined: Reduction, samples: tuple,
              doc: str, **traits: Any) -> Op:
    """The record of a reduction along axes."""
    def infer(x: AnyArray, axes: tuple) -> Type:
        if not joined.is_total and 0 in [n for k, n in enumerate(shape_of(x)) if k in axes and isinstance(n, int)]:
            raise ValueError(f"{name} of no elements has no value")
        return Type(dtype(x), without(shape_of(x), axes))
    return Op(name, lambda x, axes: run(x, axis=axes), infer, kind="reduce", derivative=derivative, batch=_batch,
              samples=samples, doc=doc, traits=Traits(reduction=joined, order="first", **traits))


def _sample(*shape: int, axes: tuple, dtype: DTypeLike = float) -> Callable:
    def draw(rng: np.random.Generator) -> tuple:
        x = rng.uniform(0.3, 1.7, shape)
        return (x + 1j * rng.uniform(-1, 1, shape) if dtype is complex else x.astype(dtype),), {"axes": axes}
    return draw


def _with_zeros(count: int) -> Callable:
    """A sample with zeros among its elements, where a product's derivative must not divide."""
    def draw(rng: np.random.Generator) -> tuple:
        x = rng.uniform(0.5, 1.5, (3, 4))
        x.ravel()[rng.choice(12, count, replace=False)] = 0.0
        return (x,), {"axes": (0, 1)}
    return draw


_SAMPLES = (_sample(5, axes=(0,)), _sample(3, 4, axes=(1,)), _sample(2, 3, 4, axes=(0, 2)))
_COMPLEX = (_sample(3, 4, axes=(0,), dtype=complex),)

# -- sum, prod -------------------------------------------------------------------------------------


def _sum_transpose(g: AnyArray, xs: tuple, axes: tuple) -> AnyArray:
    if not shape_of(g):                                       # every element's cotangent is one number
        return registry["full"](g, *shape_of(xs[0]), dtype=type_of(g).dtype) if shape_of(xs[0]) else g
    return registry["broadcast_to"](put_back(g, xs[0], axes), *shape_of(xs[0]))


sum = reduction("sum", np.add.reduce, sum_dtype, LinearIn(_sum_transpose), Reduction("add", nought),
                _SAMPLES + _COMPLEX, "The sum along axes", rounds=True, widens=SUMS_KEPT, stem="total")


def _prod_jvp(ys: tuple, xs: tuple, dxs: tuple, axes: tuple) -> tuple:
    return (sum(dxs[0] * exclusive_products(xs[0], axes), axes=axes),)


def _prod_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple) -> tuple:
    return (put_back(gs[0], xs[0], axes) * conjugate(exclusive_products(xs[0], axes)),)


prod = reduction("prod", np.prod, sum_dtype, Explicit(_prod_jvp, _prod_pullback), Reduction("mul", lambda dtype: 1),
                 _SAMPLES + _COMPLEX + (_with_zeros(1), _with_zeros(2), _with_zeros(3)), "The product along axes",
                 widens=PRODUCTS_KEPT)

# -- max, min: elements equal to the result share its derivative (the subgradient of least norm)


def _winners(x: AnyArray, y: AnyArray, axes: tuple) -> AnyArray:
    """1.0 at the elements that attain the result, in the real dtype of x."""
    real = np.empty(0, type_of(x).dtype).real.dtype
    return registry["cast"](x == put_back(y, x, axes), dtype=real)


def _extreme_jvp(ys: tuple, xs: tuple, dxs: tuple, axes: tuple) -> tuple:
    won = _winners(xs[0], ys[0], axes)
    return (sum(dxs[0] * won, axes=axes) / sum(won, axes=axes),)


def _extreme_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple) -> tuple:
    won = _winners(xs[0], ys[0], axes)
    return (put_back(gs[0] / sum(won, axes=axes), xs[0], axes) * won,)


max = reduction("max", np.max, own_dtype, Explicit(_extreme_jvp, _extreme_pullback),
                Reduction("maximum", least, is_total=False), _SAMPLES,
                "The largest element along axes; nan where there is one", widens=ORDER_KEPT, stem="top")
min = reduction("min", np.min, own_dtype, Explicit(_extreme_jvp, _extreme_pullback),
                Reduction("minimum", greatest, is_total=False), _SAMPLES,
                "The smallest element along axes; nan where there is one", widens=ORDER_KEPT, stem="low")

# -- truth and places ------------------------------------------------------------------------------

any = reduction("any", np.any, lambda x: BOOL, Zero(), Reduction("logical_or", lambda dtype: False), _SAMPLES,
                "Whether any element along axes is true", widens=ANY_WIDENING)
all = reduction("all", np.all, lambda x: BOOL, Zero(), Reduction("logical_and", lambda dtype: True), _SAMPLES,
                "Whether all elements along axes are true", widens=ANY_WIDENING)


def _infer_place(x: AnyArray, axis: int) -> Type:
    shape = shape_of(x)
    if isinstance(shape[axis], int) and shape[axis] == 0:
        raise ValueError("attempt to get the place of the largest or smallest of no elements")
    return Type(INT, without(shape, (axis,)))


def _batch_place(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return op(xs[0], axis=params["axis"] + 1)


def _place(name: str, run: Callable, doc: str) -> Op:
    return Op(name, lambda x, axis: run(x, axis=axis), _infer_place, kind="place", derivative=Zero(),
              batch=_batch_place, doc=doc, traits=Traits(widens=ORDER_KEPT, places=0),
              samples=(lambda rng: ((rng.uniform(0.3, 1.7, (3, 4)),), {"axis": 1}),))


argmax = _place("argmax", np.argmax, "The index of the (first) largest element along one axis")
argmin = _place("argmin", np.argmin, "The index of the (first) smallest element along one axis")


def nonempty(x: AnyArray, axes: tuple) -> bool:
    """Whether there is surely an element along these axes."""
    shape = shape_of(x)
    return not [k for k in axes if not extents.assume_at_least(shape[k], 1)]
