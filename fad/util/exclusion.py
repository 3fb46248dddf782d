"""Mutual exclusion of threads that use state outside the functions.

While a function is traced, what it writes outside itself holds traced values, or values that are put back in the end.
A program reads its state before its kernel runs, and writes it behind the kernel. So a trace excludes the traces of
other threads, and their calls of programs with state. A call of such a program excludes others that use the same
things:

    with tracing_alone(): ...            no other thread traces or uses state
    alone_with(locks, run)               run() while no other thread traces or uses what these locks stand for
    undisturbed(read)                    read() while no other thread traces
    with compiling(): ...                a trace waits for the end of the call that this is a part of
    with on_tape(): ...                  no other thread begins to trace, or to run on the tape, for a while

Things are told by their ids, STRIPES locks stand for all of them, and a program takes its locks in one order, so that
two programs never wait for each other. A trace lets the calls end that have begun, as a writer does in a "big-reader
lock", and holds none of these locks itself. Traces and runs on the tape wait for PATIENCE at most, since calls and runs
on the tape may take long. Nobody waits for a thread that stands still: it may wait for this one (a traced function may
wait for a queue, or for a lock that the caller has).

A function that takes a lock (`with self.lock`) is traced, and its program run, while this thread has the lock. A trace
that meets a lock which another thread has cannot wait for it: that thread may wait for the trace. It is made once more.
"""
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from .ambient import ambient, ambient_state
from .forks import in_child, renewed

T = TypeVar("T")
STRIPES = 16
PATIENCE = 0.5                                                # seconds for which others wait for a still thread
LOOKS = 20                                                    # and looks at it: a busy machine may not let it run
LONGEST = 10.0                                                # seconds for which a trace waits for a compilation
SHORT, LONG = 0.0005, 0.02                                    # seconds between two looks

_locks = [renewed(threading.RLock()) for _ in range(STRIPES + 1)]
_tape = _locks[STRIPES]                                       # of runs on the tape
_mutex = renewed(threading.RLock())                           # of the next lines
tracing: "list[int]" = []                                     # the thread that traces alone, if there is one
_entering: "list[int]" = []                                   # the same thread, while it waits for others' calls to end
_begun = [0]                                                  # how many traces have begun


class _Threads(dict):
    """The number of runs of one kind that each thread is in, by the thread."""

    def mine(self) -> int:
        return self.get(threading.get_ident(), 0)

    def set_mine(self, count: int) -> None:
        if count:
            self[threading.get_ident()] = count
        else:
            self.pop(threading.get_ident(), None)

    def are_elsewhere(self) -> bool:
        """Whether another thread is in one."""
        return not self.keys() <= {threading.get_ident()}

    def forget_others(self) -> None:
        count = self.mine()
        self.clear()
        self.set_mine(count)


_taping, _compiling = _Threads(), _Threads()                  # runs on the tape, and compilations of a call's kernel


class _Own(threading.local):
    """Of this thread: the locks that it has, and those that its trace has met, and other threads had."""

    held: "tuple[Any, ...]" = ()
    missed: "tuple[Any, ...]" = ()


_own = ambient(_Own())


def locks_of(owners: Iterable) -> tuple:
    """The locks that stand for these things, in the order in which they are taken."""
    return tuple([_locks[k] for k in sorted({id(x) // 16 % STRIPES for x in owners})])


def is_traced_elsewhere() -> bool:
    """Whether another thread traces a function."""
    return bool(tracing) and threading.get_ident() not in tracing


@contextmanager
def tracing_alone(locks: tuple = ()) -> Iterator[None]:
    """Within, no other thread traces, or uses state, and this one has these locks."""
    with _holding(locks):
        is_outermost, before = threading.get_ident() not in tracing, _own.held
        while not _begin() and _wait():
            pass
        try:
            if is_outermost and not is_traced_elsewhere():
                _let_calls_end()
            _own.missed = ()
            yield
        finally:
            while len(_own.held) > len(before):
                lock, _own.held = _own.held[-1], _own.held[:-1]
                lock.release()
            _end_tracing(unless=not is_outermost)


def hold(lock: Any) -> bool:
    """Hold a lock of the user's until the present trace ends. False where another thread has it: it is missed."""
    if any(lock is x for x in _own.held):
        return True
    if not lock.acquire(False):
        _own.missed = (*_own.missed, lock)
        return False
    _own.held = (*_own.held, lock)
    return True


def missed() -> tuple:
    """The locks that the present trace should have had."""
    return _own.missed


def alone_with(locks: tuple, run: Callable[[], T]) -> T:
    """run(), while no other thread traces a function, or uses what these locks stand for."""
    while True:
        has_ended = _wait()
        with _holding(locks):
            if not (has_ended and is_traced_elsewhere()):     # no trace has begun since
                return run()


def undisturbed(read: Callable[[], T]) -> T:
    """read(), once no other thread has traced in the meantime."""
    while True:
        has_ended, before = _wait(), _begun[0]
        result = read()
        if not has_ended or _begun[0] == before:
            return result


@contextmanager
def on_tape() -> Iterator[None]:
    """Within, no other thread begins to trace, or to run on the tape, for a while."""
    runs, is_alone = _taping.mine(), _tape.acquire(timeout=PATIENCE)
    try:
        while not _begin_taping(is_patient := _wait()) and is_patient:
            pass
        yield
    finally:
        _taping.set_mine(runs)
        if is_alone:
            _tape.release()


@contextmanager
def compiling() -> Iterator[None]:
    """Within, this thread compiles a kernel for its call: a trace waits for that, since it is fad's own work."""
    compilations = _compiling.mine()
    _compiling.set_mine(compilations + 1)
    try:
        yield
    finally:
        _compiling.set_mine(compilations)


@contextmanager
def _holding(locks: tuple) -> Iterator[None]:
    """With these locks, but for those that this thread has. Python itself takes them: an interrupt within a method
    might leave one taken."""
    if not locks:
        yield
    elif any(locks[0] is x for x in _own.held):
        with _holding(locks[1:]):
            yield
    else:
        with locks[0]:
            before, _own.held = _own.held, (*_own.held, locks[0])
            try:
                with _holding(locks[1:]):
                    yield
            finally:
                _own.held = before


def _begin() -> bool:
    """Whether this thread traces alone from now on, or does already."""
    with _mutex:
        if not tracing:
            _entering.append(threading.get_ident())
            tracing.append(threading.get_ident())
            _begun[0] += 1
        return threading.get_ident() in tracing


def _begin_taping(is_patient: bool) -> bool:
    """Whether this thread may run on the tape: no other one traces, or it is not waited for."""
    with _mutex:
        if is_patient and is_traced_elsewhere():
            return False
        _taping.set_mine(_taping.mine() + 1)
        return True


def _let_calls_end() -> None:
    """Wait for the calls that have begun in other threads."""
    begun, looks = time.monotonic(), 0
    for lock in _locks:
        while not lock.acquire(timeout=PATIENCE / LOOKS if looks < LOOKS else 0.0):
            looks += 1
            if looks >= LOOKS:
                if not _compiling.are_elsewhere() or time.monotonic() > begun + LONGEST:
                    break
                looks = 0
        else:
            lock.release()
    until = time.monotonic() + PATIENCE * max(0, LOOKS - looks) / LOOKS
    while _taping.are_elsewhere() and time.monotonic() < until:
        time.sleep(SHORT)
    _entering.clear()


def _wait() -> bool:
    """Wait until no other thread traces: True. False if that thread may wait for this one: it has stood still for so
    long, or waits for this thread's call.
    """
    pause, begun, looks = SHORT, time.monotonic(), 0
    seen: tuple[FrameType | None, int] = None, 0
    while is_traced_elsewhere():
        if _entering and (threading.get_ident() in _taping or any(lock._is_owned() for lock in _locks)):
            return False
        time.sleep(pause)
        pause = min(2 * pause, LONG)
        thread = next(iter(tracing), 0)
        frame = sys._current_frames().get(thread)
        if frame is None:
            _forget(thread)
            continue
        now = frame, frame.f_lasti
        if now != seen or _entering:
            begun, seen, looks = time.monotonic(), now, 0
        elif time.monotonic() - begun > PATIENCE and looks > LOOKS:
            return False
        looks += 1
    return True


def _forget(thread: int) -> None:
    """Note that this thread does not trace, or not any more."""
    with _mutex:
        if thread in tracing:
            _entering.clear()
            tracing.clear()


def _end_tracing(unless: bool) -> None:
    if not unless:
        _forget(threading.get_ident())


def _owned() -> frozenset:
    """The places of the locks that this thread has."""
    return frozenset(k for k, lock in enumerate(_locks) if lock._is_owned())


def _release_all_but(places: frozenset) -> None:
    for k in _owned() - places:
        while _locks[k]._is_owned():
            _locks[k].release()


ambient_state(_owned, _release_all_but)
ambient_state(lambda: threading.get_ident() in tracing, _end_tracing)
ambient_state(_taping.mine, _taping.set_mine)
ambient_state(_compiling.mine, _compiling.set_mine)


@in_child
def _forget_other_threads() -> None:
    if is_traced_elsewhere():
        _forget(tracing[0])
    _taping.forget_others()
    _compiling.forget_others()
