"""A hundred random programs whose arrays change their extents; see extents.py."""
import pytest

from .extents import report

PORTIONS = 10
EACH = 10


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_programs_of_changing_extents(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed))]
    assert not failures, "\n\n".join(failures)
