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

from ..backend.compile import kernel_of
from . import greedy

FEW = 100_000  # steps that Python takes before it loads a compiled kernel


def colour_columns(pattern: Any) -> np.ndarray:
    """A colour for each column of a pattern (a CSR array): two columns with entries in one row differ."""
    columns = pattern.tocsc()
    rows_first = [pattern.indptr, pattern.indices, columns.indptr, columns.indices]
    work = int((np.diff(pattern.indptr).astype(np.int64) ** 2).sum())
    return _best(greedy.colour_columns, rows_first, np.diff(columns.indptr),
                 int(np.diff(pattern.indptr).max(initial=0)), work)


def colour_symmetric(pattern: Any) -> np.ndarray:
    """A colour for each column of a symmetric pattern: every path of four vertices of its graph has at least three
    colours."""
    degree = np.diff(pattern.indptr)
    work = int(degree[pattern.indices].sum())
    return _best(greedy.colour_symmetric, [pattern.indptr, pattern.indices], degree, 1, work)


def _best(kernel: Callable, arrays: list, degree: np.ndarray, least: int, work: int) -> np.ndarray:
    """The colouring with fewer colours among two orders. It skips the second order if the first reaches the lower
    bound."""
    run = kernel if work <= FEW else _compiled(kernel)
    arrays = [np.ascontiguousarray(a, np.int64) for a in arrays]
    first = run(*arrays, np.arange(len(degree)))
    if not len(first) or first.max() + 1 <= least:
        return first
    second = run(*arrays, np.argsort(-degree, kind="stable"))
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
