"""Random programs that draw, and what judges them; see draws.py."""
import pytest

from fad.backend.running.prelude import Prelude

from . import draws

DRAWING = draws.STATE + "\ndef f(x):\n    return np.sum(x * RNG.normal(size=3))\n"


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_that_draw(seed):
    assert draws.calls_of(draws.program(seed)) is None


def test_numbers_that_are_not_drawn_anew_are_seen(monkeypatch):
    assert draws.calls_of(DRAWING) is None
    kept = {}
    monkeypatch.setattr(Prelude, "__call__", lambda self, data: kept.setdefault(id(self), self.call(data)))
    assert "instead of" in draws.calls_of(DRAWING)


def test_generators_that_are_left_otherwise_are_seen(monkeypatch):
    states = iter([1, 2])
    monkeypatch.setattr(draws, "state", lambda scope: next(states))
    assert "left otherwise" in draws.calls_of(DRAWING)
