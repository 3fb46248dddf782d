"""What judges random graphs; see graphs.py."""
import pytest

from fad.trace.guards.checks import Checks

from . import graphs


@pytest.mark.parametrize("seed", [*range(12), 25, 285, 335])
def test_graphs_that_change(seed):
    assert graphs.report(seed) is None


def test_a_stale_value_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(graphs, "program", lambda seed: ("N0 = [1.0, 2.0]", "N0[0] * x[0]", ["N0[0] = 3.0"]))
    assert graphs.problem_of(0, "interpreted", "of_file", tmp_path) is None
    monkeypatch.setattr(Checks, "holds", lambda self: True)
    assert graphs.problem_of(0, "interpreted", "of_file", tmp_path).startswith("call 1, after 'N0[0] = 3.0'")
