"""Calls of ufuncs with options (out, where, dtype, casting) and their methods: reduce, accumulate, outer, at,
reduceat."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.op import registry
from ...ir.types import INT, type_of
from ...util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from ...util.errors import SideEffectError
from .. import extents
from ..keywords import fitted
from ..kinds import shape_of
from ..literals import as_array, is_value, known, numpy_number
from ..override import BY_NAME, METHODS, find
from ..subscript import read_subscript
from .arguments import Casting, axes_of, check_all, fixed, in_dtype, is_given, kept, one_axis, refuse, taken
from .creation import check_order, in_order
from .join import strong
from .ufuncs import as_float

REDUCTIONS = {"add": "numpy.sum", "multiply": "numpy.prod", "maximum": "numpy.max", "minimum": "numpy.min",
              "logical_and": "numpy.all", "logical_or": "numpy.any"}
SCANS = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin", "logaddexp": "cumlogaddexp"}
IDENTITIES = {"logaddexp": -np.inf, "logaddexp2": -np.inf, "hypot": 0.0, "bitwise_or": 0, "bitwise_xor": 0,
              "bitwise_and": -1, "logical_xor": False, "gcd": 0, "lcm": 1, "fmax": -np.inf, "fmin": np.inf,
              "subtract": 0, "divide": 1}
# x[0] - x[1] - ...: the first is special
ORDERED = ("subtract", "divide", "floor_divide", "power", "remainder", "fmod", "arctan2")

# -- calls -----------------------------------------------------------------------------------------


def call(ufunc: np.ufunc, override: Callable, inputs: tuple, out: object = None, where: ArrayOrNumber = True,
         dtype: DTypeLike = None, casting: Casting = "same_kind", order: str = "K", subok: bool = True,
         signature: object = None, **options: object) -> Any:
    """ufunc(*inputs, ...) with a traced argument; further options (an axis) are the override's own."""
    check_order(order)
    inputs, out = _positional_out(ufunc, tuple([as_array(x) for x in inputs]), out)
    if is_given(dtype) or is_given(signature):
        inputs = _in_loop(ufunc, inputs, dtype, signature, casting)
    if options and ufunc.signature is None:
        raise TypeError(f"{ufunc.__name__}() got an unexpected keyword argument {next(iter(options))!r}")
    if options:
        inputs, options = fitted(ufunc.__name__, ufunc, override, inputs, options)
    results = (override if out is None or any(map(is_value, inputs)) else ufunc)(*inputs, **options)
    if out is None and where is True:
        return results if order == "K" else _in_order(results, order)
    outs = out if isinstance(out, tuple) else (out,) * ufunc.nout
    parts = results if isinstance(results, tuple) else (results,)
    written = tuple([_written(o, y, where, casting) for o, y in zip(outs, parts)])
    return written if isinstance(results, tuple) else written[0]


def _in_order(results: AnyArray, order: str) -> Any:
    return tuple([in_order(y, order) for y in results]) if isinstance(results, tuple) else in_order(results, order)


def _positional_out(ufunc: np.ufunc, inputs: tuple, out: object) -> tuple:
    if not ufunc.nin <= len(inputs) <= ufunc.nargs:
        raise TypeError(f"{ufunc.__name__}() takes from {ufunc.nin} to {ufunc.nargs} positional arguments but "
                        f"{len(inputs)} were given")
    if len(inputs) > ufunc.nin:
        if out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        out = (*inputs[ufunc.nin:], *[None] * (ufunc.nargs - len(inputs)))
    if isinstance(out, tuple) and len(out) != ufunc.nout:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    if out is not None and not isinstance(out, tuple) and ufunc.nout > 1:
        raise TypeError("'out' must be a tuple of arrays")
    if any(o is not None and not hasattr(o, "dtype") for o in (out if isinstance(out, tuple) else (out,))):
        raise TypeError("return arrays must be of ArrayType")
    return inputs[:ufunc.nin], out


def _in_loop(ufunc: np.ufunc, inputs: tuple, dtype: DTypeLike, signature: Any, casting: Casting) -> tuple:
    """The inputs in the dtypes of the loop that is asked for."""
    given = tuple([type_of(x).dtype for x in inputs]) + (None,) * ufunc.nout
    if signature is None:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
    loop = ufunc.resolve_dtypes(given, signature=signature, casting=casting)
    return tuple([in_dtype(x, t) for x, t in zip(inputs, loop)])


def _written(out: object, y: AnyArray, where: ArrayOrNumber, casting: Casting) -> ArrayOrNumber:
    """y where the mask holds, what `out` held (zero without one) elsewhere, in `out` where that is given."""
    if where is not True:
        y = registry["where"](as_array(where), y, 0 if out is None else out)
    return y if out is None else write_out(out, y, casting)


def write_out(out: Any, y: AnyArray, casting: Casting = "same_kind") -> Any:
    """`out` (an array, or a tuple of one for each result) after the result is written into it."""
    if isinstance(out, tuple):
        parts = y if isinstance(y, tuple) else (y,)
        written = tuple([b if a is None else write_out(a, b, casting) for a, b in zip(out, parts)])
        return written if isinstance(y, tuple) else written[0]
    is_of_integers = isinstance(out, np.ndarray) and stack.is_live() and out.dtype.kind in "biu"   # no values there
    if not is_value(out) and not is_of_integers:
        raise SideEffectError("a traced value was written into an array from outside the traced function (out=...)",
                              do="make the array inside the function, or return the result")
    if not np.can_cast(type_of(y).dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc output from {type_of(y).dtype!r} to {out.dtype!r} with casting rule {casting!r}")
    if len(shape_of(y)) > len(shape_of(out)):
        raise ValueError(f"non-broadcastable output operand with shape {shape_of(out)} doesn't match the broadcast "
                         f"shape {shape_of(y)}")
    out[...] = y
    return out


METHODS["ufunc.call"], METHODS["ufunc.out"] = call, write_out

# -- reductions ------------------------------------------------------------------------------------


def reduce(ufunc: Any, array: object, axis: Axes = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
           initial: object = np._NoValue, where: ArrayOrNumber = True) -> AnyArray:
    """ufunc.reduce: a sum, product, maximum, ... by the op for it, any other by folding."""
    x, name = as_array(array), ufunc.__name__
    common = {"axis": axis, "out": _single(out), "keepdims": keepdims, "where": where}
    if name in REDUCTIONS:
        further = ({} if name.startswith("logical")
                   else {"initial": initial, "dtype": dtype} if name in ("add", "multiply") else {"initial": initial})
        return BY_NAME[REDUCTIONS[name]].call(in_dtype(x, dtype), **common, **further)
    x = _in_loop_of_reduction(ufunc, in_dtype(x, dtype))
    if where is not True:
        if name not in IDENTITIES or name in ORDERED:
            raise refuse(f"{name}.reduce", "where", "it has no identity")
        x = registry["where"](as_array(where), x, IDENTITIES[name])
    axes = axes_of(axis, len(shape_of(x)))
    if len(axes) > 1 and name in ORDERED:
        raise ValueError(f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    y = x if axes else METHODS["copy"](x)
    for ax in reversed(axes):
        y = _fold(ufunc, y, ax)
    if is_given(initial):
        y = _override(ufunc)(initial, y)
    y = kept(y, x, axes, keepdims)
    return y if out is None else write_out(out, y)


def _in_loop_of_reduction(ufunc: np.ufunc, x: AnyArray) -> AnyArray:
    """x in the dtype that a fold runs in: np.less has none for numbers, since its results are not numbers."""
    return in_dtype(x, ufunc.resolve_dtypes((None, type_of(x).dtype, None), reduction=True)[1])


def _single(out: object) -> Any:
    return out[0] if isinstance(out, tuple) else out


def _override(ufunc: object) -> Callable:
    found = find(ufunc)
    assert found is not None
    return found.call


def _fold(ufunc: np.ufunc, x: AnyArray, axis: int) -> AnyArray:
    """The reduction of one axis: by a closed form where there is one, else pair by pair."""
    closed = CLOSED.get(ufunc.__name__)
    if closed is not None:
        return closed(x, axis)
    op, n = _override(ufunc), fixed(shape_of(x)[axis], f"the extent that {ufunc.__name__}.reduce folds")
    if n == 0:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    y = _at(x, axis, 0)
    for k in range(1, n):
        y = op(y, _at(x, axis, k))
    return y


def _at(x: AnyArray, axis: int, k: int) -> AnyArray:
    return x[(slice(None),) * axis + (k,)]


def _rest(x: AnyArray, axis: int) -> AnyArray:
    return x[(slice(None),) * axis + (slice(1, None),)]


def _log_sum(rate: float) -> Callable:
    def closed(x: AnyArray, axis: int) -> AnyArray:
        return BY_NAME["scipy.special.logsumexp"].call(x * rate, axis=axis) / rate
    return closed


CLOSED: dict[str, Callable] = {
    "logaddexp": _log_sum(1.0),
    "logaddexp2": _log_sum(float(np.log(2.0))),
    "subtract": lambda x, axis: _at(x, axis, 0) - registry["sum"](_rest(x, axis), axes=(axis,)),
    "divide": lambda x, axis: _at(x, axis, 0) / registry["prod"](_rest(x, axis), axes=(axis,)),
}


def accumulate(ufunc: np.ufunc, array: AnyArray, axis: int = 0, dtype: object = None, out: object = None) -> AnyArray:
    """ufunc.accumulate: a scan by the op for it, any other by folding."""
    x = in_dtype(as_array(array), dtype)
    ax = one_axis(axis, len(shape_of(x)))
    name = ufunc.__name__
    if name == "logaddexp":
        x = as_float(x)
    y = in_dtype(registry[SCANS[name]](x, axis=ax) if name in SCANS
                 else _scan(ufunc, _in_loop_of_reduction(ufunc, x), ax), dtype)
    return y if out is None else write_out(out, y)


def _scan(ufunc: np.ufunc, x: AnyArray, axis: int) -> AnyArray:
    op, n = _override(ufunc), fixed(shape_of(x)[axis], f"the extent that {ufunc.__name__}.accumulate runs along")
    rows = [_at(x, axis, 0)]
    for k in range(1, n):
        rows.append(op(rows[-1], _at(x, axis, k)))
    return BY_NAME["numpy.stack"].call(rows, axis=axis)


def outer(ufunc: np.ufunc, a: AnyArray, b: ArrayOrNumber, **options: Any) -> AnyArray:
    """ufunc.outer: every element of a with every element of b."""
    a, b = numpy_number(strong(a)), numpy_number(strong(b))
    a = registry["reshape"](a, *shape_of(a), *[1] * len(shape_of(b)))
    return call(ufunc, _override(ufunc), (a, b), **options)


def reduceat(ufunc: np.ufunc, array: AnyArray, indices: list, axis: int = 0, dtype: DTypeLike = None,
             out: object = None) -> AnyArray:
    x, places = as_array(array), as_array(indices)
    ax, starts = one_axis(axis, len(shape_of(x))), known(places)
    if starts is None:
        y = _computed_segments(ufunc, BY_NAME["numpy.moveaxis"].call(x, ax, 0), places, dtype)
        y = BY_NAME["numpy.moveaxis"].call(y, 0, ax)
    else:
        stops = [*starts[1:].tolist(), None]
        parts = [_segment(ufunc, x, ax, start, stop, dtype) for start, stop in zip(starts.tolist(), stops)]
        y = BY_NAME["numpy.stack"].call(parts, axis=ax)
    return y if out is None else write_out(out, y)


def _segment(ufunc: object, x: AnyArray, axis: int, start: int, stop: Any, dtype: DTypeLike) -> AnyArray:
    if stop is not None and stop <= start:
        return _at(x, axis, start)
    return reduce(ufunc, x[(slice(None),) * axis + (slice(start, stop),)], axis=axis, dtype=dtype)


def _computed_segments(ufunc: np.ufunc, x: AnyArray, starts: AnyArray, dtype: DTypeLike) -> AnyArray:
    """Segments that begin at indices which the program computes, along the first axis: a loop over each."""
    n, count = shape_of(x)[0], shape_of(starts)[0]
    check_all(starts >= 0, "index out-of-bounds in reduceat", "IndexError")
    y = reduce(ufunc, x[starts][None], axis=0, dtype=dtype)
    x, f = in_dtype(x, type_of(y).dtype), _override(ufunc)

    def segment(i: AnyArray, y: AnyArray) -> tuple:
        stop = registry["where"](i + 1 < count, starts[registry["minimum"](i + 1, count - 1)], n)
        row, = registry["for"].run_regions([starts[i] + 1, stop, 1, y[i]], (lambda k, row: (f(row, x[k]),),))
        return (registry["update"](y, row, i, spec=("i",) + (":",) * (len(shape_of(x)) - 1), at=0),)
    return registry["for"].run_regions([0, count, 1, y], (segment,))[0]


def at(ufunc: Any, array: Any, indices: ArrayOrNumber, b: object = None) -> None:
    """ufunc.at: where an index recurs, each iteration takes what the one before has left."""
    name = ufunc.__name__
    if not is_value(array):
        raise SideEffectError(f"np.{name}.at of an array from outside the traced function",
                              do="make the array inside the function")
    given = (b,) if ufunc.nin == 2 else ()
    if ufunc.nout != 1 or ufunc.nin > 2 or (b is None) is bool(given):
        raise TypeError(f"np.{name}.at takes {ufunc.nin - 1} operands" if ufunc.nout == 1
                        else "Only single output ufuncs supported at this time")
    vs = tuple([_strong(as_array(v)) for v in given])
    chosen = read_subscript(array, indices)
    if name in ("add", "subtract") and np.result_type(type_of(vs[0]).dtype, array.dtype) == array.dtype:
        v = in_dtype(vs[0], array.dtype) if is_value(vs[0]) else np.asarray(vs[0], array.dtype)
        array.set(chosen.add(array, -v if name == "subtract" else v))
    elif "a" not in chosen.spec:
        array.set(chosen.write(array, in_dtype(_override(ufunc)(chosen.read(array), *vs), array.dtype)))
    else:
        array.set(_one_by_one(_override(ufunc), array, chosen, vs))


def _strong(v: ArrayOrNumber) -> ArrayOrNumber:
    """An operand as NumPy's `at` takes it: it makes arrays of Python's numbers, whose dtype does not give way."""
    t = type_of(v)
    return registry["cast"](v, dtype=t.dtype) if is_value(v) and t.weak else v


def _one_by_one(f: Callable, x: AnyArray, chosen: Any, vs: tuple) -> AnyArray:
    """x after f of each element that is selected, in the order of NumPy's, with the element of v that belongs to it."""
    size = extents.product(shape_of(x))
    places = chosen.read(registry["reshape"](registry["iota"](size, dtype=INT), *shape_of(x)))
    count = extents.product(shape_of(places))
    rows = [registry["reshape"](registry["broadcast_to"](v, *shape_of(places)), count) for v in vs]
    place = registry["reshape"](places, count)

    def iteration(k: AnyArray, flat: AnyArray) -> tuple:
        i = taken(place, k)
        new = in_dtype(f(taken(flat, i), *[taken(v, k) for v in rows]), x.dtype)
        return (registry["update"](flat, new, i, spec=("i",), at=0),)
    flat, = registry["for"].run_regions([0, count, 1, registry["reshape"](x, size)], (iteration,))
    return registry["reshape"](flat, *shape_of(x))


METHODS.update({"ufunc.reduce": reduce, "ufunc.accumulate": accumulate, "ufunc.outer": outer,
                "ufunc.reduceat": reduceat, "ufunc.at": at})
