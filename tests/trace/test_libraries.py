"""What libraries make inside a traced function: arrays that are written to afterwards or read by a loop's index;
generators of random numbers."""
import dataclasses
import functools
import operator
import random
import warnings

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.stats

import fad


def written_after_its_use(x):
    w = np.random.default_rng(0).normal(size=5)
    y = x * w
    w += 1.0
    return np.sum(y) + np.sum(w * x)


def results_of_one_call(x):
    t, w = np.polynomial.legendre.leggauss(4)
    a = np.exp(-x * t) @ w
    t += 1
    w *= 0.5
    return a + np.exp(-x * t) @ w


def written_in_a_branch(x):
    w = np.random.default_rng(0).normal(size=5)
    if x > 10:
        w[0] = 100.0
    return np.sum(w) * x


def written_in_a_loop(x):
    A = scipy.linalg.hilbert(4)
    s = 0.0
    for _ in range(5):
        s = s + np.sum(A) * x
        A[0] += 1.0
    return s


def read_as_python_reads_it(x):
    counts = np.random.default_rng(0).integers(1, 4, size=4)
    found = [k for k in range(4) if counts[k] > 1]
    y = np.ones(tuple(counts[:2])) * x
    return np.sum(y) * len(found) + len(range(counts[2])) + {1: 0.5, 2: x, 3: x * x}[int(counts[3])]


def drawn_in_a_loop(x):
    rng = np.random.default_rng(0)
    s = 0.0
    for _ in range(4):
        s += np.sum(rng.normal(size=3) * x) + rng.uniform() * x
    return s


def drawn_in_a_nest(x):
    rng, r, s, k = np.random.RandomState(0), random.Random(1), 0.0, 0
    while k < 3:
        for j in range(2):
            s += rng.randn() * x * j + r.gauss(0, 1)
        k += 1
    return s * x


class Walk:
    def __init__(self):
        self.rng = np.random.default_rng(3)

    def step(self, x):
        return x + self.rng.normal()


def drawn_by_an_object(x):
    walk = Walk()
    for _ in range(5):
        x = walk.step(x) * 0.5
    return x


def drawn_by_a_comprehension(x):
    rng = np.random.default_rng(0)
    return sum([x * rng.normal() for _ in range(12)])


def quasi_random(x):
    points, s = scipy.stats.qmc.Halton(d=2, scramble=False), 0.0
    for k in range(4):
        s += np.sum(points.random(1)[0] * x) * k
    return s


def shuffled(x):
    rng, old = np.random.default_rng(0), np.random.RandomState(0)
    p, rows, columns = np.arange(10), np.arange(12.0).reshape(6, 2), np.arange(12.0).reshape(2, 6) * x
    drawn, made = rng.normal(size=6), np.arange(8.0).reshape(4, 2)
    rng.shuffle(p)
    rng.shuffle(rows)
    rng.shuffle(columns, axis=1)
    rng.shuffle(drawn)
    old.shuffle(made)
    s = 0.0
    for k in range(10):
        s = s * x + p[k]
    return s + np.sum(rows * x @ columns) + np.sum(made[:, 0] * x ** np.arange(4)) + np.sum(drawn * x ** np.arange(6))


def grouped(x):
    order, y, groups = np.random.default_rng(0).permutation(8), np.arange(8.0) * x, {}
    for k in range(8):
        groups.setdefault(int(order[k]) % 3, []).append(y[k])
    return sum(sum(g) * (j + 1) for j, g in sorted(groups.items()))


def written_where_it_was_used(x):                       # at every call it is a new array
    c = scipy.signal.firwin(5, 0.3)
    y = x * c
    c[0] = 2.0
    return np.sum(y + x * c)


def drawn_through_another_function(x):
    rng, s = np.random.default_rng(0), 0.0
    draw, children, seeds = functools.partial(rng.normal, 0.5), rng.spawn(2), np.random.SeedSequence(5)
    for k in range(12):
        s += x * draw() + children[1].normal() + sum(map(rng.normal, [1.0, 2.0])) * k
        s += np.random.Generator(rng.bit_generator).normal() + np.random.default_rng(seeds.spawn(1)[0]).normal() * x
    return s


def drawn_by_iterators(x):
    rng, old, s = np.random.default_rng(0), random.Random(0), 0.0
    for k in range(12):
        for v in map(rng.normal, [0.0, 1.0]):
            s += v * x * k
        a, *rest = map(old.gauss, [0.0, 1.0], [1.0, 1.0])
        s += a * x + sum({j: b * k for j, b in enumerate(rest)}.values())
    return s


@dataclasses.dataclass
class Noise:
    rng: np.random.Generator = dataclasses.field(default_factory=lambda: np.random.default_rng(0))

    def __mul__(self, other):
        return self.rng.normal() * other

    def __getitem__(self, k):
        return self.rng.normal() + k


def drawn_by_methods_that_python_calls(x):
    noise, s = Noise(), 0.0
    for k in range(12):
        s += noise * x + noise[k] * x**2
    return s


def drawn_by_an_iteration_that_fails(x):
    rng, s, numbers = np.random.default_rng(0), 0.0, {k: 1.0 * k for k in range(12)}
    for k in range(12):
        (v,) = map(rng.normal, [0.0])
        s += v * x * numbers[k]
    return s


def dropout(x):
    rng = np.random.default_rng(0)
    loss = 0.0
    for _ in range(12):
        mask = rng.random(4) < 0.7
        if mask[0]:
            loss += x ** 2
        loss += np.sum(np.tanh(x * rng.normal(size=4)) * mask)
    return loss


PROGRAMS = [written_after_its_use, results_of_one_call, written_in_a_branch, written_in_a_loop, read_as_python_reads_it,
            drawn_in_a_loop, drawn_in_a_nest, written_where_it_was_used, drawn_through_another_function,
            drawn_by_an_object, drawn_by_a_comprehension, drawn_by_iterators, drawn_by_methods_that_python_calls,
            drawn_by_an_iteration_that_fails, quasi_random, shuffled, grouped, dropout]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", [1.3, np.array(0.7)], ids=["number", "array"])
def test_values_and_derivatives(f, x):
    jitted = fad.jit(f)
    np.testing.assert_allclose([jitted(x), jitted(x)], f(x), rtol=1e-12)
    np.testing.assert_allclose(fad.grad(f)(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-6)


def drawn_where_data_say_so(x):
    rng = np.random.default_rng(0)
    z = rng.normal() if x > 10 else 2.0
    return z * x + rng.normal()


def test_the_kernel_draws_in_a_branch_that_data_choose():
    f = drawn_where_data_say_so
    jitted, slope = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
    for x in (1.3, 11.0, 1.3):
        assert jitted(x) == f(x)
        np.testing.assert_allclose(slope(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-6)


class Generators:
    """A generator from outside."""

    rng = np.random.default_rng(3)


def drawn_by_map_in_a_branch(x):
    rng, z = np.random.default_rng(0), 2.0
    if x > 10:
        z, = map(rng.normal, [0.0])
    return z * x + rng.normal()


def drawn_by_map_in_a_branch_from_outside(x):
    z = sum(map(Generators.rng.normal, [0.0, 1.0])) if x > 10 else 2.0
    return z * x + Generators.rng.normal()


def drawn_by_map_in_a_loop(x):
    z = 2.0
    for _ in range(3):
        if x > 10:
            z += sum(map(Generators.rng.normal, [0.0]))
    return z * x


def drawn_by_map_while_data_say_so(x):
    z = 2.0
    while z < x:
        z += 1.0 + sum(map(Generators.rng.random, [None]))
    return z * x


@pytest.mark.parametrize("f", [drawn_by_map_in_a_branch, drawn_by_map_in_a_branch_from_outside, drawn_by_map_in_a_loop,
                               drawn_by_map_while_data_say_so])
def test_draws_by_c_code_in_a_region_run_on_the_tape(f):
    jitted = fad.jit(f)
    for x in (1.3, 11.0, 1.3, 12.0, 12.0):
        Generators.rng = np.random.default_rng(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fad.FallbackWarning)
            got = jitted(x)
        Generators.rng = np.random.default_rng(3)
        assert got == f(x)


SPLINE = scipy.interpolate.BSpline(np.arange(8.0), np.ones(4), 3)


def changes_what_a_library_keeps(x):
    c = operator.attrgetter("c")(SPLINE)
    c[0] += 1.0
    return np.sum(c * x)


def part_of_a_record(x):
    r = np.rec.fromarrays([np.arange(4.0), np.ones(4)], names="a,b")
    y = x * r.a
    r.a[0] = 100.0
    return np.sum(y)


def entries_of_a_matrix(x):
    A = scipy.sparse.csr_matrix(np.eye(3) + 1.0)
    y = A @ (x * np.arange(3.0))
    A.data[1] = 10.0
    return np.sum(y)


def without_its_text(lines):
    names = {"np": np}
    exec("def f(x):\n " + "\n ".join(lines.split("; ")), names)
    return names["f"]


@pytest.mark.parametrize("f", [changes_what_a_library_keeps, part_of_a_record,
                               without_its_text("w = np.random.default_rng(0).normal(size=5); y = x * w; w += 1.0; "
                                                "return np.sum(y)"),
                               without_its_text("w = np.random.default_rng(0).integers(0, 3, size=2); y = (x * "
                                                "np.arange(3.0))[w]; w += 1; return np.sum(y)")])
def test_changes_that_the_program_would_not_see_run_step_by_step(f):
    def values(f):
        SPLINE.c[0] = 1.0
        return [f(1.3), f(1.3), f(0.7)]
    with pytest.warns(fad.FallbackWarning, match="is changed"):
        np.testing.assert_allclose(values(fad.jit(f)), values(f), rtol=1e-12)
    SPLINE.c[0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fad.FallbackWarning)
        slope = fad.grad(f)(1.3)
    np.testing.assert_allclose(slope, values(f)[0] / 1.3, rtol=1e-12)


def test_entries_of_a_sparse_matrix_that_the_function_made_may_be_changed():
    f = entries_of_a_matrix
    with warnings.catch_warnings():
        warnings.simplefilter("error", fad.FallbackWarning)
        g = fad.jit(fad.value_and_grad(f))
        for x in (1.3, 1.3, 0.7):
            np.testing.assert_allclose(g(x), (f(x), f(x) / x), rtol=1e-12)


def test_pairs_with_lists_are_sorted_on_the_tape():
    def f(x):
        return sum(sum(g) * (k + 1.0) for k, (_, g) in enumerate(sorted([(x, [x]), (0.5 * x, [x, 3.0])])))
    with pytest.warns(fad.FallbackWarning, match="compares lists"):
        assert fad.jit(f)(1.3) == f(1.3)


def test_a_loop_over_what_a_library_made_is_one_region():
    def f(x, n):
        t, w = np.polynomial.legendre.leggauss(n)
        s = 0.0
        for k in range(n):
            s += w[k] * np.exp(-x * t[k] ** 2)
        return s
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short, long = (fad.source(fad.grad(f), 0.7, n) for n in (10, 40))
    assert len(long) < 1.02 * len(short)
