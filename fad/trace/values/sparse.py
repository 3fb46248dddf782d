"""Products of SciPy's sparse matrices with traced arrays: A @ x, x @ A, A.dot(x), A * x.

The matrix comes from outside: its numbers are inputs of the program, and the program is traced anew once it has other
arrays.
"""
import sys
from typing import Any

import numpy as np

from ...ir.build import current
from ...ir.op import registry
from ...ir.types import INT, result_dtype
from ...ops import extents
from ...ops.kinds import shape_of
from ...ops.override import BY_NAME
from ...util.array import AnyArray
from ...util.errors import UnsupportedFunctionError
from ...util.lazy import LazyModule
from ...util.where import module_name
from ..guards.guard import AttributeGuard

routines: Any = LazyModule("fad.routines.sparse")             # brings SciPy with it


def is_sparse(a: object) -> bool:
    """Whether this is a sparse matrix or array of SciPy's."""
    return module_name(type(a)).startswith("scipy.sparse") and hasattr(a, "format")


def is_asked_by_sparse() -> bool:
    """Whether a sparse matrix wants to know, two calls up, if an operand is an array; of what is none, it calls the
    reflected operator.
    """
    code = sys._getframe(2).f_code
    return code.co_name == "_matmul_dispatch" and "sparse" in code.co_filename


def times(a: Any, x: Any, transposed: bool = False) -> AnyArray:
    """A @ x, or A.T @ x, of a vector or matrix x; A * x of a number."""
    if not len(shape_of(x)) and a.format in COORDINATES and a.ndim == 2:
        data, rows, columns = COORDINATES[a.format](a)
        return routines.Sparse(data * x, rows, columns, a.shape, type(a))
    product = PRODUCTS.get(a.format)
    if product is None or a.ndim != 2 or len(shape_of(x)) not in (1, 2):
        raise UnsupportedFunctionError(
            f"a sparse {a.format} array of {a.ndim} axes is not multiplied with a traced array of {len(shape_of(x))}",
            do="take a matrix in one of the formats csr, csc, coo, dia (A.tocsr()) and a vector or matrix",
        )
    m, n = a.shape[::-1] if transposed else a.shape
    extents.agree(shape_of(x)[0], n, "extents of a sparse matrix and an array")
    return product(a, x, m, transposed)


def _array(a: object, name: str) -> AnyArray:
    """One of the matrix's arrays, an input of the program."""
    array = getattr(a, name)
    root = current().root
    root.trace.sources.append(AttributeGuard(a, name, array))
    return current().watch(array)


def _summed(data: object, rows: object, columns: object, x: object, m: int) -> AnyArray:
    """The sums, row by row, of the products of the elements with those of x."""
    shape = shape_of(x)[1:]
    spread = registry["reshape"](data, *shape_of(data), *[1] * len(shape))
    parts = spread * registry["index"](x, columns, spec=("a",) + (":",) * len(shape), at=0)
    zeros = registry["full"](0, m, *shape, dtype=result_dtype(data, x))
    return registry["index_add"](zeros, parts, rows, spec=("a",) + (":",) * len(shape), at=0)


def _compressed(of_rows: bool) -> Any:
    def coordinates(a: Any) -> tuple:
        if len(a.data) != a.indptr[-1]:
            raise UnsupportedFunctionError("a sparse matrix has room for more elements than it has", do="A.prune()")
        data, minor, starts = (_array(a, name) for name in ("data", "indices", "indptr"))
        major = BY_NAME["numpy.searchsorted"].call(starts[1:], registry["iota"](shape_of(data)[0], dtype=INT), "right")
        return (data, major, minor) if of_rows else (data, minor, major)
    return coordinates


COORDINATES = {"csr": _compressed(True), "csc": _compressed(False),
               "coo": lambda a: tuple([_array(a, name) for name in ("data", "row", "col")])}


def _by_coordinates(a: Any, x: object, m: int, transposed: bool) -> AnyArray:
    data, rows, columns = COORDINATES[a.format](a)
    return _summed(data, *((columns, rows) if transposed else (rows, columns)), x, m)


def _by_diagonals(a: Any, x: AnyArray, m: int, transposed: bool) -> AnyArray:
    data = _array(a, "data")
    _array(a, "offsets")
    y: Any = 0.0
    for k, offset in enumerate(a.offsets.tolist()):
        start, stop = max(0, offset), min(a.shape[1], a.shape[0] + offset, a.data.shape[1])
        if start >= stop:
            continue
        into, of = (start, start - offset) if transposed else (start - offset, start)
        part = registry["slice_axis"](x, 0, of, stop - start)
        values = registry["reshape"](data[k, start:stop], stop - start, *[1] * (len(shape_of(x)) - 1)) * part
        sizes = into, m - into - (stop - start)
        ends = [registry["full"](0, size, *shape_of(x)[1:], dtype=values.dtype) for size in sizes]
        y = y + registry["concatenate"](ends[0], values, ends[1], axis=0)
    if hasattr(y, "dtype"):
        return y
    return registry["full"](0, m, *shape_of(x)[1:], dtype=np.result_type(a.dtype, x.dtype))


PRODUCTS = {**dict.fromkeys(COORDINATES, _by_coordinates), "dia": _by_diagonals}
