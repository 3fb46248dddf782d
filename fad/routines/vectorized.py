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
