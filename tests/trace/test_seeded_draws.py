"""Generators that a function makes itself, with a seed: the derivative goes through locations, scales and populations,
as it does for generators from outside."""
import random

import numpy as np
import pytest

import fad


def located(x):
    rng = np.random.default_rng(4)
    return np.sum(rng.normal(x[0], 1.0 + x[1] ** 2, size=(3, 2))) + rng.exponential(x[2])


def in_a_loop(x):
    rng, s = np.random.RandomState(4), 0.0
    for k in range(3):
        s = s + rng.normal(x[k]) * rng.uniform(0.0, x[1])
    return s


def of_pythons_generator(x):
    rng = random.Random(3)
    return rng.gauss(x[0], x[1]) + rng.uniform(x[0], 4.0) + rng.choice(list(x)) * sum(rng.sample(list(x), 2))


def selected(x):
    rng = np.random.default_rng(4)
    return rng.choice(x) + rng.choice(x, size=3).sum() * rng.permutation(x)[0]


def in_a_branch(x):
    rng = np.random.default_rng(4)
    if x[0] > 0:
        return rng.normal(x[1], x[1], len(x)).sum()
    return x[0]


def of_arrays(x):
    rng = np.random.default_rng(4)
    return rng.normal(x, 1.0).sum() + rng.normal(0.0, x, size=(2, 3)).sum() + rng.standard_normal()


@pytest.mark.parametrize("f", [located, in_a_loop, of_pythons_generator, selected, in_a_branch, of_arrays],
                         ids=lambda f: f.__name__)
def test_derivatives(f):
    x = np.array([2.0, 0.3, 1.0])
    step = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    for _ in range(2):
        assert fad.jit(f, fallback=False)(x) == pytest.approx(f(x), rel=1e-14)
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), step, rtol=1e-7, atol=1e-8)


def test_a_negative_scale():
    def f(x):
        return np.random.default_rng(0).normal(0.0, x)
    with pytest.raises(ValueError, match="scale < 0"):
        f(-1.0)
    with pytest.raises(ValueError, match="scale < 0"):
        fad.grad(f)(-1.0)
