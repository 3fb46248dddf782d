"""Loops of one call an element or an example, as Python's are: for numpy.vectorize of a function whose steps depend on
the element, and for vmap of one that changes something outside itself, or draws.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..util.array import AnyArray


def each(function: Callable, arrays: Any, count: int, dtype: np.dtype, *positional: AnyArray, **named: Any) -> AnyArray:
    """The results for all elements, as one array of this dtype.

    arrays: positions and names of the arguments that are flat arrays; each call gets one element of each.
    """
    results = np.empty(count, dtype)
    for k in range(count):
        args = [x[k] if place in arrays else x for place, x in enumerate(positional)]
        options = {name: x[k] if name in arrays else x for name, x in named.items()}
        results[k] = function(*args, **options)
    return results


def in_order(leaves_of: Callable, count: int) -> list:
    """The stacked leaves of the results; leaves_of(k) are the leaves of one example's."""
    rows = []
    for k in range(count):
        rows.append(leaves_of(k))
    return [np.array([row[j] for row in rows]) for j in range(len(rows[0]))]


def each_part(function: Callable, count: int, several: bool, dtypes: list, *arrays: AnyArray) -> list:
    """The results for all parts along the first axis of the arrays; several: whether a result is a tuple.

    The first result decides the shapes and, where dtypes has None, the dtypes, as in NumPy.
    """
    found = function(*[x[0] for x in arrays])
    firsts = [np.asarray(y) for y in (found if several else (found,))]
    results = [np.empty((count, *y.shape), y.dtype if dtype is None else dtype) for y, dtype in zip(firsts, dtypes)]
    for whole, y in zip(results, firsts):
        whole[0] = y
    for k in range(1, count):
        found = function(*[x[k] for x in arrays])
        for whole, y in zip(results, found if several else (found,)):
            whole[k] = y
    return results
