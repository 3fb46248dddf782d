"""In a branch, a loop binds a name anew that may still be what it was before; then one of the two is written to: behind
the branch nobody knows the other."""
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FadError


def written_under_the_first_name(x, y):
    a = x * 1.0
    best = a
    if y[0] > 0.0:
        for _ in range(len(x)):
            a = a[:]
        best[-1] += 0.2 * x[0]
    return a.sum() + 10 * best @ best


def written_under_the_new_name(x, y):
    a = x * 1.0
    best = a
    if y[0] > 0.0:
        for _ in range(len(x)):
            a = np.asarray(a)
        if y[1] > 0.0:
            a[-1] += 0.2 * x[0]
    return a.sum() + 10 * best @ best


def written_in_a_branch_within(x, y):
    a = x * 1.0
    best = a
    if y[0] < 0.0:
        pass
    else:
        for _ in reversed(best):
            a = y.reshape(-1) if y[2] > 5.0 else np.asarray(a)
        if y[1] > 0.0:
            best[:][-1] += 0.2 * x[0]
    return a.sum() + 10 * best @ best


def kept_in_a_list(x, y):
    a, b = x * 1.0, x * 2.0
    r, kept = a, [b]
    if y[0] > 0.0:
        for k in range(len(x)):
            r = r[:] if x[k] > 0.3 else b
        kept[0] = r
        a[0] = 7.0 * x[1]
    return kept[0].sum() + r @ r


def another_name_for_one_that_is_lost(x, y):
    a, b = x * 1.0, x * 2.0
    r = p = b
    if y[0] > 0.0:
        p, q = a, b
        for _ in range(len(x)):
            p[0] += 1.0
            p, q = q, p
        r = a
    return r @ r + 10 * p.sum()


def a_part_of_one_that_is_lost(x, y):
    a, b = x * 1.0, x * 2.0
    r, p = b, a
    if y[0] > 0.0:
        p, q = a, b
        for _ in range(len(x)):
            p[0] += 1.0
            p, q = q, p
        r = a[1:]
    return r.sum() + 10 * p.sum() + 100 * a @ a


def a_part_that_leaves_the_branch(x, y):
    a = x * 1.0
    if y[0] > 0.0:
        n = a
        for _ in range(len(x)):
            n = n[:]
        v = n[1:]
    else:
        v = x[1:] * 3.0
    a[1] += x[0]
    return v @ v


def a_part_of_a_new_one(x, y):
    m, u = x * 2.0, x[1:] * 1.0
    if y[0] > 0.0:
        n = x * 1.0
        m = n
        for _ in range(len(x)):
            m = m[:]
        u = n[1:]
    u[0] += x[0]
    return m @ m


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__]
X = np.array([0.5, 0.6, 0.7])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_refused_and_right_on_the_tape(f):
    with pytest.raises(FadError, match="may be the same|changing names"):
        fad.jit(f, fallback=False)(X, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        for y in (X, -X, np.array([0.5, -0.6, 0.7])):
            assert fad.jit(f)(X, y) == pytest.approx(f(X, y), rel=1e-12)
            slope = [(f(X + h, y) - f(X - h, y)) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(fad.grad(f)(X, y), slope, rtol=1e-6)


def view_bound_by_a_list(x, y):
    """One side exchanges what a list holds; the other writes to an array of which the list has a view."""
    c, p = x * 2.0, x[:2] * 1.0
    r, v = c[:2], c[1:]
    L = [p, r]
    if y[0] > 0.0:
        L[0], L[1] = L[1], L[0]
    else:
        v += 0.3
    return (L[0] + 2 * L[1] + 3 * r).sum()


def list_bound_anew_or_changed(x, y):
    """One side binds a name to another list; the other changes the list that it has."""
    L = [x[:1] * 1.0, x[1:2] * 2.0, x[2:] * 3.0]
    K = L
    if y[0] > 0.0:
        L = L[::-1]
    else:
        L[0], L[1] = L[1], L[0]
    return (L[0] + 2 * L[1] + 5 * L[2] + 7 * K[0]).sum()


def lists_in_a_list(x, y):
    L = [[x[0], x[1] * 2.0], [x[2] * 3.0, x[1]]]
    if y[0] > 0.0:
        L = [L[1], [x[0] * 4.0, 0.5]]
    else:
        L[1][0], L[1][1] = L[1][1], L[1][0] * 0.5
        L[0], L[1] = L[1], L[0]
    return L[0][0] + 2 * L[0][1] + 5 * L[1][0] + 7 * L[1][1]


@pytest.mark.parametrize("f", [view_bound_by_a_list, list_bound_anew_or_changed, lists_in_a_list],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("y", [X, -X])
def test_what_one_side_leaves_as_it_is_has_what_it_wrote(f, y):
    assert fad.jit(f, fallback=False)(X, y) == pytest.approx(f(X, y), rel=1e-12)
    slope = [(f(X + h, y) - f(X - h, y)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(fad.grad(f)(X, y), slope, rtol=1e-6)


def test_a_loop_that_waits_for_one_of_two_lists_to_shrink_ends():
    """Which of them does is known when the program runs: tracing has to notice that it waits in vain."""
    def merged(left, right):
        result = []
        while left and right:
            result.append((left if left[0] <= right[0] else right).pop(0))
        return result + left + right

    def f(x):
        a = merged([x[0], x[1]], [x[2]])
        return a[0] + 2.0 * a[1] + 3.0 * a[2]
    x = np.array([0.3, 0.9, 0.5])
    with pytest.raises(fad.FadError):
        fad.grad(f, fallback=False)(x)
    np.testing.assert_allclose(fad.grad(f)(x), [1.0, 3.0, 2.0])


def written_and_never_its_base(A, x):
    B = A * x[0] + A.T
    z = B.reshape(-1) if x[1] > 0.0 else A.ravel() * 1.0
    z[0] = 7.0 * x[0]
    return z @ z


def base_written(A, x):
    B = A * x[0] + A.T
    z = B.reshape(-1) if x[1] > 0.0 else A.ravel() * 1.0
    B[0, 0] = 7.0 * x[0]
    return z @ z


def two_in_one_branch(A, x):
    B = A * x[0] + A.T
    z, y = A.ravel() * 1.0, A.ravel() * 2.0
    if x[1] > 0.0:
        z, y = B.reshape(-1), B.reshape(-1)
    z[0] = 7.0 * x[0]
    return y @ y


def two_in_two_branches(A, x):
    B = A * x[0] + A.T
    z = B.reshape(-1) if x[1] > 0.0 else A.ravel() * 1.0
    y = B.reshape(-1) if x[0] > 0.0 else A.ravel() * 1.0
    z[0] = 7.0 * x[0]
    return y @ y


def view_kept_in_a_list(A, x):
    B, out = A * x[0] + A.T, []
    for k in range(2):
        out.append(B.reshape(-1) if x[k] > 0.0 else A.ravel() * 1.0)
    out[0][0] = 4.0
    return out[1] @ out[1]


def base_written_in_the_branch(A, x):
    B = A * x[0] + A.T
    z = B.reshape(-1)
    if x[1] > 0.0:
        B[0, 0] = 3.0 * x[0]
        y = z
    else:
        y = B.ravel()
    return y @ y


@pytest.mark.parametrize("x", [np.array(x) for x in ([1.5, 1.0], [1.5, -1.0], [-0.5, 1.0])], ids=str)
@pytest.mark.parametrize("f", [written_and_never_its_base, base_written, two_in_one_branch, two_in_two_branches,
                               view_kept_in_a_list, base_written_in_the_branch], ids=lambda f: f.__name__)
def test_a_view_or_a_copy_of_an_array_in_one_of_two_orders(f, x):
    """Whether the reshaped array is a view depends on how the sum lies in memory, which no trace knows."""
    A = np.arange(4.0).reshape(2, 2)
    assert fad.jit(written_and_never_its_base, fallback=False)(A, x) == written_and_never_its_base(A, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fad.jit(f)(A, x) == pytest.approx(f(A, x), rel=1e-12)
