"""Kernels on LU factors and the Sylvester equation: compiled as in plain Python."""
import numba
import numpy as np
import pytest

from fad.kernels import linalg

RNG = np.random.default_rng(7)


@numba.njit
def from_factors(a):
    lu, pivots = linalg.lu_factor(a)
    return linalg.lu_inv(lu,
                         pivots), linalg.lu_det(lu,
                                                pivots), linalg.lu_slogdet(lu, pivots), linalg.cofactors(a, lu, pivots)


@numba.njit
def cofactors(a):
    lu, pivots = linalg.lu_factor(a)
    return linalg.cofactors(a, lu, pivots)


@numba.njit
def rows_of(a):
    lu, pivots = linalg.lu_factor(a)
    return lu, linalg.permutation(pivots, a.shape[-2])


@numba.njit
def sylvester(a, b, q):
    return linalg.solve_sylvester(a, b, q)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)])
def test_one_factorization_serves_inverse_determinant_and_cofactors(shape):
    a = RNG.standard_normal(shape)
    inverse, det, (sign, log), c = from_factors(a)
    np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-9)
    np.testing.assert_allclose(det, np.linalg.det(a), rtol=1e-9)
    np.testing.assert_allclose(sign * np.exp(log), det, rtol=1e-9)
    np.testing.assert_allclose(c, np.asarray(det)[..., None, None] * np.swapaxes(inverse, -1, -2), rtol=1e-9)
    lu, pivots = linalg.lu_factor(a)
    np.testing.assert_allclose(linalg.lu_inv(lu, pivots), inverse, rtol=1e-9)
    np.testing.assert_allclose(linalg.cofactors(a, lu, pivots), c, rtol=1e-9, atol=1e-12)


def test_a_singular_matrix_has_cofactors():
    np.testing.assert_allclose(cofactors(np.array([[1.0, 2.0], [2.0, 4.0]])), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_a_tall_matrix_has_factors():
    a = RNG.standard_normal((5, 3))
    lu, order = rows_of(a)
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(5, 3)) @ np.triu(lu[:3]), a[order], rtol=1e-9)


@pytest.mark.parametrize("dtype", [float, complex])
def test_sylvester(dtype):
    a = (RNG.standard_normal((3, 3)) + 4 * np.eye(3)).astype(dtype)
    b = (RNG.standard_normal((2, 2)) + 4 * np.eye(2)).astype(dtype)
    q = RNG.standard_normal((3, 2)).astype(dtype)
    x = sylvester(a, b, q)
    np.testing.assert_allclose(a @ x + x @ b, q, rtol=1e-9)
    np.testing.assert_allclose(linalg.solve_sylvester(a, b, q), x, rtol=1e-9)
