"""Effects of a program outside: stores that are made behind its last equation, in the order of the function's writes.

    self.calls += 1          ->   Store(Location("attribute", self, "calls"), Output(1, int))
    log.append((n, x))       ->   Append(log, a tree of Output(2, int) and Argument(0))
    recent.popleft()         ->   Refill(recent, (0, 1), (Held(…), Output(3, float)))

A location is also where a program reads what it then writes anew: such a number is an input (see trace/heap/lifting).
"""
import operator
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..util.defects import for_user
from ..util.own import kept_attribute, kept_item
from .prelude import steps_in


class Location(NamedTuple):
    """The place of a value outside: an attribute of an object, a class or a module, an item of a dict or a list, a
    variable of a function.

    kind    "attribute", "item", "variable", "global" (an item of a module's dict), or "reference": what a weak
            reference leads to
    owner   the object, the dict or list, the variable's cell, the module's dict, the reference; or the place where it
            stands, if another one may stand there at each call
    at      the attribute's name, the key or the place
    """

    kind: str
    owner: Any
    at: Any = None

    @property
    def key(self) -> tuple:
        return self.kind, self.owner.key if type(self.owner) is Location else id(self.owner), type(self.at), self.at

    @property
    def thing(self) -> object:
        """The thing that changes where another value is put here."""
        if self.kind == "reference":
            return weakref.ref.__call__(self.owner)
        return self.owner.thing if type(self.owner) is Location else self.owner

    @for_user
    def read(self) -> Any:
        """The value there. Raises what Python raises where nothing does."""
        if self.kind == "reference":
            return self.thing
        owner = self.owner.read() if type(self.owner) is Location else self.owner
        if self.kind == "attribute":
            return kept_attribute(owner, self.at)
        return owner.cell_contents if self.kind == "variable" else kept_item(owner, self.at)

    def held(self) -> "Location":
        """The same place, with hold of the things that it finds by weak references."""
        if type(self.owner) is not Location:
            return self
        is_weak = self.owner.kind == "reference"
        return self._replace(owner=self.owner.thing if is_weak else self.owner.held())

    def without(self, found: dict) -> "Location":
        """The same place without hold of these things (by id), which weak references lead to."""
        if type(self.owner) is Location:
            return self._replace(owner=self.owner.without(found))
        return self._replace(owner=Location("reference", weakref.ref(self.owner))) if id(self.owner) in found else self


class Output(NamedTuple):
    """An output of the program: `cls` makes the number of its class, or (np.array) an array without axes, and is None
    for other arrays.
    """

    place: int
    cls: Any = None


class Maybe(NamedTuple):
    """A value, or None where an output says that it is not there."""

    value: Any
    flag: Output


class Argument(NamedTuple):
    """The very array that the call was given, by its place among the data."""

    place: int


class Held(NamedTuple):
    """The value at a location before anything is stored."""

    location: Location


class Kept(NamedTuple):
    """An array that stays the one at a location, where that is equal."""

    value: Output
    location: Location


class Known(NamedTuple):
    """A constant that nobody can change, or a thing that was there before."""

    value: Any


class Tree(NamedTuple):
    """A container that the function makes at each call. A tuple that stands at several places has a number."""

    structure: Any
    leaves: tuple
    number: "int | None" = None


class Store(NamedTuple):
    """The location is given a new value."""

    location: Location
    value: Any


class Extend(NamedTuple):
    """A list gets more elements: the first parts of tuples, which a tree has in a list."""

    owner: Any
    value: Any


class Append(NamedTuple):
    """A list or deque gets one more element."""

    owner: Any
    value: Any


class Refill(NamedTuple):
    """A list, deque or dict gets these values, under these keys, in place of all that it holds."""

    owner: list | deque | dict
    keys: tuple
    values: tuple

    @property
    def value(self) -> tuple:
        return self.keys, self.values


def without(x: object, found: dict) -> object:
    """A store, or a part of one, without hold of these things (by id) as owners of places."""
    if type(x) is Location:
        return x.without(found)
    if type(x) is Known or not isinstance(x, tuple):
        return x
    parts = [without(y, found) for y in x]
    return x if all(map(operator.is_, parts, x)) else getattr(type(x), "_make", tuple)(parts)


def locations_of(stores: Iterable) -> Iterator[Location]:
    """The places that get new values. (What is added at an end has none.)"""
    for store in stores:
        if isinstance(store, Refill):
            yield from [Location("item", store.owner, key) for key in store.keys]
        elif isinstance(store, Store):
            yield store.location


def state_of(stores: Iterable, prelude: Iterable) -> list:
    """The things that a program reads or writes at each call, by its stores and its prelude."""
    steps = [getattr(step.function, "__self__", None) for step in steps_in(list(prelude))]
    locations = [step for step in steps if isinstance(step, Location)]
    places = [x.location if isinstance(x, Store) else x for x in [*stores, *locations]]
    return [x.thing if isinstance(x, Location) else x.owner for x in places]
