"""Powers of integers: NumPy's, to the last bit, whatever the version of Numba."""
import numpy as np
import pytest

import fad

INTEGERS = "bhilBHIL"
# Numba's own powers go by way of floats above 0x10000, and by 0.63 above 2**53
EXPONENTS = [0, 1, 2, 3, 7, 20, 39, 64, 100, 65537, 70000]


def _bases(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([0, 1, 2, 3, 5, 7, info.max, info.min, info.max - 2, info.min + 3], dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap_around_as_numpys_do(dtype):
    compiled = fad.jit(lambda x, n: x ** n, compile="now")
    x, n = (a.ravel() for a in np.meshgrid(_bases(dtype),
                                           np.array([n for n in EXPONENTS if n <= np.iinfo(dtype).max], dtype=dtype)))
    got, expected = compiled(x, n), x ** n
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("n", [2, 3, 20])
def test_known_exponents(dtype, n):
    x = _bases(dtype)
    got = fad.jit(lambda x: x ** n, compile="now")(x)
    np.testing.assert_array_equal(got, x ** n)
    assert got.dtype == (x ** n).dtype


@pytest.mark.parametrize("base, exponent",
                         [("int32", "int64"), ("uint8", "int64"), ("uint32", "uint8"), ("int8", "uint8"),
                          ("uint64", "uint32")])
def test_two_dtypes(base, exponent):
    x, n = _bases(base), np.arange(10).astype(exponent)
    got, expected = fad.jit(lambda x, n: x ** n, compile="now")(x, n), x ** n
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype
