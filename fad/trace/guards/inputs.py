"""Guards for the inputs that a program reads at each call: of what kind they are."""
import numpy as np

from ...ir.delivery import Location
from ...util.memory import overlap
from .guard import Guard
from .snapshot import is_same


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


class TupleGuard(Guard):
    """The class of a tuple that the program reads at each call, the number of its parts, and the constant ones."""

    __slots__ = ("constant",)

    def __init__(self, location: Location, value: tuple, constant: list):
        super().__init__(location, value)
        self.constant = constant

    @property
    def unchanged(self) -> bool:
        now, before = self.owner.read(), self.value
        if type(now) is not type(before) or len(now) != len(before):
            return False
        return all(is_same(now[k], before[k]) for k in self.constant)

    @property
    def kept(self) -> object:
        return self

    def test(self, owner: str, kept: str) -> str:
        return f"{kept}.unchanged"

    @property
    def key(self) -> tuple:
        return type(self), *self.owner.key
