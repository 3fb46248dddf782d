"""Colourings: which columns (or rows) of a sparse matrix one sweep finds together, and where each entry stands in the
results.

Columns that share no row have one colour: the sum of such columns holds each of their entries by itself (Curtis,
Powell & Reid, 1974). A symmetric matrix needs fewer colours, since an entry may be read in its row or in its column: a
star colouring (Coleman & Moré, 1984). Both colourings are greedy, and take the better of two orders: the given one,
and the fullest first (Gebremedhin, Manne & Pothen, What color is your Jacobian?, SIAM Review 47, 2005, sections 3 and
4).
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend.running.compile import kernel_of
from . import greedy

FEW = 100_000  # steps, or entries of columns, that Python takes before it loads a compiled kernel


def colour_columns(pattern: Any) -> np.ndarray:
    """A colour for each column of a pattern (a CSR array): two columns with entries in one row differ."""
    columns = pattern.tocsc()
    rows_first = [pattern.indptr, pattern.indices, columns.indptr, columns.indices]
    is_small = pattern.nnz <= FEW
    return _best(greedy.colour_columns_by_sets if is_small else greedy.colour_columns, rows_first,
                 np.diff(columns.indptr), int(np.diff(pattern.indptr).max(initial=0)), is_small)


def colour_symmetric(pattern: Any) -> np.ndarray:
    """A colour for each column of a symmetric pattern: every path of four vertices of its graph has at least three
    colours."""
    degree = np.diff(pattern.indptr)
    work = int(degree[pattern.indices].sum())
    return _best(greedy.colour_symmetric, [pattern.indptr, pattern.indices], degree, 1, work <= FEW)


def _best(kernel: Callable, arrays: list, degree: np.ndarray, least: int, is_small: bool) -> np.ndarray:
    """The colouring with fewer colours among two orders. It skips the second order if the first reaches the lower
    bound."""
    arrays = [np.ascontiguousarray(a, np.int64) for a in arrays]
    given = [a.tolist() for a in arrays] if is_small else arrays
    run = kernel if is_small else _compiled(kernel)

    def coloured(order: np.ndarray) -> np.ndarray:
        room = [np.full(len(degree) + more, -1) for more in (0, 1)]
        last = [a.tolist() for a in (order, *room)] if is_small else [order, *room]
        return np.asarray(run(*given, *last), np.int64)
    first = coloured(np.arange(len(degree)))
    if not len(first) or first.max() + 1 <= least:
        return first
    second = coloured(np.argsort(-degree, kind="stable"))
    return first if first.max() <= second.max() else second


def _compiled(kernel: Callable) -> Callable:
    """The kernel's machine code, kept where all of fad's is."""
    return kernel_of(f"from {kernel.__module__} import {kernel.__name__}\n", kernel.__name__).call


def count_of(colours: np.ndarray) -> int:
    return int(colours.max()) + 1 if len(colours) else 0


def is_read_in_column(rows: np.ndarray, columns: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """For entries of a symmetric matrix under a star colouring: whether to read (i, j) as (j, i), since another entry
    of row i has j's colour."""
    count = count_of(colours)
    here, there = rows * count + colours[columns], columns * count + colours[rows]
    entries = np.bincount(here, minlength=len(colours) * count)
    if not ((entries[here] == 1) | (entries[there] == 1)).all():
        raise AssertionError("a star colouring leaves an entry that stands nowhere by itself")
    return entries[here] != 1
