"""Dataclasses: the containers that their fields begin with, objects with several names, and objects that hold each
other."""
import gc
import math
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import fad
from fad.util import tree
from fad.util.errors import FallbackWarning, StructureError

from ..fuzz.differences import slope


@dataclass
class Node:
    value: Any
    parent: Any = None
    parts: list = field(default_factory=list)

    def add(self, value):
        new = Node(value, self)
        self.parts.append(new)
        return new

    def total(self):
        return self.value + (0.5 * self.parent.total() if self.parent is not None else 0.0)


@dataclass
class Shape:
    sides: list = field(default_factory=list)


class BySuper(Shape):
    def __init__(self, *lengths):
        super().__init__()
        for length in lengths:
            self.sides.append(Node(length))


class ByName(Shape):
    def __init__(self, *lengths):
        Shape.__init__(self)
        for length in lengths:
            self.sides.append(Node(length))


@dataclass
class Finished:
    value: Any
    sides: list = field(default_factory=list)
    named: dict = field(default_factory=dict)

    def __post_init__(self):
        self.sides.append(Node(self.value))
        self.named["double"] = Node(2.0 * math.exp(self.value))


class FinishedBySuper(Finished):
    def __init__(self, value):
        super().__init__(value * value)


class FinishedByName(Finished):
    def __init__(self, value):
        Finished.__init__(self, value * value)


@dataclass(slots=True)
class Slotted:
    value: Any
    sides: list = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    value: Any
    sides: list = field(default_factory=list)


@dataclass
class Clocked:
    """A field has the name of a module of this file."""

    value: Any
    time: float = 0.0


def clocked(x):
    assert time.time                                          # the module is here
    made = Clocked(x[0])
    made.time += x[1]
    return made.value * made.time


def chain(x):
    node = Node(x[0])
    for i in range(1, 4):
        node = node.add(x[i] * x[0])
    return node.total() * len(node.parent.parts)


def tree_of_parts(x):
    root = Node(x[0])
    root.add(x[1]).add(x[2] ** 2)
    return root.parts[0].parts[0].total() * root.value


def by_super(x):
    shape = BySuper(x[0], x[1] * x[0])
    return shape.sides[0].value * shape.sides[1].value * len(shape.sides)


def by_name(x):
    shape = ByName(x[0], x[1] * x[0])
    return shape.sides[0].value * shape.sides[1].value * len(shape.sides)


def finished(x, cls=Finished):
    made = cls(x[0])
    made.sides.append(Node(x[1]))
    return made.sides[0].value * made.named["double"].value * made.sides[1].value * len(made.sides)


def finished_by_super(x):
    return finished(x, FinishedBySuper)


def finished_by_name(x):
    return finished(x, FinishedByName)


def slotted(x):
    made = Slotted(x[0])
    made.sides.append(Node(x[1]))
    return made.sides[0].value * made.value * len(made.sides)


def frozen(x):
    made = Frozen(x[0])
    made.sides.append(Node(x[1]))
    return made.sides[0].value * made.value * len(made.sides)


X = np.array([1.5, 0.4, -0.7, 2.0])


@pytest.mark.parametrize("f", [chain, tree_of_parts, by_super, by_name, finished, slotted, frozen, clocked,
                               finished_by_super, finished_by_name],
                         ids=lambda f: f.__name__)
def test_containers_that_fields_begin_with(f):
    """They are the function's own: it is compiled, and no call leaves anything."""
    g = fad.value_and_grad(f, fallback=False)
    for x in (X, X + 0.3):
        value, gradient = g(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(gradient, [slope(f, x, e)[0] for e in np.eye(4)], rtol=1e-5, atol=1e-7)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(40):
        g(X)
    gc.collect()
    assert len(gc.get_objects()) - before < 20


@pytest.mark.parametrize("cls", [Finished, FinishedBySuper, FinishedByName], ids=lambda cls: cls.__name__)
def test_fields_on_the_tape(cls):
    def f(x):
        if "nan" in repr(x):                                  # a text of a number
            return x
        made = cls(np.sin(x))
        return made.named["double"].value * made.sides[0].value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        value, gradient = fad.value_and_grad(f)(0.7)
    assert value == pytest.approx(f(0.7), rel=1e-14)
    assert gradient == pytest.approx(slope(f, 0.7, 1.0)[0], rel=1e-6)


@dataclass
class Plain:
    value: Any


@dataclass(slots=True)
class PlainSlotted:
    value: Any


class ByHand:
    def __init__(self, value):
        self.value = value


class Holder:
    one = other = None

    def __init__(self):
        self.every = []


@pytest.mark.parametrize("on_tape", [False, True], ids=["compiled", "tape"])
@pytest.mark.parametrize("cls", [Plain, PlainSlotted, ByHand], ids=lambda cls: cls.__name__)
def test_an_object_left_under_several_names_is_one(cls, on_tape):
    holder = Holder()

    def f(x):
        if on_tape and "nan" in repr(x):                     # a text of a number
            return x
        made = cls(2 * x)
        holder.one = holder.other = made
        holder.every.append(made)
        return x ** 2
    g = fad.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        for k in range(3):
            assert g(1.5 + k) == 3.0 + 2 * k
            assert holder.one is holder.other is holder.every[k]
            assert holder.one.value == 3.0 + 2 * k


class Pair(NamedTuple):
    a: Any
    b: Any


def ring():
    root = Node(1.0)
    root.add(2.0)
    return root


@pytest.mark.parametrize("call", [
    lambda: tree.flatten(ring()),
    lambda: fad.grad(lambda n: n.parts[0].total())(ring()),
    lambda: fad.grad(lambda x, n: n.parts[0].total() * x)(2.0, Pair(ring(), 1.0)),
], ids=["tree", "differentiated", "beside"])
def test_an_argument_that_holds_itself(call):
    with pytest.raises(StructureError, match="class Node holds itself"):
        call()


def test_a_result_that_holds_itself():
    def f(x):
        root = Node(x)
        root.add(2 * x)
        return x * x, root
    with pytest.raises(StructureError, match="class Node holds itself"):
        fad.grad(f, has_aux=True)(1.5)


def test_objects_outside_that_hold_each_other():
    root = ring()
    g = fad.value_and_grad(lambda x: root.parts[0].total() * x)
    assert g(2.0) == (5.0, 2.5)
    root.value = 5.0
    assert g(2.0) == (9.0, 4.5)

    def f(x):
        return root.add(x).total()
    for k in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            assert fad.value_and_grad(f)(1.5) == (4.0, 1.0)
        assert len(root.parts) == k + 2
        assert root.parts[-1].parent is root
        assert root.parts[-1].value == 1.5
