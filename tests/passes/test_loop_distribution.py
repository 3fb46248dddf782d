"""Loops with a recurrence and a sum: the functions of the sum get a loop of their own, and the numbers are those of
Python."""
import numpy as np
import pytest

import fad

close = np.testing.assert_allclose
RNG = np.random.default_rng(0)
W = np.array([0.1, 0.2, 0.7])


def garch(w, x):
    h, s = 1.0, x[0] ** 2
    for t in range(1, x.size):
        h = w[0] + w[1] * x[t - 1] ** 2 + w[2] * h
        s += np.log(h) + x[t] ** 2 / h
    return s


def two_states_and_two_sums(w, x):
    h = g = s = r = 0.5
    for i in range(3, x.size):
        h, g = w[0] + w[1] * h * g, 0.3 * np.cos(h) + w[2] * x[i]
        s += np.exp(-h * h) * g
        r = r + np.tanh(g)
    return s * r + h


def of_the_state_before(w, x):
    h, s = w[0], 0.0
    for v in x:
        s -= np.sin(h * v)
        h = w[1] * h + v
    return s * h


def written_arrays(w, x):
    y, h, s = np.zeros(x.size), 0.2, 0.0
    for i in range(x.size):
        h = w[1] * h + x[i]
        y[i] = h * w[0]
        s += np.log1p(y[i] * y[i]) + np.exp(-y[i // 2])
    return s + y[-1]


def of_a_branch(w, x):
    h = s = 0.1
    for v in x:
        h = w[2] * h + v if v > 0 else 0.5 * h
        if h > 0.2:
            s += np.exp(h) * w[0]
    return s


def counted(w, x):
    h, k, s = 0.1, 0, 0.0
    for v in x:
        k = (k + 2) % 3
        h = w[k] * h + v
        s += np.exp(-h * h * k)
    return s


def term_by_term(w, x):
    h = s = r = 0.3
    for v in x:
        h = w[0] * h + v
        s = s + np.exp(-h * h) - v * h + h
        r = r - np.cos(h) - v
    return s * r


DIVIDED = (garch, two_states_and_two_sums, of_the_state_before, written_arrays, counted, term_by_term)


def differences(f, w, x, h=1e-6):
    return np.array([(f(w + h * e, x) - f(w - h * e, x)) / (2 * h) for e in np.eye(w.size)])


@pytest.mark.parametrize("f", [*DIVIDED, of_a_branch], ids=lambda f: f.__name__)
def test_numbers_are_those_of_python(f):
    """One program, traced and compiled at 300 numbers, serves all lengths."""
    g = fad.value_and_grad(lambda w, x: f(w, x), compile="now")
    for n in (300, 5, 40, 256, 257, 258, 259, 800):
        x = RNG.uniform(-1, 1, n)
        value, gradient = g(W, x)
        close(value, f(W, x), rtol=1e-11)
        close(gradient, differences(f, W, x), rtol=1e-5, atol=1e-6)
    assert g.compilations == 1


@pytest.mark.parametrize("f", DIVIDED, ids=lambda f: f.__name__)
def test_the_sum_has_a_loop_of_its_own(f):
    assert "empty(256" in fad.source(fad.jit(f), W, RNG.uniform(-1, 1, 300))


def test_all_terms_are_added_at_once():
    """Else each addition waits for the one before, and there are no vectors."""
    text = fad.source(fad.jit(term_by_term), W, RNG.uniform(-1, 1, 300))
    assert "s += " in text and "r -= " in text or "r += " in text


def test_numbers_that_round_a_sum_do_so():
    """Each iteration leaves an integer in s: the large number is added to it, not to the term."""
    def f(w, x):
        h, s = 0.1, 0.0
        for v in x:
            h = w[0] * h + v
            s = s + np.exp(h) + 1.5 * 2.0 ** 52 - 1.5 * 2.0 ** 52
        return s
    x = RNG.uniform(-1, 1, 300)
    with fad.config.using(compile="now"):
        assert fad.jit(f)(W, x) == f(W, x)


def test_terms_of_less_precision_are_added_in_the_sums():
    def f(w, x):
        h, s = w[0], np.float64(0.0)
        for v in x:
            h = w[1] * h + v
            s = s + np.exp(-h * h) * np.float32(1e8) + h
        return s
    w, x = W.astype(np.float32), RNG.uniform(-1, 1, 300).astype(np.float32)
    with fad.config.using(compile="now"):
        close(fad.jit(f)(w, x), f(w, x), rtol=1e-7)


def cheap(w, x):
    h = s = 0.1
    for v in x:
        h = w[0] * h + v
        s += h * h
    return s


def no_recurrence(w, x):
    s = 0.0
    for v in x:
        s += np.exp(v) * w[0]
    return s


def in_the_recurrence(w, x):
    h = s = 0.1
    for v in x:
        h = np.exp(-h) + v
        s += h
    return s


@pytest.mark.parametrize("f", [cheap, no_recurrence, in_the_recurrence, of_a_branch], ids=lambda f: f.__name__)
def test_other_loops_stay_in_one_piece(f):
    assert "empty(256" not in fad.source(fad.jit(f), W, RNG.uniform(-1, 1, 300))


def test_an_index_out_of_range_raises():
    def f(p, x):
        h = s = 0.1
        for i in range(p.size):
            h = 0.5 * h + x[p[i]]
            s += np.exp(h)
        return s
    p = np.arange(100)
    with fad.config.using(compile="now"):
        g = fad.jit(f)
        g(p, np.ones(100))
        with pytest.raises(IndexError):
            g(p, np.ones(50))


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    def f(w, x):
        h, s = w[0], 0.0
        for v in x:
            h = w[1] * h + v
            s += np.exp(-abs(h))
        return s
    w, x = W.astype(dtype), RNG.uniform(-1, 1, 300).astype(dtype)
    with fad.config.using(compile="now"):
        got = fad.jit(f)(w, x)
    close(got, f(w, x), rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert got.dtype == f(w, x).dtype


def test_second_derivatives():
    x = RNG.uniform(-1, 1, 300)
    with fad.config.using(compile="now"):
        h = fad.hessian(lambda w: garch(w, x))(W)
    close(h, h.T, rtol=1e-9)
    close(h, [(fad.grad(garch)(W + e, x) - fad.grad(garch)(W - e, x)) / 2e-6 for e in 1e-6 * np.eye(3)], rtol=1e-4)
