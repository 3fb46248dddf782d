"""NumPy's objects that build arrays by subscript: r_, c_, mgrid, ogrid."""
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import is_number, result_dtype
from ...util.array import AnyArray, ArrayOrNumber
from ..kinds import shape_of
from ..literals import as_array
from ..override import OBJECTS
from .arguments import in_dtype, rank, refuse
from .creation import arange, array, linspace
from .join import joined
from .shape import swapaxes, transposed


def range_of(s: slice) -> AnyArray:
    """The meaning of a slice: a range, or with an imaginary step, that many points from start to stop, both included.
    """
    start = 0 if s.start is None else s.start
    if isinstance(s.step, complex):
        return linspace(start, s.stop, int(abs(s.step)))
    return arange(start, s.stop, 1 if s.step is None else s.step)


class Joining:
    """np.r_ and np.c_: the items of a subscript joined along an axis, ranges written as slices among them."""

    def __init__(self, axis: int, ndmin: int, place: int):
        self.axis, self.ndmin, self.place = axis, ndmin, place

    def __getitem__(self, subscript: tuple) -> AnyArray:
        items = subscript if isinstance(subscript, tuple) else (subscript,)
        if isinstance(items[0], str):
            return self._told(items[0])[items[1:]]
        parts = [self._part(item) for item in items]
        common = result_dtype(*[item if not isinstance(item, (slice, list, tuple)) and rank(item) == 0 else part
                                for item, part in zip(items, parts)])
        parts = [self._part(np.asarray(item, common)) if is_number(item) else in_dtype(part, common)
                 for item, part in zip(items, parts)]
        return joined(parts, self.axis)

    def _told(self, directive: str) -> "Joining":
        """The meaning of a directive such as "0,2" or "0,2,1": axis, least number of axes, place of a vector's own
        axis."""
        try:
            numbers = [int(n) for n in directive.split(",")]
        except ValueError:
            raise refuse("numpy.r_", f"{directive!r}", "matrices are not traced") from None
        return Joining(*[n if given is None else given
                         for n, given in zip((self.axis, self.ndmin, self.place), [*numbers, None, None])])

    def _part(self, item: ArrayOrNumber) -> AnyArray:
        if isinstance(item, str):
            raise ValueError("special directives must be the first entry.")
        if isinstance(item, slice):
            y = array(range_of(item), ndmin=self.ndmin)
            return y if self.ndmin < 2 or self.place == -1 else swapaxes(y, -1, self.place)
        x = as_array(item)
        y = array(x, ndmin=max(self.ndmin, 1))
        missing = self.ndmin - rank(x)
        return y if self.place == -1 or missing <= 0 or not rank(x) else transposed(y, self._order(missing))

    def _order(self, missing: int) -> tuple:
        place = self.place + missing + 1 if self.place < 0 else self.place
        axes = tuple(range(self.ndmin))
        return axes[:place] + axes[missing:] + axes[place:missing]


class Grid:
    """np.mgrid and np.ogrid: coordinates of the points of a grid whose axes are written as slices."""

    def __init__(self, dense: bool):
        self.dense = dense

    def __getitem__(self, subscript: Any) -> Any:
        if isinstance(subscript, slice):
            return range_of(subscript)
        vectors = [range_of(s) for s in subscript]
        sizes = tuple([shape_of(v)[0] for v in vectors])
        common = np.result_type(*[v.dtype for v in vectors])
        grids = [registry["reshape"](registry["cast"](v, dtype=common),
                                     *[n if j == k else 1 for j in range(len(sizes))])
                 for k, (v, n) in enumerate(zip(vectors, sizes))]
        if not self.dense:
            return tuple(grids)
        return joined([registry["reshape"](registry["broadcast_to"](g, *sizes), 1, *sizes) for g in grids], 0)


OBJECTS.update({id(np.r_): Joining(0, 1, -1), id(np.c_): Joining(-1, 2, 0), id(np.mgrid): Grid(True),
                id(np.ogrid): Grid(False)})
