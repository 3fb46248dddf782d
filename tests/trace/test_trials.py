"""How often the innermost body of a nest of loops is traced: at most once for each loop, and once more."""

import numpy as np
import pytest

import fad
from fad.ir.build import Builder

from ..texts import executed

X = np.array([0.3, 0.7, 1.1])
# what stands before the loops, their body (one cosine in it), what is returned
KINDS = {
    "arrays in place": ("y = np.zeros(3)", ["y[{i} % 3] += np.cos(x[{i} % 3]) * y[0]"], "np.sum(y)"),
    "arrays that change places": ("a = x * 1.0; b = x * 2.0", ["a, b = b, a + np.cos(b)"], "np.sum(a + b)"),
    "a number": ("s = 0", ["s = s + np.cos(x[{i} % 3]) * s"], "s"),
    "a list that grows": ("out = []", ["out.append(np.cos(x[{i} % 3]))"], "sum(out)"),
    "a list that grows by two": ("out = []", ["out.append(1.0)", "out.append(np.cos(x[{i} % 3]))"], "sum(out)"),
    "a list of numbers": ("v = [0.0, 1.0, 2.0]", ["v[{i} % 3] = v[{i} % 3] + np.cos(x[{i} % 3])"],
                          "v[0] + v[1] + v[2]"),
    "a list of arrays": ("v = [x * 1.0, x * 2.0, x * 3.0]", ["v[{i} % 3] = v[{i} % 3] + np.cos(x)"],
                         "np.sum(v[0] + v[1])"),
    "a list that grows in a branch": ("out = []", ["if x[{i} % 3] > 0.5:", "    out.append(np.cos(x[0]))"], "sum(out)"),
}


def nest(kind, depth):
    before, body, result = KINDS[kind]
    lines = ["def f(x):", *["    " + line for line in before.split("; ")]]
    lines += ["    " * (k + 1) + f"for i{k} in range({4 - min(k, 1)}):" for k in range(depth)]
    lines += ["    " * (depth + 1) + line.format(i=f"i{depth - 1}") for line in body]
    return executed("\n".join([*lines, f"    return {result}", ""]), {"np": np})["f"]


@pytest.fixture
def traced_cosines(monkeypatch):
    """The cosines that traces have met so far."""
    seen, emit = [], Builder.emit

    def counted(self, op, *args, **options):
        if op.name == "cos":
            seen.append(op)
        return emit(self, op, *args, **options)
    monkeypatch.setattr(Builder, "emit", counted)
    return seen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_nest_is_traced_once_for_each_loop_and_once_more(kind, depth, traced_cosines):
    f = nest(kind, depth)
    got = fad.jit(f, compile="never", fallback=False)(X)
    assert 1 <= len(traced_cosines) <= depth + 1
    np.testing.assert_allclose(got, f(X), rtol=1e-12)


@pytest.mark.parametrize("extent", [0, 1, 2, 5])
def test_lists_of_which_iterations_add_less_than_before(extent):
    """What is remembered of a list may be wrong in the next trial."""
    def now_and_then(x):
        out, s = [], 0
        for i in range(x.shape[0]):
            for k in range(2):
                if i % 2 == 0 and k == 0:
                    out.append(x[i] * s)
                s = s + x[i] * k
        return sum(out) + s

    def as_it_is(x):
        out, grows = [1.0], True
        for i in range(x.shape[0]):
            for _ in range(2):
                if grows:
                    out.append(x[i])
            grows = False
        return sum(out)

    def after_each_other(x):
        out = []
        for i in range(x.shape[0]):
            for _ in range(2):
                out.append(x[i])
            for _ in range(i):
                out.append(2.0 * x[i])
        s = 0.0
        for k in range(len(out)):
            s = s + out[k] * (k + 1)
        return s
    x = np.arange(float(extent)) + 0.5
    for f in (now_and_then, as_it_is, after_each_other):
        np.testing.assert_allclose(fad.jit(f)(x), f(x), rtol=1e-12, err_msg=f.__name__)


WEIGHTS = {"a": 1.0, "b": 2.0, "c": 3.0}


def weighted(x, names):
    s = 0.0
    for i in range(len(names)):
        s = s + np.cos(x[i]) * WEIGHTS[names[i]]
    return s


@pytest.mark.parametrize("count, most", [(1, 3), (2, 3 + 2 * 2)])
def test_a_short_loop_that_is_no_region_is_tried_once(count, most, traced_cosines):
    def f(x):
        return sum([weighted(x, list("abc"[:count])) for _ in range(3)])
    got = fad.jit(f, compile="never", fallback=False)(X)
    assert len(traced_cosines) <= most
    np.testing.assert_allclose(got, f(X), rtol=1e-12)
