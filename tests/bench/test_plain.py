"""Gradients of plain programs take at most four times as long as their own compiled primals, and under two seconds to
compile. The table is `python -m tests.bench.plain`; the bounds leave room for a machine whose caches and memory others
use."""
import functools
import time

import numpy as np
import pytest

import fad
from fad.backend.running.compile import kernel_of

from .plain import cases, compiled
from .timing import minima, pace

BESIDE_PRIMAL, COMPILE = 4.0, 2.0
BUSY = 1.5
# a loop of six cheap iterations: what it saves costs as much as they do
ABOVE = {"newton_roots": 5.5}


@pytest.mark.parametrize("name", cases())
def test_gradient_beside_its_primal(name, tmp_path):
    with fad.config.using(cache_dir=tmp_path):
        *runs, first = compiled(name)
    assert first <= COMPILE * BUSY * pace()
    bound = ABOVE.get(name, BESIDE_PRIMAL)
    assert _least_ratio(runs, bound) <= bound * BUSY


def marched(backward):
    """A kernel that reads rows of t, from the first to the last or back."""
    order = "n - 1, -1, -1" if backward else "n"
    return kernel_of(f"""import numpy as np


def march(t):
    n, m = t.shape
    g = np.full(m, 1.0)
    for i in range({order}):
        for j in range(m):
            g[j] = g[j] * (1.0 - 0.1 * t[i, j])
    return g
""", "march").call


def test_loops_that_run_backward_are_made_of_vectors():
    t = np.random.default_rng(0).uniform(0.0, 1.0, (200, 1000))
    runs = [functools.partial(marched(backward), t) for backward in (False, True)]
    np.testing.assert_allclose(runs[1](), runs[0](), rtol=1e-12)
    assert _least_ratio(runs, 1.2) <= 1.2 * BUSY


def _least_ratio(runs, bound):
    """The second one's time beside the first one's, the least of some measurements, none more than show that it is
    within the bound.

    Others may use the machine's memory for seconds on end: later measurements wait.
    """
    ratios: list = []
    while len(ratios) < 10 and not (ratios and min(ratios) <= bound):
        time.sleep(len(ratios) * 0.2)
        theirs, ours = minima(runs, rounds=8)
        ratios.append(ours / theirs)
    return min(ratios)
