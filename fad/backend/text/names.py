"""Names in generated code: the user's where they are known, short and plain ones elsewhere."""
import builtins
import keyword
import re
from collections.abc import Iterable
from itertools import chain, count, islice
from typing import Any

_AUTOMATIC = re.compile(r"v\d+|n\d+|c\d+|gv?\d*|dv\d+")
_EXTENTS = ("n", "m", "p", "q", "r", "n1", "n2", "n3", "n4")
_LOOPS = ("i", "j", "k", "l", "i1", "j1", "k1", "l1")


class Names:
    """Gives each thing one name, never one that is taken."""

    def __init__(self, reserved: Iterable[str] = ()):
        self.taken = set(reserved) | set(keyword.kwlist) | set(dir(builtins)) | {"np", "math", "numba"}
        self.given: dict[Any, str] = {}
        self.counts: dict[str, int] = {}                     # how often a name was wanted
        self.loops: set[str] = set()  # of loops' indices, which are integers from beginning to end of a function

    def fresh(self, wanted: str) -> str:
        """The wanted name, or it with a number if it is taken."""
        name, k = wanted, self.counts.get(wanted, 1)
        while name in self.taken or name in self.loops:
            k += 1
            name = f"{wanted}_{k}"
        self.taken.add(name)
        self.counts[wanted] = k
        return name

    def release(self, name: str) -> None:
        """The name may be used again, for a thing of the same type."""
        self.taken.discard(name)

    def first(self, choices: Iterable[str]) -> str:
        """The first of these names that is free."""
        choices = tuple(choices)
        return self.fresh(next((c for c in choices if c not in self.taken), choices[0]))

    def of(self, thing: object, wanted: str = "t") -> str:
        """The name of a thing, given now if it has none."""
        name = self.given.get(thing)
        if name is None:
            name = self.given[thing] = self.fresh(own_name(thing) or wanted)
        return name

    def extent(self, var: object) -> str:
        """The name of an input's extent."""
        if var not in self.given:
            self.given[var] = self.fresh(own_name(var)) if own_name(var) else self.first(_EXTENTS)
        return self.given[var]

    def loop(self, busy: Iterable[str]) -> str:
        """A name for a loop's index, not that of a loop around it."""
        busy = self.taken.union(busy)
        name = next(name for name in chain(_LOOPS, (f"i_{k}" for k in count(2))) if name not in busy)
        self.loops.add(name)
        return name

    def iterations(self, name: str, more: int) -> list[str]:
        """The name of a loop's index, and names for it in further iterations, none of them taken."""
        free = (found for found in (f"{name}_{k}" for k in count(1)) if found not in self.taken)
        names = list(islice(free, more))
        self.loops.update(names)
        return [name, *names]


def own_name(thing: object) -> str:
    """The name a variable was given by the user, if it has one."""
    name = getattr(thing, "name", "")
    return "" if not name.isidentifier() or _AUTOMATIC.fullmatch(name) else name
