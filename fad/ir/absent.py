"""The zeros that stand for absent tangents and cotangents: `x + absent` is x, also where x is -0.0.

A zero that the user wrote is a number: -0.0 + 0.0 is 0.0. The two are equal; the identities of passes/simplify.py tell
them apart.
"""
import numpy as np

from ..util.array import AnyArray

_ZEROS = {np.dtype(kind): kind(0) for kind in (np.float64, np.float32, np.complex128, np.complex64)}


def absent(dtype: np.dtype) -> AnyArray:
    """The zero of a dtype that stands for nothing: one object, which no computation gives.

    >>> zero = absent(np.dtype(float))
    >>> zero, is_absent(zero), is_absent(np.float64(0.0))
    (np.float64(0.0), True, False)
    """
    return _ZEROS[dtype] if dtype in _ZEROS else dtype.type(0)


def is_absent(x: object) -> bool:
    """Whether a number is one of these."""
    return any(x is zero for zero in _ZEROS.values())
