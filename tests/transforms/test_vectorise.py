"""Loops around loops in lanes: which ones qualify, and that values, derivatives and errors are those of Python."""
import math

import numpy as np
import pytest

import fad
from tests.fuzz.nests import in_lanes
from tests.turns import crossed

close = np.testing.assert_allclose
RNG = np.random.default_rng(0)
X, W = RNG.uniform(-1, 1, (300, 4)), RNG.uniform(0.1, 1, 4)


def total(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a += x[i, j] * w[j]
        s += np.sin(a)
    return s


def subtracted_in_an_inner_loop(x, w):
    s = 1.5
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s -= np.exp(x[i, j] * w[j])
    return s


def buffer(x, w):
    t, s = np.empty(x.shape[1]), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] * w[j]
        for j in range(1, x.shape[1]):
            t[j] += t[j - 1] ** 2
        s += t[-1]
    return s


def buffer_in_each_iteration(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        t = np.zeros((2, x.shape[1]))
        for j in range(x.shape[1]):
            t[0, j] = x[i, j] * w[j]
            t[1, j] = t[0, j] + w[0]
        for j in range(x.shape[1]):
            s += t[0, j] * t[1, x.shape[1] - 1 - j]
    return s


def matrix_as_buffer(x, w):
    m, s = np.zeros((x.shape[1], x.shape[1])), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[1]):
                m[j, k] = x[i, j] * x[i, k]
        for j in range(x.shape[1]):
            for k in range(j, x.shape[1]):
                s += m[k, j] * w[j] * w[k]
    return s


def own_elements(x, w):
    y, z = np.zeros(x.shape[0]), np.ones((x.shape[1], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i] += x[i, j] * w[j]
            z[j, i] *= y[i]
    return np.sum(y * y) + np.sum(z[1])


def neighbours(x, w):
    y = np.zeros(x.shape[0])
    for i in range(1, x.shape[0] - 1):
        a = 0.0
        for j in range(x.shape[1]):
            a = a + (x[i - 1, j] - 2 * x[i, j] + x[i + 1, j]) * w[j]
        y[i] = a
    return np.sum(y ** 2)


def gathered(x, w):
    places, s = np.argsort(x[:, 0]), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[places[i], j] * x[i, j] * w[places[i] % x.shape[1]]
    return s


def chosen(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        a = x[i, 0]
        for j in range(x.shape[1]):
            if w[j] > 0.4:
                a = max(a, x[i, j] * w[j])
        s += a if x.shape[0] > 10 else a * a
    return s


def nested_twice(x, w):
    s = 0.0
    for r in range(3):
        for i in range(x.shape[0]):
            a = 0.0
            for j in range(x.shape[1]):
                a += x[i, j] ** (r + 1) * w[j]
            s += a * a
    return s


def by_index(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a += w[(i + j) % x.shape[1]] * math.cos(0.1 * i) / (j + 1)
        s += a * x[i, 0]
    return s


def branches_on_data(x, w):
    s, y = 0.0, np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.2:
                s += np.log(x[i, j]) * w[j]
                y[i] += x[i, j]
            elif x[i, j] > -0.3:
                s -= w[j] / (x[i, j] + 0.31)
            else:
                y[i] = 0.5 * y[i]
    return s + np.sum(y * y)


def only_inside(x, w):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        a = x[i, 0]
        for j in range(x.shape[1]):
            if i + 1 < x.shape[0]:
                a += x[i + 1, j] * w[j]
            if i > 0:
                a -= x[i - 1, j]
        y[i] = a
    return np.sum(y ** 2)


def cut_off(x, w):
    s, t = 0.0, np.empty(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] - w[j]
        r2 = 0.0
        for j in range(x.shape[1]):
            r2 += t[j] ** 2
        if r2 < 2.0:
            for j in range(x.shape[1]):
                s += np.sqrt(2.0 - r2) * t[j]
            if r2 < 1.0:
                s += 1 / r2
    return s


def nearest(x, w):
    s, counts = 0.0, np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        best, place, count = 10.0, 0, 0
        for j in range(w.size):
            d = (x[i, 0] - w[j]) ** 2
            if d < best:
                best, place = d, j
            if d < 0.3:
                count += 1
        s += best * w[place]
        counts[i] = count
    return s + np.sum(counts)


def rows(x, w):
    s, m, t = 0.0, np.zeros((x.shape[0], w.size)), np.zeros(w.size)
    for i, xi in enumerate(x):
        v = np.tanh(xi * w)
        for k in range(w.size):
            v = v * w[k] + xi
        t[:] = v - w
        for k in range(w.size):
            m[i] += np.sum(t * t) * v[k]
        s += t @ w + v @ t
    return s + np.sum(m ** 2)


INDEPENDENT = [rows, nearest, branches_on_data, only_inside, cut_off, total, subtracted_in_an_inner_loop, buffer,
               buffer_in_each_iteration, matrix_as_buffer, own_elements, neighbours, gathered, chosen,
               nested_twice, by_index]


def carried(x, w):
    a, s = 0.1, 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a = 0.5 * a + x[i, j] * w[j]
        s += a
    return s


def greatest(x, w):
    s = -10.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a += x[i, j] * w[j]
        s = max(s, a)
    return s


def compensated(x, w):
    s, c = 0.0, 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y = x[i, j] * w[j] - c
            t = s + y
            c = (t - s) - y
            s = t
    return s + 0.0 * c


def left_over(x, w):
    t, s = np.zeros(x.shape[1] + 1), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += t[j + 1] * 0.5
            t[j] = x[i, j] * w[j]
    return s


def read_before_it_is_overwritten(x, w):
    t, s = np.zeros(x.shape[1]), 0.0
    for i in range(x.shape[0]):
        old = t[0]
        for j in range(x.shape[1]):
            t[j] = x[i, j] * w[j] + 0.1 * old
        s += t[1]
    return s


def used_behind(x, w):
    t = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t[j] = x[i, j] * w[j]
    return np.sum(t)


def of_the_one_before(x, w):
    y = np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            y[i] += x[i, j] * w[j]
        y[i] += 0.5 * y[i - 1]
    return np.sum(y)


def filled_in_part(x, w):
    t, s = np.zeros(x.shape[1]), 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1] - 1):
            t[j] = x[i, j] * w[j]
        s += t[0] + t[-1]
        t[-1] = x[i, 0]
    return s


def of_different_lengths(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(i % x.shape[1]):
            s += x[i, j] * w[j]
    return s


def growing_integers(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        k = i
        for j in range(x.shape[1]):
            k = k * 3 + j
        s += (k % 7) * x[i, 0]
    return s


def large_integers(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            s += x[i, j] * ((i * 6_364_136_223_846_793 + j) % 7)
    return s


DEPENDENT = [growing_integers, large_integers, carried, greatest, compensated, left_over, read_before_it_is_overwritten,
             used_behind, of_the_one_before, filled_in_part,
             of_different_lengths]


def is_in_lanes(f, *args):
    return "name='64 lanes'" in str(fad.show(f, *args, optimised=False))


@pytest.mark.parametrize("f, tier", crossed(INDEPENDENT, ["never", "now"]))
def test_independent_iterations_run_in_lanes(f, tier):
    with in_lanes():
        assert is_in_lanes(f, X, W)
        check_lanes(f, tier)


def check_lanes(f, tier):
    value, gradient = fad.jit(f, compile=tier), fad.jit(fad.grad(f, argnums=(0, 1)), compile=tier)
    for rows in (300, 320, 64, 65, 7, 2):
        x = X[np.arange(rows) % 300] * 0.9
        close(value(x, W), f(x, W), rtol=1e-12)
        v = np.cos(np.arange(4 * rows)).reshape(rows, 4)
        ds = fad.jvp(f, (x, W), (v, 2 * W))[1]
        gx, gw = gradient(x, W)
        close(np.sum(gx * v) + gw @ (2 * W), ds, rtol=1e-9, atol=1e-12)
    h = 1e-6 * np.ones((300, 4))
    close(np.sum(gradient(X, W)[0] * h), (f(X + h, W) - f(X - h, W)) / 2, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("f", DEPENDENT, ids=lambda f: f.__name__)
def test_iterations_that_depend_on_each_other_run_in_turn(f):
    with in_lanes():
        assert not is_in_lanes(f, X, W)
    with in_lanes(4):
        close(fad.jit(f, compile="never")(X[:50], W), f(X[:50], W), rtol=1e-13)


def test_programs_for_few_iterations_are_for_few():
    @fad.jit
    def f(x, w):
        s = 0.0
        for i in range(x.shape[0]):
            a = 0.0
            for j in range(x.shape[1]):
                a += x[i, j] * w[j]
            s += np.sin(np.exp(np.cos(a)))
        return s
    for rows, traces in (20, 1), (200, 1), (300, 2), (20, 2):    # the second program is in lanes
        close(f(X[:rows], W), np.sum(np.sin(np.exp(np.cos(X[:rows] @ W)))), rtol=1e-12)
        assert f.traces == traces


def test_the_report_says_so():
    with in_lanes():
        for f in (fad.jit(total), fad.grad(total)):
            outer, *_ = fad.explain(f, X, W).of("loop")
            assert outer.detail == "64 iterations at once"


def logistic(w, x):
    s = 0.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a += x[i, j] * w[j]
        s += np.log1p(np.exp(-a))
    return s


def recurrence(w, x):
    s = 0.0
    for i in range(x.shape[0]):
        p = 0.0
        for j in range(w.size):
            p = p * x[i, 0] + w[j]
        s += p
    return s


@pytest.mark.parametrize("f, features, pays", [(logistic, 4, True), (logistic, 32, False), (recurrence, 40, True)])
def test_lanes_are_taken_where_they_pay(f, features, pays):
    assert is_in_lanes(f, np.ones(features), np.ones((1000, features))) is pays


def test_an_index_out_of_range_raises():
    def f(x, places):
        s = 0.0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                s += x[places[i], j]
        return s
    places = np.arange(300)
    places[[70, 299]] = 300, -301
    for tier in ("never", "now"):
        with in_lanes():
            for first in (300, 0):
                places[70] = first
                with pytest.raises(IndexError):
                    fad.jit(f, compile=tier)(X, places)


def test_what_people_see_happens_once_an_iteration(capfd):
    def f(x, w):
        s = 0.0
        for i in range(x.shape[0]):
            fad.debug_print("here")
            for j in range(x.shape[1]):
                s += x[i, j] * w[j]
        return s
    with in_lanes():
        fad.jit(f, compile="never")(X, W)
    assert capfd.readouterr().out.count("here") == 300


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    def f(x, w):
        t, s, y = np.zeros(x.shape[1], x.dtype), x[0, 0] * 0, np.zeros(x.shape[0], x.dtype)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                t[j] = x[i, j] * w[j]
            for j in range(x.shape[1]):
                s += t[j] * t[-1 - j]
            y[i] = t[0]
        return s, y
    x = (X + (1j * X[::-1] if dtype is np.complex128 else 0)).astype(dtype)
    with in_lanes():
        found, want = fad.jit(f, compile="never")(x, W.astype(dtype)), f(x, W.astype(dtype))
    assert [y.dtype for y in found] == [y.dtype for y in want] == [dtype, dtype]
    for y, z in zip(found, want):
        close(y, z, rtol=2e-4 if dtype is np.float32 else 1e-12)


def test_second_derivatives():
    with in_lanes(8):
        found = fad.hessian(lambda w: buffer(X[:50], w) + total(X[:50], w))(W)
    close(found, fad.hessian(lambda w: buffer(X[:50], w) * 1.0 + total(X[:50], w))(W), rtol=1e-10)
    with in_lanes(8):
        found = fad.jacfwd(lambda w: own_elements(X[:50], w))(W)
    close(found, fad.grad(lambda w: own_elements(X[:50], w) * 1.0)(W), rtol=1e-10)


def singular(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        a = 0.0
        for j in range(x.shape[1]):
            a += np.log(x[i, j]) * w[j]
        s += min(a, 9.0)
    return s


def test_the_last_block_overlaps_where_products_are_guarded_anyway():
    with in_lanes():
        assert "n >= 64" in fad.source(singular, X, W) and "n >= 64" not in fad.source(total, X, W)


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("row", [10, 240, 299])                  # of 300: rows 236 to 255 are in two blocks
def test_an_infinite_row_counts_once(tier, row):
    x = np.abs(X) + 0.1
    x[row, 1] = 0.0
    with in_lanes(), fad.config.using(compile=tier), np.errstate(divide="ignore"):
        value, gradient = fad.value_and_grad(singular)(x, W)
        assert value == -np.inf
        close(gradient, W / x, rtol=1e-12)
