"""Trees: what is taken apart and put together again is as it was, with all that an instance holds beside its parts."""
import warnings
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import fad
from fad.util import tree

Pair = namedtuple("Pair", "a b")


class Named(Pair):
    unit = 1.0


class Checked(namedtuple("Checked", "a b")):
    def __new__(cls, a):
        return super().__new__(cls, a, a * 2.0)


@dataclass
class Data:
    a: float
    b: float = 2.0
    unit = 1.0

    def __post_init__(self):
        self.product = self.a * self.b


@dataclass
class Set:
    a: float
    n: int = field(init=False, default=2)
    unit = 1.0


@dataclass(slots=True)
class Slots:
    a: float
    b: float = 2.0


class Table(dict):
    unit = 1.0


MADE = {
    "a named tuple": lambda v: Pair(v, 2.0),
    "a class of a named tuple": lambda v: with_unit(Named(v, 2.0), v),
    "a named tuple that checks": lambda v: Checked(v),
    "a dataclass": lambda v: with_unit(Data(v), v),
    "a field that is not given": lambda v: with_unit(Set(v), v),
    "slots": lambda v: Slots(v),
    "a class of a dict": lambda v: with_unit(Table(z=v, a=2.0), v),
    "a default dict": lambda v: defaultdict(float, a=v),
    "a counter": lambda v: Counter(a=v),
    "an ordered dict": lambda v: OrderedDict(z=v, a=1.0),
}


def with_unit(made, v):
    made.unit = 3.0 * v
    return made


def held(x):
    """All that an instance holds."""
    own = {k: getattr(x, k) for k in getattr(type(x), "__slots__", ())} | getattr(x, "__dict__", {})
    items = list(x.items()) if isinstance(x, dict) else tuple(x) if isinstance(x, tuple) else None
    return type(x), items, dict(sorted(own.items())), getattr(x, "default_factory", None)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_put_together_is_what_was_taken_apart(make):
    x = make(1.5)
    leaves, structure = tree.flatten(x)
    assert held(structure.unflatten(leaves)) == held(x)
    assert len(structure.paths()) == structure.leaves == len(leaves)


def number(x):
    """A number that depends on all that a value holds."""
    own = sum(v * (k + 1) for k, v in enumerate(held(x)[2].values()))
    items = x.values() if isinstance(x, dict) else x if isinstance(x, tuple) else ()
    return own + sum(v * (k + 2) for k, v in enumerate(items)) + getattr(x, "unit", 0.0) ** 2


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@pytest.mark.parametrize("tier", ["never", "now"])
def test_a_transform_sees_all_that_an_argument_holds(make, tier):
    with fad.config.using(compile=tier):
        g = fad.jit(number)
        for v in (1.5, 0.5, 2.5):
            assert np.isclose(g(make(v)), number(make(v)))
            x = make(v)
            if hasattr(x, "__dict__"):
                x.more = 0.25
                assert np.isclose(g(x), number(x))


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_branches_and_loops_hand_on_all_that_a_value_holds(make):
    def branch(v):
        x = make(v[0])
        if v[1] > 0.3:
            x = make(v[1] * 2.0)
        return number(x)

    def loop(v):
        x = make(v[0])
        for u in v:
            if u > 0.6:
                x = make(u + (x["a"] if isinstance(x, dict) else x.a))
        return number(x)
    points = [np.array([0.5, 0.2, 0.9]), np.array([0.5, 0.7, 0.1])]
    with warnings.catch_warnings(), fad.config.using(compile="never"):
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for f in (branch, loop):
            g = fad.value_and_grad(f)
            for v in points:
                slope = [(f(v + d) - f(v - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
                value, gradient = g(v.copy())
                assert np.isclose(value, f(v))
                np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-6)
