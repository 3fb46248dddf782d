"""Random programs in which one thing has several names; see names.py."""
import pytest

from .judge import report
from .names import generate

PORTIONS = 5
EACH = 12


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_programs_of_several_names(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed, generate=generate))]
    assert not failures, "\n\n".join(failures)
