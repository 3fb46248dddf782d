"""What loops save for their reverse sweep: nothing that the way back may as well compute in its place, no part of an
array twice, no row that is empty."""
import math

import numpy as np
import pytest

import fad

from ..fuzz.text import as_text

X = np.linspace(0.3, 1.2, 20)


def dear(x):
    """The cosine is needed on the way back only, and of numbers that are there."""
    y = np.zeros(len(x))
    for k in range(len(x)):
        y[k] = math.sin(x[k]) * k
    return np.sum(y ** 2)


def dear_of_saved(x):
    """A number is saved, and what is computed from it comes for nothing."""
    s = 0.3
    for v in x:
        s = np.sin(s * v) + np.sin(0.5 * s)
    return s


def recurring(x):
    """The same part is read twice and overwritten."""
    y = x * 1.0
    for k in range(1, 20):
        y[:k] += np.sum(x[:k] * y[:k]) * np.flip(y[:k])
    return y @ x


def within(x):
    """Loops of unknown length in another: six iterations each are far from filling their room."""
    s = 0.0
    for v in x:
        r = v
        for _ in range(3):
            r = r + 0.01 * v
        while r > 0.1 * v:
            r = 0.7 * np.sin(r)
        s = 0.9 * s + r * r
    return s


def both_ways(x):
    """The sine is needed forward and, as the derivative of the cosine, on the way back: it is computed once."""
    s = 0.3
    for v in x:
        s = np.sin(v) * s + np.cos(v)
    return s


SAVED = {both_ways: 24 * 20, dear: 0, dear_of_saved: 8 * 20, recurring: 8 * (190 + 19)}


@pytest.mark.parametrize("f", SAVED, ids=lambda f: f.__name__)
def test_bytes(f):
    assert fad.explain(fad.grad(f), X).bytes == SAVED[f]


@pytest.mark.parametrize("f", [*SAVED, within], ids=lambda f: f.__name__)
def test_derivatives(f):
    x = X / 10 if f is recurring else X
    steps = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(x.size)]
    with as_text():
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), steps, rtol=1e-6, atol=1e-8)
    with fad.config.using(compile="never"):
        np.testing.assert_allclose(fad.grad(f, fallback=False)(x), steps, rtol=1e-6, atol=1e-8)
        hessian = fad.hessian(f)(x)
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-8, atol=1e-10)


def test_only_rows_in_use_are_saved():
    text = fad.source(fad.grad(within), X)
    stack = text.split("def grad")[1]
    assert stack.count("resized") == 2                       # the loop's own rows, and where all iterations' rows lie


def test_what_both_ways_need_is_computed_once():
    assert fad.source(fad.grad(both_ways), X).count("sin(x") == 1


def steps_of_a_stencil(u, iterations):
    """The inner loops leave out the ends: how many iterations they have, each iteration of the outer one computes, and
    it is the same number."""
    n = u.shape[0]
    for _ in range(iterations):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new[i, j] = u[i, j] - 0.1 * math.sin(u[i - 1, j] * u[i, j + 1])
        u = new
    return np.sum(u * u)


def test_rows_that_are_alike_have_their_places():
    """They are no stack, that grows and is copied."""
    u = np.sin(np.arange(36.0)).reshape(6, 6)
    assert "resized" not in fad.source(fad.grad(steps_of_a_stencil), u, 4)
    steps = [(steps_of_a_stencil(u + h.reshape(6, 6), 4) - steps_of_a_stencil(u - h.reshape(6, 6), 4)) / 2e-6
             for h in 1e-6 * np.eye(36)]
    for compile in ("never", "now"):
        with fad.config.using(compile=compile):
            np.testing.assert_allclose(fad.grad(steps_of_a_stencil, fallback=False)(u, 4).ravel(), steps, rtol=1e-6,
                                       atol=1e-8)


def nearest_images(x):
    """Differences of elements, of which an iteration decides: the reverse sweep has the array, and computes them anew
    to the last bit."""
    e = 0.0
    for i in range(x.size - 1):
        e *= 0.9
        for j in range(i + 1, x.size):
            d = x[i] - x[j]
            d = d - 0.7 * np.round(d / 0.7)
            if d * d < 0.04:
                e += (d * d - 0.04) ** 2
    return e


def front(u, iterations):
    """Four differences of an array that is another in each iteration of the outer loop: of the array, one copy for all
    of them."""
    n = u.shape[0]
    for _ in range(iterations):
        new = u.copy()
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a, b = u[i, j] - u[i - 1, j], u[i + 1, j] - u[i, j]
                c, d = u[i, j] - u[i, j - 1], u[i, j + 1] - u[i, j]
                new[i, j] = u[i, j] - 0.1 * (max(a, 0) ** 2 + min(b, 0) ** 2 + max(c, 0) ** 2 + min(d, 0) ** 2)
        u = new
    return np.sum(u * u)


RECOMPUTED = {nearest_images: (X * 1.7, 190), front: (np.sin(np.arange(36.0)).reshape(6, 6), 8 * 36 * 3)}


@pytest.mark.parametrize("f", RECOMPUTED, ids=lambda f: f.__name__)
def test_differences_of_what_stays_are_not_saved(f):
    x, saved = RECOMPUTED[f]
    more = (3,) if f is front else ()
    assert fad.explain(fad.grad(f), x, *more).bytes == saved
    steps = [(f(x + h.reshape(x.shape), *more) - f(x - h.reshape(x.shape), *more)) / 2e-6
             for h in 1e-6 * np.eye(x.size)]
    for compile in ("never", "now"):
        with fad.config.using(compile=compile):
            np.testing.assert_allclose(fad.grad(f, fallback=False)(x, *more).ravel(), steps, rtol=1e-6, atol=1e-7)
