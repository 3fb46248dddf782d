"""The terms of sums of products that are not zero, in front of the others."""
import numpy as np
from numba.core import types

from fad.kernels.memory import blank
from fad.kernels.promotion import compiled_as, emit_python

__all__ = ["nonzero_first"]

GROUP = 2  # terms that generated code takes at a time (backend/emission/unroll_and_jam.py)


def _nonzero_first(factors, others):
    """For each i the j for which factors[i, j, :] is not all zeros, in order, and behind them all other j.

    Row i of the result is (m, s, j, j, ...): a sum of factors[i, j, k] * others[:, j] over all j is that over the first
    m of these, taken two at a time, and over those from the m-th to the s-th. m is at least 2, if there are 2. All j
    count where others holds an infinity or no number, as zero times that is no zero.

    >>> factors = np.zeros((1, 6, 2))
    >>> factors[0, 4, 1] = 0.5
    >>> nonzero_first(factors, np.ones((3, 6)))
    array([[2, 1, 4, 0, 1, 2, 3, 5]])
    >>> nonzero_first(factors, np.full((3, 6), np.inf))
    array([[6, 6, 0, 1, 2, 3, 4, 5]])
    """
    all_count = False
    for p in range(others.shape[0]):
        for j in range(others.shape[1]):
            all_count |= others[p, j] * 0.0 != 0.0  # in vectors: a sum would be one chain
    n, extent = factors.shape[0], factors.shape[1]
    terms = blank((n, extent + 2), np.int64)
    for i in range(n):
        count = 0
        for j in range(extent):
            is_term = all_count
            for k in range(factors.shape[2]):
                is_term = is_term | (factors[i, j, k] != 0.0)
            if is_term:
                terms[i, 2 + count] = j
                count += 1
        place, last = 0, 2 + count
        for j in range(extent):
            if place < count and terms[i, 2 + place] == j:
                place += 1
            else:
                terms[i, last] = j
                last += 1
        groups = max((count + GROUP - 1) // GROUP, 1)
        most = extent // GROUP
        terms[i, 0] = GROUP * (groups if groups < most else most)
        terms[i, 1] = count
    return terms


def _plain(factors, others):
    factors = np.asarray(factors)
    kept = np.any(factors != 0, axis=2) | ~np.all(np.isfinite(others))
    count, extent = np.sum(kept, axis=1), factors.shape[1]
    whole = GROUP * np.minimum(np.maximum(-(-count // GROUP), 1), extent // GROUP)
    return np.column_stack([whole, count, np.argsort(~kept, axis=1, kind="stable")])


def _rule(factors, others):
    return types.Array(types.int64, 2, "C"), factors, others


nonzero_first = _plain
nonzero_first.__doc__, nonzero_first.__name__ = _nonzero_first.__doc__, "nonzero_first"
compiled_as(nonzero_first, _rule, emit_python(_nonzero_first, fast=False, apart=True))
