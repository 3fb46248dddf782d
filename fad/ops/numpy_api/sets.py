"""NumPy's sets of values: isin, union1d, intersect1d, setdiff1d, setxor1d. The elements that they keep are
differentiable in x.
"""

import numpy as np

from ...ir.op import registry
from ...ir.types import result_dtype
from ...util.array import AnyArray, ArrayLike
from ..dynamic import flatnonzero
from ..kinds import shape_of
from ..override import override
from ..reduce import nonempty
from ..sort import searchsorted, sort
from .arguments import as_array, in_dtype, refuse, taken
from .scan import as_vector
from .sort import unique


def _joined(*xs: object) -> AnyArray:
    dtype = result_dtype(*xs)
    return registry["concatenate"](*[in_dtype(x, dtype) for x in xs], axis=0)


@override("numpy.isin")
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *,
         kind: object = None) -> AnyArray:
    """Found by binary search in the sorted set."""
    x, tested = as_array(element), as_vector(test_elements)
    dtype = result_dtype(x, tested)
    tested = sort(in_dtype(tested, dtype))
    n = shape_of(tested)[0]
    if not nonempty(tested, (0,)):
        if isinstance(n, int):
            return registry["full"](bool(invert), *shape_of(x), dtype=np.dtype(bool))
        raise refuse("numpy.isin", "a set that may be empty")
    places = registry["minimum"](searchsorted(tested, in_dtype(x, dtype), right=False), n - 1)
    found = taken(tested, places) == x
    return registry["logical_not"](found) if invert else found


@override("numpy.union1d", samples=("np.union1d(v, v * v)",))
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> AnyArray:
    return unique(_joined(as_vector(ar1), as_vector(ar2)))


def _once(ar: object, assume_unique: bool) -> AnyArray:
    return as_vector(ar) if assume_unique else unique(ar)


def _same_as_next(x: AnyArray) -> AnyArray:
    """Of a sorted vector, whether each element but the last equals the next."""
    n = shape_of(x)[0] - 1
    return registry["slice_axis"](x, 0, 0, n) == registry["slice_axis"](x, 0, 1, n)


@override("numpy.intersect1d", samples=("np.intersect1d(v, np.append(v[:2], 3.0))",))
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> AnyArray:
    if return_indices:
        raise refuse("numpy.intersect1d", "return_indices")
    together = sort(_joined(_once(ar1, assume_unique), _once(ar2, assume_unique)))
    return taken(together, flatnonzero(_same_as_next(together)))


@override("numpy.setdiff1d", samples=("np.setdiff1d(v, v[:2])",))
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> AnyArray:
    x = _once(ar1, assume_unique)
    return taken(x, flatnonzero(isin(x, ar2, invert=True)))


@override("numpy.setxor1d", samples=("np.setxor1d(v, v[:2])",))
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> AnyArray:
    x = sort(_joined(_once(ar1, assume_unique), _once(ar2, assume_unique)))
    same = _same_as_next(x)
    edge = registry["full"](False, 1, dtype=np.dtype(bool))
    doubled = registry["bitwise_or"](registry["concatenate"](edge, same, axis=0),
                                     registry["concatenate"](same, edge, axis=0))
    return taken(x, flatnonzero(registry["logical_not"](doubled)))
