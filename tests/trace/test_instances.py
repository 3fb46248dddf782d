"""What makes objects is user code in every respect: __init__, __new__, __post_init__ and a metaclass's __call__, in a program and on the tape."""
import dataclasses
import math
import warnings

import numpy as np
import pytest

import fad

from .scaled import assert_as_python_says

X = np.array([0.8, 0.55, 1.1])
SCALE = [2.0]
FACTORS = {0: 1.5, 1: 2.5}


class Plain:
    def __init__(self, a):
        self.a = math.sin(a) * SCALE[0] if a > 0.6 else a


class ByNew:
    def __new__(cls, a, k=1.0):
        made = super().__new__(cls)
        made.a = math.exp(a) * SCALE[0]
        return made

    def __init__(self, a, k=1.0):
        self.b = self.a + math.sqrt(a) * k


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


class Counting(type):
    def __call__(cls, a, *rest):
        made = super().__call__(math.cos(a), *rest)
        made.extra = math.tanh(a) * SCALE[0] if a > 0.6 else a
        return made


class OfCounting(metaclass=Counting):
    def __init__(self, a, b=0.5):
        self.a = math.sin(a) * b


class PastSuper(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls, *args, k=math.sqrt(SCALE[0]), **kwargs)


class OfPastSuper(metaclass=PastSuper):
    def __init__(self, a, k):
        self.a = math.sin(a) * k


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


@dataclasses.dataclass(frozen=True, order=True)
class Frozen:
    a: float
    b: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "b", math.sin(self.a) * SCALE[0])


@dataclasses.dataclass(slots=True)
class Slotted:
    a: float
    b: float = 0.0

    def __post_init__(self):
        self.b = math.log(self.a) * SCALE[0]


@dataclasses.dataclass
class Derived(Data):
    d: float = 1.5

    def __post_init__(self, seen):
        super().__post_init__(seen)
        self.d += math.exp(self.c)


class ByHand(Data):
    def __init__(self, a):
        super().__init__(a, seen=math.sqrt(a))


PROGRAMS = {
    "init": lambda x: Plain(x[0]).a * Plain(x[1]).a,
    "new": lambda x: ByNew(x[0]).b + ByNew(x[1], k=x[2]).b,
    "kept": lambda x: Kept("a", x[0]).a * x[0] + Kept("bc", x[1]).a * x[1],
    "tuple": lambda x: Pair(x[0])[0] * Pair(x[1])[1],
    "metaclass": lambda x: OfCounting(x[0]).a * OfCounting(x[1], x[2]).extra,
    "past_super": lambda x: OfPastSuper(x[0]).a * x[1],
    "dataclass": lambda x: Data(x[0]).c + Data(x[1], b=x[2], seen=x[0]).rows[1] * Data(x[2]).rows[0],
    "frozen": lambda x: Frozen(x[0]).b * Frozen(x[1]).b,
    "slots": lambda x: Slotted(x[0]).b * x[1],
    "derived": lambda x: Derived(x[0]).d + ByHand(x[1]).c * ByHand(x[2]).c,
    "in_a_loop": lambda x: sum([Data(v).c * Plain(v).a for v in x]),
    "in_a_branch": lambda x: (Data(x[0]) if x[1] > 0.5 else Data(x[2])).c,
}


def on_the_tape(f):
    """f with a key that depends on data."""
    return lambda x: f(x) * FACTORS[int(x[0] > 5.0)]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("place", [lambda f: f, on_the_tape], ids=["program", "tape"])
def test_objects_are_made_as_python_makes_them(name, place):
    f = place(PROGRAMS[name])
    value, gradient = fad.jit(f), fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        assert_as_python_says(value, gradient, f, SCALE, (2.0, 0.75, 2.0), X)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("kept",)])
def test_they_are_part_of_the_program(name):
    np.testing.assert_allclose(fad.jit(PROGRAMS[name], fallback=False)(X), PROGRAMS[name](X), rtol=1e-12)


@pytest.mark.parametrize("cls, name", [(Plain, "__init__"), (ByNew, "__new__"), (Data, "__post_init__"), (Counting, "__call__")])
def test_what_makes_them_is_guarded(monkeypatch, cls, name):
    def f(x):
        return Plain(x[0]).a + ByNew(x[0]).b + Data(x[0]).c + OfCounting(x[0]).extra
    g = fad.jit(f)
    assert g(X) == pytest.approx(f(X))
    of_before = getattr(cls, name)

    def changed(self, *args, **kwargs):
        made = of_before(self, *args, **kwargs)
        for part in ("a", "b", "c", "extra"):
            if hasattr(made or self, part):
                setattr(made or self, part, 7.0)
        return made
    monkeypatch.setattr(cls, name, changed)
    assert g(X) == pytest.approx(f(X))
