"""What is computed again instead of saved: functions and loops under fad.checkpoint, and derivatives within a memory
budget."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import fad
from fad.util.errors import ArgumentError, TapeMemoryError


def settle(x):
    for _ in range(5):
        x = np.sin(x)
    return x


def repeated(step):
    def f(x):
        for _ in range(40):
            x = step(x) + 0.1
        return x
    return f


def test_a_checkpointed_function_in_a_loop_is_computed_again():
    g = fad.grad(repeated(fad.checkpoint(settle)))
    assert re.search(r"np\.empty\(40\)", fad.source(g, 0.3))
    assert not re.search(r"np\.empty\(\(40, 5\)\)", fad.source(g, 0.3))
    np.testing.assert_allclose(g(0.3), fad.grad(repeated(settle))(0.3), rtol=1e-14)


def test_a_pullback_computes_checkpoints_again_in_its_second_step():
    value, pull = fad.vjp(repeated(fad.checkpoint(settle)), 0.3)
    np.testing.assert_allclose(pull(1.0)[0], fad.grad(repeated(settle))(0.3), rtol=1e-14)
    np.testing.assert_allclose(value, repeated(settle)(0.3))


# -- loops -----------------------------------------------------------------------------------------


def straight(x):
    y = x
    for _ in range(70):
        y = y + 0.1 * np.sin(y) * x
    return np.sum(y)


def nested(x):
    total = 0.0
    for i in range(12):
        y = x * (i + 1.0)
        for _ in range(9):
            y = np.tanh(y + total) * x
        total = total + np.sum(y)
    return total


def triangular(x):
    total = 0.0
    for i in range(9):
        for j in range(i):
            total = np.sin(total + x[i % 3] * x[j % 3])
    return total


def branching(x):
    y = x
    for i in range(40):
        if np.sum(y) > 1.5:
            y = np.sin(y) * x
        elif i % 3 == 0:
            y = y * 1.3 + x[0]
        else:
            y = y + x * y[::-1]
    return np.sum(y)


def ended_early(x):
    y = x
    for i in range(60):  # noqa: B007 - read after the loop
        y = y + 0.1 * np.exp(-y) * x
        if y[0] > 1.1:
            break
    return np.sum(y) * i


def unknown_length(x):
    y, n = x, 0
    while np.sum(y) < 20.0:
        y = y + 0.05 * np.cos(y) ** 2 + 0.1 * x
        n += 1
    return np.sum(y * x) + n


def changed_in_place(x):
    y = np.zeros(30)
    y[0] = x[0]
    for i in range(1, 30):
        y[i] = np.sin(y[i - 1]) * x[i % 3] + 0.5
    return np.sum(y ** 2)


def shrinking(x):
    y = np.concatenate((x, x * x, np.cos(x), np.exp(-x)))
    while y.shape[0] > 2:
        y = np.sin(y[1:] * y[:-1]) + 0.3
    return np.sum(y)


def backward(x):
    y = x
    for i in range(50, 3, -3):
        y = np.sin(y * i) + x
    return np.sum(y)


LOOPS = {straight: "3kB", nested: "4kB", triangular: "1kB", branching: "4kB", ended_early: "1500B",
         unknown_length: "2kB", changed_in_place: "3kB",
         shrinking: "10kB", backward: "1500B"}
X = np.array([0.5, 0.8, 0.3])


@pytest.fixture
def interpreted():
    with fad.config.using(compile="never"):
        yield


def assert_equal_within(f):
    (value, g), (expected, gradient) = fad.value_and_grad(f, memory=LOOPS[f])(X), fad.value_and_grad(f)(X)
    assert value == expected
    np.testing.assert_array_equal(g, gradient)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_a_budget_changes_no_bit(f, interpreted):
    assert_equal_within(f)


@pytest.mark.filterwarnings("error")                        # of kernels that cannot be compiled
@pytest.mark.parametrize("f", [nested, branching, unknown_length], ids=lambda f: f.__name__)
def test_a_budget_changes_compiled_results_by_rounding_at_most(f):
    """The compiler may associate the sums of two texts differently."""
    with fad.config.using(compile="now"):
        (value, g), (expected, gradient) = fad.value_and_grad(f, memory=LOOPS[f])(X), fad.value_and_grad(f)(X)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(g, gradient, rtol=1e-13)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_second_derivatives_within_a_budget(f, interpreted):
    expected = fad.hessian(f)(X)
    np.testing.assert_allclose(fad.hessian(f, memory="10kB")(X), expected, rtol=1e-12, atol=1e-13)


# reverse over reverse mode of its segments is a program that takes ten seconds to make
DEAR = pytest.param(shrinking, marks=pytest.mark.slow)


@pytest.mark.parametrize("f", [DEAR if f is shrinking else f for f in LOOPS], ids=lambda f: f.__name__)
def test_reverse_over_reverse_mode_within_a_budget(f, interpreted):
    expected, v = fad.hessian(f)(X), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(fad.vhp(f, X, v, memory="20kB"), v @ expected, rtol=1e-12, atol=1e-13)


def test_a_budget_is_a_matter_of_all_reverse_transforms(interpreted):
    g = fad.grad(straight)(X)
    np.testing.assert_array_equal(fad.vjp(straight, X, memory="3kB")[1](1.0)[0], g)
    np.testing.assert_array_equal(fad.jacrev(straight, memory="3kB")(X), g)
    np.testing.assert_array_equal(fad.grad(fad.jit(straight), memory=3000)(X), g)


@pytest.mark.parametrize("memory", ["many", "3 apples", 0, -5, 2.5, True, "0MB"])
def test_an_amount_that_is_none_says_so(memory):
    with pytest.raises(ArgumentError, match="amount of memory"):
        fad.grad(straight, memory=memory)


def test_a_budget_too_small_for_one_iteration_says_so():
    with pytest.raises(TapeMemoryError, match="too few for what a loop saves"):
        fad.grad(straight, memory="60B")(X)
    assert issubclass(TapeMemoryError, MemoryError)


def test_a_while_loop_whose_state_is_more_than_its_budget_is_refused():
    def f(x):
        y, k = x, 0
        while k < 100 and np.sum(y) < 1e9:
            y, k = np.sin(y) * x, k + 1
        return np.sum(y)
    x = np.full(100, 0.5)
    with pytest.raises(TapeMemoryError, match="too few for what a loop saves"):
        fad.grad(f, memory="1kB")(x)
    np.testing.assert_allclose(fad.grad(f, memory="30kB")(x), fad.grad(f)(x), rtol=1e-12)


def cholesky(a):
    low = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            s = a[i, j] - low[i, :j] @ low[j, :j]
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return np.sum(np.log(np.diag(low)))


def test_a_budget_too_small_for_what_a_loop_carries_says_so_however_much_an_iteration_saves(interpreted):
    """The inner loop's number of iterations depends on the outer one's, so that nobody knows what an iteration of the
    outer one saves."""
    a = np.cov(np.random.default_rng(1).standard_normal((12, 40)))
    with pytest.raises(TapeMemoryError, match="saves more in each"):
        fad.grad(cholesky, memory=720)(a)
    np.testing.assert_array_equal(fad.grad(cholesky, memory="200kB")(a), fad.grad(cholesky)(a))


def marked(x):
    y = x
    for _ in fad.checkpoint(range(100)):
        y = y + 0.1 * np.sin(y) * x
    for row in fad.checkpoint(np.outer(np.arange(9.0), x)):
        y = np.sin(y + row)
    return np.sum(y)


def test_a_marked_loop_saves_little():
    text = fad.source(fad.grad(marked), X)
    assert "np.empty((100, " not in text and re.search(r"np\.empty\(\(\w+, 3\)\)|np\.empty\(\(9, n\)\)", text)
    plain = fad.grad(lambda x: marked_not(x))
    np.testing.assert_array_equal(fad.grad(marked)(X), plain(X))
    assert marked(X) == marked_not(X)


def marked_not(x):
    y = x
    for _ in range(100):
        y = y + 0.1 * np.sin(y) * x
    for row in np.outer(np.arange(9.0), x):
        y = np.sin(y + row)
    return np.sum(y)


@pytest.mark.parametrize("loop", [lambda x, how: fad.fori_loop(0, 50, lambda i, y: np.sin(y) * x, x, checkpoint=how),
                                  lambda x, how: fad.while_loop(lambda y: np.sum(y) < 4.0,
                                                                lambda y: y + 0.05 * np.cos(y) * x, x,
                                                                checkpoint=how)])
def test_explicit_loops_may_be_marked(loop, interpreted):
    gradient = lambda how: fad.grad(lambda x: np.sum(loop(x, how)))(X)
    np.testing.assert_array_equal(gradient(True), gradient(False))


PEAK = '''
import numpy as np, fad


def simulate(x):
    y = x
    for _ in range(1_000_000):
        y = y + 0.001 * np.sin(y) * x
    return np.sum(y)


def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024


g, x = fad.grad(simulate, memory="20MB"), np.linspace(0.1, 1.0, 20)
g(x)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
g(x)
print(status("VmHWM") - before)
'''


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="measures by Linux's means")
def test_a_million_iterations_stay_within_their_budget(tmp_path):
    """Without a budget these take 320 MB."""
    program = tmp_path / "peak.py"
    program.write_text(PEAK)
    peak = subprocess.run([sys.executable, str(program)], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=200).stdout
    assert int(peak) < 20_000_000
