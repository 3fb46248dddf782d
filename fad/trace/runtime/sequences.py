"""Python's ==, <, `in`, count and index of lists and tuples in which numbers are traced.

Python compares item by item, and stops at the first pair that differs. A program compares all pairs that may decide.
"""
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...ir.live import is_point
from ...ir.op import registry
from ...ops.literals import python_int, python_number
from ...ops.override import METHODS
from ...util import tree
from ...util.defects import for_user
from ...util.errors import ConcreteValueError, UnstageableError
from ..heap.operands import holds_traced
from ..lists.items import Items
from ..lists.reorder import is_value
from ..values.choice import is_choice
from ..values.tracer import Tracer

_SEQUENCES = (list, tuple, Items)


def are_sequences(a: object, b: object) -> bool:
    """Whether a and b are two lists or two tuples, which Python compares item by item."""
    return type(a) in _SEQUENCES and type(b) in _SEQUENCES and isinstance(a, tuple) is isinstance(b, tuple)


def are_compared_by_items(*pair: Any) -> bool:
    """Whether the comparison of two sequences depends on traced real numbers.

    Integers and truth values are left to Python: mostly they say what a program does next, and are known where its
    loops are unrolled.
    """
    return not stack.is_live() and any(
        isinstance(x, Value) and x.dtype.kind in "fc" for x in tree.flatten(pair)[0])


def are_apart(*pair: Any) -> bool:
    """Whether one of two sequences has a number that is differentiated where the other has a plain float: on the tape
    an earlier call has left that (see transforms/kept_points.py).
    """
    if not stack.is_live():
        return False
    pairs = [(x, y) for x, y in (*zip(*pair), *zip(*pair[::-1])) if current().moves(x)]
    return is_point(np.array([y for _, y in pairs if isinstance(y, float)]))


@for_user
def compared_by_items(relation: Callable, a: Any, b: Any) -> Any:
    """relation(a, b), a < b or its kin: the first pair that differs decides, then the lengths."""
    pairs = []
    for x, y in zip(a, b):
        same = _same(x, y)
        decisive = relation is operator.ne if relation in (operator.eq, operator.ne) else _related(relation, x, y)
        pairs.append((same, decisive))
        if same is False:
            break
    found = relation(len(a), len(b))
    for same, decisive in reversed(pairs):
        found = _either(same, found, decisive)
    return python_number(found) if isinstance(found, Value) else found


def _related(relation: Callable, x: object, y: object) -> Any:
    if are_sequences(x, y):
        return compared_by_items(relation, x, y)
    return _decided(relation(x, y))


def _same(x: object, y: object) -> Any:
    """Whether Python takes two items for one: a bool, or a traced one."""
    if x is y:
        return True
    if are_sequences(x, y):
        return compared_by_items(operator.eq, x, y)
    same = False if _is_no_sequence(x, y) or _is_no_sequence(y, x) else _decided(x == y)
    if not isinstance(same, Value):
        return bool(same)
    if same.ndim:
        raise UnstageableError(
            "an array is looked for in a list, or a number among arrays",
            why="whether arrays are equal is no single truth value",
            do="compare by np.any or np.all",
        )
    return same


def _decided(test: object) -> Any:
    """The truth of a comparison where it is known, as that of sizes is."""
    if not isinstance(test, Value) or test.ndim:
        return test
    try:
        return bool(test)
    except ConcreteValueError:
        return test


def _is_no_sequence(x: object, y: object) -> bool:
    """Whether x is a number of Python's, and y a list or a tuple, which is never equal to one."""
    return isinstance(x, Value) and x.type.weak and not x.ndim and isinstance(y, (list, tuple))


def _either(condition: object, a: object, b: object) -> Any:
    """The truth value a where a condition holds, else b."""
    if not isinstance(condition, Value):
        return a if condition else b
    join, negate = registry["logical_and"], registry["logical_not"]
    return registry["logical_or"](join(condition, a), join(negate(condition), b))


@for_user
def contains(items: Any, x: Any) -> Any:
    """x in items, where something of it is traced: one of them is equal."""
    if isinstance(items, Tracer) and items.is_array and items.ndim and not stack.is_live():
        return python_number(METHODS["any"](items == x))
    is_asked = isinstance(items, (tuple, list, set, frozenset)) and (
        holds_traced((x, *items)) or any(map(is_choice, (x, *items))))
    if stack.is_live() or not is_asked:
        return x in items
    found: Any = False
    for same in map(_same, items, [x] * len(items)):
        if same is True:
            return True
        found = registry["logical_or"](found, same) if isinstance(same, Value) else found
    return python_number(found) if isinstance(found, Value) else found


@for_user
def counted_or_placed(f: Any, x: Any, *bounds: Any) -> Any:
    """items.count(x) or items.index(x), where that depends on traced values; None of any other call."""
    items: Any = f.__self__
    if f.__name__ == "remove" or type(items) not in _SEQUENCES or not are_compared_by_items(items, [x]):
        return None
    start, stop, _ = slice(*(*bounds, None, None)[:2]).indices(len(items))
    same = [_same(y, x) for y in items[start:stop]]
    if f.__name__ == "count":
        return sum(python_int(s) for s in same)
    found, place = False, stop
    for k, s in reversed(list(enumerate(same, start))):
        found, place = _either(s, True, found), k if s is True else registry["where"](s, k, place)
    name = type(items).__name__ if isinstance(items, tuple) else "list"
    registry["check_that"](found, True, what=f"{name}.index(x): x not in {name}", error="ValueError")
    return python_int(place)


@for_user
def number_at(items: Any, place: Any) -> Any:
    """items[place]: of a list or tuple of real numbers the one at a traced place. A list of integers says what a loop
    does next; the loop is unrolled, and each of them is known.
    """
    try:
        return items[place]
    except ConcreteValueError:
        if type(items) not in (list, tuple) or not all(map(is_value, items)) or not _is_any_real(items):
            raise
        return Items(items)[place]


def _is_any_real(items: object) -> bool:
    return any(x.dtype.kind in "fc" if isinstance(x, Value) else isinstance(x, float) for x in tree.flatten(items)[0])
