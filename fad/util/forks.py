"""Forks: a child has one thread, and what other threads held, or were in the midst of, is never finished in it.

    with unforkable(): ...      a fork of another thread waits for the end of the block
    lock = renewed(RLock())     a lock that is free in a child, unless the forking thread has it

A fork waits until no other thread traces, compiles or imports, and holds Numba's and LLVM's locks while it happens. It
does not wait for ever: after PATIENCE seconds it goes on, and the child gets new locks.
"""

import contextlib
import logging  # noqa: F401  registers its own lock first, since whoever waits below may log
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

from .ambient import ambient_state

PATIENCE = 60.0                                              # seconds that a fork waits for others
COURTESY = 1.0                                               # seconds for which others let a fork go first

# taken by `with` itself: an interrupt within a method of Condition would leave it locked
_lock: Any = threading.RLock()
_gate = threading.Condition(_lock)
_inside: dict[int, int] = {}                                 # thread -> how many such blocks it is in
_waiting: list[int] = []                                     # threads that are about to fork
_taken: list = []                                            # locks of libraries that the forking thread has
_locks: WeakSet = WeakSet()
_in_child: list[Callable] = []


def renewed(lock: object) -> Any:
    """The lock (an RLock), which a child of a fork finds free, if the forking thread has not got it.

    >>> lock = renewed(threading.RLock())
    >>> with lock:
    ...     pass
    """
    if not hasattr(lock, "_is_owned"):                       # nobody can tell which thread has a plain Lock
        raise TypeError(f"{lock!r} is no RLock")
    _locks.add(lock)
    return lock


def in_child(function: Callable) -> Callable:
    """Have a function called in each child of a fork, before anything else of fad runs there."""
    _in_child.append(function)
    return function


@contextlib.contextmanager
def unforkable() -> Iterator[None]:
    """Within, no other thread forks: it waits."""
    me = threading.get_ident()
    with _lock:
        if me not in _inside and _waiting:
            _gate.wait_for(lambda: not _waiting, COURTESY)
        before = _inside.get(me, 0)
        _inside[me] = before + 1
    try:
        yield
    finally:
        _put(before)


def _blocks() -> int:
    """The number of such blocks that this thread is in."""
    return _inside.get(threading.get_ident(), 0)


def _put(blocks: int) -> None:
    """Let this thread be in so many; those who wait are told when there are none."""
    with _lock:
        if blocks:
            _inside[threading.get_ident()] = blocks
        elif _inside.pop(threading.get_ident(), 0) and _waiting:
            _gate.notify_all()


ambient_state(_blocks, _put)


def _before() -> None:
    _gate.acquire()
    me, until = threading.get_ident(), time.monotonic() + PATIENCE
    _waiting.append(me)
    while not (_inside.keys() <= {me} and _take()) and time.monotonic() < until:
        _gate.wait(0.02)


def library_locks() -> list:
    """The locks of Numba's compiler and of LLVM, as far as these are loaded."""
    numba, llvmlite = sys.modules.get("numba.core.compiler_lock"), sys.modules.get("llvmlite.binding.ffi")
    found = [getattr(getattr(numba, "global_compiler_lock", None), "_lock", None),
             getattr(getattr(getattr(llvmlite, "lib", None), "_lock", None), "_lock", None)]
    return [lock for lock in found if hasattr(lock, "_at_fork_reinit")]


def _take() -> bool:
    """Whether all locks of libraries are this thread's now."""
    for lock in library_locks():
        if lock.acquire(blocking=False):
            _taken.append(lock)
        else:
            _give_back()
            return False
    return True


def _give_back() -> None:
    while _taken:
        _taken.pop().release()


def _after_in_parent() -> None:
    _give_back()
    _waiting.remove(threading.get_ident())
    _gate.notify_all()
    _gate.release()


def _after_in_child() -> None:
    global _gate, _lock
    me, libraries = threading.get_ident(), [] if _taken else library_locks()
    _give_back()
    for lock in [*_locks, *libraries]:
        if not lock._is_owned():
            lock._at_fork_reinit()
    _lock = threading.RLock()
    _gate = threading.Condition(_lock)
    _waiting.clear()
    for thread in [thread for thread in _inside if thread != me]:
        del _inside[thread]
    for function in _in_child:
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
