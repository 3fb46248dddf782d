"""Arrays as kernels take them, and as callers get them."""

import numpy as np

from ...util.array import ArrayOrNumber


def plain(x: ArrayOrNumber) -> ArrayOrNumber:
    """A value as kernels take it: arrays C-contiguous, aligned, writeable and in native byte order; 0-d arrays as
    scalars.
    """
    if not isinstance(x, np.ndarray):
        return x
    if not x.shape:
        return x[()]
    if type(x) is not np.ndarray or not is_plain(x):
        return np.array(x, dtype=x.dtype.newbyteorder("="), order="C")
    return x


def is_plain(x: np.ndarray) -> bool:
    """Whether a kernel takes an array as it lies in memory."""
    return x.flags.carray and x.dtype.isnative


def owned(y: ArrayOrNumber, values: list) -> ArrayOrNumber:
    """An output that the caller may write to: no view of an input, nothing broadcast."""
    if isinstance(y, np.ndarray) and y.ndim:
        if y.base is not None or not y.flags.writeable or any(y is v for v in values):
            return np.array(y)
    elif isinstance(y, np.ndarray):
        return y[()]
    return y
