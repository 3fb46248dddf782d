"""NumPy's means: mean, average, var, std, cov, corrcoef."""
from functools import cache
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import FLOAT, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, DTypeLike, Extent
from .. import extents
from ..kinds import conjugate, shape_of
from ..literals import as_array
from ..override import override
from .arguments import axes_of, check_all, extent_of, in_dtype, into, is_given, kept, masked, one_axis, rank, refuse
from .reduce import reduced, sum_


def mean_dtype(x: AnyArray, dtype: Any) -> Any:
    """The dtype in which NumPy takes a mean: float64 for integers and bools."""
    if is_given(dtype) and np.dtype(dtype).kind in "biu":
        raise refuse("a mean", f"dtype={np.dtype(dtype)}", "sums of integers are not divided")
    if is_given(dtype):
        return np.dtype(dtype)
    have = type_of(x).dtype
    return np.dtype(float) if have.kind in "biu" else have


def counted(x: AnyArray, axes: tuple, where: object, keepdims: bool = False) -> Any:
    """The number of elements along the axes that take part."""
    if where is True or not is_given(where):
        return extent_of(x, axes)
    taking_part = registry["broadcast_to"](as_array(where), *shape_of(x))
    return kept(sum_(taking_part, axes=axes), x, axes, keepdims)


def divided(total: AnyArray, count: Extent) -> AnyArray:
    """total / count in the dtype of the total; 0 / 0 is nan, as NumPy has it."""
    if isinstance(count, int) and count == 0:
        count = np.float64(0)
    return in_dtype(total / count, type_of(total).dtype)


@override("numpy.mean", method="mean", samples=("np.mean(x)", "np.mean(x, axis=1, keepdims=True)", "x.mean()"))
def mean(a: ArrayLike, axis: Axes = None, dtype: object = None, out: object = None, keepdims: bool = False, *,
         where: ArrayLike = True) -> AnyArray:
    x = as_array(a)
    x = in_dtype(x, mean_dtype(x, dtype))
    axes = axes_of(axis, rank(x))
    total = reduced(sum_, masked(x, where, 0), axis, keepdims)
    return into(out, divided(total, counted(x, axes, where, keepdims)))


def squared(x: ArrayOrNumber) -> AnyArray:
    """|x|^2, real."""
    if type_of(x).dtype.kind == "c":
        return registry["real"](x * conjugate(x))
    return registry["square"](x)


def root(x: AnyArray) -> AnyArray:
    """The square root of a sum of squares. At zero the root has a kink, and the subgradient of least norm is zero."""
    none = x == 0
    return registry["where"](none, 0.0, registry["sqrt"](registry["where"](none, 1.0, x)))


@override("numpy.var", method="var", samples=("np.var(x)", "np.var(x, axis=0, ddof=1)", "x.var(0)"))
def var(a: ArrayLike, axis: Axes = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False, *,
        where: ArrayLike = True, mean: object = None, correction: object = None) -> AnyArray:
    x = as_array(a)
    x = in_dtype(x, mean_dtype(x, dtype))
    axes = axes_of(axis, rank(x))
    if is_given(mean):
        centre = as_array(mean)
    else:
        centre = divided(reduced(sum_, masked(x, where, 0), axis, True), counted(x, axes, where, True))
    total = reduced(sum_, squared(masked(x - centre, where, 0)), axis, keepdims)
    free = counted(x, axes, where, keepdims) - spent_degrees(ddof, correction)
    return into(out, in_dtype(divided(total, positive(free)), dtype))


def spent_degrees(ddof: object, correction: object) -> Any:
    """The degrees of freedom that a mean has spent, under either name."""
    if not is_given(correction):
        return ddof
    if not isinstance(ddof, (int, float)) or ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def positive(n: Extent) -> Any:
    """n where it is positive, else 0: degrees of freedom."""
    if isinstance(n, (int, float)):
        return n if n > 0 else 0
    return registry["maximum"](n, 0)


@override("numpy.std", method="std", samples=("np.std(x, axis=1)", "x.std()"), note="0 where all elements are equal")
def std(a: ArrayLike, axis: Axes = None, dtype: object = None, out: Any = None, ddof: Any = 0, keepdims: bool = False,
        *, where: ArrayLike = True, mean: object = None, correction: object = None) -> AnyArray:
    return into(out, root(var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)))


@override("numpy.average", samples=("np.average(x, axis=0, weights=[1., 2., 3.])", "np.average(x, axis=1, weights=v)"))
def average(a: ArrayLike, axis: Axes = None, weights: object = None, returned: bool = False, *,
            keepdims: bool = False) -> Any:
    x = as_array(a)
    axes = axes_of(axis, rank(x))
    if weights is None:
        y = mean(x, axis, keepdims=keepdims)
        scale: Any = extent_of(x, axes) * 1.0
    else:
        w = _weights_like(x, as_array(weights), axis)
        dtype = np.result_type(type_of(x).dtype, type_of(w).dtype, *([FLOAT] if type_of(x).dtype.kind in "biu" else []))
        x, w = in_dtype(x, dtype), in_dtype(w, dtype)
        scale = reduced(sum_, w, axis, keepdims)
        check_all(registry["not_equal"](scale, 0), "Weights sum to zero, can't be normalized", "ZeroDivisionError")
        y = reduced(sum_, x * w, axis, keepdims) / scale
    if not returned:
        return y
    scale = registry["cast"](scale, dtype=type_of(y).dtype)     # a number of elements is Python's
    return y, registry["broadcast_to"](scale, *shape_of(y)) if shape_of(scale) != shape_of(y) else scale


def _weights_like(x: AnyArray, w: AnyArray, axis: Axes) -> AnyArray:
    """The weights in x's shape; weights of one axis (or of the axes averaged over) are stretched along the others."""
    places = [one_axis(k, rank(x)) for k in (axis if isinstance(axis, tuple) else (axis,))] if is_given(axis) else []
    pairs, of = list(zip(shape_of(w), shape_of(x))), "extents of the weights and the array"
    if rank(w) == rank(x) and (places == sorted(places) or all(
            extents.is_at_least(m, n) and extents.is_at_least(n, m) for m, n in pairs)):
        for m, n in pairs:
            extents.agree(m, n, of)
        return w
    if not places:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if rank(w) != len(places):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    w = registry["transpose"](w, axes=tuple(int(k) for k in np.argsort(places)))
    shape = tuple(n if k in places else 1 for k, n in enumerate(shape_of(x)))
    return registry["broadcast_to"](registry["reshape"](w, *shape), *shape_of(x))


# -- covariance ------------------------------------------------------------------------------------


def _observations(m: object, y: object, rowvar: bool) -> AnyArray:
    """Variables in rows, observations in columns."""
    x = _rows(as_array(m), rowvar)
    if not is_given(y):
        return x
    return registry["concatenate"](x, _rows(as_array(y), rowvar), axis=0)


def _rows(x: AnyArray, rowvar: bool) -> AnyArray:
    if rank(x) > 2:
        raise ValueError("m has more than 2 dimensions")
    if rank(x) < 2:
        return registry["reshape"](x, 1, extents.product(shape_of(x)))
    is_one_row = isinstance(x.shape[0], int) and x.shape[0] == 1
    return x if rowvar or is_one_row and _one_row_is_a_variable() else registry["transpose"](x, axes=(1, 0))


@cache
def _one_row_is_a_variable() -> bool:
    """Whether this NumPy ignores rowvar=False for a single row, as older ones do."""
    return np.cov(np.ones((1, 2)), rowvar=False, ddof=0).ndim == 0


@override("numpy.cov", samples=("np.cov(x)", "np.cov(v, v * v)", "np.cov(x, rowvar=False, ddof=0)"))
def cov(m: ArrayLike, y: "ArrayLike | None" = None, rowvar: bool = True, bias: bool = False, ddof: object = None,
        fweights: object = None, aweights: "ArrayLike | None" = None, *, dtype: object = None) -> AnyArray:
    x = _observations(m, y, rowvar)
    x = in_dtype(x, dtype if is_given(dtype) else np.result_type(type_of(x).dtype, np.float64))
    ddof = (0 if bias else 1) if ddof is None else ddof
    n = shape_of(x)[1]
    w = _observation_weights(n, fweights, aweights)
    if w is None:
        total, free = 1.0 * n, n - ddof
        centred = x - mean(x, axis=1, keepdims=True)
        other = centred
    else:
        total = sum_(w, axes=(0,))
        spent = 0 if ddof == 0 else ddof if aweights is None else ddof * sum_(w * as_array(aweights), axes=(0,)) / total
        free = total - spent
        centred = x - registry["reshape"](registry["contract"](x, w * 1.0, labels=("ij", "j", "i")) / total,
                                          shape_of(x)[0], 1)
        other = centred * w
    product = registry["contract"](centred, conjugate(other), labels=("ij", "kj", "ik")) / positive(free)
    rows = shape_of(product)[0]
    return registry["reshape"](product) if isinstance(rows, int) and rows == 1 else product


def _observation_weights(n: Extent, fweights: object, aweights: object) -> "AnyArray | None":
    given = [as_array(w) for w in (fweights, aweights) if w is not None]
    if fweights is not None and type_of(given[0]).dtype.kind == "f":
        check_all(given[0] == registry["rint"](given[0]), "fweights must be integer", "TypeError")
    for w in given:
        if rank(w) > 1:
            raise RuntimeError("cannot handle multidimensional weights")
        extents.agree(n, shape_of(w)[0], "numbers of samples and weights")
        check_all(~(w < 0), "weights cannot be negative")
    return None if not given else given[0] if len(given) == 1 else given[0] * given[1]


@override("numpy.corrcoef", samples=("np.corrcoef(x)",))
def corrcoef(x: ArrayLike, y: "ArrayLike | None" = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> AnyArray:
    c = cov(x, y, rowvar, dtype=dtype)
    if not rank(c):
        return c / c
    places = registry["iota"](shape_of(c)[0], dtype=np.dtype(np.int64))
    variances = registry["index"](c, places, places, spec=("a", "a"), at=0)
    deviations = registry["sqrt"](registry["real"](variances) if type_of(c).dtype.kind == "c" else variances)
    scaled = c / registry["reshape"](deviations, shape_of(c)[0], 1) / deviations
    if type_of(c).dtype.kind == "c":
        return scaled
    return registry["minimum"](registry["maximum"](scaled, -1.0), 1.0)
