"""Arrays that loops fill, add to and read: joined, local, summed or packed, they give the same numbers."""
import linecache
import random
from unittest import mock

import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes import packing, summed_arrays
from fad.passes.equal_carries import join_equal_fills
from fad.passes.packing import pack_columns
from fad.passes.pipeline import optimise
from fad.passes.preparation import prepared
from fad.passes.private_carries import privatise_carries
from fad.passes.summed_arrays import sum_at_once
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from ..fuzz.text import as_text

X = np.random.default_rng(0).uniform(0.2, 1.0, (20, 6))
PASSES = (sum_at_once, join_equal_fills, privatise_carries, pack_columns)


def _count(func, name):
    return sum((e.op.name == name) + sum(_count(r, name) for r in e.regions) for e in func.equations)


def _kernel_text(f, *args):
    return str(fad.source(f, *args))


# -- random programs ---------------------------------------------------------------------------------------------------
ROWS = ("X[:, {i}]", "X[2:18, {i}].repeat(1)", "T[{i}]", "U[{i}]", "-T[{i}]", "T[{i}] * 0.5", "U[{i}] * X[k, {i}]",
        "np.sin(T[{i}])")
FULL = tuple([row for row in ROWS if "2:18" not in row])
WRITES = ("T[{i}] = {row}", "T[{i}] = {row}", "T[{i}] += {row}", "U[{i}] += {row} * X[k, 0]", "U[{i}] += {row}",
          "V[{i}] = {row}", "T[{i}] = 0.0",
          "s += np.sum({row})", "s += np.sum(X[2:18, {i}]) * X[k, 1]", "m[{i}] += np.sum({row})",
          "s = s + np.sum(np.maximum({row}, 0.1))",
          "w[{i}] = np.exp(X[k, {i}])", "s += np.sum(X[:, {i}] * w[{i}])")
HEADS = ("for i in range(6):", "for i in range(X.shape[1]):", "for i in range(1, 5):", "for i in range(5, -1, -1):")


def program(seed):
    """The text of a function with rows in scratch arrays that loops fill."""
    r = random.Random(seed)
    lines = ["def f(X):", "    T, U, V = np.zeros((6, 20)), np.zeros((6, 20)), np.zeros((6, 20))",
             "    s, m = 0.0, np.zeros(6)", "    for k in range(5):"]
    lines += ["        w = np.zeros(6)"] if r.random() < 0.5 else ["        w = X[k] * 1.0"]
    if r.random() < 0.7:
        lines += ["        for i in range(6):", "            T[i] = X[:, i] * X[k, i]"]
    for _ in range(r.randint(1, 3)):
        lines += ["        " + r.choice(HEADS)]
        for _ in range(r.randint(1, 3)):
            index = r.choice(("i", "i", "i", "k % 6"))
            lines += ["            " + r.choice(WRITES).format(i=index, row=r.choice(FULL).format(i=index))]
        if r.random() < 0.3:
            lines += ["        for i in range(6):", "            m[i] += np.sum(U[i])", "            U[i] = 0.0"]
    if r.random() < 0.2:
        lines += ["        T, V = V, T"]
    lines += [f"    return s + np.sum(m * m) + {r.choice(('0.0', '0.0', 'np.sum(T)', 'np.sum(V * V)'))}"]
    return "\n".join(lines)


@pytest.fixture
def eager():
    """Sums and copies are worth it however short they are."""
    with mock.patch.object(summed_arrays, "LONG", 2), mock.patch.multiple(packing, SHORT=2, TIMES=2):
        yield


def _function(text, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\n" + text)
    scope: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    linecache.checkcache()
    return scope["f"]


@pytest.mark.parametrize("seed", range(25))
def test_the_numbers_of_random_programs_stay(seed, eager, tmp_path):
    f = _function(program(seed), tmp_path)
    traced = trace(f, [X])
    for func, given in ((traced.func, [X]), (vjp(traced.func, [0]), [X, 1.0])):
        func = optimise(func)
        want = evaluate(func, [*given[:1], *traced.captured, *given[1:]])
        for run in (*PASSES, prepared):
            for a, b in zip(evaluate(check(run(func)), [*given[:1], *traced.captured, *given[1:]]), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11, err_msg=f"{run.__name__} of\n{program(seed)}")


@pytest.mark.parametrize("seed", range(25, 45))
def test_the_text_of_random_programs(seed, eager, tmp_path):
    """In the generated text, what is read before it is written is no number."""
    f = _function(program(seed), tmp_path)
    want = f(X.copy())
    plain = fad.grad(f, compile="never")(X)
    with as_text():
        np.testing.assert_allclose(fad.jit(f)(X), want, rtol=1e-11, err_msg=program(seed))
        np.testing.assert_allclose(fad.grad(f)(X), plain, rtol=1e-10, atol=1e-10, err_msg=program(seed))


def test_an_array_that_inner_loops_exchange_is_read_by_later_iterations():
    def f(x):
        a, b, s = x * 1.0, np.zeros_like(x), 0.5
        for i in range(6):
            b[i] = np.sum(x * x) * np.exp(-0.1 * i)
        for _ in range(5):
            j = 0
            while j < 6 and a[j] < 0.42:
                s += 0.1 * a[j]
                j += 1
                a, b = b, a
        return np.sum(np.tanh(a)) + np.sum(np.tanh(b)) + s
    x, d = np.array([0.31, -0.62, 0.83, 0.14, -0.27, 0.55]), np.linspace(-1.0, 1.0, 6)
    slope = fad.grad(lambda x: fad.jvp(f, (x,), (d,))[1])
    want = fad.jvp(fad.grad(f), (x,), (d,))[1]
    with as_text():
        np.testing.assert_allclose(slope(x), want, rtol=1e-12)


# -- sums --------------------------------------------------------------------------------------------------------------
def added(X, W):
    T, s = np.zeros((4, 20)), np.zeros(4)
    for i in range(4):
        for j in range(3):
            T[i] += X[:, j] * W[i, j]
    for i in range(4):
        s[i] += np.sum(-T[i] * 2.0)
    return s, T


def test_what_is_only_summed_is_a_sum():
    func = optimise(trace(lambda X, W: added(X, W)[0], [X, X]).func)
    assert not any(v.type.rank == 2 for e in func.equations for v in e.outputs)
    np.testing.assert_allclose(evaluate(func, [X, X])[0], added(X, X)[0], rtol=1e-12)


@pytest.mark.parametrize("otherwise", [0.0, 2.0])
def test_what_branches_add_to_is_a_sum(otherwise):
    def f(X, w):
        T, s = np.zeros((6, 20)), np.zeros(6)
        for i in range(6):
            if w[i] > 0.4:
                T[i] += X[:, i] * w[i]
            elif otherwise:
                T[i] += X[:, i] * otherwise
        for i in range(6):
            s[i] = np.sum(T[i])
        return s
    func = optimise(trace(f, [X, X[0]]).func)
    assert not any(v.type.rank == 2 for e in func.equations for v in e.outputs)
    np.testing.assert_allclose(evaluate(func, [X, X[0]])[0], f(X, X[0]), rtol=1e-12)


def test_what_is_read_stays():
    func = optimise(trace(added, [X, X]).func)
    assert any(v.type.rank == 2 for e in func.equations for v in e.outputs)


def test_terms_that_are_zero_meet_no_infinity():
    def f(X, w):
        T, s = np.zeros((2, 20)), 0.0
        for i in range(2):
            for j in range(3):
                T[i] += np.where(X[:, j] > 2.0, X[:, j], 0.0) * w[j]
        for i in range(2):
            s += np.sum(T[i])
        return s
    w = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(fad.grad(f, argnums=1)(X, w), np.zeros(3))


# -- fills -------------------------------------------------------------------------------------------------------------
def test_what_a_loop_stores_and_saves_is_stored_once():
    def f(x):
        t = np.zeros(20)
        for i in range(20):
            t[i] = np.exp(x[i])
        return np.sum(t * t)
    assert _kernel_text(fad.grad(f), X[:, 0]).count("np.empty(20)") < 3
    np.testing.assert_allclose(fad.grad(f, compile="now")(X[:, 0]), 2 * np.exp(2 * X[:, 0]), rtol=1e-13)


def test_equal_results_are_two_arrays():
    def f(x):
        t, u = np.zeros(20), np.zeros(20)
        for i in range(20):
            t[i] = np.exp(x[i])
            u[i] = np.exp(x[i])
        return t, u
    t, u = fad.jit(f, compile="now")(X[:, 0])
    t[0] = 0.0
    assert u[0] == np.exp(X[0, 0])


# -- scratch memory ----------------------------------------------------------------------------------------------------
def swapped(X):
    u, v = X.copy(), np.zeros_like(X)
    for _ in range(3):
        for i in range(1, 5):
            v[:, i] = u[:, i - 1] * u[:, i + 1]
        u, v = v, u
    return np.sum(u)


def filled_in_part(X):
    t, s = np.zeros(20), 0.0
    for k in range(3):
        for i in range(k + 1):
            t[i] = X[i, k]
        for i in range(20):
            s += t[i] * t[i]
    return s


@pytest.mark.parametrize("f", [swapped, filled_in_part])
def test_what_the_iteration_before_has_left_is_read(f):
    with as_text():
        assert fad.jit(f)(X) == pytest.approx(f(X.copy()), rel=1e-13)


# -- columns -----------------------------------------------------------------------------------------------------------
def column_sums(X, first, count):
    s = 0.0
    for k in range(count):
        for j in range(X.shape[1]):
            s += np.sum(X[first:first + 16, j]) * (k + 1.0)
    return s


def test_columns_are_copied_once():
    func = optimise(trace(lambda X: column_sums(X, 2, 5), [X]).func)
    packed = pack_columns(func)
    assert _count(packed, "unwritten") == _count(func, "unwritten") + 1
    np.testing.assert_allclose(evaluate(packed, [X]), evaluate(func, [X]), rtol=1e-13)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 20])
def test_a_part_that_is_not_there_is_not_read(rows):
    """The loop has no iteration where the array is too short."""
    g, f = fad.jit(column_sums), column_sums
    with as_text():
        assert g(X, 2, 5) == pytest.approx(f(X, 2, 5), rel=1e-13)
        for first in (0, 1, 4, 30):
            assert g(X[:rows], first, 0) == 0.0


def test_an_array_that_goes_on_after_it_was_saved_is_not_filled_in_the_tape():
    """The saved rows were taken for the array itself, and what a later loop left in it had no name."""
    def f(x):
        t, m = np.zeros(3), np.zeros((len(x), 3))
        a = 0.0
        for i in range(len(x) - 1):
            for j in range(3):
                t[j] = 0.05 * j + x[i]
            for j in range(3):
                a = abs(t[j])
            for j in range(3):
                t[j] = max(a, x[-1 - i])
                m[i, j] += (m[i, j] + 1.0) * t[j]
        return np.sum(m)
    x = np.linspace(0.1, 0.9, 7)
    wanted = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(7)]
    for compile in ("never", "now"):
        np.testing.assert_allclose(fad.grad(f, compile=compile)(x), wanted, rtol=1e-6)
