"""Greedy colourings of sparse matrices. Rows and columns are given as in CSR and CSC: `starts` and `members`.

Each vertex takes the least colour that no near vertex has: O(sum of squared row lengths) for columns. Source: A.
Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring for computing derivatives" (2005).

    >>> import numpy as np
    >>> starts, members = np.array([0, 2, 4]), np.array([0, 1, 1, 2])  # two rows: columns 0 and 1, columns 1 and 2
    >>> column_starts, rows = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1])
    >>> colour_columns(starts, members, column_starts, rows, np.arange(3))
    array([0, 1, 0])
"""
import numpy as np

__all__ = ["colour_columns", "colour_symmetric"]


def colour_columns(row_starts, columns, column_starts, rows, order):
    """A colour for each column, so that no two columns with an entry in one row have the same (partial distance-2
    colouring).
    """
    count = len(order)
    colours = np.full(count, -1, np.int64)
    taken = np.full(count + 1, -1, np.int64)                 # colour -> the column that it was last refused
    for k in range(count):
        j = order[k]
        for a in range(column_starts[j], column_starts[j + 1]):
            i = rows[a]
            for b in range(row_starts[i], row_starts[i + 1]):
                other = colours[columns[b]]
                if other >= 0:
                    taken[other] = j
        c = 0
        while taken[c] == j:
            c = c + 1
        colours[j] = c
    return colours


def colour_symmetric(starts, members, order):
    """A colour for each vertex of a symmetric matrix's graph, so that each path of four vertices has three colours
    (star colouring).
    """
    count = len(order)
    colours = np.full(count, -1, np.int64)
    taken = np.full(count + 1, -1, np.int64)
    for k in range(count):
        v = order[k]
        for a in range(starts[v], starts[v + 1]):
            w = members[a]
            if w == v:
                continue
            between = colours[w]
            if between >= 0:
                taken[between] = v
            for b in range(starts[w], starts[w + 1]):
                x = members[b]
                far = colours[x]
                if x != v and far >= 0 and (between < 0 or far < between):
                    taken[far] = v
        c = 0
        while taken[c] == v:
            c = c + 1
        colours[v] = c
    return colours
