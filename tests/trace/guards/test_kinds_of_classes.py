"""Objects of every kind of class, made in the function and outside of it, wherever they are kept: they compile, and
what they hold is seen."""

import abc
import collections
import dataclasses
import enum
import functools
import typing

import numpy as np
import pytest

import fad

from ...turns import crossed

T = typing.TypeVar("T")
X = np.array([0.7, 1.3, 2.1])


class Plain:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return np.sin(self.scale * x)


class Slots:
    __slots__ = ("scale",)
    __init__, __call__ = Plain.__init__, Plain.__call__


class Base(abc.ABC):
    def __init__(self, scale):
        self.scale = scale

    @abc.abstractmethod
    def of(self, x): ...

    def __call__(self, x):
        return self.of(self.scale * x)


class OfAbstract(Base):
    def of(self, x):
        return np.sin(x)


class AbstractWithSlots(abc.ABC):  # noqa: B024
    __slots__ = ("scale",)
    __init__, __call__ = Plain.__init__, Plain.__call__


@dataclasses.dataclass
class Data:
    scale: float
    unused: list = dataclasses.field(default_factory=list)
    __call__ = Plain.__call__


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float
    __call__ = Plain.__call__


@dataclasses.dataclass(eq=False, order=False)
class DataOfAbstract(Base):
    scale: float

    def of(self, x):
        return np.sin(x)


class Named(typing.NamedTuple):
    scale: float

    def __call__(self, x):
        return np.sin(self.scale * x)


class OfNamed(collections.namedtuple("OfNamed", "scale")):
    __slots__ = ()
    __call__ = Plain.__call__


class Generic(typing.Generic[T]):
    __init__, __call__ = Plain.__init__, Plain.__call__


class HasScale(typing.Protocol):
    scale: float


class OfProtocol(HasScale):
    __init__, __call__ = Plain.__init__, Plain.__call__


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class OfMeta(metaclass=Meta):
    __init__, __call__ = Plain.__init__, Plain.__call__


class Properties:
    def __init__(self, scale):
        self._scale = scale

    @property
    def scale(self):
        return self._scale

    @functools.cached_property
    def doubled(self):
        return 2 * self._scale

    def __call__(self, x):
        return np.sin((self.doubled - self.scale) * x)


class Mixin:
    def __call__(self, x):
        return np.sin(super().__call__(x))


class Linear:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return self.scale * x


class Mixed(Mixin, Linear):
    pass


class Factory(Plain):
    made = 0

    @classmethod
    def of(cls, scale):
        return cls(scale)

    @staticmethod
    def same(x):
        return x

    def __call__(self, x):
        return np.sin(self.same(self.of(self.scale).scale) * x)


class Dict(dict):
    def __init__(self, scale):
        super().__init__(scale=scale)

    def __call__(self, x):
        return np.sin(self["scale"] * x)


class List(list):
    def __init__(self, scale):
        super().__init__([scale])

    def __call__(self, x):
        return np.sin(self[0] * x)


class Asked(Plain):
    def __getattr__(self, name):
        if name == "power":
            return 1
        raise AttributeError(name)

    def __call__(self, x):
        return np.sin(self.scale * x) ** self.power


class Kind(enum.Enum):
    SINE = "sine"


class ByEnum(Plain):
    def __init__(self, scale):
        self.scale, self.kind = scale, Kind.SINE

    def __call__(self, x):
        return {Kind.SINE: np.sin}[self.kind](self.scale * x)


class Operators(Plain):
    def __add__(self, other):
        return Operators(self.scale + other)

    def __call__(self, x):
        return np.sin((self + 1.0 + -1.0).scale * x)


CLASSES = [Plain, Slots, OfAbstract, AbstractWithSlots, Data, Frozen, DataOfAbstract, Named, OfNamed, Generic,
           OfProtocol, OfMeta, Properties, Mixed, Factory, Dict, List, Asked, ByEnum, Operators]


class Holder:
    def __init__(self, held):
        self.held = held


def through_list(o):
    kept = []
    kept.append(o)
    return kept[0]


def through_loop(o):
    kept = []
    for k in (o, o):
        kept.append(k)
    return kept[-1]


PLACES = {
    "itself": lambda o: o, "append": through_list, "loop": through_loop, "dict": lambda o: {"key": o}["key"],
    "tuple": lambda o: (1, o)[1],
    "attribute": lambda o: Holder(o).held, "closure": lambda o: (lambda: o)(),
    "default": lambda o: (lambda given=o: given)(),
    "partial": lambda o: functools.partial(lambda given: given, o)(),
    "comprehension": lambda o: [(k, 1) for k in [o]][0][0],
    "reduce": lambda o: functools.reduce(lambda a, b: b, [o, o]), "max": lambda o: max([o], key=lambda given: 1),
    "deque": lambda o: collections.deque([o]).pop()}


@pytest.mark.parametrize("cls, place", crossed(CLASSES, PLACES, count=4))
def test_made_in_the_function(cls, place):
    def f(x):
        return np.sum(PLACES[place](cls(x[0]))(x))
    assert np.allclose(fad.grad(f)(X), X[0] * np.cos(X[0] * X) + np.array([np.sum(X * np.cos(X[0] * X)), 0.0, 0.0]))


@pytest.mark.parametrize("cls, place", crossed(CLASSES, PLACES, count=4))
def test_made_outside(cls, place):
    held = [cls(0.5)]

    def f(x):
        return np.sum(PLACES[place](held[0])(x))
    g = fad.grad(f)
    for scale in (0.5, 0.5, 1.5, 1.5):
        if cls not in (Frozen, Named, OfNamed, Dict, List, Properties):
            held[0].scale = scale
        else:
            held[0] = cls(scale)
        assert np.allclose(g(X), scale * np.cos(scale * X))
