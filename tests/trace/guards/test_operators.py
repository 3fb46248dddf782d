"""What methods read that Python calls by itself (operators, `with`, constructors of metaclasses) is never stale,
wherever their objects are kept."""
import abc
import contextlib
import dataclasses
import functools
import types

import numpy as np
import pytest

import fad

X = np.array([0.5, 1.5, -0.7])
G, TABLE, W = 2.0, {"g": 2.0, "inner": [1.0]}, np.array([1.0, 2.0, 3.0])
SETTINGS = types.SimpleNamespace(g=2.0)


def helper():
    return G * TABLE["inner"][0]


class Operators:
    factor = 3.0

    def __init__(self, k=1.5):
        self.k, self.inner = k, types.SimpleNamespace(b=[0.5])

    def __matmul__(self, x):
        return np.sum(x * W) * G * self.k

    def __add__(self, x):
        return x * self.factor + self.named()

    def named(self):
        return SETTINGS.g

    def __neg__(self):
        return helper() * self.k

    def __len__(self):
        return int(G)

    def __iter__(self):
        return iter([G, TABLE["g"]])

    def __getitem__(self, i):
        return TABLE["inner"][0] * (i + 1)

    def __contains__(self, v):
        return v < G

    def __bool__(self):
        return G > 3

    def __lt__(self, other):
        return G < 3

    def __float__(self):
        return G

    def __round__(self, digits=None):
        return G

    def __enter__(self):
        return G

    def __exit__(self, *error):
        return False

    def __array__(self, dtype=None, copy=None):
        return np.array([G, 1.0, 0.5])


class Pair:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, x):
        return x * G * self.v

    def __mul__(self, other):
        return Pair(self.v * other.v * G)


class Abstract(abc.ABC):
    def __init__(self, k):
        self.k = k * G

    @abc.abstractmethod
    def value(self):
        """What it stands for."""


class Concrete(Abstract):
    def value(self):
        return self.k


@dataclasses.dataclass
class Counted:
    k: float

    def __post_init__(self):
        self.k = self.k * G


class Scaling(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.k = made.k * G
        return made


class Scaled(metaclass=Scaling):
    def __init__(self, k):
        self.k = k


class Property:
    @property
    def k(self):
        return self.kept * G

    @k.setter
    def k(self, v):
        self.kept = v * TABLE["g"]


@functools.total_ordering
class Ordered:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v * (G - 3.0) < other.v

    def __eq__(self, other):
        return self.v == other.v


@contextlib.contextmanager
def entered():
    yield G


o = Operators()
LISTED, KEYED, NESTED, ORDERED = [o], {"o": o}, (1, ([o],)), [Ordered(1.0), Ordered(3.0)]
HOLDER = types.SimpleNamespace(parts=[o], o=o)


def with_block(x):
    with o as g:
        return x[0] * g


def with_generator(x):
    with entered() as g:
        return x[0] * g


def loop(x):
    s = 0.0
    for one in LISTED:
        s = s + (one @ x)
    return s


def set_property(x):
    p = Property()
    p.k = x[0]
    return p.k


READERS = {
    "operator": lambda x: o @ x, "reflected": lambda x: np.sum(x) * Pair(0.5),
    "an attribute of the class": lambda x: np.sum(o + x), "helper": lambda x: -o * x[0],
    "length": lambda x: len(o) * x[0], "iterated": lambda x: sum(v * x[0] for v in o), "item": lambda x: o[1] * x[0],
    "in": lambda x: x[0] * (3.0 if 2.5 in o else 1.0),
    "truth": lambda x: x[0] * (2.0 if o else 1.0), "less": lambda x: x[0] * (2.0 if o < 1 else 1.0),
    "float": lambda x: float(o) * x[0],
    "round": lambda x: round(o) * x[0],
    "with": with_block, "with a generator": with_generator, "array": lambda x: x @ np.asarray(o),
    "in a list": lambda x: LISTED[0] @ x, "in a dict": lambda x: KEYED["o"] @ x,
    "nested": lambda x: NESTED[1][0][0] @ x, "in a loop": loop,
    "get": lambda x: KEYED.get("o") @ x,
    "in a list of an object": lambda x: HOLDER.parts[0] @ x, "of an object": lambda x: HOLDER.o @ x,
    "key": lambda x: max(LISTED, key=len) @ x,
    "made inside": lambda x: np.sum((Pair(x) * Pair(x)).v), "an abstract class": lambda x: Concrete(x[0]).value(),
    "after a generated constructor": lambda x: Counted(x[0]).k,
    "a metaclass": lambda x: Scaled(x[0]).k, "a setter": set_property, "greatest": lambda x: max(ORDERED).v * x[0],
}


def set_all(g, k, v):
    global G
    G, o.k, TABLE["g"], TABLE["inner"][0], SETTINGS.g, o.inner.b[0], ORDERED[0].v = g, k, g, v, g, v, v
    W[:] = [v, v, 1.0]
    Operators.factor = k


def slope(f):
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])


def assert_follows(f, changes):
    compiled, gradient = fad.jit(f), fad.grad(f)
    for change in changes:
        change()
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-12)
        np.testing.assert_allclose(gradient(X), slope(f), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_nothing_that_such_methods_read_is_stale(name):
    assert_follows(READERS[name],
                   [lambda: set_all(2.0, 1.5, 1.0), lambda: set_all(4.0, 2.5, 0.3), lambda: set_all(2.0, 1.5, 1.0)])


@pytest.mark.parametrize("given, use",
                         [(o, lambda o, x: o @ x), (LISTED, lambda o, x: o[0] @ x), (KEYED, lambda o, x: o["o"] @ x),
                          (NESTED, lambda o, x: o[1][0][0] @ x),
                                        (HOLDER, lambda o, x: o.parts[0] @ x)],
                         ids=["object", "list", "dict", "nested", "holder"])
def test_objects_that_are_arguments(given, use):
    compiled, gradient = fad.jit(use), fad.grad(use, argnums=1)
    for values in ((2.0, 1.5, 1.0), (4.0, 2.5, 0.3)):
        set_all(*values)
        np.testing.assert_allclose(compiled(given, X), use(given, X), rtol=1e-12)
        np.testing.assert_allclose(gradient(given, X), slope(lambda x: use(given, x)), rtol=1e-5, atol=1e-6)


def test_methods_that_are_replaced(monkeypatch):
    f = lambda x: len(o) * (o @ x)
    assert_follows(f,
                   [lambda: set_all(2.0, 1.5, 1.0), lambda: monkeypatch.setattr(Operators, "__len__", lambda self: 5),
                       lambda: monkeypatch.setattr(Operators, "__matmul__", lambda self, x: np.sum(x))])


def test_what_such_methods_do_not_read_makes_no_new_program():
    set_all(2.0, 1.5, 1.0)
    compiled = fad.jit(lambda x: o @ x)
    compiled(X)
    assert compiled.traces == 1
    HOLDER.other = Scaled.other = 2.0                        # which no method of its class names
    compiled(X)
    assert compiled.traces == 1
    W[0] = 5.0
    compiled(X)
    assert compiled.traces > 1


def shifted(x, slope=0.4, shift=0.0):
    if np.sum(x) > 1.0:
        return np.sum(x * slope * G + shift)
    return np.sum(x * slope)


SHIFT = np.array([1.0, 2.0, 3.0])
PARTIAL, DEEPER = functools.partial(shifted,
                                    slope=0.9), functools.partial(functools.partial(shifted, slope=2.0), shift=SHIFT)
PARTIALS = {"p": functools.partial(shifted, slope=SHIFT)}


@pytest.mark.parametrize("f",
                         [lambda x: PARTIAL(x), lambda x: np.sin(PARTIAL(x * 3.0)), lambda x: DEEPER(x),
                          lambda x: PARTIALS["p"](x), lambda x: sum(map(PARTIAL, x)),
                               lambda x: functools.partial(PARTIAL, shift=x[1])(x[0])],
                         ids=["global", "composed", "nested", "in a dict", "mapped", "made inside"])
def test_functions_with_some_arguments_are_captured_and_not_stale(f):
    """What such a function decides by traced values is in the program; it went to the tape, and its keywords and
    globals were stale."""
    set_all(2.0, 1.5, 1.0)
    PARTIAL.keywords["slope"] = 0.9
    compiled, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for change in (lambda: None, lambda: PARTIAL.keywords.update(slope=0.2), lambda: set_all(3.0, 1.5, 1.0),
                   lambda: SHIFT.__imul__(2.0)):
        change()
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-12)
        np.testing.assert_allclose(gradient(X), slope(f), rtol=1e-5, atol=1e-6)
