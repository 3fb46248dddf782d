"""A compiled function, which the runner keeps and which compile.py makes."""
from collections.abc import Callable
from typing import Any

from ...util.lazy import LazyModule

running = LazyModule("fad.kernels.running")


class Kernel:
    """A compiled function: `call(*arrays_and_numbers)` is the entry point, `source` its text."""

    __slots__ = ("source", "name", "call", "__weakref__")

    def __init__(self, text: str, name: str, call: Any):
        self.source, self.name, self.call = text, name, call

    @property
    def entry(self) -> "Callable | None":
        """The entry that the dispatcher calls for the one kind of arguments that there is, with an integer behind them:
        see kernels/running.py. None if there are several kinds, or none, as of plain Python, or if it is Numba's own.
        """
        found = list(getattr(self.call, "overloads", {}).values())
        return found[0].entry_point if len(found) == 1 and running.is_served(found[0].fndesc) else None

    def compile(self, *examples: Any) -> "Kernel":
        """Compile now, for arguments like these."""
        self.call.compile(tuple([self.call.typeof_pyval(x) for x in examples]))
        return self
