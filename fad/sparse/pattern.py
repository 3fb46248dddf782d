"""Sparsity patterns: where a matrix may have nonzero entries. You can inspect, print and draw them, and pass them to
fad.sparse.jacobian."""
import os
import pathlib
from typing import Any

import numpy as np
import scipy.sparse

from ..util.errors import ArgumentError

PICTURE = 400                                                # pixels of the longer side of a drawing


class Pattern:
    """The places of a matrix that may hold other numbers than zero.

    Attributes: shape; nnz, the number of places; indptr and indices, the places row by row, as in a
    scipy.sparse.csr_array.

    >>> import numpy as np
    >>> print(Pattern(np.eye(3)))
    3 x 3, 3 places (33 %)
    •··
    ·•·
    ··•
    """

    def __init__(self, places: object):
        self._csr = _canonical(places)

    @property
    def shape(self) -> "tuple[int, int]":
        return self._csr.shape

    @property
    def nnz(self) -> int:
        return int(self._csr.nnz)

    @property
    def indptr(self) -> np.ndarray:
        return self._csr.indptr

    @property
    def indices(self) -> np.ndarray:
        return self._csr.indices

    def tocsr(self) -> scipy.sparse.csr_array:
        """The places as a scipy.sparse.csr_array of truths, a copy."""
        return self._csr.copy()

    def toarray(self) -> np.ndarray:
        """The places as a dense array of truths."""
        return self._csr.toarray()

    @property
    def is_symmetric(self) -> bool:
        """Whether (j, i) is a place wherever (i, j) is."""
        return self.shape[0] == self.shape[1] and (self._csr != self._csr.T).nnz == 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.shape == other.shape and np.array_equal(self.indptr, other.indptr) \
            and np.array_equal(self.indices, other.indices)

    __hash__ = None                                          # type: ignore[assignment]  # compared by what it holds

    def __repr__(self) -> str:
        rows, columns = self.shape
        full = 100 * self.nnz / max(1, rows * columns)
        return f"{rows} x {columns}, {self.nnz} places ({full:.2g} %)"

    def _counts(self, height: int, width: int) -> np.ndarray:
        """The number of places in each field of a grid of at most this size."""
        rows, columns = self.shape
        height, width = min(height, rows), min(width, columns)
        at = np.repeat(np.arange(rows), np.diff(self.indptr)) * height // max(rows, 1), self.indices.astype(
            np.int64) * width // max(columns, 1)
        return np.bincount(at[0] * width + at[1], minlength=height * width).reshape(height, width)

    def __str__(self) -> str:
        """The size, and a picture in characters: a dot for each place, or, in large matrices, for each field with a
        place."""
        counts = self._counts(40, 80)
        return "\n".join([repr(self), *["".join("•" if n else "·" for n in row) for row in counts]])

    def draw(self, path: "str | os.PathLike | None" = None) -> str:
        """The picture as SVG text, also written to the file `path` if there is one; darker fields hold more places."""
        counts = self._counts(PICTURE // 2, PICTURE // 2)
        height, width = counts.shape
        side = max(1.0, PICTURE / max(height, width, 1))
        most = max(1, int(counts.max(initial=1)))
        squares = [f'<rect x="{x * side:g}" y="{y * side:g}" width="{side:g}" height="{side:g}" '
                   f'fill-opacity="{0.4 + 0.6 * counts[y, x] / most:.2f}"/>'
                   for y, x in zip(*np.nonzero(counts))]
        text = "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * side:g}" '
                          f'height="{height * side:g}">', f"<title>{self!r}</title>",
                          '<rect width="100%" height="100%" fill="white" stroke="gray"/>', *squares, "</svg>"])
        if path is not None:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_svg_(self) -> str:
        return self.draw()


def _canonical(places: Any) -> scipy.sparse.csr_array:
    """A CSR array of truths, sorted, without repetitions and zeros."""
    if isinstance(places, Pattern):
        return places.tocsr()
    given = places if scipy.sparse.issparse(places) else np.asarray(places)
    if given.ndim != 2 or given.dtype.kind not in "biufc":
        raise ArgumentError(f"a sparsity pattern is a matrix, not {given.dtype} with {given.ndim} axes",
                            do="give a matrix of truths or numbers: rows for results, columns for arguments, raveled")
    found = scipy.sparse.csr_array(given if scipy.sparse.issparse(given) else given != 0)
    found = scipy.sparse.csr_array((np.ones(found.nnz, bool), found.indices.copy(), found.indptr.copy()),
                                   shape=found.shape)
    found.sum_duplicates()
    found.sort_indices()
    return found
