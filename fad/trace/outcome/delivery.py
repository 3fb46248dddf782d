"""Delivery: the function's writes to outside things, as stores that each call of its program makes.

While a function is traced, what it writes goes to the journal, and to the things themselves. In the end the journal
says which fields hold something else now. If a program can write all of that (outputs of the program, the call's own
arrays, constants), the fields are put back, and the program stores them at each call. If it cannot (an object made in
the function, an element taken out of a list), the trace ends as leaks.py and effects.py say.

A function within the program (that is differentiated, say) leaves its values in the same things. They become outputs of
its Func, and the program around it stores what it computes for them.
"""
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from threading import local
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Builder
from ...ir.delivery import Append, Argument, Extend, Held, Kept, Known, Location, Maybe, Output, Refill, Store, Tree
from ...ir.value import Value
from ...util import tree
from ...util.errors import StructureError
from ...util.reach import reached
from ..guards.guard import length_as, of_element
from ..guards.inputs import PlaceGuard
from ..guards.kinds import MISSING
from ..guards.snapshot import Snapshot, is_same
from ..heap.journal import CONTAINER, GENERATOR, Mark
from ..heap.state import is_array as _is_array
from ..lists.export import Delivered, plain
from ..lists.rows import RowList
from ..lists.tails import ElementKind, Tail, refuse_reading
from ..objects.containers import NEVER_CHANGE, EnclosingVariable, Globals, Outer, content, contents, is_users, values_of
from ..regions import optional
from ..runtime.library import original_of
from ..values.choice import is_choice, number_of, table_of
from ..values.place import bases_of
from ..values.text import TracedText
from ..values.tracer import Tracer
from .leaks import is_of_new_object, stays
from .tuples import FoundSharedTuple, SharedTuples

NOWHERE = Location("nowhere", None)
NUMBERS = {"f": float, "i": int, "c": complex, "b": bool}


class NotDeliverable(Exception):
    """A program cannot write what the function has left."""


class Left(NamedTuple):
    """The effects of a trace: the stores, and the further outputs of the program that they need."""

    stores: list
    outputs: list
    guards: list

    @property
    def shape(self) -> list:
        """The locations of the stores, without the values."""
        return [
            (s.location.key if isinstance(s, Store) else id(s.owner), s.value) for s in self.stores
        ]


def left_by(root: Builder, mark: Mark, results: Sequence, result: object) -> "Left | None":
    """The function's effects since the mark; None if a program cannot write them. results: the outputs so far."""
    shared = SharedTuples()
    while True:
        shared.begin()
        collector = _Collector(root, mark, results, result, shared)
        try:
            stores = collector.stores()
        except NotDeliverable:
            return None
        except FoundSharedTuple:
            continue
        return Left(stores, collector.outputs[len(results):], collector.guards)


class _Collector:
    """Goes through what a trace has written. An array that is the result, too, is one output."""

    def __init__(self, root: Builder, mark: Mark, results: Sequence, result: object, shared: SharedTuples):
        self.root, self.mark, self.outputs, self.shared = root, mark, list(results), shared
        self.results = len(self.outputs)
        self.seen_as = {id(made): original for original, made, _ in root.trace.stand_ins}
        self.seen_as.update((id(tail), tail.owner) for tail in root.trace.tails)
        self.arrays = {id(seen): array for array, seen in root.trace.captured.values()}
        self.arguments = {key: k for k, key in enumerate(root.region.arrived)}
        self.stand = root.trace.trees.stand if root.trace.trees is not None else {}
        self.fresh: dict[int, object] = {id(x): x for x in _nodes(result, lambda y: False)}
        self.twins = {id(c) for t in root.region.twins for c in (t.one, t.other)}
        self.guards: list = []  # of what stood where a value is stored that a branch may have kept
        self.roots: dict[int, int] = {}  # id of an array's base -> the id of the array that is left
        self.found = _found_outside(root, mark)

    def _refuse_writes_to_lifted(self) -> None:
        """An array that stands for the one at a location may have other names outside, which would not see a change in
        place.
        """
        for x in self.root.trace.lifted_from.values():
            if isinstance(x, Tracer) and _is_array(x) and x.held is not x.origin:
                raise NotDeliverable

    def stores(self) -> list:
        self._refuse_writes_to_lifted()
        found: list = []
        for e in self.mark.entries.values():
            if e.kind is GENERATOR:
                continue
            if e.kind is not CONTAINER or isinstance(e.cell, Globals) and e.cell.scope is e.cell.original:
                if e.is_changed:
                    raise NotDeliverable
            elif id(e.cell) not in self.root.trace.journal.made:
                found += self._differences(e.cell, e.cell, e.before, contents(e.cell))
        for original, made, before in self.root.trace.stand_ins:
            found += self._differences(original, made, before, contents(made))
        for owner in self.root.trace.opened.values():
            if isinstance(owner, Outer):
                found += self._variables(owner)
        return [*found, *[store for tail in self.root.trace.tails for store in self._of_tail(tail)]]

    def _of_tail(self, tail: Tail) -> list:
        """Additions at the end of a list."""
        known = [s.value for s in self.root.trace.sources if type(s.value) is Snapshot]
        is_looked_at = any(id(tail.owner) in snapshot.nodes for snapshot in known)
        if is_looked_at or self.root.trace.journal.is_noted(tail.owner):
            refuse_reading()                                  # by code that a program does not see
        if tail.items.rows is None:
            return [Append(tail.owner, self._value(x)) for x, *_ in tail.items]
        new = Delivered(tail.items)
        for k, x in new.statics.items():
            if isinstance(x, ElementKind):
                continue
            known = self._value(x)
            if not isinstance(known, Known):
                raise NotDeliverable
            new.statics[k] = known.value
        rows, structure = tree.flatten(new)
        outputs = [self._number(x, None) if t.shape else self._output(x) for x, t in zip(rows, new.types)]
        return [Extend(tail.owner, Tree(structure, tuple(outputs)))]

    def _variables(self, owner: Outer) -> list:
        changed = owner.changed()
        if owner.before.keys() - owner.contents().keys():
            raise NotDeliverable
        if isinstance(owner, Globals):
            return [self._store(Location("global", owner.original, name), x, owner.original.get(name, MISSING))
                    for name, x in changed.items()]
        assert isinstance(owner, EnclosingVariable)
        return [self._store(Location("variable", owner.original), x, content(owner.original, MISSING))
                for x in changed.values()]

    def _differences(self, owner: Any, seen: Any, before: Any, after: Any) -> list:
        """Stores that make of what a container held what it holds now."""
        if isinstance(owner, local):                          # of another thread it has other attributes
            raise NotDeliverable
        if isinstance(after, set):
            if after != before:
                raise NotDeliverable
            return []
        if not isinstance(after, (dict, list)):
            raise NotDeliverable
        if isinstance(after, dict):
            return self._of_dict(owner, seen, before, after)
        if hasattr(seen, "rows"):
            raise NotDeliverable
        if not isinstance(owner, (list, deque)):  # a variable
            return [
                self._store(Location("variable", owner), x, *before)
                for x in after
                if not before or not _is_same(x, before[0])
            ]
        changed = [k for k, (x, old) in enumerate(zip(after, before)) if not _is_same(x, old)]
        more = after[len(before):]
        is_queue = isinstance(owner, deque) and (changed or (more and owner.maxlen is not None))
        if len(after) < len(before) or is_queue:
            return [self._refill(owner, enumerate(before), enumerate(after))]
        places = [(Location("item", owner, k), after[k], self._stood(owner, seen, before, k)) for k in changed]
        return [*[self._store(*place) for place in places], *[Append(owner, self._value(x)) for x in more]]

    def _of_dict(self, owner: object, seen: object, before: dict, after: dict) -> list:
        """The stores for the items of a dict, or the attributes of an object."""
        if any(type(key) not in NEVER_CHANGE for key in after if key not in before):
            raise NotDeliverable
        if list(after)[:len(before)] != list(before):
            if isinstance(owner, dict):
                return [self._refill(owner, before.items(), after.items())]
            if before.keys() - after.keys():
                raise NotDeliverable
        kind = "item" if isinstance(owner, dict) else "attribute"
        changed = [key for key, x in after.items() if key not in before or not _is_same(x, before[key])]
        return [
            self._store(Location(kind, owner, key), after[key], self._stood(owner, seen, before, key))
            for key in changed
        ]

    def _refill(self, owner: list | deque | dict, before: Iterable, after: Iterable) -> Refill:
        """All that a list, deque or dict holds, where something was taken out of it. Constants that stay are read from
        outside.
        """
        stood, new = dict(before), dict(after)
        constants = [(key, self.seen_as.get(id(x), x)) for key, x in stood.items() if not isinstance(x, Value)]
        self.guards += [length_as(owner, stood), *[of_element(owner, key, x) for key, x in constants]]
        return Refill(owner, tuple(new), tuple([self._value(x) for x in new.values()]))

    def _stood(self, owner: Any, seen: Any, before: Any, key: Any) -> Any:
        """The former contents of the container itself; captured code may see a copy of it."""
        if isinstance(before, dict) and key not in before:
            return MISSING
        return before[key] if owner is seen else owner[key]

    def _store(self, location: Location, x: Any, before: object = MISSING) -> Store:
        """before: what stood there, an array perhaps: where it is kept on some ways through the function, it stays."""
        stood = before if location.key not in self.root.trace.lifted_from else self.root.trace.lifted_from[location.key]
        value = self._value(x, stood, location)
        if location.key not in self.root.trace.lifted_from and before is not MISSING and _may_be_joined(value):
            self.guards.append(PlaceGuard(location, before))
        return Store(location, value)

    def _value(self, x: object, stood: object = None, location: Location = NOWHERE) -> Any:
        """The operand for x in a store. stood: what stood at its location, or the input for that."""
        if isinstance(x, Enum):
            return Known(x)
        if self._was_there(x):
            return self._itself(x)
        try:
            x = plain(x)
        except StructureError:                                # it holds itself
            raise NotDeliverable from None
        if id(x) in self.shared.made:
            return self.shared.made[id(x)]
        self.shared.meet(x, self._was_there)
        stops = self.shared.stop_in(x, self._was_there)
        for node in _nodes(x, stops):
            has_new_keys = isinstance(node, dict) and any(is_users(x) and not stays(self.root, x) for x in node)
            if id(node) in self.fresh or id(node) in self.twins or isinstance(node, RowList) or has_new_keys:
                raise NotDeliverable
            self.fresh[id(node)] = node
        leaves, structure = tree.flatten(x, is_leaf=stops)
        if structure.cls is None:
            return self._part(x, stood, location)
        places = _parts_of(stood, location) if isinstance(stood, tuple) else []
        if not places or tree.flatten(stood)[1] != structure or len(places) != len(leaves):
            places = [(None, NOWHERE)] * len(leaves)
        parts = tuple([self._part(y, *place) for y, place in zip(leaves, places)])
        return self.shared.kept(x, Tree(structure, parts, self.shared.numbers.get(id(x))))

    def _part(self, x: Any, stood: object, location: Location) -> object:
        """The operand for a leaf. It may be the array that stood in its place, on some ways through the function."""
        if self._was_there(x):
            return self._itself(x)
        if x in self.shared:
            return self._value(x)
        lifted = stood if isinstance(stood, Tracer) else self.root.trace.captured.get(id(stood), (None, None))[1]
        value = self._leaf(x, lifted)
        is_array = lifted is not None and isinstance(value, Output) and value.cls is None
        return Kept(value, location) if is_array and any(b is lifted for b in bases_of(x, self.root)) else value

    def _was_there(self, x: object) -> bool:
        """Whether x is a container or an object that was there before the trace, and stays the thing that it is."""
        if id(x) in self.seen_as or id(x) in self.stand:
            return True
        if isinstance(x, tuple):
            parts = reached([x], lambda y: y if isinstance(y, tuple) else ())
            return id(x) in self.found and bool(x) and not any(isinstance(y, Value) for y in parts)
        if not stays(self.root, x):
            return False
        is_known = id(x) in self.found or self.root.trace.journal.is_noted(x)
        if self.root.trace.reads is not None and not is_known:
            raise NotDeliverable                              # code without text may have made it
        return True

    def _itself(self, x: object) -> "Known | Held":
        """The thing outside that x is, or stands for."""
        return Held(self.stand[id(x)]) if id(x) in self.stand else Known(self.seen_as.get(id(x), x))

    def _leaf(self, x: object, lifted: object) -> Any:
        if id(x) in self.arrays:
            return Known(self.arrays[id(x)])
        if isinstance(x, Tracer):
            return self._traced(x, lifted)
        if is_choice(x):
            number = number_of(x)
            assert isinstance(number, Tracer)
            return Output(self._number(number, None).place, table_of(x).text)
        if type(x) is TracedText or isinstance(x, Value):
            raise NotDeliverable
        if id(x) in self.found:                               # a function, a class
            return Known(x)
        if type(x) in NEVER_CHANGE or isinstance(x, np.generic) or is_record_array(x):
            return Known(x)
        if original_of(x) is not x and not is_of_new_object(self.root, x):
            return Known(original_of(x))
        raise NotDeliverable

    def _traced(self, x: Tracer, lifted: object) -> Any:
        if x.optional is not None:                            # it is None on some ways through the function
            return Maybe(self._number(optional.bare(x), None), self._number(x.optional.flag, None))
        return self._number(x, lifted)

    def _number(self, x: Tracer, lifted: object) -> Any:
        if x.bound is not None or not self.root.sees(x.held):
            raise NotDeliverable
        if is_of_two_dtypes(x, self.root):
            raise NotDeliverable
        if _is_array(x):
            if not x.ndim and x.zero_dim is None:
                raise NotDeliverable
            if id(x) in self.arguments:
                return Argument(self.arguments[id(x)])
            if id(x) in self.root.trace.lifted_arrays:
                return Held(self.root.trace.lifted_arrays[id(x)])
            self._see_that_it_is_its_own(x, lifted)
        return self._output(x)

    def _output(self, x: Tracer) -> Output:
        """An output of the program that is x."""
        place = next((k for k, y in enumerate(self.outputs) if y is x), len(self.outputs))
        if place == len(self.outputs):
            self.outputs.append(x)
        t = x.type
        if _is_array(x):
            return Output(place, None if t.shape else np.array)
        return Output(place, NUMBERS[t.dtype.kind] if t.weak else t.dtype.type)

    def _see_that_it_is_its_own(self, x: Tracer, lifted: object) -> None:
        """An array is made anew at each call; so nothing else may be it, or a part of it, but what stood in its place.
        """
        for base in bases_of(x, self.root):
            if base is lifted and lifted is not None:
                continue
            if id(base) in self.arguments or id(base) in self.arrays or id(base) in self.root.trace.lifted_arrays:
                raise NotDeliverable
            if self.roots.setdefault(id(base), id(x)) != id(x):
                raise NotDeliverable
        results = [y for y in self.outputs[:self.results] if _is_array(y) and y is not x]
        if not {id(b) for y in results for b in bases_of(y, self.root)}.isdisjoint(map(id, bases_of(x, self.root))):
            raise NotDeliverable


def _found_outside(root: Builder, mark: Mark) -> dict:
    """The things, by their ids, that stood outside when the trace began: where captured code has read or written."""
    stood = [x for e in mark.entries.values() if e.kind is CONTAINER for x in values_of(e.before)]
    read = [guard.value for guard in root.trace.sources]
    found = reached([*stood, *read], lambda x: x if isinstance(x, tuple) else ())
    return {id(x): x for x in found if not isinstance(x, Value)}


def _parts_of(x: object, location: Location) -> list:
    """The parts of a tuple, and of the tuples in it, each with its location."""
    if not isinstance(x, tuple):
        return [(x, location)]
    return [found for k, part in enumerate(x) for found in _parts_of(part, Location("item", location, k))]


def _is_same(now: object, before: object) -> bool:
    """Whether a value is what it was; a branch makes a tuple anew of its parts."""
    if is_same(now, before):
        return True
    if not (isinstance(now, tuple) and isinstance(before, tuple) and type(now) is type(before)):
        return False
    return len(now) == len(before) and all(map(_is_same, now, before))


def is_record_array(x: object) -> bool:
    """Whether x is a record array from outside: those of the program are Records."""
    return isinstance(x, np.ndarray) and x.dtype.names is not None


def _may_be_joined(value: object) -> bool:
    """Whether a branch may have given this value, or a part of it, and another branch what stood there before."""
    if isinstance(value, Tree) and issubclass(value.structure.cls, (list, dict)):
        return False                                          # a list or dict that may be another one is a twin of it
    return isinstance(value, (Output, Maybe, Kept, Tree))


def has_traced_keys(cell: object) -> bool:
    """Whether a dict has a key that the trace knows and has not said yet: leaks.py sees to such a dict."""
    return isinstance(cell, dict) and any(isinstance(key, (Value, tuple, TracedText)) for key in cell)


def is_of_two_dtypes(x: Tracer, root: Builder) -> bool:
    """Whether a number is an int on one way and a float on another: outside it would be the wrong one of the two."""
    return any(kind.dtype != x.dtype for kind in root.trace.mixed.get(x.held, (None, ()))[1])


def _nodes(x: object, was_there: Callable) -> Iterator:
    """The new things that a value is made of, itself among them, and that may have more names than one: lists, dicts,
    objects of dataclasses.
    """
    def parts(y: object) -> tuple:
        return () if was_there(y) else tree.children(y) or ()
    return (y for y in reached([x], parts) if tree.children(y) and not isinstance(y, tuple) and not was_there(y))
