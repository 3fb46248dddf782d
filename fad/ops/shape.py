"""Ops that move elements without computing on them: creation, broadcasting, reshaping, transposition, concatenation.

Extents are inputs like any other: an int, or an integer of the program.
"""
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.types import INT, Type, result_dtype, type_of
from . import extents
from .kinds import Linear, Zero, conjugate, is_complex, shape_of


def _run_full(value: Any, *shape: Any, dtype: Any) -> Any:
    return np.full(tuple(int(n) for n in shape), value, dtype)


full = Op("full", _run_full, lambda value, *shape, dtype: Type(dtype, shape), kind="shape", creation=True,
          derivative=Linear(lambda g, xs, dtype: registry["sum"](g, axes=tuple(range(g.ndim))), args=(0,)),
          doc="An array of the given extents, filled with one scalar")
iota = Op("iota", lambda n, dtype: np.arange(int(n), dtype=dtype), lambda n, dtype: Type(dtype, (n,)), kind="shape", creation=True,
          derivative=Zero(), doc="0, 1, ..., n - 1")


class _ZerosLike:
    """Zeros in the shape of x; nothing of x's values flows on."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (None,)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        return (None,)


def zeros_like(x: Any) -> Any:
    """Zeros of x's shape and dtype."""
    t = type_of(x)
    return full(0, *shape_of(x), dtype=t.dtype) if shape_of(x) else t.dtype.type(0)


registry["zeros_like"] = zeros_like          # type: ignore[assignment]  # a name for rules to use, not an op


def _run_broadcast(x: Any, *shape: Any) -> Any:
    return np.broadcast_to(x, tuple(int(n) for n in shape))


def _infer_broadcast(x: Any, *shape: Any) -> Type:
    return Type(type_of(x).dtype, shape)


broadcast_to = Op("broadcast_to", _run_broadcast, _infer_broadcast, kind="shape", derivative=Linear(lambda g, xs: g, args=(0,)),
                  doc="x stretched to the given extents (by NumPy's rules)")


def _infer_reshape(x: Any, *shape: Any) -> Type:
    return Type(type_of(x).dtype, shape)


reshape = Op("reshape", lambda x, *shape: np.reshape(x, tuple(int(n) for n in shape)), _infer_reshape, kind="shape",
             derivative=Linear(lambda g, xs: reshape(g, *shape_of(xs[0])), args=(0,)),
             doc="The elements of x in C order, in other extents of the same product")


def _infer_transpose(x: Any, axes: tuple) -> Type:
    t = type_of(x)
    return Type(t.dtype, tuple(t.shape[a] for a in axes))


def inverse_permutation(axes: tuple) -> tuple:
    return tuple(axes.index(k) for k in range(len(axes)))


transpose = Op("transpose", lambda x, axes: np.transpose(x, axes), _infer_transpose, kind="shape",
               derivative=Linear(lambda g, xs, axes: transpose(g, axes=inverse_permutation(axes))))


def _infer_concatenate(*xs: Any, axis: int) -> Type:
    shapes = [shape_of(x) for x in xs]
    total: Any = 0
    for s in shapes:
        total = total + s[axis]
    rest = [shapes[0][k] if k == axis else _agreed(shapes, k) for k in range(len(shapes[0]))]
    rest[axis] = total
    return Type(result_dtype(*xs), tuple(rest))


def _agreed(shapes: list, k: int) -> Any:
    n = shapes[0][k]
    for s in shapes[1:]:
        n = extents.agree(n, s[k], "extents of the arrays to concatenate")
    return n


class _Concatenate:
    """Each part's cotangent is its slice; the tangent is the concatenation of tangents."""

    def jvp(self, op: Op, ys: tuple, xs: tuple, dxs: tuple, params: dict) -> tuple:
        return (concatenate(*[zeros_like(x) if dx is None else dx for x, dx in zip(xs, dxs)], **params),)

    def pullback(self, op: Op, gs: tuple, ys: tuple, xs: tuple, params: dict, needs: tuple) -> tuple:
        axis, start, out = params["axis"], 0, []
        for x, need in zip(xs, needs):
            n = shape_of(x)[axis]
            part = registry["slice_axis"](gs[0], axis, start, n) if need else None
            out.append(part if part is None else _fitted(part, x))
            start = start + n
        return tuple(out)


def _fitted(g: Any, x: Any) -> Any:
    if is_complex(g) and not is_complex(x):
        g = registry["real"](g)
    dtype = type_of(x).dtype
    return g if type_of(g).dtype == dtype else registry["cast"](g, dtype=dtype)


concatenate = Op("concatenate", lambda *xs, axis: np.concatenate(xs, axis), _infer_concatenate, kind="shape", derivative=_Concatenate())
check_equal = Op("check_equal", lambda a, b, what: _check_equal(a, b, what), lambda a, b, what: (), kind="check", derivative=Zero(), effect=True,
                 doc="Raises unless two extents are equal")


def _check_equal(a: int, b: int, what: str) -> tuple:
    if a != b:
        raise extents.ExtentError(f"{what} differ: {a} and {b}")
    return ()


__all__ = ["INT", "conjugate"]
