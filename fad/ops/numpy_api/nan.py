"""NumPy's reductions without nans: nansum, nanmean, nanmax, nancumsum, ... Each fills the gaps and calls its namesake.
Masked arrays (numpy.ma) are refused.
"""
import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike, Axes, DTypeLike
from ..override import override
from . import moments, reduce, scan
from .arguments import as_array, axes_of, into, is_given, kept, mask_of, rank, refuse


def present(x: AnyArray) -> Any:
    """Whether x is not nan."""
    return x == x


def filled(a: object, fill: object) -> AnyArray:
    """a with `fill` in place of nan."""
    x = as_array(a)
    if type_of(x).dtype.kind not in "fc":
        return x
    return registry["where"](present(x), x, type_of(x).dtype.type(fill))


def _mask(x: AnyArray, where: ArrayLike) -> AnyArray:
    """Whether x is not nan and the caller's mask holds."""
    there = present(x)
    return there if where is True or not is_given(where) else registry["bitwise_and"](there, mask_of(where))


def _filling(name: str, fill: float, namesake: Callable) -> Callable:
    """The function that calls its namesake, with the same options, for an array with `fill` in place of nan."""
    @functools.wraps(namesake)
    def call(a: ArrayLike, *args: Any, **options: Any) -> AnyArray:
        return namesake(filled(a, fill), *args, **options)
    call.__name__ = call.__qualname__ = name
    return call


for _name, _fill, _namesake, _samples in (
        ("nansum", 0, reduce.sum, ("np.nansum(x)", "np.nansum(x, axis=0)")),
        ("nanprod", 1, reduce.prod, ("np.nanprod(x, axis=0)",)),
        ("nancumsum", 0, scan.cumsum, ("np.nancumsum(x, axis=1)",)),
        ("nancumprod", 1, scan.cumprod, ("np.nancumprod(x, axis=1)",))):
    override(f"numpy.{_name}", samples=_samples)(_filling(_name, _fill, _namesake))


# -- extremes --------------------------------------------------------------------------------------


def _extreme(extreme: Callable, worst: float, a: Any, axis: Axes, keepdims: bool, initial: Any, where: Any) -> AnyArray:
    x = as_array(a)
    dtype = type_of(x).dtype
    if dtype.kind not in "fc":
        return extreme(x, axis, None, keepdims, initial, where)
    y = extreme(filled(x, complex(worst, worst) if dtype.kind == "c" else worst), axis, None, keepdims, initial, where)
    if is_given(initial):
        return y
    axes = axes_of(axis, rank(x))
    some = kept(registry["any"](present(x), axes=axes), x, axes, keepdims)
    return registry["where"](some, y, dtype.type(np.nan))


@override("numpy.nanmax", samples=("np.nanmax(x, axis=1)",))
def nanmax(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, initial: object = None,
           where: ArrayLike = True) -> AnyArray:
    return into(out, _extreme(reduce.max, -np.inf, a, axis, keepdims, initial, where))


@override("numpy.nanmin", samples=("np.nanmin(x, axis=1)",))
def nanmin(a: ArrayLike, axis: Axes = None, out: object = None, keepdims: bool = False, initial: object = None,
           where: ArrayLike = True) -> AnyArray:
    return into(out, _extreme(reduce.min, np.inf, a, axis, keepdims, initial, where))


def _place(place: Callable, worst: float, a: object, axis: Axes, out: object, keepdims: bool) -> AnyArray:
    x = as_array(a)
    if type_of(x).dtype.kind in "fc":
        lanes = registry["any"](present(x), axes=axes_of(axis, rank(x)))
        empty = (registry["sum"](registry["invert"](lanes), axes=tuple(range(rank(lanes)))) if rank(lanes)
                 else registry["where"](lanes, 0, 1))
        registry["check_equal"](empty, 0, what="All-NaN slice encountered: their number and what it must be")
    return place(filled(x, worst), axis, out, keepdims=keepdims)


@override("numpy.nanargmax")
def nanargmax(a: ArrayLike, axis: Axes = None, out: object = None, *, keepdims: bool = False) -> AnyArray:
    return _place(reduce.argmax, -np.inf, a, axis, out, keepdims)


@override("numpy.nanargmin")
def nanargmin(a: ArrayLike, axis: Axes = None, out: object = None, *, keepdims: bool = False) -> AnyArray:
    return _place(reduce.argmin, np.inf, a, axis, out, keepdims)


# -- moments ---------------------------------------------------------------------------------------


@override("numpy.nanmean", samples=("np.nanmean(x, axis=0)",))
def nanmean(a: ArrayLike, axis: Axes = None, dtype: object = None, out: object = None, keepdims: bool = False, *,
            where: ArrayLike = True) -> AnyArray:
    x = as_array(a)
    return moments.mean(x, axis, dtype, out, keepdims, where=_mask(x, where))


def _nanvar(a: object, axis: Axes, dtype: DTypeLike, ddof: object, keepdims: bool, where: ArrayLike, mean: object,
            correction: object) -> AnyArray:
    """nan, not an infinity, where no degrees of freedom are left."""
    x = as_array(a)
    mask = _mask(x, where)
    y = moments.var(filled(x, 0), axis, dtype, None, ddof, keepdims, where=mask, mean=mean, correction=correction)
    free = moments.counted(x, axes_of(axis, rank(x)), mask, keepdims) - moments.spent_degrees(ddof, correction)
    return registry["where"](free > 0, y, type_of(y).dtype.type(np.nan))


@override("numpy.nanvar", samples=("np.nanvar(x, axis=0)",))
def nanvar(a: ArrayLike, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False,
           *, where: ArrayLike = True, mean: object = None, correction: object = None) -> AnyArray:
    return into(out, _nanvar(a, axis, dtype, ddof, keepdims, where, mean, correction))


@override("numpy.nanstd", samples=("np.nanstd(x, axis=0)",))
def nanstd(a: ArrayLike, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False,
           *, where: ArrayLike = True, mean: object = None, correction: object = None) -> AnyArray:
    return into(out, moments.root(_nanvar(a, axis, dtype, ddof, keepdims, where, mean, correction)))


def _refuse_masks(name: str) -> None:
    def masked(*args: object, **options: object) -> NoReturn:
        raise refuse(f"numpy.ma.{name}", "arrays", "a masked array is made of an array's memory and a mask",
                     "keep the mask as an array: np.sum(x, where=mask), np.mean(x[mask]), np.where(mask, x, 0.0)")
    override(f"numpy.ma.{name}", note="no: keep the mask as an array")(masked)


for _name in ("array", "asarray", "fix_invalid", "masked_array", "masked_equal", "masked_greater",
              "masked_greater_equal", "masked_inside", "masked_invalid", "masked_less", "masked_less_equal",
              "masked_not_equal", "masked_outside", "masked_values", "masked_where"):
    _refuse_masks(_name)
