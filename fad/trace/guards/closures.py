"""Functions taken apart from their closures: functions of the same code over the same kinds of values share programs.

    for a in data:
        fad.grad(lambda q: f(q, a))(x)      # a function object at each iteration, one program

`parts_of(f)` walks over the function and all that it was made of: cells, defaults, a method's object, tuples, lists and
dicts within (part_kinds.py). Numbers and arrays are *slots*, all else is the *key*. Two functions with equal keys
differ in their slots alone. `FunctionPattern(f)` is the function with holes in place of its slots. `fill` makes
functions of it over other values, traced ones among them. These share no mutable part with a user's function.
"""
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from types import FunctionType
from typing import Any

from ...ir.build import Value
from ...ir.delivery import Location
from ..objects.containers import content
from .part_kinds import MOST, NUMBERS, PLAIN_VALUES, SLOT, slot_or_kind


class TooMany(Exception):
    """A function is made of more things than are worth looking at."""


class FunctionParts:
    """A function taken apart: its key and its slots; ids: of the things that are copied, not shared, where a function
    is made of its pattern; places: of the slots, and stand: of the copied things by number, where they are asked for.
    """

    __slots__ = ("ids", "key", "numbers", "places", "slots", "stand")

    def __init__(self, numbers: tuple = NUMBERS) -> None:
        self.numbers = numbers
        self.key: list = []
        self.slots: list = []
        self.places: list = []
        self.ids: dict[int, int] = {}
        self.stand: dict[int, Location] = {}

    def add(self, x: object, outermost: bool = False, at: "Location | None" = None) -> None:
        cls, key = type(x), self.key
        if cls in self.numbers:
            key.append(cls)
            self._add_slot(x, at)
            return
        if cls in PLAIN_VALUES:
            key += (cls, x)
            return
        known = self.ids.get(id(x))
        if known is not None:
            key += ("again", known)
            return
        kind = slot_or_kind(x, cls)
        if kind is None:
            key += ("is", id(x))
            return
        self.ids[id(x)] = len(self.ids)
        key.append(cls)
        if kind is SLOT:
            self._add_slot(x, at)
            return
        head, children = kind.apart(x, outermost)
        if head is None:
            del self.ids[id(x)]
            key[-1:] = ("is", id(x))
            return
        key += head
        if len(children) + len(self.ids) + len(self.slots) > MOST:
            raise TooMany
        outermost = outermost and kind.leads_on
        if at is not None:
            self.stand[self.ids[id(x)]] = at
        for child, place in zip(children, kind.places(x, at) if at is not None else repeat(None)):
            self.add(child, outermost, place)

    def _add_slot(self, x: object, at: "Location | None") -> None:
        self.slots.append(x)
        self.places.append(at)


NUMBERS_OUTSIDE = (*NUMBERS, bool)


def parts_of(f: object) -> "FunctionParts | None":
    """The function's key and slots; None of one that is made of too much."""
    parts = FunctionParts()
    try:
        parts.add(f, True)
    except TooMany:
        return None
    return parts


def parts_at(places: Sequence, values: Sequence) -> "FunctionParts | None":
    """The same of containers and objects outside, by their places. Truth values are slots, too."""
    parts = FunctionParts(NUMBERS_OUTSIDE)
    try:
        for x, at in zip(values, places):
            parts.add(x, False, at)
    except TooMany:
        return None
    return parts


class FunctionPattern:
    """A function with holes in place of its slots."""

    def __init__(self, f: object, numbers: tuple = NUMBERS):
        self.numbers = numbers
        self.known: dict[int, int] = {}
        self.root = self._of(f, True)

    def _of(self, x: object, outermost: bool = False) -> Callable:
        """The maker of a copy of x in a filling; it walks as Parts does."""
        cls = type(x)
        if cls in self.numbers:
            return Filling.take
        if cls in PLAIN_VALUES:
            return lambda filling: x
        known = self.known.get(id(x))
        if known is not None:
            return lambda filling: filling.made[known]
        kind = slot_or_kind(x, cls)
        if kind is None:
            return lambda filling: filling.see(x)
        place = len(self.known)
        if kind is SLOT:
            self.known[id(x)] = place
            return lambda filling: filling.keep(place, filling.take())
        head, children = kind.apart(x, outermost)
        if head is None:
            return lambda filling: filling.see(x)
        self.known[id(x)] = place
        outermost = outermost and kind.leads_on
        makers, static = [self._of(child, outermost) for child in children], kind.static(x)
        if hasattr(kind, "make"):
            return lambda filling: filling.keep(place, kind.make(static, [make(filling) for make in makers]))

        def made(filling: "Filling") -> Any:
            shell = filling.keep(place, kind.shell(static))
            kind.fill(shell, static, children := [make(filling) for make in makers], filling.names)
            filling.filled.append((kind, shell, static, children))
            return shell
        return made

    def fill(self, values: Sequence, see: Callable = lambda x: x) -> "Filling":
        """The function over these values. see(x): what stands in it for a thing that is shared."""
        return Filling(self, values, see)


class Filling:
    """A function made of a pattern: `function`; names: (id of a module's global names, name) -> what stands for the
    number or the array there.
    """

    def __init__(self, pattern: FunctionPattern, values: Sequence, see: Callable):
        self.values: Iterator = iter(values)
        self.see = see
        self.made: dict[int, Any] = {}
        self.filled: list[tuple] = []
        self.names: dict[tuple, Any] = {}
        self.function = pattern.root(self)

    def take(self) -> Any:
        return next(self.values)

    def keep(self, place: int, x: object) -> Any:
        self.made[place] = x
        return x

    @property
    def is_untouched(self) -> bool:
        """Whether nothing that was copied has been changed."""
        for kind, shell, static, children in self.filled:
            now = list(kind.now(shell, static))
            if len(now) > len(children) or not all(x is y for x, y in zip(now, children)):
                return False
            if type(shell) is not FunctionType and len(now) != len(children):
                return False
        return True

    def release(self) -> None:
        """Let go of the traced values, and so of their trace."""
        for kind, shell, _, children in self.filled:
            if not any(isinstance(x, Value) for x in children):
                continue
            if type(shell) is FunctionType:
                for cell in shell.__closure__ or ():
                    if isinstance(content(cell), Value):
                        cell.cell_contents = None
            else:
                kind.empty(shell)

    def holds(self, x: object) -> bool:
        """Whether x is one of the copies."""
        return any(x is made for made in self.made.values())
