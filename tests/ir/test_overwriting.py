"""The interpreter puts results where arrays were that nobody needs any more: only large ones, and only its own."""
import numpy as np
import pytest

import fad
from fad.ir import walk

RNG = np.random.default_rng(0)
N = walk.LARGE // 8


@pytest.fixture
def overwritten(monkeypatch):
    """The names of the ops whose results took an operand's place."""
    found, ask = [], walk._may_overwrite

    def asked(eqn, env, spare):
        answer = ask(eqn, env, spare)
        found.extend([eqn.op.name] if answer else [])
        return answer
    monkeypatch.setattr(walk, "_may_overwrite", asked)
    return found


def f(x):
    y = np.exp(-x * x)
    return np.sum(y * np.sin(x) + y ** 2)


def test_large_arrays_are_overwritten(overwritten):
    x = RNG.standard_normal(N)
    kept = x.copy()
    value, gradient = fad.jit(fad.value_and_grad(f), compile="never")(x)
    assert {"exp", "mul", "add"} <= set(overwritten)
    np.testing.assert_array_equal(x, kept)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    y = np.exp(-x * x)
    np.testing.assert_allclose(gradient, y * np.cos(x) - 2 * x * y * np.sin(x) - 4 * x * y ** 2, rtol=1e-10, atol=1e-12)


def test_small_ones_are_not(overwritten):
    fad.jit(fad.value_and_grad(f), compile="never")(RNG.standard_normal(N // 2))
    assert not overwritten


def test_results_arguments_and_views_stay():
    def several(x, y):
        a = x + y
        b = a.reshape(2, -1)
        c = a * 2.0
        return a[::-1] * 1.0, b + 1.0, c, np.sin(a) * a, x
    x, y = RNG.standard_normal(2 * N), RNG.standard_normal(2 * N)
    kept = x.copy(), y.copy()
    g = fad.jit(several, compile="never")
    first, second = g(x, y), g(x, y)
    for got, again, expected in zip(first, second, several(*kept)):
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(again, expected)
    np.testing.assert_array_equal((x, y), kept)


def test_an_array_that_two_names_hold_stays():
    def twice(x):
        y = x * 2.0
        z = np.positive(y)
        return np.sin(y) + z
    x = RNG.standard_normal(N)
    np.testing.assert_array_equal(fad.jit(twice, compile="never")(x), np.sin(2.0 * x) + 2.0 * x)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64])
def test_dtypes(dtype):
    def h(x):
        return (x * x + x) * 3 - x / 2
    x = (RNG.standard_normal(4 * N) * 10).astype(dtype)
    got, expected = fad.jit(h, compile="never")(x), h(x)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
