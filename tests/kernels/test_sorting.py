"""The compiled sorts against NumPy: order, ties, nans, strides."""
import numpy as np
import pytest

from fad.kernels import sorting

from .support import jit

SORT, ARGSORT = jit(lambda x: sorting.sort(x)), jit(lambda x: sorting.argsort(x))
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(0,), (1,), (17,), (1000,), (3, 33)])
def test_sort(dtype, shape):
    x = values(dtype, shape)
    for given in (x, x[..., ::-1]):
        np.testing.assert_array_equal(SORT(given), np.sort(given))
        np.testing.assert_array_equal(ARGSORT(given), np.argsort(given, kind="stable"))
        np.testing.assert_array_equal(sorting.argsort(given), np.argsort(given, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.int64])
@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(dtype, right):
    a, v = np.sort(values(dtype, (50,))), values(dtype, (4, 30))
    side = "right" if right else "left"
    np.testing.assert_array_equal(SEARCH(a, v, right), np.searchsorted(a, v, side))
    np.testing.assert_array_equal(sorting.searchsorted(a, v, right), np.searchsorted(a, v, side))
    assert SEARCH(a, v[1, 1], right) == np.searchsorted(a, v[1, 1], side)
