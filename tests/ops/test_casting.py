"""Numbers that are written to arrays of another dtype, and ints of Python's beside small ints: what NumPy refuses is
refused, what it rounds or wraps is too."""
import warnings

import numpy as np
import pytest

import fad
from fad.ir.op import Op, registry

from ..turns import in_tiers

A, X = np.array([1, 2, 3]), np.array([0.5, np.nan, np.inf])
MASK = np.array([True, False, True])


def infinity_in_a_loop(a, x):
    for k in range(3):
        a[k] = np.inf if k > 1 else 3
    return a


def elements_in_a_loop(a, x):
    for k in range(3):
        a[k] = x[k]
    return a


def python_numbers(a, x):
    a[1] = float(x[1])
    return a


def a_number_to_a_slice(a, x):
    a[:2] = x[2]
    return a


def too_large_for_a_small_int(a, x):
    b = np.zeros(3, np.int8)
    for k in range(3):
        b[k] = a[k] * 100
    return b


def negative_in_an_unsigned_array(a, x):
    b = np.zeros(3, np.uint8)
    for k in range(3):
        b[k] = -k
    return b


def known_number_too_large(a, x):
    b = a.astype(np.int8)
    b[0] = np.int64(200)
    return b


def list_too_large(a, x):
    b = a.astype(np.int8)
    b[:] = [300, 1, 2]
    return b


def complex_in_a_real_array(a, x):
    x[0] = 1j
    return x


def traced_complex_in_a_real_array(a, x):
    x[0] = 1j * x[1]
    return x


def putmask_of_floats(a, x):
    np.putmask(a, MASK, x)
    return a


def place_of_floats(a, x):
    np.place(a, MASK, x)
    return a


def copyto_of_a_float(a, x):
    np.copyto(a, 2.5)
    return a


def sum_with_a_small_int(a, x):
    return a.astype(np.int8) + int(a[0]) * 200


def product_with_an_extent(a, x):
    return a.astype(np.int8) * (a.shape[0] * 100)


def scalar_with_an_index(a, x):
    s = np.uint8(0)
    for k in range(300):
        s = s * 0 + k
    return s


def in_place_with_a_small_int(a, x):
    b = a.astype(np.uint8)
    b -= int(a[0]) * 2 - 3
    return b


def ufunc_with_a_small_int(a, x):
    return np.maximum(a.astype(np.int8), int(a[0]) * 200)


def dot_into_another_dtype(a, x):
    return np.dot(a, a, out=np.empty(()))


REFUSED = [infinity_in_a_loop, elements_in_a_loop, python_numbers, a_number_to_a_slice, too_large_for_a_small_int,
           negative_in_an_unsigned_array, known_number_too_large, list_too_large, complex_in_a_real_array,
           traced_complex_in_a_real_array, putmask_of_floats, place_of_floats, copyto_of_a_float, sum_with_a_small_int,
           product_with_an_extent, scalar_with_an_index, in_place_with_a_small_int, ufunc_with_a_small_int,
           dot_into_another_dtype]


@pytest.mark.parametrize("f, compile", in_tiers(REFUSED))
def test_what_numpy_refuses(f, compile):
    with pytest.raises((TypeError, ValueError, OverflowError)) as wanted:
        f(A.copy(), X.copy())
    with pytest.raises(wanted.type):
        fad.jit(f, compile=compile)(A.copy(), X.copy())


def interpolation_at_complex_points(a, x):
    return np.interp(a * 1j, [0.0, 1.0], [2.0, 3.0])


def differences_of_bools(a, x):
    return np.ediff1d(a > 1)


def slope_of_bools(a, x):
    return np.gradient(a > 1)


def degrees_of_complex_numbers(a, x):
    return np.degrees(a * 1j)


def beginning_too_large(a, x):
    return np.max(a.astype(np.int8), initial=300)


@pytest.mark.parametrize("f",
                         [interpolation_at_complex_points, differences_of_bools, slope_of_bools,
                          degrees_of_complex_numbers, beginning_too_large],
                         ids=lambda f: f.__name__)
def test_arguments_that_numpy_refuses(f):
    with pytest.raises((TypeError, OverflowError)) as wanted:
        f(A, X)
    with pytest.raises(wanted.type):
        fad.jit(f, compile="never")(A, X)


RESULTS = {
    "a maximum that begins with a float": lambda a: np.max(a, initial=7.5),
    "a sum that begins with a float": lambda a: np.sum(a, initial=0.5),
    "a float32 sum that begins with a float64": lambda a: np.sum(a.astype(np.float32), initial=np.float64(0.1)),
    "a maximum of bools": lambda a: np.max(a > 1, initial=0),
    "counts of small ints": lambda a: np.bincount(a.astype(np.uint8)),
    "sinc of small ints": lambda a: np.sinc(a.astype(np.int8) / np.int8(2)) + np.sinc(a.astype(np.int16)),
    "i0 of small ints": lambda a: np.i0(a.astype(np.int16)),
    "rounded bools": lambda a: np.round(a > 1),
    "a range between float32": lambda a: np.arange(a[0].astype(np.float32), a[2].astype(np.float32)),
    "a convolution of bools": lambda a: np.convolve(a > 1, a > 0),
}


@pytest.mark.parametrize("f", RESULTS.values(), ids=RESULTS)
def test_dtypes_of_results(f):
    wanted, found = f(A), fad.jit(f, compile="never", fallback=False)(A)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12 if wanted.dtype == float else 1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32])
def test_compiled_powers_are_of_the_dtype_that_they_are_computed_in(dtype):
    """An int is a float before it is raised, and a float32 a float64, where NumPy makes them that."""
    def f(x):
        return x ** np.float64(0.5), x ** np.float64(2), x ** np.float64(4), np.power(x[0], np.float64(3)), x ** 4.0
    x = np.array([100, 3, 7], dtype) if dtype is not np.int64 else np.array([10 ** 6, 3, 7])
    x = x * dtype(0.1) if dtype is np.float32 else x
    for y, found in zip(f(x), fad.jit(f, compile="now")(x)):
        assert found.dtype == y.dtype
        np.testing.assert_allclose(found, y, rtol=1e-14 if y.dtype == float else 1e-6)


def elements_by_an_index_array(a, x):
    b = a.astype(np.int8)
    b[[0, 1]] = a[0] * 300
    return b


def copyto_of_a_large_scalar(a, x):
    b = a.astype(np.int8)
    np.copyto(b, np.int64(300))
    return b


def floats_that_are_cut_off(a, x):
    a[0], a[1:], a[[0]] = x[0] * 3, x[0] * 7, x[0] * 5
    return a


def negative_number_in_uint64(a, x):
    b = a.astype(np.uint64)
    b[0] = -a[0]
    return b


def truth_of_numbers(a, x):
    b = np.zeros(3, bool)
    b[0], b[1], b[2] = x[1], 1j * x[0], 0.0
    return b


def copyto_of_a_python_number(a, x):
    b = a.astype(np.float32)
    np.copyto(b, 2.5)
    np.copyto(b, 3, where=MASK)
    return b


def chosen_beside_small_ints(a, x):
    return np.where(MASK, a.astype(np.uint8), int(a[0]) * 300)


def compared_with_small_ints(a, x):
    return a.astype(np.uint8) > int(a[0]) * 300


def quotient_of_small_ints(a, x):
    return a.astype(np.int8) / (int(a[0]) * 300)


@pytest.mark.parametrize("f, compile", in_tiers(
    [elements_by_an_index_array, copyto_of_a_large_scalar, floats_that_are_cut_off, negative_number_in_uint64,
    truth_of_numbers, copyto_of_a_python_number, chosen_beside_small_ints, compared_with_small_ints,
    quotient_of_small_ints]))
def test_what_numpy_casts(f, compile):
    jitted = fad.jit(f, compile=compile, fallback=False)
    with np.errstate(all="ignore"):
        try:
            wanted = f(A.copy(), X.copy())
        except OverflowError:                                 # NumPy 2.5 of a Python int beyond the array's dtype
            with pytest.raises(OverflowError):
                jitted(A.copy(), X.copy())
            return
        found = jitted(A.copy(), X.copy())
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("count", [1, 2])
def test_every_function_of_bools_is_compiled(count):
    """All ops whose ufunc has a loop of bools have a text for them."""
    registry.rest()
    masks = [np.array([True, True, False, False]), np.array([True, False, True, False])][:count]
    ufuncs = {op.facts["ufunc"] for op in list(registry.values()) if isinstance(op, Op) and "ufunc" in op.facts}
    found = [f for f in ufuncs if any(t.partition("->")[0] == "?" * count for t in f.types)]
    assert len(found) > 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = fad.jit(lambda *args: [f(*args) for f in found], compile="now")(*masks)
    for f, result in zip(found, results):
        np.testing.assert_array_equal(result, f(*masks), err_msg=f.__name__)
        assert result.dtype == f(*masks).dtype, f.__name__


def test_a_choice_between_large_unsigned_ints_and_a_python_int_does_not_go_through_floats():
    a = np.array([2 ** 62 + 1, 1], np.uint64)

    def f(a, n):
        return np.where(a > 1, a, 3), np.where(a > 1, a, int(n)), np.select([a > 1], [a], 7)
    for found, wanted in zip(fad.jit(f, compile="now")(a, 5), f(a, 5), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
