"""Arrays that grow: the stacks on which loops of unknown length keep what their reverse sweep needs.

    >>> resized(np.array([1.0, 2.0]), 3)
    array([1., 2., 0.])
"""
import numpy as np
from numba.extending import overload

__all__ = ["resized"]


def resized(x, n):
    """x with n elements along its first axis: cut off, or zeros behind; x itself where it has n.

    >>> x = np.arange(3)
    >>> resized(x, 3) is x, resized(x, 2)
    (True, array([0, 1]))
    """
    if x.shape[0] == n:
        return x
    y = np.zeros((n,) + x.shape[1:], x.dtype)
    kept = min(n, x.shape[0])
    y[:kept] = x[:kept]
    return y


@overload(resized)
def _resized(x, n):
    return resized
