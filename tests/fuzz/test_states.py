"""Random functions of state, and what judges them; see states.py."""
import importlib

import numpy as np
import pytest

import fad
from fad.api.calls.staged_programs import StagedPrograms

from . import states
from .statement import Statement

executable = importlib.import_module("fad.backend.running.executable")
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


# -- each change alone: how often the function is traced ---------------------------------------------------------------

CALLS, TRACES = 7, 4                                          # a window grows to its length, a counter becomes an input
GROWS = ("append", "insert", "extend", "LS + [", ".pop()")    # a list of another length at each call
UNSEEN = ("DT = {",)                                          # another container at each call, with an array that is W


def changes():
    """The statements of states.EFFECTS, each with a number."""
    return [effect.format("y[0]").strip() for effect in states.EFFECTS]


@pytest.mark.parametrize("change", changes())
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_a_change_of_known_structure_costs_few_traces(change, monkeypatch):
    traces, trace = [], StagedPrograms._traced_anew

    def counted(self, *args):
        traces.append(self)
        return trace(self, *args)
    monkeypatch.setattr(StagedPrograms, "_traced_anew", counted)
    lines = change.split("; ")
    signs = ("{} = ", "{} += ", "{} *= ", "{}, ", ", {} = ")
    bound = [n for n in states.GLOBALS if any(sign.format(n) in change for sign in signs)]
    head = [f"global {', '.join(bound)}"] if bound else []
    lines = [*head, "y = x * 1.0", "s = np.sum(y ** 2)", *lines, "return s + OB.rate * y[0]"]
    run = states.Run("def f(x):\n" + "\n".join("    " + line for line in lines), 0)
    g = fad.value_and_grad(run.f, compile="never")
    may_be_traced = any(part in change for part in (*GROWS, *UNSEEN))
    for number in range(CALLS):
        try:
            g(states.point(number))
        except IndexError:
            assert "pop" in change
            return
    assert may_be_traced or (len(traces) <= TRACES and not g.fallback.reasons), len(traces)
