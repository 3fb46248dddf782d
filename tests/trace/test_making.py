"""How objects are made: what Python runs for it is captured code, in a program and on the tape."""
import dataclasses
import warnings

import numpy as np
import pytest

import fad

from . import makers as m
from .scaled import assert_as_python_says

X = np.array([0.8, 0.55, 1.1])
FACTORS = {0: 1.5, 1: 2.5}
SHARED = ("kept", "single")              # one object for several calls: what is left in it is no part of a program


def made(cls, read=lambda made, x: made.a):
    """A program that makes two objects of a class, on either side of the class's threshold, and reads both."""
    return lambda x: read(cls(x[0]), x) * x[1] + read(cls(x[1] * 1.0), x) * x[2]


PROGRAMS = {
    "init": lambda x: m.Plain(x[0]).a * m.Plain(x[1]).a,
    "abstract_base": made(m.Concrete, lambda made, x: made.value(x)),
    "new": lambda x: m.ByNew(x[0]).b + m.ByNew(x[1], k=x[2]).b,
    "new_checks": made(m.Checked, lambda made, x: made.a * made.scale),
    "new_of_another_class": made(m.Other, lambda made, x: made.value(x)),
    "single": lambda x: m.Single(x[0]).a * np.sum(x),
    "kept": lambda x: m.Kept("a", x[0]).a * x[0] + m.Kept("bc", x[1]).a * x[1],
    "tuple": lambda x: m.Pair(x[0])[0] * m.Pair(x[1])[1],
    "list": made(m.Numbers, lambda made, x: made[1] * made.a + np.sum(x)),
    "dict": made(m.Tagged, lambda made, x: made["a"] * np.sum(x)),
    "metaclass": lambda x: m.OfCounting(x[0]).a * m.OfCounting(x[1], x[2]).extra,
    "metaclass_branches": made(m.OfDoubling, lambda made, x: made.twice * np.sum(x) + made.a),
    "past_super": lambda x: m.OfPastSuper(x[0]).a * x[1],
    "init_subclass": made(m.Cubic),
    "dataclass": lambda x: m.Data(x[0]).c + m.Data(x[1], b=x[2], seen=x[0]).rows[1] * m.Data(x[2]).rows[0],
    "derived_dataclass": lambda x: m.DerivedData(x[0]).d + m.ByHand(x[1]).c * m.ByHand(x[2]).c,
    "fields": made(m.Record, lambda made, x: made.value(x)),
    "derived_fields": made(m.DerivedRecord, lambda made, x: made.value(x)),
    "frozen": lambda x: m.Frozen(x[0]).b * m.Frozen(x[1]).b,
    "slots": lambda x: m.Slotted(x[0]).b * x[1],
    "slots_of_a_base": made(m.SlottedRoot),
    "in_a_loop": lambda x: sum([m.Data(v).c * m.Plain(v).a for v in x]),
    "in_a_branch": lambda x: (m.Data(x[0]) if x[1] > 0.5 else m.Data(x[2])).c,
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
        warnings.simplefilter("error", fad.InternalErrorWarning)
        warnings.simplefilter("ignore" if place is on_the_tape or name in SHARED else "error", fad.FallbackWarning)
        assert_as_python_says(value, gradient, f, m.SCALE, (2.0, 0.75, 2.0), X)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in SHARED])
@pytest.mark.parametrize("transform", [fad.jit, fad.grad], ids=["jit", "grad"])
def test_they_are_part_of_the_program(name, transform):
    f = PROGRAMS[name]
    whole = transform(f, fallback=False)(X)
    slope = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(whole, f(X) if transform is fad.jit else slope, rtol=1e-6)


@pytest.mark.parametrize("cls, name", [(m.Plain, "__init__"), (m.Base, "__init__"), (m.ByNew, "__new__"),
                                       (m.Data, "__post_init__"), (m.Counting, "__call__")])
def test_what_makes_them_is_guarded(monkeypatch, cls, name):
    def f(x):
        return (m.Plain(x[0]).a + m.ByNew(x[0]).b + m.Data(x[0]).c + m.OfCounting(x[0]).extra
                + m.Concrete(x[0] * 1.0).value(x))
    g = fad.jit(f)
    before = g(X)
    assert before == pytest.approx(f(X))
    of_before = getattr(cls, name)

    def changed(self, *args, **kwargs):
        made = of_before(self, *args, **kwargs)
        for part in ("a", "b", "c", "extra"):
            if hasattr(made or self, part):
                setattr(made or self, part, 7.0)
        return made
    with monkeypatch.context() as patch:
        patch.setattr(cls, name, changed)
        assert g(X) == pytest.approx(f(X))
    assert g(X) == before


def test_an_abstract_class_makes_no_object():
    with pytest.raises(TypeError, match="abstract"):
        fad.grad(lambda x: m.Base(x[0]).value(x))(X)


def test_fields_that_hold_their_default_are_the_objects_own(traces):
    @dataclasses.dataclass
    class Agent:
        at: float
        days: int = 0

    def f(x):
        agents, total = [Agent(v) for v in x], 0.0
        for day in range(3):
            for a in agents:
                if a.at > day * 0.5:
                    a.days += 1
                total += a.at * a.days
        return total
    gradient = fad.grad(f, fallback=False)
    for x in (np.array([0.3, 0.7, 1.2]), np.array([1.3, 0.2, 0.6]), np.array([0.3, 0.7, 1.2])):
        np.testing.assert_allclose(gradient(x), [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)], rtol=1e-6)
    assert len(traces) == 1
