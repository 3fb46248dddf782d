"""Numba's functions and fad's: users' @njit functions differentiate, and derivatives are called from users' @njit
code."""
import numba
import numpy as np
import pytest

import fad
from fad.util.errors import SideEffectError

X = np.array([1.0, 2.0, 0.5])


@numba.njit
def part(x, k):
    return np.sin(x) * k


@numba.njit(fastmath=True)
def looped(x):
    s = 0.0
    for k in range(x.shape[0]):
        s += part(x[k], 2.0) + k * x[k]
    return s


@numba.njit("float64(float64[:])")
def typed(x):
    s = 0.0
    for k in range(x.shape[0]):
        s += x[k] ** 2
    return s


@numba.njit(parallel=True)
def parallel(x):
    s = 0.0
    for k in numba.prange(x.shape[0]):
        s += x[k] ** 3
    return s


@pytest.mark.parametrize("f, expected",
                         [(looped, 2 * np.cos(X) + np.arange(3)), (typed, 2 * X), (parallel, 3 * X ** 2)])
def test_njit_functions_differentiate(f, expected):
    np.testing.assert_allclose(fad.grad(f)(X), expected, rtol=1e-14)


def test_a_gradient_called_from_njit_and_prange_code():
    g = fad.grad(looped).njit(X)

    @numba.njit
    def descent(x):
        for _ in range(3):
            x = x - 0.1 * g(x)
        return x

    @numba.njit(parallel=True)
    def rows(xs):
        out = np.empty_like(xs)
        for k in numba.prange(xs.shape[0]):
            out[k] = g(xs[k])
        return out
    x = X
    for _ in range(3):
        x = x - 0.1 * fad.grad(looped)(x)
    np.testing.assert_allclose(descent(X), x, rtol=1e-14)
    xs = np.stack([X, 2 * X, X - 1])
    np.testing.assert_allclose(rows(xs), [fad.grad(looped)(x) for x in xs], rtol=1e-14)


def test_value_and_gradient_and_several_arguments():
    both = fad.value_and_grad(looped).njit(X)
    pair = fad.grad(lambda a, b: a * b * b, argnums=(0, 1)).njit(1.0, 2.0)
    chosen = fad.grad(lambda x, i: np.sum(x[i] ** 3)).njit(X, np.array([0, 1]))

    @numba.njit
    def use(x, i):
        value, g = both(x)
        a, b = pair(3.0, 4.0)
        return value, g, a, b, chosen(x, i)
    value, g, a, b, c = use(X, np.array([1, 2]))
    np.testing.assert_allclose(value, looped(X))
    np.testing.assert_allclose(g, fad.grad(looped)(X))
    assert (a, b) == (16.0, 24.0)
    np.testing.assert_allclose(c, [0.0, 12.0, 0.75])


def test_ints_among_the_examples_are_arguments():
    def steps(x, n):
        for _ in range(n):
            x = 0.5 * x + np.sin(x)
        return np.sum(x)
    g = fad.grad(steps).njit(X, 3)
    np.testing.assert_allclose(numba.njit(lambda x, n: g(x, n))(X, 7), fad.grad(steps)(X, 7))
    # an axis is a constant
    along = fad.grad(lambda x, axis: np.sum(np.sum(x, axis=axis) ** 2)).njit(np.ones((2, 3)), 1)
    np.testing.assert_array_equal(along(np.ones((2, 3))), np.full((2, 3), 6.0))
    repeated = fad.jit(lambda x, n: np.sum(np.concatenate([x] * n))).njit(X, 3)
    np.testing.assert_allclose(repeated(X), 3 * np.sum(X))


@numba.njit
def power_of(x, n):
    if n < 0:
        raise ValueError("negative")
    return 1.0 if n == 0 else x * power_of(x, n - 1)


def test_an_njit_function_that_calls_itself_and_raises():
    assert fad.grad(power_of)(2.0, 3) == 12.0
    with pytest.raises(ValueError, match="negative"):
        fad.grad(power_of)(2.0, -1)


def test_single_precision_and_what_the_function_closes_over():
    weights = np.array([1.0, 2.0, 3.0])
    g = fad.grad(lambda x: np.sum(weights * x * x)).njit(X)
    np.testing.assert_allclose(numba.njit(lambda x: g(x))(X), 2 * weights * X)
    single = fad.grad(lambda x: np.sum(x ** 3)).njit(X.astype(np.float32))(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, 3 * X ** 2, rtol=1e-6)
    with pytest.raises(TypeError, match="argument type"):
        fad.grad(lambda x: np.sum(x ** 3)).njit(X.astype(np.float32))(X)


def test_an_njit_function_with_a_derivative_of_its_own():
    @numba.njit
    def halvings(x):
        n = 0
        while x > 1.0:
            x, n = x * 0.5, n + 1
        return x + n
    smooth = fad.custom_jvp(halvings)
    smooth.defjvp(lambda primals, tangents: (smooth(primals[0]), tangents[0] * 7.0))
    assert float(fad.grad(lambda x: smooth(x) * 2.0)(5.0)) == 14.0
    assert float(fad.jit(lambda x: smooth(x), compile="now")(5.0)) == halvings(5.0)

    total = fad.custom_vjp(looped)
    total.defvjp(lambda x: (looped(x), x), lambda x, g: (g * x,))

    def twice(x):
        s = 0.0
        for k in range(2):
            s += total(x * (k + 1.0))
        return s
    np.testing.assert_allclose(fad.grad(twice)(X), 5 * X, rtol=1e-14)


def test_a_function_that_writes_to_its_arguments_has_no_dispatcher():
    def shifts(x):
        x[0] += 1.0
        return x.sum()
    with pytest.raises(SideEffectError, match="writes to x"):
        fad.jit(shifts).njit(np.ones(3))
    assert fad.grad(shifts).njit(np.ones(3))(X).tolist() == [1.0, 1.0, 1.0]


def test_a_function_that_writes_to_what_it_closes_over_has_no_dispatcher():
    seen = np.zeros(3)

    def counts(x):
        seen[0] += 1.0
        return x.sum()
    with pytest.raises(SideEffectError, match="closes over"):
        fad.jit(counts).njit(np.ones(3))
