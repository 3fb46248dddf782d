"""The journal: what a trace writes to, each thing with what it held before (docs/design/heap.md).

Captured code writes through the runtime, which notes the cell first: a list, dict, set or deque, an object, class or
module, a variable of a function. `begin` sets a mark. `end` closes it; `undo` puts back what was written since. The
cost is what was written, whatever the size of the heap. An object made since the mark is reachable from nowhere else,
and its changes are not noted.
"""
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CellType, FunctionType, GeneratorType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from ...ir import stack
from ...ir.build import Value, current
from ...util.forks import undone_by
from ...util.own import own_dict
from ...util.profiled import unprofiled
from ...util.where import package_name
from ..objects.containers import CHANGING, contents, is_users, keeps_record, put_contents, same_contents, values_of
from ..objects.draws import goes_on, put_state, same_state, state_of
from ..objects.opaque_state import LARGEST, held_in, is_held_in, put_in
from ..values.tracer import Tracer, serials
from ..values.tracer import was_there as array_was_there


class CellKind(NamedTuple):
    """A kind of cells: how their contents are copied, restored and compared."""

    read: Callable
    put: Callable
    is_same: Callable                                         # (cell, what it held)


CONTAINER = CellKind(contents, put_contents, lambda cell, before: same_contents(contents(cell), before))
PYTHON = CellKind(held_in, put_in, is_held_in)                    # it holds no traced values
GENERATOR = CellKind(state_of, put_state, lambda cell, before: same_state(state_of(cell), before))
_CONTAINERS = (*CHANGING, CellType, ModuleType, type)
_NOTHING = (Value, str, bytes, int, float, complex, tuple, type(None))


def kind_of(x: object) -> "CellKind | None":
    """The kind of a cell; None of what holds nothing that changes."""
    if isinstance(x, _CONTAINERS) or keeps_record(x):
        return CONTAINER
    is_left_out = isinstance(x, np.ndarray) and (x.nbytes > LARGEST or not x.flags.writeable)
    if is_left_out or isinstance(x, _NOTHING) or package_name(type(x)) == "fad":
        return None
    if isinstance(x, (np.ndarray, bytearray, array, ContextVar)):
        return PYTHON
    if goes_on(x):
        return GENERATOR
    return CONTAINER if own_dict(x) is not None or hasattr(type(x), "__slots__") else None


class JournalEntry(NamedTuple):
    """A cell that was written to, or may have been, and what it held before."""

    cell: Any
    kind: CellKind
    before: Any

    @property
    def is_changed(self) -> bool:
        return not self.kind.is_same(self.cell, self.before)


class Mark:
    """The entries since a place in the journal, in order, and the time of that place."""

    def __init__(self, journal: "Journal | None" = None) -> None:
        self.serial, self.entries = next(serials), {}            # type: int, dict[int, JournalEntry]
        self.journal = journal
        self.instead: Callable | None = None                  # what puts all back, more than the entries perhaps
        self.has_taken = False                                # from an iterator that was there before

    @property
    def is_open(self) -> bool:
        """Whether nothing has ended it, nor a mark around it."""
        return self.journal is not None and any(m is self for m in self.journal.marks)

    def changed(self, kind: CellKind) -> list:
        """The cells of a kind that hold something else now."""
        return [e.cell for e in self.entries.values() if e.kind is kind and e.is_changed]

    @property
    def has_drawn(self) -> bool:
        """Whether random numbers were drawn from a generator that was there before, by this thread or another."""
        return bool(self.changed(GENERATOR))

    @unprofiled
    def undo(self) -> None:
        """Put back all that has changed since. Marks within that an interrupt has left open are undone first: the
        generator that would end them may be closed much later, and finds nothing to do then."""
        while self.is_open and self.journal.marks[-1] is not self:                # type: ignore[union-attr]
            inner = self.journal.marks[-1]                                        # type: ignore[union-attr]
            inner.put_back()
            if inner.is_open:
                self.journal.marks.pop()                                          # type: ignore[union-attr]
        self._put_back()

    def put_back(self) -> None:
        """Undo what an interrupt has left open."""
        (self.instead or self._put_back)()

    def _put_back(self) -> None:
        for e in reversed(self.entries.values()):
            e.kind.put(e.cell, e.before)


class Journal:
    """The writes of one trace, by the marks that are open."""

    def __init__(self, generators: dict) -> None:
        self.generators = generators                          # those that the function has made, by their ids
        self.marks: list[Mark] = []
        self.made: dict[int, tuple] = {}                      # id of a thing that the trace made -> it, its birth
        self.suspended: weakref.WeakSet = weakref.WeakSet()   # the generators among them
        self.without_traced: dict[int, object] = {}           # what leads to no traced value, until the next write
        self.told: set[int] = set()                           # ids of noted cells that captured code writes to

    def begin(self) -> Mark:
        self.marks.append(Mark(self))
        return self.marks[-1]

    def end(self, mark: Mark) -> None:
        """Close a mark: what was noted since it is noted since the one before."""
        if not mark.is_open:
            return
        while self.marks.pop() is not mark:                   # those within that an error has left open
            pass
        mark.journal = mark.instead = None                    # nothing is kept alive by a cycle
        if self.marks:
            around = self.marks[-1]
            for key, e in mark.entries.items():
                if self.was_there(e.cell, around.serial):
                    around.entries.setdefault(key, e)

    def note(self, cell: object) -> None:
        """A cell is about to be written to, or may be."""
        if not self.marks:
            return
        mark = self.marks[-1]
        if id(cell) not in mark.entries and self.was_there(cell, mark.serial):
            kind = kind_of(cell)
            if kind is not None and id(cell) not in self.generators:
                is_first = not self.is_noted(cell)
                mark.entries[id(cell)] = entry = JournalEntry(cell, kind, kind.read(cell))
                is_lifted = id(cell) in current().trace.lifted_owners
                if kind is CONTAINER and is_first and not is_lifted:
                    if any(isinstance(x, Value) for x in values_of(entry.before)):
                        self.made.setdefault(id(cell), (cell, 0))     # of this trace: a rule of fad's made it

    def take(self, iterator: object) -> None:
        """Items may be taken from an iterator, which nobody can put back."""
        for mark in reversed(self.marks):
            if not self.was_there(iterator, mark.serial):
                break
            mark.has_taken = True

    def not_held(self, x: object) -> weakref.ref:
        """A reference to a thing that the trace has made, and does not keep alive."""
        key = id(x)
        return weakref.ref(x, lambda _: self.made.pop(key, None))

    def was_there(self, x: object, since: int) -> bool:
        """Whether a thing was there before this birth. All objects that the trace has not made were there."""
        if isinstance(x, Tracer):
            return array_was_there(x, since)
        birth = x.birth if isinstance(x, list) and keeps_record(x) else None           # type: ignore[attr-defined]
        if birth is None:
            birth = self.made[id(x)][1] if id(x) in self.made else 0
        return birth < since

    def is_outer(self, x: object) -> bool:
        """Whether a thing was there before the trace."""
        return bool(self.marks) and self.was_there(x, self.marks[0].serial)

    def is_untouched(self, x: object) -> bool:
        """Whether a container was there before the trace, and is as it was: nothing that the trace has made is in it.
        """
        is_known = id(x) in self.made or self.is_noted(x)
        return not is_known and (isinstance(x, CHANGING) or is_users(x)) and self.is_outer(x)

    def is_noted(self, x: object) -> bool:
        """Whether a cell may have been written to since the trace began."""
        return any(id(x) in mark.entries for mark in self.marks)

    def begun_as(self, x: object) -> Any:
        """The contents of a container when the trace began."""
        entry = next((mark.entries[id(x)] for mark in self.marks if id(x) in mark.entries), None)
        return contents(x) if entry is None else entry.before


def journal() -> Journal:
    """That of the program that is being built; one that notes nothing where captured code is called by a program as it
    runs.
    """
    if not stack.builders():
        return Journal({})
    root = current().root
    if root.trace.journal is None:
        root.trace.journal = Journal(root.trace.generators)
    return root.trace.journal


@contextmanager
def noting() -> Iterator[Mark]:
    """Note what is written to, on a tape."""
    book = journal()
    mark = book.begin()
    try:
        with undone_by(mark.undo):
            yield mark
    finally:
        book.end(mark)


def note(*cells: object, is_told: bool = True) -> None:
    """These cells are about to be written to, by captured code; or they may be, by code that is not seen."""
    if stack.builders():
        found = current().trace.journal
        if found is not None and found.marks:
            found.without_traced.clear()
            for x in cells:
                cell = _of_function(x) if type(x) is FunctionType else _memory_of(x)
                if is_told:
                    found.told.add(id(cell))
                found.note(cell)


def _memory_of(cell: object) -> object:
    """The array or the buffer to which a record, a flat iterator or a memory view writes; all else itself."""
    while (memory := cell.obj if isinstance(cell, memoryview) else
           cell.base if isinstance(cell, (np.void, np.flatiter)) else None) is not None:
        cell = memory
    return cell


def _of_function(f: FunctionType) -> dict:
    """The attributes of a function, which is the trace's own: captured code sees no others."""
    own = journal().made
    own.setdefault(id(f.__dict__), (f.__dict__, 0))
    return f.__dict__


def made(x: object) -> Any:
    """x, which captured code has just made: nobody else has it. Generators go when captured code has lost them, and so
    does all that can on a tape.
    """
    if stack.builders():
        found, is_live = current().trace.journal, stack.is_live()
        if found is not None and found.marks:
            found.without_traced.clear()
            if type(x) is GeneratorType:
                found.suspended.add(x)
            if type(x) is GeneratorType or (is_live and type(x).__weakrefoffset__):
                found.made[id(x)] = found.not_held(x), next(serials)
            elif not (is_live and hasattr(type(x), "__next__")):
                found.made[id(x)] = x, next(serials)
    return x


def standing_in(x: object) -> Any:
    """x, which captured code sees in place of something from outside: it was always there, and is the trace's own."""
    journal().made[id(x)] = x, 0
    return x


def attributes_of(owner: object) -> Any:
    """The cell that has the attributes of an object: of a list's subclass the dict, since the list is a cell of
    elements.
    """
    return owner.__dict__ if isinstance(owner, CHANGING) and own_dict(owner) is not None else owner


def all_made(things: Iterable) -> None:
    for x in things:
        made(x)


def was_there(x: object, since: int) -> bool:
    """Whether an array, a container, an object or an iterator was there before this birth."""
    return journal().was_there(x, since)
