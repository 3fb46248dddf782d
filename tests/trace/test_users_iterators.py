"""Iterators and sequences of the user's own, whose methods end a loop by an error, in branches and loops on data."""
import collections
import warnings

import numpy as np
import pytest

import fad


class Stepper:
    def __init__(self, n):
        self.k, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        self.k += 1
        if self.k > self.n:
            raise StopIteration
        return 0.25 * self.k


class Sequence:
    def __init__(self, n):
        self.n = n

    def __getitem__(self, k):
        if k >= self.n:
            raise IndexError(k)
        return 0.25 * (k + 1)


def looped(t, items):
    for u in items:
        t = t * 0.5 + u
    return t


def taken(t, items):
    it = iter(items)
    try:
        while True:
            t = t * 0.5 + next(it)
    except StopIteration:
        return t


USES = {
    "a loop": looped,
    "next": taken,
    "sum": lambda t, items: t * sum(items),
    "a list": lambda t, items: t * [*items][-1],
    "zip": lambda t, items: sum(t * u * v for u, v in zip(items, [0.3, 0.6])),
    "max": lambda t, items: t * max(items),
    "unpacking": lambda t, items: (lambda a, b, c: t * a * b + c)(*items),
    "a comprehension": lambda t, items: t * len(dict.fromkeys(items, t)),
}
PLACES = {
    "a branch": lambda use, make, x: use(x[0], make(3)) if x[0] > 0.1 else x[1],
    "both": lambda use, make, x: use(x[0], make(3)) if x[0] > 0.1 else use(x[1], make(3)),
    "a loop": lambda use, make, x: in_loop(use, make, x),
    "a loop that data end": lambda use, make, x: until(use, make, x),
}


def in_loop(use, make, x):
    t = 0.0
    for k in range(len(x)):
        if x[k] > 0.2:
            t = t + use(x[k], make(3))
    return t


def until(use, make, x):
    t = 0.1
    while t < 0.9:
        t = t + use(x[0] * t, make(3)) + 0.2
    return t


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("make", [Stepper, Sequence])
def test_what_they_yield_is_pythons(make, use, place):
    def f(x):
        return PLACES[place](USES[use], make, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        g = fad.value_and_grad(f, compile="never")
        for x in (np.array([0.3, 0.23, 0.5]), np.array([0.05, 0.23, 0.5])):
            value, slope = g(x)
            np.testing.assert_allclose(value, f(x))
            expected = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
            np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-7)


def test_a_sequence_whose_length_depends_on_data_ends():
    """Python's own text goes on to an IndexError, which no program raises while it is traced."""
    def f(x):
        items, s = collections.UserList([0.1]), x[0]
        for k in range(3):
            items.append(x[k])
            s = s + sum(items)
        return s
    x = np.array([0.3, 0.2, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        value, slope = fad.value_and_grad(f, compile="never")(x)
    np.testing.assert_allclose(value, f(x))
    np.testing.assert_allclose(slope, [4.0, 2.0, 1.0])
