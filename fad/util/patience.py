"""How long the interpreter goes on with loops before fad compiles them instead. Each thread has a deadline of its own.
"""
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .ambient import ambient


class OutOfPatience(Exception):
    """The interpreter's time is over. Nothing was written to: the same program can be run again, compiled."""


class _Deadline(threading.local):
    at: "float | None" = None


_deadline = _Deadline()
ambient(_deadline)


@contextmanager
def patience(seconds: "float | None") -> Iterator[None]:
    """Loops that run within this block raise OutOfPatience after so many seconds; None: they run to their end.

    >>> with patience(None):
    ...     check_patience()
    >>> with patience(-1.0):
    ...     check_patience()
    Traceback (most recent call last):
    ...
    fad.util.patience.OutOfPatience
    """
    before, _deadline.at = _deadline.at, None if seconds is None else time.perf_counter() + seconds
    try:
        yield
    finally:
        _deadline.at = before


def check_patience() -> None:
    """For every iteration of a loop: raise OutOfPatience if the time is over."""
    if _deadline.at is not None and time.perf_counter() > _deadline.at:
        raise OutOfPatience
