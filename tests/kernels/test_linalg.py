"""The compiled linear algebra against NumPy and SciPy: precisions, complex numbers, stacks, strides, errors."""
import itertools
import time

import numpy as np
import pytest
import scipy.linalg

from fad.ir.op import registry
from fad.kernels import linalg
from fad.kernels.elimination import SMALL

from ..turns import in_turn
from .support import jit

CASES = [(np.float64, (4, 4)), (np.float32, (2, 3, 4, 4)), (np.complex128, (4, 4)), (np.complex64, (2, 4, 4))]
ROWS = [3, 5]  # fewer and more than the columns


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


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 0))
def test_general(dtype, shape):
    f = jit(lambda a: ((linalg.inv(a), linalg.det(a)), linalg.slogdet(a), linalg.lu_factor(a)))
    a = matrix(dtype, shape)
    before = a.copy()
    for actual, expected in zip(f(a), ((linalg.inv(a), linalg.det(a)), linalg.slogdet(a), linalg.lu_factor(a))):
        close(actual, tuple(expected), dtype)
    close(linalg.lu_factor(a)[0][(0,) * (a.ndim - 2)], scipy.linalg.lu_factor(a[(0,) * (a.ndim - 2)])[0], dtype)
    np.testing.assert_array_equal(a, before)  # inputs stay as they are


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 1))
def test_hermitian(dtype, shape):
    a = hermitian(dtype, shape)
    cholesky, values, (w, v) = jit(lambda a: (linalg.cholesky(a), linalg.eigvalsh(a), linalg.eigh(a, False, False)))(a)
    close(cholesky, linalg.cholesky(a), dtype)
    close(values, linalg.eigvalsh(a), dtype)
    close(w, linalg.eigh(a, False, False)[0], dtype)
    close(v * w[..., None, :] @ adjoint(v), a, dtype)


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 0))
def test_eig(dtype, shape):
    a = matrix(dtype, shape)
    (w, v), values = jit(lambda a: (linalg.eig(a), linalg.eigvals(a)))(a)
    close(a @ v, v * w[..., None, :], dtype, 1000)
    close(np.linalg.norm(v, axis=-2), np.ones(w.shape, w.real.dtype), dtype)
    close(np.sort_complex(values), np.sort_complex(w), dtype, 1000)
    assert w.dtype == np.result_type(dtype, np.complex64)


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 1))
def test_qr(dtype, shape):
    f = jit(lambda a: linalg.qr(a))
    for rows in ROWS:
        a = matrix(dtype, (*shape[:-2], rows, 4))
        close(f(a), tuple(np.linalg.qr(a)), dtype)
        close(linalg.qr(a), tuple(np.linalg.qr(a)), dtype)


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 0))
def test_order_of_columns(dtype, shape):
    f = jit(lambda a: linalg.qr_order(a))
    for rows in ROWS:
        a = matrix(dtype, (*shape[:-2], rows, 4)) * np.array([0.5, 2.0, 1.0, 4.0], np.dtype(dtype).type(0).real.dtype)
        order = scipy.linalg.qr(a, mode="r", pivoting=True)[1]
        assert f(a).dtype == linalg.qr_order(a).dtype == np.int32
        np.testing.assert_array_equal(f(a), order)
        np.testing.assert_array_equal(linalg.qr_order(a), order)


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 1))
def test_svd(dtype, shape):
    f = jit(lambda a: (linalg.svd(a), linalg.svdvals(a)))
    for rows in ROWS:
        a, k = matrix(dtype, (*shape[:-2], rows, 4)), min(rows, 4)
        (u, s, vh), values = f(a)
        close(u * s[..., None, :] @ vh, a, dtype)
        close(s, np.linalg.svd(a, compute_uv=False), dtype)
        close(values, s, dtype)
        assert [x.shape[len(shape) - 2 :] for x in (u, s, vh)] == [(rows, k), (k,), (k, 4)]


@pytest.mark.parametrize(
    "dtype, left, right",
    [
        (np.float64, (4, 4), (4,)),
        (np.float32, (2, 3, 4, 4), (2, 3, 4, 2)),
        (np.complex128, (4, 4), (3, 4, 2)),  # one matrix for a stack of right sides
        (np.complex64, (2, 4, 4), (4,)),
    ],
)
def test_solve(dtype, left, right):
    a, b = matrix(dtype, left), matrix(dtype, (1, *right))[0]
    lu, pivots = linalg.lu_factor(a)
    f = jit(lambda a, lu, pivots, b: (linalg.solve(a, b), linalg.lu_solve(lu, pivots, b, 2)))
    x, y = f(a, lu, pivots, b)
    close(x, np.linalg.solve(a, b), dtype, 1000)              # NumPy solves in double precision
    close(linalg.solve(a, b), np.linalg.solve(a, b), dtype)
    close(y, np.linalg.solve(adjoint(a), b), dtype, 1000)
    close(y, linalg.lu_solve(lu, pivots, b, 2), dtype)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("transpose", [0, 1, 2])
def test_lu_solve(transpose, compiled):
    a, b = matrix(np.complex128, (5, 5)), matrix(np.complex128, (5, 3))
    lu, pivots = linalg.lu_factor(a)
    f = jit(lambda lu, pivots, b, t: linalg.lu_solve(lu, pivots, b, t)) if compiled else linalg.lu_solve
    close(f(lu, pivots, b, transpose), np.linalg.solve((a, a.T, adjoint(a))[transpose], b), np.complex128)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_loops_and_lapack_agree(dtype):
    """On both sides of the size up to which matrices are eliminated in loops."""
    f = jit(lambda a, h, b: (linalg.inv(a), linalg.det(a), linalg.slogdet(a), linalg.solve(a, b), linalg.cholesky(h)))
    t = jit(lambda a, b, lower, transpose: linalg.triangular_solve(a, b, lower, transpose, False))
    for n, k in ((1, 3), (SMALL, 1), (SMALL, 3), (SMALL + 1, 1), (SMALL + 1, 3)):
        a, b, h = matrix(dtype, (n, n)) + n * np.eye(n), matrix(dtype, (n, k)), hermitian(dtype, (n, n))
        got, want = f(a, h, b), (np.linalg.inv(a), np.linalg.det(a), np.linalg.slogdet(a), np.linalg.solve(a, b))
        for x, y in zip(got, (*want, np.linalg.cholesky(h))):
            np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-11, atol=1e-13)
        for lower, transpose in itertools.product((True, False), (0, 1, 2)):
            x = scipy.linalg.solve_triangular(a, b, transpose, lower)
            np.testing.assert_allclose(t(a, b, lower, transpose), x, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("n, k", [(5, 3), (30, 1)])
def test_small_systems_are_solved_in_the_calling_thread(n, k):
    a, b = matrix(np.float64, (n, n)), matrix(np.float64, (n, k))
    lu, pivots = linalg.lu_factor(a)
    f = jit(lambda lu, pivots, b: linalg.lu_solve(lu, pivots, b, 0))
    triangular = registry["triangular_solve"].run
    for solve in (f, lambda lu, pivots, b: linalg.lu_solve(lu, pivots, b, 0),
                  lambda lu, pivots, b: triangular(lu, b, lower=False, trans=0, unit=False)):
        solve(lu, pivots, b)
        assert any(_runs_in_this_thread(solve, lu, pivots, b) for _ in range(10))


def _runs_in_this_thread(solve, *args):
    """Whether no other thread works meanwhile. Threads of what ran before come to rest after a while."""
    mine, all_of_it = time.thread_time(), time.process_time()
    for _ in range(2000):
        solve(*args)
    mine, all_of_it = time.thread_time() - mine, time.process_time() - all_of_it
    return all_of_it < 1.3 * mine + 0.01


@pytest.mark.parametrize("dtype, shape", in_turn(CASES, 1))
def test_triangular_solve(dtype, shape):
    a, b = matrix(dtype, shape) + 4 * np.eye(4, dtype=dtype), matrix(dtype, (*shape[:-1], 2))
    f = jit(lambda a, b, lower, transpose, unit: linalg.triangular_solve(a, b, lower, transpose, unit))
    for lower in (True, False):
        for transpose in (0, 1, 2):
            for unit in (True, False):
                close(f(a, b, lower, transpose, unit), linalg.triangular_solve(a, b, lower, transpose, unit), dtype,
                      1e4)
    vector = b[(0,) * (b.ndim - 2)][:, 0].copy()
    close(f(a, vector, True, 0, False), linalg.triangular_solve(a, vector, True, 0, False), dtype)


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


# --- products and functions of matrices -----------------------------------------------------------------------------

PRODUCTS = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((60, 30), (30, 40)), ((60, 30), (30,)),
    ((2, 2, 3), (2, 3, 4)), ((2, 2, 3), (3,)), ((3,), (2, 3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)),
    ((0, 3), (3, 2)),
]  # fmt: skip
MATMUL = jit(lambda a, b: linalg.matmul(a, b))


def numbers(dtype, shape):
    return (10 * np.random.default_rng(0).normal(size=shape)).astype(dtype)


@pytest.mark.parametrize("left, right", PRODUCTS)
def test_matmul_shapes(left, right):
    a, b = numbers(float, left), numbers(float, right)
    close(MATMUL(a, b), a @ b, float, 1e4)
    close(linalg.matmul(a, b), a @ b, float)


@pytest.mark.parametrize(
    "left, right",
    [(np.float32, np.float32), (complex, complex), (np.int64, np.int64), (float, complex), (int, np.float32)]
)
def test_matmul_types(left, right):
    for m, k, n in ((2, 3, 4), (20, 30, 10)):
        a, b = numbers(left, (m, k)), numbers(right, (k, n))
        close(MATMUL(a, b), a @ b, np.float32 if right == np.float32 else float, 1e4)


def test_matmul_strides():
    a, b = numbers(float, (40, 60)), numbers(float, (60, 20))
    b = np.concatenate([b, b], 1)[:, ::2]
    for x, y in [(a[::2], b), (a[:, ::2], b[::2]), (a[::-1], b), (a[::2, :1], b[:1]),
                 (a[::2, ::3], b[::-3, ::2][:, :1])]:
        close(MATMUL(x, y), x @ y, float, 1e5)
    for x, y in [(a.T, a), (a, a.T)]:
        close(MATMUL(x, y), x @ y, float, 1e5)


def test_matmul_refuses_shapes_that_do_not_fit():
    for x, y in [((2, 3), (2, 3)), ((3,), (2,)), ((2, 2, 3), (3, 3, 2))]:
        with pytest.raises(ValueError, match="matmul"):
            MATMUL(np.ones(x), np.ones(y))


@pytest.mark.parametrize("name", ["expm", "sqrtm", "logm"])
@pytest.mark.parametrize("dtype, shape", [CASES[0], pytest.param(*CASES[3], marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:logm result")
def test_functions_of_matrices(name, dtype, shape):
    kernel = getattr(linalg, name)
    f = jit(lambda a: kernel(a))
    for scale in (0.01, 1, 30):
        a = matrix(dtype, shape) if name == "expm" else hermitian(dtype, shape)
        a = (scale * a).astype(dtype)
        expected, actual = kernel(a), f(a)
        assert actual.dtype == dtype
        assert np.abs(actual - expected).max() <= 1e4 * np.finfo(dtype).eps * np.abs(expected).max()


def test_a_real_matrix_without_a_real_root():
    a = np.diag([-1.0, -2.0])
    for f in (jit(lambda a: linalg.sqrtm(a)), linalg.sqrtm):
        with pytest.raises(np.linalg.LinAlgError, match="not real"):
            f(a)
