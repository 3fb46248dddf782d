"""NumPy's subscripts, read into selections: integers, slices, Ellipsis, None, masks and index arrays, mixed as NumPy
mixes them.

Constants out of range are an error while tracing; what cannot be proved in range is checked as the program runs.
"""
from typing import Any, NamedTuple

import numpy as np

from ..ir import stack
from ..ir.build import Value, current
from ..ir.graph import Literal
from ..ir.op import registry
from ..ir.types import INT, type_of
from ..util.array import AnyArray, ArrayOrNumber, Extent
from ..util.errors import ExtentError, IndexRangeError, UnsupportedFunctionError
from ..util.where import here
from . import extents
from .kinds import same_extent, same_shape, shape_of
from .literals import as_array, constant, is_value, known, produced_by
from .selection import selected_shape
from .slices import assume_at_least, from_start, integer, is_int, read_slice


class Selection(NamedTuple):
    """The selection of a subscript: operands and parameters of index, update and index_add, and the result's extents
    with new axes.

    is_view:   whether NumPy's result would be a view (no index arrays, and not a scalar)
    is_unique: whether no element is known to be selected twice
    """

    operands: tuple
    spec: tuple
    at: int
    new_axes: tuple = ()
    is_view: bool = False
    is_unique: bool = True

    @property
    def is_whole(self) -> bool:
        return all(entry == ":" for entry in self.spec)

    def params(self) -> dict:
        return {"spec": self.spec, "at": self.at}

    def shape(self, x: ArrayOrNumber) -> tuple:
        """The extents of the selected part, without new axes."""
        return selected_shape(shape_of(x), self.operands, self.spec, self.at)

    def read(self, x: ArrayOrNumber) -> Any:
        """The selected part of x."""
        y = x if self.is_whole else registry["index"](x, *self.operands, **self.params())
        if not self.new_axes:
            return y
        shape = list(shape_of(y))
        for place in self.new_axes:
            shape.insert(place, 1)
        return registry["reshape"](y, *shape)

    def write(self, x: ArrayOrNumber, v: ArrayOrNumber) -> Any:
        """x with its selected part replaced by v, which broadcasts to it by NumPy's rules of assignment."""
        v = self.fit(x, v)
        if self.is_whole and same_shape(shape_of(x), shape_of(v)):
            return v if is_value(v) or shape_of(v) else registry["full"](v, dtype=type_of(x).dtype)
        unique = {"unique": True} if "a" in self.spec and self.is_unique else {}
        return registry["update"](x, v, *self.operands, **self.params(), **unique)

    def add(self, x: ArrayOrNumber, v: ArrayOrNumber) -> AnyArray:
        """x with v added to its selected part; what is selected twice is added to twice."""
        return registry["index_add"](x, self.fit(x, v), *self.operands, **self.params())

    def fit(self, x: ArrayOrNumber, v: ArrayOrNumber) -> Any:
        """v without the axes that assignment ignores: leading ones of extent 1, and those that override new axes."""
        part = self.shape(x)
        shape, rank = list(shape_of(v)), len(part) + len(self.new_axes)
        while len(shape) > rank:
            if not _was_one(shape[0]):
                raise ExtentError(f"could not broadcast an array of {len(shape_of(v))} axes into a selection of {rank}")
            shape.pop(0)
        for place in reversed(self.new_axes):
            if place - rank >= -len(shape):
                if not _was_one(shape[place - rank]):
                    raise ExtentError("could not broadcast the value to the selection: a new axis has extent 1")
                shape.pop(place - rank)
            rank -= 1
        shape = [1 if _was_one(n) and extents.hint(m) != 1 else n for n, m in zip(shape, part[len(part) - len(shape):])]
        return v if same_shape(tuple(shape), shape_of(v)) else registry["reshape"](v, *shape)


def _was_one(n: Extent) -> bool:
    """Whether an extent was 1 when the function was traced. A reshape that removes the axis guards that it always is.
    """
    return extents.hint(n) == 1


def is_integer(item: Any) -> bool:
    """Whether an item of a subscript is one integer."""
    if isinstance(item, (bool, np.bool_)):
        return False
    if hasattr(item, "dtype"):
        return item.ndim == 0 and item.dtype.kind in "iu"
    return hasattr(item, "__index__")


def _is_basic(item: object) -> bool:
    """Whether an item of a subscript is no array."""
    return item is None or item is Ellipsis or isinstance(item, slice) or is_integer(item)


def _as_index_array(item: Any) -> AnyArray:
    """An item of a subscript as an array of integers or booleans: an ndarray if it is known, else a value."""
    item = as_array(np.asarray(item, INT) if isinstance(item, (list, tuple, range)) and not len(item) else item)
    array = known(item)
    item = current().watch(item) if array is None and not is_value(item) else item if array is None else array
    if item.dtype.kind not in "iub":
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are valid indices")
    return item


def _is_flag(item: Any) -> bool:
    """Whether an item of a subscript is a single boolean."""
    return isinstance(item, (bool, np.bool_)) or (hasattr(item, "dtype") and item.dtype.kind == "b" and not item.ndim)


def with_axes_of_flags(x: object, subscript: object) -> tuple:
    """x and a subscript that mean the same without single booleans: a boolean is a mask of one element on an axis of
    its own.

    >>> x = np.arange(3.0)
    >>> x[True].shape, x[None][np.array([True])].shape, x[1:, False].shape
    ((1, 3), (1, 3), (2, 0))
    """
    items = list(subscript) if isinstance(subscript, tuple) else [subscript]
    if not any(map(_is_flag, items)):
        return x, subscript
    items = [s if _is_basic(s) else _as_index_array(s) for s in items]
    shape = list(shape_of(x))
    for k, item in enumerate(items):
        if _is_flag(item):
            behind = sum(map(_axes_taken, items[k + 1:]))
            has_dots = any(s is Ellipsis for s in items[:k])
            shape.insert(len(shape) - behind if has_dots else sum(map(_axes_taken, items[:k])), 1)
            flag = as_array(item)
            items[k] = registry["reshape"](flag, 1) if is_value(flag) else np.asarray(flag).reshape(1)
    return registry["reshape"](x, *shape), tuple(items)


def _items(x: ArrayOrNumber, subscript: object) -> list:
    """The items of a subscript, one or more axes each, with its Ellipsis spelled out."""
    given = subscript if isinstance(subscript, tuple) else (subscript,)
    items = [s if _is_basic(s) else _as_index_array(s) for s in given]
    consumed = sum(_axes_taken(s) for s in items)
    rank = len(shape_of(x))
    if consumed > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {consumed} were indexed")
    dots = [k for k, s in enumerate(items) if s is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    place = dots[0] if dots else len(items)
    return items[:place] + [slice(None)] * (rank - consumed) + items[place + 1:]


def _axes_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if not is_integer(item) and not isinstance(item, slice) and item.dtype.kind == "b" else 1


def read_subscript(x: ArrayOrNumber, subscript: object) -> Selection:
    """The elements that x[subscript] selects."""
    return _Reader(x, subscript).selection()


class _Reader:
    """Goes through the items of a subscript, axis by axis."""

    def __init__(self, x: ArrayOrNumber, subscript: object):
        self.shape = shape_of(x)
        self.items = _items(x, subscript)
        self.has_dots = (Ellipsis is subscript
                         or (isinstance(subscript, tuple) and any(s is Ellipsis for s in subscript)))
        self.axis = 0
        self.spec: list = []
        self.operands: list = []
        self.arrays: list = []                # (place in operands, index array), to be broadcast against each other
        self.kept: list = []                  # "axis" or "new", in order
        # for each integer and array: the number of kept axes before it, and its place among items
        self.advanced: list = []
        self.is_unique = True
        self.masked = 0                       # of how many index arrays the first mask was made

    def selection(self) -> Selection:
        for place, item in enumerate(self.items):
            self.read(place, item)
        if not self.arrays:
            new = tuple(k for k, what in enumerate(self.kept) if what == "new")
            is_view = bool(self.kept) or self.has_dots or not self.spec
            return Selection(tuple(self.operands), tuple(self.spec), 0, new, is_view)
        before = self.before()
        rank = self.join_arrays()
        result = self.kept[:before] + ["array"] * rank + self.kept[before:]
        new = tuple(k for k, what in enumerate(result) if what == "new")
        at = sum(what == "axis" for what in self.kept[:before])
        return Selection(tuple(self.operands), tuple(self.spec), at, new, False, self.is_unique)

    def read(self, place: int, item: Any) -> None:
        if item is None:
            self.kept.append("new")
        elif isinstance(item, slice):
            self.read_slice(item)
        elif is_integer(item):
            self.advanced.append((place, len(self.kept)))
            self.add("i", _in_range(integer(item), self.shape[self.axis], self.axis))
        elif item.dtype.kind == "b":
            self.masked = self.masked or item.ndim
            for part in self.indices_of(item):
                self.read_array(place, part, known=True)
        else:
            self.read_array(place, item)

    def add(self, entry: object, *operands: ArrayOrNumber) -> None:
        self.spec.append(entry)
        self.operands.extend(operands)
        self.axis += 1

    def read_slice(self, item: slice) -> None:
        n = self.shape[self.axis]
        part = read_slice(slice(item.start, item.stop, _known_step(item.step)), n)
        self.kept.append("axis")
        if part.is_whole(n):
            self.add(":")
        else:
            self.add(("s", part.step), part.start, part.extent)

    def read_array(self, place: int, item: AnyArray, known: bool = False) -> None:
        self.advanced.append((place, len(self.kept)))
        if not known:
            item = _array_in_range(item, self.shape[self.axis], self.axis)
        self.arrays.append((len(self.operands), item))
        self.add("a", item)

    def indices_of(self, mask: AnyArray) -> tuple:
        """The indices where a mask holds, an array an axis."""
        for k, n in enumerate(mask.shape):
            agree_with_mask(self.shape[self.axis + k], n, self.axis + k)
        return registry["nonzero"](mask) if is_value(mask) else np.nonzero(mask)

    def before(self) -> int:
        """The number of kept axes before those of the index arrays: none, unless arrays and integers are neighbours."""
        places = sorted({place for place, _ in self.advanced})
        return self.advanced[0][1] if places[-1] - places[0] + 1 == len(places) else 0

    def join_arrays(self) -> int:
        """Broadcast the index arrays against each other; the rank they have then."""
        try:
            shape = extents.broadcast_shapes(*[shape_of(a) for _, a in self.arrays])
        except ExtentError as error:
            raise IndexRangeError(f"shape mismatch of index arrays: {error.what}") from None
        self.is_unique = self.masked == len(self.arrays) or _are_unique([a for _, a in self.arrays], shape)
        for place, a in self.arrays:
            self.operands[place] = _broadcast_index(a, shape)
        return len(shape)


def _known_step(step: "int | None") -> "int | None":
    """A slice's step, which is part of the program: that of a size is the one seen at tracing, under a guard."""
    known = current().integers.pin(step.atom, here()) if isinstance(step, Value) else step
    if known is None and step is not None:
        raise UnsupportedFunctionError("a slice with a traced step is not supported",
                                       do="index with start + step * np.arange(n)")
    return known


def agree_with_mask(n: Extent, m: Extent, axis: int) -> None:
    """See to it that a boolean index has the extent of the axis that it stands for."""
    try:
        extents.agree(n, m, f"extents of axis {axis} and of a boolean index")
    except ExtentError:
        raise IndexRangeError(
            f"boolean index did not match indexed array along axis {axis}; size of axis is {extents.hint(n)} "
                              f"but size of corresponding boolean axis is {extents.hint(m)}") from None


def _are_unique(arrays: list, shape: tuple) -> bool:
    """Whether index arrays certainly select no element twice: constant ones without repeats, or one of them is 0, 1,
    2, ..."""
    if any(is_value(a) for a in arrays):
        return len(shape) == 1 and any(produced_by(a, "iota") and same_extent(shape_of(a)[0], shape[0]) for a in arrays)
    together = np.stack([np.ravel(a) for a in np.broadcast_arrays(*arrays)])
    return np.unique(together, axis=1).shape[1] == together.shape[1]


def _broadcast_index(a: AnyArray, shape: tuple) -> AnyArray:
    if is_value(a) or any(is_value(n) for n in shape):
        return a if same_shape(shape_of(a), shape) else registry["broadcast_to"](constant(a), *shape)
    return constant(np.ascontiguousarray(np.broadcast_to(a, shape)))


def _in_range(k: Extent, n: Extent, axis: int) -> Any:
    """An index into an axis of extent n as one that counts from the start, in range by proof or by a check."""
    is_from_start = assume_at_least(k, 0) and assume_at_least(n - 1, k)
    if not is_from_start and not (assume_at_least(-1, k) and assume_at_least(k + n, 0)):
        _check(k, n, axis)
    return from_start(k, n)


def _check(k: Extent, n: Extent, axis: int) -> None:
    size = extents.hint(n) if is_int(k) and stack.builders() else None
    if size is not None and not -size <= k < size and current().is_certain:
        raise IndexRangeError(f"index {k} is out of bounds for axis {axis} with size {size}")
    registry["check_index"](k, n, axis=axis)


def _array_in_range(a: Any, n: Any, axis: int) -> AnyArray:
    """Indices into an axis of extent n as such that count from the start, in range by proof or by a check."""
    if is_value(a):
        a = signed(a)
        made = produced_by(a, "iota")
        if made is not None and assume_at_least(n, _extent(made.inputs[0])):
            return a
        registry["check_index"](a, n, axis=axis)
        return registry["wrap_index"](a, n)
    a = a.astype(INT)
    if not a.size:
        return a
    low, high = int(a.min()), int(a.max())
    for k in (low, high):
        _in_range(k, n, axis)
    return from_start_all(a, n) if low < 0 else a


def signed(a: Any) -> ArrayOrNumber:
    """Indices as int64, which is what NumPy makes of them; an uint64 and an int64 would meet as floats."""
    return registry["cast"](a, dtype=INT) if is_value(a) and a.dtype == np.uint64 else a


def _extent(atom: object) -> ArrayOrNumber:
    return atom.value if isinstance(atom, Literal) else current().value_of(atom)


def from_start_all(a: np.ndarray, n: ArrayOrNumber) -> AnyArray:
    """Constant indices, those that are negative counted from the start."""
    return np.where(a < 0, a + n, a) if is_int(n) else registry["wrap_index"](constant(a), n)


__all__ = ["Selection", "agree_with_mask", "read_subscript", "signed", "with_axes_of_flags"]
