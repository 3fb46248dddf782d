"""Guards that do not keep alive what a program found by weak references.

    owner ◄┄┄ registry (WeakKeyDictionary) ──► data {weakref(owner): 2.0}
      ▲                                          ▲
      ┆ reference                                │ kept
      └┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄ guards of a program ──────┘

A guard of its own tests whether the references still lead somewhere. So an object that is gone needs no guard any more:
the program does not hold. An object that leads back to itself (by a node's children, each of which knows the node)
stays alive with the program: guards ask for what is in its dict, which holds it, and there are no weak references to
dicts.
"""

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ...ir.delivery import Location, without
from ...ir.prelude import steps_in
from .guard import AttributeGuard, ContentsGuard, Guard, PresenceGuard, ReferenceGuard
from .inputs import KindGuard, PlaceGuard, TreesGuard
from .kinds import MISSING
from .snapshot import Snapshot, SnapshotNode

_WEAK = (weakref.WeakValueDictionary, weakref.WeakKeyDictionary, weakref.WeakSet)


def weakened(guards: Iterable[Guard]) -> list:
    """Guards that do not keep alive what the program found by a weak reference. Where it is gone, their tests fail, or
    raise ReferenceError: the program does not hold any more.

    >>> class Box:
    ...     gain = 2.0
    >>> box = Box()
    >>> guards = weakened([ReferenceGuard(weakref.ref(box)), AttributeGuard(box, "gain", box.gain)])
    >>> del box
    >>> [guard.unchanged for guard in guards[:1]]
    [False]
    """
    guards = list(guards)
    found = found_weakly(guards)
    return [_weak_form(guard, found) for guard in guards] if found else guards


def found_weakly(guards: Iterable) -> dict:
    """The things, by id, that a program found by weak references: those that its guards ask for."""
    return {id(x): x for guard in guards for x in _found_by(guard)}


def without_hold(guards: Iterable, stores: Iterable, prelude: Iterable) -> tuple:
    """The stores of a program, which find anew at each call what these guards say was found by weak references; and so
    do the steps of its prelude."""
    found = found_weakly(guards)
    for step in steps_in(list(prelude)):
        place = getattr(step.function, "__self__", None)
        if type(place) is Location:
            step.function = place.without(found).read
    return tuple([without(store, found) for store in stores])


def _found_by(guard: Guard) -> Iterable:
    """The thing that a weak reference leads to, or a container of such."""
    if isinstance(guard, ReferenceGuard):
        return [x for x in (weakref.ref.__call__(guard.reference),) if x is not None]
    return [x for held in (guard.owner, guard.value) if issubclass(type(held), _WEAK)    # no proxy's object is asked
            for x in (held.values() if isinstance(held, weakref.WeakValueDictionary) else held)]


def _weak_form(guard: Guard, found: dict) -> Guard:
    """The guard without hold of these objects (by id)."""
    if isinstance(guard, (AttributeGuard, PresenceGuard)) and guard.owner is found.get(id(guard.owner), MISSING):
        guard.owner = weakref.proxy(guard.owner)
    elif isinstance(guard, ContentsGuard) and not found.keys().isdisjoint(guard.value.nodes):
        return WeakContentsGuard(guard.value, found)
    elif isinstance(guard, (KindGuard, PlaceGuard)):
        guard.owner = guard.owner.without(found)
    elif isinstance(guard, TreesGuard):
        guard.owner = tuple([place.without(found) for place in guard.owner])
    return guard


class _Mark:
    """The stand-in for an object in a node that does not keep it."""

    __slots__ = ("reference",)

    def __init__(self, x: object):
        self.reference = weakref.ref(x)


class WeakContentsGuard(Guard):
    """All that a snapshot has kept, without hold of some of the objects in it."""

    __slots__ = ("empty", "roots", "nodes")

    def __init__(self, snapshot: Snapshot, found: dict):
        super().__init__(self, self)
        self.empty = snapshot.with_nodes([], ())
        self._keep(snapshot, {key: _Mark(x) for key, x in found.items()})

    def _keep(self, snapshot: Snapshot, marks: dict) -> None:
        self.roots = _with(snapshot.roots, marks)
        self.nodes = [_node(node, lambda parts: _with(parts, marks)) for node in snapshot.nodes.values()]

    @property
    def unchanged(self) -> bool:
        try:
            snapshot = self.empty.with_nodes(_without(self.roots), [_node(node, _without) for node in self.nodes])
        except ReferenceError:
            return False
        nodes = snapshot.nodes
        if not snapshot.is_unchanged():
            return False
        if snapshot.nodes is not nodes:                       # equal things have taken the places of some
            marked = [part.reference() for node in self.nodes for part in _parts(node) if isinstance(part, _Mark)]
            self._keep(snapshot, {id(x): _Mark(x) for x in marked})
        return True

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}.unchanged"


def _parts(node: SnapshotNode) -> Iterable:
    return node.owner, *[part for view in node.elements for part in view], *node.values


def _node(node: SnapshotNode, change: Callable) -> SnapshotNode:
    """The node with the objects in it changed, which are given in a tuple."""
    return node._replace(owner=change((node.owner,))[0], elements=tuple(map(change, node.elements)),
                         values=change(node.values))


def _with(parts: Any, marks: dict) -> Any:
    return type(parts)([marks.get(id(x), x) for x in parts])


def _without(parts: Any) -> Any:
    """Objects in place of their marks; ReferenceError if one is gone."""
    return type(parts)([_found(x) if type(x) is _Mark else x for x in parts])


def _found(mark: _Mark) -> Any:
    x = mark.reference()
    if x is None:
        raise ReferenceError
    return x
