"""NumPy's counts: bincount, histogram, histogram2d, histogramdd. Counts are integers; sums of weights are linear in
the weights."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ir.types import FLOAT, INT, result_dtype, type_of
from ...util.array import AnyArray, ArrayLike, ArrayOrNumber, Extent
from .. import extents
from ..kinds import is_complex, shape_of
from ..literals import known
from ..override import BY_NAME, override
from ..reduce import nonempty
from . import reduce, sort
from .arguments import as_array, check_all, fixed, in_dtype, rank, ravel, refuse, some_of, taken
from .scan import part


def tally(places: AnyArray, weights: object, size: Extent) -> AnyArray:
    """The sum of the weights at each place from 0 to size - 1; without weights, their number."""
    if weights is None:
        weights = registry["broadcast_to"](1, *shape_of(places))
    total = registry["full"](0, size, dtype=type_of(weights).dtype)
    return registry["index_add"](total, weights, places, spec=("a",), at=0)


@override("numpy.bincount", samples=("np.bincount([0, 1, 1, 3], weights=v)",), note="linear in the weights")
def bincount(x: ArrayLike, weights: object = None, minlength: object = 0) -> AnyArray:
    x = as_array(x)
    if isinstance(minlength, int) and minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if rank(x) != 1 or type_of(x).dtype.kind not in "biu":
        raise TypeError("the argument of bincount must be a vector of integers that are not negative")
    if weights is not None:
        weights = as_array(weights)
        if is_complex(weights):
            raise TypeError("Cannot cast array data from complex to float64 according to the rule 'safe'")
        weights = in_dtype(weights, FLOAT)
        extents.agree(shape_of(x)[0], shape_of(weights)[0], "extents of the weights and the places")
    return tally(in_dtype(x, INT), weights, _size(x, minlength))


def _size(x: Any, minlength: Any) -> Any:
    """The number of bins: one more than the largest place."""
    seen = known(x)
    if seen is not None:
        if seen.size and seen.min() < 0:
            raise ValueError("'list' argument must have no negative elements")
        return extents.maximum(int(seen.max()) + 1 if seen.size else 0, minlength)
    negative = registry["sum"](x < 0, axes=(0,))
    registry["check_equal"](negative, 0,
                            what="places to count at must not be negative: the number of those that are, and what it "
                                 "must be")
    return registry["maximum"](in_dtype(reduce.max(in_dtype(x, INT), initial=-1), INT) + 1, minlength)


# -- histograms ------------------------------------------------------------------------------------


class Edges(NamedTuple):
    """The edges of bins, whether they are equally spaced, and whether the bins hold all of the data."""

    values: Any
    are_even: bool
    hold_all: bool = False

    @property
    def bins(self) -> Extent:
        return shape_of(self.values)[0] - 1


def edges_of(a: AnyArray, bins: object, range: object, in_dtype_of_data: bool = True) -> Edges:
    """The edges of the bins: as given, or equally spaced over the range of the data."""
    if isinstance(bins, str):
        raise refuse("numpy.histogram", f"bins={bins!r}", "the number of bins would depend on the data",
                     "give the number of bins, or their edges")
    given = as_array(bins)
    if rank(given) == 1:
        some_of(shape_of(given)[0], "a histogram by edges")
        _require_all(registry["less_equal"], given, "`bins` must increase monotonically, when an array")
        return Edges(given, False)
    if rank(given) > 1:
        raise ValueError("`bins` must be 1d, when an array")
    count = fixed(given, "the number of bins")
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = _outer_edges(a, range)
    dtype = result_dtype(low, high, a) if in_dtype_of_data else None
    if dtype is not None and dtype.kind in "biu":
        dtype = FLOAT
    edges = BY_NAME["numpy.linspace"].call(low, high, count + 1, dtype=dtype)
    _require_all(registry["less"], edges, f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return Edges(edges, True, range is None and type_of(a).dtype.kind == "f")


def _require_all(holds: Callable, edges: AnyArray, what: str) -> None:
    """A check that a relation holds between neighbouring edges."""
    n = shape_of(edges)[0] - 1
    check_all(holds(part(edges, 0, 0, n), part(edges, 0, 1, n)), what)


def _outer_edges(a: AnyArray, range: Any) -> tuple:
    """The first and the last edge; where they would be equal, half a unit to both sides."""
    if range is not None:
        low, high = range
    elif not nonempty(a, (0,)):
        if isinstance(shape_of(a)[0], int):
            return 0.0, 1.0
        raise refuse("numpy.histogram", "data that may be empty without a range", do="give range=(low, high)")
    else:
        low, high = (in_dtype(f(a), FLOAT) if type_of(a).dtype.kind in "biu" else f(a)
                     for f in (reduce.min, reduce.max))
    if range is not None:
        registry["check_that"](low <= high, True, what="max must be larger than min in range parameter.",
                               error="ValueError")
    registry["check_that"](registry["isfinite"](low) & registry["isfinite"](high), True,
                           what="the range is not finite", error="ValueError")
    same = low == high
    return registry["where"](same, low - 0.5, low), registry["where"](same, high + 0.5, high)


def bin_of(a: AnyArray, edges: Edges) -> "tuple[Any, Any]":
    """The bin of each element (the last edge belongs to the last bin), and whether it has one; True: all have."""
    n = edges.bins
    first, last = (taken(edges.values, k) for k in (0, n))
    if edges.hold_all:
        return _even_bin(a, edges, first, last), True
    inside = registry["bitwise_and"](a >= first, a <= last)
    if edges.are_even:
        return _even_bin(registry["where"](inside, a, first), edges, first, last), inside
    place = sort.searchsorted(edges.values, a, "right") - 1
    return registry["maximum"](registry["minimum"](place, n - 1), 0), inside


def _even_bin(a: AnyArray, edges: Edges, first: AnyArray, last: AnyArray) -> AnyArray:
    """The bin of elements between the first and the last edge: computed from the bins' width, then compared with the
    edges, as in NumPy. The comparison makes up for what the product with 1 / width has rounded otherwise than a
    quotient."""
    n, width = edges.bins, last - first
    up = _power(width)
    guess = registry["minimum"](in_dtype((a - first) * up * (n / (width * up)), INT), n - 1)
    lower, upper = (taken(edges.values, guess + k) for k in (0, 1))
    higher = registry["where"](registry["bitwise_and"](a >= upper, guess < n - 1), guess + 1, guess)
    return registry["where"](a < lower, guess - 1, higher)


def _power(width: AnyArray) -> AnyArray:
    """A power of two by which a width is so large that n / width is finite; it is 1 for nearly all."""
    dtype = type_of(width).dtype
    large = dtype.type(2.0 ** (np.finfo(dtype).maxexp // 2))
    return registry["where"](width < 1 / large, large, dtype.type(1))


def _weights(a: AnyArray, weights: object, inside: ArrayOrNumber) -> AnyArray:
    """The weights of the elements, zero for those outside all bins."""
    if weights is None:
        return registry["broadcast_to"](1, *shape_of(a)) if inside is True else in_dtype(inside, INT)
    weights = ravel(as_array(weights))
    extents.agree(shape_of(a)[0], shape_of(weights)[0], "extents of the weights and the data")
    return weights if inside is True else registry["where"](inside, weights, type_of(weights).dtype.type(0))


@override("numpy.histogram_bin_edges")
def histogram_bin_edges(a: ArrayLike, bins: object = 10, range: object = None, weights: object = None) -> AnyArray:
    return edges_of(ravel(as_array(a)), bins, range).values


@override("numpy.histogram", samples=("np.histogram([0.1, 0.4, 0.5, 0.8], 3, (0.0, 1.0), weights=v)[0]",),
          note="in the weights and the edges; counts are constant")
def histogram(a: ArrayLike, bins: Any = 10, range: Any = None, density: Any = None, weights: object = None) -> tuple:
    x = ravel(as_array(a))
    edges = edges_of(x, bins, range)
    place, inside = bin_of(x, edges)
    counts = tally(place, _weights(x, weights, inside), edges.bins)
    if density:
        counts = counts / _widths(edges.values) / registry["sum"](counts, axes=(0,))
    return counts, edges.values


def _widths(edges: AnyArray) -> AnyArray:
    n = shape_of(edges)[0] - 1
    return part(edges, 0, 1, n) - part(edges, 0, 0, n)


def _columns(sample: object) -> list:
    """The coordinates of the points, each a vector."""
    if isinstance(sample, (list, tuple)):
        return [as_array(c) for c in sample]
    x = as_array(sample)
    if rank(x) == 1:
        return [x]
    if rank(x) != 2:
        raise ValueError("the sample must be a matrix, one point in each row, or a list of coordinates")
    return [taken(x, k, axis=1) for k in range(fixed(shape_of(x)[1], "the number of coordinates"))]


def _cells(columns: list, edges: list) -> "tuple[Any, Any]":
    """The cell of each point, counted in C order, and whether it has one."""
    cell: Any = 0
    inside: Any = True
    for x, e in zip(columns, edges):
        place, here = bin_of(x, e)
        cell = cell * e.bins + place
        inside = here if inside is True else inside if here is True else registry["bitwise_and"](inside, here)
    return cell, inside


@override("numpy.histogramdd", note="in the weights and the edges; counts are constant")
def histogramdd(sample: ArrayLike, bins: object = 10, range: Any = None, density: object = None,
                weights: object = None) -> tuple:
    columns = _columns(sample)
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * len(columns)
    if len(each) != len(columns):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * len(columns) if range is None else list(range)
    edges = [edges_of(x, b, r, False) for x, b, r in zip(columns, each, ranges)]
    cell, inside = _cells(columns, edges)
    shape = [e.bins for e in edges]
    given = _weights(columns[0], weights, inside)
    counts = registry["reshape"](tally(cell, in_dtype(given, np.result_type(type_of(given).dtype, FLOAT)),
                                       extents.product(shape)), *shape)
    if density:
        total = registry["sum"](counts, axes=tuple(k for k, _ in enumerate(shape)))
        for k, e in enumerate(edges):
            counts = counts / registry["reshape"](_widths(e.values), *[n if j == k else 1 for j, n in enumerate(shape)])
        counts = counts / total
    return counts, [e.values for e in edges]


@override("numpy.histogram2d", note="in the weights and the edges; counts are constant")
def histogram2d(x: ArrayLike, y: ArrayLike, bins: object = 10, range: object = None, density: object = None,
                weights: object = None) -> tuple:
    if isinstance(bins, (list, tuple)) and len(bins) == 2:
        pair = list(bins)
    else:
        pair = [bins, bins]
    counts, edges = histogramdd([x, y], pair, range, density, weights)
    return counts, *edges
