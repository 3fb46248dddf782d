"""What judges sequences of calls that print and log; see lines.py."""
from fad.kernels import lines as counted

from . import lines
from .statement import Statement

SEQUENCE = [Statement("def f(x, DEFAULT=0.8):",
                      [Statement("s = np.sum(x)"), Statement("print(f'{s:.3f}', LS)"), Statement("return s * s")]),
            Statement("pass  # x * 0.9")]


def test_a_line_that_is_not_said_is_seen(monkeypatch):
    assert lines.calls_of(SEQUENCE, "interpreted") is None
    monkeypatch.setattr(counted, "is_new", lambda: False)
    assert lines.calls_of(SEQUENCE, "interpreted").startswith("call 1, after 'pass' with x: said '' instead of ")


def test_other_numbers_are_seen():
    assert lines.same_lines("s=[0.5 1. ]", "s=[0.500001\n 1.]") and not lines.same_lines("0", "0.0")
    assert not lines.same_lines("0.5 1.0", "0.6 1.0") and not lines.same_lines("a 1.0", "b 1.0")


def test_random_sequences():
    assert not [found for seed in range(700, 730) if (found := lines.report(seed))]
