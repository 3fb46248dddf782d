"""Changes outside since a program was traced, as places that the next program may read at each call.

    guard that fails                   place
    Item(d, "rate", 0.1)               d["rate"]; of the dict of a module the name
    Attribute(o, "reg", 0.1)           o.reg, of a class the class in whose dict it stands
    Variable(cell, 0.1)                the variable
    Contents(snapshot)                 each element and attribute that is another one
"""
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from operator import is_
from types import FunctionType, ModuleType

import numpy as np

from ...ir.delivery import Location
from ...util.defects import ignore_expected
from ...util.own import own_attribute
from ..objects.containers import contents
from .closures import FunctionParts, parts_at
from .guard import (
    AttributeGuard,
    ContentsGuard,
    Guard,
    ItemGuard,
    NamesGuard,
    ValueGuard,
    VariableGuard,
    WholeGuard,
    in_class,
)
from .inputs import TreesGuard
from .kinds import MISSING
from .part_kinds import is_apart
from .snapshot import HOLE, Snapshot, SnapshotNode, has_block, is_same, views_of


class UnknownChange(Exception):
    """A guard fails, and no place tells why."""


def changes_since(guards: Iterable[Guard]) -> "list[tuple] | None":
    """The places where other numbers or arrays stand now, each with what stood there; None where anything else has
    changed.

    >>> from .guard import of_contents
    >>> rates = {"slow": 0.1, "fast": 0.5}
    >>> guards = [of_contents(rates), ItemGuard(rates, "fast", 0.5)]
    >>> rates["slow"] = 0.2
    >>> [(place.at, before) for place, before in changes_since(guards)]
    [('slow', 0.1)]
    >>> rates["slow"] = "none"
    >>> changes_since(guards) is None
    True
    """
    found: list[tuple] = []
    try:
        for guard in guards:
            if not guard.unchanged:
                found += [change for place, before in _changes(guard) for change in _inputs(place, before)]
        return found
    except Exception as error:  # no place tells what has changed, or a class of the user's does not answer
        ignore_expected(error, "what has changed outside is no input of its program")
        return None


def is_read_unseen(guards: Iterable[Guard]) -> bool:
    """Whether an object has changed that is guarded as a whole."""
    return not all(guard.unchanged for guard in guards if type(guard) is WholeGuard)


def is_of_one_kind(before: object, now: object) -> bool:
    """Whether both are numbers of one class, or arrays of one dtype and shape. Of truth values each has a program."""
    if type(now) is not type(before):
        return False
    if type(now) is np.ndarray:
        return now.dtype.kind in "biufc" and (now.dtype, now.shape) == (before.dtype, before.shape)  # type: ignore
    return type(now) in (int, float, complex) or isinstance(now, np.number)


def _inputs(place: Location, before: object) -> list:
    """The changes of numbers and arrays that make up one; that of a container or an object comes first."""
    now = place.read()
    if is_of_one_kind(before, now):
        return [(place, before)]
    one, other = parts_at([place], [before]), parts_at([place], [now])
    if not is_apart(now) or one is None or other is None or one.key != other.key:
        raise UnknownChange
    return [(place, before), *_of_slots(other, dict(enumerate(one.slots)))]


def _of_slots(now: FunctionParts, before: dict) -> list:
    """The numbers and arrays among these parts that are others than before, by their numbers."""
    found = [(at, before[k], x) for k, (at, x) in enumerate(zip(now.places, now.slots)) if k in before]
    found = [(at, old, new) for at, old, new in found if not is_same(new, old)]
    if not all(is_of_one_kind(old, new) for _, old, new in found):
        raise UnknownChange
    return [(at, old) for at, old, _ in found]


def _changes(guard: Guard) -> Iterator[tuple]:
    if type(guard) is ItemGuard:
        yield _item(guard.owner, guard.at), guard.value
    elif type(guard) in (AttributeGuard, ValueGuard):
        yield _attribute(guard.owner, guard.at), guard.value  # type: ignore[attr-defined]
    elif type(guard) is NamesGuard:
        yield from [(_item(guard.space, name), before) for name, before in zip(guard.names, guard.value)
                    if not is_same(guard.space.get(name, MISSING), before)]
    elif type(guard) is VariableGuard:
        yield Location("variable", guard.owner), guard.value
    elif type(guard) in (ContentsGuard, WholeGuard):
        yield from _within(guard.value)
    elif type(guard) is TreesGuard:
        parts = guard.parts_now()
        if parts is None or parts.key != guard.value:
            raise UnknownChange
        yield from _of_slots(parts, guard.constants)
    else:
        raise UnknownChange


def _item(owner: object, at: object) -> Location:
    is_of_module = type(owner) is dict and type(at) is str and not owner.keys().isdisjoint(("__name__", "__builtins__"))
    return Location("global" if is_of_module else "item", owner, at)


def _attribute(owner: object, name: str) -> Location:
    if type(owner) in weakref.ProxyTypes:
        raise UnknownChange
    if type(owner) is FunctionType:
        return Location("global", owner.__dict__, name)
    if not isinstance(owner, (type, ModuleType)) and name not in contents(owner) and _is_of_class(owner, name):
        owner = type(owner)
    if isinstance(owner, type):
        owner = next((c for c in owner.__mro__ if name in vars(c)), None)
        if owner is None:                                     # its metaclass has it
            raise UnknownChange
    return Location("attribute", owner, name)


def _is_of_class(owner: object, name: str) -> bool:
    return in_class(type(owner), name) is own_attribute(owner, name, MISSING)


def _within(snapshot: Snapshot) -> Iterator[tuple]:
    """The differences of a snapshot: elements of lists and dicts, and attributes. An array that was written to is
    another one at each place where it stands.
    """
    nodes = snapshot.nodes.values()
    objects = {id(node.owner.__dict__): node.owner for node in nodes if "__dict__" in node.names}
    written = {id(node.owner) for node in nodes if node.block is not None and not has_block(node.owner, node.block)}
    placed = set()
    for node in nodes:
        for place, now, before in _places(node, objects):
            if before is not HOLE and (id(now) in written or not is_same(now, before)):
                placed.add(id(now))
                yield place, before
    if not written <= placed:
        raise UnknownChange


def _places(node: SnapshotNode, objects: dict) -> Iterator[tuple]:
    """The places in a container or an object: (place, what stands there, what stood there)."""
    owner, elements = node.owner, [list(view) for view in views_of(node.owner)]
    if type(owner) is not node.cls or list(map(len, elements)) != list(map(len, node.elements)):
        raise UnknownChange
    for name, before in zip(node.names, node.values):
        yield _attribute(owner, name), own_attribute(owner, name, MISSING), before
    if len(elements) == 2 and isinstance(owner, dict):
        if not all(map(is_same, elements[0], node.elements[0])):
            raise UnknownChange
        of_object = objects.get(id(owner))
        for key, now, before in zip(*elements, node.elements[1]):
            yield _item(owner, key) if of_object is None else _attribute(of_object, key), now, before
    elif elements and not all(map(is_, elements[0], node.elements[0])):
        if not isinstance(owner, (list, deque)):
            raise UnknownChange
        yield from ((_item(owner, k), *pair) for k, pair in enumerate(zip(elements[0], node.elements[0])))
