"""What judges eliminations; see eliminations.py."""
from fad.transforms import last_write

from .eliminations import judge_final
from .judge import compiled_function
from .statement import Statement


def test_a_row_that_is_written_to_later_is_seen(monkeypatch):
    """Without the proof that no write follows, the gradient is wrong."""
    body = [Statement("A[i] -= 0.1 * A[i, k] * A[k]")]
    f = compiled_function([Statement("A = np.outer(x, np.cos(x)) + np.eye(n)"),
                           Statement("for k in range(n):",
                                     [Statement("for i in range(n):", [Statement("if i != k + 1:", body)])]),
                           Statement("return np.sum(A * A)")])
    assert judge_final(f, "interpreted") is None
    monkeypatch.setattr(last_write._Nest, "is_last", lambda *_: True)
    assert judge_final(f, "interpreted") is not None
