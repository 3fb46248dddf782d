"""A traced condition ends a loop whose turns are traced one by one: the turns after it do nothing, whichever turn it comes in."""
import warnings

import numpy as np
import pytest

import fad

FACTORS = {0: 1.0, 1: 2.0, 2: 3.0}
XS = [np.array(x) for x in ([0.5, 0.6, 0.7], [-0.5, 0.6, 0.7], [0.5, -0.6, 0.7], [0.5, 0.6, -0.7], [-0.5, -0.6, -0.7])]


def after_a_first_turn_of_its_own(x):
    s = 0.0
    for k in range(3):
        if x[k] < 0:
            break
        s = s + FACTORS[k] * x[k] + 1.0
    return s


def by_else(x):
    s = 0.0
    for k in range(3):
        if x[k] < 0:
            break
        s = s + FACTORS[k] * x[k] + 1.0
    else:
        s = s * 2.0
    return s


def by_return(x):
    for k in range(3):
        if x[k] < 0:
            return x[2] * FACTORS[k]
    return x[0] * x[1]


def while_with_an_iterator(x):
    s, k, items = 0.0, 0, iter([1.0, 2.0, 3.0])
    while k < 2:
        s = s + next(items) * x[k]
        k += 1
        if x[k] < 0:
            break
    return s


def while_names_are_left(x):
    s, k, names = 0.0, 0, ["a", "b"]
    while names:
        s = s + {"a": 1.0, "b": 2.0}[names.pop()] * x[k]
        k += 1
        if x[k] < 0:
            break
    return s


REFUSED = {while_with_an_iterator, while_names_are_left}      # and right on the tape


@pytest.mark.parametrize("f", [after_a_first_turn_of_its_own, by_else, by_return, *sorted(REFUSED, key=lambda f: f.__name__)], ids=lambda f: f.__name__)
def test_ends(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if f in REFUSED else "error", fad.FallbackWarning)
        compiled, gradient = fad.jit(f), fad.grad(f)
        for x in XS:
            np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
            slope = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x), slope, rtol=1e-6, atol=1e-6)
