"""Norms of vectors and matrices, and condition numbers.

At zero a norm has a kink; the subgradient of least norm is zero, and so is the derivative here.
"""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import real_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes
from ..kinds import shape_of
from ..linalg import singular, solve
from ..linalg.matrices import as_matrices, aspect_of, diagonal, identity_like, unknown
from ..override import BY_NAME, override
from .arguments import as_array, axes_of, in_dtype, kept, one_axis, rank, ravel
from .linalg import inv
from .moments import root, squared
from .stacks import floating, from_column, matrix

INFINITE = (np.inf, -np.inf)


def _extreme(x: AnyArray, ord: Any, axes: tuple) -> AnyArray:
    """The largest entry for a positive order, the smallest for a negative one."""
    return BY_NAME["numpy.max" if ord > 0 else "numpy.min"].call(x, axis=axes)


def _power_mean(x: ArrayOrNumber, ord: Any, axes: tuple) -> AnyArray:
    """(sum |x|^p)^(1/p)"""
    dtype = real_dtype(type_of(x).dtype)
    sums = registry["sum"](registry["abs"](x) ** ord, axes=axes)
    if ord < 0:
        return in_dtype(sums ** (1.0 / ord), dtype)
    none = registry["equal"](sums, 0)
    return in_dtype(registry["where"](none, 0.0, registry["where"](none, 1.0, sums) ** (1.0 / ord)), dtype)


def norm_of_vectors(x: Any, ord: Any, axes: tuple) -> AnyArray:
    """The norm over these axes, taken as one."""
    if ord is None or ord == 2:
        return root(registry["sum"](squared(x), axes=axes))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord in INFINITE:
        return _extreme(registry["abs"](x), ord, axes)
    if ord == 0:
        present = registry["not_equal"](x, 0)
        return registry["sum"](registry["cast"](present, dtype=real_dtype(type_of(x).dtype)), axes=axes)
    if ord == 1:
        return registry["sum"](registry["abs"](x), axes=axes)
    return _power_mean(x, ord, axes)


def _singular_values(x: ArrayOrNumber, axes: tuple) -> AnyArray:
    rest = [k for k in range(rank(x)) if k not in axes]
    moved = x if axes == (rank(x) - 2, rank(x) - 1) else registry["transpose"](x, axes=(*rest, *axes))
    return singular.svdvals(moved, aspect=aspect_of(moved))


def _of_singular_values(x: ArrayOrNumber, ord: Any, axes: tuple) -> AnyArray:
    s = _singular_values(x, axes)
    if ord == "nuc":
        return registry["sum"](s, axes=(rank(s) - 1,))
    place = 0 if ord > 0 else shape_of(s)[-1] - 1
    return from_column(registry["slice_axis"](s, rank(s) - 1, place, 1))


def norm_of_matrices(x: ArrayOrNumber, ord: object, axes: tuple) -> AnyArray:
    """The norm of matrices whose rows and columns lie along these two axes."""
    if axes[0] == axes[1]:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return root(registry["sum"](squared(x), axes=tuple(sorted(axes))))
    if ord == "nuc" or ord in (2, -2):
        return _of_singular_values(x, ord, axes)
    if ord not in (1, -1, *INFINITE):
        raise ValueError("Invalid norm order for matrices.")
    summed, other = axes if ord in (1, -1) else axes[::-1]
    sums = registry["sum"](registry["abs"](x), axes=(summed,))
    return _extreme(sums, ord, (other - (summed < other),))


def norm_along(x: Any, ord: Any, axes: tuple, keepdims: bool) -> AnyArray:
    """The vector norm for one axis, the matrix norm for two."""
    if len(axes) > 2:
        raise ValueError("Improper number of dimensions to norm.")
    y = norm_of_matrices(x, ord, axes) if len(axes) == 2 else norm_of_vectors(x, ord, axes)
    return kept(y, x, axes, keepdims)


@override("numpy.linalg.norm",
          samples=("np.linalg.norm(x)", "np.linalg.norm(x, axis=1)", "np.linalg.norm(x, ord=3, axis=0, keepdims=True)",
                   "np.linalg.norm(S, 2)", "np.linalg.norm(S, 'nuc')", "np.linalg.norm(x, np.inf)"))
def norm(x: ArrayLike, ord: object = None, axis: Axes = None, keepdims: bool = False) -> AnyArray:
    x = floating(x)
    if axis is not None:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        return norm_along(x, ord, tuple(one_axis(k, rank(x)) for k in given), keepdims)
    everything = tuple(range(rank(x)))
    if ord is None or (ord in ("f", "fro") and rank(x) == 2) or (ord == 2 and rank(x) == 1):
        return kept(norm_of_vectors(x, None, everything), x, everything, keepdims)
    return norm_along(x, ord, everything, keepdims)


@override("numpy.linalg.matrix_norm", samples=("np.linalg.matrix_norm(S)", "np.linalg.matrix_norm(S, ord=1)"))
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: object = "fro") -> AnyArray:
    return norm(x, ord, (-2, -1), keepdims)


@override("numpy.linalg.vector_norm", samples=("np.linalg.vector_norm(v)", "np.linalg.vector_norm(x, axis=0, ord=1)"))
def vector_norm(x: ArrayLike, /, *, axis: Axes = None, keepdims: bool = False, ord: object = 2) -> AnyArray:
    x = floating(x)
    if axis is None:
        y = norm_of_vectors(ravel(x), ord, (0,))
        return kept(y, x, tuple(range(rank(x))), keepdims)
    axes = axes_of(axis, rank(x))
    return kept(norm_of_vectors(x, ord, axes), x, axes, keepdims)


@override("numpy.linalg.cond", samples=("np.linalg.cond(S)", "np.linalg.cond(S, 1)", "np.linalg.cond(S, -2)"))
def cond(x: ArrayLike, p: object = None) -> AnyArray:
    x = matrix(as_array(x))
    if p in (None, 2, -2):
        s = singular.svdvals(x, aspect=aspect_of(x))
        last = rank(s) - 1
        largest, smallest = (from_column(registry["slice_axis"](s, last, k, 1)) for k in (0, shape_of(s)[-1] - 1))
        return _infinite_for_nan(smallest / largest if p == -2 else largest / smallest, x)
    singular_ = registry["any"](diagonal(solve.factor(x)[0]) == 0, axes=(rank(x) - 2,))
    safe = registry["where"](as_matrices(singular_), identity_like(x), x)
    y = norm(x, p, (-2, -1)) * norm(inv(safe), p, (-2, -1))
    return _infinite_for_nan(registry["where"](singular_, np.nan, y), x)


def _infinite_for_nan(y: AnyArray, x: object) -> AnyArray:
    """y, which is infinite where it comes out as nan and the matrix has none; the derivative there is nan."""
    axes = (rank(x) - 2, rank(x) - 1)
    unmoved = registry["where"](registry["isfinite"](x), x - registry["stop_gradient"](x), 0.0)
    infinite = registry["sum"](registry["real"](unknown(unmoved)), axes=axes) + np.inf
    given = registry["any"](registry["isnan"](x), axes=axes)
    return registry["where"](registry["logical_and"](registry["isnan"](y), registry["logical_not"](given)), infinite, y)
