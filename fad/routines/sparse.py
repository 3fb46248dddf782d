"""Sparse matrices with traced elements, by their coordinates: what SciPy's constructors make of traced data.

Elements at one place add up, as in SciPy. The places are given; only the elements move.
"""
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from ..util.array import AnyArray, ArrayOrNumber
from ..util.errors import UnsupportedFunctionError
from ..util.library_object import LibraryObject, class_named, is_own
from . import above

CLASSES = (scipy.sparse.spmatrix, scipy.sparse.sparray)


class Sparse(LibraryObject):
    """The matrix of this shape with data[k] at (row[k], col[k]).

    stands_for: the class of SciPy's that it stands for.
    is_as_given: whether SciPy's matrix keeps its elements in this order, if none is zero.
    """

    ndim = 2
    stands_for: Any = None                                    # type: ignore[assignment]
    do = "take the dense matrix, A.toarray(), or write A @ x"

    def __init__(self, data: AnyArray, row: AnyArray, col: AnyArray, shape: tuple, kind: Any,
                 is_as_given: bool = False):
        self._data, self._row, self._col, self.shape, self.stands_for = data, row, col, tuple(shape), kind
        self._is_as_given = is_as_given
        if is_as_given and kind.__name__.startswith("coo"):
            self.row, self.col = row, col

    @property
    def data(self) -> AnyArray:
        if not self._is_as_given:
            self._missing("data")
        if np.any(self._data == 0):
            raise ValueError("an element of a sparse matrix with traced elements is zero, which SciPy may leave out")
        return self._data

    def _is_array(self) -> bool:
        """Whether it is one of SciPy's sparse arrays, where A * x is no matrix product."""
        return self.stands_for.__name__.endswith("array")

    def _with_data(self, data: AnyArray) -> "Sparse":
        return Sparse(data, self._row, self._col, self.shape, self.stands_for, self._is_as_given)

    def dot(self, x: Any) -> AnyArray:
        """The product with a vector or a matrix."""
        if _is_sparse(x) or np.ndim(x) not in (1, 2):
            raise UnsupportedFunctionError("a sparse matrix with traced elements is multiplied with a vector or a "
                                           "dense matrix only", do="multiply with B.toarray(), or one after the other")
        x = np.asarray(x)
        if x.shape[0] != self.shape[1]:
            raise ValueError(f"dimension mismatch: a sparse matrix of {self.shape} and an array of {x.shape}")
        data = self._data if x.ndim == 1 else self._data[:, None]
        y = np.zeros((self.shape[0], *x.shape[1:]), np.result_type(self._data.dtype, x.dtype))
        np.add.at(y, self._row, data * x[self._col])
        return y

    def __matmul__(self, x: object) -> AnyArray:
        return self.dot(x)

    def __mul__(self, x: ArrayOrNumber) -> Any:
        if _is_sparse(x) or np.ndim(x) > 0:
            if self._is_array():
                raise UnsupportedFunctionError("products of elements are not known of a sparse array with traced "
                                               "elements", do="write A @ x for the matrix product")
            return self.dot(x)
        return self._with_data(self._data * x)

    def __rmul__(self, x: object) -> "Sparse":
        return self._with_data(x * self._data)

    def __truediv__(self, x: AnyArray) -> "Sparse":
        return self._with_data(self._data / x)

    def __neg__(self) -> "Sparse":
        return self._with_data(-self._data)

    def __add__(self, other: Any) -> Any:
        other = as_sparse(other)
        if tuple(other.shape) != self.shape:
            raise ValueError(f"inconsistent shapes: sparse matrices of {self.shape} and {tuple(other.shape)}")
        return Sparse(np.concatenate((self._data, other._data)), np.concatenate((self._row, other._row)),
                      np.concatenate((self._col, other._col)), self.shape, self.stands_for)

    def __radd__(self, other: object) -> "Sparse":
        return as_sparse(other) + self

    def __rsub__(self, other: object) -> "Sparse":
        return as_sparse(other) + -self

    def __sub__(self, other: "Sparse") -> "Sparse":
        return self + -as_sparse(other)

    @property
    def T(self) -> "Sparse":
        return Sparse(self._data, self._col, self._row, (self.shape[1], self.shape[0]), self.stands_for)

    def transpose(self) -> Any:
        return self.T

    def tocsr(self) -> "Sparse":
        return self._as_kind("csr")

    def tocsc(self) -> Any:
        return self._as_kind("csc")

    def tocoo(self) -> Any:
        return self._as_kind("coo")

    def _as_kind(self, format: str) -> "Sparse":
        kind = "array" if self._is_array() else "matrix"
        return Sparse(self._data, self._row, self._col, self.shape, class_named(f"scipy.sparse.{format}_{kind}"))

    def toarray(self) -> AnyArray:
        y = np.zeros(self.shape, self._data.dtype)
        np.add.at(y, (self._row, self._col), self._data)
        return y

    def diagonal(self) -> AnyArray:
        return np.diagonal(self.toarray())

    def __getitem__(self, key: object) -> "Sparse | AnyArray":
        """A[rows, columns]: one element, or a matrix of those in slices, in arrays, or in a grid of np.ix_."""
        if not self.stands_for.__name__.startswith(("csr", "csc", "lil", "dok")):
            raise _not_taken(f"from a {self.stands_for.__name__}", "A.tocsr()[rows][:, columns]")
        keys = key if isinstance(key, tuple) else (key, slice(None))
        if len(keys) != 2 or any(k is None or k is Ellipsis for k in keys):
            raise _not_taken("by other than rows and columns")
        axes = [0 if isinstance(k, slice) else np.ndim(k) for k in keys]
        if [isinstance(k, slice) or d > 0 for k, d in zip(keys, axes)] == [False, False]:
            return np.sum(np.where((self._row == _from_start(keys[0], self.shape[0]))
                                   & (self._col == _from_start(keys[1], self.shape[1])), self._data, 0))
        if axes == [1, 1] or max(axes) == 2 and [np.shape(k)[0] == 1 for k in keys] != [False, True]:
            raise _not_taken("at single places")
        if self._is_array() and not all(isinstance(k, slice) or d > 0 for k, d in zip(keys, axes)):
            raise _not_taken("as an array of one axis")
        return self._taken(*[_numbered(k, n) for k, n in zip(keys, self.shape)])

    def _taken(self, rows: AnyArray, columns: AnyArray) -> "Sparse":
        """The matrix of these rows and columns: the elements of all others are zeros at the first place."""
        row, col = _place_of(rows, self.shape[0])[self._row], _place_of(columns, self.shape[1])[self._col]
        is_taken = (row >= 0) & (col >= 0)
        return Sparse(np.where(is_taken, self._data, 0), np.where(is_taken, row, 0), np.where(is_taken, col, 0),
                      (len(rows), len(columns)), self.stands_for)


def _not_taken(how: str, do: str = "take a matrix, A[rows][:, columns], or index A.toarray()") -> Exception:
    return UnsupportedFunctionError(f"elements of a sparse matrix with traced elements are not taken {how}", do=do)


def _from_start(k: AnyArray, n: int) -> AnyArray:
    """An index that may count from the end."""
    return np.where(np.asarray(k) < 0, k + n, k)


def _numbered(key: AnyArray, n: int) -> AnyArray:
    """The numbers of the rows or columns that a key takes."""
    if isinstance(key, slice):
        return np.arange(n)[key]
    return np.arange(n)[np.reshape(np.asarray(key), (-1,))]


def _place_of(taken: AnyArray, n: int) -> AnyArray:
    """The new place of each of n rows or columns; -1 of those that are not taken."""
    places, numbers = np.full(n, -1), np.arange(len(taken))
    places[taken] = numbers
    if np.any(places[taken] != numbers):
        raise ValueError("a row or column of a sparse matrix with traced elements is taken twice")
    return places


def as_sparse(a: Any) -> "Sparse":
    """A matrix of SciPy's by its coordinates; one of these as it is."""
    if is_own(a, Sparse):
        return a
    if not _is_sparse(a):
        raise UnsupportedFunctionError("a sparse matrix with traced elements is added to sparse matrices only",
                                       do="make both dense (A.toarray()), or both sparse")
    kind, a = type(a), a.tocoo()
    return Sparse(a.data, a.row, a.col, a.shape, kind)


def maker(format: str, kind: str) -> Any:
    """The constructor csr_matrix and its like, for traced data."""
    def make(arg1: object, shape: object = None, dtype: object = None, copy: bool = False) -> "Sparse":
        return _made(arg1, shape, format, class_named(f"scipy.sparse.{format}_{kind}"))
    return make


def _made(given: Any, shape: Any, format: str, kind: Any) -> "Sparse":
    if is_own(given, Sparse):
        return Sparse(given._data, given._row, given._col, given.shape, kind)
    if not isinstance(given, tuple):
        dense = np.asarray(given)
        if dense.ndim != 2:
            raise UnsupportedFunctionError(f"a sparse matrix is made of traced data with {dense.ndim} axes",
                                           do="reshape it to a matrix: x.reshape(1, -1) or x.reshape(-1, 1)")
        m, n = dense.shape
        places = np.arange(m * n)
        return Sparse(np.reshape(dense, (-1,)), places // n, places % n, (m, n), kind, format in ("coo", "csr"))
    if shape is None or (len(given) == 3 and format == "coo"):
        raise UnsupportedFunctionError("the shape of a sparse matrix with traced elements must be known",
                                       do="pass (data, (rows, columns)) and shape=(m, n)")
    if len(given) == 2:
        data, (row, col) = given
        return Sparse(np.asarray(data), np.asarray(row), np.asarray(col), shape, kind, format == "coo")
    data, minor, starts = given
    data, minor = np.asarray(data), np.asarray(minor)
    major = np.searchsorted(np.asarray(starts)[1:], np.arange(data.shape[0]), side="right")
    row, col = (major, minor) if format == "csr" else (minor, major)
    return Sparse(data, row, col, shape, kind)


def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: object = None) -> "Sparse":
    """The matrix with these diagonals."""
    return _of_diagonals(diagonals, offsets, shape, class_named(f"scipy.sparse.{format or 'dia'}_matrix"))


def diags_array(diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None,
                dtype: object = None) -> "Sparse":
    """The array with these diagonals."""
    return _of_diagonals(diagonals, offsets, shape, class_named(f"scipy.sparse.{format or 'dia'}_array"))


def _of_diagonals(diagonals: list, offsets: list, shape: Any, kind: Any) -> "Sparse":
    if np.ndim(offsets) == 0:
        offsets = [offsets]
        diagonals = diagonals if isinstance(diagonals, (list, tuple)) and np.ndim(diagonals[0]) == 1 else [diagonals]
    if shape is None:
        n = len(diagonals[0]) + abs(offsets[0])
        shape = (n, n)
    data, rows, columns = [], [], []
    for diagonal, offset in zip(diagonals, offsets):
        first_row, first_column = max(0, -offset), max(0, offset)
        count = min(shape[0] - first_row, shape[1] - first_column)
        diagonal = np.atleast_1d(np.asarray(diagonal))
        if diagonal.shape[0] == 1 and count != 1:
            diagonal = diagonal[0] * np.ones(count)
        if diagonal.shape[0] != count:
            raise ValueError(f"Diagonal length (at offset {offset}) does not agree with array size {tuple(shape)}.")
        data.append(diagonal)
        rows.append(first_row + np.arange(count))
        columns.append(first_column + np.arange(count))
    return Sparse(np.concatenate(data), np.concatenate(rows), np.concatenate(columns), shape, kind)


def issparse(x: "Sparse") -> bool:
    return _is_sparse(x)


def _is_sparse(x: object) -> bool:
    return is_own(x, Sparse) or isinstance(x, CLASSES)


# -- solves ----------------------------------------------------------------------------------------


def spsolve(A: object, b: AnyArray, permc_spec: object = None, use_umfpack: bool = True) -> Any:
    b = np.asarray(b)
    if b.ndim == 2 and b.shape[1] == 1:
        b = b[:, 0]
    return _solved(A, b)


def _solved(A: Any, b: AnyArray) -> AnyArray:
    A = as_sparse(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {tuple(A.shape)})")
    if b.shape[0] != A.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({tuple(A.shape)} - {b.shape[0]})")
    return above.solve_sparse(A._data, A._row, A._col, b)


class Factors(LibraryObject):
    """The result of splu for a matrix with traced elements."""

    of = "scipy.sparse.linalg.SuperLU"

    def __init__(self, matrix: "Sparse"):
        self._matrix, self.shape = as_sparse(matrix), matrix.shape

    def solve(self, rhs: AnyArray, trans: str = "N") -> AnyArray:
        return _solved(self._matrix if trans == "N" else self._matrix.T, np.asarray(rhs))


def splu(A: "Sparse", permc_spec: object = None, diag_pivot_thresh: object = None, relax: object = None,
         panel_size: object = None, options: object = None) -> "Factors":
    return Factors(A)


def factorized(A: "Sparse") -> Callable:
    return Factors(A).solve
