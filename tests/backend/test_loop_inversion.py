"""Loops that a `break` or `return` may end: they are loops over a range, and end where the user's do."""
import math

import numpy as np
import pytest

import fad

from ..bench.plain import early_return


def place_of_negative(x):
    """The number that counts is read behind the loop."""
    k = 0
    while k < x.size:
        if x[k] < 0:
            break
        k += 1
    return k * 2.0 + np.sum(x)


def two_ends(x):
    s = 1.0
    for value in x:
        if value > 3.0:
            break
        s *= 1 + value
        if s > 2.5:
            return s * 2.0
    return s


def down(x):
    """A count that falls is no range of this kind."""
    k, s = x.size - 1, 0.0
    while k >= 0:
        s += x[k] * k
        if s > 4.0:
            break
        k -= 1
    return s


def nested(x):
    s = 0.0
    for i in range(x.size):
        for j in range(i, x.size):
            if x[j] < 0:
                break
            s += x[i] * x[j]
        if s > 5.0:
            return s * s
    return s


def begins_late(x):
    k, s = 2, 0.0
    while k < x.size:
        s += math.sqrt(abs(x[k]))
        k += 1
        if s > 2.0:
            break
    return s + k


ALL = [early_return, place_of_negative, two_ends, down, nested, begins_late]
X = {"none": [0.1, 0.2, 0.3, 0.4, 0.5], "first": [-1.0, 0.2, 0.3], "last": [0.1, 0.2, 0.3, -0.4],
     "large": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], "two": [0.5, 0.6]}


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", X.values(), ids=X)
def test_numbers(f, x):
    x = np.array(x)
    np.testing.assert_allclose(fad.jit(f, compile="now")(x), f(x), rtol=1e-14)
    value, gradient = fad.jit(fad.value_and_grad(f), compile="now")(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    np.testing.assert_allclose(gradient, fad.jit(fad.grad(f), compile="never")(x), rtol=1e-13)


@pytest.mark.parametrize("f", [early_return, two_ends, nested], ids=lambda f: f.__name__)
def test_such_a_loop_is_one_over_a_range(f):
    text = fad.source(fad.jit(f, compile="now"), np.array(X["none"]))
    assert "for _ in range(" in text and "break" in text
    assert "while True" not in text


def test_a_count_that_nothing_else_ends_needs_no_test():
    def counted(x):
        k, s = 0, 0.0
        while k < x.size:
            s += x[k] * k
            k += 1
        return s
    text = fad.source(fad.jit(counted, compile="now"), np.array(X["none"]))
    assert "while True" not in text and "break" not in text
