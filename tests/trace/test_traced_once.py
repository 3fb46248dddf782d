"""Functions that change state are traced once more when it has changed, and not at each call."""

import collections
import copy
import dataclasses
import functools
import operator
import re
import types
from typing import NamedTuple

import numpy as np
import pytest

import fad
from fad.api.calls.staged_programs import StagedPrograms

from ..turns import in_tiers

X = np.array([0.5, 1.0, 2.0])


def method(*names, result=None):
    """A class that counts, with special methods that Python may call by itself."""
    body = {name: lambda self, *args: result(self, *args) for name in names}
    return type("Counted", (), {"__init__": lambda self: setattr(self, "count", 0), **body})


CLASSES = {
    "plain": method(),
    "call": method("__call__", result=lambda self, x: x),
    "length": method("__len__", result=lambda self: 3),
    "item": method("__getitem__", result=lambda self, k: 1.0),
    "sum": method("__add__", "__radd__", result=lambda self, other: other),
    "manager": method("__enter__", "__exit__", result=lambda self, *error: None),
    "iterator": method("__iter__", result=lambda self: iter([self.count])),
    "membership": method("__contains__", result=lambda self, x: self.count > 2),
    "truth": method("__bool__", result=lambda self: self.count > 2),
    "order": method("__lt__", result=lambda self, other: self.count < other.count),
    "index": method("__index__", result=lambda self: self.count),
    "text": method("__repr__", "__str__", result=lambda self: f"{self.count}"),
    "attribute": method("__getattr__", result=lambda self, name: object.__getattribute__(self, name)),
}


@pytest.fixture
def traces(monkeypatch):
    """How often functions are traced."""
    made, trace = [], StagedPrograms._traced_anew

    def counted(self, *args):
        made.append(self)
        return trace(self, *args)
    monkeypatch.setattr(StagedPrograms, "_traced_anew", counted)
    return made


def check(f, read, traces):
    g = fad.value_and_grad(f, fallback=False)
    begun = read()
    for k in range(6):
        value, slope = g(X + k)
        assert np.isclose(value, np.sum((X + k) ** 2)) and np.allclose(slope, 2.0 * (X + k))
    assert read() == begun + 6 and len(traces) <= 3


@pytest.mark.parametrize("kind", CLASSES)
def test_objects_that_count(kind, traces):
    counter = CLASSES[kind]()

    def f(x):
        counter.count += 1
        return np.sum(x ** 2)
    check(f, lambda: counter.count, traces)


def test_classes_that_count(traces):
    class Counter:
        count = 0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            Counter.count += 1

    def f(x):
        with Counter():
            return np.sum(x ** 2)
    check(f, lambda: Counter.count, traces)


@pytest.mark.parametrize("has_functions", [False, True])
def test_modules_that_count(has_functions, traces):
    module = types.ModuleType("counter")
    exec("count = 0" + "\ndef f(x): return x" * has_functions, module.__dict__)

    def f(x):
        module.count += 1
        return np.sum(x ** 2)
    check(f, lambda: module.count, traces)


@dataclasses.dataclass
class Scaled:
    value: float
    scale = 1.0


class Powers:
    rate = 0.5

    def power(self, x, kind):
        return self.rate * np.sum(x ** kind)

    square = functools.partialmethod(power, kind=2)


PATTERN, POWERS = re.compile(r"(\w+)=(\d+)"), Powers()


def attribute_that_a_new_object_has_from_its_class(x):
    s = Scaled(x[0])
    s.scale = 3.0
    for k in range(3):
        if x[k] > 0.5:
            s = Scaled(s.value + x[k])
            s.scale = s.scale * 2.0
    return s.value * s.scale


def method_of_c_code_with_keywords(x):
    return sum(float(m.group(2)) for m in PATTERN.finditer("a=1, b=2")) * np.sum(x)


def method_with_arguments_of_its_own(x):
    return POWERS.square(x)


@pytest.mark.parametrize("f", [attribute_that_a_new_object_has_from_its_class, method_of_c_code_with_keywords,
                               method_with_arguments_of_its_own])
def test_functions_that_change_nothing_are_traced_once(f, traces):
    g = fad.value_and_grad(f, fallback=False)
    for k in range(4):
        value, slope = g(X + k)
        assert np.isclose(value, f(X + k))
        assert np.isclose(slope[1], (f(X + k + [0, 1e-6, 0]) - f(X + k - [0, 1e-6, 0])) / 2e-6, rtol=1e-5)
    assert len(traces) == 1


# -- state that goes back and forth between a few values ---------------------------------------------------------------


def soft(x):
    return x / (1.0 + x * x)


class Scaling:
    """Its length is asked for by Python, so that all in it is guarded."""

    def __init__(self, rate):
        self.rate = rate

    def __len__(self):
        return 1


def texts():
    o = types.SimpleNamespace(mode="a")

    def f(x):
        o.mode = "b" if o.mode == "a" else "a"
        return np.sum(x ** 2) * (2.0 if o.mode == "a" else 3.0)
    return f, lambda: o.mode


def functions():
    o = types.SimpleNamespace(act=soft)

    def f(x):
        y = np.sum(o.act(x))
        o.act = np.sin if o.act is soft else soft
        return y
    return f, lambda: o.act is soft


def functions_in_a_list():
    acts = [soft, lambda x: x * 0.5]

    def f(x):
        acts.reverse()
        return np.sum(acts[0](x))
    return f, lambda: acts[0] is soft


def objects_in_a_list():
    parts = [Scaling(2.0), Scaling(3.0)]

    def f(x):
        parts.reverse()
        return np.sum(x ** 2) * parts[0].rate * len(parts[0])
    return f, lambda: parts[0].rate


def none_or_a_number():
    o = types.SimpleNamespace(limit=None)

    def f(x):
        y = np.sum(x ** 2) if o.limit is None else np.sum(x) * o.limit
        o.limit = 0.5 if o.limit is None else None
        return y
    return f, lambda: o.limit


@pytest.mark.parametrize("make, compiled", in_tiers(
    [texts, functions, functions_in_a_list, objects_in_a_list, none_or_a_number]))
def test_state_that_goes_back_and_forth(make, compiled, traces):
    (f, look), (staged, found_outside) = make(), make()
    g, h = fad.value_and_grad(staged, fallback=False, compile=compiled), 1e-6
    for k in range(8):
        slope = [(again(k, make)(X + k + d) - again(k, make)(X + k - d)) / (2 * h) for d in h * np.eye(3)]
        value, found = g(X + k)
        assert np.isclose(value, f(X + k)) and look() == found_outside()
        np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-7)
    assert len(traces) <= 4


def again(number, make):
    """The function as it is after this many calls."""
    f = make()[0]
    for _ in range(number):
        f(X)
    return f


def test_flag_that_is_set_and_reset_outside(traces):
    class model:
        training = True

    g = fad.value_and_grad(lambda x: np.sum(x ** 2) * (2.0 if model.training else 3.0), fallback=False)
    for k in range(8):
        model.training = k % 2 == 0
        value, slope = g(X)
        factor = 2.0 if model.training else 3.0
        assert np.isclose(value, factor * np.sum(X ** 2)) and np.allclose(slope, factor * 2.0 * X)
    assert len(traces) <= 3


@pytest.mark.parametrize("count", [2, 7, 12])
def test_a_number_outside_that_texts_are_made_of(count, traces):
    """The layers of a network are called in turn, and each is traced once."""
    layers = {f"layer{k}": np.full(3, k + 1.0) for k in range(count)}
    model = types.SimpleNamespace(turn=0)
    g = fad.grad(lambda x: np.sum(x * layers[f"layer{model.turn}"]), fallback=False)
    for _ in range(3):
        for model.turn in range(count):
            made = len(traces)
            np.testing.assert_array_equal(g(X), layers[f"layer{model.turn}"])
    assert len(traces) == made and made <= count + 3          # the last turns are traced no more


# -- state in what an object with special methods leads to: all of it is guarded, but for inputs -----------------------


class Model:
    """Python asks for its length, its float and its items by itself."""

    def __init__(self):
        self.parts, self.sub, self.scale = [0.5, 0.25], types.SimpleNamespace(n=0.0, v=np.array([0.1, 0.2, 0.3])), 1.0
        self.table = {"a": {"b": 0.5}, "n": np.int64(0)}

    def __len__(self):
        return len(self.parts)

    def __float__(self):
        return float(self.scale * self.parts[0] + self.sub.n)

    def __getitem__(self, k):
        return self.parts[k]


def counter(m, x):
    m.sub.n += 1


def number_in_a_dict(m, x):
    m.table["a"]["b"] = m.table["a"]["b"] * 0.5 + x[0]


def numpys_number(m, x):
    m.table["n"] = m.table.get("n", np.int64(0)) + 1


def element_of_a_list(m, x):
    m.parts[0] = m.parts[0] * 0.5 + x[1]


def array(m, x):
    m.sub.v = m.sub.v * 0.5 + x


def best(m, x):
    m.sub.n = max(m.sub.n, x[0] * 1.0)


def updated(m, x):
    m.table["a"].update(b=m.table["a"]["b"] + x[2])


def counted_by_errors(m, x):
    try:
        m.table["a"]["c"] += 1
    except KeyError:
        m.table["a"]["c"] = 1


def in_a_branch(m, x):
    if x[0] > 2.0:
        m.sub.n = float(x[0]) * 2.0


def swapped(m, x):
    m.parts[0], m.parts[1] = m.parts[1], m.parts[0]


READS = {
    "nothing": lambda m: 1.0,
    "by captured code": lambda m: float(m) + len(m) + m[0],
    "by C code": lambda m: sum(map(float, [m])) + operator.length_hint(m),
}


@pytest.mark.parametrize("read, compiled", [*[(read, "never") for read in READS], ("by C code", "now")])
@pytest.mark.parametrize("change", [counter, number_in_a_dict, numpys_number, element_of_a_list, array, best, updated,
                                    counted_by_errors, in_a_branch, swapped])
def test_what_an_object_with_special_methods_leads_to(change, read, compiled, traces):
    def made():
        m = Model()

        def f(x):
            change(m, x)
            return np.sum(x ** 2) * READS[read](m) * m.scale + m.parts[1]
        return m, f
    (m, g), (plain, f) = made(), made()
    g, h = fad.value_and_grad(g, compile=compiled), 1e-6
    for k in range(7):
        if k == 5:
            m.scale = plain.scale = 2.0                       # it is guarded as before
        slope = []
        for d in h * np.eye(3):
            ends = []
            for sign in (1.0, -1.0):
                kept = copy.deepcopy(vars(plain))
                ends.append(f(X + k + sign * d))
                vars(plain).update(kept)
            slope.append((ends[0] - ends[1]) / (2 * h))
        value, found = g(X + k)
        assert np.isclose(value, f(X + k))
        np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-7)
        assert repr(vars(m)) == repr(vars(plain))
    assert len(traces) <= 5


# -- tuples: their numbers and arrays are inputs, each by itself -------------------------------------------------------


class Moments(NamedTuple):
    count: int
    first: np.ndarray


def best_of_nothing():
    o = types.SimpleNamespace(best=None)

    def f(x):
        v = np.sum((x - 2.0) ** 2)
        if o.best is None or v < o.best[0]:
            o.best = (v, x.copy())
        return v + o.best[1][0]
    return f, lambda: o.best


def moments_of_an_optimizer():
    o = types.SimpleNamespace(state=(0, 0.0, np.zeros(3)))

    def f(x):
        n, a, b = o.state
        o.state = n + 1, a * 0.5 + float(x[0]), b * 0.9 + x
        return np.sum(x * o.state[2]) / o.state[0]
    return f, lambda: o.state


def named_tuple():
    held = [Moments(0, np.zeros(3))]

    def f(x):
        held[0] = held[0]._replace(count=held[0].count + 1, first=held[0].first * 0.5 + x)
        return np.sum(x * held[0].first) * held[0].count
    return f, lambda: held[0]


def tuple_of_tuples():
    table = {"a": ((1.0, 2), "fixed", np.ones(3))}

    def f(x):
        (v, n), text, w = table["a"]
        table["a"] = (v * 0.5 + float(x[1]), n + len(text)), text, w
        return np.sum(x * w) * table["a"][0][0] + n
    return f, lambda: table["a"]


def arrays_that_change_places_in_a_tuple():
    o = types.SimpleNamespace(pair=(np.ones(3), np.zeros(3)))
    first = o.pair[0]

    def f(x):
        o.pair = o.pair[1], o.pair[0]
        return np.sum(x * o.pair[0])
    return f, lambda: (o.pair, o.pair[0] is first, o.pair[1] is first)


def list_in_a_tuple():
    pair = (1.0, [0.5, 0.25])

    def f(x):
        pair[1][0] = pair[1][0] * 0.5 + float(x[0])
        return np.sum(x) * pair[1][0] * pair[0]
    return f, lambda: pair


def array_that_a_branch_keeps():
    o = types.SimpleNamespace(best=(np.inf, np.zeros(3)))
    seen = []

    def f(x):
        v = float(np.sum((x - 2.0) ** 2))
        if v < o.best[0]:
            o.best = (v, x * 1.0)
        return np.sum(x ** 2) + np.sum(o.best[1])

    def look():
        seen.append(o.best[1])
        return o.best, [y is o.best[1] for y in seen]
    return f, look


# -- containers from which something is taken: all that they hold is written -------------------------------------------


def queue_of_numbers():
    queue = collections.deque([0.1, 0.2])

    def f(x):
        queue.append(x[0])
        return np.sum(x ** 2) * queue.popleft() + queue[0]
    return f, lambda: list(queue)


def queue_of_constants():
    queue = collections.deque([2.0, 3.0, 4.0])

    def f(x):
        queue.rotate(1)
        return np.sum(x ** 2) * queue[0]
    return f, lambda: list(queue)


def window_of_points():
    queue = collections.deque([np.zeros(3), np.ones(3)], maxlen=2)
    kept = []

    def f(x):
        queue.append(x * 2.0)
        return np.sum(x * queue[0])

    def look():
        kept.append(queue[1])
        return list(queue), [y is queue[0] for y in kept]
    return f, look


def last_elements_of_a_list():
    log = [1.0, 2.0, 3.0]

    def f(x):
        log.append(log.pop(0) * 0.5 + float(x[0]))
        del log[0]
        log.insert(0, 0.5)
        return np.sum(x) * log[0] * log[1]
    return f, lambda: log


def item_that_is_taken_and_put_back():
    table = {"a": 1.0, "b": 2.0}

    def f(x):
        table["a"] = table.pop("a") * 0.5 + float(x[0])
        table["b"] += 1.0
        return np.sum(x ** 2) * table["a"] + table["b"]
    return f, lambda: list(table.items())


def order_of_keys():
    cache = collections.OrderedDict(a=np.ones(3), b=np.zeros(3))

    def f(x):
        cache.move_to_end("a")
        cache["a"] = cache["a"] * 0.5 + x
        return np.sum(cache["a"] * x)
    return f, lambda: list(cache.items())


def objects_in_a_queue():
    queue = collections.deque([Scaling(2.0), Scaling(3.0)])
    first = queue[0]

    def f(x):
        queue.append(queue.popleft())
        return np.sum(x ** 2) * queue[0].rate
    return f, lambda: [y is first for y in queue]


def same(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and (np.allclose(a, b, rtol=1e-12) if isinstance(a, (float, np.ndarray)) else a == b)


@pytest.mark.parametrize("make, compiled", in_tiers(
    [best_of_nothing, moments_of_an_optimizer, named_tuple, tuple_of_tuples, arrays_that_change_places_in_a_tuple,
    list_in_a_tuple, array_that_a_branch_keeps, queue_of_numbers, queue_of_constants, window_of_points,
    last_elements_of_a_list, item_that_is_taken_and_put_back, order_of_keys, objects_in_a_queue]))
def test_containers(make, compiled, traces):
    (f, look), (staged, found_outside) = make(), make()
    g, h = fad.value_and_grad(staged, fallback=False, compile=compiled), 1e-6
    points = [X + 0.3 * np.sin(3.0 * k + np.arange(3)) for k in range(7)]

    def after(number):
        plain = make()[0]
        for x in points[:number]:
            plain(x)
        return plain
    for k, x in enumerate(points):
        value, found = g(x)
        assert np.isclose(value, f(x)) and same(look(), found_outside()), (look(), found_outside())
        if k in (1, 6):
            slope = [(after(k)(x + d) - after(k)(x - d)) / (2 * h) for d in h * np.eye(3)]
            np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-7)
    assert len(traces) <= 4
