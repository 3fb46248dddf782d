"""Scans: running results along one axis, from its first element on, or from its last (`reverse`).

All derivatives here use one op, the linear recurrence h[k] = a[k] h[k-1] + b[k]. Its own derivative is a linear
recurrence, too. So they divide by nothing, hold where elements are zero or equal, and exist to any order.

Facts for the code generator: `first` and `step` are texts with {0}, {1} for the inputs at k and {c} for the result at
k - 1.
"""
from collections.abc import Callable
from itertools import accumulate

import numpy as np

from ..ir.op import Op, registry
from ..ir.traits import NO_WIDENING, ORDER_KEPT, PRODUCTS_KEPT, SUMS_KEPT, Traits, Widening
from ..ir.types import INT, Type, result_dtype, type_of
from ..util.array import AnyArray, DTypeLike
from . import extents
from .batching import batch_extent, spread_batch
from .kinds import Explicit, LinearIn, conjugate, shape_of

# -- the recurrence in NumPy -----------------------------------------------------------------------


def _recurrence(a: AnyArray, b: AnyArray, axis: int, reverse: bool) -> AnyArray:
    dtype = np.result_type(a, b)
    a, b = (np.moveaxis(np.asarray(x), axis, 0) for x in (a, b))
    if reverse:
        a, b = a[::-1], b[::-1]
    h = np.empty(b.shape, dtype)
    if b[:1].size <= 8:  # few and long: Python's numbers are faster than short arrays
        for k in np.ndindex(b.shape[1:]):
            lane = (slice(None), *k)
            h[lane] = _by_numbers(a[lane], b[lane])
    else:
        _by_rows(a, b, h)
    return np.moveaxis(h[::-1] if reverse else h, 0, axis)


def _by_numbers(a: np.ndarray, b: np.ndarray) -> list:
    factors = iter(a.tolist()[1:])
    return list(accumulate(b.tolist(), lambda h, b: next(factors) * h + b))


def _by_rows(a: np.ndarray, b: np.ndarray, h: np.ndarray) -> None:
    if len(h):
        h[0] = b[0]
    for k in range(1, len(h)):
        np.multiply(a[k], h[k - 1], out=h[k])
        h[k] += b[k]


def _flipped(x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    return np.flip(x, axis) if reverse else x


def _accumulating(ufunc: np.ufunc) -> Callable:
    def run(x: AnyArray, axis: int, reverse: bool = False) -> AnyArray:
        dtype = sum_dtype(x) if ufunc in (np.add, np.multiply) else None
        return _flipped(ufunc.accumulate(_flipped(np.asarray(x), axis, reverse), axis, dtype), axis, reverse)
    return run


def sum_dtype(x: AnyArray) -> np.dtype:
    """NumPy adds and multiplies small integers and bools in 64 bits."""
    dtype = type_of(x).dtype
    if dtype.kind in "bi":
        return INT
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def own_dtype(x: AnyArray) -> np.dtype:
    return type_of(x).dtype


# -- neighbours along an axis ----------------------------------------------------------------------


def previous(x: AnyArray, axis: int, reverse: bool, first: object) -> AnyArray:
    """The element before each one in the order of the scan; `first` before the first."""
    n = shape_of(x)[axis]
    edge = _edge(x, axis, first)
    parts = (x, edge) if reverse else (edge, x)
    return registry["slice_axis"](registry["concatenate"](*parts, axis=axis), axis, 1 if reverse else 0, n)


def _edge(x: AnyArray, axis: int, value: object) -> AnyArray:
    shape = tuple(1 if k == axis else n for k, n in enumerate(shape_of(x)))
    return registry["full"](value, *shape, dtype=type_of(x).dtype)


# -- records ---------------------------------------------------------------------------------------


def _batch(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    n = batch_extent(xs, batched)
    return op(*[spread_batch(x, n, b) for x, b in zip(xs, batched)], **{**params, "axis": params["axis"] + 1})


def _sample(*shape: int, arity: int = 1, zeros: int = 0, dtype: DTypeLike = float, **params: object) -> Callable:
    def draw(rng: np.random.Generator) -> tuple:
        xs = [rng.uniform(0.3, 1.7, shape).astype(dtype) for _ in range(arity)]
        xs[0].ravel()[rng.choice(xs[0].size, zeros, replace=False)] = 0.0
        return tuple(x + 1j * rng.uniform(-1, 1, shape) for x in xs) if dtype is complex else tuple(xs), params
    return draw


def scan(name: str, run: Callable, dtype: Callable, derivative: object, first: str, step: str, arity: int = 1,
         samples: tuple = (), doc: str = "", widens: Widening = NO_WIDENING) -> Op:
    """The record of a scan along one axis."""
    def infer(*xs: AnyArray, axis: int, reverse: bool = False) -> Type:
        shape = shape_of(xs[0])
        for x in xs[1:]:
            shape = tuple(extents.agree(m, n, "extents of the arrays to scan")
                          for m, n in zip(shape, shape_of(x), strict=True))
        return Type(dtype(*xs), shape)
    common = (_sample(5, arity=arity, axis=0, reverse=False), _sample(3, 4, arity=arity, axis=1, reverse=True),
              _sample(3, 4, 2, arity=arity, axis=0, reverse=False))
    return Op(name, run, infer, kind="scan", derivative=derivative, batch=_batch, samples=common + samples, first=first,
              step=step, doc=doc, traits=Traits(widens=widens))


def _linear_jvp(ys: tuple, xs: tuple, dxs: tuple, axis: int, reverse: bool = False) -> tuple:
    a, (da, db), h = xs[0], dxs, ys[0]
    if da is not None:
        moved = da * previous(h, axis, reverse, 0)
        db = moved if db is None else db + moved
    return (linear_scan(a, db, axis=axis, reverse=reverse),)


def _linear_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int, reverse: bool = False) -> tuple:
    """The transpose runs the other way: gb[k] = g[k] + conj(a[k+1]) gb[k+1], and ga[k] = gb[k] conj(h[k-1])."""
    gb = linear_scan(previous(conjugate(xs[0]), axis, not reverse, 0), gs[0], axis=axis, reverse=not reverse)
    ga = gb * conjugate(previous(ys[0], axis, reverse, 0)) if needs[0] else None
    return ga, gb


linear_scan = scan("linear_scan", lambda a, b, axis, reverse=False: _recurrence(a, b, axis, reverse), result_dtype,
                   Explicit(_linear_jvp, _linear_pullback), "{1}", "{0} * {c} + {1}", arity=2,
                   samples=(_sample(3, 4, arity=2, dtype=complex, axis=1, reverse=False),),
                   doc="h[k] = a[k] h[k-1] + b[k] along one axis, h before the first being 0 (the first a is not used)")


def _sum_transpose(g: AnyArray, xs: tuple, axis: int, reverse: bool = False) -> AnyArray:
    return cumsum(g, axis=axis, reverse=not reverse)


cumsum: Op = scan("cumsum", _accumulating(np.add), sum_dtype, LinearIn(_sum_transpose), "{0}", "{c} + {0}",
                  samples=(_sample(3, 4, dtype=complex, axis=1, reverse=False),), doc="The running sum along one axis",
                  widens=SUMS_KEPT)


def _product_jvp(ys: tuple, xs: tuple, dxs: tuple, axis: int, reverse: bool = False) -> tuple:
    return (linear_scan(xs[0], dxs[0] * previous(ys[0], axis, reverse, 1), axis=axis, reverse=reverse),)


def _product_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int, reverse: bool = False) -> tuple:
    g = linear_scan(previous(conjugate(xs[0]), axis, not reverse, 0), gs[0], axis=axis, reverse=not reverse)
    return (g * conjugate(previous(ys[0], axis, reverse, 1)),)


cumprod = scan("cumprod", _accumulating(np.multiply), sum_dtype, Explicit(_product_jvp, _product_pullback), "{0}",
               "{c} * {0}", samples=(_sample(6, zeros=1, axis=0, reverse=False),
                                     _sample(6, zeros=2, axis=0, reverse=True),
                                     _sample(3, 4, dtype=complex, axis=1, reverse=False)),
               doc="The running product along one axis", widens=PRODUCTS_KEPT)


def _since(y: AnyArray, axis: int, reverse: bool) -> AnyArray:
    """1.0 where the running extreme y equals its previous value, else 0.0. A recurrence with these factors restarts at
    each new extreme."""
    return registry["cast"](y == previous(y, axis, reverse, 0), dtype=type_of(y).dtype)


def _shares(x: AnyArray, y: AnyArray, axis: int, reverse: bool) -> tuple:
    """The factors of the recurrence, 1.0 where an element equals the running extreme, and how many have so far."""
    same, won = _since(y, axis, reverse), registry["cast"](x == y, dtype=type_of(y).dtype)
    return same, won, linear_scan(same, won, axis=axis, reverse=reverse)


def _extreme_jvp(ys: tuple, xs: tuple, dxs: tuple, axis: int, reverse: bool = False) -> tuple:
    same, won, count = _shares(xs[0], ys[0], axis, reverse)
    return (linear_scan(same, won * dxs[0], axis=axis, reverse=reverse) / count,)


def _extreme_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int, reverse: bool = False) -> tuple:
    same, won, count = _shares(xs[0], ys[0], axis, reverse)
    return (won * linear_scan(previous(same, axis, not reverse, 0), gs[0] / count, axis=axis, reverse=not reverse),)


cummax = scan("cummax", _accumulating(np.maximum), own_dtype, Explicit(_extreme_jvp, _extreme_pullback), "{0}",
              "maximum({c}, {0})", doc="The running maximum along one axis; equals share its derivative",
              widens=ORDER_KEPT)
cummin = scan("cummin", _accumulating(np.minimum), own_dtype, Explicit(_extreme_jvp, _extreme_pullback), "{0}",
              "minimum({c}, {0})", doc="The running minimum along one axis; equals share its derivative",
              widens=ORDER_KEPT)


def _weights(x: AnyArray, y: AnyArray, axis: int, reverse: bool) -> tuple:
    """The share of the running value that each step keeps, and that of the new element. While all are -inf, the new one
    has the whole share."""
    before, nothing = previous(y, axis, reverse, -np.inf), y == -np.inf
    return (registry["exp"](before - registry["where"](nothing, 0.0, y)),
            registry["exp"](registry["where"](nothing, 0.0, x - y)))


def _log_jvp(ys: tuple, xs: tuple, dxs: tuple, axis: int, reverse: bool = False) -> tuple:
    keep, new = _weights(xs[0], ys[0], axis, reverse)
    return (linear_scan(keep, new * dxs[0], axis=axis, reverse=reverse),)


def _log_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int, reverse: bool = False) -> tuple:
    keep, new = _weights(xs[0], ys[0], axis, reverse)
    return (new * linear_scan(previous(keep, axis, not reverse, 0), gs[0], axis=axis, reverse=not reverse),)


cumlogaddexp = scan("cumlogaddexp", _accumulating(np.logaddexp), own_dtype, Explicit(_log_jvp, _log_pullback), "{0}",
                    "logaddexp({c}, {0})", doc="The logarithm of the running sum of exponentials along one axis")

# -- products of the others ------------------------------------------------------------------------


def exclusive_products(x: AnyArray, axes: tuple) -> AnyArray:
    """For each element the product of the others along the axes: of those before it times those after it, so that
    zeros do no harm."""
    ndim = len(shape_of(x))
    rest = tuple(k for k in range(ndim) if k not in axes)
    if len(axes) == 1:
        return _others(x, axes[0])
    order = rest + axes
    moved = registry["transpose"](x, axes=order)
    shape = shape_of(moved)
    flat = registry["reshape"](moved, *shape[:len(rest)], extents.product(shape[len(rest):]))
    others = registry["reshape"](_others(flat, len(rest)), *shape)
    return registry["transpose"](others, axes=tuple(order.index(k) for k in range(ndim)))


def _others(x: AnyArray, axis: int) -> AnyArray:
    before, after = (previous(cumprod(x, axis=axis, reverse=r), axis, r, 1) for r in (False, True))
    return before * after
