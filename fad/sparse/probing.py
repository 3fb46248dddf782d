"""The sparsity pattern of a map, found by sweeps of bit sets: 64 groups of columns a sweep, in groups that get smaller.

The first sweep has 64 groups of neighbouring columns. Groups that meet in no row may share the bits of the next sweep,
since the pattern so far tells them apart; so each group splits into as many parts as there are bits left, until all
groups are single columns. A banded matrix of 100,000 columns takes four sweeps, a full one a sweep for every 64
columns (Giering & Kaminski, 2006; Griewank & Mitev, Detecting Jacobian sparsity patterns by Bayesian probing, 2002).
"""
from collections.abc import Callable

import numpy as np
import scipy.sparse

from .colouring import colour_columns, count_of

WORD = 64


def find_pattern(sweep: Callable, rows: int, columns: int) -> scipy.sparse.csr_array:
    """The pattern (a boolean CSR array) of a map with this many rows and columns: sweep(int64 sets of the columns) ->
    sets of the rows."""
    groups = np.linspace(0, columns, min(WORD, columns) + 1).astype(np.int64)  # where each group begins, and the end
    known = (scipy.sparse.csr_array(np.ones((rows, 1), bool)) if rows and columns
             else scipy.sparse.csr_array((rows, columns), dtype=bool))
    around = np.zeros(len(groups) - 1, np.int64)  # for each group, the known group that holds it
    while rows and columns:
        known = _refined(sweep, known, groups, around)
        sizes = np.diff(groups)
        if sizes.max() == 1:
            break
        parts = min(int(sizes.max()), _parts(count_of(colour_columns(known))))
        around = np.repeat(np.arange(len(sizes)), np.minimum(sizes, parts))
        groups = _split(groups, sizes, parts)
    return known


def _parts(colours: int) -> int:
    """The number of parts to split each group into: as many as one sweep has bits for. Groups that nearly all meet get
    a few, for some sweeps more."""
    return WORD // colours if colours <= WORD // 2 else 8


def _split(groups: np.ndarray, sizes: np.ndarray, parts: int) -> np.ndarray:
    """The beginnings of the parts of all groups, none of them empty, and the end."""
    count = np.minimum(sizes, parts)
    first = np.repeat(np.cumsum(count) - count, count)
    number = np.arange(count.sum()) - first                  # of a part within its group
    begins = np.repeat(groups[:-1], count) + number * np.repeat(sizes, count) // np.repeat(count, count)
    return np.append(begins, groups[-1])


def _refined(sweep: Callable, known: scipy.sparse.csr_array, groups: np.ndarray,
             around: np.ndarray) -> scipy.sparse.csr_array:
    """The pattern by the new groups, from that by those around them."""
    colours = colour_columns(known)
    first = np.searchsorted(around, np.arange(known.shape[1]))  # the first part of each known group
    number = np.arange(len(around)) - first[around]
    parts = int(number.max()) + 1
    a_word = WORD // parts  # colours that one sweep has room for
    of_part = colours[around]
    bits = np.left_shift(np.uint64(1), (of_part % a_word * parts + number).astype(np.uint64))
    sizes = np.diff(groups)
    rows = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
    mine, shift = colours[known.indices] // a_word, (colours[known.indices] % a_word * parts).astype(np.uint64)
    found_rows, found = [], []
    for iteration in range(-(-count_of(colours) // a_word)):
        seeds = np.repeat(np.where(of_part // a_word == iteration, bits, np.uint64(0)), sizes).view(np.int64)
        sets = np.asarray(sweep(seeds)).view(np.uint64)
        entries = np.flatnonzero(mine == iteration)
        words = np.right_shift(sets[rows[entries]], shift[entries])
        entries, words = entries[words != 0], words[words != 0]
        which, part = np.nonzero(np.unpackbits(words.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1,
                                               bitorder="little", count=parts))
        entries = entries[which]
        group = first[known.indices[entries]] + part
        inside = (group < len(around)) & (around[np.minimum(group, len(around) - 1)] == known.indices[entries])
        found_rows.append(rows[entries[inside]])
        found.append(group[inside])
    places = np.concatenate(found_rows), np.concatenate(found)
    made = scipy.sparse.coo_array((np.ones(len(places[0]), bool), places), shape=(known.shape[0], len(around))).tocsr()
    made.sort_indices()
    return made
