"""What judges loops over shifted parts; see shifts.py."""
from fad.backend.schedule.shifted_loop import ShiftedLoop

from .judge import compiled_function
from .shifts import judge_shifts
from .statement import Statement


def test_a_loop_that_begins_too_early_is_seen(monkeypatch):
    """Where one step has no element yet, the numbers are wrong."""
    steps = ["w = v[1:] * v[:-1]", "v[1:-1] = v[1:-1] - 0.5 * (w[1:] - w[:-1])"]
    body = [Statement("v = np.sin(x)"), Statement("for k in range(2):", [*map(Statement, steps)]),
            Statement("return np.sum(v * v)")]
    assert judge_shifts(compiled_function(body), "text") is None
    made = ShiftedLoop.__init__

    def early(self, *args):
        made(self, *args)
        self.first -= 1
    monkeypatch.setattr(ShiftedLoop, "__init__", early)
    assert judge_shifts(compiled_function(body), "text") is not None
