"""Loops that fill several arrays are taken apart, where no step waits for another in the wrong order."""
import re

import numpy as np
import pytest

import fad


def alike(x):
    return x * 2.0, x + 1.0


def in_registers(x):
    t = np.exp(x)
    return t * 2.0, t + 1.0


def chained(x):
    y = x * 2.0
    z = y + 1.0
    return y, z


def overwritten(x):
    y = x * 1.5
    z = y * 0.5
    y[1:] = 3.0
    y += z
    return y, z


def added(x):
    total = np.zeros(x.size)
    other = np.zeros(x.size)
    for _ in range(3):
        total += x
        other += total * x
    return total, other


def summed(x):
    y = x * 3.0
    return y, np.sum(y)


def counted(x):
    """Additions to elements that are found stand apart from what finds them, which vectors can compute."""
    k = np.minimum((x * 7.0).astype(int), 5)
    return np.bincount(k, weights=np.sqrt(x), minlength=6), np.sum(x[k])


def in_bins(x):
    """Vectors compute the places and the roots in one loop. Both additions to bins share another loop."""
    k = (x * 5.0).astype(int)
    return np.bincount(k, minlength=6), np.bincount(k, weights=np.sqrt(x), minlength=6)


LOOPS = {alike: 2, in_registers: 1, chained: 2, summed: 1, in_bins: 4}


@pytest.mark.parametrize("f", LOOPS)
def test_one_array_a_loop(f):
    text = fad.source(f, np.ones(5))
    assert len(re.findall(r"^ +for ", text, re.MULTILINE)) == LOOPS[f]


@pytest.mark.parametrize("f", [*LOOPS, overwritten, added, counted])
def test_values(f):
    x = np.linspace(0.1, 0.9, 50)
    for ours, theirs in zip(fad.jit(f, compile="now")(x), f(x)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_functions_stand_apart_from_additions_to_bins():
    """Vectors compute roots and places, if they do not stand with the additions. All data are in the bins that they
    span, so nothing asks which are."""
    def f(x):
        return np.histogram(x, 4)[0], np.histogram(x, 4, weights=np.sqrt(x))[0]
    loops = re.split(r"^ +for ", fad.source(f, np.ones(9)), flags=re.MULTILINE)
    assert [loop.count(" += ") for loop in loops if "[pick" in loop or " = sqrt(" in loop] == [0, 2]
    assert "bool_" not in "".join(loops)


def test_steps_wait_for_the_loop_that_reads_them():
    """Masks and products of the reverse sweep stay in registers: no array but the saved rows and the cotangent."""
    def f(u, steps):
        for _ in range(steps):
            d = np.where(u[1:-1] > 0, u[1:-1] - u[:-2], u[2:] - u[1:-1])
            u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * d
        return np.sum(u * u)
    g, u = fad.jit(fad.value_and_grad(f), compile="now"), np.random.default_rng(0).standard_normal(50)
    np.testing.assert_allclose(g(u.copy(), 7)[1], fad.jit(fad.value_and_grad(f), compile="never")(u.copy(), 7)[1])
    assert fad.source(g, u, 7).count("np.empty(") == 2
