"""A number that a loop keeps from one iteration: its derivative needs that iteration only."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.graph import all_equations
from fad.passes import pipeline
from fad.passes.sink_assignments import sink_assignments
from fad.trace.tracing import trace

from ..turns import in_tiers

X = np.array([0.3, 1.4, -0.2, 1.6, 0.9, -1.1, 0.5, 1.3])
TIES = np.array([0.5, 1.5, 1.5, -0.5, 1.5, 0.5, 0.5, 1.5])
ROWS = np.random.default_rng(0).standard_normal((9, 3))


def largest(x):
    m = x[0]
    for i in range(1, x.size):
        if x[i] > m:
            m = x[i]
    return m * x[0]


def last_of_equals(x):
    m = -np.inf
    for i in range(x.size):
        m = m if x[i] < m else x[i]
    return m ** 2


def windows(x):
    s = 0.0
    for i in range(x.size - 2):
        m = -np.inf
        for j in range(3):
            m = max(m, np.sin(x[i + j]) * j)
        s += m ** 2
    return s


def in_a_table(x):
    A = x.reshape(2, -1) * np.arange(1.0, 3.0)[:, None]
    m = A[0, 0]
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if m < A[i, j]:
                m = A[i, j]
    return m ** 3


def by_while(x):
    i, m, place = 0, x[0] - 10, 0
    while i < x.size:
        if x[i] * x[i] > m:
            m, place = x[i] * x[i], i
        i += 2
    return m * place


def marked(x):
    y = 2.0
    for i in range(x.size):
        if i % 3 == 1:
            y = np.exp(x[i])
    return y


def none_is(x):
    y = x[1]
    for i in range(x.size):
        if x[i] > 100:
            y = x[i] ** 2
    return y


def nearest(x):
    s = 0.0
    for i in range(3):
        best = np.inf
        for k in range(len(ROWS)):
            d = np.sum((ROWS[k] - x[i:i + 3]) ** 2)
            if d < best:
                best = d
        s += np.sqrt(best)
    return s


SUNK = [largest, last_of_equals, windows, in_a_table, by_while, marked, none_is, nearest]


def is_read(x):
    m = x[0]
    for i in range(1, x.size):
        if x[i] > m:
            m = x[i]
        x = x * m
    return np.sum(x)


def is_made_of_carries(x):
    m, r = x[0], 1.0
    for i in range(1, x.size):
        r = r * x[i]
        if r > m:
            m = r
    return m


def is_changed(x):
    m, y = x[0], x.copy()
    for i in range(1, x.size):
        if y[i] > m:
            m = y[i]
        y[0] = m * y[i]
    return m + y[0]


def is_damped(x):
    m = x[0]
    for i in range(1, x.size):
        m = x[i] if x[i] > m else m * 0.5
    return m


KEPT = [is_read, is_made_of_carries, is_changed, is_damped]


def _sunk(f):
    """The program after the pass, None if the pass changes nothing."""
    func = trace(f, [X]).func
    new = sink_assignments(func)
    return None if new is func else check(new)


def _constants(func):
    return sum(e.op.name == "stop_gradient" for e in all_equations(func))


@pytest.mark.parametrize("f", SUNK)
def test_the_loop_is_a_constant_to_derivatives(f):
    assert _constants(_sunk(f)) > 0


@pytest.mark.parametrize("f", KEPT)
def test_what_iterations_read_stays(f):
    assert _sunk(f) is None


def test_a_gradient_saves_one_place_a_window():
    text = fad.source(fad.grad(windows), X)
    assert text.count("np.bool_") == 1 and ", 3)" not in text


@pytest.mark.parametrize("f, compiled", in_tiers(SUNK + KEPT))
def test_derivatives(f, compiled, monkeypatch):
    g = fad.value_and_grad(f, compile=compiled)
    for x in (X, X[::-1].copy(), -X, TIES):
        value, slope = g(x)
        np.testing.assert_allclose(value, f(x), rtol=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr(pipeline, "sink_assignments", lambda func: func)
            np.testing.assert_allclose(slope, fad.grad(lambda x: f(x))(x), rtol=1e-12)
        tangent = np.cos(np.arange(8.0))
        np.testing.assert_allclose(fad.jvp(f, (x,), (tangent,))[1], slope @ tangent, rtol=1e-10)


@pytest.mark.parametrize("place", [0, 3])
def test_no_number_is_larger_than_nan(place):
    x = np.where(np.arange(8) == place, np.nan, X)
    assert list(np.nonzero(fad.grad(largest)(x))[0]) == ([0, 1] if place else [0])


@pytest.mark.parametrize("f", SUNK)
def test_second_derivatives_and_batches(f):
    H = fad.hessian(f)(X)
    for k in range(8):
        e = 1e-5 * np.eye(8)[k]
        np.testing.assert_allclose(H[k], (fad.grad(f)(X + e) - fad.grad(f)(X - e)) / 2e-5, rtol=1e-5, atol=1e-6)
    batch = np.stack([X, -X, X[::-1]])
    np.testing.assert_allclose(fad.vmap(fad.grad(f))(batch), [fad.grad(f)(x) for x in batch], rtol=1e-12)
