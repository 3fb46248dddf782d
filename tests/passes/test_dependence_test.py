"""Elements that a loop reads or adds to at one place are numbers where all else that it touches of the array is
elsewhere; else they stay in the array."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.preparation import prepared
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from .test_loops import loops

x = np.linspace(0.3, 1.2, 6)
A = np.cos(np.arange(36.0)).reshape(6, 6) + 3.0 * np.eye(6)


# -- apart -----------------------------------------------------------------------------------------

def eliminated(x, A, n):
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


def substituted(x, A, n):
    for i in range(n):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
        x[i] = x[i] / A[i, i]


def backwards(x, A, n):
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i, -1):
            x[j] *= A[i, j] + x[i]


def beside_a_slice(x, A, n):
    for i in range(n):
        for j in range(n):
            x[i] += A[i, j] * np.sum(x[:i]) - np.sum(x[i + 1:n])


def behind_a_search(x, A, n):
    for i in range(n):
        k = i
        for j in range(i + 1, n):
            if A[j, i] > A[k, i]:
                k = j
        for j in range(i):
            x[j] += x[k] * A[i, j]


def last(x, A, n):
    for j in range(len(x) - 1):
        x[-1] += x[j] * A[j, 0]


APART = [eliminated, substituted, backwards, beside_a_slice, behind_a_search, last]


# -- where they meet -------------------------------------------------------------------------------

def meets_itself(x, A, n):
    for i in range(n):
        for j in range(n):
            x[j] += x[i] * A[i, j]


def meets_at_the_end(x, A, n):
    for i in range(n):
        for j in range(i + 1):
            x[i] -= A[i, j] * x[j]


def meets_a_column(x, A, n):
    for i in range(n):
        for k in range(n):
            for j in range(n - 1, k - 1, -1):
                A[i, k] += A[k, j] * x[j]


def meets_a_slice(x, A, n):
    for i in range(n):
        for j in range(n):
            x[i] += A[i, j] * np.sum(x[:i + 1])


def meets_the_array(x, A, n):
    for i in range(n):
        for j in range(n):
            x[i] += 0.1 * A[i, j] * (x @ x)


def meets_from_the_end(x, A, n):
    """The last iteration reads the last element."""
    for j in range(len(x) - 2, -1, -1):
        x[-1] += x[j - 1] * A[j, 0]


def meets_what_was_found(x, A, n):
    for i in range(n):
        k = np.argmax(A[i])
        for j in range(i, len(x)):
            x[j] -= x[k] * A[i, j]


def meets_an_assignment(x, A, n):
    for i in range(1, n):
        for j in range(n):
            x[i] += A[i, j] * x[0]
            x[j] = 0.5 * x[j] + A[j, i]


def meets_in_a_branch(x, A, n):
    for i in range(n):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
            if A[i, j] > 0.2:
                x[i] = 0.3


MEET = [meets_itself, meets_at_the_end, meets_a_column, meets_a_slice, meets_the_array, meets_from_the_end,
        meets_what_was_found, meets_an_assignment,
        meets_in_a_branch]


def total(f):
    def loss(x, A, n):
        x, A = x.copy(), A.copy()
        f(x, A, n)
        return np.sum(np.sin(x)) + np.sum(A * A)
    return loss


@pytest.mark.parametrize("n", [0, 1, 2, 6])
@pytest.mark.parametrize("f", APART + MEET)
def test_values_and_gradients_stay(f, n):
    traced = trace(total(f), [x, A, n])
    inputs = [x, A, n, *traced.captured]
    assert np.isclose(evaluate(optimise(traced.func), inputs)[0], total(f)(x, A, n), rtol=1e-13)
    for func in (traced.func, vjp(traced.func, [0, 1])):
        given = inputs + [1.0] * (len(func.inputs) - len(inputs))
        for a, b in zip(evaluate(check(prepared(optimise(func))), given), evaluate(func, given), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("f", [eliminated, meets_what_was_found, meets_an_assignment])
def test_compiled(f):
    g = fad.jit(fad.value_and_grad(total(f), argnums=(0, 1)), compile="now")
    value, gradients = g(x, A, 6)
    assert np.isclose(value, total(f)(x, A, 6), rtol=1e-13)
    for a, b in zip(gradients, fad.grad(total(f), argnums=(0, 1))(x, A, 6)):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def innermost(f):
    """The names of the ops in the innermost loops of a function as it is compiled."""
    return [names for eqn, names in loops(f, x, A, 6) if not {"for", "while"}.intersection(names)]


@pytest.mark.parametrize("f", [substituted, beside_a_slice, last])
def test_what_is_added_at_one_place_is_a_number(f):
    assert not any("index_add" in names for names in innermost(fad.jit(total(f))))


@pytest.mark.parametrize("f",
                         [meets_itself, meets_at_the_end, meets_a_column, meets_a_slice, meets_the_array,
                          meets_from_the_end, meets_an_assignment])
def test_what_others_may_read_is_added_at_once(f):
    assert any("index_add" in names for names in innermost(fad.jit(total(f))))


def test_what_is_read_at_one_place_is_a_number():
    (primal,), (_, reverse) = innermost(fad.jit(total(eliminated))), innermost(fad.grad(total(eliminated), argnums=1))
    assert primal.count("index") == 1 and reverse.count("index_add") == 1         # of A[k, j]; to its cotangent
    found, meeting = [innermost(fad.jit(total(f)))[-1] for f in (behind_a_search, meets_itself)]
    assert found.count("index") == 1 and meeting.count("index") == 2


# -- indices that are out of range -----------------------------------------------------------------

def reads(x, k, n):
    y = x.copy()
    for j in range(n):
        y[j] += y[k] * x[j]                                  # only if there is any iteration
    return np.sum(y)


def test_a_place_of_no_array_is_none_of_a_loop_without_iterations():
    g = fad.jit(fad.grad(reads), compile="now")
    np.testing.assert_array_equal(g(x, 40, 0), np.ones(6))
    for iterations in (1, 6):
        with pytest.raises(IndexError, match=r"y\[j\] \+= y\[k\] \* x\[j\]"):
            g(x, 40, iterations)


def test_indices_of_an_array_are_checked_where_they_are():
    def f(x):
        y, k = x.copy(), np.arange(len(x)) - 3
        for _ in range(2):
            y[k] += 0.5 * y
        return np.sum(y * y)
    np.testing.assert_allclose(fad.jit(fad.grad(f), compile="now")(x), fad.grad(f)(x), rtol=1e-14)


def added_four_times(x, k):
    """As an integrator that calls the user's function four times a step."""
    s = x[0]
    for _ in range(30):
        for _ in (0, 1, 2, 3):
            s = s + 0.1 * k[0] * np.sin(k[1] * s)
    return s


def test_what_several_lines_add_to_one_element_is_one_number():
    args = x, np.array([0.3, 1.1, 0.7, 0.2, 0.5])
    text = fad.source(fad.grad(added_four_times, 1), *args)
    assert text.count("gk[0] +=") == text.count("gk[1] +=") == 1
    g = fad.jit(fad.grad(added_four_times, 1), compile="now")(*args)
    wanted = fad.jit(fad.grad(added_four_times, 1), compile="never")(*args)
    np.testing.assert_allclose(g, wanted, rtol=1e-12)
    e = np.array([1e-6, 0, 0, 0, 0])
    np.testing.assert_allclose(g[0], (added_four_times(x, args[1] + e) - added_four_times(x, args[1] - e)) / 2e-6,
                               rtol=1e-7)
