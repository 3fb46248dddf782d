"""Runs that occur several times in a sequence of numbers, by its suffix array.

O(n log n) sorts of a sequence of n numbers by prefix doubling. Source: U. Manber, G. Myers, "Suffix arrays" (1993); T.
Kasai et al., "Linear-time longest-common-prefix computation" (2001).
"""
from collections.abc import Iterator

import numpy as np


def repeated_runs(sequence: list) -> Iterator[tuple]:
    """Pairs (length, places) of the maximal runs that occur at several places: no run could be longer at all its
    places.

    >>> sorted((length, sorted(places)) for length, places in repeated_runs([1, 2, 3, 9, 1, 2, 3, 8, 2, 3]))
    [(2, [1, 5, 8]), (3, [0, 4])]
    """
    if len(sequence) < 2:
        return
    order = _suffix_array(np.asarray(sequence))
    common = _common_prefixes(sequence, order)
    stack: list[tuple] = []  # (length, first) of intervals of the suffix array that are not over yet
    for k, length in enumerate([*common, 0]):                # common[k]: of order[k] and order[k + 1]
        first = k
        while stack and stack[-1][0] > length:
            found, first = stack.pop()
            places = order[first:k + 1].tolist()
            if len({sequence[p - 1] if p else None for p in places}) > 1:
                yield found, places
        if length and (not stack or stack[-1][0] < length):
            stack.append((length, first))


def _suffix_array(numbers: np.ndarray) -> np.ndarray:
    n, width = len(numbers), 1
    rank = np.unique(numbers, return_inverse=True)[1]
    while True:
        behind = np.full(n, -1)
        behind[:n - width] = rank[width:]
        order = np.lexsort((behind, rank))
        differs = (rank[order[1:]] != rank[order[:-1]]) | (behind[order[1:]] != behind[order[:-1]])
        rank = np.empty(n, np.int64)
        rank[order] = np.concatenate([[0], np.cumsum(differs)])
        width *= 2
        if rank[order[-1]] == n - 1 or width >= n:
            return order


def _common_prefixes(sequence: list, order: np.ndarray) -> list:
    """The lengths of the common prefixes of neighbours in the suffix array."""
    n, suffixes = len(sequence), order.tolist()
    place = [0] * n
    for k, start in enumerate(suffixes):
        place[start] = k
    common, length = [0] * (n - 1), 0
    for start in range(n):
        if place[start] == n - 1:
            length = 0
            continue
        other = suffixes[place[start] + 1]
        while max(start, other) + length < n and sequence[start + length] == sequence[other + length]:
            length += 1
        common[place[start]] = length
        length = max(length - 1, 0)
    return common
