"""The plan of a loop's carries, as far as the trials of its body have shown."""
from collections.abc import Callable, Iterable
from typing import Any

from ..heap.state import Array, Name, changing, is_array
from ..lists.appending import AppendedLists
from ..values.place import roots_of
from .may_alias import MayAlias
from .recall import Memory


class CarryPlan:
    """The known carries of a loop: names that iterations hand on, names that are rebound, names whose arrays are
    written to, flags that end the loop. own: all names that its code binds.
    """

    def __init__(
        self,
        cells: dict,
        names: Iterable,
        rebound: Iterable,
        written: Iterable,
        stops: Iterable,
        own: Iterable = (),
        *,
        memory: "Memory | None" = None,
    ):
        self.memory = memory or Memory()
        self.forms, self.replaced = self.memory.forms, self.memory.replaced
        self.replaced.update((name, 0) for name in rebound)
        self.own = {*own, *names, *stops}
        self.cells, self.stops = cells, [Name(n, cells[n]) for n in stops]
        self.names = [Name(n, cells[n]) for n in names if n in cells and n not in stops]
        self.found: list[Any] = []                            # arrays and containers
        self.has_iterations: Callable = lambda: False              # whether there is a first iteration
        self.kin = MayAlias()                                 # what iterations hand on that may be one
        self.lost: list = []                                  # arrays from before that no iteration but the first knows
        self.room = AppendedLists(self)                                # the lists that the iterations append to
        self.iterations = 0
        self.is_traced = False  # whether it is known that the iterations depend on traced values
        for name in written:
            if name in cells and (name, 0) not in self.replaced:  # else it is not one array that is written to
                self._expect(Name(name, cells[name]).read())
        self.given = len(self.names)
        self.memory.tell(self)
        self.room.recall(self.memory.lists)

    def _expect(self, value: Any) -> None:
        """An array that the body writes to, going by its source."""
        if is_array(value) and not any(s.name == "" and getattr(s, "tracer", None) is value for s in self.found):
            for root in roots_of(value):
                self.add(Array(root))

    def add(self, slot: Array) -> None:
        if not self.room.counts(slot) and not any(changing(s) is changing(slot) for s in self.found):
            self.found.append(slot)

    def slots(self) -> list:
        """The slots whose values the loop carries."""
        return self.names + (self.stops if self.memory.early else []) + self.found
