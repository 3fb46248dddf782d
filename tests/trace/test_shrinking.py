"""Arrays that each iteration makes longer or shorter by the same number: their extents are affine in the loop's
index."""
import numpy as np
import pytest

import fad
from fad.ir.graph import all_equations
from fad.passes.dce import dce
from fad.trace.tracing import trace

from ..turns import in_tiers

X = np.random.default_rng(3).uniform(0.5, 1.5, 12)


def tree(x):
    v = x * x
    for _ in range(x.size - 1):
        v = 0.4 * v[:-1] + 0.6 * v[1:] * x[0]
    return v[0]


def two_names(x):
    v, s = x * x, np.sin(x)
    for k in range(9):
        v = np.maximum(v[:-1] * 0.5 + v[1:] * 0.4, s[:-1])
        s = s[1:] * x[k]
    return np.sum(v) * s[0]


def backwards(x):
    v = x[:3] * 2.0
    for k in range(8, 0, -1):
        v = np.concatenate([v * x[k], v[:2] + 0.1])
    return np.sum(v * v)


def in_a_nest(x):
    s = 0.0
    for i in range(2):
        v = x * x[i]
        for _ in range(i, x.size - 2):
            v = v[1:] * v[:-1]
        s += np.sum(v)
    return s


def steady(f):
    """The affine extents make no question of minimum and maximum, and no check."""
    names = [e.op.name for e in all_equations(dce(trace(f, [X]).func))]
    return not {"minimum", "maximum", "check_equal"} & set(names) if f is not two_names else "check_equal" not in names


def used_up(x):
    v = x * x
    for _ in range(15):
        v = v[:-1] * 0.5
    return np.sum(v) + x[0]


def slower(x):
    v, s = x * x, 0.0
    for k in range(9):
        v = v[:-1] if k < 4 else v[:len(v) - k % 2] * x[k]
        s += v[0] * len(v)
    return s


def triangular(x):
    v = x * 1.0
    for k in range(1, 5):
        v = v[k:] * x[k]
    return np.sum(v)


def in_turn(x):
    a, b, s = x[:5] * x[0], x[1:4] * 2.0, 0.0
    for k in range(6):
        s = s + np.sum(a) * b[-1] + len(a) * a[0]
        a, b = b, np.concatenate([a, x[k:k + 1]])[:5 - k % 2]
    return s + np.sum(b)


def settles(x):
    v = x * 1.0
    for _ in range(20):
        v = 1.1 * v[:max(len(v) - 1, 4)]
    return np.sum(v)


AFFINE, OTHERS = [tree, two_names, backwards, in_a_nest], [used_up, slower, triangular, in_turn, settles]


@pytest.mark.parametrize("f", AFFINE)
def test_extents_are_affine(f):
    assert steady(f)
    assert "resized" not in fad.source(fad.grad(f), X)


@pytest.mark.parametrize("f", OTHERS)
def test_others_are_not(f):
    assert not steady(f)


@pytest.mark.parametrize("f, compiled", in_tiers(AFFINE + OTHERS))
def test_derivatives(f, compiled):
    value, slope = fad.value_and_grad(f, compile=compiled)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    step = 1e-6 * np.cos(np.arange(12.0))
    np.testing.assert_allclose((f(X + step) - f(X - step)) / 2, slope @ step, rtol=1e-6)
    np.testing.assert_allclose(fad.jvp(f, (X,), (step,))[1], slope @ step, rtol=1e-10)
    g = fad.grad(f)
    np.testing.assert_allclose(fad.hessian(f)(X) @ step, (g(X + step) - g(X - step)) / 2, rtol=1e-5, atol=1e-10)


def test_a_batch_of_them():
    batch = np.stack([X, X[::-1]])
    np.testing.assert_allclose(fad.vmap(fad.grad(tree))(batch), [fad.grad(tree)(x) for x in batch], rtol=1e-12)
