"""The blocks of a Jacobian: all rows by one batched reverse sweep, or all columns by one batched forward sweep.

Each direction of a basis is one example of the batch. The basis runs over the elements of one leaf after another, and
the blocks of pairs that do not depend on each other are zeros.
"""
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.build import building
from ...ir.graph import Func, silent
from ...ir.op import registry
from ...ir.types import Type, type_of
from ...ir.walk import evaluate
from ...ops.extents import product
from ...ops.kinds import conjugate, is_complex, shape_of
from ...transforms.jvp import push_forward
from ...transforms.vjp import pull_back
from ...transforms.vmap import batch
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ArgumentError, NotScalarError
from ..calls.nested import Inner, how_to_return, tangent_zeros, value_leaves, without_data, zeros_of


class Columns(tuple):
    """The parts of a Jacobian that belong to the arguments, kept together until the structure is settled."""


def jacobian_body(f: Callable, args: tuple, kwargs: dict, chosen: Sequence[int], holomorphic: bool, reverse: Callable,
                  has_aux: bool = False, what: str = "") -> Any:
    """The tree of results. In place of each leaf (except aux's) stand the Columns of its derivatives, one per
    argument."""
    inner = Inner(f, args, kwargs, chosen)
    count = value_leaves(inner) if has_aux else inner.results
    if what and not inner.results:
        raise NotScalarError(f"{what} needs a function that returns numbers, and this one returned "
                             f"{without_data(inner)}", do=how_to_return(inner))
    _check_complex(inner, holomorphic, count)
    table = _by_rows(inner, holomorphic, count) if reverse(inner) else _by_columns(inner, count)
    arguments = [args[k] for k in chosen]
    aux = evaluate(silent(inner.func), inner.args)[count:inner.results] if has_aux else ()
    return inner.tree_of([*[_columns(arguments, parts) for parts in table], *aux])


def _columns(arguments: Sequence, parts: Sequence) -> Columns:
    remaining = iter(parts)
    return Columns(tree.map_leaves(lambda _: next(remaining), a) for a in arguments)


def _check_complex(inner: Inner, holomorphic: bool, count: int) -> None:
    complex_in = any(is_complex(inner.args[k]) for k in inner.wanted)
    complex_out = any(a.type.dtype.kind == "c" for a in inner.func.outputs[:count])
    if complex_in and complex_out and not holomorphic:
        raise ArgumentError("the Jacobian of a complex function of complex arguments is not one array",
                            why="without more knowledge it takes two derivatives, with respect to z and to its "
                                "conjugate",
                            do="pass holomorphic=True if f is complex differentiable, or differentiate real and "
                               "imaginary parts")


def basis(x: AnyArray, n: ArrayOrNumber) -> AnyArray:
    """The unit arrays of x's shape and dtype, stacked: extents (n, *x.shape), n the size of x."""
    i = registry["iota"](n, dtype="int64")
    same = registry["equal"](registry["reshape"](i, n, 1), registry["reshape"](i, 1, n))
    unit = registry["cast"](same, dtype=type_of(x).dtype)
    return registry["reshape"](unit, n, *shape_of(x))


def _by_rows(inner: Inner, holomorphic: bool, count: int) -> list:
    ys, pull = pull_back(inner.func, inner.args, inner.wanted)
    return [_rows_of(inner, ys, pull, k, holomorphic) for k in range(count)]


def _rows_of(inner: Inner, ys: Sequence, pull: Callable, k: int, holomorphic: bool) -> list:
    xs = [inner.args[w] for w in inner.wanted]
    y = ys[k]
    if type_of(y).dtype.kind not in "fc":
        return [_zero_block(y, x) for x in xs]
    sweep = _region(lambda g: [zeros_of(x) if gx is None else gx for x, gx in zip(xs, pull(_only(g, k, len(ys))))], y)

    def along(unit: object) -> list:
        shape = shape_of(y)
        if not shape:
            return list(_run(sweep, type_of(y).dtype.type(unit)))
        n = product(shape)
        rows = batch(sweep, [_times(unit, basis(y, n))], [True], n)
        return [registry["reshape"](r, *shape, *shape_of(x)) for r, x in zip(rows, xs)]
    rows = along(1)
    if not is_complex(y):
        return rows
    across = [not is_complex(x) for x in xs]
    turned = along(1j) if any(across) else rows
    return [_of_parts(r, t) if is_real else conjugate(r) if holomorphic else r
            for r, t, is_real in zip(rows, turned, across)]


def _times(unit: object, x: AnyArray) -> AnyArray:
    return x if unit == 1 else registry["mul"](x, unit)


def _of_parts(real: object, imaginary: object) -> Any:
    """The derivative between a real and a complex value. One sweep gives its part along the direction of the sweep
    alone: along 1 the real part, along 1j the imaginary part."""
    return registry["add"](real, registry["mul"](imaginary, 1j))


def _only(g: AnyArray, k: int, count: int) -> list:
    return [g if j == k else None for j in range(count)]


def _zero_block(y: object, x: object) -> Any:
    shape = shape_of(y) + shape_of(x)
    dtype = type_of(x).dtype
    return registry["full"](0, *shape, dtype=dtype) if shape else dtype.type(0)


def _region(f: Callable, model: AnyArray) -> Func:
    """f(one value like model) as a Func that uses the program around it."""
    with building("sweep", region=True) as builder:
        t = type_of(model)
        return builder.finish(tuple(f(builder.input(Type(t.dtype, t.shape)))))


def _run(func: Func, x: AnyArray) -> Sequence:
    return push_forward(func, [x], [None])[0]


def _by_columns(inner: Inner, count: int) -> list:
    columns = [_columns_of(inner, w, count) for w in inner.wanted]
    return [[column[k] for column in columns] for k in range(count)]


def _columns_of(inner: Inner, wanted: int, count: int) -> list:
    x = inner.args[wanted]

    def push(dx: AnyArray) -> list:
        tangents = [dx if k == wanted else None for k in range(len(inner.args))]
        ys, dys = push_forward(inner.func, inner.args, tangents)
        return [tangent_zeros(y) if dy is None else dy for y, dy in zip(ys, dys)][:count]
    sweep = _region(push, x)

    def along(unit: object) -> list:
        shape = shape_of(x)
        if not shape:
            return list(_run(sweep, type_of(x).dtype.type(unit)))
        n = product(shape)
        return [_last(column, shape) for column in batch(sweep, [_times(unit, basis(x, n))], [True], n)]
    columns = along(1)
    across = [is_complex(x) and a.type.dtype.kind == "f" for a in inner.func.outputs[:count]]
    turned = along(1j) if any(across) else columns
    return [_of_parts(c, t) if is_real else c for c, t, is_real in zip(columns, turned, across)]


def _last(column: AnyArray, shape: tuple) -> AnyArray:
    """The batch axis of a column moved behind the result's axes, in x's extents."""
    rank = column.ndim
    moved = registry["transpose"](column, axes=tuple(range(1, rank)) + (0,)) if rank > 1 else column
    return registry["reshape"](moved, *shape_of(moved)[:-1], *shape)
