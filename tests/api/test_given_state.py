"""Arguments that are no numbers or arrays: their state is read anew at each call, as that of things outside is."""
import array
import collections
import ctypes
import dataclasses
import functools
import io
import itertools
import random
import types
import weakref

import numpy as np
import pytest
import scipy.sparse
from scipy.interpolate import CubicSpline

import fad

from ..trace.guards.test_guards import slopes

X = np.array([0.7, 1.3])


class Model:
    scale = 2.0

    def __init__(self):
        self.rate, self.weights = 1.0, np.arange(3.0)

    def __call__(self, x):
        return self.scale * self.rate * x[0] * x[1] + self.weights[0] * x[0]


class Slots:
    __slots__ = ("rate",)

    def __init__(self):
        self.rate = 1.0


@dataclasses.dataclass
class Named:
    name: str = "a"


class Struct(ctypes.Structure):
    _fields_ = [("rate", ctypes.c_double)]


def closure():
    rate = 1.0

    def f(x):
        return rate * x[0] * x[1]

    def change(value):
        nonlocal rate
        rate = value
    f.change = change
    return f


shared = Model()
# what is given; what the function computes of it; a change of it
GIVEN = {
    "object": (Model, "o(x)", "o.rate += 1"),
    "array of an object": (Model, "o(x)", "o.weights[0] += 1"),
    "class attribute": (lambda: type("Own", (Model,), {})(), "o(x)", "type(o).scale = 5.0"),
    "class": (lambda: type("Own", (), {"k": 2.0}), "o.k * x[0] * x[1]", "o.k = 5.0"),
    "slots": (Slots, "o.rate * x[0] * x[1]", "o.rate += 1"),
    "objects in a list": (lambda: [Model()], "o[0](x)", "o[0].rate += 1"),
    "objects in a set": (lambda: {shared}, "sum([m(x) for m in o])", "shared.rate += 1"),
    "set": (lambda: {1}, "len(o) * x[0] * x[1]", "o.add(len(o) + 1)"),
    "deque": (lambda: collections.deque([1.0]), "o[0] * x[0] * x[1]", "o.appendleft(len(o) + 1.0)"),
    "order": (lambda: collections.OrderedDict(a=1.0, b=2.0), "[*o.values()][0] * x[0] * x[1]", "o.move_to_end('a')"),
    "UserDict": (lambda: collections.UserDict(a=1.0), "o['a'] * x[0] * x[1]", "o['a'] += 1"),
    "namespace": (lambda: types.SimpleNamespace(a=1.0), "o.a * x[0] * x[1]", "o.a += 1"),
    "module": (lambda: types.ModuleType("own"), "getattr(o, 'a', 2.0) * x[0] * x[1]", "o.a = 5.0"),
    "name of a dataclass": (Named, "x[0] * x[1] if o.name == 'a' else x[0]", "o.name += 'b'"),
    "proxy": (lambda: types.MappingProxyType(vars(shared)), "o['rate'] * x[0] * x[1]", "shared.rate += 1"),
    "weak reference": (lambda: weakref.ref(shared), "o()(x)", "shared.rate += 1"),
    "weak proxy": (lambda: weakref.proxy(shared), "o.rate * x[0] * x[1]", "shared.rate += 1"),
    "function": (closure, "o(x)", "o.change(7.0)"),
    "method": (lambda: Model().__call__, "o(x)", "o.__self__.rate += 1"),
    "partial": (lambda: functools.partial(Model()), "o(x)", "o.func.rate += 1"),
    "array.array": (lambda: array.array("d", [1.0]), "o[0] * x[0] * x[1]", "o[0] += 1"),
    "bytearray": (lambda: bytearray(b"abc"), "o[0] * x[0] * x[1]", "o[0] += 1"),
    "memoryview": (lambda: memoryview(np.arange(3.0)), "o[1] * x[0] * x[1]", "o[1] += 1"),
    "buffer of bytes": (lambda: io.BytesIO(b"abc"), "o.getvalue()[0] * x[0] * x[1]", "o.seek(0); o.write(b'q')"),
    "array of C": (lambda: (ctypes.c_double * 2)(1, 2), "o[0] * x[0] * x[1]", "o[0] += 1"),
    "struct of C": (lambda: Struct(1.0), "o.rate * x[0] * x[1]", "o.rate += 1"),
    "records": (lambda: np.array([(1.0, 2)], dtype=[("a", float), ("b", int)]), "o['a'][0] * x[0] * x[1]",
                "o['a'][0] += 1"),
    "array of objects": (lambda: np.array([1.0, None], dtype=object), "o[0] * x[0] * x[1]", "o[0] += 1"),
    "array of texts": (lambda: np.array(["a"]), "x[0] * x[1] if o[0] == 'a' else x[0]", "o[0] = 'b'"),
    "sparse matrix": (lambda: scipy.sparse.csr_array(np.eye(2)), "np.sum((o @ x) ** 2)", "o.data[0] += 1"),
    "spline": (lambda: CubicSpline(np.arange(4.0), np.arange(4.0) ** 2), "np.sum(o(x))", "o.c[3] += 1"),
    "iterator": (lambda: itertools.count(1), "next(o) * x[0] * x[1]", ""),
    "generator": (lambda: (k + 1.0 for k in range(99)), "next(o) * x[0] * x[1]", ""),
    "random.Random": (lambda: random.Random(3), "o.random() * x[0] * x[1]", ""),
    "random generator": (lambda: np.random.default_rng(3), "o.normal(size=2) @ x", ""),
}


def of_text(text):
    names = {**globals()}
    exec(f"def f(x, o): return {text}", names)
    return names["f"]


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("is_made_anew", [False, True], ids=["one function", "made anew"])
@pytest.mark.parametrize("kind", GIVEN)
def test_the_state_of_an_argument_is_read_at_each_call(kind, is_made_anew):
    make, text, change = GIVEN[kind]
    f, given, twin = of_text(text), make(), make()
    g = fad.value_and_grad(f)
    for _ in range(4):
        if is_made_anew:
            g = fad.value_and_grad(lambda x, o: f(x, o))
        value, slope = g(X, given)
        if change:
            np.testing.assert_allclose(slope, slopes(lambda x: f(x, given), X), rtol=1e-6, err_msg=change)
            assert np.isclose(value, f(X, given), rtol=1e-12)
            exec(change, {"o": given, "shared": shared})
        else:                                                 # it goes on as Python's does
            assert np.isclose(value, f(X, twin), rtol=1e-12)


def test_a_static_array_is_read_at_each_call():
    sizes = np.array([1, 2])
    total = fad.jit(lambda x, n: sum([np.sum(x[:k]) for k in n.tolist()]), static_argnums=1, fallback=False)
    for _ in range(3):
        assert total(np.ones(9), sizes) == sizes.sum()
        sizes[0] += 1
