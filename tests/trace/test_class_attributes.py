"""Attributes of classes, objects and modules that a function sets to things of all kinds: what they hold afterwards is
what Python leaves there."""

import enum
import math
import types

import numpy as np
import pytest

import fad

from ..turns import in_tiers

X = np.array([0.7, 0.2])


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


def square(v):
    return v * v


class Other:
    gain = 3.0


OTHER, LIST = Other(), [1.0]
THINGS = {"function": square, "builtin": math.sin, "ufunc": np.sin, "class": Other, "static": staticmethod(square),
          "property": property(square), "enum": Mode.FAST, "number": 2.5, "text": "a", "list": LIST, "None": None,
          "object": OTHER, "method": OTHER.__init__, "module": math, "type": float, "array": np.ones(2)}


def owner_of(kind):
    """A new class, object or module with two attributes."""
    if kind == "module":
        made = types.ModuleType("owner")
        made.first, made.second = 0.0, square
        return made
    cls = type("Owner", (), {"first": 0.0, "second": square})
    return cls if kind == "class" else cls()


def set_once(owner, thing):
    def f(x):
        owner.first = thing
        return np.sum(x ** 2)
    return f


def set_in_place_of_a_function(owner, thing):
    def f(x):
        owner.second = thing
        return np.sum(x ** 2)
    return f


def put_back(owner, thing):
    def f(x):
        before, owner.first = owner.first, thing
        try:
            return np.sum(x ** 2)
        finally:
            owner.first = before
    return f


def chosen(owner, thing):
    def f(x):
        owner.first = Mode.FAST if x[0] > 0.5 else Mode.SLOW
        owner.second = square if x[0] > 0.5 else thing
        return np.sum(x ** 2) * owner.first.value
    return f


def held(owner):
    return {name: owner.__dict__.get(name, "nothing") for name in ("first", "second")}


def calls_leave_what_python_leaves(make, kind, thing, policy):
    ours, pythons = owner_of(kind), owner_of(kind)
    f, plain = make(ours, thing), make(pythons, thing)
    g = fad.value_and_grad(f, compile=policy)
    for x in (X, 1.0 - X, X):
        value, slope = g(x)
        assert np.isclose(value, plain(x)) and np.allclose(slope, value / np.sum(x ** 2) * 2.0 * x)
        got, want = held(ours), held(pythons)
        assert all(got[name] is want[name] for name in want), (got, want)
    return g


@pytest.mark.parametrize("make", [set_once, set_in_place_of_a_function, put_back])
@pytest.mark.parametrize("kind", ["class", "object", "module"])
@pytest.mark.parametrize("thing, policy", in_tiers(THINGS))
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_thing_is_set(thing, kind, make, policy):
    calls_leave_what_python_leaves(make, kind, THINGS[thing], policy)


@pytest.mark.parametrize("policy", ["now", "never"])
@pytest.mark.parametrize("thing", ["builtin", "ufunc"])
@pytest.mark.parametrize("kind", ["class", "object"])
def test_data_choose_the_thing(kind, thing, policy):
    g = calls_leave_what_python_leaves(chosen, kind, THINGS[thing], policy)
    assert g.traces <= 3 and not g.fallback.reasons


def test_the_class_of_a_chosen_thing_is_asked_for():
    def f(x):
        mode, rule = (Mode.FAST, square) if x[0] > 0.5 else (Mode.SLOW, np.sin)
        gain = 2.0 if type(mode) is Mode and isinstance(mode, Mode) and hasattr(mode, "value") else 3.0
        return np.sum(x ** 2) * gain + (1.0 if isinstance(rule, types.FunctionType) else 0.0)
    g = fad.value_and_grad(f)
    with pytest.warns(fad.FallbackWarning, match="which of several functions"):
        assert np.isclose(g(X)[0], f(X)) and np.isclose(g(1.0 - X)[0], f(1.0 - X))


def test_objects_are_callable_once_their_class_has_a_call():
    class Plain:
        pass
    o = Plain()

    def f(x):
        return 2.0 * np.sum(x) if callable(o) else np.sum(x)
    jitted = fad.jit(f, compile="never")
    assert jitted(X) == f(X) == np.sum(X)
    Plain.__call__ = lambda self: 1.0
    assert jitted(X) == f(X) == 2.0 * np.sum(X)
    del Plain.__call__
    assert jitted(X) == f(X) == np.sum(X)
