"""Containers, arrays and records from outside, as captured code sees them.

    [2.0, array]                   a copy, the array traced; each element is a source
    [2.0, "a"]                     itself; all that is in it is a source
    [2.0, <input of the program>]  itself; each element that was there before is a source
    a record array                 Records, each field of which is an array from outside
"""
import copy
from collections import deque
from collections.abc import Collection, Set
from typing import Any

import numpy as np

from ...ir.build import Value
from ...ops.records import Record, Records
from ...util.errors import UnstageableError
from ..guards import guard as of
from ..guards.kinds import CONTAINERS
from ..guards.reads import guard_all
from ..guards.snapshot import Snapshot
from ..heap.journal import journal, standing_in
from ..objects.containers import contents, put_contents, values_of
from ..objects.opaque_state import is_record
from ..values.tracer import Tracer
from .attributes import Attributes
from .library import has_traced


def is_array(x: object) -> bool:
    """Whether x is an array of numbers."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "biufc"


def is_record_array(x: object) -> bool:
    """Whether x is a record array, and of no class derived from NumPy's."""
    return type(x) is np.ndarray and x.dtype.names is not None


def _is_sequence(x: object) -> bool:
    """Whether x is a list, tuple, deque or dict, or of a class made of one. Of those made of tuples only named ones can
    be made again.
    """
    return isinstance(x, (list, dict, deque)) or type(x) is tuple or (isinstance(x, tuple) and hasattr(x, "_fields"))


class OuterContainers(Attributes):
    """The part of a trace's capture that sees to these."""

    def contained(self, value: Collection) -> object:
        """A container: a copy where arrays are in it, else itself."""
        kept = Snapshot()
        leaves = kept.add(value)
        if _is_sequence(value) and any(is_array(x) or is_record_array(x) or is_record(x) for x in leaves):
            return self._container(value)
        if self._holds_inputs(value):
            return self._partly_traced(value, leaves)
        if has_traced(values_of(value)):                      # of this trace: made in it, or a stand-in
            return value
        self.sources.append(of.ContentsGuard(kept) if _is_sequence(value) else of.of_all_in(value))
        guard_all(self.builder.root, leaves)
        if not isinstance(value, (tuple, frozenset)):
            self._note_opened(value, value)
        return value

    def _container(self, value: Any) -> Any:
        """A copy of a list, tuple, deque or dict from outside, its arrays traced; each of its elements is a source."""
        items = value.items() if isinstance(value, dict) else enumerate(value)
        self.sources += [of.of_length(value), of.of_attributes(value)]
        made = None if isinstance(value, tuple) else standing_in(copy.copy(value))
        if made is not None:
            self._copies[id(value)] = value, made             # before its elements: they may hold it
        new = {key: self._element(value, key, element) for key, element in items}
        if made is None:
            return value._make(new.values()) if hasattr(value, "_fields") else tuple(new.values())
        put_contents(made, new if isinstance(value, dict) else list(new.values()))
        self.builder.trace.stand_ins.append((value, made, contents(made)))
        return made

    def _partly_traced(self, value: object, leaves: list) -> Any:
        """A container from outside in which traced values stand: what else was in it when the trace began has guards,
        each element by itself.
        """
        before = value if isinstance(value, tuple) else journal().begun_as(value)
        items = before.items() if isinstance(before, dict) else () if isinstance(before, Set) else enumerate(before)
        rest = [(key, x) for key, x in items if not isinstance(x, Value) and id(x) not in journal().made]
        self._copies[id(value)] = value, value                # before its elements: they may hold it
        self.sources += [of.length_as(value, before), of.of_attributes(value)]
        self.sources += [of.of_element(value, key, x) for key, x in rest]
        for _, x in rest:
            if isinstance(x, CONTAINERS) and self.swap(x) is not x:
                raise UnstageableError("a number that changes at each call stands beside a container of arrays",
                                       why="the program has a copy of that")
        guard_all(self.builder.root, [x for x in leaves if not isinstance(x, Value)])
        self._note_opened(value, value)
        return value

    def _holds_inputs(self, value: object) -> bool:
        """Whether traced values stand in a container or an object from outside, at any depth: inputs (see lifting.py),
        or what the function has put there.
        """
        root, book = self.builder.root, journal()
        if id(value) in book.made or not book.is_outer(value):
            return False
        if id(value) in root.trace.lifted_owners or book.is_noted(value):
            return True
        return bool(root.trace.lifted_owners) and any(isinstance(x, Value) for x in Snapshot().add(value))

    def _element(self, container: object, key: object, element: object) -> Any:
        if isinstance(element, Value):                        # an input of the program stands there (see lifting.py)
            return element
        self.sources.append(of.of_element(container, key, element))
        return self.seen(element)

    def bytes_of(self, value: object) -> object:
        """A buffer, or an array of texts, objects or records."""
        self.sources.append(of.of_all_in(value))
        return self.read_as_is(value)

    def read_as_is(self, value: object) -> object:
        """An array or a buffer from outside that captured code reads as it stands."""
        self.builder.trace.read_as_is[id(value)] = value
        return value

    def records(self, array: np.ndarray) -> Records:
        """The stand-in for a record array. The array itself does what the stand-in cannot, as long as nothing was
        written to it, under a guard for all that it holds.
        """
        fields = {name: self.swap(array[name]) for name in array.dtype.names or ()}

        def use_outer() -> "np.ndarray | None":
            if any(_is_written(x, array[name]) for name, x in fields.items()):
                return None
            self.bytes_of(array)
            return array
        return Records(array.dtype, array.ndim, fields, array, use_outer)

    def record(self, x: np.void) -> Record:
        """The stand-in for a record: the only one of an array without axes, which has its memory."""
        return Record(self.records(np.asarray(x)), ())


def _is_written(x: object, outer: np.ndarray) -> bool:
    """Whether captured code has written to what it sees of a field."""
    if isinstance(x, Records):
        return any(_is_written(part, outer[name]) for name, part in x.fields.items())
    return bool(x.version) if isinstance(x, Tracer) else not np.array_equal(np.asarray(x), outer)
