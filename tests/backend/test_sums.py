"""The order of arithmetic: compiled code keeps the user's, but for sums that nobody looks at before they are
complete."""
import math

import numpy as np
import pytest

import fad
from fad.backend.text.sums import with_free_sums


def compensated(x):
    """Kahan's sum (Communications of the ACM 8 (1965) 40)."""
    s = 0.0
    c = 0.0
    for v in x:
        y = v - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


def error_of_sum(x):
    """Knuth's exact error of a sum (The Art of Computer Programming 2, 4.2.2, theorem B)."""
    a, b = x[0], x[1]
    s = a + b
    bb = s - a
    return (a - (s - bb)) + (b - bb)


def low_half(x):
    """Veltkamp's splitting."""
    c = 134217729.0 * x[0]
    return x[0] - (c - (c - x[0]))


def careful_log1p(x):
    u = 1.0 + x[0] * 1e-10
    return x[0] * 1e-10 if u == 1.0 else math.log(u) * (x[0] * 1e-10) / (u - 1.0)


def unit_roundoff(x):
    e = x[0]
    while 1.0 + e != 1.0:
        e = e / 2
    return e


def fixed_point(x):
    y, before, iterations = x[0], 0.0, 0
    while y != before and iterations < 1000:
        before = y
        y = y - (y - x[1] / 3.0) / 2.0
        iterations += 1
    return y + iterations


def rounded_to_integer(x):
    return x * 2.3e4 + 6755399441055744.0 - 6755399441055744.0


X = np.array([1.0, 1e-16, 0.3, 7e-17, 0.1])


@pytest.mark.parametrize("f",
                         [compensated, error_of_sum, low_half, careful_log1p, unit_roundoff, fixed_point,
                          rounded_to_integer],
                         ids=lambda f: f.__name__)
def test_order_is_kept(f):
    want = f(X)
    with fad.config.using(compile="now"):
        got = fad.jit(f)(X)
    np.testing.assert_array_equal(got, want)


BIG = 6755399441055744.0


def rounded_one_by_one(x):
    y = x[:6]
    return np.sum((y + BIG) - BIG) + 0.0 * np.sum(np.tanh(y))


def differences_of_sums(x):
    return np.sum((np.diff(np.cumsum(x[:6] + 1e6)) - 1e6) * 1e6)


def rounded_in_a_loop(x):
    s = 0.0
    for v in x[:6]:
        s += (v + BIG) - BIG
    return s


@pytest.mark.parametrize("f", [rounded_one_by_one, differences_of_sums, rounded_in_a_loop], ids=lambda f: f.__name__)
def test_only_the_sum_itself_has_no_order(f):
    """A sum of six terms is laid out, and LLVM took the terms apart, too: 1.6 + big - big was not 2."""
    x = np.array([0.6, 1.2, 2.9, 3.3, 4.7, 5.1])
    with fad.config.using(compile="now"):
        assert np.isclose(fad.jit(f)(x), f(x), rtol=1e-13)
        assert np.isclose(fad.value_and_grad(f)(x)[0], f(x), rtol=1e-13)


def test_free_sums_are_marked_in_the_text():
    text = fad.source(lambda x: np.sum(x * x), X)
    assert "+=" in text and "add_up" not in text
    assert "total = add_up(total, " in with_free_sums(text)


def test_sum_of_a_loop_is_free_and_right():
    def f(x):
        s = 1.0
        for i in range(x.size):
            s = s + x[i] * x[i]
        return s
    x = np.random.default_rng(0).standard_normal(1000)
    assert " += " in fad.source(f, x)
    np.testing.assert_allclose(fad.jit(f, compile="now")(x), 1.0 + x @ x, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8", "u2", "bool"])
def test_sums_of_all_types(dtype):
    x = (np.arange(40) % 7).astype(dtype)
    for f in (np.sum, np.prod, np.cumsum, lambda x: x @ x, lambda x: np.sum(x[None] * x[:, None], axis=0)):
        got = fad.jit(f, compile="now")(x)
        np.testing.assert_allclose(got, f(x), rtol=1e-5 if dtype in ("f4", "c8") else 1e-14)
        assert got.dtype == f(x).dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("f", [np.max, np.min])
def test_the_largest_of_many_numbers(f, dtype):
    """It is taken in lanes; nans and infinities are NumPy's, wherever they stand."""
    x = (np.random.default_rng(0).standard_normal(1003) * 50 + 100).astype(dtype)
    g = fad.jit(lambda x: f(x), compile="now")
    assert g(x) == f(x) and np.asarray(g(x)).dtype == dtype
    for k, special in [(0, np.nan), (500, np.inf), (1002, -np.inf), (7, np.nan)] if np.dtype(dtype).kind == "f" else []:
        y = x.copy()
        y[k] = special
        np.testing.assert_array_equal(g(y), f(y))
        np.testing.assert_array_equal(g(np.full(40, special, dtype)), special)
