"""Results of several parts, by PyTorch's names."""
from typing import Any, NamedTuple


class SVD(NamedTuple):
    """U diag(S) V^H."""

    U: Any
    S: Any
    V: Any


class QR(NamedTuple):
    """The factors of qr."""

    Q: Any
    R: Any


class Inverted(NamedTuple):
    """An inverse and, for each matrix, 0 where nothing went wrong."""

    inverse: Any
    info: Any


class Cholesky(NamedTuple):
    """A Cholesky factor and, for each matrix, 0 where nothing went wrong."""

    L: Any
    info: Any


class Solved(NamedTuple):
    """A solution and, for each matrix, 0 where nothing went wrong."""

    result: Any
    info: Any


class Scaled(NamedTuple):
    """Numbers as mantissa * 2 ** exponent."""

    mantissa: Any
    exponent: Any


class Histogram(NamedTuple):
    """The number of elements in each interval, and the ends of these."""

    hist: Any
    bin_edges: Any
