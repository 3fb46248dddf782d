"""The memory that arrays are part of."""
import numpy as np


def memory(a: np.ndarray) -> np.ndarray:
    """All of the memory that an array is part of, as one row of elements of its dtype.

    >>> memory(np.arange(6.0).reshape(2, 3)[:, 1])
    array([0., 1., 2., 3., 4., 5.])
    """
    owner = a
    while True:
        below = owner.base
        if below is not None and not isinstance(below, np.ndarray):          # as_strided puts an object between
            below = getattr(below, "base", None)
        if not isinstance(below, np.ndarray):
            break
        owner = below
    row = owner.transpose(np.argsort([-s for s in owner.strides], kind="stable")).reshape(-1)
    if not np.shares_memory(row, owner) and owner.size:                       # memory that has gaps: not NumPy's own
        row = a.reshape(-1)
    return row if row.dtype == a.dtype else row.view(a.dtype)


def address(a: np.ndarray) -> int:
    """The address of an array's first element."""
    return a.__array_interface__["data"][0]


def offset_of(a: np.ndarray) -> int:
    """The number of elements of its memory before an array's first one."""
    return (address(a) - address(memory(a))) // a.itemsize if a.size else 0
