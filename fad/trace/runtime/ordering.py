"""Python's min, max, sorted, any and all, of arrays, lists and iterators in which something is traced."""
import builtins
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...ir import stack
from ...ir.build import Value
from ...ir.op import registry
from ...ir.types import INT, type_of
from ...ops.carry import UNDEFINED
from ...ops.extents import assume_at_least
from ...ops.kinds import shape_of
from ...ops.literals import as_array as joined
from ...ops.literals import python_number
from ...ops.mixed import of_kinds
from ...ops.override import METHODS, find
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.defects import for_user
from ...util.errors import UnstageableError
from ...util.where import here
from ..heap.callbacks import unsteady, watching
from ..heap.journal import note
from ..heap.operands import holds_traced
from ..heap.state import cells_of
from ..lists.elements import note_doubtful, types_of_numbers
from ..lists.export import as_array, number_of
from ..lists.items import Items
from ..lists.reorder import is_value, reordered
from ..regions.branch import choose, truth
from ..values.constants import constant_of
from ..values.tracer import Tracer
from .sequences import are_sequences, compared_by_items

PREFERS = {"min": operator.lt, "max": operator.gt}
OF_INTEGERS = {"min": "minimum", "max": "maximum"}


class Compared:
    """A key that is compared as captured code compares: by a user's special methods, captured."""

    __slots__ = ("compare", "x")

    def __init__(self, compare: Callable, x: object):
        self.compare, self.x = compare, x

    def __lt__(self, other: object) -> ArrayOrNumber:
        return self.compare("Lt", self.x, _behind(other))

    def __gt__(self, other: object) -> ArrayOrNumber:
        return self.compare("Gt", self.x, _behind(other))


class KeyOf:
    """A function of keys: those that users' methods compare become Compared. model: of Python's data."""

    def __init__(self, model: Any, key: Any):
        self.model, self.key = model, key

    @for_user
    def __call__(self, x: Any) -> Any:
        found = x if self.key is None else self.key(x)
        return Compared(self.model.compare, found) if self.model.is_asked(found) else found


def _behind(key: object) -> Any:
    return key.x if type(key) is Compared else key


def _decided_by_python(items: list) -> bool:
    """Whether Python itself can compare these: numbers, and values that the tape knows."""
    return stack.is_live() or not holds_traced(items)


def _best(name: str) -> Callable:
    """min or max: the first of the best, as Python finds it."""
    original = getattr(builtins, name)

    @for_user
    def best(*args: Any, key: Any = None, **default: object) -> Any:
        array = as_array(args[0]) if len(args) == 1 and key is None else None
        if isinstance(array, Value) and array.ndim == 1:
            return _best_of_array(name, args[0], array, default)
        items = list(args[0]) if len(args) == 1 else list(args)
        keys = items if key is None else [key(x) for x in items]
        if _decided_by_python(keys) and (stack.is_live() or not any(type(k) is Compared for k in keys)):
            return items[original(range(len(items)), key=keys.__getitem__)] if items else original(items, **default)
        chosen, best_key = items[0], keys[0]
        for x, k in zip(items[1:], keys[1:]):
            if key is None and _is_number_beside(x, chosen):
                chosen = best_key = _better(best_key, k, name)
            else:
                chosen, best_key = _better_item((chosen, best_key), (x, k), name)
        return chosen
    return best


def _best_of_array(name: str, items: Iterable, array: Value, default: dict) -> Any:
    """min or max of an array with one axis, or of a list that lies in one."""
    extent = shape_of(array)[0]
    if default and isinstance(extent, int) and extent == 0:
        return default["default"]
    if default and not assume_at_least(extent, 1):
        raise UnstageableError(f"{name} of what may have no elements has a default",
                               why="whether the default is the answer depends on data",
                               do="test the length, or add the default to the elements")
    found = number_of(items, METHODS[name](array))
    return note_doubtful(found, types_of_numbers(items)) if type(items) in (list, tuple, Items) else found


def _is_number_beside(x: ArrayOrNumber, chosen: object) -> bool:
    """Whether x is compared with what is chosen as numbers are. Of an array Python asks the truth value."""
    return not isinstance(x, (tuple, list)) and (np.ndim(x) > 0 or is_value(x) and is_value(chosen))


def _better_item(chosen: tuple, other: tuple, name: str) -> tuple:
    """The better of two items, each with its key; the first one where they are equal."""
    (a, best_key), (b, key) = chosen, other
    is_better = _precedes(key, best_key, PREFERS[name])
    if isinstance(is_better, bool):
        return other if is_better else chosen
    return _chosen(is_better, b, a), _chosen_key(is_better, key, best_key)


def _is_integer(x: object) -> bool:
    return type(x) is int or (isinstance(x, Tracer) and not x.ndim and x.dtype == INT)


def _better(a: Any, b: Any, name: str) -> Any:
    """The better of two numbers."""
    if _is_integer(a) and _is_integer(b):
        return registry[OF_INTEGERS[name]](a, b)
    if not (isinstance(a, Value) or isinstance(b, Value)):
        return b if PREFERS[name](b, a) else a
    return _one_of(truth(PREFERS[name](b, a)), b, a)


def _one_of(condition: object, a: object, b: object) -> AnyArray:
    """The number a where a traced condition holds, else b."""
    y = registry["where"](condition, a, b)
    if type_of(y).shape:
        return y
    if type_of(a).weak and type_of(b).weak:
        return note_doubtful(python_number(y), types_of_numbers([a, b]))  # type: ignore[no-any-return]
    return of_kinds(y, "", [a, b])


def _precedes(a: Any, b: Any, relation: Callable) -> Any:
    """Whether a is less (greater) than b; of lists and tuples the first pair that differs decides."""
    a, b = [tuple(x) if isinstance(x, tuple) else x for x in (a, b)]                # named ones, too
    if are_sequences(a, b):
        return compared_by_items(relation, a, b)
    found = relation(a, b)
    return found if isinstance(found, Value) else bool(found)


def _either(condition: object, a: object, b: object) -> Any:
    """a where a traced condition holds, else b: items of one structure."""
    (xs, structure), (ys, other) = tree.flatten(a), tree.flatten(b)
    if structure != other or any(
        np.shape(x) != np.shape(y) for x, y in zip(xs, ys) if not (isinstance(x, Value) or isinstance(y, Value))
    ):
        raise UnstageableError("which item is taken depends on traced values, and the items differ in structure")
    return structure.unflatten([x if x is y else _one_of(condition, x, y) for x, y in zip(xs, ys)])


def _chosen(condition: object, a: object, b: object) -> Any:
    """a where a traced condition holds, else b; of arrays and containers that very one, as of `a if condition else b`.
    """
    ways = (lambda: a), (lambda: b)
    return _either(condition, a, b) if is_value(a) and is_value(b) else choose(condition, *ways, cells_of(*ways))


def _chosen_key(condition: AnyArray, a: Any, b: Any) -> Any:
    if type(a) is Compared or type(b) is Compared:
        return Compared((a if type(a) is Compared else b).compare, _chosen(condition, _behind(a), _behind(b)))
    return _either(condition, a, b)


@for_user
def sorted_(iterable: list, /, *, key: Any = None, reverse: bool = False) -> list:
    """sorted(): items that are equal keep their order."""
    items = list(iterable)
    keys = items if key is None else [key(x) for x in items]
    if _decided_by_python(keys):
        return [items[k] for k in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]
    known = _known_order(keys, reverse)
    if known is not None:
        return [items[k] for k in known]
    columns = [_column(list(column)) for column in (zip(*keys) if isinstance(keys[0], (tuple, list)) else [keys])]
    order = find(np.lexsort).call([-c if reverse else c for c in columns[::-1]])     # type: ignore[union-attr]
    return reordered(items, order)


def _column(parts: list) -> Any:
    """One part of each key, as an array."""
    if any(isinstance(x, (tuple, list)) for x in parts):
        raise UnstageableError(
            "sorted() compares lists of traced values",
            why="which of them comes first is not decided by one number each",
        )
    return joined(parts)


def _known_order(keys: list, reverse: Any) -> "list | None":
    """The order of these keys, where what stands in front of their unknown parts decides it: names, mostly."""
    fronts = list(map(_front, keys))
    fronts = [front[:min(map(len, fronts))] for front in fronts]
    order = sorted(range(len(keys)), key=fronts.__getitem__, reverse=reverse)
    return None if any(fronts[a] == fronts[b] for a, b in zip(order, order[1:])) else order


def _front(key: object) -> list:
    """The parts of a key in front of the first one that is not known."""
    parts = map(_known, key) if isinstance(key, (tuple, list)) else ()
    return list(itertools.takewhile(lambda part: not holds_traced(part), parts))


def sort(items: list, /, *, key: object = None, reverse: object = False) -> None:
    """items.sort()"""
    note(items)
    items[:] = sorted_(items, key=key, reverse=reverse)


def insert(items: list, otherwise: Callable, place: ArrayOrNumber, x: object) -> None:
    """items.insert(place, x). otherwise: the list's own method, for a place that data do not decide."""
    if not isinstance(place, Tracer) or stack.is_live():
        return otherwise(place, x)
    n, where = len(items), registry["where"]
    at = registry["clip"](where(place < 0, place + n, place), 0, n)
    k = registry["iota"](n + 1, dtype=INT)
    note(items)
    items[:] = reordered([*items, x], where(k < at, k, where(k == at, n, k - 1)))


def _of_all(name: str, decisive: bool, join: str) -> Callable:
    """any or all: what is known decides at once, what is traced is joined. Python stops at the first that decides: what
    comes later may change nothing.
    """
    def test(iterable: object, /) -> Any:
        iterable = as_array(iterable)
        if isinstance(iterable, Tracer) and iterable.ndim == 1:
            return python_number(METHODS[name](iterable))
        found: Any = None
        items = ByAndBy(iterable, "any() or all()")  # type: ignore[arg-type]
        for x in items:
            if not isinstance(x, Tracer) or stack.is_live():
                if bool(x) is decisive:
                    return decisive
            else:
                items.is_in_doubt = True
                holds = x if x.dtype.kind == "b" else x != 0
                found = holds if found is None else registry[join](found, holds)
        return (not decisive) if found is None else python_number(found)
    return test


class ByAndBy:
    """The items of an iterable; those of an iterator may change nothing once it is in doubt whether Python would come
    to them.
    """

    def __init__(self, items: Iterable, who: str):
        self.items, self.who, self.is_in_doubt = items, who, False

    @for_user
    def __iter__(self) -> Iterator:
        items = self.items
        if not isinstance(items, Iterator):
            yield from items
            return
        while True:
            x, is_steady = (
                watching(lambda: next(items, UNDEFINED)) if self.is_in_doubt else (next(items, UNDEFINED), True)
            )
            if not is_steady:
                raise unsteady(f"an iterator that {self.who} goes through", here())
            if x is UNDEFINED:
                return
            yield x


OVERRIDES = {"min": _best("min"), "max": _best("max"), "sorted": sorted_, "any": _of_all("any", True, "logical_or"),
             "all": _of_all("all", False, "logical_and")}


def _known(part: object) -> Any:
    """A part of a key; of a traced number the number, if that is known."""
    value = constant_of(part.atom) if isinstance(part, Tracer) and not part.ndim else None
    return part if value is None else value
