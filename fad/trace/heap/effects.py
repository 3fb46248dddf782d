"""Effects of a trace: undone if the trace fails, and made again at calls that find the outside changed.

A trace runs the function once. Its side effects (a memo, a counter) are there at the next call, which runs the program;
a source of the program says whether they still are.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any

from ...ir.build import Builder, Value, current
from ...util.errors import SideEffectError
from ...util.forks import undone_by
from ...util.own import own_attribute, own_dict
from ...util.where import Where
from ..guards.guard import AbsenceGuard, AttributeGuard, Guard, ItemGuard, ReadGuard, VariableGuard, of_names
from ..guards.kinds import MISSING
from ..guards.snapshot import is_same
from ..objects.containers import NEVER_CHANGE, Globals, contents, holding, values_of
from ..objects.draws import common_generators
from .journal import CONTAINER, GENERATOR, Mark, journal, note
from .suspended import close_generators


class Effects:
    """The journal of a whole trace."""

    def __init__(self, mark: Mark):
        self.mark = mark

    def _containers(self) -> list:
        return [e for e in reversed(self.mark.entries.values()) if e.kind is CONTAINER]

    def take_back(self) -> None:
        """Put back what the program itself will write at each call (see delivery.py)."""
        own = journal().made
        for e in self._containers():
            if id(e.cell) not in own:
                e.kind.put(e.cell, e.before)
        self.mark.entries = {key: e for key, e in self.mark.entries.items() if e.kind is not CONTAINER or key in own}

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """For the time of a block all containers hold what they held before the trace."""
        entries = self._containers()
        with holding([(e.cell, e.before) for e in entries]):
            yield

    @property
    def changed(self) -> list:
        """The changed things. Equal numbers and texts count as unchanged."""
        entries = [e for e in self.mark.entries.values() if e.kind is not GENERATOR]
        return [e for e in entries
                if (not _unchanged(contents(e.cell), e.before) if e.kind is CONTAINER else e.is_changed)]

    def unseen_reads(self) -> list:
        """Guards for what code that is not rewritten has changed, as it was before: such code may have read what it
        writes to, wherever it has it from.
        """
        book = journal()
        unseen = [e for e in self._containers() if id(e.cell) not in book.told and id(e.cell) not in book.made]
        found = [(e, contents(e.cell)) for e in unseen if e.is_changed]
        return [g for e, now in found if not _unchanged(now, e.before) for g in _as_before(e.cell, e.before, now)]

    def sources(self) -> list:
        """Sources that say whether what was changed is as it was left: what writes it once must do so again where it is
        not.
        """
        return [left_as(e.cell, contents(e.cell), e.before) for e in self.changed if e.kind is CONTAINER]

    def refuse_changes(self, f: object, is_current: bool) -> None:
        """An error if anything has changed, and the program does not know it."""
        if is_current and self.changed:
            raise SideEffectError("something outside the function is changed by code that a program does not see",
                                  where=_line_of(f), why="it changes as the function is traced, and not at each call",
                                  do="change it in the function itself, or in a method that it names")

    def refuse_draws(self, f: object) -> None:
        """An error if random numbers were drawn from a generator that was there before."""
        if self.mark.has_drawn:
            raise SideEffectError("random numbers are drawn while the function is traced",
                                  where=_line_of(f), why="a program would have the same numbers at each call",
                                  do="draw them before, and pass them as arguments; or make the generator in the "
                                     "function, with a seed")


def as_stored(owner: object, name: str, value: Any) -> Any:
    """The value that an attribute is given.

    A traced value may stand for the array from outside that the attribute holds, as after `o.w *= 2`: then it is that
    array. An attribute that is given what it holds does not change, as long as it holds that; a guard says so.
    """
    trace, own = current().trace, own_dict(owner)
    before = own.get(name, MISSING) if own is not None else own_attribute(owner, name, MISSING)
    if any(value is tail and before is tail.owner for tail in trace.tails):                  # after `o.log += [x]`
        return before
    entry = trace.captured.get(id(before)) if isinstance(value, Value) else None
    if entry is not None and entry[1] is value:
        value = before
    if is_same(value, before) and not isinstance(value, Value) and id(owner) not in trace.inside:
        if journal().is_outer(owner):
            trace.rewritten[id(owner), name] = owner, name, before
    return value


def guards_of_rewritten() -> list:
    """Guards for the attributes and global names that still hold what they held: a program does not write them."""
    trace = current().trace
    attributes = [AttributeGuard(owner, name, x) for owner, name, x in trace.rewritten.values()
                  if is_same(getattr(owner, name, MISSING), x)]
    names = [(x.original, x.kept()) for x in trace.opened.values() if isinstance(x, Globals) and journal().is_noted(x)]
    return [*attributes, *[g for original, kept in names for g in of_names(original, kept & original.keys())]]


@contextmanager
def effects_of(builder: Builder) -> Iterator[Any]:
    """Those of a trace; if it fails, and is no region of another, they are taken back.

    The arrays around a function within a program hold again what they held, in any case: the program around gives them
    what it computes for them (see LeftInside).
    """
    book = journal()
    mark = book.begin()
    if builder is not builder.root:
        try:
            yield Effects(mark)
        finally:
            for tracer, var in builder.region.mutated.values():
                if tracer.builder is not builder:
                    tracer.put_back(var)
            book.end(mark)
        return
    note(*common_generators())
    try:
        with undone_by(mark.undo):
            yield Effects(mark)
        # not what stood for things from outside
        mark.entries = {key: e for key, e in mark.entries.items() if key not in book.made}
    except BaseException:
        close_generators()
        mark.undo()
        raise
    finally:
        book.end(mark)


def undo(done: list) -> None:
    """Put back what some traces have changed, the last one's changes first."""
    for effects in reversed(done):
        effects.mark.undo()


def _line_of(f: object) -> "Where | None":
    code = getattr(f, "__code__", None)
    return Where(code.co_filename, code.co_firstlineno) if code else None


def left_as(owner: object, now: Any, before: Any) -> Guard:
    """A container as it is now; of a dict or an object, what is another thing than before."""
    if not isinstance(now, dict):
        return ReadGuard(lambda: now if _unchanged(contents(owner), now) else None, now)
    names = [k for k in {**before, **now} if not (k in before and k in now and is_same(before[k], now[k]))]
    left = {k: now[k] for k in names if k in now}

    def read() -> Any:
        inside = contents(owner)
        return left if _unchanged({k: inside[k] for k in names if k in inside}, left) else None
    return ReadGuard(read, left)


def _as_before(owner: object, before: Any, now: Any) -> list:
    """Guards for the parts of a container that are others now. Where an input of the program stood, there is none."""
    if isinstance(owner, CellType):
        return [VariableGuard(owner, x) for x in before if not isinstance(x, Value)]
    if not isinstance(before, dict) or isinstance(owner, Globals) or not NEVER_CHANGE.issuperset(map(type, before)):
        return [] if any(isinstance(x, Value) for x in values_of(before)) else [left_as(owner, before, now)]
    names = [n for n, x in before.items() if not isinstance(x, Value) and not (n in now and is_same(now[n], x))]
    new = [n for n in now if n not in before]
    if isinstance(owner, dict):
        return [*[ItemGuard(owner, n, before[n]) for n in names], *[AbsenceGuard(owner, n) for n in new]]
    return [AttributeGuard(owner, n, before.get(n, MISSING)) for n in [*names, *new]]


def _unchanged(a: Any, b: Any) -> bool:
    """Whether two copies of what a container held are of the same things in the same order, or of equal numbers and
    texts.
    """
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(is_same, a.values(), b.values()))
    return a == b if isinstance(a, set) else all(map(is_same, a, b))
