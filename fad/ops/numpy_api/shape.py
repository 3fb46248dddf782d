"""NumPy's functions that give an array another shape: reshape, ravel, transpose, squeeze, broadcast_to and their kin.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from ...util.errors import PINNED, ConcreteValueError
from .. import extents
from ..kinds import shape_of
from ..literals import as_array, is_value
from ..override import METHODS, override
from ..products import quotient, size_of
from ..shape import broadcast_to as broadcast_
from ..shape import reshape as reshape_
from ..shape import transpose as transpose_
from ..slices import assume_at_least, integer
from .arguments import axes_of, is_given, one_axis, rank, refuse


def extents_given(shape: Any) -> tuple:
    """A shape argument: one extent, or a sequence of them."""
    if is_value(shape) and shape.ndim or isinstance(shape, np.ndarray) and shape.ndim:
        shape = list(shape)
    return tuple([_extent(n) for n in shape]) if isinstance(shape, (tuple, list)) else (_extent(shape),)


def _extent(n: Any) -> ArrayOrNumber:
    if is_value(n) and (n.ndim or n.dtype.kind not in "iu"):
        raise TypeError(f"{'an array' if n.ndim else repr(n.dtype.name)} cannot be interpreted as an integer")
    return integer(n)


def with_shape(x: object, shape: tuple) -> Any:
    """x reshaped, in C order."""
    return reshape_(x, *shape)


def resolved(x: AnyArray, shape: tuple) -> tuple:
    """The shape with -1, at most once, replaced by what makes its size x's."""
    unknown = [k for k, n in enumerate(shape) if isinstance(n, int) and n == -1]
    if len(unknown) > 1:
        raise ValueError("can only specify one unknown dimension")
    if not unknown:
        return shape
    k = unknown[0]
    old, new = (tuple(extents.hint(n) for n in extents_) for extents_ in (shape_of(x), shape))
    what = f"cannot reshape array of shape {old} into shape {new}"
    return (*shape[:k], quotient(shape_of(x), shape[:k] + shape[k + 1:], what), *shape[k + 1:])


def ordered(order: str, x: AnyArray, function: str) -> str:
    """"C" or "F": the two orders that do not depend on how an array lies in memory."""
    if order in ("C", "F"):
        return order
    if rank(x) < 2:
        return "C"
    raise refuse(function, f"order={order!r}", "it depends on how the array lies in memory",
                 'say order="C" or order="F"')


def reshaped(x: AnyArray, shape: object, order: str = "C") -> ArrayOrNumber:
    """x in another shape, its elements read and placed in C or Fortran order."""
    new = extents_given(shape)
    if ordered(order or "C", x, "reshape") == "C":
        return reshape_(x, *resolved(x, new))
    return transposed(reshape_(transposed(x), *resolved(x, new)[::-1]))


def transposed(x: object, axes: Axes = None) -> Any:
    """x with its axes reversed, or in the given order."""
    n = rank(x)
    if axes is None:
        return x if n < 2 else transpose_(x, axes=tuple(range(n))[::-1])
    order = tuple([one_axis(k, n) for k in (axes if isinstance(axes, (tuple, list)) else (axes,))])
    if sorted(order) != list(range(n)):
        raise ValueError("axes don't match array" if len(order) != n else "repeated axis in transpose")
    return x if order == tuple(range(n)) else transpose_(x, axes=order)


@override("numpy.reshape", samples=("np.reshape(x, (4, 3))", "np.reshape(x, (2, -1), order='F')"))
def reshape(a: ArrayLike, /, shape: object = None, order: str = "C", *, newshape: object = None,
            copy: object = None) -> Any:
    if copy is False and order not in ("C", None):
        raise refuse("numpy.reshape", f"copy=False with order={order!r}", do="leave copy out")
    y = reshaped(as_array(a), newshape if shape is None else shape, order)
    return METHODS["copy"](y) if copy else y


@override(method="reshape", samples=("x.reshape(2, 6)", "x.reshape(-1)"))
def reshape_method(x: ArrayLike, *shape: ArrayLike, order: str = "C", copy: object = None) -> AnyArray:
    return reshape(x, shape[0] if len(shape) == 1 else shape, order, copy=copy)


@override("numpy.ravel", method="ravel", samples=("x.ravel()", "np.ravel(x, order='F')"))
def ravel(a: ArrayOrNumber, order: str = "C") -> Any:
    x = as_array(a)
    x = transposed(x) if ordered(order, x, "ravel") == "F" else x
    return x if rank(x) == 1 else reshape_(x, size_of(shape_of(x)))


@override(method="flatten", samples=("x.flatten()",))
def flatten(x: ArrayLike, order: str = "C") -> AnyArray:
    return METHODS["copy"](ravel(x, order))


@override("numpy.transpose", "numpy.permute_dims", samples=("np.transpose(x)", "np.transpose(x[None], (2, 0, 1))"))
def transpose(a: ArrayLike, axes: Axes = None) -> ArrayOrNumber:
    return transposed(as_array(a), axes)


@override(method="transpose")
def transpose_method(x: ArrayLike, *axes: Any) -> AnyArray:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return transposed(x, axes[0])
    return transposed(x, axes or None)


override(property="T", samples=("x.T",))(transposed)


@override("numpy.matrix_transpose", property="mT")
def matrix_transpose(x: ArrayLike, /) -> AnyArray:
    if rank(as_array(x)) < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return swapaxes(x, -1, -2)


@override("numpy.swapaxes", method="swapaxes", samples=("np.swapaxes(x, 0, 1)",))
def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> ArrayOrNumber:
    x = as_array(a)
    order = list(range(rank(x)))
    i, j = one_axis(axis1, rank(x)), one_axis(axis2, rank(x))
    order[i], order[j] = order[j], order[i]
    return transposed(x, order)


@override("numpy.moveaxis", samples=("np.moveaxis(x, 0, 1)", "np.moveaxis(x[None], (0, 2), (1, 0))"))
def moveaxis(a: ArrayLike, source: object, destination: object) -> AnyArray:
    x = as_array(a)
    n = rank(x)
    froms, tos = ([one_axis(k, n) for k in (ks if isinstance(ks, (tuple, list)) else (ks,))]
                  for ks in (source, destination))
    if len(froms) != len(tos):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(n) if k not in froms]
    for to, k in sorted(zip(tos, froms)):
        order.insert(to, k)
    return transposed(x, order)


@override("numpy.rollaxis")
def rollaxis(a: ArrayLike, axis: int, start: Any = 0) -> AnyArray:
    x = as_array(a)
    ax, to = one_axis(axis, rank(x)), start + rank(x) if start < 0 else start
    return moveaxis(x, ax, to - 1 if ax < to else to)


@override("numpy.expand_dims", samples=("np.expand_dims(x, 1)", "np.expand_dims(v, (0, -1))"))
def expand_dims(a: ArrayLike, axis: Axes) -> AnyArray:
    x = as_array(a)
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    new = axes_of(tuple(places), rank(x) + len(places))
    shape = list(shape_of(x))
    for k in new:
        shape.insert(k, 1)
    return reshape_(x, *shape)


@override("numpy.squeeze", method="squeeze", samples=("np.squeeze(x[None])", "x[:, None].squeeze(1)"))
def squeeze(a: ArrayLike, axis: Axes = None) -> AnyArray:
    x = as_array(a)
    shape = shape_of(x)
    if is_given(axis):
        gone = axes_of(axis, rank(x))
        for k in gone:
            if not extents.is_one(shape[k]):
                raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    else:
        gone = tuple(k for k, n in enumerate(shape) if _is_surely_one(n))
    return x if not gone else reshape_(x, *[n for k, n in enumerate(shape) if k not in gone])


def _is_surely_one(n: Extent) -> bool:
    if extents.is_one(n) or isinstance(n, int):
        return extents.is_one(n)
    if extents.hint(n) is None:
        raise ConcreteValueError("squeeze must know which extents are 1, and one of them depends on data",
                                 do="name the axes to squeeze")
    if not assume_at_least(n, 2):
        registry["check_that"](n != 1, True, what=PINNED, error="ValueError")
    return False


@override("numpy.broadcast_to", samples=("np.broadcast_to(v, (3, 4))",))
def broadcast_to(array: ArrayLike, shape: object) -> ArrayOrNumber:
    return broadcast_(as_array(array), *extents_given(shape))


@override("numpy.broadcast_arrays", samples=("np.broadcast_arrays(x, v)[1]",))
def broadcast_arrays(*args: ArrayLike) -> tuple:
    arrays = [as_array(a) for a in args]
    shape = extents.broadcast_shapes(*[shape_of(a) for a in arrays])
    return tuple([broadcast_(a, *shape) for a in arrays])


@override("numpy.broadcast_shapes")
def broadcast_shapes(*args: object) -> tuple:
    return extents.broadcast_shapes(*[extents_given(s) for s in args])


def _at_least(x: AnyArray, before: int, least: int) -> AnyArray:
    """x with at least this many axes: at most `before` new ones of extent 1 before its own, the rest after them."""
    missing = least - rank(x)
    if missing <= 0:
        return x
    lead = min(before, missing)
    return reshape_(x, *[1] * lead, *shape_of(x), *[1] * (missing - lead))


def _each(arrays: tuple, change: Callable) -> Any:
    results = tuple([change(as_array(a)) for a in arrays])
    return results[0] if len(results) == 1 else results


@override("numpy.atleast_1d", samples=("np.atleast_1d(v[0])",))
def atleast_1d(*arys: ArrayLike) -> AnyArray:
    return _each(arys, lambda x: _at_least(x, 1, 1))


@override("numpy.atleast_2d", samples=("np.atleast_2d(v)",))
def atleast_2d(*arys: ArrayLike) -> ArrayOrNumber:
    return _each(arys, lambda x: _at_least(x, 2, 2))


@override("numpy.atleast_3d", samples=("np.atleast_3d(x)", "np.atleast_3d(v)"))
def atleast_3d(*arys: ArrayLike) -> AnyArray:
    return _each(arys, lambda x: _at_least(x, 0 if rank(x) == 2 else 1, 3))


# -- what is asked of a shape ----------------------------------------------------------------------


@override("numpy.shape")
def shape(a: AnyArray) -> tuple:
    return shape_of(as_array(a))


@override("numpy.ndim")
def ndim(a: ArrayLike) -> int:
    return rank(as_array(a))


@override("numpy.size")
def size(a: ArrayLike, axis: Axes = None) -> AnyArray:
    x = as_array(a)
    return size_of(tuple(shape_of(x)[k] for k in axes_of(axis, rank(x))))
