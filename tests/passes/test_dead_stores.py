"""Dead stores: an array that is written everywhere before it is read needs no fill, and what no reader looks at is not
written. Whatever stands in memory instead is read nowhere: here it is nan."""
import random

import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.graph import Equation, Literal, all_equations
from fad.ir.op import registry
from fad.ir.types import Type
from fad.ir.walk import evaluate
from fad.passes.dead_stores import drop_dead_stores
from fad.passes.pipeline import optimise
from fad.passes.rewrite import rewrite
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from ..texts import executed

X = np.linspace(0.3, 1.4, 9)
COVERED = (
    ("t[0] = x[0]", "t[1:] = x[:-1]"),
    ("t[:-1] = x[1:]", "t[-1] = x[0]"),
    ("t[0] = t[-1] = x[1]", "t[1:-1] = 2 * x[1:-1]"),
    ("t[0] = x[0]", "for i in range(1, n):\n        t[i] = x[i] * x[i - 1]"),
    ("for i in range(n - 1, 0, -1):\n        t[i] = x[i]", "t[0] += x[1]"),
    ("for i in range(n - 1):\n        t[n - 1 - i] = x[i]", "t[:1] = x[-1]"),
    ("t[:-1] += x[1:]", "t[-1] += x[0]", "t[0] += x[1]"),
    ("for i in range(n):\n        t[i] = x[i]", "t[1:] += x[:-1]"),
)
OPEN = (
    ("t[1:] = x[:-1]",),
    ("t[0] = x[0]", "t[2:] = x[2:]"),
    ("t[0] = x[0]", "s = t[1]", "t[1:] = x[1:]"),
    ("for i in range(0, n, 2):\n        t[i] = x[i]", "t[-1] = x[0]"),
    ("for i in range(2, n):\n        t[i] = x[i]", "t[0] = x[0]"),
    ("for i in range(1, n):\n        t[i] = x[i]\n        s += t[0]", "t[0] = x[0]"),
    ("for i in range(1, n):\n        if x[i] > 0.5:\n            t[i] = x[i]", "t[0] = x[0]"),
    ("t[1:] += x[1:]", "t[:2] += x[:2]"),
)
PIECES = sorted({piece for pieces in COVERED + OPEN for piece in pieces})


def program(pieces):
    """A function that fills an array by these statements."""
    lines = ["n = x.size", "t = np.zeros(n)", "s = 0.0", *pieces, "return np.sum(t * np.arange(1.0, n + 1.0)) + s"]
    return executed("def f(x):\n" + "".join(f"    {line}\n" for line in lines), {"np": np})["f"]


def filled(func):
    """The number of arrays that are filled, at any depth."""
    return sum(e.op.name == "full" and bool(e.outputs[0].type.shape) for e in all_equations(func))


def poisoned(func):
    """The program with nan where an array is not written."""
    def visit(eqn, _scope):
        if eqn.op.name != "unwritten" or eqn.params["dtype"].kind != "f":
            return None
        nan = Literal(eqn.params["dtype"].type(np.nan), Type(eqn.params["dtype"]))
        return Equation(registry["full"], (nan, *eqn.inputs), eqn.outputs, {"dtype": eqn.params["dtype"]}, (),
                        eqn.where)
    return rewrite(func, visit)


def without_dead_stores(func):
    """The program after the pass. Its numbers are those of the one before, for the shortest vectors, too."""
    after = check(drop_dead_stores(func))
    for n in (2, 3, 4, 9):
        given = [X[:n], 1.0][:len(func.inputs)]
        for a, b in zip(evaluate(poisoned(after), given), evaluate(func, given), strict=True):
            np.testing.assert_array_equal(a, b)
    return after


@pytest.mark.parametrize("pieces", COVERED, ids="; ".join)
def test_what_is_written_everywhere_is_not_filled(pieces):
    func = optimise(trace(program(pieces), [X]).func)
    assert filled(func) == 1 and filled(without_dead_stores(func)) == 0


def turned(x):
    t = np.zeros(x.size)
    t[:-1] += x[1:]
    t[-1] += x[0]
    return t


def test_an_assignment_in_place_of_an_addition_makes_no_negative_zero():
    x = np.array([-0.0, 1.0, -0.0, 3.0])
    f = fad.jit(turned, compile="now")
    assert list(np.signbit(f(x))) == list(np.signbit(turned(x))) == [False] * 4
    np.testing.assert_array_equal(f(x), turned(x))
    assert "np.zeros" not in fad.source(f, x)


@pytest.mark.parametrize("pieces", OPEN, ids="; ".join)
def test_what_is_read_or_left_is_filled(pieces):
    func = optimise(trace(program(pieces), [X]).func)
    assert filled(without_dead_stores(func)) == filled(func) > 0


@pytest.mark.parametrize("seed", range(20))
def test_any_statements(seed):
    pieces = random.Random(seed).choices(PIECES, k=4)
    func = trace(program(pieces), [X]).func
    without_dead_stores(optimise(func))
    without_dead_stores(optimise(vjp(func, [0])))


def grid(u):
    new = np.empty_like(u)
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            new[i, j] = u[i, j] * u[i - 1, j + 1]
    new[0, :] = u[0]
    new[-1, :] = u[0]
    new[1:-1, 0] = 1.0
    new[:, -1] = u[:, 1]
    return np.sum(new ** 2)


def corner(u):
    new = np.zeros_like(u)
    new[1:, 1:] = u[1:, :-1]
    new[0, :] = u[0]
    new[2:, 0] = 1.0
    return np.sum(new ** 2)


@pytest.mark.parametrize("f, count", [(grid, 0), (corner, 1)])
def test_boxes_of_several_axes(f, count):
    func = optimise(trace(f, [np.ones((4, 5))]).func)
    after = check(drop_dead_stores(func))
    assert (filled(func), filled(after)) == (1, count)
    for shape in ((2, 2), (2, 5), (6, 3)):
        u = np.random.default_rng(0).normal(size=shape)
        assert evaluate(poisoned(after), [u]) == evaluate(func, [u])


def advection(u):
    for _ in range(3):
        new = np.empty_like(u)
        new[0] = u[0]
        for i in range(1, u.size):
            new[i] = u[i] - 0.3 * (u[i] - u[i - 1])
        u = new
    return np.sum(u * u)


def test_a_gradient_writes_what_is_read_and_no_more():
    g = fad.grad(advection, compile="now")
    np.testing.assert_allclose(g(X), fad.grad(advection, compile="never")(X), rtol=1e-13)
    assert "0.0" not in fad.source(g, X)
