"""x.shape = ...: the array's own axes are others from then on, its elements are the same, and its views keep theirs."""
import numpy as np
import pytest

import fad
from fad.util.errors import UnsupportedFunctionError

from ..turns import in_tiers


def owner(x):
    y = x * 2
    y.shape = -1, 1
    return y @ y.T


def with_a_view_from_before(x):
    y = x * 2
    v = y[1:]
    y.shape = -1, 1
    y[0] = 3 * x[1]
    v[0] = x[0]
    y[2, 0] *= 2
    return np.concatenate([y[:, 0], v])


def a_view(x):
    y = x * 2
    v = y[1:3]
    v.shape = 2, 1
    v[1] = x[0] ** 2
    y[1] += 1.0
    return np.concatenate([y, v[:, 0]])


def a_transpose_of_it(x):
    y = np.outer(x, x)
    w = y.T
    y.shape = -1
    y[1] = x[2] * 7
    w[0, 0] = x[1]
    return np.concatenate([y, w.ravel()])


def both_ends(x):
    y = x * 2
    v, z = y[1:], y.reshape(-1, 1)
    y.shape = -1, 1
    z[0] = 3 * x[1]
    v[0] = x[0]
    z.shape = 1, -1
    z[0, 2] = x[1] ** 2
    y[0] *= z[0, 0]
    return np.concatenate([y[:, 0], v, z[0]])


def several_times(x):
    y = np.concatenate([x, x])
    v = y[1:]
    y.shape = 2, -1
    y.shape = -1, 2
    y[1] = v[:2] * 2
    for i in range(2):
        v[i] = v[i] * x[0]
    return np.concatenate([y.ravel(), v])


def before_a_branch(x):
    y = np.concatenate([x, x]).reshape(2, -1)
    r = y[1]
    y.shape = -1, 2
    z = y if x[0] > 0 else y * 1.0
    z[0] = x[1]
    r[1] = x[0]
    return np.concatenate([y.ravel(), z.ravel(), r])


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        y = x * i
        y.shape = len(x), 1
        total = total + np.sum(y * y.T)
    return total


class Column:
    def __init__(self, x):
        self.x = np.array(x)
        self.x.shape = self.x.size, 1


def attribute(x):
    return Column(x).x @ Column(x[::-1]).x.T


def the_one_it_has(x):
    x.shape = x.shape
    return x * x


def refused_by_numpy(x):
    y = np.outer(x, x).T
    try:
        y.shape = -1
    except AttributeError:
        y[0] = 1.0
    return y


PROGRAMS = {f.__name__: f for f in (
    owner, with_a_view_from_before, a_view, a_transpose_of_it, both_ends, several_times, before_a_branch, in_a_loop,
    attribute, the_one_it_has, refused_by_numpy)}


@pytest.mark.parametrize("name, tier", in_tiers(PROGRAMS))
def test_shapes_that_are_set(name, tier):
    f = PROGRAMS[name]

    def weighted(x):
        y = np.ravel(f(x))
        return np.sum(np.sin(1.0 + np.arange(y.size)) * y)
    value_and_grad = fad.value_and_grad(weighted, compile=tier, fallback=False)
    for x in (np.array([0.3, -0.7, 1.2, 0.5]), np.array([-0.3, 0.4, 0.9, 1.1, 0.2, 0.6])):
        value, slope = value_and_grad(x)
        assert np.isclose(value, weighted(x.copy()))
        slopes = [(weighted(x + h) - weighted(x - h)) / 2e-6 for h in 1e-6 * np.eye(x.size)]
        np.testing.assert_allclose(slope, slopes, rtol=1e-6, atol=1e-8)


def test_a_shape_that_the_caller_would_see_is_refused():
    def of_an_argument(x):
        x.shape = -1, 1
        return x @ x.T
    kept = np.ones(3)

    def of_a_closure(x):
        kept.shape = -1, 1
        return x * kept
    for f in (of_an_argument, of_a_closure):
        with pytest.raises(UnsupportedFunctionError, match="not made here"):
            fad.jit(f, fallback=False)(np.ones(3))
    assert kept.shape == (3,)
