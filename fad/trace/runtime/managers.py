"""Context managers that captured code enters: locks, and those whose methods are captured."""
from collections.abc import Callable
from typing import Any

from ..heap.locking import HeldLock, is_lock
from .calls import is_tracing


class Managed:
    """A context manager whose methods are captured."""

    def __init__(self, manager: object, enter: Callable, leave: Callable):
        self.manager, self.enter, self.leave = manager, enter, leave

    def __enter__(self) -> Any:
        return self.enter(self.manager)

    def __exit__(self, *error: object) -> Any:
        return self.leave(self.manager, *error)


def managed(manager: Any, special: Callable) -> Any:
    """The context manager that a with statement enters. special: finds a captured method."""
    if is_tracing() and is_lock(manager):
        return HeldLock(manager)
    enter, leave = special(manager, "__enter__"), special(manager, "__exit__")
    if enter is None and leave is None:
        return manager
    return Managed(manager, enter or type(manager).__enter__, leave or type(manager).__exit__)
