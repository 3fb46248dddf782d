"""max and min of kernels: the numbers are Python's, and nothing else is compiled for them."""
import numba
import numpy as np
import pytest

from fad.kernels import extremes


def both(*args):
    return extremes.max(*args), extremes.min(*args)


@pytest.mark.parametrize("args", [
    (3, -4), (-4, 3), (2, 2), (2.5, 1), (1, 2.5), (np.int32(3), 4), (np.uint64(3), np.uint64(2**63 + 1)), (True, False),
    (3, 1, 2), (np.float32(0.5), 3), (np.nan, 1.0), (1.0, np.nan), (0.0, -0.0), (-0.0, 0.0)])
def test_the_numbers_are_pythons(args):
    expected = max(args), min(args)
    for found in (numba.njit(both)(*args), both(*args)):
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(np.array(found, float)), np.signbit(np.array(expected, float)))


def test_no_further_function_is_compiled():
    with numba.core.event.install_recorder("numba:compile") as compiled:
        numba.njit(both)(5, 7)
    assert len([event for _, event in compiled.buffer if event.is_start]) == 1
