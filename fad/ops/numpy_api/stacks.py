"""Reading the matrices that numpy.linalg and scipy.linalg get: floating dtype, stacks broadcast to one shape, vectors
as columns."""
import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import result_dtype, type_of
from ...util.array import AnyArray, ArrayOrNumber, Extent
from .. import extents
from ..kinds import same_shape, shape_of
from ..linalg.matrices import as_columns
from .arguments import as_array, in_dtype, rank, taken


def floating(x: object) -> Any:
    """x as an array of a floating dtype that linear algebra is done in."""
    x = as_array(x)
    dtype = type_of(x).dtype
    if dtype.kind in "biu":
        return registry["cast"](x, dtype=np.dtype(float))
    if dtype.char not in "fdFD":
        raise TypeError(f"array type {dtype} is unsupported in linalg")
    return x


def at_least(n: int, x: object) -> Any:
    """x with axes before its own, up to n of them: a number as a vector or as a matrix, which some functions take."""
    x = as_array(x)
    return x if rank(x) >= n else registry["reshape"](x, *[1] * (n - rank(x)), *shape_of(x))


def in_one_axis(x: AnyArray, stack: tuple, own: tuple) -> AnyArray:
    """x with its own axes behind one axis, which all others have become, broadcast to this stack."""
    return registry["reshape"](registry["broadcast_to"](x, *stack, *own), extents.product(stack), *own)


def over_stacks(**core: str) -> Callable:
    """Decorator of an override: arguments of more axes than it takes ("1", "2", or "1|2") are stacks of what it takes,
    as SciPy has it. One loop goes over the stack, so that a long one makes no long program.
    """
    def decorated(call: Callable) -> Callable:
        signature = inspect.signature(call)

        @wraps(call)
        def over(*args: object, **options: object) -> AnyArray | tuple:
            given = signature.bind(*args, **options).arguments
            xs = {name: as_array(given[name]) for name in core if given.get(name) is not None}
            own = {name: shape_of(x)[max(rank(x) - int(core[name][-1]), 0):] for name, x in xs.items()}
            stack = extents.broadcast_shapes(*[shape_of(x)[:rank(x) - len(own[name])] for name, x in xs.items()])
            if not stack:
                return call(*args, **options)
            flat = {name: in_one_axis(x, stack, own[name]) for name, x in xs.items()}
            return _stacked(lambda k: call(**given | {name: taken(x, k) for name, x in flat.items()}),
                            extents.product(stack), stack)
        return over
    return decorated


def _stacked(call: Callable, count: Extent, stack: tuple) -> AnyArray | tuple:
    """The results of call(k), each in one array for all k."""
    first = call(0)
    parts = [as_array(y) for y in (first if isinstance(first, tuple) else (first,))]
    wholes = [registry["full"](0, count, *shape_of(y), dtype=type_of(y).dtype) for y in parts]

    def body(k: AnyArray, *ys: AnyArray) -> tuple:
        found = call(k)
        rows = found if isinstance(found, tuple) else (found,)
        return tuple([registry["update"](y, as_array(row), k, spec=("i",) + (":",) * (rank(y) - 1), at=0)
                      for y, row in zip(ys, rows)])
    filled = registry["for"].run_regions([0, count, 1, *wholes], (body,))
    found = tuple([registry["reshape"](y, *stack, *shape_of(part)) for y, part in zip(filled, parts)])
    return found if isinstance(first, tuple) else found[0]


def matrix(x: object) -> Any:
    """x as a stack of matrices."""
    x = floating(x)
    if rank(x) < 2:
        raise np.linalg.LinAlgError(f"{rank(x)}-dimensional array given. Array must be at least two-dimensional")
    return x


def square(x: Any) -> AnyArray:
    """x as a stack of square matrices."""
    x = matrix(x)
    m, n = shape_of(x)[-2:]
    if isinstance(m, int) and isinstance(n, int) and m != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return x


def with_stack(x: AnyArray, stack: tuple) -> AnyArray:
    """x, its matrices repeated to this stack."""
    if same_shape(shape_of(x)[:-2], stack):
        return x
    return registry["broadcast_to"](x, *stack, *shape_of(x)[-2:])


def together(*xs: ArrayOrNumber) -> list:
    """Stacks of matrices in one dtype and one shape of stack."""
    dtype = result_dtype(*xs)
    stack = extents.broadcast_shapes(*[shape_of(x)[:-2] for x in xs])
    return [with_stack(in_dtype(x, dtype), stack) for x in xs]


def from_column(x: AnyArray) -> AnyArray:
    return registry["reshape"](x, *shape_of(x)[:-1])


def solved(solve: Callable, a: ArrayOrNumber, b: Any) -> AnyArray:
    """solve(a, b) for a right-hand side that may be one vector."""
    a, b = matrix(a), floating(b)
    vector = rank(b) == 1
    a, b = together(a, as_columns(b) if vector else b)
    x = solve(a, b)
    return from_column(x) if vector else x


@cache
def _result_class(name: str) -> type:
    return type(getattr(np.linalg, name)(np.eye(1)))


def named(name: str, *values: AnyArray) -> Any:
    """The named tuple that numpy.linalg's function of this name returns."""
    return _result_class(name)(*values)


def epsilon(x: ArrayOrNumber) -> float:
    return float(np.finfo(type_of(x).dtype).eps)


def larger_extent(x: ArrayOrNumber) -> ArrayOrNumber:
    return extents.maximum(*shape_of(x)[-2:])
