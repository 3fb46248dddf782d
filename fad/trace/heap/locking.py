"""Locks that a function takes: its program takes them before it runs, and has them until it has delivered its effects.

    with self.lock:                          ->    with self.lock:
        self.calls += 1                                c = self.calls; y, c = kernel(x, c); self.calls = c
    return np.sum(x ** 2)
"""
import threading
from typing import Any

from ...ir.build import current
from ...util.errors import UnstageableError
from ...util.exclusion import hold
from ..guards.python_objects import LOCKS


def is_lock(manager: object) -> bool:
    """Whether a context manager is a lock. A semaphore counts, and so a program does not know it; it is refused."""
    if isinstance(manager, threading.Semaphore):
        raise UnstageableError("a semaphore is entered",
                               why="it counts what other threads do", do="use a lock: threading.Lock()")
    return type(manager) in (*LOCKS, threading.Condition)


class HeldLock:
    """The context manager that captured code enters in place of a lock."""

    def __init__(self, lock: Any):
        self.lock = lock

    def __enter__(self) -> bool:
        locks = current().trace.locks
        locks.setdefault(id(self.lock), self.lock)
        if len(locks) > 1:
            raise UnstageableError(
                "a function takes two locks",
                why="its program would have both at once, and other threads may take them in another order",
                do="take one lock",
            )
        if not hold(self.lock):
            raise UnstageableError("another thread has a lock that the function takes",
                                   why="a trace cannot wait for it")
        return True

    def __exit__(self, *error: object) -> None:
        """The trace has the lock until it ends."""


def called(lock: Any, method: str, args: tuple, kwargs: dict) -> Any:
    """lock.method(*args, **kwargs) in captured code."""
    if method in ("acquire", "__enter__") and not args and not kwargs:
        return HeldLock(lock).__enter__()
    if method in ("release", "__exit__"):
        return None
    raise UnstageableError(f"a lock's method {method} is called", why="what it returns depends on other threads",
                           do="enter the lock: with lock: ...")
