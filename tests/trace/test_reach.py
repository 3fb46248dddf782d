"""All that a call of code that is not captured may change is found, and what cannot change costs nothing."""
import collections
import contextvars
import ctypes
import functools
import re
import sys
import types
from array import array

import numpy as np
import pytest

import fad
from fad.trace.guards import led_to
from fad.trace.heap import opaque


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k


class Bare:
    __slots__ = ()


class Asked:
    """It has no attributes of its own, and answers with those of another object."""
    __slots__ = ()

    def __getattr__(self, name):
        raise AttributeError(name)


class Text(str):
    pass


def made():
    a = [1.0]
    text = Text("a")
    text.inside = a

    def reading():
        return a
    return {
        "a list": (a, a), "in a tuple": ((1, (2, a)), a), "in a dict": ({"a": a}, a), "in a set's text": ({text}, a),
        "an object": (types.SimpleNamespace(k=a), a), "a slot": (Slotted(a), a), "a variable": (reading, a),
        "a partial call": (functools.partial(max, a), a), "a method": (a.append, a),
        "a property": (property(reading), a), "a static method": (staticmethod(reading), a),
        "a deque": (collections.deque([a]), a), "a cell": (reading.__closure__[0], a),
        "a Python generator": ((1, x := np.random.default_rng(0)), x), "its bits": ([y := np.random.PCG64(0)], y),
        "a seed": ([s := np.random.SeedSequence(0)], s), "bytes": ([b := bytearray(3)], b),
        "an array of Python's": ([r := array("d", [1.0])], r), "a number of C": ([c := ctypes.c_double(1.0)], c),
        "a context variable": ([v := contextvars.ContextVar("v")], v), "an array": ([n := np.ones(2)], n),
        "a polynomial": ([p := np.poly1d([1.0, 2.0])], p),
    }


@pytest.mark.parametrize("name", made())
def test_what_may_change_is_found(name):
    start, expected = made()[name]
    found = list(opaque.reach([start]))
    assert any(type(x) is type(expected) and np.all(x == expected) for x in found)


def test_what_cannot_change_is_not_looked_at(monkeypatch):
    asked = []
    is_cell = opaque._is_cell
    monkeypatch.setattr(opaque, "_is_cell", lambda x: (asked.append(x), is_cell(x))[1])
    modules = {f"m{k}": types.ModuleType(f"m{k}") for k in range(500)}
    patterns = [re.compile(f"a{k}") for k in range(500)]
    table = [modules, patterns, [Bare() for _ in range(500)], dict(enumerate(map(str, range(500)))), sys.version_info]
    assert [id(x) for x in opaque.reach(table)].count(id(modules)) == 1
    assert len(asked) < 20


@pytest.mark.parametrize("cls, expected", [
    (re.Pattern, True), (re.Match, True), (Bare, True),
    (Asked, False), (Slotted, False), (Text, False), (types.BuiltinFunctionType, False), (type, False), (tuple, False),
    (np.random.Generator, False), (np.random.RandomState, False), (np.ndarray, False), (ctypes.c_double, False),
])
def test_classes_whose_objects_neither_change_nor_lead_on(cls, expected):
    assert led_to.is_inert(cls) is expected


def test_a_copy_of_a_dict_walks_through_nothing_that_stands_in_it(monkeypatch):
    walks, walk = [], opaque.reach
    monkeypatch.setattr(opaque, "reach", lambda values: walks.append(1) or walk(values))
    outside = {"a": [1.0], "b": 2.0}

    def copied(x):
        own = dict(outside, c=3.0)
        own["b"] = x
        own["a"].append(own["c"])
        return x * sum(own["a"])

    def plain(x):
        outside["a"].append(3.0)
        return x * sum(outside["a"])
    counts = []
    for f in (plain, copied):
        outside["a"][:], walks[:] = [1.0], []
        assert [float(fad.jit(f)(2.0)) for _ in range(3)] == [8.0, 14.0, 20.0]
        assert outside == {"a": [1.0, 3.0, 3.0, 3.0], "b": 2.0}
        counts.append(len(walks))
    assert counts[0] == counts[1]
