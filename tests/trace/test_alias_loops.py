"""Loops whose branches rebind names to other arrays, and that then write to them: Python's results, with views, swaps
and early ends."""
import importlib
import warnings

import numpy as np
import pytest

import fad
from fad.trace.values.aliases import may_be_one
from fad.util.errors import FadError


def each_becomes_the_other(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
        else:
            b = a
        a[k] += 1.5 * x[k]
        b[k] *= 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def changed_places_in_a_branch(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a, b = (b, a)
        a[k] = b[k] * x[0]
        b[k] += a[0]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def part_of_the_other(x, y):
    a, b = (x[:2] * 1.0, y * 2.0)
    for k in range(2):
        if x[k] > 0:
            a = b[1:]
        a[k] += x[k]
        b[k] *= 2
    return a @ [1, 2.0] + b @ [4, 5, 6.0]


def the_other_backwards(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b[::-1]
        a[k] += x[k]
        b[k] *= 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def break_after_binding(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] < 0:
            a = b
            break
        a[k] *= 3
    a[0] += x[1]
    b[1] *= x[2]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def continue_after_binding(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] < 0:
            a = b
            continue
        a[k] *= 3
        b[k] += a[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def a_row_chosen_by_data(x, y):
    A = np.outer(x, y)
    r = A[0]
    for k in range(3):
        if x[k] > 0:
            r = A[k]
        r[k] = x[k] * 2
        A[k] += r
    return (A * np.arange(9.0).reshape(3, 3)).sum() + r @ [1, 2, 3.0]


def three_names(x, y):
    a, b, c = (x * 1.0, y * 2.0, x * y)
    for k in range(3):
        if x[k] > 0:
            a = b
        elif y[k] > 0:
            b = c
        else:
            c = a
        a[k] += 1.0
        b[k] *= 2.0
        c[k] -= x[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0] + c @ [7, 8, 9.0]


def three_names_in_a_ring(x, y):
    a, b, c = (x * 1.0, y * 2.0, x * y)
    for k in range(3):
        if x[k] > 0:
            a, b, c = (b, c, a)
        a[k] += b[k] * c[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0] + c @ [7, 8, 9.0]


def nested_loops(x, y):
    a, b = (x * 1.0, y * 2.0)
    for i in range(2):
        for k in range(3):
            if x[k] * y[i] > 0:
                a = b
            a[k] += i * x[k]
        b[i] *= 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def in_a_while_loop(x, y):
    a, b = (x * 1.0, y * 2.0)
    k = 0
    while k < 3:
        if x[k] > 0:
            a = b
        a[k] += x[k]
        b[k] *= 2
        k += 1
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def in_a_list(x, y):
    L = [x * 1.0, y * 2.0]
    for k in range(3):
        if x[k] > 0:
            L[0] = L[1]
        L[0][k] += x[k]
        L[1][k] *= 2
    return L[0] @ [1, 2, 3.0] + L[1] @ [4, 5, 6.0]


def views_from_before_the_loop(x, y):
    a, b = (x * 1.0, y * 2.0)
    t = a[1:]
    u = b[:2]
    for k in range(2):
        if x[k] > 0:
            a = b
        a[k] += x[k]
        t[k] *= 2
        u[k] += t[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0] + t @ [1, 1.0] + u @ [2, 2.0]


def a_copy_in_the_branch(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b.copy()
        a[k] += x[k]
        b[k] *= 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def the_arguments_themselves(x, y):
    a = x
    for k in range(3):
        if y[k] > 0:
            a = y
        a[k] *= 2.0
        x[k] += 1.0
    return a @ [1, 2, 3.0] + x @ [4, 5, 6.0] + y @ [7, 8, 9.0]


def chosen_anew_in_each_iteration(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        c = a if x[k] > 0 else b
        c[k] = 7.0 * x[k]
        a[0] += c[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def in_a_dict(x, y):
    d = {'a': x * 1.0, 'b': y * 2.0}
    for k in range(3):
        if x[k] > 0:
            d['a'] = d['b']
        d['a'][k] += x[k]
        d['b'][k] *= 2
    return d['a'] @ [1, 2, 3.0] + d['b'] @ [4, 5, 6.0]


def transposed(x, y):
    A, B = (np.outer(x, y), np.outer(y, y))
    for k in range(3):
        if x[k] > 0:
            A = B.T
        A[k, 0] += x[k]
        B[0, k] *= 2
    return (A * np.arange(9.0).reshape(3, 3)).sum() + (B * np.arange(9.0)[::-1].reshape(3, 3)).sum()


def reshaped(x, y):
    A, v = (np.outer(x, y), np.zeros(9))
    for k in range(3):
        if x[k] > 0:
            v = A.reshape(-1)
        v[k + 1] += x[k]
        A[k] *= 2
    return (A * np.arange(9.0).reshape(3, 3)).sum() + v @ np.arange(9.0)


def written_to_as_a_whole(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
        a += x
        b *= 2
        a[:] = a[::-1]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def break_after_writing(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0.55:
            a = b
        a[k] += x[k]
        b[k] *= 2
        if a[k] > 3.0:
            break
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def return_after_writing(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
        a[k] += x[k]
        b[k] *= 2
        if a[k] < -1.03:
            return a.sum() * 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def written_by_a_helper(x, y):

    def put(z, k, v):
        z[k] = v
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
        put(a, k, x[k])
        put(b, (k + 1) % 3, y[k] * a[k])
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def written_to_in_the_branches(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
            a[k] = x[k] ** 2
        else:
            b[k] = a[k] * 3
            a = a * 1
        b[0] += a[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def the_first_array_again(x, y):
    a, b = (x * 1.0, y * 2.0)
    a0 = a
    for k in range(3):
        if x[k] > 0:
            a = b
            if y[k] > 0:
                a = a0
        a[k] += x[k]
        b[k] *= 2
        a0[0] += 1
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0] + a0 @ [7, 8, 9.0]


def the_row_before(x, y):
    A = np.outer(x, y)
    prev = A[2]
    for k in range(3):
        cur = A[k]
        if x[k] > 0:
            cur[0] += prev[1]
        prev[2] *= 1.5
        prev = cur
    return (A * np.arange(9.0).reshape(3, 3)).sum()


def double_buffer_until_settled(x, y):
    a, b = (x * 1.0, np.zeros(3))
    for _k in range(4):
        b[:] = 0.5 * a + y[0]
        if np.abs(b - a).sum() < 0.1:
            break
        a, b = (b, a)
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def buffers_left_before_they_change_places(x, y):
    a, b = (x * 0.5, np.zeros(3))
    for k in range(4):
        b[k % 3] = a[0] + a[-1] * y[0]
        if a[0] > 0.3:
            break
        a, b = (b, a)
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def buffers_that_change_places_in_some_iterations(x, y):
    s = 0.0
    for j in range(3):
        a, b = (x * 1.0, np.zeros(3))
        for k in range(6):
            b[1:] = a[:-1] * y[j]
            if a[k % 3] > 0.53:
                continue
            a, b = (b, a)
        s += a @ [1, 2, 3.0] + b @ [4, 5, 6.0]
    return s


def written_to_in_a_later_loop(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if x[k] > 0:
            a = b
    for k in range(3):
        a[k] *= 2
        b[k] += x[k]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def slices_of_growing_length(x, y):
    a, b = (x * 1.0, y * 2.0)
    for k in range(1, 3):
        v = a[:k]
        if x[k] > 0:
            v = b[:k]
        v *= x[k]
        a[0] += v[0]
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0]


def nothing_at_first(x, y):
    best = None
    a, b = (x * 1.0, y * 2.0)
    for k in range(3):
        if best is None or x[k] > best[k]:
            best = a if k % 2 else b
        best[k] += 1.0
        a[k] *= 2
    return a @ [1, 2, 3.0] + b @ [4, 5, 6.0] + best.sum()


def read_before_it_is_written_to(x, y):
    """The second iteration reads what the first one wrote, under the name that it had before the loop."""
    a, b, s = x * 1.0, y * 2.0, 0.0
    first = a
    for k in range(3):
        s += first[0] * y[k]
        a[0] += x[k]
        a, b = b, a
    return s


def a_view_read_before_it_is_written_to(x, y):
    a, b, s = x * 1.0, y * 2.0, 0.0
    first = a[1:]
    for k in range(3):
        s += first.sum() * y[k]
        a[1] += x[k]
        if x[0] > 0.0:
            a = b
    return s


def read_in_a_container_before_it_is_written_to(x, y):
    a, b, s = x * 1.0, y * 2.0, 0.0
    kept = {"first": a}
    for k in range(3):
        s += kept["first"][0] * y[k]
        if x[k] > 0.0:
            a, b = b, a
        a[0] += x[k]
    return s


def read_before_a_loop_that_writes_to_it(x, y):
    a, b, s = x * 1.0, y * 2.0, 0.0
    first = a
    for k in range(3):
        s += first[0] * y[k]
        for _ in range(2):
            a[0] += x[k]
            a, b = b, a
    return s


def read_in_a_loop_before_it_is_written_to(x, y):
    a, s = x * 1.0, 0.0
    first = a
    for k in range(3):
        for j in range(2):
            s += first[j] * y[k]
        a[1] += x[k]
        a = y * 1.0
    return s


def bound_anew_before_a_loop_that_writes_to_it(x, y):
    first, b, s = x * 1.0, y * 2.0, 0.0
    for k in range(3):
        a = first
        s += first[0] * y[k]
        for _ in range(3):
            a[0] += x[k]
            a, b = b, a
    return s


def handed_on_after_it_was_read(x, y):
    a, s = x * 1.0, 0.0
    first = a
    for k in range(3):
        t = first * 2.0
        a[0] += x[k]
        a = t
        s += t[0] * y[k]
    return s


PROGRAMS = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__]
ON_THE_TAPE = {written_to_in_a_later_loop}
XS = [np.array(x) for x in ([0.5, 0.6, 0.7], [-0.5, 0.6, 0.7], [0.5, -0.6, 0.7], [0.5, 0.6, -0.7], [-0.5, -0.6, -0.7])]
YS = [np.array(y) for y in ([1.0, 2.0, 3.0], [-1.0, 2.0, -3.0])]


def both(f, x, y):
    """The value, and the arguments as they are left."""
    x, y = x.copy(), y.copy()
    return np.array([f(x, y), *x, *y])


def compare(f, fallback):
    compiled, gradient = fad.jit(f, fallback=fallback), fad.grad(f, fallback=fallback)
    for x in XS:
        for y in YS:
            np.testing.assert_allclose(both(compiled, x, y), both(f, x, y), rtol=1e-12, atol=1e-14)
            slope = [(f(x + h, y.copy()) - f(x - h, y.copy())) / 2e-6 for h in 1e-6 * np.eye(3)]
            np.testing.assert_allclose(gradient(x.copy(), y.copy()), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in ON_THE_TAPE], ids=lambda f: f.__name__)
def test_staged(f):
    compare(f, fallback=False)


def asked_by_the_test_of_a_loop(x, y):
    a, b, s = np.abs(x), y * 2.0, 0.0
    first = a
    while first[0] < y[0] + 4.0:
        s += 1.0
        a[0] += 1.0
        if s > 2.0:
            a, b = b, a
        if s > 9.0:
            break
    return s * x[0]


def test_the_test_of_a_loop_does_not_read_what_was_before():
    with pytest.raises(FadError, match="iterations may write to it under another name"):
        fad.jit(asked_by_the_test_of_a_loop, fallback=False)(XS[0], YS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(asked_by_the_test_of_a_loop, fallback=True)


@pytest.mark.parametrize("f", sorted(ON_THE_TAPE, key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_refused_and_right_on_the_tape(f):
    with pytest.raises(FadError, match="may be the same"):
        fad.jit(f, fallback=False)(XS[0].copy(), YS[0].copy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(f, fallback=True)


def rebound_in_a_nest(x):
    a, c = x * 1.0, np.sin(x)
    b, s = c, 0.0
    for _ in range(len(x)):
        for _ in range(2):
            c.T[:2][::-1] += c[:2] * 0.3
            b = (c.T if x[0] > 0.2 else np.flip(a))
            for _ in range(3):
                a[-3:][1:] *= a[-3:][:-1] * 0.5
            s += 0.1 * b[0]
    return s + (b * b).sum() + a.sum() + c.sum()


def test_what_was_tried_leaves_no_arrays_behind(monkeypatch):
    """Each trial of a loop has arrays of its own, which the next ones must not take for others that a name may be:
    their number would multiply."""
    calls = []
    monkeypatch.setattr(importlib.import_module("fad.trace.regions.may_alias"), "may_be_one",
                        lambda *args: (calls.append(1), may_be_one(*args)))
    with fad.config.using(compile="never"):
        assert fad.jit(rebound_in_a_nest, fallback=False)(XS[0]) == pytest.approx(rebound_in_a_nest(XS[0]))
    assert len(calls) < 100                                 # one name, two candidates, and a few trials of each loop


class Holder:
    def __init__(self, u):
        self.u = u


def test_names_that_an_inner_loop_exchanges_beside_a_list_that_the_outer_one_fills():
    """The outer loop fails where it delivers the names: they are put back before its iterations run one by one."""
    def f(x):
        u, v = x[:2] * 1.0, np.ones(2)
        w, q, rows = np.zeros(2), Holder(u), [v]
        rows.append(u)
        for _ in range(2):
            u[0] += v[1]
            u = v
        for _ in range(3):
            for _ in range(3):
                w, u = u, w
            q.u = u
            for _ in range(3):
                rows.append(u)
                u = np.zeros(2)
                u[0] += w[0]
        return rows[0].sum() * 0.4 + rows[-1][1] + q.u.sum()
    x = np.array([0.3, 0.5, 0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.InternalErrorWarning)
        assert fad.jit(f)(x) == f(x)


KEPT = np.array([1.0, 2.0, 3.0])


def of_an_outer_array(x):
    a, b = x * 1.0, KEPT
    for _ in range(3):
        a, b = b, a
    a[0] = x[1] * 5.0
    return a @ x


def test_an_outer_array_that_a_loop_may_have_given_a_name_gets_what_is_written_to_it():
    """Also in transforms made anew, which have what the function closes over as arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            KEPT[:] = [1.0, 2.0, 3.0]
            value, _ = fad.value_and_grad(of_an_outer_array)(XS[0].copy())
            np.testing.assert_allclose([value, *KEPT], [0.5 * 3.0 + 0.6 * 2.0 + 0.7 * 3.0, 3.0, 2.0, 3.0])
