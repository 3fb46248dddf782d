"""Small arrays in loops as scalars: the same numbers, no arrays in the iterations."""
import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.scalar_replacement import replace_aggregates
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp
from tests.backend.support import check

x3, A2 = np.array([0.3, -0.7, 1.1]), np.array([[0.9, 0.2], [-0.3, 0.8]])


def euler(p):
    y = np.array([1.0, 0.5, -0.2])
    for _ in range(5):
        y = y + 0.1 * np.array([p[0] * (y[1] - y[0]), y[0] * p[1] - y[1], y[0] * y[1] - p[2] * y[2]])
    return y @ y


def filter_step(A):
    m, P, s = np.array([1.0, 0.0]), np.eye(2), 0.0
    for k in range(4):
        m, P = A @ m, A @ P @ A.T + 0.1 * np.eye(2)
        K = P[:, 0] / (P[0, 0] + 0.5)
        m = m + K * (np.sin(1.0 * k) - m[0])
        P = P - np.outer(K, P[0])
        s = s + np.log(P[0, 0]) + np.max(m) * np.prod(m) + np.sum(P, axis=0)[1] - np.min(P)
    return s


def mean_of_a_number(x):
    for _ in range(3):
        x = np.tanh(x + np.mean(x[0] * 2.0))
    return np.sum(x)


def branch(x):
    y = x.copy()
    for _ in range(6):
        if y[0] > 0.5:
            y = np.concatenate([y[1:], y[:1]]) * 0.9
        else:
            y[0] += y[1] ** 2
            y[1:] *= 0.5
    return np.sum(np.where(y > 0, y, 2 * y))


def data_dependent(x):
    y = x
    while y @ y < 30.0:
        y = np.stack([y[1] + 1.0, y[2], y[0] * 1.3])[::-1]
    return y


def subscripted_by_the_index(x):
    y, s = x.copy(), 0.0
    for k in range(3):
        y[k] = y[k] ** 2 + y[0]
        row = y[:2] * 2.0
        s = s + row[1] * y[k]
    return s


def solved(A):
    m = np.array([1.0, 2.0])
    for _ in range(3):
        m = np.linalg.solve(A, m) + A[0] * m
    return np.sum(m)


def rows_of_an_array(x):
    X = np.outer(np.arange(1.0, 6.0), x)
    G = np.zeros((5, 3))
    for i in range(5):
        for j in range(i):
            d = X[i] - X[j]
            G[i] += d / (d @ d)
            G[j, 1:] = d[:2]
    return np.sum(G * G)


def spun(x):
    z = x * (1 + 0.5j)
    for _ in range(4):
        z = np.roll(z, 1) * np.conj(z) + 0.1
    return np.sum(z.real ** 2 + z.imag)


@pytest.mark.parametrize("f, x",
                         [(euler, x3), (filter_step, A2), (branch, x3), (mean_of_a_number, x3), (data_dependent, x3),
                                  (subscripted_by_the_index, x3), (solved, A2), (rows_of_an_array, x3), (spun, x3)],
                         ids=lambda a: getattr(a, "__name__", ""))
def test_scalars_are_what_the_arrays_were(f, x):
    traced = trace(f, [x])
    reverse = vjp(traced.func, (0,))
    gs = [np.ones(np.shape(y))[()] for y in evaluate(traced.func, [x, *traced.captured])]
    for func, args in ((traced.func, [x, *traced.captured]), (reverse, [x, *traced.captured, *gs])):
        wanted = evaluate(func, args)
        for y, z in zip(evaluate(replace_aggregates(optimise(func)), args), wanted):
            np.testing.assert_allclose(y, z, rtol=1e-12, atol=1e-12)
        check(optimise(func), args, traced.guards)


def test_iterations_make_no_arrays_and_another_extent_is_another_program():
    g = fad.jit(fad.grad(lambda y: decay(y, 5)))
    text = fad.source(g, x3)
    assert "gy0 += -gy0" in text and "gy2 += -gy2" in text
    for n in (2, 3, 4, 5, 9):
        y = np.linspace(0.1, 0.9, n)
        np.testing.assert_allclose(g(y), 2 * 0.9 ** 10 * y, rtol=1e-12)
    assert g.traces == 4                                     # 2, 3, 4; all others


def decay(y, iterations):
    for _ in range(iterations):
        y = y - 0.1 * y
    return y @ y


class Filter:
    """Its order selects its elements, and a loop makes the order a value of the program."""

    def __init__(self, order):
        self.order, self.x, self.n = order, np.zeros(order + 1), 0

    def update(self, z, dt):
        self.n += 1
        if self.order == 1:
            self.x[0] += z * dt
            self.x[1] += self.x[0]
        else:
            self.x[1:3] += self.x[2]
            self.x[2] += dt
        return self.x


@pytest.mark.parametrize("order", [1, 2])
def test_elements_that_an_untaken_branch_selects_may_be_out_of_range(order):
    def loss(dt):
        f = Filter(order)
        for z in x3:
            x = f.update(z, dt)
        return x[1]

    g = fad.grad(loss, compile="now", fallback=False)
    np.testing.assert_allclose(g(0.5), (loss(1.5) - loss(0.5)), rtol=1e-12)
    assert g.compilations == 1
