"""Loops that add to neighbouring elements: with slices they give the same numbers, to the last bit."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.scatter_to_gather import scatter_to_gather
from fad.passes.slice_additions import slice_additions
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp


def upwind(u):
    for _ in range(3):
        new = np.empty_like(u)
        new[0] = u[0]
        for i in range(1, u.size):
            new[i] = u[i] - 0.4 * (u[i] - u[i - 1])
        u = new
    return np.sum(u ** 3)


def diffused(u):
    for _ in range(3):
        new = np.zeros_like(u)
        for i in range(1, u.size - 1):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = new
    return np.sum(u ** 3)


def in_rows(u):
    """The neighbours lie in one row of a matrix."""
    A = np.outer(u, u)
    new = np.zeros_like(A)
    for i in range(u.size):
        for j in range(2, u.size):
            new[i, j] = A[i, j] - 0.5 * A[i, j - 2]
    return np.sum(new ** 3)


def backward(u):
    for _ in range(3):
        new = np.zeros_like(u)
        for i in range(u.size - 3, -1, -1):
            new[i] = u[i + 1] - 0.3 * u[i + 2] + 0.1 * u[i]
        u = new
    return np.sum(u ** 3)


def either_way(u):
    """The branches read and add to different neighbours."""
    for _ in range(3):
        new = u.copy()
        for i in range(1, u.size - 1):
            if u[i] > 0.25:
                new[i] = u[i] - 0.1 * u[i] * (u[i] - u[i - 1])
            else:
                new[i] = u[i] - 0.1 * u[i] * (u[i + 1] - u[i])
        u = new
    return np.sum(u ** 3)


def in_one_branch(u):
    for _ in range(2):
        new = u * 0.0
        for i in range(u.size - 1):
            new[i] = u[i] * 0.5
            if u[i + 1] > 0.25:
                new[i] = (u[i] - 0.1) * u[i + 1]
        u = new
    return np.sum(u ** 3)


def within_two_branches(u):
    """The inner branch stays, and so does the loop."""
    new = np.zeros_like(u)
    for i in range(1, u.size):
        if u[i] > 0.25:
            new[i] = u[i - 1] * u[i]
            if u[i - 1] > 0.3:
                new[i] = u[i]
    return np.sum(new ** 3)


def at_the_edge(u):
    """The branch keeps an iteration from reading what is not there."""
    new = np.zeros_like(u)
    for i in range(u.size):
        new[i] = 2.0 * u[i]
        if i > 0:
            new[i] -= u[i - 1] * u[i]
    return np.sum(new ** 3)


def waiting(u):
    """Each iteration needs the one before."""
    new = np.zeros_like(u)
    for i in range(1, u.size):
        new[i] = 0.5 * new[i - 1] + u[i] - u[i - 1]
    return np.sum(new ** 3)


def far_apart(u):
    new = np.zeros_like(u)
    for i in range(20, u.size):
        new[i] = u[i] - u[i - 20]
    return np.sum(new ** 3)


def dear(u):
    """A term takes longer than a wait."""
    new = np.zeros_like(u)
    for i in range(1, u.size):
        new[i] = np.exp(u[i] * u[i - 1])
    return np.sum(new)


def indices(u):
    """There is no array of the indices."""
    new = np.zeros_like(u)
    for i in range(1, u.size):
        new[i] = i * (u[i] - u[i - 1])
    return np.sum(new ** 3)


SLICED = {upwind: (1, 2, 3, 4, 30), diffused: (2, 3, 4, 5, 30), in_rows: (3, 4, 5, 20), backward: (3, 4, 5, 30),
          either_way: (3, 4, 5, 30), in_one_branch: (3, 4, 30)}
CASES = [(f, n) for f in SLICED for n in SLICED[f]]
U = np.linspace(0.1, 1.0, 30)


def _gradient(f):
    """The gradient's program, and a function that counts its loops over vectors' elements."""
    func = optimise(vjp(trace(f, [U]).func, [0]))
    return func, slice_additions(func)


@pytest.mark.parametrize("f, n", CASES, ids=[f"{f.__name__}-{n}" for f, n in CASES])
def test_the_numbers_stay(f, n):
    func, sliced = _gradient(f)
    assert sliced is not func and _adds_slices(sliced)
    after = check(scatter_to_gather(check(sliced)))
    given = [U[:n] * 0.5, 1.0]
    for a, b in zip(evaluate(after, given), evaluate(func, given), strict=True):
        np.testing.assert_array_equal(a, b)


def _adds_slices(func):
    return any(e.adds_part and ("s", 1) in e.params["spec"] or any(map(_adds_slices, e.regions))
               for e in func.equations)


OTHERS = waiting, far_apart, dear, indices, within_two_branches, at_the_edge


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_other_loops_stay(f):
    func, sliced = _gradient(f)
    assert not _adds_slices(sliced)


def test_a_branch_that_is_not_taken_computes_nothing_that_counts():
    """Infinities, numbers that are none and zeros of either sign leave the gradient as it is."""
    g, expected = [fad.jit(fad.grad(in_one_branch), compile=how) for how in ("now", "never")]
    for u in (U - 0.3, np.where(U > 0.5, np.inf, U - 0.2), np.where(U > 0.5, np.nan, -0.0)):
        np.testing.assert_allclose(g(u), expected(u), rtol=1e-14)


def test_a_compiled_loop_has_the_gradient_of_slices():
    g, by_slices = [fad.jit(fad.grad(f), compile="now") for f in (upwind, _by_slices)]
    np.testing.assert_allclose(g(U), by_slices(U), rtol=1e-13)
    assert "- 1] -=" not in fad.source(g, U)


def _by_slices(u):
    for _ in range(3):
        u = np.concatenate((u[:1], u[1:] - 0.4 * (u[1:] - u[:-1])))
    return np.sum(u ** 3)
