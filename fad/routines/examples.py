"""vmap of a function that changes something outside itself, or draws: a loop, one call an example, as Python's is."""
from collections.abc import Callable

import numpy as np


def in_order(leaves_of: Callable, count: int) -> list:
    """The stacked leaves of the results; leaves_of(k) are the leaves of one example's."""
    rows = []
    for k in range(count):
        rows.append(leaves_of(k))
    return [np.array([row[j] for row in rows]) for j in range(len(rows[0]))]
