"""Transposes of gathered rows become gathers from a view."""
import numpy as np
import pytest

import fad

RNG = np.random.default_rng(0)
X, ROWS = RNG.standard_normal((4, 9, 3)), np.array([8, 0, 3, 3, -2, 5])


def ops(f, *args):
    return [line.split("=")[1].split("(")[0].strip() for line in str(fad.show(f, *args)).splitlines() if " = " in line]


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0), (2, 1, 0), (2, 0, 1), (1, 0, 2)])
@pytest.mark.parametrize("f", [lambda y: -y, lambda y: 2.0 * y + 1.0, lambda y: y], ids=["neg", "affine", "plain"])
def test_a_transpose_of_gathered_rows_is_a_gather(axes, f):
    def turned(x, rows):
        return np.transpose(f(x[:, rows]), axes)
    np.testing.assert_array_equal(fad.jit(turned, compile="now")(X, ROWS), turned(X, ROWS))
    found = ops(turned, X, ROWS)
    if axes != (0, 1, 2):
        assert found.index("transpose") < found.index("index")


def test_rows_that_others_read_are_gathered_once():
    def two(x, rows):
        y = -x[:, rows]
        return np.transpose(y, (1, 2, 0)), y
    found = ops(two, X, ROWS)
    assert found.count("index") == 1 and found.index("index") < found.index("transpose")


def test_derivatives():
    def loss(x):
        return np.sum(np.transpose(3.0 * x[:, ROWS], (1, 2, 0)) ** 2)
    want = np.zeros_like(X)
    np.add.at(want, (slice(None), ROWS), 18.0 * X[:, ROWS])
    np.testing.assert_allclose(fad.jit(fad.grad(loss), compile="now")(X), want, rtol=1e-13)
