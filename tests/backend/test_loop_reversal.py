"""Loops run in the direction in which they write, and add what they add to one element at once."""
import re

import numpy as np
import pytest

import fad


def turned(x):
    y = np.ones(x.size)
    y[::-1] += 2.0 * x
    return y


def turned_and_summed(x):
    y = np.ones(x.size)
    z = np.exp(x)
    y[::-1] += z
    return y, np.sum(z * x)


def both_ways(x):
    y, z = np.zeros(x.size), np.zeros(x.size)
    t = np.exp(x)
    y[::-1] = t
    z += t
    return y, z


def itself(x):
    y = x * 2.0
    y[1:] += y[:-1][::-1]
    return y


def mirrored(x):
    y = x * 2.0
    y[::-1] += y
    return y


def at_once(x):
    y = np.zeros(x.size)
    y[1:] += x[1:]
    y[1:] += 2.0 * x[:0:-1]
    y[1:] -= np.sin(x[1:])
    return y


def taken_away(x):
    y = np.ones(x.size)
    y[1:] -= x[1:]
    y[1:] -= np.cos(x[1:])
    return y


def of_what_is_added_to(x):
    y = np.ones(x.size)
    y[1:] += x[1:]
    y[1:] += y[1:] * x[1:]
    return y


FUNCTIONS = [turned, turned_and_summed, both_ways, itself, mirrored, at_once, taken_away, of_what_is_added_to]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_values_and_derivatives(f):
    x, d = np.linspace(0.1, 0.9, 50), 1e-6 * np.cos(np.arange(50.0))
    for ours, theirs in zip(as_list(fad.jit(f, compile="now")(x)), as_list(f(x))):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)

    def total(x):
        return sum(np.sum(part ** 2) for part in as_list(f(x)))
    np.testing.assert_allclose(fad.jit(fad.grad(total), compile="now")(x) @ d, (total(x + d) - total(x - d)) / 2,
                               rtol=1e-7)


def as_list(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("f", [turned, turned_and_summed])
def test_what_is_written_is_ascending(f):
    assert re.search(r"\bt\w*\[i\] \+= ", fad.source(f, np.ones(50)))


@pytest.mark.parametrize("f, line",
                         [(at_once, "t[i + 1] += x[i + 1] + 2.0 * x[n - i - 1] - sin(x[i + 1])"),
                          (taken_away, "t[i + 1] -= x[i + 1] + cos(x[i + 1])")])
def test_one_store(f, line):
    assert line in fad.source(f, np.ones(50))
