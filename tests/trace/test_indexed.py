"""Lists that loops index: one region whatever the number of iterations, and Python's identity of lists and of what is
in them."""
import bisect
import contextlib

import numpy as np
import pytest

import fad

from .indexed import IDENTITY, STAGED, STEP_BY_STEP, bins, forces, particles, product, soft_warping

RNG = np.random.default_rng(7)


def numbers(n):
    return RNG.normal(size=n) * 0.5 + 1.0


def tape(f):
    """Where nobody knows which element is meant, the function runs step by step."""
    return pytest.warns(fad.FallbackWarning) if f in STEP_BY_STEP else contextlib.nullcontext()


@pytest.mark.parametrize("f", STAGED + IDENTITY)
def test_values_and_derivatives(f):
    n, h = 11, 1e-6
    x = numbers(n)
    d = RNG.normal(size=n)
    slope = (f(x + h * d, n) - f(x - h * d, n)) / (2 * h)
    with tape(f):
        np.testing.assert_allclose(fad.jit(lambda x: f(x, n))(x), f(x.copy(), n), rtol=1e-11)
    with tape(f):
        np.testing.assert_allclose(fad.grad(lambda x: f(x, n))(x) @ d, slope, rtol=1e-5, atol=1e-6)
    with tape(f):
        np.testing.assert_allclose(fad.jvp(lambda x: f(x, n), (x,), (d,))[1], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", STAGED)
def test_the_program_does_not_grow_with_the_iterations(f):
    short, long = [len(fad.show(lambda x: f(x, n), numbers(n)).splitlines()) for n in (13, 40)]  # noqa: B023
    assert long - short <= 4


@pytest.mark.parametrize("f", [product, soft_warping, particles, forces, bins])
def test_compiled_and_second_derivatives(f):
    n, h = 9, 1e-5
    x, d = numbers(n), RNG.normal(size=n)
    g = fad.jit(fad.grad(lambda x: f(x, n)), compile="now")
    np.testing.assert_allclose(g(x), fad.grad(lambda x: f(x, n))(x), rtol=1e-10)
    product = fad.jvp(fad.grad(lambda x: f(x, n)), (x,), (d,))[1]
    np.testing.assert_allclose(product, (g(x + h * d) - g(x - h * d)) / (2 * h), rtol=1e-4, atol=1e-5)


def test_a_nested_list_is_a_list_again():
    def f(x):
        rows = [[0.0] * 3 for _ in range(12)]
        for i in range(12):
            rows[i][2] = x[i]
        assert len(rows) == 12
        assert len(rows[1]) == 3
        return rows
    result = fad.jit(f)(np.arange(12.0))
    assert type(result) is list
    assert type(result[4]) is list
    assert result[4] == [0.0, 0.0, 4.0]


@pytest.mark.parametrize("ahead", [1, -13])
def test_an_index_out_of_range(ahead):
    def f(x):
        a, s = [v * v for v in range(12)], 0.0
        for i in range(12):
            s = s + a[i + ahead] * x[i]
        return s
    with pytest.raises(IndexError):
        fad.jit(f)(np.ones(12))


def test_negative_indices():
    def f(x):
        a, s = [0.5 * k for k in range(12)], 0.0
        for i in range(12):
            s = s + a[i - 3] * x[i] + a[-1 - i]
        return s
    x = numbers(12)
    assert fad.jit(f, fallback=False)(x) == pytest.approx(f(x))


def test_numbers_of_a_list_give_way_to_an_array_s_type():
    def f(x):
        w, s = [0.5, 0.25, 1.5, 2.0], np.float32(0)
        for i in range(4):
            s = s + w[i] * x[i]
        return s
    x = np.arange(4, dtype=np.float32)
    assert fad.jit(f)(x).dtype == f(x).dtype == np.float32


class Table:
    def __init__(self):
        self.x, self.y, self.t = [0.0, 1.0, 2.5, 4.0], [3.0, 2.0, 1.0, 5.0], (1.0, 2.0, 3.0)

    def at(self, x):
        if x < self.x[0] or x > self.x[-1]:
            return 0.0 * x
        i = bisect.bisect(self.x, x) - 1
        return self.y[i] + (self.y[i + 1] - self.y[i]) * (x - self.x[i]) / (self.x[i + 1] - self.x[i]) * self.t[i]


def test_lists_of_an_object_outside_are_read_whole_and_by_an_index_that_depends_on_data():
    table = Table()
    g = fad.value_and_grad(table.at, fallback=False)
    for x in (0.4, 2.2, 3.1, 5.0):
        assert g(x) == pytest.approx((table.at(x), (table.at(x + 1e-6) - table.at(x - 1e-6)) / 2e-6))
    table.y[2] = 7.0
    assert g(2.2)[0] == pytest.approx(table.at(2.2))
