"""What loops save of slices that grow or shrink evenly: an array of just their total size, in which every iteration
knows its place."""
import re

import numpy as np
import pytest

import fad

from ..fuzz.text import as_text

X = np.linspace(0.1, 1.0, 12)


def growing(x):
    total = 0.3
    for i in range(1, len(x), 2):
        total = np.sum(np.exp(-x[:i] * total))
    return total


def shrinking(x):
    total = 0.3
    for i in range(len(x) - 1, 0, -3):
        total = np.sum(np.exp(-x[2:i + 1] * total))
    return total


def rows(x):
    total = 0.3
    for i in range(len(x) - 2):
        total = np.sum(np.exp(-np.outer(x[i + 2:], x[:3]) * total)) / 9
    return total


def nested(x):
    total = 0.3
    for i in range(3, len(x)):
        for j in range(i, 1, -1):
            total = np.sum(np.exp(-x[:j] * total)) + 0.01 * total
    return total


def of_no_iterations(x):
    total = 0.3
    for i in range(len(x), len(x)):
        total = np.sum(np.exp(-x[:i] * total))
    return total + np.sum(x)


def shrinks_in_every_iteration(x):
    """The array that an iteration begins with is longer than the one that the iteration before has left in its
    place."""
    total = 0.3
    for i in range(3):
        row = x * (i + total)
        for _ in range(len(x) - 1):
            row = row[:-1] + 0.1 * np.sin(row[1:])
        total = total + row[0]
    return total


def tree(x):
    y = np.exp(x)
    for k in range(len(x) - 2, -1, -1):
        for i in range(k + 1):
            y[i] = y[i] * (1.0 + 0.1 * y[i + 1])
    return y[0]


SAVED = {growing: sum(range(1, 12, 2)) + 6, shrinking: sum(i - 1 for i in range(11, 0, -3)) + 4,
         rows: sum(3 * (10 - i) for i in range(10)) + 10}


@pytest.mark.parametrize("f", [growing, shrinking, rows, nested, of_no_iterations, shrinks_in_every_iteration,
                               tree], ids=lambda f: f.__name__)
def test_derivatives(f):
    steps = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(X.size)]
    with as_text():
        np.testing.assert_allclose(fad.grad(f, fallback=False)(X), steps, rtol=1e-6, atol=1e-8)
    with fad.config.using(compile="never"):
        np.testing.assert_allclose(fad.grad(f, fallback=False)(X), steps, rtol=1e-6, atol=1e-8)
        hessian = fad.hessian(f)(X)
        np.testing.assert_allclose(hessian, hessian.T, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("f", SAVED, ids=lambda f: f.__name__)
def test_no_more_is_allocated_than_is_saved(f):
    assert fad.explain(fad.grad(f), X).bytes == 8 * SAVED[f]


def test_places_of_loops_that_get_shorter_are_sums():
    """Each subscript is seen to be no negative number: a comparison with zero keeps LLVM from vector instructions."""
    subscripts = re.findall(r"\[([^\]]*_2[^\]]*)\]", fad.source(fad.grad(tree), X))
    assert any("* (i - 1) // 2" in s or "+ t" in s for s in subscripts)
    assert not any("-" in s for s in subscripts)


def test_places_on_a_stack_are_sums():
    """The same of lengths that depend on data."""
    def knapsack(values, weights):
        best = np.zeros(40)
        for i in range(values.size):
            best[weights[i]:] = np.maximum(best[weights[i]:], best[:40 - weights[i]] + values[i])
        return best[-1]
    subscripts = re.findall(r"\[(j \+ [^\]]*)\]", fad.source(fad.grad(knapsack), X, np.arange(1, 13)))
    assert subscripts and not any("-" in s for s in subscripts)


def test_an_element_that_stays_in_place_is_saved_once():
    """A factor of an elimination: once a row, and not for each element of the row."""
    def eliminated(A):
        A = A.copy()
        for k in range(len(A)):
            for i in range(k + 1, len(A)):
                A[i, k] /= A[k, k]
                for j in range(k + 1, len(A)):
                    A[i, j] -= A[i, k] * A[k, j]
        return np.sum(np.log(np.diag(A)))
    A = np.eye(12) + np.outer(X, X)
    assert fad.explain(fad.grad(eliminated), A).bytes <= 2 * 8 * (12 * 11 // 2)
    np.testing.assert_allclose(fad.grad(eliminated)(A), np.linalg.inv(A).T, rtol=1e-10, atol=1e-12)
