"""What judges compositions of transforms; see compositions.py."""
import numpy as np
import pytest

import fad

from .compositions import FIRST, SECOND, judge_composition
from .judge import DIRECTION, POINT


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
