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
