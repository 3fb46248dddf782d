"""The law of special methods: Python's value and gradient, and the user's methods called as often as Python calls them,
and in its order; at the first call and at later ones, when the object has changed, in programs and on the tape.
"""
import copy
import types

import numpy as np
import pytest

import fad

from ..turns import crossed
from . import counted

POINTS = [np.array([0.7 + 0.1 * k, 1.1 - 0.1 * k, 0.4 + 0.05 * k]) for k in range(5)]
PLACES = ["a variable", "an attribute", "the function"]
STATE = ("hits", "state", "_v", "v", "_p", "k", "kept")


class Program:
    """A case with an object of its own: f, and what can be seen of its state."""

    def __init__(self, name, place):
        counted.LOG.clear()
        counted.COUNT = 0
        cls, use = counted.CASES[name]
        self.rate, self.owner = 0.5, None if place == "the function" else cls(0.5)
        holder = types.SimpleNamespace(o=self.owner)
        self.f = {"a variable": lambda x, o=self.owner: use(o, x), "an attribute": lambda x: use(holder.o, x),
                  "the function": lambda x: use(cls(self.rate), x)}[place]

    def change(self, k):
        """The rate is another one at the third call, and at the fourth."""
        self.rate = {3: 0.75, 4: 0.625}.get(k, self.rate)
        if self.owner is not None and k in (3, 4):
            (setattr if isinstance(self.owner, dict) else object.__setattr__)(self.owner, "rate", self.rate)

    def seen(self):
        found = {}
        for name in STATE:
            try:
                found[name] = copy.deepcopy(object.__getattribute__(self.owner, name))
            except AttributeError:
                pass
        return list(counted.LOG), counted.COUNT, found

    def ran(self, g, last, x=None):
        """The results of calls up to the last one, each with the state behind it."""
        found = []
        for k in range(last + 1):
            self.change(k)
            counted.LOG.clear()
            found.append((g(POINTS[k] if x is None or k < last else x), self.seen()))
        return found


def is_same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    return np.isclose(a, b) if isinstance(a, float) else type(a) is type(b) and a == b


@pytest.mark.parametrize("name,place,counter,tier",
                         crossed(list(counted.CASES), PLACES, counted.COUNTERS, ["never", "tape", "now"], count=18))
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_methods_are_called_as_python_calls_them(name, place, counter, tier, monkeypatch):
    monkeypatch.setattr(counted, "hit", counter)

    def python(last, x=None):
        program = Program(name, place)
        return program.ran(program.f, last, x)
    want, last = python(len(POINTS) - 1), len(POINTS) - 1
    program = Program(name, place)
    g = fad.value_and_grad(program.f, compile="never" if tier == "tape" else tier)
    found = program.ran((lambda x: g.on_tape((x,), {})) if tier == "tape" else g, last)
    for (value, state), ((got, _), state_found) in zip(want, found, strict=True):
        assert np.isclose(value, got)
        assert state[:2] == state_found[:2]
        assert is_same(state[2], state_found[2])
    for k in (1, last):
        slope = [(python(k, POINTS[k] + h)[-1][0] - python(k, POINTS[k] - h)[-1][0]) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(found[k][0][1], slope, rtol=1e-5, atol=1e-6)


def test_a_global_that_an_uncaptured_method_assigns_is_refused(monkeypatch):
    """The program has a copy of the names that it assigns."""
    monkeypatch.setattr(counted, "hit", counted.in_a_global)
    o = counted.CONVERTED(0.5)
    with pytest.raises(fad.FadError, match="both assign COUNT"):
        fad.grad(lambda x: np.sum(x ** 2) * float(o) + len(hex(o)))(np.ones(3))
