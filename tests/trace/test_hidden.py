"""What objects of C code hold, and those of Python's own library that read files: operations on them (`o[k]`, `len(o)`)
read what nobody sees. It changes between calls, and the function is as in Python."""
import ctypes
import functools
import mmap
import re
import shelve
import threading
import warnings
from pathlib import Path
from unittest import mock

import numba
import numpy as np
import pytest
from scipy import spatial

import fad
from fad.util.where import is_of_c

from ..turns import in_tiers
from .guards.test_guards import X, slopes

TABLE = {"a": 1.0, "rows": [1.0, 2.0]}


class Passing:
    """Passes for what it stands for, as proxies do."""

    def __init__(self, target):
        object.__setattr__(self, "_target", target)

    @property
    def __class__(self):
        return type(self._target)

    def __getattr__(self, name):
        return getattr(self._target, name)

    def __getitem__(self, key):
        return self._target[key]


class Model:
    rate = 2.0

    def loss(self, x):
        return self.rate * np.sum(x**2)


def mapped():
    memory = mmap.mmap(-1, 8)
    memory[0] = 3
    return lambda x: memory[0] * np.sum(x**2), lambda k: memory.__setitem__(0, 4 + k)


def pointed():
    number = ctypes.c_double(2.0)
    pointer = ctypes.pointer(number)
    return lambda x: pointer[0] * np.sum(x**2), lambda k: setattr(number, "value", 4.0 + k)


def called_back():
    rates = [2.0]
    pointer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda t: t * rates[0])
    return lambda x: pointer(2.0) * np.sum(x**2), lambda k: rates.__setitem__(0, 4.0 + k)


def pointed_in_a_structure():
    class Parameters(ctypes.Structure):
        _fields_ = [("rate", ctypes.POINTER(ctypes.c_double))]
    number = ctypes.c_double(2.0)
    parameters = Parameters(ctypes.pointer(number))
    return lambda x: parameters.rate[0] * np.sum(x**2), lambda k: setattr(number, "value", 4.0 + k)


def typed_list():
    values = numba.typed.List([1.0, 2.0])
    return lambda x: values[1] * np.sum(x**2) * len(values), lambda k: values.__setitem__(1, 4.0 + k)


def typed_dict():
    values = numba.typed.Dict()
    values["a"] = 1.0
    return lambda x: values["a"] * np.sum(x**2), lambda k: values.__setitem__("a", 4.0 + k)


def tree_of_points():
    points = np.array([[0.0, 1.0], [2.0, 3.0]])
    tree = spatial.cKDTree(points)
    return lambda x: tree.query([0.1, 0.2])[0] * np.sum(x**2), lambda k: points.__setitem__((0, 1), 4.0 + k)


def points_of_a_tree():
    points = np.array([[0.0, 1.0], [2.0, 3.0]])
    tree = spatial.KDTree(points)
    return lambda x: tree.data[0, 1] * np.sum(x**2), lambda k: points.__setitem__((0, 1), 4.0 + k)


def shelved(tmp_path):
    shelf = shelve.open(str(tmp_path / "shelf"))
    shelf["a"] = 1.0
    return lambda x: shelf["a"] * np.sum(x**2), lambda k: shelf.__setitem__("a", 4.0 + k)


def seen_bytes():
    memory = bytearray(b"abc")
    view = memoryview(memory)
    return lambda x: view[0] * np.sum(x**2), lambda k: memory.__setitem__(0, 4 + k)


def passing():
    proxy = Passing(model := Model())
    return lambda x: proxy.loss(x), lambda k: setattr(model, "rate", 4.0 + k)


def mocked():
    model = mock.Mock(spec=Model, rate=2.0)
    return lambda x: model.rate * np.sum(x**2), lambda k: setattr(model, "rate", 4.0 + k)


MAKERS = [mapped, pointed, called_back, pointed_in_a_structure, typed_list, typed_dict, shelved, seen_bytes, passing,
          mocked, tree_of_points, points_of_a_tree]


@pytest.mark.parametrize("make, policy", in_tiers(MAKERS))
def test_what_is_hidden_is_as_it_is_now(make, policy, tmp_path):
    f, change = make(tmp_path) if make is shelved else make()
    g = fad.value_and_grad(f, compile=policy)
    for k in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            value, slope = g(X)
        assert np.isclose(value, f(X))
        np.testing.assert_allclose(slope, slopes(f, X), rtol=1e-6)
        change(k)


def test_memory_that_a_view_shows_and_the_function_writes():
    array = np.ones(3)
    view = memoryview(array)

    def f(x):
        array[0] = x[0]
        return view[0] * x[1]
    with warnings.catch_warnings(), pytest.raises(fad.FadError):
        warnings.simplefilter("ignore", fad.FallbackWarning)
        fad.grad(f)(X)


def test_who_passes_for_a_container():
    table = Passing({"a": 2.0})
    with pytest.raises(fad.FadError, match="passes for a dict"):
        fad.grad(lambda x: table["a"] * x[0])(X)


def test_who_passes_for_a_container_in_a_list():
    tables = [Passing({"a": 2.0})]
    with pytest.warns(fad.FallbackWarning, match="passes for a dict"):
        np.testing.assert_allclose(fad.grad(lambda x: tables[0]["a"] * x[0])(X), [2.0, 0.0, 0.0])


def test_locks_hide_nothing():
    class Guarded:
        def __init__(self):
            self.lock, self.rate = threading.Lock(), 2.0

        def loss(self, x):
            with self.lock:
                return self.rate * np.sum(x**2)
    guarded = Guarded()
    np.testing.assert_allclose(fad.grad(guarded.loss, fallback=False)(X), 4.0 * X)


@pytest.mark.parametrize("x, is_it", [(abs, True), (Model, False), (Model().loss, False),
                                      (functools.lru_cache(abs), False)])
def test_what_c_has_made(x, is_it):
    assert is_of_c(x) == is_it


class Decorated:
    """Passes for the function that it decorates, as decorators of C code do."""

    def __init__(self, f):
        self.decorated = f

    @property
    def __class__(self):
        return type(self.decorated)

    def __getattr__(self, name):
        if name == "decorated":                               # not there yet
            raise AttributeError(name)
        return getattr(self.decorated, name)

    def __get__(self, owner, cls=None):
        return Decorated(self.decorated.__get__(owner, cls))

    def __call__(self, *args):
        COUNTS["calls"] += 1
        return self.decorated(*args) * TABLE["a"]


COUNTS = {"calls": 0}


@Decorated
def squared(x):
    return np.sum(x**2)


class WithMethod:
    rate = 2.0

    @Decorated
    def loss(self, x):
        return self.rate * np.sum(x**2)


HAS_METHOD = WithMethod()
DECORATED = {
    "itself": squared,
    "a name": lambda x: squared(x),
    "a method": lambda x: HAS_METHOD.loss(x),
    "a bound method": HAS_METHOD.loss,
    "in a table": lambda x: {"f": squared}["f"](x),
    "an argument": lambda x: functools.reduce(lambda total, f: total + f(x), [squared, squared], 0.0),
}


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("use, policy", in_tiers(DECORATED))
def test_who_passes_for_a_function_is_called_itself(use, policy, monkeypatch):
    f = DECORATED[use]
    g = fad.value_and_grad(f, compile=policy)
    for k in range(3):
        monkeypatch.setitem(TABLE, "a", 3.0 + k)
        monkeypatch.setattr(HAS_METHOD, "rate", 5.0 + k, raising=False)
        before = COUNTS["calls"]
        value, slope = g(X)
        ours, before = COUNTS["calls"] - before, COUNTS["calls"]
        assert np.isclose(value, f(X))
        assert ours == COUNTS["calls"] - before
        np.testing.assert_allclose(slope, slopes(f, X), rtol=1e-6)


def test_functions_are_told_by_their_type():
    """isinstance asks a proxy what it passes for."""
    folder = Path(fad.__file__).parent
    asked = re.compile(r"isinstance\([\w.]+, (?:Function|Method|BuiltinFunction)Type\)")
    assert not [f"{p}: {line}" for p in (folder / "trace").rglob("*.py") for line in asked.findall(p.read_text())]
