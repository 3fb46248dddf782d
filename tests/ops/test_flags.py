"""Single booleans as subscripts: a mask of one element on an axis of its own, known or from data."""
import numpy as np
import pytest

import fad

from ..turns import in_tiers

X, M = np.array([0.3, 0.7, 1.2]), np.arange(6.0).reshape(2, 3) + 0.5


def every(x):
    y = x * 1.0
    y[x[0] > 0] = 2 * x
    return y.sum() + y[0] * x[1]


def none_of_it(x):
    y = x * 1.0
    y[x[0] > 0.5] = 2 * x
    return y.sum() + y[0] * x[1]


def without_axes(x):
    y = np.full_like(x[0], 0.5)
    y[x[1] > 0.1] = x[0] ** 2
    y[x[1] > 10.0] = 7.0
    return y * x[1]


def augmented(x):
    y = x * 1.0
    y[x[0] < 1] *= x[1]
    y[True] += 1.0
    y[False] = 3.0
    return (y * y).sum()


READS = {
    "known": lambda x: x[True].sum() * x[0], "nothing": lambda x: x[False].sum() + x[0],
    "data": lambda x: x[x[0] > 0].sum() * x[0],
    "data, nothing": lambda x: x[x[0] > 5].sum() + x[1],
    "before others": lambda x: np.sum((x * M)[x[0] > 0, :, 1] * np.array([[1.0, 2.0]])),
    "behind dots": lambda x: np.sum((x * M)[..., True] * 3), "behind an index": lambda x: np.sum((x * M)[1, True] * x),
    "every": every, "none of it": none_of_it, "without axes": without_axes, "augmented": augmented,
}


@pytest.mark.parametrize("name, tier", in_tiers(READS))
def test_a_boolean_is_a_mask_of_one_element(name, tier):
    f = READS[name]
    value, slope = fad.value_and_grad(f, compile=tier, fallback=False)(X)
    assert np.isclose(value, f(X))
    np.testing.assert_allclose(slope, [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)], rtol=1e-6, atol=1e-8)
