"""Classes with code of the user's wherever Python runs some as it makes an object: __new__, __init__, __post_init__,
__init_subclass__ and a metaclass's __call__."""
import abc
import dataclasses
import math

import numpy as np

SCALE = [2.0]


class Plain:
    def __init__(self, a):
        self.a = math.sin(a) * SCALE[0] if a > 0.6 else a


class Base(abc.ABC):
    def __init__(self, a):
        if not isinstance(a, (int, float)):
            raise TypeError("a number is wanted")
        self.a = math.sin(a) if a > 0.5 else a * SCALE[0]

    @abc.abstractmethod
    def value(self, x):
        ...


class Concrete(Base):
    def value(self, x):
        return self.a * np.sum(np.asarray(x) ** 2)


class ByNew:
    def __new__(cls, a, k=1.0):
        made = super().__new__(cls)
        made.a = math.exp(a) * SCALE[0]
        return made

    def __init__(self, a, k=1.0):
        self.b = self.a + math.sqrt(a) * k


class Checked:
    def __new__(cls, a, scale=1.0):
        if isinstance(a, bool) or not isinstance(a, (int, float)):
            raise TypeError("a number is wanted")
        made = super().__new__(cls)
        made.scale = math.exp(a) if a > 0.6 else scale
        return made

    def __init__(self, a, scale=1.0):
        self.a = math.cos(a) * scale * SCALE[0]


class Other:
    """Its __new__ gives an object of another class, whose __init__ is not called."""

    def __new__(cls, a):
        made = object.__new__(Concrete)
        made.a = math.tanh(a) * SCALE[0]
        return made

    def __init__(self, a):
        self.a = 100.0


class Single:
    """One object for all."""

    one = None

    def __new__(cls, a):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one

    def __init__(self, a):
        self.a = math.sin(a) * SCALE[0]


class Kept:
    """One object for each key, as `__new__` decides."""

    known = {}

    def __new__(cls, key, a):
        if key not in cls.known:
            cls.known[key] = super().__new__(cls)
        return cls.known[key]

    def __init__(self, key, a):
        self.a = SCALE[0] * len(key)


class Pair(tuple):
    def __new__(cls, a):
        return super().__new__(cls, (math.sin(a) * SCALE[0], a if a > 0.6 else 2.0 * a))


class Numbers(list):
    def __init__(self, a):
        super().__init__([a, a * a])
        self.a = math.sin(a) * SCALE[0]


class Tagged(dict):
    def __init__(self, a):
        super().__init__(a=math.sin(a) * SCALE[0])


class Counting(type):
    def __call__(cls, a, *rest):
        made = super().__call__(math.cos(a), *rest)
        made.extra = math.tanh(a) * SCALE[0] if a > 0.6 else a
        return made


class OfCounting(metaclass=Counting):
    def __init__(self, a, b=0.5):
        self.a = math.sin(a) * b


class Doubling(type):
    def __call__(cls, a):
        made = super().__call__(math.atan(a) if a > 0.6 else a)
        made.twice = SCALE[0] * made.a
        return made


class OfDoubling(metaclass=Doubling):
    def __init__(self, a):
        self.a = math.sinh(a)


class PastSuper(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls, *args, k=math.sqrt(SCALE[0]), **kwargs)


class OfPastSuper(metaclass=PastSuper):
    def __init__(self, a, k):
        self.a = math.sin(a) * k


class Root:
    def __init_subclass__(cls, power=2, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.power = power

    def __init__(self, a):
        self.a = math.sin(a) ** self.power * SCALE[0]


class Cubic(Root, power=3):
    pass


@dataclasses.dataclass
class Data:
    a: float
    b: float = 2.0
    seen: dataclasses.InitVar[float] = 0.5
    c: float = dataclasses.field(init=False)
    rows: list = dataclasses.field(default_factory=lambda: [SCALE[0]])

    def __post_init__(self, seen):
        self.c = math.sin(self.a) * SCALE[0] + seen if self.a > 0.6 else self.a * self.b
        self.rows.append(self.c)


@dataclasses.dataclass
class DerivedData(Data):
    d: float = 1.5

    def __post_init__(self, seen):
        super().__post_init__(seen)
        self.d += math.exp(self.c)


class ByHand(Data):
    def __init__(self, a):
        super().__init__(a, seen=math.sqrt(a))


@dataclasses.dataclass
class Record:
    a: float
    rows: list = dataclasses.field(default_factory=list)
    made: dict = dataclasses.field(init=False, default_factory=dict)
    start: dataclasses.InitVar[float] = 2.0
    scale: float = dataclasses.field(default=3.0, kw_only=True)
    total: float = dataclasses.field(init=False)

    def __post_init__(self, start):
        self.total = math.sinh(self.a) * start * SCALE[0] if self.a > 0.6 else self.a
        self.rows.append(self.total)
        self.made["a"] = self.a

    def value(self, x):
        new = dataclasses.replace(self, a=self.a * 2.0, start=1.5, rows=[1.0])
        return self.total * np.sum(x) * self.scale + len(self.rows) * new.total * new.rows[-1] + new.made["a"]


class DerivedRecord(Record):
    def value(self, x):
        return super().value(x) * math.cos(self.total)


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    a: float
    b: float = 0.5

    def __post_init__(self):
        object.__setattr__(self, "b", math.sin(self.a) * self.b * SCALE[0])


@dataclasses.dataclass(slots=True)
class Slotted:
    a: float
    b: float = 0.0

    def __post_init__(self):
        self.b = math.log(self.a) * SCALE[0]


@dataclasses.dataclass(slots=True)
class SlottedRoot(Root):
    a: float
    n: int = 3

    def __post_init__(self):
        self.a = math.exp(self.a) * self.n
