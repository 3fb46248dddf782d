"""Guards for the inputs that a program reads at each call: of what kind they are."""
import numpy as np

from ...ir.delivery import Location
from ...util.memory import overlap
from .closures import FunctionParts, parts_at
from .guard import Guard
from .snapshot import is_same


class PlaceGuard(Guard):
    """The thing at a place."""

    __slots__ = ()

    def now(self) -> object:
        return self.owner.read()

    def test(self, owner: str, kept: str) -> str:
        return f"{owner}.read() is {kept}"


class KindGuard(Guard):
    """Of what kind a number or an array is that the program reads at each call (see trace/heap/lifting.py)."""

    __slots__ = ("apart", "shape")

    def __init__(self, location: Location, value: object):
        super().__init__(location, type(value))
        self.apart: list[np.ndarray] = []                     # arrays that share no memory with this one
        self.shape = (value.dtype, value.shape) if type(value) is np.ndarray else None

    @property
    def unchanged(self) -> bool:
        now = self.owner.read()
        if self.shape is None:
            return type(now) is self.value
        is_alike = type(now) is np.ndarray and (now.dtype, now.shape) == self.shape and now.flags.carray
        return is_alike and not any(overlap(now, x) for x in self.apart)

    def test(self, owner: str, kept: str) -> str:
        return f"type({owner}.read()) is {kept}" if self.shape is None else f"{kept}.unchanged"

    @property
    def kept(self) -> object:
        return self.value if self.shape is None else self

    @property
    def key(self) -> tuple:
        return type(self), *self.owner.key


class TreesGuard(Guard):
    """The structure of the containers and objects at places where other ones are put, with the numbers in them that are
    constants of the program. shared: keeps alive what is known by its id in the structure.
    """

    __slots__ = ("apart", "constants", "shared")

    def __init__(self, places: tuple, parts: FunctionParts, constants: dict, shared: object):
        super().__init__(places, parts.key)
        self.constants, self.shared = constants, shared
        self.apart: set[int] = set()                          # ids of what the program knows by itself

    def parts_now(self) -> "FunctionParts | None":
        """The parts of what stands at the places; None if there are too many."""
        return parts_at(self.owner, [at.read() for at in self.owner])

    @property
    def unchanged(self) -> bool:
        parts = self.parts_now()
        return (parts is not None and parts.key == self.value and self.apart.isdisjoint(parts.ids)
                and all(is_same(parts.slots[k], x) for k, x in self.constants.items()))

    @property
    def kept(self) -> object:
        return self

    def test(self, owner: str, kept: str) -> str:
        return f"{kept}.unchanged"
