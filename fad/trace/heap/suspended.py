"""Generators that captured code leaves suspended.

    def lines():                       def f(x):
        try:                               g = lines()
            yield 1.0                      v = next(g)
        finally:                           g = None              # Python closes g here: nobody has it any more
            LOG.append("closed")           return x * v

The journal keeps no generator alive, so that Python closes each where captured code loses it. A region, or a whole
trace, may end while something else still has one: a name that the region binds, an iterator of C code, a traceback.
Its `finally` would then write at another time than Python's, so the trace is refused.
"""
from collections.abc import Iterable
from types import GeneratorType

from ...ir.build import current
from ...util.errors import UnstageableError
from ...util.interrupts import reraise_interrupt
from ...util.refusals import Remembered
from ..guards.led_to import led_to, walked
from .journal import journal
from .percall import steps_here


def settle_generators(since: int = 0, results: Iterable = ()) -> None:
    """Close the generators that the trace has made since this birth, and that wait. Those stay to which these results
    lead, or anything from outside that was written to.

    UnstageableError: one has effects as it is closed.
    """
    found = _waiting(since)
    if not found:
        return
    book = journal()
    if not since:
        left = [e.cell for e in book.marks[0].entries.values() if id(e.cell) not in book.made]
        kept = {id(x) for x in walked([*results, *left], led_to) if type(x) is GeneratorType}
        found = [x for x in found if id(x) not in kept]
    mark, before = book.begin(), _recorded()
    try:
        _close(found, refused=Remembered)
        if mark.entries or _recorded() != before:
            raise UnstageableError("a generator that waits has effects as it is closed",
                                   why="Python closes it when nothing has it any more, which a program does not know",
                                   do="close it where you are done with it")
    finally:
        book.end(mark)


def close_generators(since: int = 0) -> None:
    """Close those that the trace has made since this birth, as what it has written is put back."""
    _close(_waiting(since))


def _waiting(since: int) -> list[GeneratorType]:
    book = journal()
    births = {x: book.made[id(x)][1] for x in list(book.suspended) if x.gi_frame is not None}
    return sorted([x for x, birth in births.items() if birth >= since], key=births.__getitem__)


def _recorded() -> tuple:
    return len(current().equations), len(steps_here())


def _close(generators: list, refused: type | tuple = ()) -> None:
    """Python ignores what goes wrong, too, except for such errors."""
    for x in generators:
        try:
            x.close()
        except Exception as error:
            reraise_interrupt(error)
            if isinstance(error, refused):
                raise
