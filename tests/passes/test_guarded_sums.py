"""Sums over lanes whose terms are guarded: one test of the sum, and the guards where it is no number."""
import re

import numpy as np
import pytest

import fad
from tests.fuzz.nests import in_lanes

RNG = np.random.default_rng(0)
PARTS, TERMS = 3, 8
W = 0.5 + 0.1 * RNG.random(TERMS)


def best(w, x):
    """The sum of each point's best part. The other parts have no derivative, whatever their terms are."""
    s = 0.0
    for i in range(x.shape[0]):
        scores = np.zeros(PARTS)
        for k in range(PARTS):
            for j in range(w.shape[0]):
                scores[k] += w[j] * x[i, k * TERMS + j]
        top = scores[0]
        for k in range(PARTS):
            top = max(top, scores[k])
        s += np.sin(top)
    return s


def points(count, lost=(), value=-np.inf):
    """Points, some of which have a part that is less than all others, or no number."""
    x = RNG.standard_normal((count, PARTS * TERMS))
    for i in lost:
        x[i, i % (PARTS * TERMS)] = value
    return x


CASES = {"finite": points(320), "a rest": points(300), "some lost": points(300, (3, 64, 299)),
         "all": points(320, range(320)), "no number": points(320, (5,), np.nan)}


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_those_of_guarded_terms(name):
    with in_lanes():
        value, slope = fad.value_and_grad(best, compile="now")(W, CASES[name])
        want, other = fad.value_and_grad(best, compile="never")(W, CASES[name])
    assert np.isfinite(slope).all() == (name != "no number")
    np.testing.assert_allclose(value, want, rtol=1e-12)
    np.testing.assert_allclose(slope, other, rtol=1e-11, atol=1e-12)


def test_a_sum_is_tested_not_its_terms():
    with in_lanes():
        text = fad.source(fad.value_and_grad(best, compile="now"), W, CASES["a rest"])
    assert re.search(r"(\btotal\w*) == \1\b", text)
