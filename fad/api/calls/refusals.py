"""Traces that were refused, by the functions' code: who makes the function, or its derivative, anew at each call shall
not wait for a refusal each time.

    for a in data:
        fad.grad(lambda q: f(q, a))(x)      # f runs on the tape

A refusal may depend on the values that the function closes over, and on the kinds of its arguments. So such a function
is traced again, but ever more rarely: its first three calls that would need a trace have one, then the fourth, the
eighth, the sixteenth. All others go straight to the tape, whose answers are the same.
"""
import threading
from typing import NamedTuple, Protocol

from ...trace.guards.closures import parts_of
from ...util.cached import drop_oldest
from ...util.defects import is_defect
from ...util.forks import renewed
from ...util.interrupts import reraise_interrupt
from .fallback import place_and_reason

MOST = 256                                                    # patterns of functions that are known
EACH = 3                                                      # traces in a row that are refused before one is left out


class Transform(Protocol):
    """A transform of a function: how it is made (rebuild[1][0] is the function), and what tells it from others."""

    rebuild: tuple
    options: tuple


class Known(NamedTuple):
    """The last refusal for functions of one pattern, and how many calls without a program there were since the last one
    that was traced."""

    told: tuple                                               # the place and the reason
    calls: int


_known: dict[tuple, Known] = {}
_lock = renewed(threading.RLock())


def refused_before(staged: Transform) -> "tuple | None":
    """The place and the reason of an earlier refusal, if it spares this call a trace; else None."""
    key = _key_of(staged) if _known else None
    with _lock:
        known = _known.get(key) if key is not None else None
        if known is None or known.calls < EACH:
            return None
        _known[key] = known = known._replace(calls=known.calls + 1)           # type: ignore[index]
        return known.told if known.calls & (known.calls - 1) else None


def note_refusal(staged: Transform, error: Exception) -> None:
    """The tape has answered in place of a trace that was refused."""
    key = None if is_defect(error) else _key_of(staged)
    if key is not None:
        with _lock:
            calls = _known[key].calls if key in _known else 0
            _known[key] = Known(place_and_reason(error), calls + (calls < EACH))
            drop_oldest(_known, MOST)


def forget_refusals(staged: Transform) -> None:
    """A function of this pattern was traced."""
    if _known:
        _known.pop(_key_of(staged) or (), None)


def _key_of(staged: Transform) -> "tuple | None":
    try:
        parts = parts_of(staged.rebuild[1][0])
        key = None if parts is None else (*staged.options, *parts.key)
        hash(key)
    except TypeError as error:                                # an option that cannot be hashed
        reraise_interrupt(error)
        return None
    return key
