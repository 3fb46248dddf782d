"""NumPy's functions that pick elements or put them: take, choose, compress, extract, put, place, putmask, copyto, ...
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, promoted, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Axes, Extent
from ...util.errors import SideEffectError
from .. import extents
from ..assign import as_assigned, assigned
from ..choice import where as where_
from ..dynamic import cut_off, flatnonzero, nonzero
from ..index import index as index_
from ..kinds import same_shape, shape_of
from ..literals import as_array, constant, is_value
from ..override import override
from ..products import size_of
from ..shape import broadcast_to as broadcast_
from ..shape import iota as iota_
from ..shape import reshape as reshape_
from ..subscript import read_subscript, signed
from .arguments import Casting, axes_of, check_all, fixed, in_dtype, into, one_axis, rank, refuse, taken
from .join import stack, strong
from .shape import extents_given, ravel
from .triangles import repeated


def _in_mode(indices: ArrayOrNumber, n: Extent, mode: str, axis: int) -> Any:
    """Indices into an axis of extent n, by NumPy's mode for those out of range."""
    indices = signed(indices)
    if mode == "raise":
        registry["check_index"](indices, n, axis=axis)
        return registry["wrap_index"](indices, n)
    if mode == "wrap":
        return indices % n
    if mode == "clip":
        return registry["minimum"](registry["maximum"](indices, 0), n - 1)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


@override("numpy.take", samples=("np.take(x, [0, 3, 3], axis=1)", "np.take(x, [[5, -1]])",
                                 "np.take(v, [7, -9], mode='wrap')", "np.take(v, 2)"))
def take(a: ArrayLike, indices: ArrayLike, axis: Any = None, out: object = None, mode: str = "raise") -> ArrayOrNumber:
    x = strong(a)
    x, ax = (ravel(x), 0) if axis is None else (x, one_axis(axis, rank(x)))
    i = as_array(indices)
    if mode != "raise":
        i = _in_mode(i, shape_of(x)[ax], mode, ax)
    return into(out, read_subscript(x, (slice(None),) * ax + (i,)).read(x))


@override(method="take", samples=("x.take([0, 2])",))
def take_method(x: ArrayLike, indices: object, axis: Axes = None, out: object = None, mode: str = "raise") -> AnyArray:
    return take(x, indices, axis, out, mode)


def _along_axis(x: AnyArray, indices: object, axis: int) -> tuple:
    """Operands and spec of the selection x[..., indices, ...] of take_along_axis."""
    i = as_array(indices)
    if type_of(i).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if rank(i) != rank(x):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    ax, shape = one_axis(axis, rank(x)), list(shape_of(x))
    i = signed(i)
    registry["check_index"](i, shape[ax], axis=ax)
    i = registry["wrap_index"](i, shape[ax])
    together = extents.broadcast_shapes(shape_of(i), tuple(1 if k == ax else n for k, n in enumerate(shape)))
    parts = [i if k == ax else _axis_numbers(n, k, rank(x)) for k, n in enumerate(shape)]
    return tuple([broadcast_(p, *together) for p in parts]), ("a",) * rank(x)


def _flat_with(x: AnyArray, indices: object) -> AnyArray:
    """x in one axis, which indices of one axis go along."""
    if rank(as_array(indices)) != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")
    return ravel(x)


def _axis_numbers(n: Extent, k: int, ndim: int) -> AnyArray:
    return reshape_(iota_(n, dtype=INT), *[n if j == k else 1 for j in range(ndim)])


@override("numpy.take_along_axis", samples=("np.take_along_axis(x, np.argsort(x, axis=1), axis=1)",))
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int = -1) -> AnyArray:
    x = as_array(arr)
    if axis is None:
        x, axis = _flat_with(x, indices), 0
    operands, spec = _along_axis(x, indices, axis)
    return index_(x, *operands, spec=spec, at=0)


def writable(x: ArrayOrNumber, function: str) -> Any:
    """An array that a function is to write into, which must be of the program."""
    if not is_value(x):
        raise SideEffectError(f"{function} of an array from outside the traced function",
                              do="make the array inside the function, or copy it there")
    return x


@override("numpy.put_along_axis")
def put_along_axis(arr: Any, indices: object, values: object, axis: int) -> None:
    x = writable(arr, "numpy.put_along_axis")
    if axis is None:
        _flat_with(x, indices)
        put(x, indices, values)
        return
    operands, spec = _along_axis(x, indices, axis)
    x.set(registry["update"](x, as_assigned(values, type_of(x).dtype), *operands, spec=spec, at=0))


@override("numpy.choose", method="choose", samples=("np.choose([0, 1, 0, 1], [v, v * v])",))
def choose(a: object, choices: Any, out: Any = None, mode: str = "raise") -> AnyArray:
    which = as_array(a)
    items = ([choices[k] for k in range(fixed(shape_of(choices)[0], "the number of choices"))] if is_value(choices)
             else [as_array(c) for c in choices])
    common = result_dtype(*items)                               # Python's numbers give way to arrays
    items = [strong(in_dtype(c, common)) for c in items]
    if mode == "raise":  # unlike an index, a negative number selects no choice
        check_all((which >= 0) & (which < len(items)), "invalid entry in choice array")
    else:
        which = _in_mode(which, len(items), mode, 0)
    y = items[0]
    for k, item in enumerate(items[1:], 1):
        y = where_(which == k, item, y)
    shape = extents.broadcast_shapes(shape_of(which), shape_of(y))
    return into(out, y if same_shape(shape, shape_of(y)) else broadcast_(y, *shape))


@override("numpy.compress", samples=("np.compress([True, False, True], x, axis=0)", "np.compress(x.ravel() > 0.5, x)"))
def compress(condition: ArrayLike, a: ArrayLike, axis: Any = None, out: Any = None) -> AnyArray:
    x = as_array(a)
    x, ax = (ravel(x), 0) if axis is None else (x, one_axis(axis, rank(x)))
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    places = as_array(condition) if is_value(condition) else np.flatnonzero(condition)
    places = flatnonzero(places) if is_value(places) else constant(places)
    return into(out, read_subscript(x, (slice(None),) * ax + (places,)).read(x))


@override(method="compress")
def compress_method(x: ArrayLike, condition: object, axis: Axes = None, out: object = None) -> AnyArray:
    return compress(condition, x, axis, out)


@override("numpy.extract", samples=("np.extract(x > 0.5, x)",))
def extract(condition: ArrayLike, arr: ArrayLike) -> AnyArray:
    x, c = ravel(as_array(arr)), ravel(as_array(condition))
    return read_subscript(x, flatnonzero(c)).read(x)


# -- put -------------------------------------------------------------------------------------------


@override("numpy.put", method="put")
def put(a: Any, ind: object, v: object, mode: str = "raise") -> None:
    """a.flat[ind] = v, with v repeated as often as needed."""
    x = writable(a, "numpy.put")
    flat, i = ravel(x), as_array(ind)
    i = _in_mode(ravel(i) if rank(i) else reshape_(i, 1), shape_of(flat)[0], mode, 0)
    values = as_assigned(v, type_of(x).dtype)
    if rank(values):
        values = repeated(ravel(values), shape_of(i)[0])
    x.set(reshape_(read_subscript(flat, i).write(flat, values), *shape_of(x)))


def _require_castable(v: object, x: AnyArray, casting: Casting) -> None:
    """Raise unless a value may be cast to the dtype of the array that it is written to. Python's numbers take the
    array's dtype if they are of its kind."""
    t, dtype = type_of(v), type_of(x).dtype
    own = promoted([t, type_of(x)]) if t.weak else t.dtype
    if not np.can_cast(own, dtype, casting):
        raise TypeError(f"Cannot cast {'array data' if t.shape else 'scalar'} from {own!r} to {dtype!r} according to "
                        f"the rule {casting!r}")


@override("numpy.place")
def place(arr: Any, mask: Any, vals: Any) -> None:
    """The k-th element where the mask holds becomes vals[k], vals repeated as often as needed."""
    x, m = writable(arr, "numpy.place"), as_array(mask)
    m = m if type_of(m).dtype.kind == "b" else m != 0
    if hasattr(vals, "dtype"):
        _require_castable(vals, x, "safe")
    values = as_assigned(vals, type_of(x).dtype)
    if rank(values):
        values = ravel(values)
        number = registry["cumsum"](in_dtype(ravel(m), INT), axis=0) - 1
        values = reshape_(index_(values, number % size_of(shape_of(values)), spec=("a",), at=0), *shape_of(m))
    x.set(where_(reshape_(m, *shape_of(x)), values if not rank(values) else reshape_(values, *shape_of(x)), x))


@override("numpy.putmask")
def putmask(a: Any, mask: Any, values: object) -> None:
    """a.flat[k] = values.flat[k % values.size] where the mask holds."""
    x, m = writable(a, "numpy.putmask"), as_array(mask)
    if hasattr(values, "dtype") and rank(values):
        _require_castable(values, x, "safe")
    v = as_assigned(values, type_of(x).dtype)
    if rank(v) and not same_shape(shape_of(v), shape_of(x)):
        v = reshape_(repeated(ravel(v), size_of(shape_of(x))), *shape_of(x))
    x.set(where_(m if type_of(m).dtype.kind == "b" else m != 0, v, x))


@override("numpy.copyto")
def copyto(dst: Any, src: Any, casting: Casting = "same_kind", where: object = True) -> None:
    x, v = writable(dst, "numpy.copyto"), as_array(src)
    _require_castable(v, x, casting)
    v = as_assigned(v, type_of(x).dtype)
    if where is not True:
        v = where_(as_array(where), v, x)
    x.set(assigned(x, Ellipsis, v))


# -- indices as data -------------------------------------------------------------------------------


@override("numpy.ix_")
def ix_(*args: object) -> tuple:
    out = []
    for k, a in enumerate(args):
        i = as_array(a)
        if rank(i) != 1:
            raise ValueError("Cross index must be 1 dimensional")
        i = nonzero(i)[0] if type_of(i).dtype.kind == "b" else i
        out.append(reshape_(i, *[1] * k, shape_of(i)[0], *[1] * (len(args) - k - 1)))
    return tuple(out)


def _strides(dims: tuple, order: str) -> list:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    strides, total = [], 1
    for n in dims[::-1] if order == "C" else dims:
        strides.append(total)
        total = total * n
    return strides[::-1] if order == "C" else strides


@override("numpy.unravel_index")
def unravel_index(indices: object, shape: object, order: str = "C") -> tuple:
    i, dims = _positions(indices), extents_given(shape)
    registry["check_index"](i, size_of(dims), axis=0)
    return tuple([(i // s) % n for s, n in zip(_strides(dims, order), dims)])


def _positions(indices: Any) -> AnyArray:
    i = as_array(indices)
    if type_of(i).dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    return in_dtype(i, INT)                                     # a small type would overflow


@override("numpy.ravel_multi_index")
def ravel_multi_index(multi_index: Any, dims: object, mode: str = "raise", order: str = "C") -> AnyArray:
    sizes = extents_given(dims)
    modes = mode if isinstance(mode, tuple) else (mode,) * len(sizes)
    if any(isinstance(n, int) and n == 0 for n in sizes):
        raise ValueError("cannot unravel if shape has zero entries (is empty).")
    total: Any = 0
    for k, (i, n, s, m) in enumerate(zip(multi_index, sizes, _strides(sizes, order), modes)):
        total = total + _in_mode(_positions(i), n, m, k) * s
    return total


# -- functions applied to parts --------------------------------------------------------------------


@override("numpy.apply_along_axis",
          samples=("np.apply_along_axis(lambda r: r * r.sum(), 1, x)",
                   "np.apply_along_axis(lambda r: r[0] * r[1], 0, x)"))
def apply_along_axis(func1d: Callable, axis: int, arr: ArrayLike, *args: object, **kwargs: object) -> AnyArray:
    x = as_array(arr)
    ax = one_axis(axis, rank(x))
    other = tuple(n for k, n in enumerate(shape_of(x)) if k != ax)
    sizes = tuple(fixed(n, "the shape that np.apply_along_axis goes over") for n in other)
    rows = [strong(func1d(x[place[:ax] + (slice(None),) + place[ax:]], *args, **kwargs))
            for place in np.ndindex(*sizes)]
    y = stack(rows)
    part = rank(y) - 1
    y = reshape_(y, *sizes, *shape_of(y)[1:])
    order = list(range(rank(y)))
    return registry["transpose"](y, axes=(*order[:ax], *order[len(sizes):len(sizes) + part], *order[ax:len(sizes)]))


@override("numpy.apply_over_axes", samples=("np.apply_over_axes(np.sum, x, [0, 1])",))
def apply_over_axes(func: Callable, a: ArrayLike, axes: Axes) -> AnyArray:
    y = as_array(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        ax = one_axis(axis, rank(y))
        z = func(y, ax)
        y = z if rank(z) == rank(y) else reshape_(z, *[1 if k == ax else n for k, n in enumerate(shape_of(y))])
    return y


@override("numpy.trim_zeros", samples=("np.trim_zeros(np.concatenate([[0.0], v, [0.0, 0.0]]))",))
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axes = None) -> AnyArray:
    x, sides = as_array(filt), trim.lower()
    if sides not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    if rank(x) != 1:
        raise refuse("numpy.trim_zeros", "more than one axis")
    if not axes_of(axis, 1):
        return x
    used = flatnonzero(x)
    n, count = shape_of(x)[0], shape_of(used)[0]
    padded = registry["concatenate"](used, iota_(1, dtype=INT) + n, axis=0) if "f" in sides else None
    start = 0 if padded is None else taken(padded, 0)
    ahead = registry["concatenate"](iota_(1, dtype=INT) - 1, used, axis=0) if "b" in sides else None
    stop = n if ahead is None else taken(ahead, count) + 1
    y, place = read_subscript(x, slice(start, stop)).read(x), iota_(n, dtype=INT)
    dropped = registry["logical_or"](registry["less"](place, start), registry["greater_equal"](place, stop))
    return cut_off(y, x, dropped) if type_of(x).dtype.kind in "fc" else y


# -- questions about types -------------------------------------------------------------------------


@override("numpy.result_type")
def result_type(*arrays_and_dtypes: ArrayLike) -> np.dtype:
    return np.result_type(*[_for_promotion(a) for a in arrays_and_dtypes])


def _for_promotion(a: object) -> Any:
    if not is_value(a):
        return a
    t = type_of(a)
    return {"b": False, "i": 0, "f": 0.0, "c": 0j}[t.dtype.kind] if t.weak else t.dtype


@override("numpy.can_cast")
def can_cast(from_: ArrayLike, to: Any, casting: Casting = "safe") -> bool:
    return np.can_cast(type_of(from_).dtype if is_value(from_) else from_, to, casting)


@override("numpy.common_type")
def common_type(*arrays: object) -> type:
    return np.common_type(*[np.empty(0, type_of(a).dtype) for a in arrays])


@override("numpy.min_scalar_type")
def min_scalar_type(a: object, /) -> np.dtype:
    return type_of(a).dtype


@override("numpy.isscalar")
def isscalar(element: object) -> bool:
    return not rank(element) if is_value(element) else np.isscalar(element)


@override("numpy.iterable")
def iterable(y: object) -> bool:
    return bool(rank(y))


@override("numpy.shares_memory", "numpy.may_share_memory")
def shares_memory(*args: object, **kwargs: object) -> bool:
    raise refuse("numpy.shares_memory", "arrays", "a traced array has no memory yet")


@override("numpy.ndenumerate")
def ndenumerate(arr: ArrayLike) -> Any:
    x = as_array(arr)
    places = np.ndindex(*[fixed(n, "the shape that np.ndenumerate goes over") for n in shape_of(x)])
    return ((place, x[place]) for place in places)


@override("numpy.nditer")
def nditer(*args: object, **kwargs: object) -> Any:
    raise refuse("numpy.nditer", "arrays", "it hands out places in their memory",
                 do="iterate over x.flat, or over np.ndenumerate(x)")
