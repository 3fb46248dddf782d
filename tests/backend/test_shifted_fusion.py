"""Loops that read each other's results at shifted places are one loop, whose iterations hand them on in registers."""
import re

import numpy as np
import pytest

import fad


def slope(x, y):
    return np.concatenate((x[:1], x[1:] * y[:-1]))


def runge_kutta(x):
    y = np.zeros_like(x)
    for _ in range(3):
        k = slope(x, y)
        l = slope(x, y + 0.05 * k)
        m = slope(x, y + 0.1 * l)
        y = y + 0.1 * (k + 2.0 * l + m)
    return np.sum(y * x)


def stencil(u):
    d = np.zeros_like(u)
    d[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return d


def diffusion(x):
    u = x
    for _ in range(3):
        k = stencil(u)
        l = stencil(u + 0.05 * k)
        u = u + 0.1 * stencil(u + 0.05 * l)
    return np.sum(u * u)


def periodic(x):
    u = x
    for _ in range(3):
        k = u - np.concatenate((u[-1:], u[:-1]))
        u = u + 0.1 * (k - np.concatenate((k[1:], k[:1])))
    return np.sum(u * u * x)


def ends(x):
    """The first and the last elements depend on what the loops make."""
    u, s = x, 0.5
    for _ in range(3):
        v = np.sin(u)
        w = v * s
        w[1:] = w[1:] - 0.5 * v[:-1]
        z = np.cos(w)
        z[0] = w[1] * v[0]
        z[-1] = 0.3 * w[-2]
        s = 0.5 * s + z[2]
        u = z[:] + 0.1 * w
    return np.sum(u) + s


def in_place(x):
    """What the time steps hand on is written while it is read."""
    u = x.copy()
    for _ in range(3):
        v = np.exp(-u[1:] * u[:-1])
        w = v[1:] - v[:-1]
        u[1:-1] += 0.1 * w
        u[0] = 0.5 * u[1]
    return np.sum(u * u)


SIZES = (1200, 3, 4, 5, 6, 7, 8)
PROGRAMS = [runge_kutta, diffusion, periodic, ends, in_place]


def joined(text):
    """The number of values that loops hand on in registers."""
    return len(set(re.findall(r"\w+_before\w*", text)))


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_gradients(f):
    """Short arrays, which are all ends, run in the kernel of a long one."""
    with fad.config.using(compile="now"):
        g = fad.value_and_grad(f)
        found = [g(np.linspace(0.1, 0.9, n)) for n in SIZES]
    with fad.config.using(compile="never"):
        for n, (value, gradient) in zip(SIZES, found):
            x = np.linspace(0.1, 0.9, n)
            np.testing.assert_allclose(value, f(x), rtol=1e-13)
            np.testing.assert_allclose(gradient, fad.grad(f)(x), rtol=1e-11, atol=1e-13)


def test_last_elements_are_read_in_the_loop():
    assert joined(fad.source(lambda x: ends(x), np.ones(1200)))


@pytest.mark.parametrize("f", [runge_kutta, diffusion])
def test_time_steps_are_one_loop(f):
    """In place of one for each operation and array."""
    text = fad.source(f, np.linspace(0.1, 0.9, 1200))
    body = text[text.index("for i in range(3):"):text.index("total")]
    assert joined(text) >= 2 and len(re.findall(r"^ {8}for ", body, re.MULTILINE)) == 3
    assert "np.empty" not in body


def test_elements_read_before_they_are_written():
    """The new values of u go to memory at once, so that the old ones must have been read."""
    def f(u):
        for _ in range(3):
            v = 2.0 * u[1:]
            w = v[1:] + v[:-1]
            u = u * 0.5
            u[:-2] += w * u[2:]
        return u
    x = np.linspace(0.1, 0.9, 40)
    np.testing.assert_allclose(fad.jit(f, compile="now")(x), f(x), rtol=1e-14)


def test_dtypes():
    """Registers begin as numbers of their array's dtype."""
    def f(x):
        a = x[1:] * x[:-1]
        b = a[1:] - a[:-1]
        return b[1:] + b[:-1]
    for dtype in (np.int64, np.int32, np.float32, np.complex128):
        x = np.arange(40).astype(dtype)
        found = fad.jit(f, compile="now")(x)
        assert found.dtype == dtype and np.array_equal(found, f(x))


def test_short_arrays_stay():
    """The ends would cost more than the loops save."""
    long, short = (joined(fad.source(fad.grad(lambda x: runge_kutta(x)), np.ones(n))) for n in (1200, 100))
    assert long > short + 4


@pytest.mark.parametrize("f", [
    lambda x: np.cumsum(x[1:]) * x[:-1],
    lambda x: x[1:] - x[:-1],
])
def test_what_saves_no_memory_stays(f):
    assert not joined(fad.source(f, np.ones(60)))
