"""What judges sequences of calls that leave something outside; see effects.py."""
import importlib

from . import effects
from .statement import Statement

executable = importlib.import_module("fad.backend.running.executable")
SEQUENCE = [Statement("def f(x, DEFAULT=0.8):",
                      [Statement("LS.append(0.25)"), Statement("OB.k = 7"), Statement("return np.sum(x)")]),
            Statement("pass  # x")]


def test_what_is_left_otherwise_is_seen(monkeypatch):
    assert effects.calls_of(SEQUENCE, "interpreted") is None
    monkeypatch.setattr(executable, "delivery", lambda stores: None)
    assert effects.calls_of(SEQUENCE, "interpreted").startswith("call 1, after 'pass' with x: state: LS: ")


def test_traced_values_left_outside_are_seen():
    state = effects.state_of(effects.judge.executed(effects.calls.STATE, {"__name__": "program"}))
    assert effects.alike(state, state)
    assert effects.difference(state, {**state, "LS": effects.plain([object()])}).startswith("LS: ")
