"""The interpreter stops between two steps to ask whether it should go on. Each thread has a deadline of its own."""
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .ambient import ambient


class OutOfPatience(Exception):
    """The interpreter's time is over. Nothing was written to: the same program can be run again, compiled."""


class OutermostLoop:
    """The iterations of a loop that is in no other: how many are over, of how many, and when the first began."""

    def __init__(self, total: int):
        self.done, self.total, self.began = 0, total, time.perf_counter()

    def rest(self) -> float:
        """The seconds that the others take, if they are like those."""
        return (time.perf_counter() - self.began) * (self.total - self.done) / self.done if self.done else 0.0


class _Deadline(threading.local):
    at: "float | None" = None
    ask: "Callable | None" = None
    loop: "OutermostLoop | None" = None


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
    before = _deadline.at, _deadline.ask, _deadline.loop
    _deadline.at, _deadline.ask, _deadline.loop = None if seconds is None else time.perf_counter() + seconds, ask, None
    try:
        yield
    finally:
        _deadline.at, _deadline.ask, _deadline.loop = before


def check_patience() -> None:
    """For every equation, and every iteration of a loop: ask whether to go on, if it is time to."""
    if _deadline.at is not None and time.perf_counter() >= _deadline.at:
        before = time.perf_counter()
        seconds = 0.0 if _deadline.ask is None else _deadline.ask()
        if seconds <= 0.0:
            raise OutOfPatience
        now = time.perf_counter()
        _deadline.at = now + seconds
        if _deadline.loop is not None:
            _deadline.loop.began += now - before


def iterations(trips: range) -> Iterator[int]:
    """The numbers of a loop's iterations. It is asked before each of them whether to go on.

    >>> list(iterations(range(2, 8, 3)))
    [2, 5]
    """
    loop = None
    if _deadline.at is not None and _deadline.loop is None:
        loop = _deadline.loop = OutermostLoop(len(trips))
    for i in trips:
        check_patience()
        yield i
        if loop is not None:
            loop.done += 1
    if loop is not None:
        _deadline.loop = None


def rest_of_loop() -> float:
    """About how many seconds the outermost loop that runs now still takes; 0 outside of loops."""
    return 0.0 if _deadline.loop is None else _deadline.loop.rest()
