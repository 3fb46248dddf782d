"""What the passes make of loops: invariants, sums, order; the numbers stay, and so do they where a loop has no
iteration."""
import numpy as np
import pytest

import fad
from fad.ir.check import check
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.passes.preparation import prepared
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

x = np.linspace(0.3, 1.2, 6)
A = np.cos(np.arange(24.0)).reshape(6, 4)


def weighted(x, A, n):
    """Iterations that read one element, of a place that is no place where there is no iteration."""
    s = 0.0
    for i in range(n):
        s += A[i, n - 1] * x[n - 1]
    return s


def nearness(x, A, n):
    """Each point against those before it; the reverse sweep adds to both."""
    s = 0.0
    for i in range(n):
        for j in range(i):
            d = A[i] - A[j]
            s += np.exp(-d @ d) * x[i] * x[j]
    return s


def column(x, A, n):
    """Sums at one place of an array, at another of it, and one that is read."""
    y = np.zeros(n + 1)
    for i in range(n):
        y[n - 1] += x[i]
        y[i] += 2.0 * x[i]
        y[0] += x[1] * x[2]
    return y @ y


def running(x, A, n):
    """A sum that each iteration reads: neither moved nor turned round."""
    y = np.zeros(n + 1)
    s = 0.0
    for i in range(n - 1, -1, -1):
        y[n] += x[i] + 0.5 * y[n]
        s += y[n] * x[i]
    return s


def rows_of_rows(x, A, n):
    """Three loops, of which the innermost saves numbers, the middle one rows; and the outer one reads what the middle
    one saved."""
    s = 0.3
    for i in range(n):
        for j in range(i + 1):
            for k in range(n):
                s = np.sin(s * x[k] + A[i, j % 4])
            s = np.sum(np.sin(A[:i + 1, :2] * s)) + 0.1 * s
    return s


def until_small(x, A, n):
    """Loops of unknown length in others, which save numbers and rows."""
    s = 0.0
    for i in range(n):
        r, row = x[i], A[i]
        while r > 0.31 + 0.1 * i:
            r = 0.5 * (r + 0.3 * np.sin(r))
            row = np.sin(row * r)
        s += r * r * row[0]
    return s


def flipped(x, A, n):
    """Parts of parts, read forward and backward and added to in place."""
    y = x * 1.0
    s = 0.0
    for k in range(1, n):
        s = s + np.dot(np.flip(x[:k]), y[:k]) * np.sum(A[1:k + 1, ::2][0])
        y[:k] += 0.1 * s * np.flip(y[:k])
    return s * y[0]


def thresholds(x, A, n):
    """Each iteration has elements of its own. Some are written under a condition."""
    v, total = np.zeros(6), 0.0
    for k in range(n):
        for i in range(6):
            v[i] += 0.4 * (A[i, k] + 1.0 - v[i]) * x[i]
            if v[i] > 0.3:
                v[i] -= 0.3
                total += v[i] * x[i]
    return total


def waiting(x, A, n):
    """Each iteration reads what the one before has written."""
    v = np.zeros(6)
    for k in range(n):
        for i in range(5, 0, -1):
            v[i] = 0.5 * v[i] + x[i] * A[i, k]
            if x[i] > 0.5:
                v[i - 1] += np.sin(v[i])
    return np.sum(v)


PROGRAMS = [weighted, nearness, column, running, rows_of_rows, until_small, flipped, thresholds, waiting]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_gradients_stay(f, n):
    traced = trace(f, [x, A, n])
    inputs = [x, A, n, *traced.captured]
    for func in (traced.func, vjp(traced.func, [0, 1])):
        given = inputs + [1.0] * (len(func.inputs) - len(inputs))
        want = evaluate(func, given)
        for after in (optimise(func), prepared(optimise(func))):
            for a, b in zip(evaluate(check(after), given), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    g = fad.jit(fad.grad(f, argnums=(0, 1)), compile="now")
    for a, b in zip(g(x, A, n), fad.grad(f, argnums=(0, 1))(x, A, n)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def loops(f, *args):
    """The loops of the program that is compiled, innermost first, and the names of the ops in each."""
    program, _ = f.program_for(*args)
    func = prepared(optimise(program.runner.func))

    def walk(equations):
        for eqn in equations:
            for region in eqn.regions:
                yield from walk(region.equations)
            if eqn.op.name in ("for", "while"):
                yield eqn, [e.op.name for e in eqn.regions[-1].equations]
    return list(walk(func.equations))


def test_sums_are_kept_in_numbers_and_run_forward():
    pairs, names = loops(fad.grad(nearness), x, A, 4)[-2]
    assert pairs.inputs[2].value == 1                        # the inner loop of the reverse sweep ran backward
    assert names.count("index_add") == 1                     # to x[j]'s cotangent; x[i]'s is a number


def test_iterations_with_elements_of_their_own_run_forward():
    elements, _ = loops(fad.grad(thresholds), x, A, 4)[-2]
    assert elements.inputs[2].value == 1


def test_iterations_that_wait_for_each_other_run_as_they_do():
    assert [loop.inputs[2].value for loop, _ in loops(fad.jit(waiting), x, A, 4)][0] == -1


def test_a_sum_that_is_read_stays_where_it_is():
    (loop, _), = loops(fad.jit(running), x, A, 4)
    assert loop.inputs[2].value == -1 and len(loop.outputs) == 2


def test_the_seed_of_a_loop_is_a_number():
    def f(x):
        s = 0.0
        for v in x:
            s += v * v
        return s
    (_, names), = loops(fad.grad(f), x)
    assert "mul" not in names                                # by one


def test_the_first_sum_of_each_element_is_an_assignment():
    def f(x):
        s = 0.0
        for v in x:
            if v > 0.5:
                s += v * v
        return s
    (loop, names), = loops(fad.grad(f), x)
    assert loop.inputs[2].value == 1 and "update" in names and "index_add" not in names
    np.testing.assert_array_equal(fad.jit(fad.grad(f), compile="now")(x), np.where(x > 0.5, 2 * x, 0.0))


def test_what_counts_the_iterations_is_not_saved():
    def f(x):
        k, s = 0, 1.0
        while s < 20.0:
            s = s + x[k] * s
            k += 1
            if k == x.size:
                k = 0
        return s

    def counted(x):
        s = 1.0
        for v in x:
            s *= 1 + v
            if s > 3.0:
                break
        return s
    for g, kept in ((f, 2), (counted, 1)):
        program, _ = fad.grad(g).program_for(x)
        assert [e.op.name for e in optimise(program.runner.func).equations].count("unwritten") == kept
        stretch = next(names for eqn, names in loops(fad.grad(g), x) if eqn.op.name == "while")
        assert "resize" not in stretch                       # it has room for all of its iterations
        np.testing.assert_allclose(fad.jit(fad.grad(g), compile="now")(x), fad.grad(g)(x), rtol=1e-12)


def test_what_inner_loops_save_goes_straight_to_where_it_is_kept():
    assert not any("unwritten" in names for _, names in loops(fad.grad(rows_of_rows), x, A, 4))


def test_arrays_that_are_needed_as_they_are_stay_apart():
    def f(x, A, n):
        s = 0.0
        for i in range(n):
            row = np.empty(4)
            for j in range(4):
                row[j] = A[i, j] * x[j]
            A[i] = row
            s += np.sum(np.sort(row)) * A[i, 1]
        return s + np.sum(A)
    g = fad.jit(f, compile="now")
    np.testing.assert_allclose(g(x, A.copy(), 4), f(x, A.copy(), 4), rtol=1e-14)


def test_additions_to_parts_of_parts_go_to_the_array():
    func = vjp(trace(lambda x: np.sum(np.flip(x[1:])[::2] ** 2), [x]).func, [0])
    assert [e.op.name for e in optimise(func).equations].count("index_add") == 1


def _checks(func):
    return sum((e.op.name == "check_index") + sum(map(_checks, e.regions)) for e in func.equations)


@pytest.mark.parametrize("bounds", [(1, -1, 1), (2, -2, -1), (0, 0, 1), (1, 1, 1), (-2, 0, 1)], ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_neighbours_are_checked_at_the_ends_of_all_of_them(bounds, n):
    """Two checks serve three neighbours; what is in range and what is not stays so."""
    first, less, step = bounds

    def f(x, k):
        s = 0.0
        for i in range(first, k + less) if step > 0 else range(k + less, first - 1, -1):
            s += x[i - 1] * x[i] - x[i + 1]
        return s

    def outcome(call, *args):
        try:
            return call(*args)
        except IndexError:
            return "out of range"
    traced = fad.jit(f, compile="never")
    for k in range(7):
        x = np.linspace(1.0, 2.0, n + 1)
        got, expected = outcome(traced, x, k), outcome(f, x, k)
        assert got == expected or np.isclose(got, expected), (k, got, expected)


def test_few_checks_serve_a_stencil():
    def f(x, k):
        s = 0.0
        for i in range(1, k):
            s += x[i - 1] * x[i] - x[i + 1]
        return s
    program, _ = fad.jit(f).program_for(np.ones(9), 5)
    assert _checks(program.runner.func) == 2


def nested(D, A):
    for i in range(2, 9):
        for j in range(9 - i):
            for k in range(j, i + j - 1):
                D[j] = D[j] + A[j, k] * A[k, i + j - 1]
    return D[0]


def test_a_nest_whose_loops_have_iterations_is_checked_in_front_of_it():
    D, A = np.linspace(0.0, 1.0, 9), np.ones((9, 9))
    func = fad.jit(nested).program_for(D, A)[0].runner.func
    assert _checks(func) == sum(e.op.name == "check_index" for e in func.equations) > 0
    np.testing.assert_allclose(fad.jit(nested, compile="never")(D.copy(), A), nested(D.copy(), A))
    for rows, columns in ((6, 9), (9, 7)):
        with pytest.raises(IndexError):
            fad.jit(nested, compile="never")(D.copy(), A[:rows, :columns])


@pytest.mark.parametrize("first, wraps", [(2, False), (-3, True)])
def test_an_index_that_only_rises_does_not_count_from_the_end(first, wraps):
    def f(x):
        total = 0.0
        for bound in x:
            k = first
            while k < 5 and x[k] < bound:
                k += 1
            total += x[k] * bound
        return total
    x = np.sin(np.arange(9.0))
    for compiled in ("never", "now"):
        np.testing.assert_allclose(fad.jit(f, compile=compiled)(x), f(x))
    assert ("< 0 else" in fad.source(f, x)) == wraps


def test_an_index_that_falls_may_count_from_the_end():
    def f(x):
        k, total = 2, 0.0
        while x[k] < 0.9:
            total += x[k] * k
            k -= 1
        return total
    x = np.array([0.1, 0.2, 0.3, 1.0, 0.5, 0.6])
    for compiled in ("never", "now"):
        np.testing.assert_allclose(fad.jit(f, compile=compiled)(x), f(x))


def test_a_condition_is_not_asked_again():
    """The branch knows that the index is in the array; the other side of it does not."""
    def f(x, b):
        total = 0.0
        for i in range(len(x)):
            for k in range(len(b)):
                if i - k >= 0:
                    total += b[k] * x[i - k]
        return total

    def other(x, b):
        total = 0.0
        for i in range(len(x)):
            for k in range(len(b)):
                if i - k > 0:
                    total += 1.0
                else:
                    total += b[k] * x[i - k]
        return total
    x, b = np.linspace(1.0, 2.0, 5), np.array([0.5, 0.3, 0.2])
    assert "raise IndexError" not in fad.source(f, x, b) and "< 0 else" not in fad.source(f, x, b)
    assert "< 0 else" in fad.source(other, x, b)
    for g in (f, other):
        for compiled in ("never", "now"):
            np.testing.assert_allclose(fad.jit(g, compile=compiled)(x, b), g(x, b))
    with pytest.raises(IndexError):
        fad.jit(other, compile="now")(x[:2], np.ones(5))
