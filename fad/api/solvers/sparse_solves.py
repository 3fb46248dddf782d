"""Sparse linear systems within functions. SciPy's SuperLU solves when the program runs.

    A x = b:    dx = A^-1 (db - dA x),      gb = A^-T gx,      gA[k] = -gb[row[k]] x[col[k]]

at the places of A alone, so that nothing dense is made (M. B. Giles, "An extended collection of matrix derivative
results", 2008, section 2.3.1).
"""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.op import registry
from ...ir.types import result_dtype
from ...ops import extents
from ...ops.kinds import shape_of
from ...ops.numpy_api.arguments import taken
from ...routines import above
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ArgumentError, UnsupportedFunctionError
from ...util.lazy import LazyModule

sparse: Any = LazyModule("scipy.sparse")
linalg: Any = LazyModule("scipy.sparse.linalg")


class Rule:
    """The derivatives of a solve: see above."""

    results = 1
    batch = None
    unruled: Sequence[int] = ()

    def jvp(self, xs: Sequence, dxs: Sequence) -> tuple:
        (data, row, col, b), (ddata, _, _, db) = xs, dxs
        x = solve(data, row, col, b)
        right = None if ddata is None else -_product(ddata, row, col, x)
        right = db if right is None else right if db is None else right + db
        return (x,), (solve(data, row, col, right),)

    def forward(self, xs: Sequence) -> tuple:
        x = solve(*xs)
        return (x,), (x, *xs)

    def backward(self, saved: Sequence, gs: Sequence, needs: Sequence) -> list:
        x, data, row, col, _ = saved
        gb = solve(data, col, row, gs[0])
        gdata = -taken(gb, row) * taken(x, col)
        if len(shape_of(x)) == 2:
            gdata = registry["sum"](gdata, axes=(1,))
        return [gdata, None, None, gb]


def solve(data: AnyArray, row: AnyArray, col: AnyArray, b: AnyArray) -> AnyArray:
    """The solution of A x = b for A[row[k], col[k]] = data[k], and a vector or a matrix b."""
    if stack.is_live() or not stack.builders():
        raise UnsupportedFunctionError("sparse systems with traced elements are not solved on the tape",
                                       do="see the warning why this function runs there, and change that")
    dtype = np.result_type(result_dtype(data, b), np.float64)
    if dtype.kind == "c":
        raise UnsupportedFunctionError("complex sparse systems with traced elements are not solved",
                                       do="solve for the real and the imaginary part as one real system")
    if len(shape_of(b)) not in (1, 2):
        raise ArgumentError("the right side of a sparse system is a vector or a matrix",
                            do="look at its shape (b.shape): reshape it")
    values = (registry["cast"](data, dtype=dtype), row, col, registry["cast"](b, dtype=dtype))
    return registry["custom"].run_regions(list(values), (_run,), rule=Rule(), name="spsolve")[0]


def _run(data: AnyArray, row: AnyArray, col: AnyArray, b: AnyArray) -> tuple:
    return (registry["host"](b, data, row, col, function=_on_numbers, like=0),)


def _on_numbers(b: AnyArray, data: AnyArray, row: AnyArray, col: AnyArray) -> AnyArray:
    a = sparse.csc_array((data, (row, col)), shape=(len(b), len(b)))
    return np.reshape(linalg.spsolve(a, b), b.shape)


def _product(data: ArrayOrNumber, row: AnyArray, col: AnyArray, x: AnyArray) -> AnyArray:
    """A x."""
    more = shape_of(x)[1:]
    extents.agree(shape_of(data)[0], shape_of(row)[0], "extents of a sparse matrix's data and places")
    parts = registry["reshape"](data, *shape_of(data), *[1] * len(more)) * taken(x, col)
    return registry["index_add"](x * 0.0, parts, row, spec=("a",) + (":",) * len(more), at=0)


above.solve_sparse = solve
