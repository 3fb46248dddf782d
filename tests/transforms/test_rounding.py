"""What a comparison decided in the forward sweep is not decided again in the reverse sweep, from operands whose last
bit compiled code may change."""
import numpy as np
import pytest

import fad


def adaptive(y, k):
    """A Runge-Kutta method whose step follows from the largest error: the largest is found again by its value."""
    def f(y):
        return -k * y + np.sin(y)
    t, h = 0.0, 0.1
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = f(y)
        k2 = f(y + h * k1 / 2)
        k3 = f(y + h * (-k1 + 2 * k2))
        y4 = y + h * (k1 + 4 * k2 + k3) / 6
        e = np.max(np.abs(y4 - (y + h * k2)))
        if e < 1e-4:
            t += h
            y = y4
        h = h * min(2.0, max(0.2, 0.9 * (1e-4 / (e + 1e-15)) ** 0.5))
    return np.sum(y)


def largest_of_products(y, k):
    s = 0.0
    for i in range(50):
        c = y * k - 0.1 * i * y
        s += np.max(c * k - y / 3.0 + c) * 0.9 ** i
    return s


def nested(y, k):
    """The inner loop compares a value of the outer one, which the outer reverse sweep computes anew."""
    s = 0.0
    for i in range(20):
        c = y[0] * k - 0.1 * i * y[1] + y[0] * 0.3
        m = max(c, y[1] - c)
        for j in range(3):
            if c == m:
                s += c * (j + 1.0)
            else:
                s += 3.0 * c - y[j % 2]
    return s


def schedule(y, k):
    """A switch whose argument meets the threshold but for rounding."""
    s = 0.0
    for i in range(10):
        t = k * i * 0.1 / k
        s += np.where(t >= 0.3, 5.0 * t * y[0] * k, t * y[1])
        s += np.floor(t * 10.0) * y[1] + np.sign(t - 0.3) * k * y[0] + (t * 10.0) % 1.0 * y[0]
    return s


def distances(y, k):
    """Differences and quotients of numbers in memory, many at the threshold but for rounding: the reverse sweep
    computes them anew."""
    grid = np.zeros(12)
    for i in range(12):
        grid[i] = 0.1 * k * i
    s = 0.0
    for i in range(len(grid)):
        for j in range(i):
            d = grid[i] - grid[j]
            q = (d - grid[1]) / grid[2]
            if q >= 0.5:
                s += d * y[0] * np.rint(q)
            s += np.maximum(d, grid[3]) * y[1] + np.floor(d / grid[1]) * y[0] * k
    return s


@pytest.mark.parametrize("f", [largest_of_products, nested, schedule, distances], ids=lambda f: f.__name__)
def test_reverse_sweep_takes_the_forward_decisions(f):
    """These functions are linear in y along every path, so that (Euler) their value is y times their gradient, on the
    path that was taken."""
    g = fad.jit(fad.value_and_grad(f, argnums=(0, 1)), compile="now")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y, k = rng.uniform(0.5, 2.0, 2), rng.uniform(1.0, 2.0)
        value, (gy, _) = g(y, k)
        np.testing.assert_allclose(y @ gy, value, rtol=1e-9)


def test_largest_error_is_found_again():
    y, k = np.array([1.0, 2.0]), 1.5
    gy, gk = fad.jit(fad.grad(adaptive, argnums=(0, 1)), compile="now")(y, k)
    forward = fad.jit(fad.jacfwd(adaptive, argnums=(0, 1)), compile="now")(y, k)
    np.testing.assert_allclose(gy, forward[0], rtol=1e-9)
    np.testing.assert_allclose(gk, forward[1], rtol=1e-9)


def real_for_numbers_alone(x):
    """NumPy's numbers multiply as C does, each product rounded; its loops over arrays round once, and leave a tiny
    imaginary part here."""
    z, s = x[0] + 1j * x[1], x @ x
    if (z * np.conj(z)).imag == 0.0:
        s = s * 3.0
    return s


@pytest.mark.parametrize("compile", ["never", "now"])
def test_complex_numbers_are_multiplied_as_numpys_numbers(compile):
    with fad.config.using(compile=compile, fallback=False):
        for x in np.random.default_rng(0).normal(size=(20, 3)):
            assert fad.jit(real_for_numbers_alone)(x) == pytest.approx(3.0 * x @ x)
            assert real_for_numbers_alone(x) == pytest.approx(3.0 * x @ x)
            np.testing.assert_allclose(fad.grad(real_for_numbers_alone)(x), 6.0 * x)
