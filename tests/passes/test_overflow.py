"""Python's ints beyond 64 bits: the answer is Python's, or there is none; what cannot leave 64 bits is not looked
at."""
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fad
from fad.util.errors import INTEGER_OVERFLOW, IntegerOverflowError, UnstageableError

X = np.array([0.3141593, -0.6180340, 0.8318531, 0.1414214, -0.2718282, 0.5498161])


def in_a_while(x):
    k, s = 1, x[0]
    while s < 20.0:
        k *= 10
        s += 1.0
    return x[0] * k


def in_nested_loops(x):
    k = 1
    for _ in range(10):
        for _ in range(len(x)):
            k *= 3
    return x[0] * k


def before_a_break(x):
    k = 1
    for i in range(100):
        k *= 3
        if x[0] * i > 25:
            break
    return x[0] * k


def by_data(x):
    k = 1
    for i in range(len(x) * 10):
        k *= 3 if x[i % 6] > 0 else 2
    return x[0] * k


def fibonacci(x):
    a, b = 0, 1
    while x[0] + b * 1e-30 < 2.0:
        a, b = b, a + b
    return x[0] * a


def power_of_an_extent(x):
    return x[0] * len(x) ** 40


def power_of_two(x):
    return x[0] * 2 ** (len(x) * 12) + x[1] * (1 << (len(x) * 12))


def product_of_three(x):
    k = 10**9 * len(x)
    return x[0] * (k * k * k)


def power_of_an_index(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * (i + 10) ** 20
    return s


def chosen_by_a_branch(x):
    k = 10**15 if x[0] > 0 else 7
    return x[0] * (k * k)


def bits(x):
    k = 0
    for _ in range(len(x) * 12):
        k = k << 1 | 1
    return x[0] * k


def taylor(x):
    s = 0.0
    for k in range(len(x) * 5):
        s += x[0] ** k / math.factorial(k)
    return s


def binomial(x):
    return x[0] * math.comb(len(x) * 14, 40) + x[1] * math.perm(len(x) * 5, 20)


def of_a_float(x):
    return x[1] * (int(x[0] * 1e8) ** 3 + math.floor(x[2] * 1e8) ** 3 + round(x[3] * 1e8) ** 3)


BEYOND = [in_a_while, in_nested_loops, before_a_break, by_data, fibonacci, power_of_an_extent, power_of_two,
          product_of_three, power_of_an_index, chosen_by_a_branch, bits, taylor, binomial, of_a_float]


@pytest.mark.parametrize("f", BEYOND, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.* runs step by step on the tape")
def test_beyond_64_bits(f):
    """The program refuses as it runs, by the interpreter and as text; the tape has Python's ints. All of these are
    linear in x but for one."""
    for policy in ("never", "now") if f is in_a_while else ("never",):
        with pytest.raises(IntegerOverflowError, match=INTEGER_OVERFLOW):
            fad.jit(f, fallback=False, compile=policy)(X)
    value, gradient = fad.value_and_grad(f)(X)
    assert value == pytest.approx(f(X), rel=1e-14)
    if f is not taylor:
        assert gradient @ X == pytest.approx(f(X), rel=1e-12)


@pytest.mark.filterwarnings("ignore:.* runs step by step on the tape")
def test_beyond_64_bits_in_a_later_call():
    """Calls after the first go a shorter way, with the same answer."""
    cubed = fad.jit(lambda t: math.floor(t) ** 3 * 1.0)
    assert [cubed(2.5), cubed(3.5), cubed(1e7)] == [8.0, 27.0, 1e21]


@pytest.mark.parametrize("compile", ["never", "now"])
def test_ints_beyond_64_bits_are_taken_and_returned(compile):
    f = fad.jit(lambda x, n: (x * n, n, n // 7, 10**30), compile=compile)
    for n in (3, 5, 2**64, 2**70, 7, -2**80):                # the first two show that n varies: it is an input then
        assert f(1.5, n) == (1.5 * n, n, n // 7, 10**30)


def flat_index(x):
    n, s = len(x), 0.0
    i = 0
    while i < n:
        for j in range(n):
            s += x[(i * n + j) % n] * (2 * i + 1)
        i += 1
    return s


def halved(x):
    lo, hi = 0, len(x)
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if x[mid] > 0.1:
            hi = mid
        else:
            lo = mid
    return x[lo] * lo


def random_numbers(x):
    state, s = 12345, 0.0
    for i in range(len(x)):
        state = (1103515245 * state + 12345) % 2147483648
        s += x[i] * (state / 2147483648)
    return s


def triangle(x):
    k, s = 0, 0.0
    for i in range(len(x)):
        for j in range(i):
            k += j
            s += x[j] * k
    return s


@pytest.mark.parametrize("f", [flat_index, halved, random_numbers, triangle], ids=lambda f: f.__name__)
def test_what_cannot_leave_64_bits_is_not_looked_at(f):
    assert INTEGER_OVERFLOW not in fad.source(fad.jit(f), X)
    assert fad.jit(f)(X) == pytest.approx(f(X), rel=1e-14)


def test_integers_of_numpy_wrap_around():
    def f(x):
        k = np.arange(len(x)) * 2**62
        return np.sum(x * (k % 5))
    assert fad.jit(f)(X) == pytest.approx(f(X), rel=1e-14)


def negative_powers(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * 2 ** (i - 3)
    return s


@pytest.mark.filterwarnings("ignore:.* runs step by step on the tape")
def test_an_int_to_a_negative_power_is_a_float():
    value, gradient = fad.value_and_grad(negative_powers)(X)
    assert value == pytest.approx(negative_powers(X), rel=1e-14)
    np.testing.assert_allclose(gradient, 2.0 ** (np.arange(6) - 3))
    with pytest.raises(UnstageableError, match="negative"):
        fad.jit(negative_powers, fallback=False)(X)


def test_an_integer_of_numpy_has_no_negative_powers():
    with pytest.raises(ValueError, match="negative integer powers"):
        fad.jit(lambda x: np.sum(x * 2 ** (np.arange(len(x)) - 3)))(X)


LARGE = 2 ** 61


@pytest.mark.parametrize("tier", ["never", "now"])
@pytest.mark.parametrize("number",
                         [1, 2 ** 60, 2 ** 62 - 1, 2 ** 62, 2 ** 63 - 1, 2 ** 63, -2 ** 62, -2 ** 63, 10 ** 30])
def test_large_ints_are_added_as_python_adds_them(number, tier):
    """A sum of two ints that programs take has 64 bits; larger ones are Python's own, as arguments and as state."""
    def f(x, n):
        return np.sum(x) * ((n + LARGE) // LARGE) + ((n - LARGE) + n) % 7
    o = SimpleNamespace(n=number)

    def counted(x):
        o.n = o.n + LARGE
        return np.sum(x) * (o.n // LARGE)
    x = np.ones(2)
    with warnings.catch_warnings(), fad.config.using(compile=tier):
        warnings.simplefilter("ignore", fad.FallbackWarning)
        g, h = fad.jit(f), fad.jit(counted)
        for n in (3, 5, number, 7, number):
            assert g(x, n) == f(x, n)
        for k in range(1, 5):
            assert h(x) == 2.0 * ((number + k * LARGE) // LARGE) and o.n == number + k * LARGE
