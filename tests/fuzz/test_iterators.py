"""Random functions that take from iterators (see iterators.py). The first seeds once gave wrong results."""
import pytest

from . import iterators


@pytest.mark.parametrize("seed", [7, 8, 85, *range(40)])
def test_functions_that_take_from_iterators(seed):
    found = iterators.report(seed)
    assert found is None, found
