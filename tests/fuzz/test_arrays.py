"""Random programs on arrays with one long axis: the generated text agrees with the interpreter, for gradients and their derivatives."""
import pytest

from .arrays import report

PORTIONS = 8
EACH = 5


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_array_programs(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed, compile=seed % (4 * EACH) == 0))]
    assert not failures, "\n\n".join(failures)
