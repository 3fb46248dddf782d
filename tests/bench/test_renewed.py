"""A transform that is made at each call costs microseconds, not a trace (two to seven milliseconds); the bounds leave
room for a machine that others use."""
import pytest

from .renewed import rows

BOUNDS = {"grad": (30e-6, 90e-6, 120e-6), "hessian": (40e-6, 120e-6, 150e-6), "hvp": (40e-6, 120e-6, 150e-6),
          "vjp": (150e-6, 300e-6, 300e-6)}


@pytest.mark.parametrize("name", BOUNDS)
def test_transforms_that_are_made_at_each_call(name):
    for _ in range(4):
        [(_, _, *times)] = rows([name])
        if all(t <= bound for t, bound in zip(times, BOUNDS[name])):
            return
    assert times <= list(BOUNDS[name])
