"""What compiled code does where Python would raise: indices out of range, reductions of nothing, assertions, Ctrl-C,
integer division."""
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import fad
from fad.util import memory
from fad.util.errors import TapeMemoryError

PROGRAM = '''
import signal
import fad
from fad.util import memory
from fad.util.errors import TapeMemoryError
signal.signal(signal.SIGINT, signal.default_int_handler)


def while_loop(x, n):
    while x < 10.0:
        x = x + 1e-30
    return x


def nested_loops(x, n):
    for i in range(n):
        for j in range(10000):
            x = x + 1e-30 * (i - j)
    return x


def long_iterations(x, n):
    a = b = c = x
    for i in range(n):
        for k in range(9):
            a, b, c = b * 0.5 + c, c * a, a - b / 3.0
            a, b, c = b * 0.5 + c, c * a, a - b / 3.0
        x = x + 1e-30 * a
    return x


g = fad.jit(LOOP, compile="now")
try:
    print(g(11.0, 0), g(11.0, 1) is not None, flush=True)
    g(0.0, 10 ** 13)
except KeyboardInterrupt:
    print("interrupted", g(12.0, 0), g.compilations)
'''


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("loop", ["while_loop", "nested_loops", "long_iterations"])
def test_a_compiled_loop_heeds_ctrl_c(loop, tmp_path):
    program = tmp_path / "endless.py"
    program.write_text(textwrap.dedent(PROGRAM.replace("LOOP", loop)))
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "11.0 True\n"
        time.sleep(1.0)                                       # it is in the loop by now
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=200)[0].startswith("interrupted 12.0")
        finally:
            process.kill()


def least_of_each(x):
    total = 0.0
    for k in range(x.shape[0]):
        total += np.min(x[:k])
    return total


def one_too_many(x):
    total = 0.0
    for k in range(x.shape[0] + 1):
        total += x[k]
    return total


def asserts(x):
    assert np.sum(x) < 3.0, "too large"
    return np.sum(x)


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("f, error, words",
                         [(least_of_each, ValueError, "min of no elements"), (one_too_many, IndexError, "index|axis"),
                                             (asserts, AssertionError, "too large")])
def test_what_raises_in_numpy_raises(f, error, words, compile):
    x = np.arange(4.0)
    with pytest.raises(error):
        f(x)
    for g in (fad.jit(f, compile=compile), fad.grad(f)):
        with pytest.raises(error, match=words):
            g(x)


def test_an_index_error_names_the_line():
    with pytest.raises(IndexError, match=r"total \+= x\[k\]"):
        fad.jit(one_too_many, compile="now")(np.arange(4.0))


# -- integers --------------------------------------------------------------------------------------

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def arithmetic(a, b):
    return (a + b, a - b, a * b, a // b, a % b, a / b, -a, np.abs(a), np.sum(a), np.prod(a), np.cumsum(a), a ** 2,
            a[0] + b[1], a[0] // b[0], a[0] % b[0], a * 3 + 1, a // 3, a % 3, abs(a[0]))


def edges(dtype, other):
    """Numbers at the ends of a dtype, and divisors: zeros and negative ones among them."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    signed = np.iinfo(other).min < 0
    divisors = [0, 0, 3, -1 if signed else 1, -3 if signed else 3, 0, 2, 5]
    return np.array([low, high, high, low, 7, 0, 3, high // 2 + 3], dtype), np.array(divisors, other)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("compile, dtypes", [("never", INTEGERS), ("now", [np.int8, np.int64, np.uint32, np.uint64])])
def test_integers_wrap_and_divide_as_in_numpy(dtypes, compile):
    for dtype in dtypes:
        for other in {dtype, np.int64}:
            a, b = edges(dtype, other)
            for y, expected in zip(fad.jit(arithmetic, compile=compile)(a, b), arithmetic(a, b)):
                assert np.asarray(y).dtype == np.asarray(expected).dtype
                np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_shifts_by_any_number_of_bits_are_numpys(compile):
    g = fad.jit(lambda a, b: (a << b, a >> b, a[0] << b[0], a << 3, a >> 1), compile=compile)
    for dtype in (np.int8, np.uint8, np.int64, np.uint64):
        info = np.iinfo(dtype)
        a = np.repeat(np.array([info.min, info.max, 5, info.min // 2], dtype), 6)
        b = np.tile(np.array([0, 1, info.bits - 1, info.bits, 100, 127 if info.min == 0 else -1], dtype), 4)
        for y, expected in zip(g(a, b), (a << b, a >> b, a[0] << b[0], a << 3, a >> 1), strict=True):
            np.testing.assert_array_equal(y, expected, strict=True)


def test_products_of_small_integers_wrap():
    a = np.array([127, -128, 3], np.int8)
    g = fad.jit(lambda a: (np.dot(a, a), np.dot(a, a) * 1.0, np.outer(a, a)), compile="now")
    for y, expected in zip(g(a), (np.dot(a, a), np.dot(a, a) * 1.0, np.outer(a, a)), strict=True):
        np.testing.assert_array_equal(y, expected, strict=True)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_ints_that_a_small_dtype_cannot_hold(compile):
    a = np.array([1, 2], np.uint8)
    order = lambda a: (a == 300, a < -1, a > 2 ** 40, a[0] < 300)
    for y, expected in zip(fad.jit(order, compile=compile)(a), order(a), strict=True):
        np.testing.assert_array_equal(y, expected, strict=True)
    for f in (lambda a: a + 300, lambda a: a * -1):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            fad.jit(f, compile=compile)(a)


def divided(x, a, b):
    total = np.sum(x)
    for k in range(x.size):
        if b != 0 and k % b == 1:
            total += x[k] * (a // b)
    return total + a // (b + 1)


def steps_of(x, k):
    return x[0] * (1 << k)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_pythons_integers_are_not_divided_by_zero(compile):
    x, g = np.arange(5.0), fad.jit(divided, compile=compile)
    for args in ((12, 2), (7, 3), (7, 0)):
        assert g(x, *args) == divided(x, *args)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        g(x, 7, -1)
    h = fad.jit(steps_of, compile=compile)
    assert [h(x + 1, 3), h(x + 1, 4)] == [8.0, 16.0]
    with pytest.raises(ValueError, match="negative shift"):
        h(x + 1, -1)


@pytest.mark.parametrize("compile", ["never", "now"])
def test_no_int_is_made_of_a_nan(compile):
    def binned(x):
        counts = np.zeros(4)
        for k in range(x.size):
            counts[int(4 * x[k])] += x[k]
        return counts
    x, g = np.array([0.1, 0.9, 0.5]), fad.jit(binned, compile=compile)
    np.testing.assert_array_equal(g(x), binned(x))
    with pytest.raises(ValueError, match="NaN"):
        g(np.array([0.1, np.nan, 0.5]))
    with pytest.raises(OverflowError, match="infinity"):
        fad.jit(lambda x: int(x[0]), compile=compile)(np.array([np.inf, 1.0]))
    with pytest.warns(fad.FallbackWarning):
        assert fad.jit(lambda x: int(x[0]), compile=compile)(np.array([1e30, 1.0])) == int(1e30)


# -- memory ----------------------------------------------------------------------------------------


def steps(x, n):
    for _ in range(n):
        x = np.sin(x) * x
    return np.sum(x)


def doubling(x):
    while np.sum(x) < 1e300:
        x = 1.0 + np.sin(x)
    return np.sum(x)


@pytest.mark.parametrize("compile", ["now", "never"])
def test_a_tape_that_would_not_fit_is_refused(compile):
    with fad.config.using(compile=compile):
        g, x = fad.grad(steps), np.full(1000, 0.5)
        expected = g(x, 3)
        np.testing.assert_array_equal(g(x, 4).shape, x.shape)
        for _ in range(2):
            with pytest.raises(TapeMemoryError, match=r"memory=.*fad\.checkpoint"):
                g(x, 10 ** 11)
        np.testing.assert_array_equal(g(x, 3), expected)


def test_a_stack_that_outgrows_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 100_000_000)
    with pytest.raises(TapeMemoryError, match="memory="):
        fad.grad(doubling)(np.full(1000, 0.5))


def test_what_is_available_is_known():
    assert 0 < memory.available() < 1 << 50


# -- indices ---------------------------------------------------------------------------------------


def strided(x, y, n):
    total = 0.0
    for k in range(n):
        total += x[2 * k + 1] * y[-1 - k]
    return total


def lines_of(text, what):
    return [line for line in text.splitlines() if what in line]


def test_checks_of_indices_on_a_line_stand_in_front_of_the_loop():
    x, y = np.arange(10.0), np.arange(5.0)
    g = fad.jit(strided, compile="now")
    for n in (3, 5, 0):
        assert g(x, y, n) == strided(x, y, n)
    for n in (6, 11):
        with pytest.raises(IndexError, match="total"):
            g(x, y, n)
    lines = fad.source(g, x, y, 4).splitlines()
    loop = next(k for k, line in enumerate(lines) if line.lstrip().startswith("for "))
    assert lines_of("\n".join(lines[:loop]), "IndexError") and not lines_of("\n".join(lines[loop:]), "IndexError")


@pytest.mark.parametrize("compile", ["now", "never"])
def test_checks_in_loops_within_loops(compile):
    def f(x, n):
        total = 0.0
        for i in range(n, 0, -1):
            for j in range(i):
                total += x[i - j] * x[-1 - j]
        return total
    x, g = np.arange(1.0, 5.0), fad.jit(f, compile=compile)
    assert [g(x, n) for n in (0, 2, 3)] == [f(x, n) for n in (0, 2, 3)]
    with pytest.raises(IndexError):
        g(x, 4)


def test_checks_can_be_switched_off():
    text = lambda: fad.source(fad.jit(lambda x, p: np.sum(x[p])), np.ones(3), np.array([0, 2]))
    assert "IndexError" in text()
    with fad.config.using(check_index=False):
        assert "IndexError" not in text()


@pytest.mark.parametrize("compile", ["now", "never"])
def test_index_out_of_range_names_the_line_in_every_tier(compile):
    def drift(y):
        total = 0.0
        for k in range(y.size):
            total += y[k + 1] - y[k]                         # the line to be named
        return total
    with fad.config.using(compile=compile), pytest.raises(IndexError, match=r"total \+= y\[k \+ 1\] - y\[k\]"):
        fad.jit(drift)(np.arange(4.0))


# (f, arguments that fit, arguments that do not, the error)
MISFITS = [
    (lambda x, p: x[p].sum(), (np.arange(5.0), np.array([1, 4], np.uint64)),
     (np.arange(5.0), np.array([1, 5], np.uint64)), IndexError),
    (lambda x, p: np.take(x, p).sum(), (np.arange(5.0), np.array([1, 4], np.uint64)),
     (np.arange(5.0), np.array([7], np.uint64)), IndexError),
    (lambda x, p: np.choose(p, [x, x + 1, x + 2]), (np.arange(2.0), np.array([2, 0])),
     (np.arange(2.0), np.array([1, -1])), ValueError),
    (lambda x, p: np.choose(p, [x, x + 1, x + 2]), (np.arange(2.0), np.array([2, 0])),
     (np.arange(2.0), np.array([1, 3])), ValueError),
    (lambda x, i: np.insert(x, i, 9.0), (np.arange(5.0), -5), (np.arange(5.0), -6), IndexError),
    (lambda x, i: np.insert(x, i, 9.0), (np.arange(5.0), 5), (np.arange(5.0), 6), IndexError),
    (lambda A, p: A[p, np.array([0, 1])].sum(), (np.ones((3, 4)), np.array([1, 2])),
     (np.ones((3, 4)), np.array([0, 1, 2])), IndexError)]


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("f, fits, misfits, error", MISFITS)
def test_what_indices_may_be(f, fits, misfits, error, compile):
    g = fad.jit(f, compile=compile)
    np.testing.assert_array_equal(g(*fits), f(*fits))
    for call in (f, g):
        with pytest.raises(error):
            call(*misfits)


def marks(x, mask):
    x[0] = 7.0
    x[mask] = 1.0


@pytest.mark.parametrize("compile", ["now", "never"])
def test_an_error_leaves_the_callers_array_as_it_was(compile):
    x, g = np.arange(5.0), fad.jit(marks, compile=compile)
    with pytest.raises(IndexError, match="boolean index"):
        g(x, np.ones(4, bool))
    np.testing.assert_array_equal(x, np.arange(5.0))
