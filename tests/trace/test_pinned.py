"""Branches whose sides no program can join: a program is for one side, checks that, and others are made for other calls
(fad/trace/values/constants.py, Pinning)."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FallbackWarning, UnstageableError

from ..transforms.support import differences
from .test_recursions import counted

POINTS = [np.array(p) for p in ([1.3, 2.2, 2.5], [0.3, 0.7, 0.9], [2.6, 0.4, 1.2])]
LOG = {}


def none_or_a_text(x):
    mode = None if x[0] > 1.0 else "low"
    return x[1] ** 2 if mode is None else x[2] ** 3


def tables_of_texts(x):
    d = {"kind": "laminar"} if x[0] < 2.0 else {"kind": "turbulent", "of": "Colebrook"}
    return len(d) * x[1] + len(d["kind"]) * x[2] ** 2


def structures(x):
    r = (x[0], x[1]) if x[2] > 1.0 else [x[0]]
    return sum(r) * x[2]


def a_message(x):
    message = None
    if x[0] < 1.0:
        message = f"{x[0]} is too small"
    return x[1] ** 2 if message is None else x[2] ** 3


def in_a_branch(x):
    s = 0.0
    if x[0] > 0.5:
        mode = None if x[1] > 1.0 else "low"
        s = x[1] ** 2 if mode is None else x[2] ** 3
    return s + x[0]


def by_a_loop(x):
    y = 1.0
    while abs(y * y - x[0]) > 1e-12:
        y = 0.5 * (y + x[0] / y)
    names = ["a", "b"] if y > 1.0 else ["b"]
    return {"a": lambda: x[1] ** 2, "b": lambda: y * x[2]}[names[0]]()


def left_outside(x):
    LOG["mode"] = None if x[0] > 1.0 else "low"
    return x[1] * (2.0 if LOG["mode"] is None else 3.0) * x[0]


def of_a_derivative(x):
    return fad.grad(none_or_a_text)(x)[1] * x[0] ** 2


FUNCTIONS = [none_or_a_text, tables_of_texts, structures, a_message, in_a_branch, by_a_loop, of_a_derivative]


@pytest.mark.filterwarnings("error::fad.FallbackWarning")
@pytest.mark.parametrize("policy", ["never", "now"])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_each_way_has_a_program(f, policy):
    g = fad.grad(f, compile=policy)
    for x in (*POINTS, *POINTS):
        expected = differences(f, x)
        np.testing.assert_allclose(g(x), expected, rtol=1e-5, atol=1e-7)
    known = g.traces
    for x in POINTS:
        np.testing.assert_allclose(g(x * 1.001), differences(f, x * 1.001), rtol=1e-5, atol=1e-7)
    assert known <= 4 and g.traces == known


@pytest.mark.filterwarnings("error::fad.FallbackWarning")
def test_what_is_left_outside_is_of_the_way_that_was_taken():
    g = fad.grad(left_outside)
    for x in (*POINTS, *POINTS):
        LOG.clear()
        factor = 2.0 if x[0] > 1.0 else 3.0
        np.testing.assert_allclose(g(x), [x[1] * factor, x[0] * factor, 0.0])
        assert LOG == {"mode": None if x[0] > 1.0 else "low"}


def test_the_last_of_many_ways_is_the_tape():
    def f(x):
        r = [x[1]] if x[0] > 1.0 else [x[1], x[2]]
        r = [*r, r] if x[0] > 2.0 else r
        r = (r, x[1]) if x[0] > 3.0 else r
        return {"f": len(r)} if x[0] > 4.0 else {"g": len(r) * x[1]}

    def g(x):
        return sum(f(x).values()) * x[2]
    found = fad.grad(g)
    with pytest.warns(FallbackWarning, match="no program has both sides"):
        for v in (0.5, 1.5, 2.5, 3.5, 4.5):
            x = np.array([v, 1.1, 0.7])
            np.testing.assert_allclose(found(x), differences(g, x), rtol=1e-5, atol=1e-6)
    assert found.traces <= 5


def test_examples_of_a_batch_that_go_two_ways_run_on_the_tape():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        found = fad.vmap(none_or_a_text)(np.array(POINTS))
    np.testing.assert_allclose(found, list(map(none_or_a_text, POINTS)))


def test_without_the_tape_it_is_an_error():
    with pytest.raises(UnstageableError, match="in one place and None in another"):
        fad.grad(none_or_a_text, fallback=False)(POINTS[0])


@pytest.mark.filterwarnings("error::fad.FallbackWarning")
def test_a_chain_of_such_branches_is_traced_in_a_few_steps(monkeypatch):
    def f(x):
        if x[0] > 9.0:
            r = None
        elif x[0] > 8.0:
            r = [x[1]]
        elif x[0] > 7.0:
            r = (x[1], x[2])
        elif x[0] > 6.0:
            r = {"a": x[1]}
        elif x[0] > 5.0:
            r = {"b": x[1]}
        elif x[0] > 4.0:
            r = "text"
        elif x[0] > 3.0:
            r = [x[1], [x[2]]]
        elif x[0] > 2.0:
            r = {"c": x[1]}
        else:
            r = (x[0], (x[1],))
        return x[2] ** 2 if r is None else x[1] * len(r)
    met = counted(monkeypatch)
    np.testing.assert_allclose(fad.grad(f)(np.array([0.5, 2.0, 3.0])), [0.0, 2.0, 0.0])
    assert 8 <= len(met) <= 80
