"""The compiled sorts against NumPy: order, ties, nans, strides."""
import numpy as np
import pytest

from fad.kernels import sorting

from .support import jit

BOTH = jit(lambda x: (sorting.sort(x), sorting.argsort(x)))
SEARCH = jit(lambda a, v, right: sorting.searchsorted(a, v, right))


def values(dtype, shape):
    x = np.random.default_rng(0).integers(-20, 20, shape).astype(dtype)
    if np.issubdtype(dtype, np.inexact):
        x.flat[:: max(1, x.size // 9)] = np.nan
        x.flat[1:: max(1, x.size // 5)] = np.inf
    if np.issubdtype(dtype, np.complexfloating):
        x.flat[::7] += 1j * np.nan
        x.flat[::3] -= 2j
    return x


def check(x):
    in_order, order = BOTH(x)
    np.testing.assert_array_equal(in_order, np.sort(x))
    np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(sorting.sort(x), np.sort(x))
    np.testing.assert_array_equal(sorting.argsort(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.bool_])
def test_sort(dtype):
    for n in (0, 1, 2, 16, 17, 1000):
        check(values(dtype, (n,)))


def test_stacks_and_strides():
    check(values(np.float64, (3, 33)))
    check(values(np.float64, (50,))[::-3])


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int64])
@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(dtype, right):
    a, v = np.sort(values(dtype, (50,))), values(dtype, (4, 30))
    side = "right" if right else "left"
    np.testing.assert_array_equal(SEARCH(a, v, right), np.searchsorted(a, v, side))
    np.testing.assert_array_equal(sorting.searchsorted(a, v, right), np.searchsorted(a, v, side))
    assert SEARCH(a, v[1, 1], right) == np.searchsorted(a, v[1, 1], side)
