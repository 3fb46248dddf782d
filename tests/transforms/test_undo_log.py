"""Loops that overwrite arrays: the way back restores them from a log of what was overwritten, where that is less than
what was read."""
import numpy as np
import pytest

import fad

from ..fuzz.text import as_text
from .support import loss_of, slope

A = np.random.default_rng(3).uniform(0.2, 1.0, (6, 6)) + 4 * np.eye(6)


def dots(A):                                         # two writes to a place in an iteration, in a nest
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] = np.sqrt(A[i, i] + np.dot(A[i, :i], A[i, :i]))


def written_behind_a_choice(A):
    for i in range(1, A.shape[0]):
        for j in range(i):
            if A[i, j] > 0.5:
                A[i, j] -= 0.1 * np.dot(A[i, :j], A[j, :j]) * A[i, j]
            elif j % 2:
                A[j, i] = np.sin(A[i, :] @ A[:, j])


def written_in_one_loop_and_read_in_another(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            A[j, i] += np.sin(A[i, j] + i)
        total = 0.0
        for j in range(A.shape[0]):
            total += A[i, j] * A[j, i] * np.exp(-A[i, :j] @ A[:j, i] / 40)
        A[i, i] = total / 40


def old_values_beside_new_ones(A):
    for i in range(1, A.shape[0]):
        before = A.copy()
        for j in range(A.shape[0]):
            A[i, j] = np.sin(before[i, j] * A[i - 1, j] + before[j, :i] @ A[:i, j])


def rows_that_change_places(A):                      # an integer array is written to as well
    order = np.arange(A.shape[0])
    for i in range(A.shape[0] - 1):
        k = i + np.argmin(A[i:, i])
        t = order[i]
        order[i] = order[k]
        order[k] = t
        row = A[i].copy()
        A[i] = A[k]
        A[k] = row
        for j in range(i + 1, A.shape[0]):
            A[j, order[i]] = np.tanh(A[j, :] @ A[:, order[j]] / 9)


def until_it_is_small(A):
    n = 0
    while A[0, 0] > 0.5 and n < 4:
        for i in range(A.shape[0]):
            A[i, 0] = 0.5 * A[i, 0] + 0.01 * A[i, :] @ A[0, :]
        A[0, 0] *= 0.4
        n += 1


def ended_early(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[0]):
            if A[i, j] > 4.5:
                break
            A[i, j] = A[i, :] @ A[:, j] / 9
        if A[i, 0] > 3.9:
            continue
        A[i, 0] = np.exp(-A[i, :] @ A[0, :] / 9)


def by_a_list_of_indices(A):
    columns = np.array([0, 2, 2, 5])
    for i in range(1, A.shape[0]):
        A[i, columns] = np.sin(A[i, columns] * A[i - 1, columns] * (A[:i] @ A[:, i])[0])
        A[i, columns] += A[:, i] @ A[:, 0] * 0.01


def two_arrays(A):
    B = np.zeros_like(A)
    for i in range(1, A.shape[0]):
        for j in range(i):
            B[i, j] = A[i, :j + 1] @ A[:j + 1, j]
            A[i, j] = np.cos(B[i, :j + 1] @ B[:j + 1, i] + A[i, j])
    A += B


def swapped(A):
    u, v = A.copy(), np.zeros_like(A)
    for i in range(1, 5):
        v[1:-1] = u[1:-1] * np.sin(u[2:] - u[:-2])
        v[i, i] = u[i, :] @ u[:, i]
        u, v = v, u
    A += u


def three_deep(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                A[i, j] = np.sin(A[i, j] + A[i, k] * A[k, j])


def loops_behind_conditions(A):                      # the rows of a band end within the matrix
    n = A.shape[0]
    for k in range(n):
        for i in (k + 1, k + 2):
            if i < n:
                m = A[i, 0] / A[k, k]
                if m < 2.0:
                    for j in range(2):
                        A[i, j] -= m * A[k, j] * A[k, j + 1]
                else:
                    A[i, 0] = np.sin(A[i, 1])


def backwards(A):
    for i in range(A.shape[0] - 2, -1, -1):
        for j in range(A.shape[0] - 1, i, -2):
            A[i, j] = np.exp(-A[i, i + 1:] @ A[i + 1:, j] / 20)


PROGRAMS = [dots, written_behind_a_choice, written_in_one_loop_and_read_in_another, old_values_beside_new_ones,
            rows_that_change_places, until_it_is_small,
            ended_early, by_a_list_of_indices, two_arrays, swapped, three_deep, loops_behind_conditions, backwards]


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.__name__)
def loss(request):
    with fad.config.using(compile="never"):
        yield loss_of(request.param)


D = np.random.default_rng(4).standard_normal(A.shape)


def test_the_gradient(loss):
    np.testing.assert_allclose(np.sum(fad.jit(fad.grad(loss), fallback=False)(A) * D), slope(loss, A, D), rtol=1e-7)


def test_the_generated_text(loss):
    g = fad.grad(loss, fallback=False)(A)
    with as_text():
        np.testing.assert_allclose(fad.grad(loss, fallback=False)(A), g, rtol=1e-12)


def test_second_order(loss):
    g = fad.grad(loss, fallback=False)
    iteration = np.sum(slope(g, A, D) * D)
    np.testing.assert_allclose(np.sum(fad.jvp(g, (A,), (D,))[1] * D), iteration, rtol=1e-6)
    np.testing.assert_allclose(np.sum(fad.grad(lambda A: np.sum(g(A) * D), fallback=False)(A) * D), iteration,
                               rtol=1e-6)


def test_within_a_budget_and_batched(loss):
    g = fad.grad(loss, fallback=False)(A)
    np.testing.assert_array_equal(fad.grad(loss, memory="16kB", fallback=False)(A), g)
    np.testing.assert_allclose(fad.vmap(fad.grad(loss))(np.stack([A, A + 0.01 * D]))[0], g, rtol=1e-12)


@pytest.mark.parametrize("program", [dots, written_behind_a_choice, two_arrays, loops_behind_conditions, backwards],
                         ids=lambda program: program.__name__)
def test_what_is_saved_grows_like_what_is_overwritten(program):
    n = 40
    g = fad.grad(loss_of(program))
    big = np.random.default_rng(5).uniform(0.2, 1.0, (n, n)) + 4 * np.eye(n)
    assert fad.explain(g, big).bytes <= 8 * 4 * n ** 2         # the slices that are read would be n ** 3 / 3 numbers
    assert not [line for line in fad.source(g, big).splitlines()
                if line.startswith(" " * 8) and "copy()" in line.split("#")[0]]


def test_what_is_overwritten_by_whole_blocks_is_not_logged():
    def eliminated(A):
        for i in range(A.shape[0] - 1):
            A[i + 1:, i] /= A[i, i]
            A[i + 1:, i + 1:] -= np.outer(A[i + 1:, i], A[i, i + 1:])
    n = 40
    big = np.random.default_rng(5).uniform(0.2, 1.0, (n, n)) + 4 * np.eye(n)
    assert fad.explain(fad.grad(loss_of(eliminated)), big).bytes <= 8 * 4 * n ** 2


def test_an_array_that_is_nearly_all_read_is_kept_whole():
    """Rows of the array take a little more memory than its inner elements, which would have to be put back."""
    def upwind(u):
        for _ in range(50):
            d = np.where(u[1:-1] > 0, u[1:-1] - u[:-2], u[2:] - u[1:-1])
            u[1:-1] = u[1:-1] - 0.1 * u[1:-1] * d
        return np.sum(u * u)
    source = fad.source(fad.grad(upwind), np.linspace(-1.0, 1.0, 100))
    assert "np.empty((50, n))" in source and "n - 2))" not in source
