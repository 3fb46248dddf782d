"""Ops that move elements without computing on them: creation, broadcasting, reshaping, transposition, concatenation.

Extents are inputs like any other: an int, or an integer of the program.
"""
from typing import Any

import numpy as np

from ..ir.absent import absent
from ..ir.op import Op, registry
from ..ir.traits import ALL, Traits
from ..ir.types import INT, Type, result_dtype, type_of
from ..util.array import AnyArray, ArrayOrNumber
from . import extents
from .batching import batch_extent, pad_rank, spread_batch
from .kinds import LinearIn, Zero, is_complex, shape_of
from .products import agree_in_size


def sizes(shape: tuple) -> tuple:
    """Extents as NumPy takes them."""
    return tuple([int(n) for n in shape])


def sample(*shape: int, **params: Any) -> Any:
    """A sample of a op of one array: a random array of this shape, further operands under `operands`."""
    operands = params.pop("operands", ())
    return lambda rng: ((rng.standard_normal(shape)[()], *operands), params)


# -- creation --------------------------------------------------------------------------------------


def _full_transpose(g: AnyArray, xs: tuple, dtype: np.dtype) -> AnyArray:
    return registry["sum"](g, axes=tuple(range(g.ndim))) if g.ndim else g


def _batch_full(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    if any(batched[1:]):
        return NotImplemented
    return registry["cast"](_batch_broadcast(op, xs, batched, {}), **params)


full = Op("full", lambda value, *shape, dtype: np.full(sizes(shape), value, dtype)[()],
          lambda value, *shape, dtype: Type(dtype, shape), kind="shape", creation=True,
          derivative=LinearIn(_full_transpose, args=(0,)), batch=_batch_full,
          samples=(sample(operands=(2, 3), dtype=np.dtype(float)),),
          doc="An array of the given extents, filled with one scalar",
          traits=Traits(rematerialised=True, copies=1, may_alias=True, order="C", stem="g"))
undefined = Op("undefined", lambda *shape, dtype: np.zeros(sizes(shape), dtype),
               lambda *shape, dtype: Type(dtype, shape), kind="shape", creation=True, derivative=Zero(),
               batch=lambda op, xs, batched, params: NotImplemented,
               samples=(lambda rng: ((2, 3), {"dtype": np.dtype(float)}),),
               expand=lambda *shape, dtype: full(0, *shape, dtype=dtype),
               doc="An array that nobody reads: what stands for a name on a path that does not bind it. A pass may put "
                   "any other in its place",
               traits=Traits(rematerialised=True, may_alias=True, order="C"))


def _run_iota(n: int, dtype: np.dtype) -> AnyArray:
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    return np.arange(int(n), dtype=dtype)


iota = Op("iota", _run_iota, lambda n, dtype: Type(dtype, (n,)), kind="shape",
          creation=True, derivative=Zero(), doc="0, 1, ..., n - 1",
          traits=Traits(rematerialised=True, places=0, may_alias=True))


def zeros_like(x: AnyArray) -> AnyArray:
    """Zeros of x's shape and dtype."""
    t = type_of(x)
    return full(0, *shape_of(x), dtype=t.dtype) if shape_of(x) else t.dtype.type(0)


def nothing_like(x: ArrayOrNumber) -> AnyArray:
    """Zeros of x's shape and dtype that stand for a tangent or cotangent that is not there."""
    t = type_of(x)
    return full(absent(t.dtype), *shape_of(x), dtype=t.dtype) if shape_of(x) else absent(t.dtype)


registry["nothing_like"] = nothing_like      # type: ignore[assignment]  # likewise
registry["zeros_like"] = zeros_like          # type: ignore[assignment]  # a name for rules to use, not an op


# -- the same elements in another arrangement ------------------------------------------------------


def _infer_broadcast(x: ArrayOrNumber, *shape: ArrayOrNumber) -> Type:
    extents.broadcast_onto(shape_of(x), shape)
    return Type(type_of(x).dtype, shape)


def _batch_broadcast(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    if any(batched[1:]):
        return NotImplemented
    x = pad_rank(xs[0], len(xs) - 1)
    return broadcast_to(x, shape_of(x)[0], *xs[1:])


broadcast_to = Op("broadcast_to", lambda x, *shape: np.broadcast_to(x, sizes(shape)), _infer_broadcast, kind="shape",
                  derivative=LinearIn(lambda g, xs: g, args=(0,)), batch=_batch_broadcast,
                  samples=(sample(3, operands=(2, 3)), sample(2, 1, operands=(2, 3))),
                  doc="x stretched to the given extents (by NumPy's rules)",
                  traits=Traits(rematerialised=True, copies=1, view="read", may_alias=True))


def _infer_reshape(x: AnyArray, *shape: ArrayOrNumber) -> Type:
    agree_in_size(shape_of(x), shape, "an array's size before and after reshape")
    return Type(type_of(x).dtype, shape)


def _batch_reshape(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    return NotImplemented if any(batched[1:]) else reshape(xs[0], shape_of(xs[0])[0], *xs[1:])


reshape: Op = Op("reshape", lambda x, *shape: np.reshape(x, sizes(shape)), _infer_reshape, kind="shape",
                 derivative=LinearIn(lambda g, xs: reshape(g, *shape_of(xs[0])), args=(0,)), batch=_batch_reshape,
                 samples=(sample(2, 3, operands=(3, 1, 2)), sample(1, 1)),
                 doc="The elements of x in C order, in other extents of the same product",
                 traits=Traits(copies=1, view="write", may_alias=True, order="first", stem="flat"))


def _infer_transpose(x: AnyArray, axes: tuple) -> Type:
    t = type_of(x)
    return Type(t.dtype, tuple(t.shape[a] for a in axes))


def inverse_permutation(axes: tuple) -> tuple:
    return tuple(axes.index(k) for k in range(len(axes)))


def _batch_transpose(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    return transpose(xs[0], axes=(0, *[a + 1 for a in params["axes"]]))


transpose: Op = Op("transpose", lambda x, axes: np.transpose(x, axes), _infer_transpose, kind="shape",
                   derivative=LinearIn(lambda g, xs, axes: transpose(g, axes=inverse_permutation(axes))),
                   batch=_batch_transpose, samples=(sample(2, 3, axes=(1, 0)), sample(2, 3, 4, axes=(2, 0, 1))),
                   doc="x with its axes in another order",
                   traits=Traits(copies=1, view="write", may_alias=True, stem="turned"))

# -- arrays joined ---------------------------------------------------------------------------------


def _infer_concatenate(*xs: AnyArray, axis: int) -> Type:
    shapes = [shape_of(x) for x in xs]
    total: Any = 0
    for s in shapes:
        total = total + s[axis]
    rest = [shapes[0][k] if k == axis else _agreed(shapes, k) for k in range(len(shapes[0]))]
    rest[axis] = total
    return Type(result_dtype(*xs), tuple(rest))


def _agreed(shapes: list, k: int) -> ArrayOrNumber:
    n = shapes[0][k]
    for s in shapes[1:]:
        n = extents.agree(n, s[k], "extents of the arrays to concatenate")
    return n


class _Concatenate:
    """Each part's cotangent is its slice; the tangent is the concatenation of tangents."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (concatenate(*[nothing_like(x) if dx is None else dx for x, dx in zip(xs, dxs)], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        axis, start, out = params["axis"], 0, []
        for x, need in zip(xs, needs):
            n = shape_of(x)[axis]
            part = registry["slice_axis"](gs[0], axis, start, n) if need else None
            out.append(part if part is None else _fitted(part, x))
            start = start + n
        return tuple(out)


def _fitted(g: AnyArray, x: AnyArray) -> AnyArray:
    if is_complex(g) and not is_complex(x):
        g = registry["real"](g)
    dtype = type_of(x).dtype
    return g if type_of(g).dtype == dtype else registry["cast"](g, dtype=dtype)


def _batch_concatenate(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    n = batch_extent(xs, batched)
    return concatenate(*[spread_batch(x, n, b) for x, b in zip(xs, batched)], axis=params["axis"] + 1)


def _sample_concatenate(rng: np.random.Generator) -> tuple:
    return (rng.standard_normal((2, 1)), rng.standard_normal((2, 3)), rng.standard_normal((2, 2))), {"axis": 1}


concatenate = Op("concatenate", lambda *xs, axis: np.concatenate(xs, axis), _infer_concatenate, kind="shape",
                 derivative=_Concatenate(), batch=_batch_concatenate, samples=(_sample_concatenate,),
                 doc="Arrays one after the other along an axis",
                 traits=Traits(copies=ALL, order="common", stem="joined"))


class _Pack:
    """Each scalar's cotangent is one element; the tangent packs the tangents."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (pack(*[0.0 if dx is None else dx for dx in dxs]),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return tuple([_fitted(registry["index"](gs[0], k, spec=("i",), at=0), x) if need else None
                      for k, (x, need) in enumerate(zip(xs, needs))])


def _batch_pack(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    n = batch_extent(xs, batched)
    return concatenate(*[reshape(spread_batch(x, n, b), n, 1) for x, b in zip(xs, batched)], axis=1)


pack = Op("pack", lambda *xs: np.array(xs, result_dtype(*xs)), lambda *xs: Type(result_dtype(*xs), (len(xs),)),
          kind="shape", derivative=_Pack(), batch=_batch_pack,
          samples=(lambda rng: (tuple(rng.standard_normal(3)), {}),), doc="The array of these scalars",
          traits=Traits(chosen_from=0, copies=ALL, order="C"))

# -- checks ----------------------------------------------------------------------------------------

check_equal = Op("check_equal", lambda a, b, what: _check_equal(a, b, what), lambda a, b, what: (), kind="check",
                 derivative=Zero(), effect=True, batch=lambda op, xs, batched, params: NotImplemented,
                 error="ValueError", doc="Raises unless two extents are equal")


def _check_equal(a: int, b: int, what: str) -> tuple:
    if a != b:
        raise extents.ExtentError(f"{what} differ: {a} and {b}")
    return ()


__all__ = ["INT"]
