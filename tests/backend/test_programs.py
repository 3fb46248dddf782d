"""Programs with loops, branches and changes in place, and their reverse mode: interpreted = text as Python = compiled."""
import numpy as np
import pytest

from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from .programs import PROGRAMS, garch, heat, seidel
from .support import check

COMPILED = (garch, heat, seidel)


def both(f, args):
    """The Func of f and of its pullback, with arguments for each, and the guards."""
    traced = trace(f, list(args))
    values = [*args, *traced.captured]
    gs = [np.ones(np.shape(y))[()] for y in evaluate(traced.func, values)]
    yield traced.func, values, traced.guards
    yield vjp(traced.func, tuple(range(len(args)))), values + gs, traced.guards


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in PROGRAMS], ids=[p[0].__name__ for p in PROGRAMS])
def test_three_ways_agree(f, args):
    for func, values, guards in both(f, args):
        check(func, values, guards)
        check(optimise(func), values, guards, jit=f in COMPILED)


def test_updates_of_dead_arrays_are_in_place():
    func, values, guards = next(both(seidel, PROGRAMS[6][1:]))
    text = check(func, values, guards)
    assert text.count(".copy()") == 1 and "np.empty" not in text


def recursion(x):
    y = np.zeros(x.size)
    y[0] = x[0]
    for t in range(1, x.size):
        y[t] = x[t] + 0.5 * y[t - 1] ** 2
    return np.sum(y)


def rows(x):
    y = np.zeros((x.size, x.size))
    for t in range(1, x.size):
        y[t] = x * y[t - 1] + 1.0
    return np.sum(y)


@pytest.mark.parametrize("f", [recursion, rows])
def test_a_reverse_loop_clears_what_was_overwritten_in_place(f):
    """A copy of the whole array in each turn would make n steps cost n^2."""
    x = np.linspace(0.1, 0.9, 7)
    for func, values, guards in both(f, (x,)):
        check(func, values, guards)
        text = check(optimise(func), values, guards)
        assert ".copy()" not in text
