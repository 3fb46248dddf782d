"""A higher limit of recursion for walks over deep trees.

A sum of a thousand terms is a tree a thousand levels deep, and so is a chain of `elif`. Python's compiler takes both.
Walks over trees are recursive, and need several calls a level.
"""
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

F = TypeVar("F", bound=Callable)

MORE = 12_000 if sys.version_info >= (3, 11) else 4_000       # calls; before 3.11 each of them takes room of C's stack
_lock = threading.Lock()
_limits: list[int] = []                                       # Python's own limit, once for each walk that goes on


def with_higher_limit(walk: F) -> F:
    """The function, while it runs, with a higher limit of recursion. The limit is one for all threads."""
    @wraps(walk)
    def deeper(*args: object) -> object:
        with _lock:
            _limits.append(_limits[0] if _limits else sys.getrecursionlimit())
            sys.setrecursionlimit(_limits[0] + MORE)
        try:
            return walk(*args)
        finally:
            with _lock:
                own = _limits.pop()
                if not _limits:
                    sys.setrecursionlimit(own)
    return deeper  # type: ignore[return-value]
