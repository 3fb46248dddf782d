"""Products of many matrices: numpy.linalg.multi_dot and matrix_power."""
import operator
from typing import Any

from ...ir.op import registry
from ...ir.types import type_of
from ...util.array import AnyArray, ArrayLike
from .. import extents
from ..contract import matmul
from ..kinds import shape_of
from ..override import BY_NAME, override
from .arguments import as_array, into, rank


def best_splits(sizes: list) -> dict:
    """The places to split each run of a chain of matrices of sizes[k] x sizes[k + 1], for the fewest multiplications.

    T. H. Cormen et al., Introduction to Algorithms, section 15.2.

    >>> best_splits([10, 100, 5, 50])[0, 2]
    1
    """
    count = len(sizes) - 1
    cost: dict[tuple, int] = {(k, k): 0 for k in range(count)}
    split: dict[tuple, int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            costs = [cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)]
            cost[i, j] = min(costs)
            split[i, j] = i + costs.index(cost[i, j])
    return split


@override("numpy.linalg.multi_dot", samples=("np.linalg.multi_dot([x, S, S])", "np.linalg.multi_dot([v, S, v])"))
def multi_dot(arrays: Any, *, out: Any = None) -> AnyArray:
    xs = [as_array(x) for x in arrays]
    if len(xs) < 2:
        raise ValueError("Expecting at least two arrays.")
    if any(rank(x) != 2 for x in xs[1:-1]) or any(rank(x) not in (1, 2) for x in (xs[0], xs[-1])):
        raise ValueError("the arrays of multi_dot must be matrices; the first and the last may be vectors")
    first = 1 if rank(xs[0]) == 1 else extents.hint(shape_of(xs[0])[0]) or 8
    last = 1 if rank(xs[-1]) == 1 else extents.hint(shape_of(xs[-1])[1]) or 8
    inner = [extents.hint(shape_of(x)[0]) or 8 for x in xs[1:]]
    return into(out, _product(xs, best_splits([first, *inner, last]), 0, len(xs) - 1))


def _product(xs: list, split: dict, i: int, j: int) -> AnyArray:
    if i == j:
        return xs[i]
    k = split[i, j]
    return matmul(_product(xs, split, i, k), _product(xs, split, k + 1, j))


@override("numpy.linalg.matrix_power", samples=("np.linalg.matrix_power(S, 3)", "np.linalg.matrix_power(S, -2)"))
def matrix_power(a: ArrayLike, n: Any) -> Any:
    """By repeated squaring."""
    a, n = as_array(a), operator.index(n)
    if n < 0:
        a, n = BY_NAME["numpy.linalg.inv"].call(a), -n
    if n == 0:
        return _identity(a)
    power, square = None, a
    while n:
        n, odd = divmod(n, 2)
        if odd:
            power = square if power is None else matmul(power, square)
        square = matmul(square, square) if n else square
    return power


def _identity(a: object) -> AnyArray:
    *stack, m, n = shape_of(a)
    rows = registry["reshape"](registry["iota"](extents.agree(m, n, "extents of a square matrix"), dtype=int), m, 1)
    columns = registry["reshape"](rows, 1, m)
    ones = registry["cast"](rows == columns, dtype=type_of(a).dtype)
    return registry["broadcast_to"](ones, *stack, m, n) if stack else ones
