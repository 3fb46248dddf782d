"""A branch knows its condition, a flag that a branch sets is its condition, and nobody copies the code before it."""
import itertools
import re

import numpy as np
import pytest

import fad

X = np.array([0.7, -0.3, 1.4])


def early(x):
    for _ in range(1):
        if x[0] > 0.5:
            return x[1]
    return x[0] * x[2]


def unbound_on_one_side(x):
    y = np.outer(x, x)
    try:
        factor = np.linalg.cholesky(y + np.diag(x))
    except np.linalg.LinAlgError:
        return np.inf
    return factor.sum()


def both(x):
    large = x[0] > 0.5 and x[1] > 0.5
    if large:
        return x[2] if x[0] > 0.5 else x[1]
    return x[0] * 2.0 if not large else x[1]


def number_of_a_truth(x):
    flag = True if x[0] > 0.5 else False
    return flag * x[1] + (not flag) * x[2], flag


POINTS = [np.array(p) for p in itertools.product([0.2, 0.8], repeat=3)]


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("f", [early, unbound_on_one_side, both, number_of_a_truth], ids=lambda f: f.__name__)
def test_values_are_those_of_python(f, compile):
    found = fad.jit(f, compile=compile)
    for x in [X, *POINTS]:
        got, want = found(x), f(x)
        np.testing.assert_allclose(got, want, rtol=1e-14)
        if isinstance(want, tuple):
            assert type(got[1]) is type(want[1])


def test_a_flag_is_its_condition():
    source = fad.source(unbound_on_one_side, X)
    assert "UnboundLocalError" not in source                 # the flag of a return says that the name is bound
    assert ".copy()" not in source and source.count("cholesky_ex(") == 1


def test_a_condition_within_itself_is_known():
    code = re.sub("#.*", "", str(fad.source(both, X)))
    assert code.count("> 0.5") == 2 and code.count("if ") == 3
