"""Generators that a function leaves suspended.

    def lines():                       def f(x):
        try:                               g = lines()
            yield 1.0                      return x * next(g)      # Python closes g here: nobody has it any more
        finally:
            LOG.append("closed")

The journal keeps all that a trace has made, so that Python would close g when the trace is gone: what it writes then is
neither noted nor undone. So it is closed where the function ends, or fails.
"""
import sys
from types import GeneratorType

from ...ir.build import current
from ...util.interrupts import reraise_interrupt
from .journal import journal

_BY_A_CALL = 2                                                # references: of a variable, and of the call


def close_generators(since: int = 0, are_held: bool = True) -> None:
    """Close the generators that the trace has made since this birth, and that wait. are_held: also those that another
    than the trace has, since the function has failed.
    """
    made, shown = journal().made, current().trace.shown
    for x, birth in list(made.values()):
        if type(x) is not GeneratorType or birth < since:
            continue
        if are_held or sys.getrefcount(x) == _BY_A_CALL + (id(x) in made) + (id(x) in shown):
            try:
                x.close()
            except Exception as ignored:                      # Python ignores it, too
                reraise_interrupt(ignored)
