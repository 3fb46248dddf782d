"""Hooks: ordered tables of callables, and the handles that take them out again."""
import itertools
import weakref
from collections.abc import Callable
from typing import Any

_ids = itertools.count()


class Hooks(dict):
    """Hooks in the order in which they were registered."""

    __slots__ = ("__weakref__",)


class RemovableHandle:
    """The handle of a registered hook: remove() takes the hook out; as a context manager it does so at the end.

    >>> table = Hooks()
    >>> with RemovableHandle(table, print):
    ...     len(table)
    1
    >>> len(table)
    0
    """

    __slots__ = ("id", "_tables", "__weakref__")

    def __init__(self, table: Hooks, hook: Callable, first: bool = False):
        self.id = next(_ids)
        self._tables = [weakref.ref(table)]
        if first:
            others = dict(table)
            table.clear()
            table[self.id] = hook
            table.update(others)
        else:
            table[self.id] = hook

    def also(self, table: Hooks, wanted: bool) -> None:
        """Enter the hook's number in a second table (of those of one kind), from which remove() takes it too."""
        if wanted:
            table[self.id] = True
            self._tables.append(weakref.ref(table))

    @property
    def hooks_dict_ref(self) -> Any:
        """A weak reference to the table that the hook is in."""
        return self._tables[0]

    def remove(self) -> None:
        """Take the hook out; doing so twice is harmless."""
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class ManyHandles:
    """One handle for several."""

    def __init__(self, handles: tuple):
        self.handles = handles

    def remove(self) -> None:
        """Take all the hooks out."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> "ManyHandles":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
