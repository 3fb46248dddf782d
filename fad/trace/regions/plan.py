"""The plan of a loop's carries, as far as the trials of its body have shown."""
from collections.abc import Callable, Iterable
from typing import Any

from ..heap.state import Array, Name, TreeLayout, changing, is_array
from ..lists.appending import AppendedLists
from ..values.place import roots_of
from .may_alias import MayAlias
from .recall import Facts, Memory


class CarryPlan(Facts):
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
        super().__init__()
        self.own = {*own, *names, *stops}
        self.cells, self.stops = cells, [Name(n, cells[n]) for n in stops]
        self.names = [Name(n, cells[n]) for n in names if n in cells and n not in stops]
        self.rebound = set(rebound)
        self.found: list[Any] = []                            # arrays and containers
        self.shapes: dict[str, TreeLayout] = {}                   # of names that have no value before the loop
        self.has_iterations: Callable = lambda: False              # whether there is a first iteration
        self.kin = MayAlias()                                 # what iterations hand on that may be one
        self.lost: list = []                                  # arrays from before that no iteration but the first knows
        self.room = AppendedLists(self)                                # the lists that the iterations append to
        self.iterations = 0
        self.is_traced = False  # whether it is known that the iterations depend on traced values
        for name in written:
            if name in cells and name not in self.rebound:    # else it is not one array that is written to
                self._expect(Name(name, cells[name]).read())
        self.given, self.memory = len(self.names), memory or Memory()
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
        names = [s for s in self.names if not self.keeps_object(s)]
        return names + (self.stops if self.early else []) + self.found

    def place(self, slot: Any) -> Any:
        """By what a slot is known here, in another trial if possible."""
        known = self.memory.key(slot)
        return slot.name or id(changing(slot)) if known is None else known

    def keeps_object(self, slot: Name) -> bool:
        """Whether a variable stays bound to one array throughout."""
        return slot.name not in self.rebound and is_array(slot.read())
