"""Pauses of compiled loops: the record of a kernel's arguments, whatever kinds of arguments there are."""
import itertools

import numpy as np
import pytest

import fad

SCALARS = np.True_, np.float64(1.5), 1 - 2j, np.int8(3), np.float32(0.5), np.False_
ARRAYS = np.ones(3), np.ones((2, 3)), np.array([True, False])


def grown(*args):
    """A loop of which nobody knows how many iterations there are, over all arguments."""
    size = 0.0
    while size < 100.0:
        for x in args:
            size = size + np.sum(np.abs(x))
    return size


@pytest.mark.parametrize("args", [
    list(itertools.chain(*itertools.zip_longest(SCALARS, ARRAYS, fillvalue=1.0))),       # by turns
    [*ARRAYS, *SCALARS], [*SCALARS, *ARRAYS], SCALARS], ids=["by turns", "arrays first", "scalars first", "scalars"])
def test_scalars_and_arrays_in_any_order(args):
    """Numba takes a truth value among the arguments by a branch: what comes behind it is known in a later block."""
    assert fad.jit(grown, compile="now")(*args) == pytest.approx(grown(*args), rel=1e-12)


def test_a_truth_value_carried_by_a_loop():
    def f(go, x):
        s = x[0]
        while (s < 100.0) & go:
            s = s * 1.5 + np.sum(x)
        return s
    g = fad.jit(fad.value_and_grad(f, 1), compile="now")
    for go in (np.True_, np.False_):
        value, slope = g(go, np.ones(3))
        step = [f(go, np.ones(3) + 1e-6 * e) - f(go, np.ones(3) - 1e-6 * e) for e in np.eye(3)]
        assert value == f(go, np.ones(3))
        np.testing.assert_allclose(slope, np.array(step) / 2e-6, rtol=1e-7)
