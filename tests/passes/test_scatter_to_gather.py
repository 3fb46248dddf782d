"""Additions to parts that are shifted against each other: gathered, they are the same numbers, however short the parts
are."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.scatter_to_gather import scatter_to_gather
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from ..fuzz.text import as_text


def diffused(u):
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u ** 3)


def far(u):
    """A wide stencil, which adds to what was there."""
    for _ in range(3):
        new = u.copy()
        new[3:-2] += 0.2 * (u[5:] - 0.3 * u[2:-3] - u[:-5] + u[1:-4])
        u = new
    return np.sum(u ** 3)


def of_rows(u):
    """Rows of a matrix, shifted, and a row whose columns are."""
    A = np.outer(u, u[:-1] + 1.0)
    for _ in range(3):
        new = A.copy()
        new[1:-1] = 0.3 * (A[2:] - A[:-2])
        new[0, 1:-1] = A[1, 2:] + A[1, :-2] - A[1, 1:-1]
        A = new
    return np.sum(A ** 3)


def inside(u):
    """Parts that begin where a loop says."""
    for k in range(2, u.size - 2):
        new = u.copy()
        new[k:-1] = 0.4 * (u[k + 1:] - u[k - 1:-2] + u[k:-1])
        u = new
    return np.sum(u ** 3)


def in_place(u):
    """Rows of one matrix, changed one after the other: what is added to a row's neighbours is a part of the same
    matrix."""
    A = np.outer(u, u[:-1] + 1.0)
    for i in range(1, u.size - 1):
        A[i, 1:-1] += A[i - 1, :-2] - A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] - A[i + 1, 1:-1]
    return np.sum(A ** 3)


PROGRAMS = {in_place: (5, 6, 12, 22), diffused: (2, 3, 4, 5, 30), far: (5, 6, 7, 9, 12, 30), of_rows: (4, 5, 6, 12),
            inside: (5, 6, 12)}
CASES = [(f, n) for f in PROGRAMS for n in PROGRAMS[f]]


def _count(func, name):
    return sum((e.op.name == name) + sum(_count(r, name) for r in e.regions) for e in func.equations)


@pytest.mark.parametrize("f, n", CASES, ids=[f"{f.__name__}-{n}" for f, n in CASES])
def test_the_numbers_stay(f, n):
    u = np.linspace(0.1, 1.0, 30)
    func = optimise(vjp(trace(f, [u]).func, [0]))
    after = check(scatter_to_gather(func))
    assert _count(after, "update") > _count(func, "update")
    given = [u[:n] * 0.5, 1.0]
    for a, b in zip(evaluate(after, given), evaluate(func, given), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("f, n", CASES, ids=[f"{f.__name__}-{n}" for f, n in CASES])
def test_derivatives(f, n):
    u = np.linspace(0.1, 1.0, n) * 0.5
    steps = [(f(u + 1e-6 * e) - f(u - 1e-6 * e)) / 2e-6 for e in np.eye(n)]
    with as_text():
        np.testing.assert_allclose(fad.grad(f, fallback=False)(u), steps, rtol=1e-6, atol=1e-8)


def test_no_whole_array_is_copied_for_a_part():
    u = np.linspace(0.1, 1.0, 30)
    reverse = fad.source(fad.grad(in_place), u).split("iterations_2")[-1]
    assert "[:, :] = " not in reverse
