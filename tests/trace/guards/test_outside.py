"""What a function takes from outside is never stale: attributes, containers, default values, whether changed in place
or bound anew."""
import ctypes
import dataclasses
import functools
import types
import warnings
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple

import numpy as np
import pytest
from scipy import special

import fad


class Operator:
    """Python itself calls its methods."""

    def __init__(self):
        self.A, self.shift = np.eye(3), 1.0

    def __matmul__(self, x):
        return np.log(self.A + 2) @ x + self.shift


class Model:
    scale = np.array([1.0, 2.0, 3.0])

    def __init__(self):
        self.W, self.k = np.array([1.0, 2.0, 3.0]), 2.0
        self.parts, self.table, self.sizes = [np.ones(3)], {"a": np.ones(3), "rate": 0.5}, [1, 2]
        self.inner, self.operator = types.SimpleNamespace(b=np.ones(3)), Operator()
        self.__private = np.ones(3)

    def product(self, x):
        return np.sum(self.W * 2 * x)

    def of_the_class(self, x):
        return np.sum(self.scale * x)

    def raw_function(self, x):
        return np.sum(np.log(self.W) * x) + np.linalg.norm(self.W) * np.sum(special.gammaln(self.W))

    def number(self, x):
        return self.k * np.sum(x)

    def in_a_list(self, x):
        return np.sum(self.parts[0] * 2 * x) + sum([np.sum(p * x) for p in self.parts])

    def in_a_dict(self, x):
        return np.sum(self.table["a"] * 2 * x) * self.table["rate"] * self.table.get("rate")

    def list_of_numbers(self, x):
        return sum(self.sizes) * np.sum(x)

    def in_an_object(self, x):
        return np.sum(self.inner.b * 2 * x)

    def mangled(self, x):
        return np.sum(self.__private * 2 * x)

    def loop(self, x):
        s = 0.0
        for i in range(3):
            s += self.W[i] * 2 * x[i]
        for w in self.W:
            s += w * np.sum(x)
        return s

    def branch(self, x):
        return np.sum(x) if self.W[0] > 5 else np.sum(2 * x)

    def converted(self, x):
        return float(self.W[0]) * np.sum(x) + np.sum(np.array(self.W.tolist()) * x)

    def as_structure(self, x):
        return np.sum(x[:int(self.W[0]) % 3])

    @property
    def twice(self):
        return self.W * 2

    def through_a_property(self, x):
        return np.sum(self.twice * x)

    def __call__(self, x):
        return np.sum(self.W * x * x)

    def by_getattr(self, x):
        return np.sum(getattr(self, "W") * 2 * x) * getattr(self, "nothing", 3.0)      # noqa: B009

    def by_an_operator(self, x):
        return np.sum(self.operator @ x)

    def in_a_generator(self, x):
        def terms():
            for i in range(3):
                yield self.W[i] * 2 * x[i]
        return sum(terms())

    def change_in_place(self):
        for weights in (self.W, self.parts[0], self.table["a"], self.inner.b, self.__private, self.operator.A):
            weights *= 10
        self.k, self.table["rate"], self.sizes[0], self.operator.shift = 3.0, 0.75, 5, 4.0
        Model.scale *= 2

    def change_by_binding(self):
        self.W, self.k, self.sizes = self.W * 10, 3.0, [7]
        self.parts[0], self.table["a"], self.table["rate"] = self.parts[0] * 3, self.table["a"] * 3, 0.75
        self.inner.b, self.__private, Model.scale = self.inner.b * 3, self.__private * 3, Model.scale * 2
        self.operator = Operator()
        self.operator.A *= 3


READERS = [name for name, f in vars(Model).items()
           if callable(f) and name not in ("__init__", "change_in_place", "change_by_binding")]
X = np.array([1.0, 2.0, 3.0])


def slope(f):
    return np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])


def assert_follows(f, *changes):
    """jit and grad of f see the changes."""
    compiled, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for change in (lambda: None, lambda: None, *changes):
        change()
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-12)
        np.testing.assert_allclose(gradient(X), slope(f), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("is_closure", [False, True], ids=["method", "closure"])
def test_attributes(name, is_closure):
    m = Model()
    f = getattr(m, name) if name != "__call__" else m
    assert_follows((lambda x: f(x)) if is_closure else f, m.change_in_place, m.change_by_binding)


def test_containers_and_modules():
    rates, seen = {"lr": 2.0, "nested": {"q": [1.0]}}, {1.0}
    box, module = types.SimpleNamespace(a=2.0), types.ModuleType("settings")
    pair = namedtuple("Pair", "a b")(np.ones(3), 2.0)
    module.c, module.A = 2.0, np.ones(3)
    steps = [1.0, 2.0, 3.0]

    def f(x):
        total = rates["lr"] * np.sum(x) + rates["nested"]["q"][0] + sum(seen) * x[0] + box.a * x[1]
        total += module.c * np.sum(np.exp(module.A) * x)
        return total + np.sum(np.array(steps) * x) + np.sum(pair.a * 2 * x) * pair.b

    def change():
        rates["lr"], rates["nested"]["q"][0], box.a, module.c, steps[0] = 3.0, 4.0, 5.0, 6.0, 7.0
        seen.add(9.0)
        module.A *= 2
        pair.a[:] *= 3
    assert_follows(f, change, lambda: steps.__setitem__(1, 2), lambda: setattr(module, "A", np.zeros(3)))


class Point(ctypes.Structure):
    _fields_ = [("u", ctypes.c_double), ("v", ctypes.c_int)]


def test_numbers_of_c():
    number, row, point = ctypes.c_double(2.0), (ctypes.c_double * 3)(1.0, 2.0, 3.0), Point(1.0, 2)
    box = types.SimpleNamespace(rows=[(ctypes.c_float * 2)(0.5, 0.25)])

    def f(x):
        of_rows = sum(v * x[1] for v in row) + np.array(row) @ x + box.rows[0][1] * x[0]
        return number.value * x[0] + point.u * point.v * x[2] + of_rows

    def change():
        number.value, row[0], point.u, box.rows[0][1] = 3.0, 5.0, 7.0, 0.75
    assert_follows(f, change)


class Attributes(dict):
    """A dict whose elements are its attributes, as many write it: what it lacks is a KeyError."""

    __getattr__ = dict.__getitem__


class Named(list):
    """A list with an attribute."""

    name = ""


KINDS_OF_DICTS = [OrderedDict, functools.partial(defaultdict, float), Counter, ChainMap, UserDict, Attributes]
KINDS_OF_LISTS = [deque, UserList, Named, lambda x: Attributes(enumerate(x))]


@pytest.mark.parametrize("make", KINDS_OF_DICTS)
def test_all_kinds_of_dicts(make):
    rates, weights, box = make({"a": 2.0,
                                "b": 3.0}), make({"a": np.ones(3),
                                                  "b": 2.0 * np.ones(3)}), types.SimpleNamespace(table=make({"a": 1.0}))
    shown = types.MappingProxyType(rates)

    def f(x):
        total = rates["a"] * np.sum(x) + np.sum(weights["b"]) * x[0] + box.table["a"] * x[1] + shown["a"] * x[2]
        for key, w in weights.items():
            total += np.sum(np.sin(w * x)) * rates[key]
        return total

    def change():
        rates["a"], box.table["a"] = 5.0, 7.0
        weights["b"][:] = 3.0
    assert_follows(f, change, lambda: weights.update(a=np.full(3, 0.3)), lambda: rates.update(c=1.0))


@pytest.mark.parametrize("make", KINDS_OF_LISTS)
def test_all_kinds_of_lists(make):
    factors, weights, table = make([2.0, 3.0]), make([np.ones(3), 2.0 * np.ones(3)]), array("d", [1.0, 2.0])

    def f(x):
        total = factors[0] * np.sum(x) + table[0] * x[1] * len(factors)
        return total + np.sum(weights[1]) * x[0] + np.sum(np.sin(weights[0] * x))

    def change():
        factors[0], table[0] = 5.0, 7.0
        weights[1][:] = 3.0

    def change_elements():
        weights[0] = np.full(3, 0.3)
    assert_follows(f, change, change_elements)


@pytest.mark.parametrize("make", [deque, UserList, lambda x: UserDict(enumerate(x)), lambda x: array("d", x)])
def test_containers_among_the_arguments_that_are_no_trees(make):
    def f(x, factors):
        return np.sum(x * factors[0]) + factors[1]
    compiled, gradient, factors = fad.jit(f), fad.grad(f), make([2.0, 3.0])
    for value in (2.0, 2.0, 5.0, 7.0):
        factors[0] = value
        np.testing.assert_allclose(compiled(X, factors), f(X, factors))
        np.testing.assert_allclose(gradient(X, factors), value)


def test_attributes_of_lists():
    weights = Named([np.ones(3)])

    def f(x):
        return np.sum(weights[0] * x * x) * len(weights.name)
    assert_follows(f, lambda: setattr(weights, "name", "ab"), lambda: weights[0].fill(3.0))


def test_default_values_and_partial():
    from functools import partial
    a, b = np.ones(3), np.ones(3)

    def f(x, w=a, *, v=b):
        return np.sum(np.log(w + 1) * x) + np.sum(v * 2 * x)
    assert_follows(f, lambda: a.__imul__(3), lambda: b.__imul__(3))

    def g(w, x, scale):
        return np.sum(np.log(w + 1) * x) * scale[0]
    assert_follows(partial(g, a, scale=b), lambda: a.__imul__(3), lambda: b.__imul__(3))


def test_code_without_source():
    scope = {"np": np, "box": types.SimpleNamespace(W=np.ones(3), k=2.0)}
    exec("def f(x): return np.sum(np.log(box.W + 1) * x) * box.k", scope)
    assert_follows(scope["f"], lambda: scope["box"].W.__imul__(3), lambda: setattr(scope["box"], "k", 3.0))


@dataclasses.dataclass
class State:
    v: object
    t: object


class Vector:
    def __init__(self, a):
        self.a = a

    def __add__(self, other):
        return Vector(self.a + other.a)


def test_objects_that_the_function_makes_are_its_own():
    def f(x):
        s = State(x, 0.0)
        for i in range(3):
            s.t, s.v = s.t + x[i] ** 2, s.v * 1.1
        s = dataclasses.replace(s, t=s.t * 2)
        return np.sum(s.v) + s.t + np.sum((Vector(x) + Vector(x * x)).a)
    assert_follows(f)


class Cell:
    def __init__(self):
        self.h, self.log, self.state, self.count = np.zeros(3), [], {"m": np.zeros(3), "t": 0}, 0

    def step(self, x):
        self.h = np.tanh(self.h + x)
        return np.sum(self.h)

    def logged(self, x):
        self.log.append(np.sum(x))
        return np.sum(x * x)

    def momentum(self, x):
        self.state["t"] += 1
        self.state["m"] = 0.9 * self.state["m"] + x
        return np.sum(self.state["m"]) * self.state["t"]


@pytest.mark.parametrize("name", ["step", "logged", "momentum"])
def test_what_a_function_leaves_outside_is_delivered(name):
    plain, staged = Cell(), Cell()
    f = fad.jit(getattr(staged, name), fallback=False)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(f(X), getattr(plain, name)(X))
        np.testing.assert_allclose(staged.h, plain.h)
        assert staged.log == plain.log and staged.state["t"] == plain.state["t"]
        np.testing.assert_allclose(staged.state["m"], plain.state["m"])


def test_counters_count_every_call():
    cell = Cell()

    def f(x):
        cell.count += 1
        return np.sum(x) * cell.count
    g = fad.jit(f, fallback=False)
    assert [g(X) for _ in range(3)] == [6.0, 12.0, 18.0]
    assert cell.count == 3


class Doubled:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x * 2

    def __exit__(self, *error):
        return False


def test_return_within_with():
    def f(x):
        with Doubled(x) as y:
            return np.sum(y * y)

    def g(x):
        try:
            if x[0] > 0:
                return np.sum(x)
            y = x * 2
        finally:
            x = x * 1
        return np.sum(y)
    assert_follows(f)
    assert_follows(g)


def test_arrays_of_an_outer_list_in_nested_transforms():
    def f(x, v):
        return np.sum(np.sin(x) * v)
    for xs in ([np.arange(3.0), np.ones(3)], [np.arange(3.0), 2.0]):
        at = lambda t: f(t, *xs[1:])                          # noqa: B023 - called at once
        np.testing.assert_allclose(fad.hvp(at, xs[0], np.ones(3), fallback=False), -np.sin(xs[0]) * xs[1])
        of_slope = fad.grad(lambda t: np.sum(fad.grad(at)(t) ** 2), fallback=False)  # noqa: B023
        np.testing.assert_allclose(of_slope(xs[0]), -2 * np.cos(xs[0]) * np.sin(xs[0]) * xs[1] ** 2)


CACHE, TABLES = {}, {"eye": np.eye(2)}


def from_a_cache(x):
    n = len(x)
    if n not in CACHE:
        CACHE[n] = np.arange(n) * 2.0
    return np.sum(x * CACHE[n])


def from_a_cache_with_arrays(x):
    n = len(x)
    if n not in TABLES:
        TABLES[n] = np.arange(n) * 2.0 + TABLES["eye"][0, 0]
    return np.sum(x * TABLES[n])


@functools.lru_cache
def weights(n):
    return np.linspace(0.0, 1.0, n) ** 2


def from_a_cached_function(x):
    return np.sum(x * weights(len(x)))


@pytest.mark.parametrize("f", [from_a_cache, from_a_cache_with_arrays, from_a_cached_function])
def test_what_is_known_may_be_left_in_a_cache(f):
    jitted, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for n in (3, 5, 3, 6, 5):
        for container in (CACHE, TABLES):
            for key in [k for k in container if isinstance(k, int) and n == 6]:
                del container[key]
        x = np.arange(1.0, n + 1)
        value, slope = jitted(x), gradient(x)
        np.testing.assert_allclose(value, f(x))
        np.testing.assert_allclose(slope, [f(e) for e in np.eye(n)])
    assert all(type(a) is np.ndarray for container in (CACHE, TABLES) for a in container.values())
    traces = jitted.traces
    for n in (3, 5, 3, 5):
        jitted(np.ones(n))
    jitted_again = jitted.traces
    for n in (3, 5, 3, 5):
        jitted(np.ones(n))
    assert jitted.traces == jitted_again >= traces
