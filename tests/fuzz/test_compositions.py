"""Random compositions of transforms over random programs; see compositions.py."""
import numpy as np
import pytest

import fad

from .compositions import FIRST, SECOND, judge_composition, report
from .judge import DIRECTION, POINT

PORTIONS = 3
EACH = 5


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_random_compositions(portion):
    seeds = range(portion * EACH, (portion + 1) * EACH)
    failures = [found for seed in seeds if (found := report(seed))]
    assert not failures, "\n\n".join(failures)


def bent(x):
    return np.sum(np.sin(x) ** 2)


@pytest.mark.parametrize("name", [*FIRST, *SECOND])
def test_each_composition_of_a_smooth_function(name):
    assert judge_composition(bent, name, "interpreted") is None


def test_a_composition_that_is_off_is_seen(monkeypatch):
    monkeypatch.setitem(FIRST, "rule", lambda f: fad.grad(f)(POINT) * 1.0001)
    monkeypatch.setitem(SECOND, "hessian", lambda f: fad.hessian(f)(POINT) @ DIRECTION[::-1])
    assert judge_composition(bent, "rule", "interpreted").startswith("rule: ")
    assert judge_composition(bent, "hessian", "interpreted").startswith("hessian: ")
