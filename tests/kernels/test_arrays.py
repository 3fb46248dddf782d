"""Arrays made in compiled code: NumPy's, without functions of Numba's to compile."""
import sys

import numba
import numpy as np
import pytest
from numba.core import event

from fad.kernels import arrays

DTYPES = [np.float64, np.float32, np.complex128, np.complex64, np.int64, np.int32, np.uint8, np.bool_]


def made(dtype):
    """Compiled makers of arrays of a dtype: of rank 1 and 2, empty, of zeros, full of a number."""
    value = dtype(1)

    @numba.njit
    def make(n, m):
        return (arrays.empty(n, dtype), arrays.empty((n, m), dtype), arrays.zeros(n, dtype),
                arrays.zeros((n, m), dtype), arrays.full((n, m), value, dtype))
    return make


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda t: t.__name__)
def test_arrays_are_numpys(dtype):
    for shape in ((3, 4), (1, 0)):
        *empty, row, matrix, full = made(dtype)(*shape)
        assert [y.shape for y in empty] == [shape[:1], shape]
        assert all(y.dtype == dtype and y.flags.c_contiguous for y in empty)
        np.testing.assert_array_equal(row, np.zeros(shape[0], dtype), strict=True)
        np.testing.assert_array_equal(matrix, np.zeros(shape, dtype), strict=True)
        np.testing.assert_array_equal(full, np.full(shape, 1, dtype), strict=True)


def test_dtypes_that_are_not_said_are_numpys():
    f = numba.njit(lambda n: (arrays.empty(n), arrays.zeros((n, 2)), arrays.full(n, 2.5), arrays.full((n, n), -1)))
    assert [y.dtype for y in f(2)] == [np.float64, np.float64, np.float64, np.int64]
    assert f(2)[2].tolist() == [2.5, 2.5] and f(2)[3].tolist() == [[-1, -1], [-1, -1]]
    assert arrays.zeros(2).tolist() == [0.0, 0.0] and arrays.full(1, 3).tolist() == [3]
    assert arrays.empty((2, 3)).shape == (2, 3)


def test_extents_that_cannot_be_are_refused():
    f = numba.njit(lambda n: arrays.zeros((n, n)))
    with pytest.raises(ValueError, match="negative"):
        f(-1)
    with pytest.raises(ValueError, match="too big"):
        f(2 ** 40)


def test_no_function_is_compiled_for_them():
    made(np.float64)(2, 2)                                   # what all arrays share: the allocator
    with event.install_recorder("numba:compile") as compiled:
        make = made(np.uint16)
        make(2, 2)
    assert {e.data["dispatcher"] for _, e in compiled.buffer} == {make}


@pytest.mark.parametrize("x", [np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.arange(8)[::2],
                               np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, ::2]])
def test_arrays_in_order_are_themselves_and_others_are_copied(x):
    """No function is compiled for it. The result is held as long as somebody has it."""
    with event.install_recorder("numba:compile") as compiled:
        f = numba.njit(lambda x: arrays.ascontiguousarray(x))
        y = f(x)
    assert {e.data["dispatcher"] for _, e in compiled.buffer} == {f}
    np.testing.assert_array_equal(y, x, strict=True)
    assert y.flags.c_contiguous and np.shares_memory(y, x) == x.flags.c_contiguous
    before = sys.getrefcount(x)
    del y
    for _ in range(100):
        f(x)
    assert sys.getrefcount(x) <= before
