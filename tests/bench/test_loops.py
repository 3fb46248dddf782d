"""Derivatives of loops stay near those written by hand; the bound leaves room for a busy machine, the table is `python
-m tests.bench.loops`."""
import pytest

from .loops import cases, measured

BOUND = 6.0


@pytest.mark.parametrize("name", cases())
def test_derivatives_of_loops_are_near_those_by_hand(name):
    ratios = []
    while len(ratios) < 3 and not (ratios and min(ratios) <= BOUND):
        by_hand, ours = measured(name, rounds=8)
        ratios.append(ours / by_hand)
    assert min(ratios) <= BOUND
