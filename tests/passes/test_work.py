"""What the passes cost: their work, counted in calls, grows as the program does, be its loops many or deep in each
other."""
import sys

import numpy as np
import pytest

import fad
from fad.ir.op import registry
from fad.passes.legalisation import legalise
from fad.passes.pipeline import PIPELINE
from fad.passes.preparation import prepared
from fad.passes.read_before_write import read_before_write
from fad.passes.replacement_candidates import small_arrays
from fad.trace.tracing import trace


def small(func):
    """The search for arrays that had better be scalars, all extents being small."""
    return small_arrays(func, lambda n: 3)


PASSES = list(dict.fromkeys((*PIPELINE, legalise, read_before_write, prepared, small)))


def _loop(s, y, inside):
    """A loop that overwrites an array, reads what was there, and hands on a product that nobody asks for."""
    def iteration(i, carries):
        s, y, product = carries
        written = registry["update"](y, np.sin(s), i, spec=("i",), at=0)
        s, written = inside(s + y[i], written)
        return s, written, product * s
    return fad.fori_loop(0, 3, iteration, (s, y, s))[:2]


def _deep(s, y, count):
    """Loops in each other."""
    return _loop(s, y, lambda s, y: _deep(s, y, count - 1)) if count else (s, y)


def _many(s, y, count):
    """Loops one after the other."""
    return _many(*_loop(s, y, lambda s, y: (s, y)), count - 1) if count else (s, y)


def calls_of(run, func):
    """How many calls run(func) makes, and what it returns."""
    made = 0

    def count(frame, event, arg):
        nonlocal made
        made += event in ("call", "c_call")
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        result = run(func)
    finally:
        sys.setprofile(before)
    return made, result


@pytest.mark.parametrize("kind, few, more", [(_deep, 2, 6), (_many, 8, 64)])
def test_the_work_of_every_pass_grows_as_the_program(kind, few, more):
    """More loops may cost in proportion, and half as much again (a nest's variables are looked up through the loops
    around)."""
    work = {run: [] for run in PASSES}
    for count in (few, more):
        func = trace(lambda x, count=count: kind(x[0], x, count)[0], [np.ones(8)]).func
        for run in PASSES:
            work[run].append(calls_of(run, func)[0] / count)
    grown = {run.__name__: round(b / a, 2) for run, (a, b) in work.items()}
    assert max(grown.values()) < 1.5, grown
