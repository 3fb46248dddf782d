"""What the guards of a program see: things that change in ways of Python's that are seldom used, and things that a
function of a pattern shares with others."""
from collections import deque

import numpy as np
import pytest

import fad
from fad.trace.guards.checks import Checks
from fad.trace.guards.guard import ValueGuard, WholeGuard

from ...fuzz.judge import executed
from ..test_changed_outside import CALLS, follows


def test_keyword_defaults_may_be_written_to():
    def scaled(x, *, k=0.5):
        return np.sum(x) * k
    follows(lambda x: scaled(x), lambda: scaled.__kwdefaults__.update(k=0.7),
            lambda: scaled.__kwdefaults__.update(k=0.9))


def test_the_class_of_a_list_has_attributes():
    class Rates(list):
        k = 1.0

        def total(self):
            return sum(self) * self.k
    rates = Rates([0.1, 0.2])
    follows(lambda x: np.sum(x) * rates.total() + rates.k, lambda: setattr(Rates, "k", 2.0), lambda: rates.append(0.5),
            lambda: setattr(rates, "k", 3.0), lambda: setattr(Rates, "total", lambda self: 7.0))


def test_the_dict_of_an_object_may_be_another_one():
    m = type("M", (), {"own": lambda self: 1.0})()
    m.rate = 0.5

    def f(x):
        return np.sum(x) * m.__dict__["rate"] + vars(m).get("bias", 0.0) + m.own()
    follows(f, lambda: setattr(m, "rate", 0.7), lambda: setattr(m, "__dict__", {"rate": 0.3, "bias": 2.0}),
            lambda: setattr(m, "__dict__", {"rate": 0.3, "own": lambda: 5.0}))


# what stays itself in a function that is made of a pattern
SHARED = {
    "a set": (lambda: {"a"}, "x[0] if 'b' in s else x[1]", "s.symmetric_difference_update('b')"),
    "a dict of ints": (lambda: {1: 0.5}, "x[0] * s[1]", "s[1] += 1.0"),
    "a dict of arrays": (lambda: {1: np.ones(3)}, "np.sum(x * s[1])", "s[1] = s[1] * 1.5"),
    "a deque": (lambda: deque([1.0]), "x[0] * s[-1] * len(s)", "s.append(2.0 * k)"),
    "texts": (lambda: np.array(["a"]), "x[0] if s[0] == 'a' else x[1]", "s[0] = 'ab'[k % 2]"),
    "a long list": (lambda: [0.5] * 200, "x[0] * sum(s)", "s[3] += 1.0"),
    "records": (lambda: np.zeros(2, [("a", float)]), "x[0] * s['a'][0]", "s['a'][0] += 1.0"),
}


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("is_object", [True, False])
def test_what_functions_of_one_pattern_share_has_guards(kind, is_object):
    make, read, change = SHARED[kind]
    index = np.array([0, 2])
    m, scope = [index, make()], {"np": np}
    index_text, shared = ("m.i", "m.s") if is_object else ("m[0]", "m[1]")
    executed(f"def made(m):\n    def f(x):\n        s = {shared}\n        return np.sum(x[{index_text}]) + ({read})\n"
             "    return f", scope)
    if is_object:
        m = type("M", (), {})()
        m.i, m.s = index, make()
    for k in range(CALLS):
        f = scope["made"](m)                                  # anew at each call
        if k > 1:
            exec(change, {"s": m.s if is_object else m[1], "k": k})
        x = np.array([1.0, 0.5, 0.25])
        assert np.isclose(fad.value_and_grad(f, compile="never")(x)[0], f(x)), k


class Net:
    def __init__(self):
        self.w, self.buffer, self.rate = np.ones(300), np.zeros(300), 0.5

    def __getitem__(self, k):
        return self.w[k]

    def __lt__(self, other):
        return self.rate < other.rate


def test_arrays_of_an_object_with_special_methods_are_not_compared_at_each_call(traces):
    """Nobody but captured code reads them, as a profiler tells."""
    net = Net()

    def f(x):
        net.buffer[:] = x * net.rate
        return np.sum(net.w * x) + net[0]
    g = fad.value_and_grad(f, compile="never", fallback=False)
    for k in range(CALLS):
        net.w[0], x = k, np.full(300, 0.1 * k)
        assert np.isclose(g(x)[0], np.sum(net.w * x) + k) and np.allclose(net.buffer, x * 0.5)
    assert len(traces) <= 3
    assert not [guard for each in g.programs.values() for guard in each[-1].traced.sources.guards
                if type(guard) is WholeGuard]


def test_methods_that_c_code_calls_read_what_they_read_now():
    first, second = Net(), Net()
    second.rate = 0.7
    heap = __import__("itertools").accumulate                 # C code, which compares by itself
    follows(lambda x: np.sum(x) * list(heap([first, second], min))[-1].rate, lambda: setattr(first, "rate", 0.9),
            lambda: setattr(second, "rate", 1.3), lambda: setattr(Net, "__lt__", lambda a, b: a.rate > b.rate))


def test_a_descriptor_may_be_another_one():
    class Scaled:
        def __init__(self, k):
            self.k = k

        def __get__(self, owner, cls):
            return owner.__dict__["v"] * self.k

    class Model(Net):
        d = Scaled(2.0)
    m = Model()
    m.__dict__["v"] = 0.5
    follows(lambda x: np.sum(x) * m.d + m[0], lambda: m.__dict__.update(v=0.7),
            lambda: setattr(vars(Model)["d"], "k", 3.0),
            lambda: setattr(Model, "d", Scaled(5.0)))


def test_the_class_of_an_object_with_special_methods_may_be_another_one():
    class Other(Net):
        def __getitem__(self, k):
            return 7.0
    m = Net()
    follows(lambda x: np.sum(x) * m[0], lambda: m.w.fill(3.0), lambda: setattr(m, "__class__", Other))


def test_a_number_that_a_library_makes_at_each_read_is_compared_at_once():
    class Field:
        """A field that C code holds, as of a jitclass."""

        @property
        def rate(self):
            return float("0.5")
    guard = ValueGuard(Field(), "rate", 0.5)
    checks = Checks([guard])
    assert checks.function()() and guard.unchanged
    for value, holds in ((0.0, False), (0.5, True), (1, False)):
        guard.value = value
        assert Checks([guard]).function()() is holds
