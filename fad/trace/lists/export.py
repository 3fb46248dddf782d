"""Lists of captured code as others see them: results are lists of their elements, NumPy's functions are given arrays,
objects have lists like these.
"""
from collections.abc import Callable
from typing import Any, NamedTuple

from ...ops.literals import python_number
from ...ops.records import Records
from ...util import tree
from ..heap.journal import was_there
from .items import Items
from .rows import RowList


def plain(result: object) -> Any:
    """A result in which lists that lie in rows are lists of their elements, and record arrays from outside those
    arrays.
    """
    return _with_others(result, lambda x: isinstance(x, RowList) or (isinstance(x, Records) and x.outer is not None),
                        lambda x: plain(list(x)) if isinstance(x, RowList) else x.outer)


def _with_others(result: object, is_one: Callable, other: Callable) -> Any:
    """A result with other(x) in place of each such thing in it; itself if it has none."""
    leaves, structure = tree.flatten(result, is_leaf=is_one, is_shared=True)
    others = {id(x): other(x) for x in leaves if is_one(x)}
    return structure.unflatten([others.get(id(x), x) for x in leaves]) if others else result


class Delivered(list):
    """A list in rows that a program returns: it leaves the program as arrays, one for each leaf of an element, whatever
    its length.
    """

    def __init__(self, rows: RowList):
        super().__init__()
        self.arrays = tuple(rows.own_entries())
        self.structure, self.types = rows.layout.structure, tuple(rows.types_now())
        self.statics = dict(rows.layout.statics)              # leaves that are one thing in all elements


def deliver(result: object) -> Any:
    """The result of a program, in which lists in rows are to be taken apart when they are there."""
    return _with_others(result, lambda x: isinstance(x, RowList),
                        lambda x: x if x.is_element or x.layout.statics else Delivered(x))


class _Same(NamedTuple):
    """A column of a delivered list that is one thing in all of its rows."""

    value: object


class _Elements:
    """The form of a delivered list's elements: their structure, and which leaves are Python's numbers."""

    def __init__(self, structure: tree.Structure, types: tuple, statics: dict):
        self.structure, self.types, self.statics = structure, types, statics
        kinds, things = [(t.dtype, t.rank, t.weak) for t in types], [(k, id(x)) for k, x in statics.items()]
        self.key = structure, tuple(kinds), tuple(things)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Elements) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def apart(self, arrays: tuple) -> list:
        """The elements, in Python's and NumPy's own types."""
        types, columns, count = iter(self.types), iter(arrays), len(arrays[0])
        every: list = [_Same(self.statics[k]) if k in self.statics else next(columns)
                       for k in range(len(self.statics) + len(arrays))]
        return _apart(self.structure, [None if isinstance(x, _Same) else next(types) for x in every], every, count)


def _apart(structure: tree.Structure, types: Any, arrays: Any, count: int) -> list:
    if structure.cls is None and isinstance(arrays[0], _Same):
        return [arrays[0].value] * count
    if structure.cls is None:
        array, t = arrays[0], types[0]
        if array.ndim > 1:
            return [row.copy() for row in array]              # arrays of their own
        return array.tolist() if t.weak and array.dtype == t.dtype else list(array)
    if issubclass(structure.cls, RowList):
        inner = structure.static
        return [_apart(inner.layout.structure, inner.types, entries, len(entries[0])) for entries in zip(*arrays)]
    columns, start = [], 0
    for child in structure.children:
        end = start + child.leaves
        columns.append(_apart(child, types[start:end], arrays[start:end], count))
        start = end
    one = tree.Structure(structure.cls, structure.static, (tree.LEAF,) * len(columns))
    return [one.unflatten(parts) for parts in (zip(*columns) if columns else [()] * count)]


tree.register(
    Delivered,
    lambda x: (x.arrays, _Elements(x.structure, x.types, x.statics)),
    lambda elements, arrays: elements.apart(arrays),
)


def as_array(x: object) -> Any:
    """x, or the array that NumPy makes of it if it is a list that lies in rows."""
    found = x.array() if isinstance(x, RowList) else None
    return x if found is None else found


def number_of(x: object, y: object) -> Any:
    """y, a number that Python's functions make of the elements of x: a number of Python's if those are."""
    return python_number(y) if isinstance(x, RowList) and all(t.weak for t in x.types_now()) else y


def as_arrays(x: Any) -> Any:
    """Arguments of NumPy's functions: as_array of them, at any depth of lists and tuples."""
    if type(x) in (list, tuple, Items):
        return type(x)([as_arrays(a) for a in x])
    return as_array(x)


def as_captured(x: object, known: dict, since: int) -> Any:
    """A plain list that was made since then, and those in it, as lists that loops may come to fill or to index; known:
    what stands for a list, by its id.
    """
    if type(x) is not list or id(x) in known or was_there(x, since):
        return known.get(id(x), x)
    made = known[id(x)] = Items()
    list.extend(made, [as_captured(y, known, since) for y in x])
    return made
