"""Snapshots: what differs is seen, what is equal is not taken for a change."""
import sys
from collections import OrderedDict, deque

import numpy as np
import pytest

from fad.trace.guards.snapshot import Snapshot, is_same


class Box:
    def __init__(self, **values):
        vars(self).update(values)


def deep(x):
    return Snapshot(x, deep=True, is_open=lambda x: isinstance(x, Box))


CHANGES = {
    "an element": ([1.0, 2.0], lambda x: x.__setitem__(0, 3.0)), "a length": ([1.0], lambda x: x.append(2.0)),
    "a kind": ([1.0], lambda x: x.__setitem__(0, 1)),
    "a truth": ([1], lambda x: x.__setitem__(0, True)), "a zero's sign": ([0.0], lambda x: x.__setitem__(0, -0.0)),
    "an order": ([1, 2], lambda x: x.reverse()),
    "a key": ({"a": 1}, lambda x: x.update(b=2)),
    "an order of keys": ({"a": 1, "b": 1}, lambda x: x.update(a=x.pop("a"))),
    "an order of an OrderedDict": (OrderedDict(a=1, b=1), lambda x: x.move_to_end("a")),
    "a set": ({1}, lambda x: x.add(2)),
    "a deque": (deque([1, 2]), lambda x: x.rotate()), "a list in a tuple": (([1],), lambda x: x[0].append(2)),
    "two that were one": ([[1]] * 2, lambda x: x.__setitem__(1, [1])),
    "a text": (np.array(["a"]), lambda x: x.__setitem__(0, "b")),
    "a shape": (np.array(["a", "b"]), lambda x: x.resize((2, 1), refcheck=False)),
    "an attribute": (Box(k=1.0), lambda x: setattr(x, "k", 2.0)),
    "a new attribute": (Box(), lambda x: setattr(x, "k", 2.0)),
    "a class": (Box(), lambda x: setattr(x, "__class__", type("Other", (Box,), {}))),
    "a dict of attributes": (Box(k=1.0), lambda x: setattr(x, "__dict__", {"k": 2.0})),
    "an array": (Box(a=np.ones(2)), lambda x: x.a.__setitem__(0, 2.0)),
    "a bytearray": (bytearray(1), lambda x: x.__setitem__(0, 1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name):
    x, change = CHANGES[name]
    before = deep(x)
    assert before.is_unchanged()
    change(x)
    assert not before.is_unchanged()


@pytest.mark.parametrize("x, change",
                         [([1000.5], lambda x: x.__setitem__(0, float("1000.5"))),
                          ({"k": [1]}, lambda x: x.update(k=[1])),
                                       ([[1], [1]], lambda x: x.__setitem__(0, [1])),
                          (Box(k=0.5), lambda x: setattr(x, "__dict__", {"k": 0.5}))])
def test_equal_things_are_no_change(x, change):
    before = deep(x)
    change(x)
    assert before.is_unchanged()
    assert before.is_unchanged()


def test_what_takes_an_equal_things_place_is_watched():
    x = {"k": [1]}
    before = Snapshot(x)
    x["k"] = [1]
    assert before.is_unchanged()
    x["k"].append(2)
    assert not before.is_unchanged()


def test_depth_and_cycles_have_no_limit():
    inner = nest = [1.0]
    for _ in range(2 * sys.getrecursionlimit()):
        nest = [nest]
    inner.append(nest)
    before = Snapshot(nest)
    assert before.is_unchanged()
    inner[0] = float("1.0")
    assert before.is_unchanged()
    inner[0] = 2.0
    assert not before.is_unchanged()


def test_numbers_are_the_same_by_value_and_kind():
    assert is_same(np.float64(0.5), np.float64(0.5))
    assert not is_same(np.float64(0.5), 0.5)
    assert not is_same(complex(0.0, 0.0), complex(0.0, -0.0))
