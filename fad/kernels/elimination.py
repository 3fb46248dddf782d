"""Elimination and substitution in loops, for matrices so small that a call of LAPACK costs more than the work.

LAPACK takes 0.3 µs to look at its arguments and to copy a matrix into its own order; a matrix of six rows has 150
operations. These loops take matrices in C order, as they are. Golub and Van Loan, Matrix Computations, 4th edition:
algorithms 3.4.1 (LU with partial pivoting), 3.1.1 and 3.1.2 (triangular systems, by rows), 4.2.1 (Cholesky).
"""
import numpy as np
from numba.core import types

from fad.kernels.memory import blank, oriented
from fad.kernels.promotion import inner

__all__ = [
    "SMALL", "cholesky_by_loops", "eliminate", "eliminate_all", "has_zero_pivot", "identities", "solve_all",
    "substitute",
]

SMALL = 24  # rows; from about 32 on LAPACK is faster


@inner(lambda m, swaps: types.int32)
def eliminate(m, swaps):
    """LU in place of one square or tall matrix, row swaps beside, counted from 0; the first zero pivot (from 1), or
    0.
    """
    info = 0
    for k in range(m.shape[1]):
        p, largest = k, abs(m[k, k].real) + abs(m[k, k].imag)
        for i in range(k + 1, m.shape[0]):
            size = abs(m[i, k].real) + abs(m[i, k].imag)
            if size > largest:
                p, largest = i, size
        swaps[k] = p
        if p != k:
            for j in range(m.shape[1]):
                m[k, j], m[p, j] = m[p, j], m[k, j]
        pivot = m[k, k]
        if pivot == 0:
            info = info if info else k + 1
            continue
        for i in range(k + 1, m.shape[0]):
            factor = m[i, k] / pivot
            m[i, k] = factor
            for j in range(k + 1, m.shape[1]):
                m[i, j] -= factor * m[k, j]
    return info


@inner(lambda sides, swaps, back: types.none)
def _exchange_rows(sides, swaps, back):
    """Exchange the rows of the right-hand sides (n, k) as those of the matrix were exchanged, or back."""
    n = sides.shape[0]
    for step in range(n):
        i = n - 1 - step if back else step
        other = swaps[i]
        if other != i:
            for q in range(sides.shape[1]):
                sides[i, q], sides[other, q] = sides[other, q], sides[i, q]


@inner(lambda m, sides, lower, transpose, unit: types.none)
def substitute(m, sides, lower, transpose, unit):
    """Solve a triangular system in place of its right-hand sides (n, k): with one triangle of m as it is (transpose 0),
    transposed (1) or conjugated, too (2); unit says that its diagonal is one.
    """
    conjugate = transpose == 2
    _conjugate(sides, conjugate)
    _substitute(oriented(m, transpose != 0), sides, lower == (transpose == 0), unit)
    _conjugate(sides, conjugate)


@inner(lambda sides, wanted: types.none)
def _conjugate(sides, wanted):
    if wanted:
        for i in range(sides.shape[0]):
            for q in range(sides.shape[1]):
                sides[i, q] = np.conj(sides[i, q])


@inner(lambda m, sides, is_down, unit: types.none)
def _substitute(m, sides, is_down, unit):
    """By the lower triangle, from the first row down, or by the upper one, from the last row up."""
    n = sides.shape[0]
    for step in range(n):
        j = step if is_down else n - 1 - step
        first, end = (0, j) if is_down else (j + 1, n)
        if sides.shape[1] == 1:                               # the sum stays in a register
            rest = sides[j, 0]
            for i in range(first, end):
                rest -= m[j, i] * sides[i, 0]
            sides[j, 0] = rest if unit else rest / m[j, j]
            continue
        for i in range(first, end):
            factor = m[j, i]
            for q in range(sides.shape[1]):
                sides[j, q] -= factor * sides[i, q]
        if not unit:
            pivot = m[j, j]
            for q in range(sides.shape[1]):
                sides[j, q] /= pivot


@inner(lambda m: types.int32)
def cholesky_by_loops(m):
    """The lower Cholesky factor in place of one matrix, from its lower triangle; the order of the first leading minor
    that is not positive, or 0.
    """
    n = m.shape[0]
    for j in range(n):
        square = m[j, j].real
        for k in range(j):
            square -= m[j, k].real * m[j, k].real + m[j, k].imag * m[j, k].imag
        if not square > 0:
            return j + 1
        root = np.sqrt(square)
        m[j, j] = root
        for i in range(j + 1, n):
            rest = m[i, j]
            for k in range(j):
                rest -= m[i, k] * np.conj(m[j, k])
            m[i, j] = rest / root
    return 0


@inner(lambda stack: types.boolean)
def has_zero_pivot(stack):
    """Whether a number on the diagonals of matrices (count, n, n) is zero."""
    for m in range(stack.shape[0]):
        for i in range(stack.shape[1]):
            if stack[m, i, i] == 0:
                return True
    return False


@inner(lambda stack, swaps: types.boolean)
def eliminate_all(stack, swaps):
    """LU in place of small square matrices; whether all are of full rank."""
    for m in range(stack.shape[0]):
        if eliminate(stack[m], swaps[m]) > 0:
            return False
    return True


@inner(lambda stack, swaps, sides, transpose: sides)
def solve_all(stack, swaps, sides, transpose):
    """Solve systems in place of their right-hand sides (count, n, k), by the LU factors of small matrices."""
    plain = transpose == 0
    for c in range(sides.shape[0]):
        at = c if stack.shape[0] > 1 else 0
        m, x = oriented(stack[at], not plain), sides[c]       # once for both triangles: each time takes 20 ns
        _conjugate(x, transpose == 2)
        if plain:
            _exchange_rows(x, swaps[at], False)
        _substitute(m, x, True, plain)
        _substitute(m, x, False, not plain)
        if not plain:
            _exchange_rows(x, swaps[at], True)
        _conjugate(x, transpose == 2)
    return sides


@inner(lambda stack: stack)
def identities(stack):
    """An identity matrix for each of a stack."""
    out = blank(stack.shape, stack.dtype)
    for c in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[1]):
                out[c, i, j] = i == j
    return out
