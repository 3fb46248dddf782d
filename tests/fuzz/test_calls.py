"""What judges sequences of calls; see calls.py."""
from fad.trace.guards.checks import Checks

from . import calls
from .statement import Statement

SEQUENCE = [Statement("def f(x, DEFAULT=0.8):", [Statement("return np.sum(x) * GAIN * len(LS)")]),
            Statement("GAIN = 0.7  # x"), Statement("LS.append(2.0)  # x[:3]")]


def test_a_stale_value_is_seen(monkeypatch):
    assert calls.calls(SEQUENCE, "interpreted") is None
    monkeypatch.setattr(Checks, "holds", lambda self: True)
    assert calls.calls(SEQUENCE, "interpreted").startswith("call 2, after 'GAIN = 0.7' with x: value: ")


def test_what_numpy_refuses_must_be_refused():
    wrong = [Statement("def f(x, DEFAULT=0.8):", [Statement("return x.sum() + W @ (x if GAIN > 1.0 else x[:3])")])]
    assert calls.calls(wrong, "interpreted") is None
