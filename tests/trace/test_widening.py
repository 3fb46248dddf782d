"""Loops that carry a value whose dtype widens: the first iteration is answered, and computes, in the dtype that plain
Python has there."""
import warnings

import numpy as np
import pytest

import fad
from fad.trace.tracing import trace

X = np.array([0.3, -1.2, 2.0, 0.7])
X32 = X.astype(np.float32)


def asks_whether_complex(x, n):
    t, count = 0.0, 0
    for k in range(4):
        count = count + np.iscomplexobj(t)
        t = t + 1j * x[k]
    return t, count


def asks_by_isinstance(x, n):
    t, out = 0, np.zeros(4)
    for i in range(4):
        for j in range(4):
            if isinstance(t, int):
                out[j] = out[j] + 1
        t = t + x[i]
    return out


def asks_in_a_helper(x, n):
    def factor(t):
        return 3.0 if np.issubdtype(t.dtype, np.floating) else 1.0
    t = np.float64(0)
    for k in range(4):
        t = t * factor(t) + x[k] * (1 + 1j)
    return t


def asks_result_type(x, n):
    t = 1
    for k in range(4):
        t = (t + 1j * x[k]) * (3 if np.result_type(t) == np.complex128 else 1)
    return t


def asks_in_a_list(x, n):
    t, out = 0.0, []
    for k in range(4):
        out.append(np.iscomplexobj(t))
        t = t + 1j * x[k]
    return np.array(out)


def adds_epsilons(x, n):
    t, s = np.zeros(2, np.float32), 0.0
    for k in range(4):
        s = s + np.finfo(t.dtype).eps * x[k]
        t = t + x[:2]
    return s


def makes_arrays_like_it(x, n):
    t, s = np.ones(4, int), 0.0
    for k in range(4):
        z = np.zeros_like(t)
        z[0] = 2.5
        s = s + z
        t = t * x[k]
    return s


def square_root_of_a_negative_number(x, n):
    t = 1.0
    for k in range(n):
        t = np.sqrt(t - 2.0) + 1j * x[k]
    return t


def power_of_a_negative_number(x, n):
    t = -4
    for k in range(4):
        t = np.power(t, 3) + 1j * x[k]
    return t


def rounds_in_float32(x, n):
    t = np.float32(0.1)
    for k in range(4):
        t = t * t + x[k]
    return t


def wraps_around(x, n):
    t = np.int8(100)
    for k in range(4):
        t = t * np.int8(2) + x[k]
    return t


def indexes_in_the_first_iteration(x, n):
    t, s = -2, 0.0
    for k in range(4):
        s = s + t // 2 + t % 3 + x[t if isinstance(t, int) else 0]
        t = t / 2 + x[k]
    return s


def until_it_is_complex(x, n):
    t = 0.5
    for k in range(n):
        t = np.sqrt(t - 2.0) + 1j * x[k] if np.iscomplexobj(t) else t + 1j * x[k]
        if abs(t) > 1.0:
            break
    return t


def in_a_while(x, n):
    t, k = -0.5, 0
    while k < n and abs(t) < 5:
        t = np.sqrt(t) + 1j * x[k] if np.iscomplexobj(t) else t + 1j * x[k]
        k += 1
    return t


def condition_that_asks(x, n):
    t, k = 0.5, 0
    while k < n and x[k] > -1.0 - np.iscomplexobj(t):
        t = t + 1j * x[k]
        k += 1
    return t


def handed_on_an_iteration_late(x, n):
    a, b, c = 1, 2, 0.5
    for k in range(4):
        a, b, c = b, c, c * x[k]
    return a * b * c + (isinstance(a, float) and 1)


def sizes_of_complex64(x, n):
    t, s = (x[:2] * (1 + 0.3j)).astype(np.complex64), np.zeros(2)
    for k in range(4):
        s = s + abs(t)
        t = t + x[k] * (1 + 1j) * np.ones(2)
    return s


def real_again(x, n):
    t = 1j
    for k in range(4):
        t = (t * t).real - x[k]
    return np.sqrt(t)


def an_int_after_all(x, n):
    best = 0.5
    for k in range(4):
        best = k
        if x[k] > 100:
            best = 7
    return best


PROGRAMS = [asks_whether_complex, asks_by_isinstance, asks_in_a_helper, asks_result_type, asks_in_a_list, adds_epsilons,
            makes_arrays_like_it, square_root_of_a_negative_number, power_of_a_negative_number, rounds_in_float32,
            wraps_around, indexes_in_the_first_iteration, until_it_is_complex, in_a_while, condition_that_asks,
            handed_on_an_iteration_late, sizes_of_complex64, real_again, an_int_after_all]


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f, n):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "overflow|invalid value", RuntimeWarning)
        wanted, found = f(X, n), fad.jit(f)(X, n)
    for a, b in zip(*[r if isinstance(r, tuple) else (r,) for r in (wanted, found)], strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(b, a, rtol=1e-13)


def count_loops(func):
    return sum((eqn.op.name in ("for", "while")) + sum(map(count_loops, eqn.regions)) for eqn in func.equations)


def total(x):
    s = 0
    for k in range(len(x)):
        s += x[k]
    return s


def mandelbrot(c):
    z, n = 0, 0
    while abs(z) < 2 and n < 30:
        z = z * z + c
        n += 1
    return n


def horner(x):
    y = 0.0
    for k in range(len(x)):
        y = y * 2 + x[k] / 3
    return y


def matrix_product(x):
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            s = 0
            for k in range(3):
                s += x[i] * x[j] * k
            out[i, j] = s
    return out


def mean_of_rows(x):
    s = np.zeros(2, int)
    for k in range(3):
        s = s + x[k:k + 2]
    return s // 1 / 3


@pytest.mark.parametrize("f, x, loops",
                         [(total, X, 1), (total, X32, 1), (total, X + 1j, 1), (mandelbrot, np.array(0.3 + 0.2j), 1),
                          (horner, X, 1), (horner, X32, 1),
                                         (matrix_product, X, 3), (mean_of_rows, X, 1)])
def test_what_widens_without_a_difference_is_one_loop(f, x, loops):
    assert count_loops(trace(f, [x]).func) == loops
    assert np.asarray(fad.jit(f)(x)).dtype == np.asarray(f(x)).dtype
    np.testing.assert_allclose(fad.jit(f)(x), f(x), rtol=1e-6)


def test_gradient_goes_through_the_iteration_that_is_peeled_off():
    def f(x, n):
        t = 1.0
        for k in range(n):
            t = np.sqrt(t + 2.0) * x[k] + 1j * x[k] if np.iscomplexobj(t) else t * x[k] + 2j * x[k]
        return t.real ** 2 + t.imag

    for n in (1, 2, 4):
        h = 1e-6
        differences = [(f(X + h * e, n) - f(X - h * e, n)) / (2 * h) for e in np.eye(4)]
        np.testing.assert_allclose(fad.grad(f)(X, n), differences, atol=1e-7)
