"""Draws whose number depends on data are the kernel's: values, slopes and the generators' states are Python's."""
import random
import time
import warnings

import numpy as np
import pytest

import fad
from fad.util.errors import FadError, FallbackWarning

from ..turns import in_tiers

X = np.array([0.4, 0.9, -0.3])
POINTS = [X, np.array([0.1, 1.4, 0.6]), X, np.array([-0.8, 0.7, 0.2])]
rng = np.random.default_rng(0)


class Chain:
    """A sampler with a generator, a step and a count."""

    def __init__(self):
        self.rng, self.step, self.accepted = np.random.default_rng(5), 0.5, 0

    def __call__(self, x):
        y, total = x[0], 0.0
        for _ in range(12):
            z = y + self.step * self.rng.normal()
            gain = (y - x[1]) ** 2 - (z - x[1]) ** 2
            if gain > 0 or self.rng.random() < np.exp(gain):
                y = z
                self.accepted += 1
            total += y * x[2]
        return total


def metropolis(x):
    y, total = x[0], 0.0
    for _ in range(12):
        z = y + 0.5 * rng.normal()
        gain = (y - x[1]) ** 2 - (z - x[1]) ** 2
        if gain > 0 or rng.random() < np.exp(gain):
            y = z
        total += y * x[2]
    return total


def gillespie(x):
    t, n, total = 0.0, 5.0, 0.0
    while t < 2.0 and n > 0:
        birth, death = 0.3 * n, 0.5 * n
        t += rng.exponential(1.0 / (birth + death))
        if rng.random() * (birth + death) < birth:
            n += 1.0
        else:
            n -= 1.0
        total += n * x[0] ** 2
    return total + t * x[1]


def rejection(x):
    total = 0.0
    for k in range(4):
        while True:
            u, v = rng.uniform(-1, 1), rng.uniform(-1, 1)
            if u * u + v * v < 1.0:
                break
        total += u * x[0] + v * x[k % 3] ** 2
    return total


def first_hit(x):
    y, n = x[0], 0
    while abs(y) < 2.0 and n < 50:
        y = y + 0.4 * rng.standard_normal() + 0.1 * x[1]
        n += 1
    return y * x[2] + n


def arrays_in_a_branch(x):
    if x[0] > 0.2:
        y = x + 0.1 * rng.normal(size=len(x))
    else:
        y = x * rng.random(3)
    return np.sum(y ** 2) + rng.random() * x[1]


def locations(x):
    if x[0] > 0.2:
        return rng.normal(x[1], x[1] ** 2) * x[2]
    return rng.uniform(x[0], 2.0) + rng.exponential(x[1])


def places(x):
    total = 0.0
    for _ in range(6):
        if total < 1.47:
            k = rng.integers(3)
            total += x[k] ** 2 + 0.3
    return total


def chosen_by_weights(x):
    w, total = np.ones(3) / 3, 0.0
    for _ in range(6):
        if total < 1.47:
            k = rng.choice(3, p=w)
            w[k] *= 0.5
            w /= w.sum()
            total += x[k] ** 2 + 0.3
    return total


def permuted(x):
    if x[0] > 0.2:
        y = rng.permutation(x)
    else:
        y = x.copy()
        rng.shuffle(y)
    return y @ np.array([1.0, 2.0, 3.0])


def counts(x):
    n, total = 20, 0.0
    for _ in range(5):
        if n > 3:
            n -= rng.binomial(n, 0.2)
        total += n * x[0]
    return total * x[1]


def of_the_module(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += np.random.rand() * v
        else:
            total += np.random.normal(v, 0.1) ** 2
    return total + random.random() * x[0]


def of_python(x):
    total = 0.0
    for v in x:
        if v > 0 and random.random() < 0.7:
            total += random.gauss(v, 0.1) ** 2
        else:
            total += random.uniform(0.0, 2.0) * v + random.randint(1, 6)
    return total


def with_a_seed(x):
    g, total = np.random.default_rng(7), 0.0
    for v in x:
        if v > 0 or g.random() < 0.5:
            total += g.normal() * v
    return total


def seeded_module(x):
    np.random.seed(3)
    total = 0.0
    for v in x:
        if v > 0 or np.random.rand() < 0.5:
            total += np.random.randn() * v
    return total


def before_and_behind(x):
    z = rng.normal(size=3)
    if z @ x > 0:
        z = z * rng.random()
    return (z + rng.normal(size=3)) @ x ** 2


def helper(v):
    return v * rng.random() if v > 0 else v - rng.normal()


def in_helpers(x):
    return sum([helper(v) for v in x]) ** 2


def in_a_test(x):
    n = 0
    while rng.random() < 0.8:
        n += 1
    return n * x[0] ** 2


def particles(x):
    p, w = x[0] + rng.normal(size=6), np.ones(6) / 6
    for _ in range(3):
        p = p + x[1] * rng.normal(size=6)
        w = w * np.exp(-0.5 * (p - x[2]) ** 2)
        w = w / np.sum(w)
        if 1.0 / np.sum(w ** 2) < 5.0:
            edges, u = np.cumsum(w), (rng.random() + np.arange(6)) / 6
            p = p[np.minimum(np.searchsorted(edges, u), 5)]
            w = np.ones(6) / 6
    return np.sum(w * p)


def a_count_with_a_rate(x):
    """As of a comparison with a drawn number, the derivative is that of the numbers at hand."""
    return x[1] * rng.poisson(np.exp(x[0]))


def leaping(x):
    s, i, total = 50, 5, 0.0
    for _ in range(4):
        new = rng.binomial(s, 1.0 - np.exp(-abs(x[1]) * i / 55.0))
        s, i = s - new, i + new - rng.binomial(i, 0.3)
        total += i * x[0]
    return total


FUNCTIONS = [metropolis, gillespie, rejection, first_hit, arrays_in_a_branch, locations, places, chosen_by_weights,
             permuted, counts, of_the_module, of_python, with_a_seed, seeded_module, before_and_behind, in_helpers,
             in_a_test, particles, a_count_with_a_rate, leaping]


def begin(seed=1):
    global rng
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    np.random.seed(seed)
    random.seed(seed)


def states():
    return str(rng.bit_generator.state), str(np.random.get_state()), random.getstate()


def put(found):
    rng.bit_generator.state = found[0]
    np.random.set_state(found[1])
    random.setstate(found[2])


def now():
    return rng.bit_generator.state, np.random.get_state(), random.getstate()


def slopes(f, x):
    """Differences with the same numbers drawn."""
    before, found = now(), []
    for h in 1e-6 * np.eye(len(x)):
        ends = []
        for y in (x + h, x - h):
            put(before)
            ends.append(f(y))
        found.append((ends[0] - ends[1]) / 2e-6)
    put(before)
    return found


def calls(f, run):
    """What a call gives and leaves, call by call."""
    begin()
    return [(run(x), states()) for x in POINTS]


@pytest.mark.parametrize("f, policy", in_tiers(FUNCTIONS))
def test_values_slopes_and_states_are_pythons(f, policy):
    expected = calls(f, lambda x: (slopes(f, x), f(x))[::-1])
    gradient = fad.value_and_grad(f, compile=policy, fallback=False)
    jitted = fad.jit(f, compile=policy, fallback=False)
    for ((value, slope), state), ((y, g), left), (z, left_by_jit) in zip(
        expected, calls(f, gradient), calls(f, jitted)
    ):
        np.testing.assert_allclose(y, value, rtol=1e-12)
        np.testing.assert_allclose(z, value, rtol=1e-12)
        np.testing.assert_allclose(g, slope, rtol=1e-5, atol=1e-6)
        assert left == state
        assert left_by_jit == state


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_further_transforms_draw_once(f):
    begin()
    f(X)
    left = states()
    for transform in (fad.jacfwd, fad.jacrev, fad.hessian):
        begin()
        made = transform(f, fallback=False)
        made(X)
        assert states() == left
    begin()
    expected = slopes(f, X)
    np.testing.assert_allclose(fad.jacfwd(f, fallback=False)(X), expected, rtol=1e-5, atol=1e-6)
    begin()
    value, pull = fad.vjp(f, X)
    np.testing.assert_allclose(pull(1.0)[0], expected, rtol=1e-5, atol=1e-6)


def test_state_of_an_object():
    expected, chain = Chain(), Chain()
    gradient = fad.value_and_grad(chain, fallback=False)
    for x in POINTS:
        assert gradient(x)[0] == pytest.approx(expected(x), rel=1e-12)
        assert chain.accepted == expected.accepted
        assert chain.rng.bit_generator.state == expected.rng.bit_generator.state
        chain.step *= 1.1
        expected.step *= 1.1
        if x is POINTS[1]:
            chain.rng, expected.rng = np.random.default_rng(9), np.random.default_rng(9)


def test_each_example_draws_in_turn():
    xs = np.stack(POINTS)
    begin()
    expected = [metropolis(x) for x in xs]
    left = states()
    begin()
    np.testing.assert_allclose(fad.vmap(metropolis, fallback=False)(xs), expected, rtol=1e-12)
    assert states() == left


def test_a_gradient_within_a_function():
    def step(x):
        y = x
        for _ in range(3):
            if rng.random() < 0.6:
                y = y - 0.1 * fad.grad(locations)(y)
        return np.sum(y ** 2)

    def by_hand(x):
        y = x
        for _ in range(3):
            if rng.random() < 0.6:
                y = y - 0.1 * np.array(slopes_once(locations, y))
        return np.sum(y ** 2)

    def slopes_once(f, x):
        found = slopes(f, x)
        f(x)
        return found
    for x in POINTS:
        begin()
        expected = by_hand(x)
        left = states()
        begin()
        assert fad.jit(step, fallback=False)(x) == pytest.approx(expected, rel=1e-5)
        assert states() == left


def test_an_unseeded_generator():
    def f(x):
        g, total = np.random.default_rng(), 0.0
        for v in x:
            if v > 0:
                total += v * g.random()
        return total
    gradient = fad.value_and_grad(f, fallback=False)
    (a, g), (b, h) = gradient(X), gradient(X)
    assert a == pytest.approx(g @ X)
    assert b == pytest.approx(h @ X)
    assert a != b
    assert g[2] == 0


def test_memory_is_bounded():
    """The reverse sweep draws no number again that it computes again."""
    begin()
    expected = slopes(metropolis, X)
    metropolis(X)
    left = states()
    begin()
    np.testing.assert_allclose(fad.grad(metropolis, memory=400, fallback=False)(X), expected, rtol=1e-5, atol=1e-6)
    assert states() == left

    def kept(x):
        return fad.checkpoint(metropolis)(x) ** 2
    begin()
    expected = slopes(kept, X)
    with warnings.catch_warnings():                           # state within `checkpoint` belongs to the tape
        warnings.simplefilter("ignore", FallbackWarning)
        np.testing.assert_allclose(fad.grad(kept)(X), expected, rtol=1e-5, atol=1e-6)
    assert states() == left


def test_an_error_of_a_draw_is_numpys():
    def f(x):
        if x[0] > 0:
            return x[0] * rng.choice(3, p=np.array([0.5, 0.5, 0.5]) * np.floor(x[1] + 1.0))
        return x[1]
    for policy in ("now", "never"):
        with pytest.raises(ValueError, match="Probabilities"):
            fad.grad(f, compile=policy)(X)


def test_other_numbers_with_a_parameter_that_moves_are_refused():
    def f(x):
        return x[1] * rng.gamma(np.exp(x[0])) if x[0] > 0 else x[1]
    begin()
    expected = f(X)
    begin()
    assert fad.jit(f, fallback=False)(X) == expected
    with pytest.raises(FadError, match="no derivative"):
        fad.grad(f)(X)


def test_a_clock_in_a_while_loop():
    def f(x):
        begun, n, y = time.perf_counter(), 0, x[0]
        while n < 60 or (time.perf_counter() - begun < 0.05 and n < 1_000_000):
            y, n = 0.5 * y + x[1], n + 1
        return y * x[2] + 0.0 * n
    for policy in ("now", "never"):
        value, g = fad.value_and_grad(f, compile=policy, fallback=False)(X)
        assert value == pytest.approx(2 * X[1] * X[2], abs=1e-6)
        np.testing.assert_allclose(g, [0, 2 * X[2], 2 * X[1]], atol=1e-6)
