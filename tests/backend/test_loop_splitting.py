"""Short loops are printed as one whose iterations fill vectors and the rest of it: the same numbers."""
import numpy as np
import pytest

import fad

from ..fuzz.text import as_text

RNG = np.random.default_rng(0)


def up(x, w, n):
    y, s = np.zeros(n), 0.0
    for k in range(5):
        for i in range(n):
            y[i] = np.tanh(w[i] * x[k] + y[i])
            s = s + y[i] * x[i]
    return s


def down(x, w, n):
    y, s = np.zeros(n), 0.0
    for k in range(5):
        for i in range(n - 1, -1, -1):
            s = 0.5 * s + np.sin(w[i] * x[k]) + y[i]
            y[i] = s
    return s + np.sum(y * w[:n])


def rows(x, w, n):
    y = np.zeros(n)
    for k in range(5):
        y = np.tanh(w[:n] * x[k] + y)
    return np.sum(y * y)


@pytest.mark.parametrize("f", [up, down, rows])
@pytest.mark.parametrize("n", [8, 9, 10, 11, 12, 13, 14, 15, 16])
def test_values_and_gradients(f, n):
    x, w = RNG.standard_normal(16), RNG.standard_normal(16)
    g = fad.value_and_grad(lambda x, w: f(x, w, n), argnums=(0, 1))
    want = fad.jit(g, compile="never")(x, w)
    with as_text():
        got = fad.jit(g)(x, w)
    for a, b in zip((got[0], *got[1]), (want[0], *want[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n, spans",
                         [(14, ("range(12)", "range(12, 14)")), (9, ("range(8)", "range(8, 9)")), (12, ("range(12)",)),
                          (16, ("range(16)",)),
                                      (7, ("range(7)",))])
def test_the_spans_of_loops(n, spans):
    text = str(fad.source(fad.jit(lambda x, w: up(x, w, n)), RNG.standard_normal(16), RNG.standard_normal(16)))
    found = [f"range({n})", f"range({n - n % 4})", f"range({n - n % 4}, {n})"]
    assert [span for span in found if f"in {span}:" in text] in ([*spans], [*spans, *spans])


def test_a_compiled_one():
    x, w = RNG.standard_normal(16), RNG.standard_normal(16)
    g = fad.grad(lambda x, w: down(x, w, 14))
    np.testing.assert_allclose(fad.jit(g, compile="now")(x, w), fad.jit(g, compile="never")(x, w), rtol=1e-11,
                               atol=1e-12)
