"""Passes over one vector: where a mask holds, and correlation with a shorter vector.

    >>> places_true(np.array([False, True, True]), 2).tolist()
    [1, 2]
    >>> correlate(np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0])).tolist()
    [-1.0, -1.0]
"""
import numpy as np
from numba.core import types

from fad.kernels.memory import blank
from fad.kernels.promotion import compiled_as, emit_python, quiet

__all__ = ["correlate", "places_true"]


def _places_true(mask, count):
    """The indices of the `count` true elements, as numpy.flatnonzero.

    >>> places_true(np.array([True, False, True]), 2).tolist()
    [0, 2]
    """
    out = blank((count,), np.intp)
    k = 0
    for i in range(mask.size):
        if mask[i]:
            out[k] = i
            k += 1
    return out


def _correlate(x, w):
    """The sums of x[i + j] w[j] over j, for each i at which w fits into x: numpy.correlate without conjugation.

    >>> correlate(np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0])).tolist()
    [3.0, 6.0]
    """
    n = x.size - w.size + 1
    out = blank((max(n, 0),), x.dtype)
    for i in range(n):
        out[i] = x[i] * w[0]
    for j in range(1, w.size):  # along x inside, so that the loop is one of vectors
        for i in range(n):
            out[i] += x[i + j] * w[j]
    return out


def _is_vector(t):
    return isinstance(t, types.Array) and t.ndim == 1


def _places_types(*args):
    if len(args) != 2 or not _is_vector(args[0]) or not isinstance(args[1], types.Integer):
        return None
    return types.Array(types.intp, 1, "C"), args[0], types.intp


def _correlate_types(*args):
    if len(args) != 2 or not all(_is_vector(t) for t in args) or args[0].dtype != args[1].dtype:
        return None
    return types.Array(args[0].dtype, 1, "C"), *args


places_true = compiled_as(
    quiet(lambda mask, count: np.flatnonzero(mask), _places_true.__doc__, "places_true"),
    _places_types,
    emit_python(_places_true, inline=False),
)
correlate = compiled_as(
    quiet(lambda x, w: np.correlate(x, np.conj(w), "valid"), _correlate.__doc__, "correlate"),
    _correlate_types,
    emit_python(_correlate, inline=False),
)
