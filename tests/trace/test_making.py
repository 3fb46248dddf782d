"""How objects are made: metaclasses, `__new__` and `__init__` are captured code, while tracing and on the tape."""
import warnings

import numpy as np
import pytest

import fad

from .packages import of_file

X = np.array([0.6, -0.4, 1.2])
CLASSES = """
import abc, dataclasses, math
import numpy as np
COUNT = 2.0

class Base(abc.ABC):
    def __init__(self, w):
        if not isinstance(w, (int, float)):
            raise TypeError("a number is wanted")
        self.w = math.sin(w) if w > 0.5 else w * COUNT
    @abc.abstractmethod
    def value(self, x): ...

class Abstract(Base):
    def value(self, x):
        return self.w * np.sum(np.asarray(x) ** 2)

class Checked:
    def __new__(cls, w, scale=1.0):
        if isinstance(w, bool) or not isinstance(w, (int, float)):
            raise TypeError("a number is wanted")
        x = super().__new__(cls)
        x.scale = math.exp(w) if w > 0 else scale
        return x
    def __init__(self, w, scale=1.0):
        self.w = math.cos(w) * scale
    def value(self, x):
        return self.w * self.scale * np.sum(x)

class Other:
    "Its __new__ gives an object of another class, whose __init__ is not called."
    def __new__(cls, w):
        x = object.__new__(Abstract)
        x.w = math.tanh(w)
        return x
    def __init__(self, w):
        self.w = 100.0

class Meta(type):
    def __call__(cls, w):
        x = super().__call__(math.atan(w) if w > 0 else w)
        x.twice = 2.0 * x.w
        return x

class Made(metaclass=Meta):
    def __init__(self, w):
        self.w = math.sinh(w)
    def value(self, x):
        return self.twice * np.sum(x) + self.w

class Single:
    "One object for all."
    one = None
    def __new__(cls, w):
        if cls.one is None:
            cls.one = super().__new__(cls)
        return cls.one
    def __init__(self, w):
        self.w = math.sin(w)
    def value(self, x):
        return self.w * np.sum(x)

class Root:
    def __init_subclass__(cls, power=2, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.power = power
    def __init__(self, w):
        self.w = math.sin(w) ** self.power

class Cubic(Root, power=3):
    def value(self, x):
        return self.w * np.sum(x)

class Numbers(list):
    def __init__(self, w):
        super().__init__([w, w * w])
        self.w = math.sin(w)
    def value(self, x):
        return self[1] * self.w + np.sum(x)

class Tagged(dict):
    def __init__(self, w):
        super().__init__(a=math.sin(w))
    def value(self, x):
        return self["a"] * np.sum(x)

@dataclasses.dataclass
class Record:
    w: float
    rows: list = dataclasses.field(default_factory=list)
    made: dict = dataclasses.field(init=False, default_factory=dict)
    start: dataclasses.InitVar[float] = 2.0
    scale: float = dataclasses.field(default=3.0, kw_only=True)
    total: float = dataclasses.field(init=False)
    def __post_init__(self, start):
        self.total = math.sinh(self.w) * start if self.w > 0 else self.w
        self.rows.append(self.total)
        self.made["w"] = self.w
    def value(self, x):
        new = dataclasses.replace(self, w=self.w * 2.0, start=1.5, rows=[1.0])
        return self.total * np.sum(x) * self.scale + len(self.rows) * new.total * new.rows[-1] + new.made["w"]

@dataclasses.dataclass(frozen=True)
class Frozen:
    w: float
    angle: float = 0.5
    def __post_init__(self):
        object.__setattr__(self, "angle", math.atan(self.w) * self.angle)
    def value(self, x):
        return self.angle * np.sum(x) + self.w

@dataclasses.dataclass(slots=True)
class Slots(Root):
    w: float
    n: int = 3
    def __post_init__(self):
        self.w = math.exp(self.w) * self.n
    def value(self, x):
        return self.w * np.sum(x)

class Derived(Record):
    def value(self, x):
        return super().value(x) * math.cos(self.total)
"""
MADE = ["Record", "Frozen", "Slots", "Derived", "Abstract", "Checked", "Other", "Made", "Single", "Cubic", "Numbers", "Tagged"]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return of_file(tmp_path_factory.mktemp("making"), CLASSES)


def derivative(f, x):
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)])


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("way", ["compiled", "tape"])
def test_an_object_is_made_as_by_python(name, way, module):
    def f(x):
        return getattr(module, name)(x[0] * 1.0).value(x) * x[1]

    g = fad.value_and_grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.InternalErrorWarning)
        warnings.simplefilter("ignore" if name == "Single" else "error", fad.FallbackWarning)  # one object for all: what is left in it
        for x in (X, X - 0.3, X * 2.0):
            value, slope = g.on_tape((x,), {}) if way == "tape" else g(x)
            assert np.isclose(value, f(x))
            np.testing.assert_allclose(slope, derivative(f, x), rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in MADE if n != "Single"])
def test_making_compiles(name, module):
    f = fad.grad(lambda x: getattr(module, name)(x[0] * 1.0).value(x), fallback=False)
    np.testing.assert_allclose(f(X), derivative(lambda x: getattr(module, name)(float(x[0])).value(x), X), rtol=1e-6)


def test_what_makes_an_object_is_watched(module):
    f, init = fad.jit(lambda x: module.Abstract(x[0] * 1.0).value(x)), module.Base.__init__
    before = f(X)
    try:
        module.COUNT = 3.0
        assert np.isclose(f(X - 0.3), module.Abstract(X[0] - 0.3).value(X - 0.3))
        module.Base.__init__ = lambda self, w: setattr(self, "w", 2.0 * w)
        assert np.isclose(f(X), 2.0 * X[0] * np.sum(X ** 2))
    finally:
        module.Base.__init__, module.COUNT = init, 2.0
    assert f(X) == before


def test_an_abstract_class_makes_no_object(module):
    with pytest.raises(TypeError, match="abstract"):
        fad.grad(lambda x: module.Base(x[0]).value(x))(X)
