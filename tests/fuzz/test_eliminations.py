"""Random eliminations; see eliminations.py."""
import pytest

from fad.transforms import final

from .eliminations import judge_final, report
from .judge import compiled_function
from .statement import Statement

PORTIONS = 4
EACH = 12


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_eliminations(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed))]
    assert not failures, "\n\n".join(failures)


def test_a_row_that_is_written_to_later_is_seen(monkeypatch):
    """Without the proof that no write follows, the gradient is wrong."""
    body = [Statement("A[i] -= 0.1 * A[i, k] * A[k]")]
    f = compiled_function([Statement("A = np.outer(x, np.cos(x)) + np.eye(n)"),
                           Statement("for k in range(n):", [Statement("for i in range(n):", [Statement("if i != k + 1:", body)])]), Statement("return np.sum(A * A)")])
    assert judge_final(f, "interpreted") is None
    monkeypatch.setattr(final._Nest, "is_last", lambda *_: True)
    assert judge_final(f, "interpreted") is not None
