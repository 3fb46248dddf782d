"""State that the caller changes between calls: numbers and arrays become inputs of the second trace, wherever they
stand, and what the program makes of them is what Python does."""
from collections import deque
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import fad

from ..fuzz.judge import executed

CALLS = 7


class Model:
    share = 0.5

    def __init__(self):
        self.rate, self.w, self.parts, self.table = 0.1, np.ones(3), [0.1, 0.2], {"a": 1.0, "b": np.ones(3)}
        self.inner = SimpleNamespace(k=1.0)

    @property
    def scale(self):
        return self.rate * 2.0


class Special(Model):
    def __getitem__(self, k):
        return self.parts[k]

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Slots:
    __slots__ = ("inner", "parts", "rate", "table", "w")
    share, __init__, scale = 0.5, Model.__init__, Model.scale


CHANGES = {                                                   # what is read -> what is done before the k-th call
    "m.rate": "m.rate *= 0.9",
    "m.scale": "m.rate *= 0.9",
    "np.sum(m.w * x)": "m.w = m.w * 0.9",
    "m.rate * np.sum(m.w * x)": "m.rate, m.w = 0.1 * k, k * np.ones(3)",
    "m.inner.k": "m.inner.k += 1.0",
    "m.share": "type(m).share += 1.0",
    "type(m).share": "type(m).share += 1.0",
    "m.parts[1]": "m.parts[1] += 1.0",
    "sum([p * x[0] for p in m.parts])": "m.parts[0] += 1.0",
    "m.table['a']": "m.table['a'] += 1.0",
    "m.table.get('a', 0.0)": "m.table['a'] += 1.0",
    "np.sum(m.table['b'] * x)": "m.table['b'] = m.table['b'] * 1.5",
    "rate": "rate *= 0.9",
    "np.sum(w * x)": "w = w * 0.9",
    "queue[0]": "queue[0] += 1.0",
    "other.rate": "other.rate *= 0.9",
    "helper(x)": "helper.k += 1.0",
}


def names_of(read, cls):
    names = {"np": np, "m": type("M", (cls,), {"__slots__": ()})(), "rate": 0.1, "w": np.ones(3),
             "queue": deque([0.5, 0.2]), "other": ModuleType("other")}
    names["other"].rate = 0.1
    return executed("def helper(x):\n    return np.sum(x) * helper.k\n"
                    f"def f(x):\n    return np.sum(x ** 2) * ({read})\nhelper.k = 1.0", names)


@pytest.mark.parametrize("cls", [Model, Special, Slots])
@pytest.mark.parametrize("read", CHANGES)
def test_what_the_caller_changes_is_an_input(read, cls, traces):
    names = names_of(read, cls)
    g = fad.value_and_grad(names["f"], compile="never", fallback=False)
    for k in range(CALLS):
        names["k"] = k
        exec(CHANGES[read] if k else "", names)
        x = np.array([1.0, 0.5, 0.25]) + 0.1 * k
        value, slope = g(x)
        along = np.array([0.3, -0.2, 0.5])
        assert np.isclose(value, names["f"](x))
        difference = names["f"](x + 1e-6 * along) - names["f"](x - 1e-6 * along)
        assert np.isclose(slope @ along, difference / 2e-6, rtol=1e-5)
    assert len(traces) <= 3, len(traces)


@pytest.mark.parametrize("read", ["m.rate", "np.sum(m.w * x)", "rate", "sum([p * x[0] for p in m.parts])"])
def test_the_kernel_of_the_second_trace_stays(read):
    names = names_of(read, Model)
    g = fad.value_and_grad(names["f"], compile="now", fallback=False)
    for k in range(CALLS):
        names["k"] = k
        exec(CHANGES[read] if k else "", names)
        assert np.isclose(g(np.ones(3))[0], names["f"](np.ones(3)))
    assert g.compilations == 2


def follows(f, *changes):
    """The values of f are Python's, with each change made twice before calls."""
    g = fad.value_and_grad(f, compile="never")
    for k, change in enumerate([lambda: None, *[c for c in changes for _ in range(2)]]):
        change()
        x = np.array([1.0, 0.5, 0.25]) + 0.1 * k
        assert np.isclose(g(x)[0], f(x)), k


def test_integers_that_structure_depends_on_stay_constants():
    m = SimpleNamespace(n=2, rate=0.5)

    def f(x):
        return np.sum(np.zeros(m.n)) + sum([x[k] for k in range(m.n)]) * m.rate

    def change():
        m.n, m.rate = m.n % 3 + 1, m.rate * 0.9
    follows(f, change, change, change)


@pytest.mark.parametrize("is_written", [True, False])
def test_an_array_that_is_an_input_may_be_one_that_is_written_to(is_written):
    m, box = SimpleNamespace(w=np.ones(3), k=1.0), [np.ones(3)]

    def f(x):
        box[0][:] = box[0] + x
        s = np.sum(m.w * x) * m.k
        if is_written:
            m.w = m.w * 0.5
        return s

    def copied():
        m.w, m.k = box[0] * 0.5, 2.0

    def shared():
        m.w = box[0][::-1]

    def plainly(x):                                           # with all as it was
        before, w = box[0].copy(), m.w
        value = f(x)
        box[0][:], m.w = before, w
        return value
    g = fad.jit(f, compile="never")
    for change in (lambda: None, copied, copied, shared, shared, copied):
        change()
        x = np.array([1.0, 0.5, 0.25])
        want = plainly(x)
        assert np.isclose(g(x), want)


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_an_array_that_is_an_input_may_be_the_argument():
    m = SimpleNamespace(w=np.ones(3))
    given = np.array([1.0, 0.5, 0.25])

    def f(x):
        x[0] = 5.0
        return np.sum(m.w * x) * (2.0 if m.w is x else 3.0)
    g = fad.jit(f, compile="never")
    for w in (np.ones(3), 2.0 * np.ones(3), 3.0 * np.ones(3), None, given[:], None):
        m.w = given if w is None else w
        given[:] = 1.0, 0.5, 0.25
        want = f(given)
        given[:] = 1.0, 0.5, 0.25
        assert np.isclose(g(given), want)


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
def test_a_class_that_finds_its_attributes_by_itself_runs_on_the_tape():
    class Own:
        scale = 2.0

        def __init__(self):
            self.rate = 0.5

        def __getattribute__(self, name):
            value = object.__getattribute__(self, name)
            return value * Own.scale if name == "rate" else value
    m = Own()
    follows(lambda x: np.sum(x) * m.rate, lambda: m.__dict__.update(rate=0.7), lambda: setattr(Own, "scale", 3.0))


def test_a_name_that_was_an_input_may_be_gone():
    text = "def f(x):\n    return np.sum(x) * (late if 'late' in globals() else 3.0)"
    names = executed(text, {"np": np, "late": 0.5})
    follows(names["f"], lambda: names.update(late=0.7), lambda: names.update(late=0.8), lambda: names.pop("late", 0))
