"""Which numbers are Python's and which are NumPy's: what int, float, math and NumPy's functions make of traced scalars,
and how these promote."""
import math
import warnings

import numpy as np
import pytest

import fad
from fad.trace.regions import growth
from fad.util.errors import FallbackWarning

X = np.array([0.3, -1.2, 2.0])
X32 = np.array([0.1, 0.2, 0.3], np.float32)
A = np.array([3, -4, 7])
I8 = np.array([100, -3, 5], np.int8)
C64 = np.array([1 + 2j, 0.1j], np.complex64)



def long(x):
    return np.concatenate([x, x * 0.3 + 0.1, x * 0.7, x * 0.1])


def times_all(z, x):
    for v in x:
        z *= v
    return z


NUMBERS = {
    "float of a float64": lambda x, x32, a, i8, c64, s: float(x[0]) * x32,
    "float of a float32": lambda x, x32, a, i8, c64, s: float(x32[0]) + x32,
    "float of an int": lambda x, x32, a, i8, c64, s: float(a[0]) * x32,
    "an element": lambda x, x32, a, i8, c64, s: x[0] * x32,
    "int of an int64": lambda x, x32, a, i8, c64, s: int(a[0]) * x32,
    "an int64": lambda x, x32, a, i8, c64, s: a[0] * x32,
    "int of a small int": lambda x, x32, a, i8, c64, s: int(i8[0]) * 2,
    "a small int": lambda x, x32, a, i8, c64, s: i8[1] * 2,
    "int of a float": lambda x, x32, a, i8, c64, s: int(x[2]) + i8,
    "bool": lambda x, x32, a, i8, c64, s: bool(x[0]) + bool(x[1]),
    "a comparison": lambda x, x32, a, i8, c64, s: (x[0] > 0) + (x[1] < 0),
    "a comparison of Python's numbers": lambda x, x32, a, i8, c64, s: (s > 0) + (s > -1),
    "minus a comparison": lambda x, x32, a, i8, c64, s: -(s > 0),
    "and of comparisons": lambda x, x32, a, i8, c64, s: (s > 0) & (s > 1),
    "complex": lambda x, x32, a, i8, c64, s: complex(x[0]) * c64,
    "complex of two": lambda x, x32, a, i8, c64, s: complex(x[0], x[1]) * x32,
    "item": lambda x, x32, a, i8, c64, s: x[0].item() * x32,
    "item by number": lambda x, x32, a, i8, c64, s: x.item(1) * x32,
    "tolist": lambda x, x32, a, i8, c64, s: x.tolist()[1] * x32,
    "math of a float64": lambda x, x32, a, i8, c64, s: math.sin(x[0]) * x32,
    "math of a float32": lambda x, x32, a, i8, c64, s: math.exp(x32[0]) + math.hypot(x32[1], a[0]),
    "floor": lambda x, x32, a, i8, c64, s: math.floor(x[1]) * x32,
    "a ufunc of a Python float": lambda x, x32, a, i8, c64, s: np.sin(s) * x32,
    "a function of a Python float": lambda x, x32, a, i8, c64, s: np.round(s, 1) * x32,
    "a ufunc of Python ints": lambda x, x32, a, i8, c64, s: np.maximum(len(x), 2) * x32,
    "sum of small ints": lambda x, x32, a, i8, c64, s: sum(i8 + 60) + sum(x32),
    "size": lambda x, x32, a, i8, c64, s: np.size(x) * x32,
    "real part": lambda x, x32, a, i8, c64, s: np.real(s) * x32,
    "max of Python's floats": lambda x, x32, a, i8, c64, s: max(s, 0.0) * x32,
    "max with an element": lambda x, x32, a, i8, c64, s: max(x32[0], 0.0) * x32,
    "a complex number times an element": lambda x, x32, a, i8, c64, s: 1j * x[0] * c64,
    "an element times a complex number": lambda x, x32, a, i8, c64, s: x[0] * 1j * c64,
    "a complex number and elements": lambda x, x32, a, i8, c64, s: ((1j - x[0]) / x[1] + (1 + 1j) ** x[0]) * c64,
    "a traced complex number times an element": lambda x, x32, a, i8, c64, s: complex(x[0], 1) * x[1] * c64,
    "a complex number times a float32": lambda x, x32, a, i8, c64, s: 1j * x32[0] * x[0],
    "part of a complex number": lambda x, x32, a, i8, c64, s: (1j * x[0]).imag * x32,
    "a loop of complex numbers": lambda x, x32, a, i8, c64, s: times_all(1j, x) * c64,
    "math of a comparison": lambda x, x32, a, i8, c64, s: math.exp(x[0] > 0) + math.sin(bool(x[0])),
    "truth of a length": lambda x, x32, a, i8, c64, s: bool(len(x)) + 1,
    "points up to a float32": lambda x, x32, a, i8, c64, s: np.linspace(0, x32[1], 4),
    "plus a comparison": lambda x, x32, a, i8, c64, s: +bool(x[0]) * i8,
    "sum of Python's floats": lambda x, x32, a, i8, c64, s: sum([float(v) for v in long(x)]) * x32,
    "max of a list": lambda x, x32, a, i8, c64, s: max([float(v) for v in long(x)]) * x32,
    "max of a list of pairs": lambda x, x32, a, i8, c64, s: max([(float(v), k) for k, v in enumerate(long(x))])[1]
                                                            * x32,
    "sorted": lambda x, x32, a, i8, c64, s: sorted([float(v) for v in long(x)])[0] * x32
                                            + sorted([float(v) for v in x])[0],
    "sorted pairs": lambda x, x32, a, i8, c64, s: sorted([(float(v), 1.0) for v in long(x)])[0][0] * x32,
    "abs of a float": lambda x, x32, a, i8, c64, s: abs(float(x[1])) * x32,
    "round": lambda x, x32, a, i8, c64, s: round(float(x[1]), 1) * x32,
    "classes": lambda x, x32, a, i8, c64, s: np.array([isinstance(int(a[0]), int), isinstance(a[0], int),
                                                       type(float(x[0])) is float, type(x[0]) is float]),
}


@pytest.mark.parametrize("compile", ["now", "never"])
@pytest.mark.parametrize("f", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_promoted_as_in_python(f, compile):
    arguments = (X, X32, A, I8, C64, 0.1)
    wanted, found = f(*arguments), fad.jit(f, compile=compile)(*arguments)
    assert np.asarray(wanted).dtype == np.asarray(found).dtype
    assert isinstance(wanted, np.generic) == isinstance(found, np.generic)
    np.testing.assert_allclose(found, wanted, rtol=1e-15 if np.asarray(wanted).dtype.itemsize > 4 else 1e-6)


@pytest.mark.parametrize("f", [
    lambda x: math.sqrt(complex(x[0], 1)), lambda x: int(complex(x[0], 1)), lambda x: complex(x[0], 1) < 2,
    lambda x: +(x[0] > 0),
    lambda x: math.log(complex(x[0], 1))])
def test_what_python_refuses(f):
    for g in (f, fad.jit(f)):
        with pytest.raises(TypeError):
            g(X)


@pytest.mark.parametrize("f", [
    lambda x, x32: float(x[0]) * x32,
    lambda x, x32: float(x[0]) == np.float32(0.1),
    lambda x, x32: int(x[0] * 50) * x32,
    lambda x, x32: np.where(x32 > 0, float(x[0]), x32),
    lambda x, x32: math.sin(x[0]) + x[1].item() * x32[0]])
def test_examples_of_a_batch_are_promoted_each_by_itself(f):
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    wanted, found = np.array([f(row, X32) for row in rows]), fad.vmap(lambda row: f(row, X32))(rows)
    assert wanted.dtype == found.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


LARGE = {
    "int": lambda x: int(x[0]) % 7,
    "floor": lambda x: math.floor(x[0]) // 3,
    "round": lambda x: round(x[0]),
    "a power of an int64": lambda x: int(3 - np.argmax(x)) ** 45,
    "item": lambda x: np.argmin(x).item() + 10**18 * np.argmax(-x).item() * 30,
}


@pytest.mark.parametrize("f", LARGE.values(), ids=LARGE)
def test_ints_that_leave_64_bits_are_pythons_on_the_tape(f):
    x = np.array([1e30, 0.5])
    with pytest.warns(fad.FallbackWarning, match="64 bits"):
        assert fad.jit(f)(x) == f(x)
    assert fad.jit(f)(np.array([5.0, 6.0])) == f(np.array([5.0, 6.0]))


@pytest.mark.parametrize("value, error", [(np.nan, ValueError), (np.inf, OverflowError), (-np.inf, OverflowError)])
@pytest.mark.parametrize("f",
                         [lambda x: int(x[0]), lambda x: math.floor(x[0]), lambda x: math.ceil(x[0]),
                          lambda x: round(x[0])])
@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
def test_there_is_no_int_of_nan_or_infinity(f, value, error):
    with pytest.raises(error, match="cannot convert float"):
        fad.jit(f)(np.array([value]))


def test_truth_values_of_python_are_counted_in_loops():
    def f(x):
        t = True
        for k in range(3):
            t = t + (float(x[k]) > 0)
        t += t > 2
        return t * x

    assert fad.jit(f)(X32).dtype == np.float32
    np.testing.assert_array_equal(fad.jit(f)(X32), f(X32))


def test_gradient_goes_through_pythons_floats():
    def f(x):
        total = 0.0
        for k in range(3):
            total = total + math.sin(float(x[k])) * x[k].item() + complex(x[k], 2.0).real
        return total

    np.testing.assert_allclose(fad.grad(f)(X), np.cos(X) * X + np.sin(X) + 1.0, rtol=1e-13)
    np.testing.assert_allclose(fad.grad(f)(X32), np.cos(X32) * X32 + np.sin(X32) + 1.0, rtol=1e-6)
    assert fad.grad(f)(X32).dtype == np.float32


def not_of(x):
    return not x[0]


def all_of(x):
    return all([v > 0 for v in x]), all(x), any(x), all(v > 0 for v in x)      # noqa: C419


def counted_truths(x):
    return (not x[0]) + (not x[1] > 5) + all(v > 0 for v in x)


def close_to(x):
    return math.isclose(x[0], x[1])


def one_of(x):
    return (x[0] in (1.0, 2.0), x[0] not in [1.0, x[1]], x[2] in {0.5, 2.0}, 1 in [1, x[0]], 0.5 in x, x[0] in x[1:],
            x[1] not in x * 2)


def sorted_by_name(x):
    return sorted({"b": x[0], "a": x[1],
                   "c": x[2]}.items()), sorted([("b", x[0]), ("a", x[1])],
                                               reverse=True), min([("b", x[0]), ("a", x[1])])


def truth_of_sizes(x):
    return bool(len(x)), bool(len(x) - 1), not len(x), bool(x.ndim), bool(len(x) > 2)


@pytest.mark.parametrize("f", [truth_of_sizes, not_of, all_of, counted_truths, close_to, one_of, sorted_by_name])
def test_truth_values_and_names_are_pythons(f):
    for x in (np.array([1.0, 0.5, 2.0]), np.array([0.0, 2.0, 0.5])):
        result, expected = fad.jit(f, fallback=False)(x), f(x)
        assert result == expected and type(result) is type(expected)
        if isinstance(result, tuple):
            assert list(map(type, result)) == list(map(type, expected))


def ends_left_out(x):
    s = 0.0
    for i in range(len(x)):
        if i in (0, len(x) - 1):
            continue
        s += x[i] if i not in {1, 5} else 2.0 * x[i]
    return s


def test_an_index_that_is_one_of_some_leaves_the_loop_rolled():
    jitted = fad.jit(ends_left_out, fallback=False)
    for n in (4, 9):
        assert jitted(np.arange(1.0, n)) == ends_left_out(np.arange(1.0, n))
    assert "for " in fad.source(jitted, np.arange(1.0, 9))


def test_ints_that_no_iteration_multiplies_are_not_run_ahead(monkeypatch):
    def place_of_the_last(x, n):
        place = 0
        for t in range(n):
            place = t * t
        return x[0] * place
    iterations = []
    monkeypatch.setattr(growth, "_run", lambda eqn, env, run=growth._run: (iterations.append(eqn), run(eqn, env)))
    g = fad.jit(place_of_the_last)
    for n in (3, 4, 6):
        np.testing.assert_allclose(g(X, n), place_of_the_last(X, n), rtol=1e-14)
    assert len(iterations) < 100


@pytest.mark.parametrize("f", [
    lambda x: x.sum() if np.allclose(x, x[0]) is False else (x * x).sum(),
    lambda x: x.sum() if np.array_equal(x, x[0]) is False else (x * x).sum(),
    lambda x: (x * x).sum() if np.array_equiv(x, x) is True else x.sum(),
], ids=["allclose", "array_equal", "array_equiv"])
def test_answers_of_pythons_type(f):
    """NumPy gives a bool of Python's, which `is` finds."""
    for x in (np.array([1.0, 1.0]), np.array([1.0, 2.0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            assert fad.value_and_grad(f)(x)[0] == f(x)


@pytest.mark.parametrize("f", [lambda x, n: round(x, n), lambda x, n: np.round(x, n), lambda x, n: round(x, 2.0)])
def test_digits_are_integers(f):
    with pytest.raises(TypeError):
        f(1.234, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        with pytest.raises(TypeError):
            fad.grad(f)(1.234, 2.0)


POWERS = {
    "imag": lambda x: ((-x) ** 1.5).imag, "real": lambda x: ((-x) ** 0.7).real * x,
    "conjugate": lambda x: (pow(-x, 0.5) * 2).conjugate().imag, "exponent": lambda x: ((-2) ** x).imag,
    "isinstance": lambda x: (lambda r: x * 3 if isinstance(r, complex) else r)((1 - x) ** 0.5),
    "positive": lambda x: (x ** 0.5).imag + x ** 1.5, "whole": lambda x: ((-x) ** 3.0).real}


@pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
@pytest.mark.parametrize("name", POWERS)
def test_a_power_of_a_negative_float_is_complex_where_it_matters(name):
    f = POWERS[name]
    g = fad.value_and_grad(f)
    for x in (1.3, 0.4, 2.3):                                 # of compiled programs, too, which are left for the tape
        value, slope = g(x)
        np.testing.assert_allclose(value, f(x), 1e-12)
        np.testing.assert_allclose(slope, (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, 1e-6, 1e-8)
    if name not in ("positive", "whole"):
        with pytest.raises(fad.FadError, match="complex"):
            fad.grad(f, fallback=False)(1.3)
