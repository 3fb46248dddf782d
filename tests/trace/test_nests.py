"""Loops in each other: how often the innermost is traced grows as the nest's depth, and what is remembered from trial
to trial belongs where it was."""
import ast
import sys
import textwrap

import numpy as np
import pytest

import fad
from fad.trace.frontend.liveness import Liveness
from fad.trace.tracing import trace


class Box:
    def __init__(self, v):
        self.v = v


def put(z, s):
    z[1] = np.sin(s)


def innermost(s):
    return s * 0.5 + 1.0


# What each level of a nest does before its loop, in it, and what is new in the loop's first trial: {k} is the level.
LEVELS = {
    "a number becomes an array's element": ("t{k} = 1.0", "t{k} = t{k} * np.sin(s)"),
    "and is read inside": ("t{k} = 1.0", "t{k} = t{k} * np.sin(s); s = s + {all}"),
    "int to float": ("t{k} = 0", "t{k} = t{k} + s"),
    "in a branch": ("t{k} = 0", "if s > {k}: t{k} = t{k} + s"),
    "break": ("pass", "if s > 10 + {k}: break"),
    "while": ("t{k} = 0", "t{k} = t{k} + s * s + 1.37"),
    "a helper writes to an array": ("z{k} = np.zeros(3)", "put(z{k}, s); s = s + z{k}[1]"),
    "a helper writes to an outer array": ("pass", "put(y, s); s = s + y[1]"),
    "an object's attribute": ("o{k} = Box(0)", "o{k}.v = o{k}.v + s"),
    "an outer object's attribute": ("pass", "o.v = o.v + s"),
    "an array grows": ("v{k} = np.zeros(0)", "v{k} = np.append(v{k}, s)"),
    "another array": ("v{k} = np.zeros(3)", "v{k} = v{k} + s"),
}


def nest(kind, depth, folder):
    """The function with so many loops in each other, in a file of its own."""
    before, inside = LEVELS[kind]
    lines = ["s = x[0]", "y, o = x.copy(), Box(0)"]
    for k in range(depth):
        names = {"k": k, "all": " * ".join(f"t{j}" for j in range(k + 1))}
        loop = "while t{k} < s:" if kind == "while" else "for i{k} in range(len(x)):"
        lines += ["    " * k + before.format(**names), "    " * k + loop.format(**names),
                  "    " * (k + 1) + inside.format(**names)]
    text = ("def f(x):\n"
            + textwrap.indent("\n".join([*lines, "    " * depth + "s = innermost(s)", "return s"]), "    ") + "\n")
    path = folder / f"nest{depth}.py"
    path.write_text(text)
    scope = {"np": np, "put": put, "Box": Box, "innermost": innermost}
    exec(compile(text, str(path), "exec"), scope)
    return scope["f"]


def times_traced(f):
    """How often the innermost loop's helper is called while f is traced."""
    made = 0

    def count(frame, event, arg):
        nonlocal made
        made += event == "call" and frame.f_code.co_name == "innermost"
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        trace(f, [np.linspace(0.5, 0.6, 4)])
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("kind", LEVELS)
def test_trials_of_loops_in_each_other_do_not_multiply(kind, tmp_path):
    """One more level costs two more trials of the innermost loop at most (a product would be 2 ** 4 or 3 ** 4)."""
    few, more = [times_traced(nest(kind, depth, tmp_path)) for depth in (1, 4)]
    assert more <= few + 2 * 3, (few, more)


@pytest.mark.parametrize("kind", LEVELS)
def test_nests_compute_what_numpy_does(kind, tmp_path):
    f, x = nest(kind, 3, tmp_path), np.linspace(0.5, 0.6, 2)
    with fad.config.using(compile="never"):
        value, gradient = fad.value_and_grad(f, fallback=False)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(gradient, slope, rtol=2e-6, atol=1e-7)


def total(v):
    s = 0
    for k in range(v.shape[0]):
        s = s + v[k]
    return s


def of_all_types(x, n):
    t = 0
    for _ in range(3):
        a, b, c, d = total(x * 1j), total(n), total(x), total(n.astype(np.int8))
        t = t + np.abs(a) * c
    return t, a, b, c, d


def one_after_the_other(x, n):
    t, last = 0, []
    for _ in range(3):
        # Python's own loop: the same code is met four times in each iteration
        for v in (x * 1j, n, x, n):
            t = t + np.abs(total(v))
        last = [total(n), total(x)]
    return t, last[0], last[1]


@pytest.mark.parametrize("f", [of_all_types, one_after_the_other])
def test_a_loop_that_is_met_with_several_types_keeps_them_apart(f):
    x, n = np.array([0.5, 0.25, 2.0]), np.array([3, 4, 5])
    with fad.config.using(compile="never"):
        made = fad.jit(f, fallback=False)(x, n)
    for y, expected in zip(made, f(x, n)):
        assert np.asarray(y).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(y, expected, rtol=1e-14)


def test_what_is_live_in_a_nest_is_found_in_few_visits(monkeypatch):
    """Each loop's needs are found once: no visit of its statements for each path through the loops around it, which
    would be two to the tenth."""
    lines = ["    " * k + f"for i{k} in x:" for k in range(10)]
    tree = ast.parse("\n".join([*lines, "    " * 10 + "s = s + i0"]))
    visits, statement = [], Liveness.statement
    monkeypatch.setattr(Liveness, "statement", lambda self, s, live: (visits.append(s), statement(self, s, live))[1])
    Liveness(tree.body)
    assert len(visits) <= 11 * 11
    assert tree.body[0].head == {"s", "x"}
