"""Items of a list in an order that depends on data: numbers by value, arrays and lists as copies that may be read, of
what must not change any more.
"""
from typing import Any

import numpy as np

from ...ir.build import Value, current
from ...ir.types import type_of
from ...ops.carry import assumed_equal
from ...ops.literals import as_array as joined
from ...ops.literals import python_number
from ...util import tree
from ...util.errors import UnstageableError
from ..heap.state import is_data
from ..values.aliases import note_fixed
from ..values.member import read_only
from ..values.tracer import Tracer
from ..values.zero_dim import kind_of
from .elements import lists_in, note_doubtful, require_fixed, types_of_numbers
from .rows import fixed


def is_value(x: object) -> bool:
    """Whether x is a number or a tuple of numbers: what cannot be changed is as good as its copy."""
    if isinstance(x, tuple):
        return all(map(is_value, x))
    return isinstance(x, (Value, np.generic, int, float, complex, str, type(None))) and kind_of(x) is False


def reordered(items: list, order: object) -> list:
    """The items in this order, an array of their places."""
    flat = [tree.flatten(x) for x in items]
    structure = flat[0][1]
    if any(other != structure for _, other in flat):
        raise UnstageableError("the items that are sorted differ in structure, and their order depends on traced "
                               "values")
    require_fixed(structure)
    for found in [found for x in items for found in lists_in(x)]:
        note_fixed(found)
    columns = [_ItemLeaf(list(leaves), order) for leaves in zip(*[leaves for leaves, _ in flat])]
    return [fixed(structure.unflatten([c.at(k) for c in columns])) for k in range(len(items))]


class _ItemLeaf:
    """One leaf of all items, in the new order."""

    def __init__(self, leaves: list, order: object):
        if not all(map(is_data, leaves)):
            raise UnstageableError("texts are sorted, and their order depends on traced values")
        first, *others = [type_of(x).shape for x in leaves]
        if any(len(shape) != len(first) or not all(map(assumed_equal, shape, first)) for shape in others):
            raise UnstageableError("arrays of different sizes are sorted, and their order depends on traced values")
        self.types = types_of_numbers(leaves)
        self.array, self.weak = joined(leaves)[order], all(type_of(x).weak for x in leaves)
        arrays = [x if isinstance(x, Tracer) else current().capture(x) for x in leaves if kind_of(x) is not False]
        self.aliases = [(x, x._var, None) for x in arrays]

    def at(self, k: int) -> Any:
        x = self.array[k]
        x = python_number(x) if self.weak else read_only(x, self.aliases) if self.aliases else x
        return note_doubtful(x, self.types)
