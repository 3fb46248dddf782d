"""Objects that a function returns: each call of a program makes them anew, with its own values."""
import functools
import itertools
import warnings
import weakref
from array import array
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

import fad

from ..turns import in_tiers

MADE = []


class Plain:
    name = "of the class"

    def __init__(self, a, kind="fit"):
        MADE.append(1)
        self.a, self.kind, self.parts = a, kind, [a * 2.0, "text"]

    def total(self):
        return np.sum(self.a) + self.parts[0]


class Slotted:
    __slots__ = ("a", "rest")

    def __init__(self, a):
        self.a = a


class Derived(Slotted):
    def __init__(self, a):
        super().__init__(a)
        self.inner = Plain(a * 3.0)


class Checked:
    """Its attributes are set by its own method, which does not run again."""

    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


class Listed(list):
    pass


class Gathered(set):
    pass


class Twin(tuple):
    pass


def told(y):
    """All that a result holds, by class."""
    if isinstance(y, (bytearray, array)):
        return [type(y), list(y)]
    if type(y) is np.ndarray and y.ndim or isinstance(y, np.ma.MaskedArray):
        return [type(y), y.tolist()]
    if isinstance(y, np.random.RandomState):
        return y.get_state()[2:]
    if isinstance(y, type([].append)) and isinstance(y.__self__, list):
        return told(y.__self__)
    if isinstance(y, (np.ndarray, np.generic, int, float, str, type(None))) or callable(y) and hasattr(y, "__name__"):
        return y
    if isinstance(y, (list, tuple, deque, set)):
        return [type(y), *map(told, y)]
    if isinstance(y, dict):
        return {k: told(x) for k, x in y.items()}
    if isinstance(y, functools.partial):
        return [type(y), told(y.func), told(y.args), told(y.keywords)]
    if isinstance(y, slice):
        return [type(y), y.start, y.stop, y.step]
    names = [*getattr(y, "__dict__", ()), *[n for c in type(y).__mro__ for n in vars(c).get("__slots__", ())]]
    return [type(y), {n: told(getattr(y, n)) for n in names if hasattr(y, n)}]


PROGRAMS = {
    "plain": Plain, "slots": Slotted, "derived": Derived, "checked": Checked,
    "namespace": lambda x: SimpleNamespace(x=x, fun=np.sin(x), message="done"),
    "nested": lambda x: {"fit": SimpleNamespace(a=Slotted(x)), "all": [Plain(x), (Derived(x), None)]},
    "deque": lambda x: (deque([x, x * 2.0], 5), deque([1.0])),
    "slice": lambda x: [SimpleNamespace(part=slice(x, 3)), slice(1, 2)],
    "partial": lambda x: functools.partial(np.power, x, where=True),
    "in a loop": lambda x: [Plain(x * k) for k in range(3)],
    "in a branch": lambda x: Plain(x if x > 0.7 else x * 2.0),
}


@pytest.mark.parametrize("name, compile", in_tiers(PROGRAMS))
def test_results_are_made_anew(name, compile):
    f = PROGRAMS[name]
    g = fad.jit(f, fallback=False, compile=compile)
    first, second, third = g(0.5), g(0.8), g(0.5)
    assert told(first) == told(third) == told(f(0.5))
    assert told(second) == told(f(0.8))
    assert first is not third


def test_init_does_not_run_again():
    g = fad.jit(Plain, fallback=False)
    g(0.5)
    MADE.clear()
    assert g(0.8).total() == 0.8 + 1.6 and not MADE


def test_what_was_there_before_is_returned_itself():
    kept = Plain(1.0)
    g = fad.jit(lambda x: (kept, kept.a * x), fallback=False)
    assert g(0.5)[0] is kept and g(0.8)[0] is kept


def test_derivatives_of_what_objects_hold():
    value, tangent = fad.jvp(lambda x: SimpleNamespace(y=x * x, s=np.sin(x)), (0.5,), (2.0,))
    assert (value.y, tangent.y, tangent.s) == (0.25, 2.0, pytest.approx(2.0 * np.cos(0.5)))
    slope, seen = fad.grad(lambda x: (x * x, Plain(x)), has_aux=True)(0.5)
    assert slope == 1.0 and seen.total() == 1.5
    batch = fad.vmap(lambda x: SimpleNamespace(y=x * x))(np.arange(3.0))
    np.testing.assert_array_equal(batch.y, [0.0, 1.0, 4.0])
    assert fad.grad(lambda x: fad.jvp(lambda x: Plain(x * x), (x,), (1.0,))[1].total())(0.5) == 6.0


OPAQUE = {
    "closure": (lambda x: lambda: x, lambda y: y()), "generator": (lambda x: (v for v in [x]), list),
    "iterator": (lambda x: iter([x]), list), "zip": (lambda x: zip([x], [x]), list),
    "map": (lambda x: map(abs, [x]), list),
    "error": (lambda x: ValueError(x), lambda y: y.args),
    "cycle": (lambda x: itertools.cycle([x]), next),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_other_things_that_hold_traced_values_are_refused(name):
    """They are there on the tape, where a function runs at every call."""
    f, read = OPAQUE[name]
    with pytest.raises(fad.FadError, match="the result holds a traced value"):
        fad.jit(f, fallback=False)(0.5)
    with pytest.warns(fad.FallbackWarning):
        assert read(fad.jit(f)(0.5)) == read(f(0.5))


def test_an_object_that_holds_itself():
    def f(x):
        y = Plain(x)
        y.parts = [y]
        return y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        y = fad.jit(f)(0.5)
    assert y.parts[0].a == 0.5


def test_a_traced_value_is_found_among_any_number_of_others():
    def f(x):
        y = Plain(x)
        y.parts = [[float(k)] for k in range(12_000)]
        return y
    first, second = fad.jit(f)(0.5), fad.jit(f)(0.25)
    assert (first.a, second.a, second.parts[-1]) == (0.5, 0.25, [11_999.0])


def test_methods_of_new_lists_are_returned():
    count = fad.jit(lambda x: [x, 0.5, x].count, fallback=False)
    assert (count(0.5)(0.5), count(0.25)(0.25)) == (3, 2)


NEW = {
    "array of C's": (lambda x: array("d", [1, 2]), lambda y: y.append(9)),
    "bytes": (lambda x: (x, bytearray(b"ab")), lambda y: y[1].append(9)),
    "texts": (lambda x: np.array(["a", "b"]), lambda y: y.__setitem__(0, "c")),
    "dates": (lambda x: np.array(["2020-01-01"], "datetime64[D]"), lambda y: y.__setitem__(0, "2021-01-01")),
    "objects": (lambda x: np.array([None, "a"], dtype=object), lambda y: y.__setitem__(0, "c")),
    "records": (lambda x: np.rec.array([(1.0, 2)], dtype=[("a", float), ("b", int)]), lambda y: y.a.fill(9.0)),
    "masked": (lambda x: (x, np.ma.array([1.0, 2.0], mask=[0, 1])), lambda y: y[1].__setitem__(0, 9.0)),
    "polynomial": (lambda x: np.poly1d([1.0, 2.0]), lambda y: y.__setitem__(0, 9.0)),
    "partial": (lambda x: functools.partial(max, [1]), lambda y: y.args[0].append(9)),
    "list of a class": (lambda x: Listed([1, [2]]), lambda y: y[1].append(9)),
    "set of a class": (lambda x: Gathered([1]), lambda y: y.add(9)),
    "tuple of a class": (lambda x: Twin(([1], 2)), lambda y: y[0].append(9)),
    "generator": (lambda x: np.random.RandomState(3), lambda y: y.normal()),
    "method": (lambda x: [1, 2].append, lambda y: y(9)),
    "set": (lambda x: {1, 2}, lambda y: y.add(9)), "sets": (lambda x: [x, {1}], lambda y: y[1].add(9)),
    "deque": (lambda x: deque([1, 2]), lambda y: y.append(9)),
    "slots": (lambda x: Slotted(1), lambda y: setattr(y, "a", 9)),
    "object": (lambda x: Plain(1), lambda y: y.parts.append(9)),
    "namespace": (lambda x: SimpleNamespace(n=1, rows=[1]), lambda y: y.rows.append(9)),
}


@pytest.mark.parametrize("name", NEW)
def test_a_caller_who_changes_a_result_does_not_change_the_next_one(name):
    """Also where it holds no traced value: the program had made it once."""
    f, change = NEW[name]
    slope = fad.grad(lambda x: (x * x, f(x)), has_aux=True, fallback=False)
    for g in (fad.jit(f, fallback=False), lambda x: slope(x)[1]):
        y = g(0.5)
        change(y)
        assert told(g(0.5)) == told(f(0.5)) != told(y)


ITERATORS = {"generator": lambda x: (k for k in range(3)), "zip": lambda x: zip([1], [2]),
             "iter": lambda x: iter([1, 2]), "enumerate in a dict": lambda x: {"rows": enumerate("ab")}.popitem()[1]}


@pytest.mark.parametrize("name", ITERATORS)
def test_iterators_are_new_at_each_call(name):
    f = ITERATORS[name]
    with pytest.raises(fad.FadError, match="whose items are there once"):
        fad.jit(f, fallback=False)(0.5)
    slope = fad.grad(lambda x: (x * x, f(x)), has_aux=True)
    for g in (fad.jit(f), lambda x: slope(x)[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            assert list(g(0.5)) == list(g(0.5)) == list(f(0.5))


OLD = {"texts": np.array(["a", "b"]), "bytes": bytearray(b"ab"), "array of C's": array("d", [1.0]), "set": {1},
       "polynomial": np.polynomial.Polynomial([1.0, 2.0]), "within": ([bytearray(b"ab")],)}


@pytest.mark.parametrize("name", OLD)
def test_what_stood_outside_is_no_new_thing(name):
    g = fad.jit(lambda x: (OLD[name][0][0] if name == "within" else OLD[name], x), fallback=False)
    for x in (0.5, 0.8):
        assert g(x)[0] is (OLD[name][0][0] if name == "within" else OLD[name])


SHARED = {"list": lambda x: [x], "constants": lambda x: [1], "dict": lambda x: {"a": x}, "object": Plain,
          "set": lambda x: {1}, "bytes": lambda x: bytearray(b"ab"), "nested": lambda x: [[x], {"a": Plain(x)}],
          "filled in a loop": lambda x: [x * k for k in range(int(np.ceil(x)) + 2)]}


@pytest.mark.parametrize("name, compile", in_tiers(SHARED))
def test_one_thing_at_several_places_of_a_result_is_one_thing(name, compile):
    def f(x):
        y = SHARED[name](x)
        return y, {"again": [y, y]}, (y, x)
    g = fad.jit(f, compile=compile)
    for x in (0.5, 0.8, 0.5):
        first, second, third = g(x)
        assert first is second["again"][0] is second["again"][1] is third[0]
        assert told(first) == told(SHARED[name](x))


def test_lists_within_objects_are_those_beside_them():
    def f(x):
        y = SimpleNamespace(a=[x], fixed=Slotted(1))
        y.b = y.a
        return y, y.a, y.fixed
    g = fad.jit(f, fallback=False)
    for x in (0.5, 0.8):
        y, a, fixed = g(x)
        assert y.a is y.b is a and y.fixed is fixed and a == [x]


def test_an_object_that_is_left_outside_is_returned_itself():
    kept = {}

    def f(x):
        if "plain" not in kept:
            kept["plain"] = Slotted(2.0)
        return kept["plain"], kept["plain"].a * x
    g = fad.jit(f, fallback=False)
    assert g(0.5)[0] is g(0.8)[0] is kept["plain"]


class Gone:
    """An object that nobody holds."""


PROXY_OF_NOTHING = weakref.proxy(Gone())


def test_a_copy_of_a_result_asks_nothing_of_what_it_does_not_copy():
    """Modules can be reached from the class of a result; there a proxy of what is gone answers no question."""
    def f(x):
        return array("d", [1.0, 2.0]), x.sum()
    assert fad.jit(f, fallback=False)(np.ones(2)) == (array("d", [1.0, 2.0]), 2.0)
