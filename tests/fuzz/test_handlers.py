"""Random programs that raise and handle errors; see handlers.py."""
import pytest

from .handlers import report

PORTIONS = 2
EACH = 40


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_programs_that_handle_errors(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed))]
    assert not failures, "\n\n".join(failures)
