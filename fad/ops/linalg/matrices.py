"""The vocabulary of linear algebra's rules: products, adjoints, triangles and diagonals of stacked matrices (..., m,
n).

All of it is code over ops, so it serves ndarrays, Tensors and values of the IR alike. Operands of one product are
stacks of one shape; overrides broadcast before they call an op.
"""
from typing import Any

import numpy as np

from ...ir.op import Op, registry
from ...ir.types import INT, Type, type_of
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike, Extent
from .. import extents
from ..batching import batch_extent, spread_batch
from ..kinds import conjugate, is_complex, shape_of

_STACK = "abcdefghijklmnopq"


def rank(x: ArrayOrNumber) -> int:
    return len(shape_of(x))


def in_dtype(x: ArrayOrNumber, dtype: np.dtype) -> Any:
    """x in this dtype."""
    return x if type_of(x).dtype == dtype and not type_of(x).weak else registry["cast"](x, dtype=dtype)


# -- products --------------------------------------------------------------------------------------


def matmul(x: Any, y: object) -> AnyArray:
    """x @ y, matrix by matrix."""
    b = _STACK[:rank(x) - 2]
    return registry["contract"](x, y, labels=(b + "xy", b + "yz", b + "xz"))


def transposed(x: Any) -> AnyArray:
    """The last two axes exchanged."""
    k = rank(x)
    return registry["transpose"](x, axes=(*range(k - 2), k - 1, k - 2))


def adjoint(x: object) -> AnyArray:
    """The conjugate transpose."""
    return conjugate(transposed(x))


def hermitian_part(x: AnyArray) -> AnyArray:
    """(x + x^H) / 2."""
    return 0.5 * (x + adjoint(x))


def real(x: AnyArray) -> AnyArray:
    return registry["real"](x) if is_complex(x) else x


def total(x: AnyArray) -> AnyArray:
    """The sum of the entries of each matrix."""
    k = rank(x)
    return registry["sum"](x, axes=(k - 2, k - 1))


def trace_of_product(x: AnyArray, y: AnyArray) -> AnyArray:
    """tr(x @ y), of each pair of matrices."""
    b = _STACK[:rank(x) - 2]
    return registry["contract"](x, y, labels=(b + "xy", b + "yx", b))


# -- rows, columns, diagonals ----------------------------------------------------------------------


def as_rows(d: AnyArray) -> AnyArray:
    """Vectors (..., n) as matrices of one row (..., 1, n), whose entries go with columns."""
    *stack, n = shape_of(d)
    return registry["reshape"](d, *stack, 1, n)


def as_columns(d: ArrayOrNumber) -> AnyArray:
    """Vectors (..., n) as matrices of one column (..., n, 1), whose entries go with rows."""
    return registry["reshape"](d, *shape_of(d), 1)


def as_matrices(d: AnyArray) -> AnyArray:
    """Numbers (...) as matrices of extents 1 and 1."""
    return registry["reshape"](d, *shape_of(d), 1, 1)


def count_up(n: Extent) -> AnyArray:
    """0, 1, ..., n - 1."""
    return registry["iota"](n, dtype=INT)


def _rows_and_columns(m: Extent, n: Extent) -> tuple:
    return registry["reshape"](count_up(m), m, 1), registry["reshape"](count_up(n), 1, n)


def below(m: Extent, n: Extent) -> AnyArray:
    """The mask of the entries below the diagonal."""
    rows, columns = _rows_and_columns(m, n)
    return registry["greater"](rows, columns)


def on_diagonal(m: Extent, n: Extent) -> AnyArray:
    """The mask of the diagonal."""
    rows, columns = _rows_and_columns(m, n)
    return registry["equal"](rows, columns)


def where(mask: AnyArray, x: ArrayOrNumber, y: ArrayOrNumber = 0.0) -> AnyArray:
    return registry["where"](mask, x, y)


def strictly_lower(x: ArrayOrNumber) -> AnyArray:
    """x below its diagonal, zero elsewhere."""
    return where(below(*shape_of(x)[-2:]), x)


def lower(x: AnyArray) -> AnyArray:
    """x on and below its diagonal, zero elsewhere."""
    m, n = shape_of(x)[-2:]
    rows, columns = _rows_and_columns(m, n)
    return where(registry["greater_equal"](rows, columns), x)


def upper(x: AnyArray) -> AnyArray:
    """x on and above its diagonal, zero elsewhere."""
    m, n = shape_of(x)[-2:]
    rows, columns = _rows_and_columns(m, n)
    return where(registry["less_equal"](rows, columns), x)


def strictly_upper(x: AnyArray) -> AnyArray:
    """x above its diagonal, zero elsewhere."""
    rows, columns = _rows_and_columns(*shape_of(x)[-2:])
    return where(registry["less"](rows, columns), x)


def halved_lower(x: AnyArray) -> AnyArray:
    """The lower triangle with half the diagonal: what, with its adjoint, makes up a Hermitian x."""
    m, n = shape_of(x)[-2:]
    return where(below(m, n), x, where(on_diagonal(m, n), 0.5 * x))


def diagonal(x: ArrayOrNumber) -> AnyArray:
    """The diagonals of square matrices."""
    k, n = rank(x) - 2, shape_of(x)[-1]
    each = count_up(n)
    return registry["index"](x, each, each, spec=(":",) * k + ("a", "a"), at=k)


def diagonal_matrix(d: AnyArray) -> AnyArray:
    """Square matrices with these diagonals."""
    n = shape_of(d)[-1]
    return where(on_diagonal(n, n), as_rows(d))


def identity_like(x: object) -> AnyArray:
    """Identity matrices in the shape of the square x."""
    n = shape_of(x)[-1]
    return registry["broadcast_to"](in_dtype(on_diagonal(n, n), type_of(x).dtype), *shape_of(x))


def columns_from(x: ArrayOrNumber, start: Extent, extent: Extent) -> AnyArray:
    """The columns start, start + 1, ..., extent of them."""
    return registry["slice_axis"](x, rank(x) - 1, start, extent)


def rows_from(x: AnyArray, start: Extent, extent: Extent) -> AnyArray:
    """The rows start, start + 1, ..., extent of them."""
    return registry["slice_axis"](x, rank(x) - 2, start, extent)


# -- equal values ----------------------------------------------------------------------------------
#  Where two eigenvalues are equal, their eigenvectors are any basis of a space, and the derivative of a function
# through them cannot be told from its cotangents: that of sum(w * (v f(v) v^T)) has the limit f'(w) there, of which gv
# and gw at that point know nothing (R. A. Horn and C. R. Johnson, Topics in Matrix Analysis, section 6.6). So it is
# nan, unless no cotangent at all reaches the two.


def rounding(w: AnyArray) -> AnyArray:
    """The distance of values that are equal, when computed, an extent of 1 in place of theirs."""
    size = registry["sum"](registry["abs"](w), axes=(rank(w) - 1,))
    return as_columns(size) * float(8 * np.finfo(type_of(w).dtype).eps)


def alike(w: AnyArray) -> AnyArray:
    """The mask of the pairs of values that are equal to rounding; the diagonal is among them."""
    return registry["less_equal"](registry["abs"](as_rows(w) - as_columns(w)), as_rows(rounding(w)))


def unknown(x: AnyArray) -> AnyArray:
    """nan, and zero where x is zero; in derivatives likewise."""
    return registry["guarded_mul"](x, float("nan"))


def unknown_columns(*xs: tuple) -> Any:
    """For each column of matrices (for each entry of vectors) nan if anything in it is nonzero, else zero."""
    out = None
    for x, is_matrix in xs:
        if x is not None:
            lost = unknown(x)
            lost = registry["sum"](lost, axes=(rank(lost) - 2,)) if is_matrix else lost
            out = lost if out is None else out + lost
    return out


def over_gaps(x: AnyArray, gap: AnyArray, equal: AnyArray, doubt: AnyArray) -> AnyArray:
    """x / gap off the diagonal, zero on it; `doubt` where the mask `equal` holds."""
    n = shape_of(x)[-1]
    apart = where(equal, 0.0, x) * (1.0 / where(equal, 1.0, gap))
    return where(on_diagonal(n, n), 0.0, where(equal, doubt, apart))


# -- the shape of a matrix -------------------------------------------------------------------------


def aspect_of(x: object) -> str:
    """"square", "tall" or "wide", under a guard if a program's extents are in question; "any" if nothing is known of
    them."""
    m, n = shape_of(x)[-2:]
    known = extents.hint(m), extents.hint(n)
    if None not in known and known[0] == known[1]:
        extents.agree(m, n)
        return "square"
    if extents.assume_at_least(m, n):
        return "tall"
    return "wide" if extents.assume_at_least(n, m) else "any"


def smaller_extent(x: object, aspect: str) -> Any:
    """min(m, n), which the aspect may tell."""
    m, n = shape_of(x)[-2:]
    return n if aspect in ("square", "tall") else m if aspect == "wide" else extents.minimum(m, n)


# -- what the records share ------------------------------------------------------------------------


def square_type(x: AnyArray) -> Type:
    """The type of a stack of square matrices, which x has to be."""
    t = type_of(x)
    *stack, m, n = shape_of(x)
    n = extents.agree(m, n, "the extents of a square matrix")
    return Type(t.dtype, (*stack, n, n))


def vector_type(x: AnyArray, dtype: DTypeLike) -> Type:
    """The type of a vector for each of a stack of square matrices."""
    t = square_type(x)
    return Type(dtype, t.shape[:-1])


def number_type(x: AnyArray, dtype: DTypeLike = None) -> Type:
    """The type of a number for each of a stack of square matrices."""
    t = square_type(x)
    return Type(dtype or t.dtype, t.shape[:-2])


def batch_stack(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    """A batch of stacks is a stack with one more axis."""
    n = batch_extent(xs, batched)
    return op(*[spread_batch(x, n, b) for x, b in zip(xs, batched)], **params)


def fold_columns(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    """The rule for a batch of right-hand sides alone (the last input): the examples are further columns of one of them.
    """
    if batched != (False,) * (len(xs) - 1) + (True,):
        return batch_stack(op, xs, batched, params)
    b = xs[-1]
    r, (count, *stack, n, k) = rank(b), shape_of(b)
    to_columns = (*range(1, r - 1), 0, r - 1)
    wide = registry["reshape"](registry["transpose"](b, axes=to_columns), *stack, n, count * k)
    x = op(*xs[:-1], wide, **params)
    x = registry["reshape"](x, *stack, n, count, k)
    return registry["transpose"](x, axes=(r - 2, *range(r - 2), r - 1))
