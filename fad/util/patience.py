"""The interpreter stops between two steps to ask whether it should go on. Each thread has a deadline of its own."""
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from .ambient import ambient

T = TypeVar("T")
IMPORTS = 0.02          # seconds that the first iteration may take longer than others: it imports what they have


class OutOfPatience(Exception):
    """The interpreter's time is over. Nothing was written to: the same program can be run again, compiled."""


class Progress:
    """The progress of a program. Its steps have weights, and a loop in a step that is in no other loop has iterations.

    Time in steps without a weight does not count, nor does the time that other threads and programs have the processor.
    """

    def __init__(self, weights: Sequence[float]):
        self.weights, self.step = weights, -1
        self.left = float(sum(weights))                      # the weights of this step and those ahead
        self.done = self.seconds = self.began = 0.0          # of the steps behind; when this one began
        self.iterations = self.trips = 0                     # of the step's outermost loop: those that are over, all
        self.first = 0.0                                     # seconds of the first of them, without what it may import

    def begin(self) -> None:
        """The next step begins."""
        self.step, self.began, self.iterations, self.trips = self.step + 1, time.thread_time(), 0, 0

    def end(self) -> None:
        """The step is over."""
        if self.weights[self.step]:
            self.done += self.weights[self.step]
            self.seconds += time.thread_time() - self.began
        self.trips = 0

    def count(self) -> None:
        """An iteration is over."""
        self.iterations += 1
        if self.iterations == 1 and self.trips > 2:
            now = time.thread_time()
            self.first, self.began = now - self.began - IMPORTS, now

    def rest(self) -> float:
        """The seconds that the rest takes, if it is like what is behind; 0 if nothing is behind."""
        counted, running = self.iterations, time.thread_time() - self.began
        if self.trips > 2 and self.iterations < 2:           # no iteration is faster than this one has been so far
            counted, running = 1, max(self.first, running) if self.iterations else running - IMPORTS
        elif self.trips > 2:
            counted -= 1
        if not self.trips or counted == 0 or running <= 0.0:
            counted, running = 0, 0.0
        done = self.done + (self.weights[self.step] * counted / self.trips if counted else 0.0)
        return (self.seconds + running) * (self.left - done) / done if done else 0.0


class _Deadline(threading.local):
    at: "float | None" = None
    ask: "Callable | None" = None
    progress: "Progress | None" = None


_deadline = _Deadline()
ambient(_deadline)


@contextmanager
def patience(seconds: "float | None", ask: "Callable[[], float] | None" = None,
             weights: Sequence[float] = ()) -> Iterator[None]:
    """Programs that run within this block call ask() after so many seconds (None: never), and again after the seconds
    that it returns. Where that is 0, or nobody is to be asked, they raise OutOfPatience. The weights are those of the
    steps of the one program that is asked how far it is.

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
    before = _deadline.at, _deadline.ask, _deadline.progress
    _deadline.at, _deadline.ask = None if seconds is None else time.perf_counter() + seconds, ask
    _deadline.progress = Progress(weights) if weights and seconds is not None else None
    try:
        yield
    finally:
        _deadline.at, _deadline.ask, _deadline.progress = before


def check_patience() -> None:
    """For every step, and every iteration of a loop: ask whether to go on, if it is time to."""
    if _deadline.at is not None and time.perf_counter() >= _deadline.at:
        before = time.thread_time()
        seconds = 0.0 if _deadline.ask is None else _deadline.ask()
        if seconds <= 0.0:
            raise OutOfPatience
        _deadline.at = time.perf_counter() + seconds
        if _deadline.progress is not None:
            _deadline.progress.began += time.thread_time() - before


def steps(items: Iterable[T]) -> Iterator[T]:
    """The steps of a program. It is asked before each of them whether to go on."""
    progress = _deadline.progress
    for item in items:
        check_patience()
        if progress is not None:
            progress.begin()
        yield item
        if progress is not None:
            progress.end()


def iterations(trips: range) -> Iterator[int]:
    """The numbers of a loop's iterations. It is asked before each of them whether to go on.

    >>> list(iterations(range(2, 8, 3)))
    [2, 5]
    """
    progress = _deadline.progress
    if progress is not None and (progress.trips or not trips):
        progress = None                                      # the loop around tells more
    if progress is not None:
        progress.iterations, progress.trips = 0, len(trips)
    for i in trips:
        check_patience()
        yield i
        if progress is not None:
            progress.count()


def rest_of_call() -> float:
    """About how many seconds the program that runs now still takes; 0 if nobody knows."""
    return 0.0 if _deadline.progress is None else _deadline.progress.rest()
