"""Greedy colourings of sparse matrices. Rows and columns are given as in CSR and CSC: `starts` and `members`.

Each vertex takes the least colour that no near vertex has: O(sum of squared row lengths) for columns. Source: A.
Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring for computing derivatives" (2005). These
functions are compiled for large matrices. Python runs them on lists, or `colour_columns_by_sets`.

    >>> import numpy as np
    >>> starts, members = np.array([0, 2, 4]), np.array([0, 1, 1, 2])  # two rows: columns 0 and 1, columns 1 and 2
    >>> column_starts, rows = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1])
    >>> colour_columns(starts, members, column_starts, rows, np.arange(3), np.full(3, -1), np.full(4, -1))
    array([0, 1, 0])
    >>> colour_columns_by_sets(starts, members, column_starts, rows, np.arange(3), np.full(3, -1), np.full(4, -1))
    array([0, 1, 0])
"""
__all__ = ["colour_columns", "colour_columns_by_sets", "colour_symmetric"]


def colour_columns_by_sets(row_starts, columns, column_starts, rows, order, colours, taken):
    """The same as colour_columns, for Python: the colours of a row are the bits of one int, so that each entry is met
    twice, however many the row has.
    """
    sets = [0] * (len(row_starts) - 1)
    for j in order:
        mine, here = rows[column_starts[j]:column_starts[j + 1]], 0
        for i in mine:
            here |= sets[i]
        colour = ~here & (here + 1)                          # the lowest bit that is not set
        for i in mine:
            sets[i] |= colour
        colours[j] = colour.bit_length() - 1
    return colours


def colour_columns(row_starts, columns, column_starts, rows, order, colours, taken):
    """A colour for each column, so that no two columns with an entry in one row have the same (partial distance-2
    colouring). colours: -1 for each column; taken: room for the column that each colour was last refused, -1 at first.
    """
    for k in range(len(order)):
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


def colour_symmetric(starts, members, order, colours, taken):
    """A colour for each vertex of a symmetric matrix's graph, so that each path of four vertices has three colours
    (star colouring).
    """
    for k in range(len(order)):
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
