"""What judges recurrences in blocks; see recurrences.py."""
from fad.transforms import versions

from .judge import compiled_function
from .recurrences import judge_blocks
from .statement import Statement


def test_a_row_that_is_not_all_written_is_seen(monkeypatch):
    """Without the proof that an iteration writes all that the next one saves, the gradient is wrong."""
    f = compiled_function([Statement("y = 0.5 * x"),
                           Statement("for k in range(2, n - 3):", [Statement("y[0:k] += 0.1 * y[0:k][::-1] * y[0:k]")]),
                           Statement("return np.sum(y * y)")])
    assert judge_blocks(f, 9, "interpreted") is None
    monkeypatch.setattr(versions, "_covers", lambda *_: True)
    assert judge_blocks(f, 9, "interpreted") is not None
