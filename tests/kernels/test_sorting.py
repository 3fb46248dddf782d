"""The compiled sorts against NumPy: order, ties, nans, strides."""
import numpy as np
import pytest

from fad.kernels import sorting

from .support import jit

ORDER = jit(lambda x: sorting.argsort(x))
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
    np.testing.assert_array_equal(ORDER(x), np.argsort(x, kind="stable"))
    np.testing.assert_array_equal(sorting.argsort(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.bool_])
def test_sort(dtype):
    for n in (0, 1, 2, 16, 17, 1000):
        check(values(dtype, (n,)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.uint64, np.uint8])
def test_long_rows_are_in_numpys_order(dtype):
    kind = np.iinfo if np.issubdtype(dtype, np.integer) else np.finfo
    edges = np.array([kind(dtype).min, kind(dtype).max, 0, 1, kind(dtype).max / 3], dtype)
    if kind is np.finfo:
        edges = np.concatenate([edges, -edges, [kind(dtype).tiny / 4, -np.inf, np.inf, np.nan, -np.nan]]).astype(dtype)
    for n in (101, 3000):
        check(np.random.default_rng(n).choice(edges, n))
        check(np.random.default_rng(n).standard_normal(n).astype(dtype))
    check(np.full(500, edges[1]))


def test_stacks_and_strides():
    check(values(np.float64, (3, 333)))
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


@pytest.mark.parametrize("right", [False, True])
def test_searches_in_rows_of_all_lengths(right):
    for n in [*range(1, 20), 63, 64, 65]:
        a = np.sort(np.random.default_rng(n).integers(0, n, n))
        v = np.arange(-1, n + 1)
        np.testing.assert_array_equal(SEARCH(a, v, right), np.searchsorted(a, v, "right" if right else "left"))
    assert SEARCH(np.empty(0), np.array([1.0]), right)[0] == 0
