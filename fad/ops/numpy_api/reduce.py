"""NumPy's reductions: sum, prod, max, min, ptp, any, all, count_nonzero, argmax, argmin."""
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike
from ..assign import as_assigned
from ..kinds import shape_of
from ..override import override
from ..reduce import nonempty
from .arguments import along, as_array, axes_of, in_dtype, into, is_given, kept, mask_of, masked, rank, some_of

sum_, prod_, max_, min_, any_, all_ = (registry[name] for name in ("sum", "prod", "max", "min", "any", "all"))


def reduced_axes(axis: Axes, ndim: int) -> tuple:
    """The axes that a reduction goes along. NumPy's ufuncs take axis 0 of a number, which has none.

    >>> reduced_axes(-1, 0), reduced_axes(-1, 2)
    ((), (1,))
    """
    return () if ndim == 0 and isinstance(axis, int) and axis in (0, -1) else axes_of(axis, ndim)


def reduced(op: Op, x: AnyArray, axis: Axes, keepdims: bool) -> AnyArray:
    """The reduction of x, in NumPy's terms of axis and keepdims."""
    axes = reduced_axes(axis, rank(x))
    return kept(op(x, axes=axes), x, axes, keepdims)


@override("numpy.sum", method="sum",
          samples=("np.sum(x)", "np.sum(x, axis=(0, 1), keepdims=True)", "np.sum(x, axis=-1, where=x > 0.4)",
                   "x.sum(0)"))
def sum(a: ArrayLike, axis: Axes = None, dtype: DTypeLike = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: ArrayLike = True) -> AnyArray:
    y = reduced(sum_, masked(in_dtype(as_array(a), dtype), where, 0), axis, keepdims)
    return into(out, in_dtype(y + _begun(initial, y, dtype) if is_given(initial) else y, dtype))


@override("numpy.prod", method="prod", samples=("np.prod(x)", "np.prod(x, axis=0)", "x.prod(1)"))
def prod(a: ArrayLike, axis: Axes = None, dtype: DTypeLike = None, out: Any = None, keepdims: bool = False,
         initial: Any = None, where: ArrayLike = True) -> AnyArray:
    y = reduced(prod_, masked(in_dtype(as_array(a), dtype), where, 1), axis, keepdims)
    return into(out, in_dtype(y * _begun(initial, y, dtype) if is_given(initial) else y, dtype))


# -- max, min --------------------------------------------------------------------------------------


def _begun(initial: ArrayOrNumber, y: AnyArray, dtype: DTypeLike) -> ArrayOrNumber:
    """The initial value of a reduction, in the dtype that it computes in. NumPy converts it like a number written to
    an array."""
    return as_assigned(initial, type_of(y).dtype if dtype is None else np.dtype(dtype), is_element=True)


def _extreme(op: Op, pair: Op, a: object, axis: Axes, keepdims: bool, initial: Any, where: Any) -> AnyArray:
    """max or min; with an initial value it also stands in for the elements left out, and for none at all."""
    x = as_array(a)
    axes = reduced_axes(axis, rank(x))
    if not is_given(initial):
        if where is not True:
            raise ValueError(f"reduction operation {pair.name!r} does not have an identity, so to use a where mask one "
                             f"has to specify 'initial'")
        for k in axes:
            some_of(shape_of(x)[k], op.name)
        return reduced(op, x, axis, keepdims)
    initial = _begun(initial, x, None)
    x = _filled(x, where, initial)
    if nonempty(x, axes):
        return pair(reduced(op, x, axis, keepdims), initial)
    return reduced(op, with_first(x, axes, initial), axis, keepdims)


def _filled(x: AnyArray, where: ArrayOrNumber, initial: object) -> AnyArray:
    return x if where is True else registry["where"](mask_of(where), x, initial)


def with_first(x: AnyArray, axes: tuple, initial: object) -> AnyArray:
    """x with the initial value before its first elements along the axes (one by one: each may be without elements)."""
    for ax in axes:
        first = registry["full"](initial, *[1 if k == ax else n for k, n in enumerate(shape_of(x))],
                                 dtype=type_of(x).dtype)
        x = registry["concatenate"](first, x, axis=ax)
    return x


@override("numpy.max", "numpy.amax", method="max", samples=("np.max(x)", "np.max(x, axis=1)", "x.max(1)"),
          note="where elements are equal they share")
def max(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, initial: object = None,
        where: ArrayLike = True) -> Any:
    return into(out, _extreme(max_, registry["maximum"], a, axis, keepdims, initial, where))


@override("numpy.min", "numpy.amin", method="min", samples=("np.min(x)", "np.min(x, axis=0, keepdims=True)"),
          note="where elements are equal they share")
def min(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, initial: object = None,
        where: ArrayLike = True) -> AnyArray:
    return into(out, _extreme(min_, registry["minimum"], a, axis, keepdims, initial, where))


@override("numpy.ptp", samples=("np.ptp(x, axis=0)",))
def ptp(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False) -> AnyArray:
    return into(out, max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims))


# -- truth and places ------------------------------------------------------------------------------


@override("numpy.any", method="any")
def any(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, *,
        where: ArrayLike = True) -> AnyArray:
    return into(out, reduced(any_, masked(truth(a), where, False), axis, keepdims))


@override("numpy.all", method="all")
def all(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, *,
        where: ArrayLike = True) -> AnyArray:
    return into(out, reduced(all_, masked(truth(a), where, True), axis, keepdims))


def truth(a: object) -> AnyArray:
    """Whether each element is true: not zero."""
    x = as_array(a)
    return x if type_of(x).dtype.kind == "b" else x != 0


@override("numpy.count_nonzero")
def count_nonzero(a: ArrayLike, axis: Axes = None, *, keepdims: bool = False) -> AnyArray:
    return reduced(sum_, truth(a), axis, keepdims)


def _place(op: Op, a: object, axis: Axes, keepdims: bool) -> AnyArray:
    x = as_array(a)
    axes = axes_of(axis, rank(x))
    flat, ax = along(x, axis)
    some_of(shape_of(flat)[ax], op.name)
    return kept(op(flat, axis=ax), x, axes, keepdims)


@override("numpy.argmax", method="argmax")
def argmax(a: ArrayLike, axis: Axes = None, out: object = None, *, keepdims: bool = False) -> AnyArray:
    return into(out, _place(registry["argmax"], a, axis, keepdims))


@override("numpy.argmin", method="argmin")
def argmin(a: ArrayLike, axis: Axes = None, out: object = None, *, keepdims: bool = False) -> AnyArray:
    return into(out, _place(registry["argmin"], a, axis, keepdims))


