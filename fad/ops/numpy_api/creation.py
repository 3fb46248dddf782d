"""NumPy's functions that make arrays: zeros, full, eye, arange, linspace, array, meshgrid, ...

Called while a program is being traced, they are part of it.
"""
import math
import operator
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.op import registry
from ...ir.types import FLOAT, INT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, DTypeLike, Extent
from .. import extents
from ..kinds import shape_of
from ..literals import as_array, constant, has_values, is_value
from ..override import check_finite, override
from ..records import Record, Records, array_of_records, record_rows, records_of
from ..shape import broadcast_to as broadcast_
from ..shape import full as full_
from ..shape import iota as iota_
from ..shape import reshape as reshape_
from ..slices import integer
from .arguments import check_all, in_dtype, is_given, one_axis, rank, refuse
from .shape import expand_dims, extents_given, moveaxis


def _refuse_like(function: str, like: object) -> None:
    if like is not None:
        raise refuse(function, "like")


def check_order(order: str) -> None:
    """An error unless NumPy has such an order of elements in memory."""
    if order is not None and str(order).upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")


def in_order(y: Any, order: str) -> AnyArray:
    """y, marked as not in C order if Fortran's order was asked for: then fad does not know whether a reshape copies
    it."""
    check_order(order)
    if order not in ("F", "f") or rank(y) < 2 or not isinstance(y, Value):
        return y
    y = registry["cast"](y, dtype=type_of(y).dtype)
    current().trace.dense[y.atom] = False
    return y


def filled(shape: Any, value: object, dtype: Any) -> AnyArray:
    """An array of one value (or of values that broadcast), in this dtype."""
    new, dtype = extents_given(shape), np.dtype(dtype)
    if any(isinstance(n, int) and n < 0 for n in new):
        raise ValueError("negative dimensions are not allowed")
    if dtype.names:
        return records_of(dtype, new, lambda shape, field: filled(shape, value, field))
    if dtype.kind not in "biufc":
        if stack.is_live() and not is_value(value):          # the tape has the very values that Python has
            return np.full(new, value, dtype)
        raise refuse("a creation function", f"dtype={dtype}")
    v = as_array(value)
    if rank(v):
        return broadcast_(in_dtype(v, dtype), *new)
    if not is_value(v):
        v = v.item() if hasattr(v, "item") else v
        v = v.real if isinstance(v, complex) and dtype.kind != "c" else v
        v = {"b": bool, "f": float, "c": complex}.get(dtype.kind, int)(v)
    return full_(v, *new, dtype=dtype)


def _uniform(name: str, value: object) -> None:
    @override(f"numpy.{name}", creation=True)
    def of_shape(shape: ArrayLike, dtype: object = None, order: str = "C", *, device: object = None,
                 like: object = None) -> AnyArray:
        _refuse_like(f"numpy.{name}", like)
        return in_order(filled(shape, value, float if dtype is None else dtype), order)

    @override(f"numpy.{name}_like")
    def like_another(a: ArrayLike, dtype: object = None, order: str = "K", subok: bool = True, shape: object = None, *,
                     device: object = None) -> AnyArray:
        return in_order(_like(a, value, dtype, shape), order)


def _like(a: object, value: object, dtype: object, shape: object) -> AnyArray:
    x = a if isinstance(a, Records) else as_array(a)
    if isinstance(x, Records):
        return filled(x.shape if shape is None else shape, value, x.dtype if dtype is None else dtype)
    return filled(shape_of(x) if shape is None else shape, value, type_of(x).dtype if dtype is None else dtype)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", 0)):
    _uniform(_name, _value)


@override("numpy.full", creation=True, samples=("np.full((2, 2), v[0])", "np.full((3, 4), v)"))
def full(shape: object, fill_value: ArrayLike, dtype: object = None, order: str = "C", *, device: object = None,
         like: object = None) -> AnyArray:
    _refuse_like("numpy.full", like)
    return in_order(filled(shape, fill_value, type_of(as_array(fill_value)).dtype if dtype is None else dtype), order)


@override("numpy.full_like", samples=("np.full_like(x, v[1])",))
def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: object = None, order: str = "K", subok: bool = True,
              shape: object = None, *, device: object = None) -> AnyArray:
    return in_order(_like(a, fill_value, dtype, shape), order)


def diagonal_mask(n: Extent, m: Extent, k: ArrayOrNumber, compare: Callable) -> AnyArray:
    """The n x m booleans compare(column - row, k)."""
    k = int(k) if isinstance(k, float) and k.is_integer() else integer(k)
    return compare(iota_(m, dtype=INT) - reshape_(iota_(n, dtype=INT), n, 1), k)


@override("numpy.eye", creation=True)
def eye(N: ArrayLike, M: Any = None, k: Any = 0, dtype: DTypeLike = float, order: str = "C", *, device: Any = None,
        like: object = None) -> AnyArray:
    _refuse_like("numpy.eye", like)
    n, = extents_given(N)
    m = n if M is None else extents_given(M)[0]
    return in_order(registry["cast"](diagonal_mask(n, m, k, registry["equal"]), dtype=np.dtype(dtype)), order)


@override("numpy.identity", creation=True)
def identity(n: object, dtype: DTypeLike = None, *, like: object = None) -> AnyArray:
    return eye(n, dtype=float if dtype is None else dtype, like=like)


@override("numpy.tri", creation=True)
def tri(N: object, M: object = None, k: Any = 0, dtype: DTypeLike = float, *, like: object = None) -> AnyArray:
    _refuse_like("numpy.tri", like)
    n, = extents_given(N)
    m = n if M is None else extents_given(M)[0]
    return registry["cast"](diagonal_mask(n, m, k, registry["less_equal"]), dtype=np.dtype(dtype))


# -- ranges ----------------------------------------------------------------------------------------


@override("numpy.arange", creation=True)
def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: DTypeLike = None, *, device: Any = None,
           like: object = None) -> Any:
    _refuse_like("numpy.arange", like)
    if start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    first, end = (0, start) if stop is None else (0 if start is None else start, stop)
    step = 1 if step is None else step
    if all(_is_integer(n) for n in (first, end, step)):
        return in_dtype(_integers(*extents_given((first, end, step))), dtype)
    if not any(is_value(n) for n in (first, end, step)):
        return constant(np.arange(first, end, step, dtype=dtype))
    common = result_dtype(INT.type(0), first, end, step) if dtype is None else np.dtype(dtype)
    check_all(registry["not_equal"](step, 0), "Maximum allowed size exceeded")
    if common.kind != "f":
        raise refuse("numpy.arange", f"traced floats for a range of {common}")
    return in_dtype(_steps(first, end, step), common)


def _is_integer(n: ArrayOrNumber) -> bool:
    return isinstance(n, (int, np.integer)) or (is_value(n) and rank(n) == 0 and type_of(n).dtype.kind in "iu")


def _steps(first: ArrayOrNumber, end: ArrayOrNumber, step: ArrayOrNumber) -> AnyArray:
    """first, first + step, ...: as many as lie before end; of the same rounding as NumPy's."""
    room = registry["cast"](registry["ceil"]((end - first) / step), dtype=INT)
    n, = extents_given(registry["maximum"](room, 0))
    return first + iota_(n, dtype=FLOAT) * ((first + step) - first)


def _integers(first: object, end: Extent, step: int) -> AnyArray:
    """first, first + step, ... before end."""
    if not isinstance(step, int):
        step = operator.index(step)
    far, near = (end, first) if step > 0 else (first, end)
    length = extents.difference(far, near)
    size = abs(step)
    y = iota_(length if size == 1 else (length + (size - 1)) // size, dtype=INT)
    y = y if step == 1 else y * step
    return y if isinstance(first, int) and first == 0 else y + first


@override("numpy.linspace", creation=True,
          samples=("np.linspace(v[0], v[1], 5)", "np.linspace(v, x[0], 3, endpoint=False, axis=1)"))
def linspace(start: AnyArray, stop: AnyArray, num: ArrayLike = 50, endpoint: bool = True, retstep: bool = False,
             dtype: DTypeLike = None, axis: int = 0, *, device: object = None) -> Any:
    n, = extents_given(num)
    start, stop = (as_array(a) for a in (start, stop))
    common = result_dtype(start, stop, float(0))
    parts = n - 1 if endpoint else n
    start, delta = start * 1.0, stop * 1.0 - start * 1.0
    step = delta / parts if retstep and extents.is_at_least(parts, 1) else math.nan
    lead = [n] + [1] * max(rank(start), rank(delta))
    t = reshape_(iota_(n, dtype=np.dtype(float)), *lead)
    between = max(parts, 1) if isinstance(parts, int) else registry["maximum"](parts, 1)  # a single point has no step
    y = t * (delta / between) + start
    if endpoint and extents.assume_at_least(n, 2):
        y = registry["update"](y, stop * 1.0, n - 1, spec=("i", *[":"] * (rank(y) - 1)), at=0)
    dtype = common if dtype is None else np.dtype(dtype)
    y = in_dtype(registry["floor"](y) if dtype.kind in "iu" else y, dtype)
    y = moveaxis(y, 0, one_axis(axis, rank(y)))
    return (y, step) if retstep else y


@override("numpy.logspace", creation=True,
          samples=("np.logspace(v[0], v[1], 4)", "np.logspace(0.0, 1.0, 3, base=v[2])"))
def logspace(start: ArrayLike, stop: ArrayLike, num: object = 50, endpoint: bool = True, base: ArrayLike = 10.0,
             dtype: object = None, axis: int = 0) -> AnyArray:
    base = as_array(base)
    if rank(base):
        raise refuse("numpy.logspace", "an array of bases")
    return in_dtype(registry["pow"](base, linspace(start, stop, num, endpoint, axis=axis)), dtype)


@override("numpy.geomspace", creation=True, samples=("np.geomspace(v[0], v[1], 4)", "np.geomspace(-v[0], -2.0, 4)"),
          precision="double")
def geomspace(start: ArrayLike, stop: ArrayLike, num: object = 50, endpoint: bool = True, dtype: DTypeLike = None,
              axis: int = 0) -> AnyArray:
    """Equal steps of the logarithm between the ends' absolute values, in the sign of both."""
    start, stop = (as_array(a) * 1.0 for a in (start, stop))
    if any(type_of(a).dtype.kind == "c" for a in (start, stop)) or np.dtype(dtype).kind == "c":
        raise refuse("numpy.geomspace", "complex ends or a complex dtype")
    for end in (start, stop):
        check_all(end != 0, "Geometric sequence cannot include zero")
    sign, log = registry["sign"](start), registry["log10"]
    first, last = start * sign, stop * sign
    y = registry["pow"](10.0, linspace(log(first), log(last), num, endpoint))
    n, row = shape_of(y)[0], ("i", *[":"] * (rank(y) - 1))
    if extents.assume_at_least(n, 1):
        y = registry["update"](y, first, 0, spec=row, at=0)
    if endpoint and extents.assume_at_least(n, 2):
        y = registry["update"](y, last, n - 1, spec=row, at=0)
    return moveaxis(in_dtype(sign * y, dtype), 0, one_axis(axis, rank(y)))


# -- arrays of what is given -----------------------------------------------------------------------


def fresh(x: object) -> Any:
    """A copy of x: the same value in a handle of its own."""
    if isinstance(x, Value):
        return type(x)(x.builder, x.atom)
    return np.array(x) if not is_value(x) else registry["cast"](x, dtype=type_of(x).dtype)


def as_strong(a: object, dtype: Any = None) -> AnyArray:
    """An array of the argument, in a dtype of its own (a Python number's is float64, int64, ...). Objects and texts
    are no part of a program."""
    if is_given(dtype) and np.dtype(dtype).kind not in "biufc" and not has_values(a):
        return np.asarray(a, dtype)
    x = as_array(a)
    if not is_value(x):
        if not stack.builders() or np.asarray(x).dtype.kind not in "biufc":
            return np.asarray(x, dtype)
        x = current().watch(x) if isinstance(x, np.ndarray) else constant(np.array(x))
    if type_of(x).weak:
        return registry["cast"](x, dtype=type_of(x).dtype if dtype is None else np.dtype(dtype))
    return in_dtype(x, dtype)


def _with_rank(x: AnyArray, least: int) -> AnyArray:
    return reshape_(x, *[1] * (least - rank(x)), *shape_of(x)) if rank(x) < least else x


@override("numpy.array", creation=True,
          samples=("np.array([v[0], v[1] * 2, 3.0])", "np.array([[v[0], 1.0], [v[1], v[2]]])", "np.array([x, x])"))
def array(object: ArrayLike, dtype: object = None, *, copy: bool = True, order: str = "K", subok: bool = False,
          ndmin: int = 0, like: object = None) -> AnyArray:
    _refuse_like("numpy.array", like)
    if isinstance(object, (Record, Records)) and dtype is None:
        return array_of_records(object, copy)
    if dtype is not None and np.dtype(dtype).names:              # type: ignore[call-overload]
        return record_rows(object, np.dtype(dtype), array)       # type: ignore[call-overload]
    y = _unless_copied(_with_rank(as_strong(object, dtype), ndmin), object, order, copy)
    return in_order(fresh(y), order) if copy and y is object else y


@override("numpy.asarray", "numpy.asanyarray", creation=True, samples=("np.asarray(x)", "np.asarray([v[0], 1.0])"))
def asarray(a: ArrayLike, dtype: object = None, order: Any = None, *, device: Any = None, copy: Any = None,
            like: Any = None) -> AnyArray:
    _refuse_like("numpy.asarray", like)
    if isinstance(a, (Record, Records)) and dtype is None:
        return array_of_records(a, bool(copy))
    y = _unless_copied(as_strong(a, dtype), a, order, copy)
    return in_order(fresh(y), order) if copy and y is a else y


def _unless_copied(y: AnyArray, given: Any, order: Any, copy: Any) -> AnyArray:
    """y, made of what is given, in this order. An array that needs no change stays what it is: the caller of the
    override knows how it lies in memory, and copies it if it has to lie in another order (see
    trace/values/mutation.py).
    """
    check_order(order)
    if y is given:
        return y
    if copy is False and not (is_value(given) and rank(given)):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return in_order(y, order)


@override("numpy.asarray_chkfinite", creation=True, samples=("np.asarray_chkfinite(x)",))
def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: object = None) -> AnyArray:
    y = asarray(a, dtype, order)
    check_finite(y)
    return y


@override("numpy.asfortranarray", creation=True)
def asfortranarray(a: ArrayLike, dtype: DTypeLike = None, *, like: object = None) -> AnyArray:
    _refuse_like("numpy.asfortranarray", like)
    return _unless_copied(_with_rank(as_strong(a, dtype), 1), a, "F", None)


@override("numpy.ascontiguousarray", creation=True, samples=("np.ascontiguousarray(x.T)",))
def ascontiguousarray(a: ArrayLike, dtype: DTypeLike = None, *, like: object = None) -> AnyArray:
    _refuse_like("numpy.ascontiguousarray", like)
    return _with_rank(as_strong(a, dtype), 1)


@override("numpy.require", creation=True)
def require(a: ArrayLike, dtype: object = None, requirements: Any = None, *, like: Any = None) -> AnyArray:
    wanted = [requirements] if isinstance(requirements, str) else requirements or ()
    if any(r.upper() in ("O", "OWNDATA") for r in wanted):
        raise refuse("numpy.require", "OWNDATA", "whether an array owns its memory is not known", "copy it")
    return asarray(a, dtype, "F" if any(r.upper()[:1] == "F" for r in wanted) else None, like=like)


@override("numpy.copy", samples=("np.copy(x)",))
def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> AnyArray:
    return fresh(in_order(as_strong(a), order))


@override("numpy.fromiter", creation=True, samples=("np.fromiter((t * t for t in v), float)",))
def fromiter(iter: Any, dtype: object, count: int = -1, *, like: object = None) -> AnyArray:
    _refuse_like("numpy.fromiter", like)
    return as_strong(list(iter if count < 0 else islice(iter, count)), dtype)


# -- grids -----------------------------------------------------------------------------------------


@override("numpy.meshgrid", samples=("np.meshgrid(v, v)[0] * np.meshgrid(v, v)[1]",
                                     "np.meshgrid(v, x[0], indexing='ij')[1]"))
def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    count = len(xi)
    places = list(range(count))
    if indexing == "xy" and count > 1:
        places[:2] = [1, 0]
    vectors = [as_strong(x) for x in xi]
    shape: list = [1] * count
    grids = []
    for x, place in zip(vectors, places):
        n = extents.product(shape_of(x))
        shape[place] = n
        grids.append(reshape_(x, *[n if k == place else 1 for k in range(count)]))
    return tuple(grids) if sparse else tuple([broadcast_(g, *shape) for g in grids])


@override("numpy.indices", creation=True)
def indices(dimensions: object, dtype: DTypeLike = int, sparse: bool = False) -> Any:
    shape = extents_given(dimensions)
    grids = [reshape_(iota_(n, dtype=np.dtype(dtype)), *[n if j == k else 1 for j in range(len(shape))])
             for k, n in enumerate(shape)]
    if sparse:
        return tuple(grids)
    if not grids:
        return filled((0,), 0, dtype)
    return registry["concatenate"](*[expand_dims(broadcast_(g, *shape), 0) for g in grids], axis=0)


@override("numpy.fromfunction", creation=True)
def fromfunction(function: Callable, shape: object, *, dtype: DTypeLike = float, like: object = None,
                 **kwargs: object) -> AnyArray:
    _refuse_like("numpy.fromfunction", like)
    grid = indices(shape, dtype)
    return function(*[grid[k] for k in range(len(extents_given(shape)))], **kwargs)
