"""A thousand random programs, in portions that run side by side; see judge.py."""
import pytest

from .judge import report

PORTIONS = 40
EACH = 25


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_programs(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed, compile=seed % (4 * EACH) == 0))]
    assert not failures, "\n\n".join(failures)
