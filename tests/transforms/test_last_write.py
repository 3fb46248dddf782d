"""What a loop reads of an array and never writes to again is read from the array that it leaves; what is written to
later never is."""
import numpy as np
import pytest

import fad
from fad.transforms import last_write

from ..fuzz.text import as_text
from ..turns import in_turn
from .support import loss_of, slope

N = 7
A = 4.0 * np.eye(N) + np.random.default_rng(3).uniform(-1.0, 1.0, (N, N))
D = np.random.default_rng(4).standard_normal(A.shape)


def elimination(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            f = A[i, k] / A[k, k]
            for j in range(k, A.shape[0]):
                A[i, j] -= f * A[k, j]


def elimination_by_rows(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            A[i, k] /= A[k, k]
            A[i, k + 1:] -= A[i, k] * A[k, k + 1:]


# a later column of the same row, an earlier loop of the same iteration
def factors_row_by_row(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def upwards(A):                                      # substitution: indices fall
    n = A.shape[0]
    for i in range(n - 2, -1, -1):
        for j in range(n):
            for k in range(i + 1, n):
                A[i, j] -= 0.1 * A[k, j] * A[k, i]


def reduction_from_the_last(A):                      # a state less in each iteration; inner indices rise below
    for k in range(A.shape[0] - 1, 0, -1):
        for i in range(k):
            for j in range(k):
                A[i, j] += 0.1 * A[i, k] * A[k, j]


def in_a_branch(A):
    n = A.shape[0]
    for i in range(1, n):
        for j in range(n):
            if A[i, j] > 0:
                for k in range(i):
                    A[i, j] += 0.1 * A[k, j] * A[k, i]


def rows_change_places(A):                           # the row that is found lies in none that are done
    n = A.shape[0]
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        row = A[k].copy()
        A[k] = A[p]
        A[p] = row
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= f * A[k, j]


def rows_change_places_at_once(A):
    n = A.shape[0]
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1:] -= A[i, k] * A[k, k + 1:]


def found_by_a_loop(A):
    n = A.shape[0]
    for k in range(n):
        p, big = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > big:
                p, big = i, abs(A[i, k])
        for j in range(n):
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= f * A[k, j]


# Gauss and Jordan: row k is the same in all iterations of the inner loop, and changed in the next of the outer
def all_other_rows(A):
    n = A.shape[0]
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]] = A[[p, k]]
        for i in range(n):
            if i != k:
                A[i] -= 0.1 * A[i, k] * A[k]


def all_but_one(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            if not k != i:
                continue
            f = 0.1 * A[i, k]
            for j in range(n):
                A[i, j] -= f * A[k, j]


# A[k + 1] does not exist in the last iteration, which reads none
def without_an_iteration(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n - 1 if k + 1 < n else 0):
            if i != k + 1:
                A[i] -= 0.1 * A[i, k] * A[k + 1]


def chosen_rows(A):
    n = A.shape[0]
    for k in range(1, n):
        p = k if A[k, 0] > 0.5 else min(k + 1, n - 1)
        A[p] *= 0.9
        for i in range(n):
            if i >= k:
                A[i] -= 0.1 * A[i, k - 1] * A[k - 1]


FINAL = [elimination, elimination_by_rows, factors_row_by_row, upwards, reduction_from_the_last, in_a_branch,
         rows_change_places, rows_change_places_at_once, found_by_a_loop, all_other_rows, all_but_one, chosen_rows]


def written_in_the_same_iteration(A):                     # row k is, but for its end
    for k in range(A.shape[0]):
        for i in range(k, A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] -= 0.1 * A[k, j] * A[j, k]


def written_in_the_next_iteration(A):
    for k in range(A.shape[0] - 1):
        for i in range(k + 1, A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] -= 0.1 * A[k + 1, j] * A[k, j]


def written_in_all_other_rows(A):
    for i in range(A.shape[0]):
        for k in range(A.shape[0]):
            if k != i:
                for j in range(A.shape[0]):
                    A[k, j] -= 0.05 * A[k, i] * A[i, j]


def written_from_behind(A):                          # A[i - 2] is the last row but one in the first iteration
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[0]):
                A[i, j] += 0.01 * A[i - 2, k] * A[i - 1, j]


def of_a_copy(A):                                    # what is read is no part of the array that is left
    for k in range(A.shape[0]):
        B = A.copy()
        B[k] *= 2.0
        for i in range(k + 1, A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] -= 0.1 * B[k, j] * A[k, i]


def found_anywhere(A):                               # a row that is done may change
    n = A.shape[0]
    for k in range(n):
        p = np.argmin(np.abs(A[:, k]))
        A[[k, p]] = A[[p, k]]
        for i in range(k + 1, n):
            for j in range(n):
                A[i, j] -= 0.1 * A[i, k] * A[k, j]


def found_one_before(A):
    n = A.shape[0]
    for k in range(1, n):
        p = k + np.argmax(np.abs(A[k:, k])) - 1
        A[p] *= 0.9
        for i in range(k, n):
            for j in range(n):
                A[i, j] -= 0.1 * A[i, k] * A[k - 1, j]


def found_from_the_end(A):                           # a negative index
    n = A.shape[0]
    for k in range(1, n - 1):
        p = np.argmax(np.abs(A[:, k])) - n
        A[p] *= 0.9
        for i in range(k + 1, n):
            for j in range(n):
                A[i, j] -= 0.1 * A[i, k] * A[k, j]


def found_in_the_iteration_before(A):                     # k - 1, when it is written to
    n, last = A.shape[0], 0
    for k in range(1, n):
        A[last] *= 0.9
        for i in range(k, n):
            for j in range(n):
                A[i, j] -= 0.1 * A[i, k] * A[k, j]
        last = k


def found_step_by_step(A):                           # what a loop counts is not bounded by what it adds
    n = A.shape[0]
    for k in range(n - 1):
        p = k
        for _ in range(2):
            p -= 1
        A[p] *= 0.9
        for i in range(k + 1, n):
            for j in range(n):
                A[i, j] -= 0.1 * A[i, k] * A[k, j]


def all_but_another_row(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            if i != (k + 1) % n:
                A[i] -= 0.1 * A[i, k] * A[k]


def only_that_row(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            if i != k:
                A[i] -= 0.1 * A[i, k] * A[k]
            else:
                A[i] *= 0.9


def all_but_the_last_one(A):                         # the row that a condition spares is another one in each iteration
    n = A.shape[0]
    for k in range(n):
        last = 0
        for i in range(1, n):
            if i != last + 1:
                A[i] -= 0.1 * A[i, k] * A[last + 1]
            last = (i + k) % 3


def either_condition(A):
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            if i != k or A[k, 0] > 0.5:
                A[i] -= 0.1 * A[i, k] * A[k]


def of_the_array_before(A):                          # row k is written to in front of the read, which is of what it was
    n = A.shape[0]
    for k in range(n):
        before = +A
        A[k] *= 0.5
        for i in range(k + 1, n):
            for j in range(n):
                A[i, j] -= 0.1 * before[k, j] * A[i, k]


def of_the_row_before(A):                            # what is read was written to in an iteration before
    n = A.shape[0]
    for k in range(n):
        before = +A
        for i in range(1, n):
            for j in range(n):
                A[k, i] += 0.1 * before[k, i - 1] * before[k, j]


def until_small(A):                                  # a loop of unknown length around
    iterations = 0
    while A[0, 0] > 0.5 and iterations < 3:
        for k in range(A.shape[0]):
            for i in range(k + 1, A.shape[0]):
                for j in range(A.shape[0]):
                    A[i, j] -= 0.1 * A[k, j] * A[i, k]
        A[0, 0] *= 0.4
        iterations += 1


# of two factors one is there in the end, for loops around too, the other one is saved
def one_element_beside_what_grows(A):
    n, x = A.shape[0], 0.1 * A[:, 1]
    for _ in range(3):
        for j in range(n):
            for k in range(j, n):
                A[0, k] -= 0.1 * x[j]
                x[j] -= 0.01 * A[0, 0] * A[j, 2]
    A[1] += x


OTHERS = [one_element_beside_what_grows, written_in_the_same_iteration, written_in_the_next_iteration,
          written_in_all_other_rows, written_from_behind, of_a_copy, without_an_iteration, found_anywhere,
          found_one_before, found_from_the_end, found_in_the_iteration_before, found_step_by_step, all_but_another_row,
          only_that_row, all_but_the_last_one, either_condition, until_small, of_the_array_before, of_the_row_before]


@pytest.fixture(params=FINAL + OTHERS, ids=lambda program: program.__name__)
def loss(request):
    with fad.config.using(compile="never"):
        yield loss_of(request.param)


def test_first_and_second_order(loss):
    g = fad.grad(loss, fallback=False)
    np.testing.assert_allclose(np.sum(g(A) * D), slope(loss, A, D), rtol=1e-7)
    second = np.sum(slope(g, A, D) * D)
    np.testing.assert_allclose(np.sum(fad.jvp(g, (A,), (D,))[1] * D), second, rtol=1e-6)
    np.testing.assert_allclose(np.sum(fad.grad(lambda A: np.sum(g(A) * D), fallback=False)(A) * D), second, rtol=1e-6)


@pytest.mark.parametrize("loss", in_turn(FINAL + OTHERS), indirect=True, ids=lambda program: program.__name__)
def test_in_all_tiers(loss):
    g = fad.grad(loss, fallback=False)(A)
    with as_text():
        np.testing.assert_allclose(fad.grad(loss, fallback=False)(A), g, rtol=1e-12)
    np.testing.assert_allclose(fad.grad(loss, memory="16kB", fallback=False)(A), g, rtol=1e-12)
    np.testing.assert_allclose(fad.vmap(fad.grad(loss))(np.stack([A, A + 0.01 * D]))[0], g, rtol=1e-12)
    _, pullback = fad.vjp(loss, A)
    np.testing.assert_allclose(pullback(1.0)[0], g, rtol=1e-12)


@pytest.mark.parametrize("program", FINAL, ids=lambda program: program.__name__)
def test_what_is_read_is_not_saved(program):
    n = 40
    big = 9.0 * np.eye(n) + np.random.default_rng(5).uniform(-1.0, 1.0, (n, n))
    # what is read would be n ** 3 / 3 numbers
    assert fad.explain(fad.grad(loss_of(program)), big).bytes <= 8 * 3 * n ** 2


@pytest.mark.parametrize("program",
                         [found_anywhere, found_one_before, found_from_the_end, found_in_the_iteration_before,
                          found_step_by_step,
                                     all_but_another_row, only_that_row, all_but_the_last_one, either_condition],
                         ids=lambda program: program.__name__)
def test_without_the_proof_it_would_be_wrong(program, monkeypatch):
    loss = loss_of(program)
    with fad.config.using(compile="never"):
        g = fad.grad(loss, fallback=False)(A)
        monkeypatch.setattr(last_write._Nest, "is_last", lambda *_: True)
        without = fad.grad(loss_of(program), fallback=False)
        without.clear()                                      # of programs that functions of this kind have
        assert not np.allclose(without(A), g, rtol=1e-6)


def test_within_a_loop_that_makes_the_array_anew():
    def f(x):
        total = 0.0
        for t in range(3):
            M = 4.0 * np.eye(5) + np.outer(np.sin(x + t), x)
            elimination(M)
            total += np.sum(np.log(np.abs(np.diag(M)))) + np.sum(M)
        return total
    x = np.random.default_rng(6).uniform(0.2, 1.0, 5)
    d = np.random.default_rng(7).standard_normal(5)
    np.testing.assert_allclose(np.sum(fad.grad(f, fallback=False)(x) * d), slope(f, x, d), rtol=1e-7)
    np.testing.assert_allclose(fad.jit(fad.grad(f), compile="now")(x), fad.grad(f)(x), rtol=1e-12)
