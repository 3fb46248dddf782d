"""The interpreter writes to an array where it lies, if nobody else holds it."""
import numpy as np
import pytest

import fad
from fad.ir.op import registry

X, N = np.array([0.45, -0.3, 0.8]), 40


def filled(x):
    y = np.zeros(N)
    for i in range(N):
        y[i] = x[0] * i
    return y @ y


def in_branches(x):
    y = np.zeros(N)
    for i in range(1, N):
        if y[i - 1] > 1.0:
            y[i] = x[1]
        else:
            y[i] += y[i - 1] + x[0]
    return y @ y


def in_a_nest(x):
    A = np.zeros((N, 3))
    for i in range(N):
        for j in range(3):
            A[i, j] += x[j] * i
    return np.sum(A * A)


def until(x):
    y, i = np.zeros(N), 0
    while i < N - 1 and y[i] < 1e3:
        y[i + 1] = x[0] + i
        i += 1
    return y @ y


def overlapping(x):
    y = np.zeros(N) + x[0]
    for i in range(3, N):
        y[i - 2:] = y[2 - i + i:N + 4 - i] if i == 4 else y[i - 3:-1] * x[1]
    return y @ y


def kept(x):
    """Each version of the array is read after the next one is made."""
    y, total = np.zeros(N) + x[0], 0.0
    for i in range(N):
        before = y.copy()
        y[i] = x[1] * i
        total += before @ y
    return total


def carried_twice(x):
    y = np.zeros(N) + x[0]
    z = y.copy()
    for i in range(N):
        y[i] = x[1] + z[i]
        z = y.copy()
    return y @ z


def of_arguments(x):
    for i in range(3):
        x[i] = x[i] * x[0]
    return x @ x


COPIES = {filled: 1, in_branches: 1, in_a_nest: 1, until: 1, of_arguments: 1, overlapping: N, kept: N, carried_twice: N}


@pytest.mark.parametrize("f", COPIES)
def test_arrays_are_copied_when_somebody_else_holds_them(f, monkeypatch):
    copies = []
    update, index_add = registry["update"], registry["index_add"]
    for op in (update, index_add):
        monkeypatch.setattr(op, "run", lambda *args, run=op.run, **params: (copies.append(1), run(*args, **params))[1])
    given = X.copy()
    found = fad.jit(f, compile="never")(given.copy())
    assert found == pytest.approx(f(given.copy())) and len(copies) <= COPIES[f]
    value, slope = fad.jit(fad.value_and_grad(f), compile="never")(given.copy())
    assert value == pytest.approx(found)
    steps = [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(slope, steps, rtol=1e-5, atol=1e-5)


def test_the_tape_of_a_loop_is_not_copied(monkeypatch):
    """Savings of all iterations lie in one array: n copies of it would make n² of the loop's n steps."""
    copied = []
    update = registry["update"]
    monkeypatch.setattr(update, "run", lambda x, *args, run=update.run, **params: (
        copied.append(x.size), run(x, *args, **params))[1])

    def steps(u):
        for _ in range(N):
            u = u + 0.1 * np.sin(u)
        return u @ u
    fad.jit(fad.grad(steps), compile="never")(X)
    assert sum(copied) <= 3 * N


def test_what_the_caller_holds_is_not_written_to():
    held = np.arange(4.0)
    g = fad.jit(lambda x: (np.where(x > 1, x, 0.0), of_arguments(x * 1.0), x), compile="never")
    before = held.copy()
    g(held)
    np.testing.assert_array_equal(held, before)


def test_a_loop_leaves_the_list_of_its_arguments_as_it_is():
    args = [0, 2, 1, np.ones(2)]
    assert registry["for"].run_regions(args, (lambda i, y: (y + i,),))[0].tolist() == [2.0, 2.0] and len(args) == 4
