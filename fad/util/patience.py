"""The interpreter stops between two steps to ask whether it should go on. Each thread has a deadline of its own."""
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .ambient import ambient


class OutOfPatience(Exception):
    """The interpreter's time is over. Nothing was written to: the same program can be run again, compiled."""


class _Deadline(threading.local):
    at: "float | None" = None
    ask: "Callable | None" = None


_deadline = _Deadline()
ambient(_deadline)


@contextmanager
def patience(seconds: "float | None", ask: "Callable[[], float] | None" = None) -> Iterator[None]:
    """Programs that run within this block call ask() after so many seconds (None: never), and again after the seconds
    that it returns. Where that is 0, or nobody is to be asked, they raise OutOfPatience.

    >>> with patience(None):
    ...     check_patience()
    >>> with patience(0.0, lambda: 1.0):
    ...     check_patience()
    >>> with patience(0.0):
    ...     check_patience()
    Traceback (most recent call last):
    ...
    fad.util.patience.OutOfPatience
    """
    before = _deadline.at, _deadline.ask
    _deadline.at, _deadline.ask = None if seconds is None else time.perf_counter() + seconds, ask
    try:
        yield
    finally:
        _deadline.at, _deadline.ask = before


def check_patience() -> None:
    """For every equation, and every iteration of a loop: ask whether to go on, if it is time to."""
    if _deadline.at is not None and time.perf_counter() >= _deadline.at:
        seconds = 0.0 if _deadline.ask is None else _deadline.ask()
        if seconds <= 0.0:
            raise OutOfPatience
        _deadline.at = time.perf_counter() + seconds
