"""The product of matrices in kernels is NumPy's, for every dtype of BLAS, order of memory and extent."""
import numba
import numpy as np
import pytest

from fad.kernels.arrays import dot
from fad.kernels.numba_pipeline import LeanCompiler

compiled = numba.njit(lambda a, b: dot(a, b), pipeline_class=LeanCompiler)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("m, k, n", [(3, 4, 5), (0, 3, 2), (3, 0, 2), (1, 7, 1)])
def test_products_are_numpys(dtype, m, k, n):
    rng, factor = np.random.default_rng(0), 1 + 2j if np.dtype(dtype).kind == "c" else 1
    a, b = ((rng.normal(size=shape) * factor).astype(dtype) for shape in ((m, k), (k, n)))
    tolerance = 1e-4 if dtype in (np.float32, np.complex64) else 1e-12
    for x in (a, np.asfortranarray(a)):
        for y in (b, np.asfortranarray(b)):
            got = compiled(x, y)
            assert got.dtype == dtype and got.shape == (m, n)
            np.testing.assert_allclose(got, x @ y, rtol=tolerance, atol=tolerance)


def test_extents_must_agree():
    with pytest.raises(ValueError, match="incompatible array sizes"):
        compiled(np.ones((2, 3)), np.ones((2, 3)))
