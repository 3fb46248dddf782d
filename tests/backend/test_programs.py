"""Programs with loops, branches and changes in place, and their reverse mode: interpreted = text as Python =
compiled."""
import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from .programs import PROGRAMS, garch, heat, seidel
from .support import check

COMPILED = (garch, heat, seidel)


def both(f, args):
    """The Func of f and of its pullback, with arguments for each, and the guards."""
    traced = trace(f, list(args))
    values = [*args, *traced.captured]
    gs = [np.ones(np.shape(y))[()] for y in evaluate(traced.func, values)]
    yield traced.func, values, traced.guards
    yield vjp(traced.func, tuple(range(len(args)))), values + gs, traced.guards


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in PROGRAMS], ids=[p[0].__name__ for p in PROGRAMS])
def test_three_ways_agree(f, args):
    for func, values, guards in both(f, args):
        check(func, values, guards)
        check(optimise(func), values, guards, jit=f in COMPILED)


def test_updates_of_dead_arrays_are_in_place():
    func, values, guards = next(both(seidel, PROGRAMS[6][1:]))
    text = check(func, values, guards)
    assert text.count(".copy()") == 1 and "np.empty" not in text


def recursion(x):
    y = np.zeros(x.size)
    y[0] = x[0]
    for t in range(1, x.size):
        y[t] = x[t] + 0.5 * y[t - 1] ** 2
    return np.sum(y)


def rows(x):
    y = np.zeros((x.size, x.size))
    for t in range(1, x.size):
        y[t] = x * y[t - 1] + 1.0
    return np.sum(y)


@pytest.mark.parametrize("f", [recursion, rows])
def test_a_reverse_loop_clears_what_was_overwritten_in_place(f):
    """A copy of the whole array in each iteration would make n steps cost n^2."""
    x = np.linspace(0.1, 0.9, 7)
    for func, values, guards in both(f, (x,)):
        check(func, values, guards)
        text = check(optimise(func), values, guards)
        assert ".copy()" not in text


def two_levels(x):
    old = x.copy()
    for _ in range(5):
        new = 2 * x - old
        new[1:-1] += 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
        old, x = x, new
    return np.sum(x * x)


def gathered(x):
    for _ in range(5):
        new = np.zeros(x.size)
        for k in range(1, x.size):
            new[k] = x[k] - 0.3 * x[k - 1] * x[k]
        x = new
    return np.sum(x * x)


def growing(x):
    y = x.copy()
    for k in range(1, x.size):
        y[:k] += x[k] * np.flip(y[:k])
    return np.sum(y)


def shrinking(x):
    y = x.copy()
    for k in range(x.size - 1, 0, -1):
        for j in range(k, x.size):
            y[k:j] -= x[k] * np.flip(y[k:j])
    return np.sum(y)


@pytest.mark.parametrize("f", [two_levels, gathered, growing, shrinking])
def test_no_arrays_are_made_in_the_iterations_of_a_loop(f):
    """What an iteration hands on lies where nobody needs what lay there, or changes places with it; what changes its
    extent has room for the largest."""
    x = np.linspace(0.1, 0.9, 7)
    for func, values, guards in both(f, (x,)):
        check(func, values, guards)
        text = check(optimise(func), values, guards, jit=True)
        loops = [line for line in text.splitlines() if line.startswith("        ")]
        assert not [line for line in loops if ".copy()" in line or "np.empty" in line or "np.zeros" in line]


def late(x):
    total = 0.0
    for k in range(5, x.size):
        y = np.flip(x[:k - 4]) * x[k]
        y[0] = np.sum(y)
        total += np.sum(y * y[::-1])
    return total


@pytest.mark.parametrize("n", [3, 7])
def test_there_is_room_for_nothing(n):
    for func, values, guards in both(late, (np.linspace(0.1, 0.9, n),)):
        check(optimise(func), values, guards, jit=True)


def cholesky(A):
    L = np.zeros_like(A)
    for i in range(A.shape[0]):
        for j in range(i + 1):
            s = A[i, j] - L[i, :j] @ L[j, :j]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.log(np.diag(L)))


def test_what_is_saved_is_saved_before_its_array_is_written_to():
    """Else an iteration, or a branch of it, would have to copy the array for the old values' sake."""
    A = np.cov(np.random.default_rng(0).standard_normal((5, 30)))
    reverse = vjp(trace(cholesky, [A]).func, (0,))
    text = check(optimise(reverse), [A, 1.0], trace(cholesky, [A]).guards)
    assert not [line for line in text.splitlines() if line.startswith("        ") and ".copy()" in line]


def kept_in_a_branch(A):
    M, old = A.copy(), np.zeros_like(A)
    for k in range(A.shape[0]):
        if A[k, 0] > 0:
            row = 1.0 * M[k]
            M[k] = 2.0 * M[0]
        else:
            row = np.zeros(A.shape[1])
        old[k] = row
    return M + old


def kept_before_a_branch(A):
    M, old = A.copy(), np.zeros_like(A)
    for k in range(A.shape[0]):
        row = 1.0 * M[k]
        if A[k, 0] > 0:
            for j in range(A.shape[1]):
                M[k, j] += 2.0 * M[0, j]
        old[k] = M[k] * row
    return M + old


@pytest.mark.parametrize("f", [kept_in_a_branch, kept_before_a_branch])
def test_a_row_is_kept_and_not_its_array(f):
    """A branch writes to an array of which a row is read later."""
    for func, values, guards in both(lambda A: np.sum(f(A) ** 2), (np.random.default_rng(0).standard_normal((5, 6)),)):
        text = check(optimise(func), values, guards)
        assert not [line for line in text.splitlines() if line.startswith("        ") and ".copy()" in line]


def test_a_branch_that_makes_arrays_in_front_of_a_loop_is_printed():
    """Its arrays go in front of the loop, and move the lines behind them. The other side was left out."""
    def f(x):
        n = x.shape[0]
        a = x * 1.0
        for k in range(n - 1, -1, -1):
            if k % 3 == 1:
                break
            v = a[1:][1:]
            v += v[::-1] * 0.2
        return np.sum(np.tanh(a))
    x = np.linspace(-0.5, 0.7, 7)
    gradient = fad.grad(f, compile="now")(x)
    np.testing.assert_allclose(gradient, [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(7)], rtol=1e-6)


def filled_in_a_branch(x, k):
    if x[0] > 5.0:
        return x[1]
    y = np.zeros(int(np.sum(k)))
    for i in range(2):
        if i < y.size:
            y[i] = x[i] * x[0]
    return np.sort(y)[-1]


def filled_by_a_while(x, k):
    if x[0] > 5.0:
        return x[1]
    y = np.zeros(int(np.sum(k)))
    p = 0
    while p < k[0]:
        y[p] = x[0] * x[p]
        p += 1
    return np.sort(y)[-1] ** 2


@pytest.mark.parametrize("f", [filled_in_a_branch, filled_by_a_while])
def test_a_number_that_a_branch_hands_on_is_known_before_it_is_an_extent(f):
    x, k = np.array([0.5, 2.0, 0.25]), np.array([2, 3])
    scope = {}
    exec(fad.source(fad.value_and_grad(f), x, k), scope)
    with fad.config.using(compile="never"):
        wanted = fad.value_and_grad(f)(x, k)
    assert np.allclose(wanted[0], f(x, k))
    for got, one in zip(scope["value_and_grad"](x, k), wanted):
        assert np.allclose(got, one)
