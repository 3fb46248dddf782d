"""Loops that add to one number may reverse their iterations at once: no tape, and the derivatives of Python's loops."""
import math

import numpy as np
import pytest

import fad
from fad.transforms import at_once
from fad.transforms.at_once import AtOnce

from ..turns import in_tiers

close = np.testing.assert_allclose
RNG = np.random.default_rng(0)
X, W = RNG.uniform(0.1, 1, (40, 3)), RNG.uniform(0.1, 1, 3)


def points(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a = a * x[i, j] + np.sin(w[j] * a + x[i, j])
        s += a * a
    return s


def pairs(x, w):
    e = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            d = x[i] - x[j]
            e += w[0] / math.sqrt(d @ d + 0.01)
    return e


def nonlinear_in_the_sum(x, w):
    s = 0.5
    for i in range(x.shape[0]):
        t = np.zeros(x.shape[1])
        for j in range(x.shape[1]):
            t[j] = np.exp(x[i, j] * w[j])
        s -= np.log(t[0] + t[2])
    return np.sin(s) * s + np.sum(w)


def starts_at_a_parameter(x, w):
    s = w[0] * w[1]
    for i in range(1, x.shape[0]):
        s = s + np.tanh(x[i - 1, 0] * x[i, 1]) * w[2]
    return s * s


def branches(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i, 0] > 0.5:
            s += np.log(x[i, 0]) * w[0]
        elif i > 3:
            s += max(x[i, 1], x[i, 2]) ** 2
    return s * w[1]


def counted(x, w):
    s, k = 0.0, 1
    for i in range(x.shape[0]):
        k = (k * 7 + i) % 3
        s += np.exp(x[i, k] * w[k])
    return s


def searches(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        y = x[i, 0]
        while y < 2.0:
            y = y * (1.0 + w[1])
        s += y
    return s


def no_iterations(x, w):
    s = w[0]
    for i in range(0, x.shape[0] - 40):
        s += x[i, 0] * w[1]
    return s * s


def one_loop_behind_another(x, w):
    s = r = 0.0
    for i in range(x.shape[0]):
        s += np.sin(x[i, 0] * w[0])
    for i in range(x.shape[0]):
        r += np.exp(s * x[i, 1])
    return r


AT_ONCE = (points, pairs, nonlinear_in_the_sum, starts_at_a_parameter, branches, counted, searches,
           one_loop_behind_another)


def a_recurrence(x, w):
    s = h = 0.0
    for i in range(x.shape[0]):
        h = w[0] * h + x[i, 0]
        s += h * h
    return s


def two_sums(x, w):
    s = r = 0.0
    for i in range(x.shape[0]):
        s += np.sin(x[i, 0])
        r += np.exp(x[i, 1] * w[0])
    return s / r


def read_within(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        s += np.sin(s + x[i, 0])
    return s


def few_of_many_elements(x, w):
    s = 0.0
    for i in range(2):
        s += x[i, 0] ** 2
    return s * s


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Every tape is too large."""
    monkeypatch.setattr(at_once, "LARGE", -1)


@pytest.fixture
def found(monkeypatch):
    """How many loops were reversed at once."""
    count, run = [], AtOnce.run
    monkeypatch.setattr(AtOnce, "run", lambda *args: (count.append(args), run(*args))[1])
    return count


def differences(f, x, w, h=1e-6):
    def along(a, other):
        g = np.zeros(a.shape)
        for k in np.ndindex(a.shape):
            e = np.zeros(a.shape)
            e[k] = h
            g[k] = (other(a + e) - other(a - e)) / (2 * h)
        return g
    return along(x, lambda a: f(a, w)), along(w, lambda a: f(x, a))


@pytest.mark.parametrize("f, tier", in_tiers(AT_ONCE))
def test_sums_are_reversed_at_once(f, tier, found):
    with fad.config.using(compile=tier):
        value, gradient = fad.value_and_grad(f, argnums=(0, 1))(X, W)
    assert found
    close(value, f(X, W), rtol=1e-12)
    for g, want in zip(gradient, differences(f, X, W)):
        close(g, want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", [a_recurrence, two_sums, read_within, no_iterations, few_of_many_elements],
                         ids=lambda f: f.__name__)
def test_other_loops_wait_for_their_cotangents(f, found):
    value, gradient = fad.value_and_grad(f, argnums=(0, 1))(X, W)
    assert not found
    for g, want in zip(gradient, differences(f, X, W)):
        close(g, want, rtol=1e-5, atol=1e-7)


def saved(f, *args):
    return fad.explain(fad.grad(f), *args).bytes


def test_one_iteration_is_saved():
    assert saved(points, X, W) == 8 * 3 and "room_for" not in fad.source(fad.grad(points), X, W)


def test_small_tapes_are_saved(monkeypatch):
    monkeypatch.setattr(at_once, "LARGE", 1 << 22)

    def f(x, w):                                                 # programs belong to code: that of points is there
        return points(x, w)
    assert saved(f, X, W) >= 8 * 3 * 40
    assert saved(f, np.ones((100_000, 3)), W) < 10_000           # in lanes


@pytest.mark.parametrize("tier", ["never", "now"])
def test_second_derivatives(tier):
    def norm(x):
        return np.sum(fad.grad(lambda x: nonlinear_in_the_sum(x, W))(x) ** 2)

    with fad.config.using(compile=tier):
        close(fad.grad(norm)(X), differences(lambda x, w: norm(x), X, W)[0], rtol=1e-4, atol=1e-6)
        h = fad.hessian(lambda w: points(X, w))(W)
    close(h, h.T, rtol=1e-12)
    rows = [differences(lambda x, w: fad.grad(lambda v: points(X, v))(w)[k], X[:1], W)[1]  # noqa: B023
            for k in range(3)]
    close(h, rows, rtol=1e-5, atol=1e-7)


def test_a_zero_cotangent_stays_zero():
    def f(x, on):
        s = 0.0
        for i in range(x.shape[0]):
            s += np.log(x[i, 0])
        return np.where(on > 0, s, np.sum(x))

    zeros = np.zeros((40, 3))
    with np.errstate(divide="ignore"):
        close(fad.grad(f)(zeros, -1.0), np.ones((40, 3)))
        assert np.isinf(fad.grad(f)(zeros, 1.0)[:, 0]).all()


def test_rules_of_the_users_own_see_their_cotangents():
    @fad.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))

    def f(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += clipped(x[i])
        return 5.0 * s
    close(fad.grad(f)(W), np.ones(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    x, w = X.astype(dtype), W.astype(dtype)
    g = fad.grad(points, argnums=(0, 1))(x, w)
    assert g[0].dtype == g[1].dtype == dtype
    close(g[0], fad.grad(points)(X, W), rtol=1e-3 if dtype == np.float32 else 1e-12)
