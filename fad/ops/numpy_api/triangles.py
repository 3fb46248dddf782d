"""Diagonals and triangles: diag, diagonal, diagflat, tril, triu, their indices, fill_diagonal."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import INT, type_of
from ...util.array import AnyArray, ArrayLike, Extent
from ..assign import as_assigned
from ..choice import where as where_
from ..extents import agree, difference
from ..index import index as index_
from ..kinds import shape_of
from ..literals import as_array, constant, is_value
from ..override import METHODS, override
from ..products import size_of
from ..shape import iota as iota_
from ..slices import integer, larger, smaller
from .arguments import fixed, one_axis, rank, refuse
from .creation import diagonal_mask
from .shape import moveaxis, ravel


def _places(n: Extent, m: Extent, k: int) -> tuple:
    """Rows and columns of the k-th diagonal of an n x m matrix."""
    k = integer(k)
    down, right = larger(-k, 0), larger(k, 0)
    length = smaller(difference(n, down), difference(m, right))
    steps = iota_(length, dtype=INT)
    return _shifted(steps, down), _shifted(steps, right)


def _shifted(steps: AnyArray, start: object) -> AnyArray:
    return steps if isinstance(start, int) and start == 0 else steps + start


@override("numpy.diagonal", method="diagonal",
          samples=("np.diagonal(S)", "np.diagonal(x, 1)", "np.diagonal(x[None], axis1=1, axis2=2)"))
def diagonal(a: AnyArray, offset: object = 0, axis1: Any = 0, axis2: Any = 1) -> AnyArray:
    x = as_array(a)
    if rank(x) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j = one_axis(axis1, rank(x)), one_axis(axis2, rank(x))
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    x = moveaxis(x, (i, j), (-2, -1))
    lead = rank(x) - 2
    places = _places(*shape_of(x)[-2:], offset)  # type: ignore[call-arg]
    return index_(x, *places, spec=(":",) * lead + ("a", "a"), at=lead)


@override("numpy.diag", samples=("np.diag(v)", "np.diag(S)", "np.diag(S, 1)", "np.diag(v, -1)"))
def diag(v: ArrayLike, k: Any = 0) -> AnyArray:
    x = as_array(v)
    if rank(x) == 2:
        return diagonal(x, k)
    if rank(x) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    k = integer(k)
    n = shape_of(x)[0] + larger(k, -k)
    zeros = registry["full"](0, n, n, dtype=type_of(x).dtype)
    return registry["update"](zeros, x, *_places(n, n, k), spec=("a", "a"), at=0, unique=True)


@override("numpy.diagflat", samples=("np.diagflat(v)",))
def diagflat(v: ArrayLike, k: object = 0) -> AnyArray:
    return diag(ravel(v) if rank(as_array(v)) else METHODS["reshape"](as_array(v), 1), k)


def _triangle(name: str, compare: Callable) -> Callable:
    @override(f"numpy.{name}", samples=(f"np.{name}(S)", f"np.{name}(x, 1)"))
    def triangle(m: ArrayLike, k: object = 0) -> AnyArray:
        x = as_array(m)
        extents = shape_of(x)[-2:] if rank(x) > 1 else shape_of(x) * 2
        keep = diagonal_mask(*extents, k, compare)  # type: ignore[call-arg]
        return where_(keep, x, type_of(x).dtype.type(0))
    return triangle


tril = _triangle("tril", lambda a, b: a <= b)
triu = _triangle("triu", lambda a, b: a >= b)


def _indices(name: str, of: Callable) -> None:
    @override(f"numpy.{name}_indices", creation=True)
    def of_size(n: ArrayLike, k: object = 0, m: object = None) -> tuple:
        rows = fixed(integer(n), f"the size of np.{name}_indices")
        columns = rows if m is None else fixed(integer(m), f"the size of np.{name}_indices")
        return tuple([constant(i) for i in of(rows, k, columns)])

    @override(f"numpy.{name}_indices_from")
    def of_array(arr: ArrayLike, k: object = 0) -> tuple:
        n, m = shape_of(as_array(arr))
        return of_size(n, k, m)


_indices("tril", np.tril_indices)
_indices("triu", np.triu_indices)


@override("numpy.diag_indices", creation=True)
def diag_indices(n: ArrayLike, ndim: int = 2) -> tuple:
    return (iota_(integer(n), dtype=INT),) * ndim


@override("numpy.diag_indices_from")
def diag_indices_from(arr: ArrayLike) -> tuple:
    shape = shape_of(as_array(arr))
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    n = shape[0]
    for m in shape[1:]:
        n = agree(n, m, "All dimensions of input must be of equal length")
    return diag_indices(n, len(shape))


@override("numpy.fill_diagonal", samples=("np.fill_diagonal(S.copy(), 0) or S",))
def fill_diagonal(a: Any, val: ArrayLike, wrap: bool = False) -> None:
    if not is_value(a):
        raise refuse("numpy.fill_diagonal", "an array from outside the traced function",
                     do="make the array inside the function")
    if rank(a) < 2:
        raise ValueError("array must be at least 2-d")
    if wrap:
        raise refuse("numpy.fill_diagonal", "wrap=True")
    places = _places(*shape_of(a), 0) if rank(a) == 2 else diag_indices_from(a)  # type: ignore[call-arg]
    v = as_assigned(val, type_of(a).dtype)
    if rank(v):
        v = repeated(ravel(v), shape_of(places[0])[0])
    a.set(registry["update"](a, v, *places, spec=("a",) * rank(a), at=0, unique=True))


def repeated(v: AnyArray, n: Extent) -> AnyArray:
    """The first n elements of the vector v, v, v, ..."""
    return index_(v, iota_(n, dtype=INT) % size_of(shape_of(v)), spec=("a",), at=0)
