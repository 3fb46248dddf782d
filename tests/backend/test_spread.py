"""Outer products are made where they are read, and of what their operands were where they stood."""
import numpy as np
import pytest

from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from .support import check

rng = np.random.default_rng(0)
A, p, r = rng.standard_normal((7, 5)), rng.standard_normal(5), rng.standard_normal(7)


def both_sides(A, p, r):
    u, v = A @ p, r @ A
    return np.sum(u * u) + np.sum(v * v * v)


def overwritten(A, p, r):
    y = 2.0 * r
    y[0] = 5.0
    B = np.outer(y, p)
    y[1] = 7.0 * np.sum(p)
    return np.sum(B * A) + np.sum(y * y)


def transposed(A, p, r):
    B = np.outer(r, p)
    return np.sum(B.T @ r) + np.sum(B.T * np.sin(A.T)), B


def in_iterations(A, p, r):
    C = A.copy()
    for k in range(3):
        B = np.outer(C @ p, p * k)
        C += 0.1 * B
        C[0] = p
    return np.sum(C * C)


def of_another(A, p, r):
    B = np.outer(r, p)
    C = np.outer(B[0], B[:, 1])
    return C[:, :, None] * p + np.sum(C, axis=0)[:, None], np.sum(B, axis=0)


@pytest.mark.parametrize("f", [both_sides, overwritten, transposed, in_iterations, of_another])
def test_three_ways_agree(f):
    traced = trace(f, [A, p, r])
    values = [A, p, r, *traced.captured]
    check(optimise(traced.func), values, traced.guards)
    gs = [rng.standard_normal(np.shape(y))[()] for y in evaluate(traced.func, values)]
    check(optimise(vjp(traced.func, (0, 1, 2))), values + gs, traced.guards)


def test_a_sum_of_outer_products_is_the_only_array():
    traced = trace(both_sides, [A, p, r])
    values = [A, p, r]
    text = check(optimise(vjp(traced.func, (0, 1, 2))), [*values, 1.0], traced.guards)
    assert text.count("np.empty((n, m))") == 1
