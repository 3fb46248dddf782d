"""The compiled linear algebra against NumPy and SciPy: precisions, complex numbers, stacks, strides, errors."""
import numpy as np
import pytest

from fad.kernels import linalg

from .support import jit

DTYPES = [np.float64, np.float32, np.complex128, np.complex64]
SHAPES = [(4, 4), (2, 3, 4, 4)]
CASES = [(d, s) for d in DTYPES for s in SHAPES if s == (4, 4) or d in (np.float64, np.complex64)]


def matrix(dtype, shape, seed=0):
    """A random stack, in the order of its transpose, so that it is not contiguous."""
    rng = np.random.default_rng(seed)
    shape = (*shape[:-2], shape[-1], shape[-2])
    a = rng.normal(size=shape)
    if np.issubdtype(dtype, np.complexfloating):
        a = a + 1j * rng.normal(size=shape)
    return np.swapaxes(a.astype(dtype), -1, -2)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(dtype, shape):
    a = matrix(dtype, shape)
    return a @ adjoint(a) + np.eye(shape[-1], dtype=dtype)


def close(actual, expected, dtype, factor=200):
    """Equal to rounding, with dtypes and shapes the same."""
    pairs = zip(actual, expected) if isinstance(expected, tuple) else [(actual, expected)]
    for x, y in pairs:
        x, y = np.asarray(x), np.asarray(y)
        assert x.shape == y.shape
        assert x.ndim == 0 or x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=factor * np.finfo(dtype).eps, atol=factor * np.finfo(dtype).eps)


def agree(kernel, *args, dtype):
    before = [np.copy(a) for a in args]
    compiled = {1: lambda a: kernel(a), 2: lambda a, b: kernel(a, b), 3: lambda a, b, c: kernel(a, b, c),
                4: lambda a, b, c, d: kernel(a, b, c, d), 5: lambda a, b, c, d, e: kernel(a, b, c, d, e)}[len(args)]
    result = jit(compiled)(*args)
    plain = kernel(*args)
    close(result, tuple(plain) if isinstance(plain, tuple) else plain, dtype)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)  # inputs stay as they are
    return result


@pytest.mark.parametrize("dtype, shape", CASES)
@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "lu_factor"])
def test_general(name, dtype, shape):
    agree(getattr(linalg, name), matrix(dtype, shape), dtype=dtype)


@pytest.mark.parametrize("dtype, shape", CASES)
@pytest.mark.parametrize("name", ["cholesky", "eigvalsh"])
def test_hermitian(name, dtype, shape):
    agree(getattr(linalg, name), hermitian(dtype, shape), dtype=dtype)


@pytest.mark.parametrize("dtype, shape", CASES)
def test_eigh(dtype, shape):
    a = hermitian(dtype, shape)
    w, v = jit(lambda a: linalg.eigh(a))(a)
    close(w, np.linalg.eigh(a)[0], dtype)
    close(v * w[..., None, :] @ adjoint(v), a, dtype)


@pytest.mark.parametrize("dtype, shape", CASES)
def test_eig(dtype, shape):
    a = matrix(dtype, shape)
    w, v = jit(lambda a: linalg.eig(a))(a)
    close(a @ v, v * w[..., None, :], dtype, 1000)
    close(np.linalg.norm(v, axis=-2), np.ones(w.shape, w.real.dtype), dtype)
    close(np.sort_complex(jit(lambda a: linalg.eigvals(a))(a)), np.sort_complex(w), dtype, 1000)
    assert w.dtype == np.result_type(dtype, np.complex64)


@pytest.mark.parametrize("rows", [3, 5])
@pytest.mark.parametrize("dtype, shape", CASES)
def test_qr(dtype, shape, rows):
    a = matrix(dtype, (*shape[:-2], rows, 4))
    agree(linalg.qr, a, dtype=dtype)


@pytest.mark.parametrize("rows", [3, 5])
@pytest.mark.parametrize("dtype, shape", CASES)
def test_svd(dtype, shape, rows):
    a = matrix(dtype, (*shape[:-2], rows, 4))
    u, s, vh = jit(lambda a: linalg.svd(a))(a)
    close(u * s[..., None, :] @ vh, a, dtype)
    close(s, np.linalg.svd(a, compute_uv=False), dtype)
    close(jit(lambda a: linalg.svdvals(a))(a), s, dtype)
    assert [x.shape[len(shape) - 2 :] for x in (u, s, vh)] == [(rows, min(rows, 4)), (min(rows, 4),), (min(rows, 4), 4)]


@pytest.mark.parametrize("dtype, shape", CASES)
@pytest.mark.parametrize("right", ["vector", "matrices", "matrix"])
def test_solve(dtype, shape, right):
    a = matrix(dtype, shape)
    b = {"vector": matrix(dtype, (1, 4))[0], "matrices": matrix(dtype, (*shape[:-1], 2)), "matrix": matrix(dtype, (3, 4, 2))}[right]
    if right == "matrix":
        a = a.reshape(-1, 4, 4)[0]
    agree(linalg.solve, a, b, dtype=dtype)
    lu, pivots = linalg.lu_factor(a)
    agree(linalg.lu_solve, lu, pivots, b, 2, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_triangular_solve(dtype, shape):
    a, b = matrix(dtype, shape) + 4 * np.eye(4, dtype=dtype), matrix(dtype, (*shape[:-1], 2))
    f = jit(lambda a, b, lower, transpose, unit: linalg.triangular_solve(a, b, lower, transpose, unit))
    for lower in (True, False):
        for transpose in (0, 1, 2):
            for unit in (True, False):
                close(f(a, b, lower, transpose, unit), linalg.triangular_solve(a, b, lower, transpose, unit), dtype, 1e4)
    agree(linalg.triangular_solve, a, b[(0,) * (b.ndim - 2)][:, 0], True, 0, False, dtype=dtype)


def test_errors_are_those_of_numpy():
    singular = np.ones((3, 3))
    for f, message in [
        (lambda a: linalg.inv(a), "Singular matrix"),
        (lambda a: linalg.solve(a, a), "Singular matrix"),
        (lambda a: linalg.cholesky(-a), "not positive definite"),
        (lambda a: linalg.svd(a * np.nan), "did not converge"),
        (lambda a: linalg.triangular_solve(a * 0, a, True, 0, False), "singular"),
    ]:
        for call in (jit(f), f):
            with pytest.raises(np.linalg.LinAlgError, match=message):
                call(singular)
    assert jit(lambda a: linalg.det(a))(np.zeros((3, 3))) == 0
    assert jit(lambda a: linalg.slogdet(a))(np.zeros((3, 3))) == (0, -np.inf)


def test_empty_stacks():
    a = np.empty((0, 3, 3))
    assert jit(lambda a: linalg.inv(a))(a).shape == (0, 3, 3)
    assert jit(lambda a: linalg.det(a))(a).shape == (0,)
