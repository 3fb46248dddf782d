"""Gradients of plain programs take at most four times as long as their own compiled primals, and under two seconds to compile. The table is
`python -m tests.bench.plain`; the bounds leave room for a machine whose caches and memory others use."""
import time

import numpy as np
import pytest

import fad

from .loops import minima
from .plain import cases, compiled, durbin_by_hand

BESIDE_PRIMAL, BY_HAND, COMPILE = 4.0, 1.5, 2.0
BUSY = 1.5
BOUND_BY_MEMORY = "durbin"


@pytest.mark.parametrize("name", [name for name in cases() if name != BOUND_BY_MEMORY])
def test_gradient_beside_its_primal(name, tmp_path):
    with fad.config.using(cache_dir=tmp_path):
        *runs, first = compiled(name)
    assert first <= COMPILE * BUSY
    assert _least_ratio(runs, BESIDE_PRIMAL) <= BESIDE_PRIMAL * BUSY


def test_what_memory_bounds_is_near_the_gradient_by_hand():
    _, (r,) = cases()[BOUND_BY_MEMORY]
    _, gradient, _ = compiled(BOUND_BY_MEMORY)
    np.testing.assert_allclose(gradient(), durbin_by_hand(r), rtol=1e-9, atol=1e-15)
    assert _least_ratio((lambda: durbin_by_hand(r), gradient), BY_HAND) <= BY_HAND * BUSY


def _least_ratio(runs, bound):
    """The second one's time beside the first one's, the least of some measurements, none more than show that it is within the bound.

    Others may use the machine's memory for seconds on end: later measurements wait.
    """
    ratios: list = []
    while len(ratios) < 10 and not (ratios and min(ratios) <= bound):
        time.sleep(len(ratios) * 0.2)
        theirs, ours = minima(runs, rounds=8)
        ratios.append(ours / theirs)
    return min(ratios)
