"""Forks: a child has one thread, and what other threads held, or were in the midst of, is never finished in it.

    with unforkable(): ...      a fork of another thread waits for the end of the block
    lock = renewed(RLock())     a lock that is free in a child, unless the forking thread has it
    with undone_by(undo): ...   undo() puts back in a child what another thread was in the midst of

A fork waits until no other thread traces, compiles or imports, and holds Numba's and LLVM's locks while it happens. It
does not wait for ever: after PATIENCE seconds it goes on. The child gets new locks, modules that were half imported are
absent in it, and it does not compile if another thread did: the state of Numba and LLVM is half made then.
"""

import contextlib
import logging  # noqa: F401  registers its own lock first, since whoever waits below may log
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from weakref import WeakSet

from .ambient import ambient_state

T = TypeVar("T")
PATIENCE = 60.0                                              # seconds that a fork waits for others
COURTESY = 10.0                                              # seconds for which others let a fork go first

# taken by `with` itself: an interrupt within a method of Condition would leave it locked
_lock: Any = threading.RLock()
_gate = threading.Condition(_lock)
_inside: dict[int, int] = {}                                 # thread -> how many such blocks it is in
_waiting: list[int] = []                                     # threads that are about to fork
_helpers: set[int] = set()                                   # threads that others wait for within such blocks
_taken: list = []                                            # locks of libraries that the forking thread has
_locks: WeakSet = WeakSet()
_in_child: list[Callable] = []
_unfinished: list[tuple] = []                                # threads, with what undoes what they are in the midst of
_lost: list[str] = []                                        # the reason for which this process cannot compile


def lost_compiler() -> str:
    """The reason for which this process cannot compile; "" if it can."""
    return "".join(_lost[:1])


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
def undone_by(undo: Callable[[], object]) -> Iterator[None]:
    """Within, this thread changes what undo() puts back in the child of another thread's fork."""
    entry = threading.get_ident(), undo
    _unfinished.append(entry)
    try:
        yield
    finally:
        _unfinished.remove(entry)


@contextlib.contextmanager
def unforkable() -> Iterator[None]:
    """Within, no other thread forks: it waits."""
    me = threading.get_ident()
    with _lock:
        if _waiting and me not in _inside and me not in _helpers:
            _gate.wait_for(lambda: not _waiting, COURTESY)
        before = _inside.get(me, 0)
        _inside[me] = before + 1
    try:
        yield
    finally:
        _put(before)


def helping(starter: int, run: Callable[[], T]) -> T:
    """run() in a thread that another one has started, and may wait for: a fork that waits for the one waits for both.
    """
    me = threading.get_ident()
    if starter in _inside or starter in _helpers:
        _helpers.add(me)
    try:
        return run()
    finally:
        _helpers.discard(me)


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
    while not (_inside.keys() <= {me} and _take()):
        if time.monotonic() >= until:
            _take()                                          # whoever is waited for may do something else
            return
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
    half_made = _drop_half_imported(me)
    if libraries or any(name.partition(".")[0] in ("numba", "llvmlite") for name in half_made):
        _lost.append("another thread was compiling when this process was forked from its parent")
    for entry in [entry for entry in reversed(_unfinished) if entry[0] != me]:
        _unfinished.remove(entry)
        entry[1]()
    for function in _in_child:
        function()


def _drop_half_imported(me: int) -> list:
    """The names of the modules that other threads were importing, which are absent from now on. A child would wait for
    ever for their locks.
    """
    locks = vars(sys.modules["_frozen_importlib"]).get("_module_locks", {})
    owners = {name: getattr(lock(), "owner", None) for name, lock in list(locks.items())}
    names = [name for name, owner in owners.items() if owner not in (None, me)]
    for name in names:
        del locks[name]
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]
    return names


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
