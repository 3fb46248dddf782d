"""Loops in blocks: what a block saves is computed again, and the numbers are those of a whole tape."""
import numpy as np
import pytest

import fad
from fad.transforms import blocks

from ..bench.plain import durbin
from ..turns import in_turn

N = 300


@pytest.fixture(autouse=True)
def few_bytes(monkeypatch):
    """Blocks for tapes that would otherwise be too small for them."""
    monkeypatch.setattr(blocks, "LARGE", 1 << 17)
    monkeypatch.setattr(blocks, "SMALL", 1 << 8)


def burgers(u):
    for _ in range(150):
        u = u - 0.1 * u * (u - np.roll(u, 1))
    return np.sum(u ** 2)


def backwards(u):
    v = u.copy()
    for k in range(200, 3, -2):
        v = v + u[k] * v * v / (1.0 + k)
        v[k] = np.sum(v) / u.size
    return np.sum(v)


def counted(u):
    k, s, v = 0, 0.0, u * 1.0
    for i in range(5, 155):
        k += 2
        s = s + np.mean(v) * i
        v = v * (1.0 - 0.01 * v) + s * 1e-4 * u[k // 2]
    return np.sum(v * v) + s * 1e-3


def buffers(u):
    a, b = u.copy(), u * 0.5
    for _ in range(160):
        a, b = b, a + 0.02 * a * b
    return np.sum(a * b)


def nested(u):
    total = 0.0
    for j in range(3):
        v = u * (1.0 + j)
        for _ in range(120):
            v = v - 0.05 * v * v
        total = total + np.sum(v * v) / (1.0 + total)
    return total


def complex_state(u):
    z = u * (1.0 + 0.5j)
    for _ in range(130):
        z = z * (1.0 - 0.05 * z)
    return np.sum(np.abs(z) ** 2)


def two_prefixes(u):
    a, b = np.zeros(u.size), np.zeros(u.size)
    a[0], b[0] = u[0], 1.0
    for k in range(1, u.size):
        c = 0.05 * u[k]
        new = a[:k] + c * b[:k][::-1]
        b[:k] = b[:k] + c * a[:k][::-1] * b[:k]
        a[:k] = new
        a[k], b[k] = c, c * c
    return np.sum(a * b)


def with_a_hole(u):
    """An iteration leaves an element of what the next one saves as it is."""
    y = u * 0.5
    for k in range(1, u.size - 1):
        y[:k] += 0.1 * u[k] * y[:k][::-1] * y[:k]
        y[k + 1] = u[k]
    return np.sum(y * y)


def beyond_its_end(u):
    """An iteration writes elements that the next one does not save."""
    y = u * 0.5
    for k in range(1, u.size - 2):
        y[:k] += 0.1 * u[k] * y[:k][::-1] * y[:k]
        y[k] = 0.1 * u[k + 1]
        y[k + 1] = u[k] * u[k]
    return np.sum(y * y)


def shrinking(u):
    y = u * 1.0
    for k in range(1, u.size):
        y[:u.size - k] = y[:u.size - k] * (1.0 - 0.1 * y[:u.size - k])
    return np.sum(y * y)


# the last block has fewer iterations, and what those behind it would save has negative extents
def shrinking_grid(u):
    g = np.outer(u[:30], u[30:60])
    for k in range(g.shape[0]):
        for i in range(k + 1, g.shape[0]):
            g[k] *= 0.9
            for j in range(g.shape[1]):
                g[i, j] -= 0.1 * g[i, k] * g[-1, j]
    return np.sum(g * g)


def by_twos(u):
    y = u * 1.0
    for k in range(2, u.size - 1, 2):
        y[:k] = y[:k] * (1.0 - 0.1 * u[k] * y[:k][::-1])
        y[k:k + 2] = u[k] * u[k + 1]
    return np.sum(y * y)


def grid(u):
    g = u.reshape(6, 50) * 1.0
    for _ in range(150):
        g = g - 0.1 * g * (g - np.roll(g, 1, axis=0))
    return np.sum(g * g)


def in_place(u):
    v = u.copy()
    for k in range(140):
        v[1:-1] += 0.1 * (v[2:] - 2.0 * v[1:-1] + v[:-2]) * v[1:-1]
        v[0] = u[k]
        v[::2] *= 1.0 - 0.1 * v[::2]
    return np.sum(v * v)


def grid_in_place(u):
    g = u.reshape(6, 50) * 1.0
    for _ in range(150):
        g[1:-1, 1:-1] = g[1:-1, 1:-1] + 0.2 * g[:-2, 1:-1] * (g[1:-1, 2:] - g[1:-1, :-2])
        g[0] = g[-1] * 0.5
    return np.sum(g * g)


def two_saved(u):
    v = u * 1.0
    for _ in range(140):
        w = v * v + np.flip(u)
        v = v - 0.1 * w * w * v
    return np.sum(v * v)


def winners(u):
    v = u.copy()
    for _ in range(150):
        v = np.maximum(v * (1.01 - 0.02 * v), np.flip(u) * v)
    return np.sum(v * v)


PROGRAMS = [durbin, burgers, backwards, counted, buffers, nested, complex_state, two_prefixes, with_a_hole,
            beyond_its_end, shrinking, shrinking_grid, by_twos, grid, in_place, grid_in_place, two_saved]
VERSIONS = {durbin: 1, burgers: 1, backwards: 1, buffers: 1, two_prefixes: 1, with_a_hole: 0, beyond_its_end: 0,
            shrinking: 1, by_twos: 1, grid: 1, in_place: 1, grid_in_place: 1}


def _made(monkeypatch):
    made = []

    class Noted(blocks.BlockedSweeps):
        def __init__(self, *args):
            made.append(self)
            super().__init__(*args)
    monkeypatch.setattr("fad.transforms.loop_vjp.BlockedSweeps", Noted)
    return made


def _point():
    return np.random.default_rng(0).uniform(0.03, 0.3, N)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient_is_that_of_a_whole_tape(f, monkeypatch):
    x, made, g = _point() * (0.01 if f is durbin else 1.0), _made(monkeypatch), fad.grad(f)
    g.clear()
    in_blocks = g(x)
    assert made
    monkeypatch.setattr(blocks, "LARGE", 1 << 60)
    np.testing.assert_allclose(in_blocks, fad.grad(lambda x: f(x))(x), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("f", VERSIONS)
def test_rows_that_are_versions_of_the_rows_before(f, monkeypatch):
    made, g = _made(monkeypatch), fad.grad(f)
    g.clear()                                                # of programs that were made before
    g(_point())
    assert [len(blocks_of.again.versions) for blocks_of in made] == [VERSIONS[f]]


def test_rows_hold_the_version_that_the_last_iteration_leaves(monkeypatch):
    """The last iteration saves 296 numbers, a whole number of cache lines, and leaves 297."""
    x, made, g = _point()[:297], _made(monkeypatch), fad.grad(two_prefixes)
    g.clear()
    in_blocks = g(x)
    assert [blocks_of.again.versions and len(blocks_of.again.arrays) for blocks_of in made] == [2]
    monkeypatch.setattr(blocks, "LARGE", 1 << 60)
    np.testing.assert_allclose(in_blocks, fad.grad(lambda x: two_prefixes(x))(x), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("f", in_turn(PROGRAMS))
def test_second_derivatives(f):
    x = _point() * (0.01 if f is durbin else 1.0)
    v = np.random.default_rng(1).standard_normal(N) * np.linalg.norm(x) / N
    _, product = fad.jvp(fad.grad(f), (x,), (v,))
    step = 1e-4
    slope = (fad.grad(f)(x + step * v) - fad.grad(f)(x - step * v)) / (2 * step)
    np.testing.assert_allclose(product, slope, rtol=1e-5, atol=1e-6 * np.abs(product).max())


def test_reverse_over_reverse():
    x, v = _point(), np.linspace(-1.0, 1.0, N)
    twice = fad.grad(lambda x: fad.grad(burgers)(x) @ v)(x)
    np.testing.assert_allclose(twice, fad.jvp(fad.grad(burgers), (x,), (v,))[1], rtol=1e-9, atol=1e-12)


def test_what_decides_is_saved(monkeypatch):
    """The winner of a maximum must be the same on the way back, to the last bit."""
    made = _made(monkeypatch)
    x = _point()
    x[:100] = x[100:200]
    fad.grad(winners)(x)
    assert not made


def test_small_programs_have_no_blocks_and_are_traced_anew_for_large_arrays(monkeypatch):
    made, g = _made(monkeypatch), fad.grad(burgers)
    g.clear()
    g(np.linspace(0.1, 0.2, 20))
    assert not made
    g(np.linspace(0.1, 0.2, 3000))
    assert made


def test_a_budget_has_segments_instead(monkeypatch):
    made = _made(monkeypatch)
    fad.grad(burgers, memory="100kB")(_point())
    assert not made


def test_any_number_of_iterations():
    """A count that is known at run time only: how many numbers of the argument are positive."""
    def f(x):
        for _ in range(np.count_nonzero(x > 0)):
            x = x - 0.1 * x * np.flip(x)
        return np.sum(x * x)
    g = fad.grad(f)
    for iterations in (0, 1, 8, 63, 64, 65, 128, 200):
        x, v = np.where(np.arange(N) < iterations, 0.3, -0.02), np.linspace(0.5, 1.0, N)
        slope = (f(x + 1e-5 * v) - f(x - 1e-5 * v)) / 2e-5
        assert np.isclose(g(x) @ v, slope, rtol=1e-6)
