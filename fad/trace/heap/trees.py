"""Containers and objects at places where other ones of the same structure are put: `PARAMS = {"a": 1.0, "b": [2.0]}`
assigned anew between two calls.

The function is traced over private copies, with inputs in the place of the numbers that change. Each input is read at
each call by its path (`PARAMS`, then `"a"`). One guard compares the structure, with all else that is in it.

    PARAMS ─► {"a": 1.0, "b": [2.0]}      copy {"a": input, "b": [2.0]}      guard: dict of "a": float, "b": list of 2.0

Nobody else has a copy. So the function may not write to one, nor return one, nor know the thing by another way. Where
it keeps one (`self.last = PARAMS`), the thing itself is delivered.
"""
from collections.abc import Callable, Iterable, Sequence
from types import BuiltinMethodType, MethodType
from typing import NamedTuple

import numpy as np

from ...ir.build import Builder, Value
from ...ir.delivery import Location
from ...util.errors import UnstageableError
from ...util.reach import reached, referents
from ..guards.closures import NUMBERS_OUTSIDE, Filling, FunctionPattern, parts_at
from ..guards.guard import CodeGuard, ContentsGuard
from ..guards.inputs import TreesGuard
from ..guards.snapshot import Snapshot
from .journal import standing_in

MOST = 10_000                                                 # things that are looked at
BOUND = MethodType, BuiltinMethodType


class Trees(NamedTuple):
    """The copies of a trace, and the guard on their structure. stand: id of a copy -> the place of the thing itself."""

    guard: TreesGuard
    filling: Filling
    stand: dict

    @property
    def copies(self) -> list:
        return [x for x in self.filling.made.values() if not isinstance(x, (Value, np.generic, np.ndarray))]

    @property
    def ids(self) -> set:
        """Of the copies."""
        return set(map(id, self.copies))


def copied(root: Builder, places: Sequence, values: Sequence, wanted: set, make_input: Callable,
           see: Callable) -> list:
    """Copies of the things that stand at these places, with inputs for the wanted numbers and arrays (by the keys of
    their places); nothing where there is too much in them.
    """
    parts = parts_at(places, values)
    if parts is None or not places:
        return []
    slots = list(zip(parts.places, parts.slots))
    inputs = {k: make_input(root, at, x) for k, (at, x) in enumerate(slots) if at.key in wanted}
    root.trace.lifted_from.update({slots[k][0].key: x for k, x in inputs.items()})
    constants = {k: x for k, (_, x) in enumerate(slots) if k not in inputs}
    pattern = FunctionPattern(tuple(values), NUMBERS_OUTSIDE)
    filling = pattern.fill([inputs[k] if k in inputs else see(x) for k, (_, x) in enumerate(slots)], see)
    for x in filling.made.values():
        if not isinstance(x, Value):
            standing_in(x)
    root.trace.lifted.update(filling.names)
    stand = {id(filling.made[k + 1]): at for k, at in parts.stand.items()}            # the pattern's first is the tuple
    root.trace.trees = Trees(TreesGuard(tuple(places), parts, constants, pattern), filling, stand)
    return list(zip(places, values, filling.function))


def refuse_changed_trees(root: Builder, result: object) -> None:
    """An error if the function has changed a copy, or returns one."""
    trees = root.trace.trees
    if trees is not None:
        if not trees.filling.is_untouched:
            raise UnstageableError("the function changes a container or an object, in whose place another one may "
                                   "stand at each call")
        ids = trees.ids
        for count, x in enumerate(reached([result], _inside)):
            if id(x) in ids or count > MOST:
                raise UnstageableError("the function returns a container or an object, in whose place another one may "
                                       "stand at each call")


def guards_without_copies(root: Builder, captured: Iterable) -> list:
    """The guards of a trace that are not about the copies alone, and the one on their structure."""
    trees, guards = root.trace.trees, root.trace.sources
    if trees is None:
        return guards
    ids = trees.ids
    kept = [g for g in guards if ids.isdisjoint((id(g.owner), id(g.value))) and not isinstance(g.value, Value)
            and not (isinstance(g, ContentsGuard) and all(id(x) in ids for x in g.value.roots))]
    constants = {id(x) for x in trees.guard.constants.values()}
    known = (_known_by(kept) | set(map(id, captured))) - constants
    parts = trees.guard.parts_now()
    if parts is not None and not known.isdisjoint(parts.ids):
        raise UnstageableError("the function finds a container or an object by two ways, and another one may stand "
                               "there at each call")
    trees.guard.apart = known
    trees.filling.release()
    return [*kept, trees.guard]


def _inside(x: object) -> Iterable:
    return () if issubclass(type(x), (Value, Builder, Location)) else referents(x)


def _known_by(guards: Iterable) -> set:
    """Ids of what these guards are about. The parts of a thing have guards of their own."""
    values = [x for g in guards for x in (g.value, *(g.made_of + g.named if isinstance(g, CodeGuard) else ()))]
    return set(map(id, reached(values, _parts_of_value)))


def _parts_of_value(x: object) -> Iterable:
    if isinstance(x, Snapshot):
        return [node.owner for node in x.nodes.values()]
    return x if isinstance(x, tuple) else [x.__self__] if isinstance(x, BOUND) else ()
