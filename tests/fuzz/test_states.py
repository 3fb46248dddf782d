"""Random functions of state, and what judges them; see states.py."""
import importlib

import numpy as np
import pytest

from . import states
from .statement import Statement

executable = importlib.import_module("fad.backend.executable")
COUNTING = [Statement("def f(x, DEFAULT=0.8):", [Statement("OB.k += 1"), Statement("return np.sum(x ** 2) * OB.k")])]


@pytest.mark.parametrize("seed", range(16))
def test_random_functions_of_state(seed):
    assert states.report(seed) is None


def test_state_that_is_not_delivered_is_seen(monkeypatch):
    assert states.calls_of(COUNTING, 0, "interpreted") is None
    monkeypatch.setattr(executable, "delivery", lambda stores: None)
    assert states.calls_of(COUNTING, 0, "interpreted").startswith("call 1: state: OB")


def test_gradients_of_another_call_are_seen():
    definition = states.text_of(COUNTING)
    x = states.point(3)
    assert states.gradient_of(definition, 4 * ["pass"], 2.0 * x * 6) is None
    assert states.gradient_of(definition, 4 * ["pass"], 2.0 * x * 5).startswith("gradient: ")


def test_arrays_that_are_no_longer_one_are_seen():
    run = states.Run(states.text_of(COUNTING), 0)
    before = run.aliases()
    run.scope["OB"].w = run.scope["W"]
    assert run.aliases() != before
    assert np.sum(run.aliases()) == np.sum(before) + 2
