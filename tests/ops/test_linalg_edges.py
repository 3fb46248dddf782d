"""Where linear algebra is not smooth, not defined, or not of the size it was traced at."""
import numpy as np
import pytest
import scipy.linalg as la

import fad.ops.table  # noqa: F401  # fills the table
from fad import jit
from fad.ir.walk import evaluate
from fad.trace.tracing import trace
from fad.transforms.jvp import jvp
from fad.transforms.vjp import vjp
from fad.util.errors import ExtentError, UnsupportedFunctionError

RNG = np.random.default_rng(5)


def gradient(f, *xs):
    """The gradients of a function with one real number as its result."""
    traced = trace(f, list(xs))
    given = [*xs, *traced.captured]
    out = evaluate(vjp(traced.func, range(len(xs))), [*given, np.float64(1.0)])[1:]
    return out[0] if len(xs) == 1 else out


def test_a_singular_matrix_has_the_gradient_of_its_determinant():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(gradient(np.linalg.det, a), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(gradient(np.linalg.det, np.zeros((2, 2))), np.zeros((2, 2)), atol=1e-12)


def test_a_singular_matrix_has_no_inverse_and_solves_nothing():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    for f in (np.linalg.inv, lambda a: np.linalg.solve(a, a), lambda a: la.solve_triangular(a * 0.0, a)):
        func = trace(f, [a]).func
        with pytest.raises(np.linalg.LinAlgError):
            evaluate(func, [a])


@pytest.mark.parametrize("ord", (None, 2, 3, 1, np.inf))
def test_the_gradient_of_a_norm_at_zero_is_zero(ord):
    np.testing.assert_array_equal(gradient(lambda x: np.linalg.norm(x, ord), np.zeros(3)), np.zeros(3))


def test_equal_eigenvalues_leave_the_gradient_of_their_functions_finite():
    g = gradient(lambda a: np.sum(np.linalg.eigh(a).eigenvalues ** 2), 2 * np.eye(3))
    np.testing.assert_allclose(g, 4 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(gradient(lambda a: np.sum(np.linalg.eigvalsh(a)), np.eye(3)), np.eye(3), atol=1e-12)


def test_equal_singular_values_leave_the_polar_factor_smooth():
    g = gradient(lambda a: np.sum(la.polar(a)[1]), np.eye(2))
    np.testing.assert_allclose(g, np.ones((2, 2)), atol=1e-8)          # for a = 1 + e: p = 1 + (e + e^T) / 2


def test_hermitian_gradients_are_hermitian():
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    for f in (np.linalg.cholesky, np.linalg.eigvalsh):
        g = gradient(lambda a, f=f: np.sum(f(a)), a)
        np.testing.assert_allclose(g, g.T, atol=1e-14)


def test_vectors_that_complete_a_basis_have_no_derivative_and_spoil_no_other():
    a = RNG.standard_normal((4, 2))
    reduced = gradient(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[0] ** 3), a)
    leading = gradient(lambda a: np.sum(np.linalg.svd(a)[0] ** 3 * np.array([1.0, 1.0, 0.0, 0.0])), a)
    np.testing.assert_allclose(leading, reduced, atol=1e-10)
    assert np.isnan(gradient(lambda a: np.sum(np.linalg.svd(a)[0] ** 3), a)).all()
    func = trace(lambda a: tuple(np.linalg.svd(a)), [a]).func
    du, ds, _ = evaluate(jvp(func, [0]), [a, np.ones((4, 2))])[3:]
    assert np.isnan(du[:, 2:]).all() and np.isfinite(du[:, :2]).all() and np.isfinite(ds).all()




@pytest.mark.parametrize("f",
                         (np.linalg.pinv, np.linalg.svdvals, lambda a: np.linalg.qr(a)[1], lambda a: la.lu(a)[2],
                          np.fft.rfft,
                               lambda a: np.fft.irfft(np.fft.rfft(a)), lambda a: np.linalg.lstsq(a, a, rcond=None)[0]))
def test_one_trace_serves_all_sizes_that_its_guards_allow(f):
    func = trace(f, [RNG.standard_normal((5, 3))]).func
    backward = vjp(func, [0])
    for shape in ((5, 3), (7, 4), (4, 2)):
        a = RNG.standard_normal(shape)
        y, = evaluate(func, [a])
        want = f(a)
        if shape[1] % 2 == 0 or y.shape == want.shape:
            np.testing.assert_allclose(np.abs(y), np.abs(want), atol=1e-9)
        assert evaluate(backward, [a, np.ones_like(y)])[1].shape == shape


@pytest.mark.parametrize("shape", [(400_000, 2), (2, 400_000)])
def test_the_pseudo_inverse_of_many_rows_makes_no_square_of_them(shape):
    a = RNG.standard_normal(shape)
    func = trace(np.linalg.pinv, [a]).func
    assert evaluate(vjp(func, [0]), [a, a.T])[1].shape == shape
    assert evaluate(jvp(func, [0]), [a, a])[1].shape == shape[::-1]


def test_wrong_shapes_are_refused():
    for f, shapes in ((np.linalg.inv, [(2, 3)]), (np.linalg.det, [(3,)]), (np.linalg.solve, [(3, 3), (4, 1)]),
                      (np.linalg.eigh, [(2, 5)])):
        with pytest.raises((np.linalg.LinAlgError, ExtentError, ValueError)):
            trace(f, [np.ones(s) for s in shapes])


def test_options_that_cannot_be_are_named():
    a = np.eye(3)
    for f, option in ((lambda a: np.linalg.qr(a, mode="raw"), "raw"),
                      (lambda a: la.eig(a, left=True), "left"),
                      (lambda a: la.eigh(a, subset_by_value=[0, 1]), "subset_by_value"),
                      (lambda a: la.logm(a, disp=False), "disp")):
        with pytest.raises(UnsupportedFunctionError, match=option):
            trace(f, [a])


def test_a_real_matrix_whose_root_is_complex_says_so():
    func = trace(la.sqrtm, [-np.eye(2)]).func
    with pytest.raises(np.linalg.LinAlgError, match="complex"):
        evaluate(func, [-np.eye(2)])


@pytest.mark.parametrize("f", [la.logm, lambda a: la.expm_frechet(a, a)[0], lambda a: la.schur(a)[0], la.hessenberg])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_single_precision_becomes_what_it_does_in_scipy(f):
    a = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], np.float32)
    y = jit(f)(a)
    assert y.dtype == f(a).dtype
    np.testing.assert_allclose(y, f(a), rtol=2e-3, atol=1e-3)


def test_single_precision_stays_single():
    a = (RNG.standard_normal((3, 3)) + 4 * np.eye(3)).astype(np.float32)
    p = a @ a.T
    for f, x in ((np.linalg.inv, a), (np.linalg.det, a), (np.linalg.cholesky, p), (np.linalg.eigvalsh, p), (la.expm, a),
                 (np.linalg.pinv, a),
                 (np.linalg.norm, a), (np.linalg.cond, a), (lambda a: np.linalg.solve(a, a), a),
                 (lambda a: np.linalg.norm(a, 3, axis=0), a)):
        func = trace(f, [x]).func
        y, = evaluate(func, [x])
        assert np.asarray(y).dtype == np.float32
        assert evaluate(vjp(func, [0]), [x, y])[1].dtype == np.float32


DEGENERATE = {"identity": np.eye(3), "zero": np.zeros((3, 3)), "two equal": np.diag([2.0, 1.0, 1.0]),
              "rank one": np.outer([1.0, 2, 3], [1.0, 1, 2]),
              "defective": np.eye(3) + np.eye(3, k=1), "singular": np.diag([2.0, 1.0, 0.0])}
_W = np.arange(9.0).reshape(3, 3) + 1


def _spectral(f):
    def of(a):
        w, v = np.linalg.eigh(0.5 * (a + a.T))
        return np.sum((v * f(w)) @ v.T * _W)
    return of


def _from_svd(a):
    u, s, vh = np.linalg.svd(a)
    return np.sum((u * s ** 2) @ vh * _W)


def _from_eig(a):
    w, v = np.linalg.eig(a)
    return np.sum(((v * w ** 2) @ np.linalg.inv(v)).real * _W)


def _without_signs(r):
    """LAPACK changes the sign of a column of q, and of the row of r, where nothing has to be eliminated."""
    return np.sum((r.T * np.arange(1.0, 4.0)) @ r * _W)


OF_MATRICES = {"eigh sqrt": _spectral(lambda w: np.sqrt(w + 1)), "eigh log": _spectral(lambda w: np.log(w + 1)),
               "eigh sum": _spectral(lambda w: w),
               "svd": _from_svd, "eig": _from_eig, "vectors": lambda a: np.sum(np.linalg.eigh(a + a.T)[1] ** 4),
               "det": np.linalg.det,
               "eigvals": lambda a: np.sum(np.linalg.eigvals(a) ** 2).real,
               "eigvalsh": lambda a: np.sum(np.linalg.eigvalsh(a + a.T) ** 3),
               "q": lambda a: _without_signs(np.linalg.qr(a)[0].T), "r": lambda a: _without_signs(np.linalg.qr(a)[1]),
               "expm": lambda a: np.sum(la.expm(a) * _W),
               "sqrtm": lambda a: np.sum(np.real(la.sqrtm(a)) * _W), "logm": lambda a: np.sum(np.real(la.logm(a)) * _W),
               "solve": lambda a: np.sum(np.linalg.solve(a, _W)), "norm": lambda a: np.sum(np.linalg.norm(a) ** 2)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("a", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("f", OF_MATRICES.values(), ids=OF_MATRICES)
def test_where_matrices_degenerate_a_gradient_is_the_true_one_or_nan(f, a):
    """The true one is that of differences, where these agree on both sides and at two steps; the others may be
    anything, but not finite."""
    try:
        with np.errstate(all="ignore"):
            forward = np.reshape(_partials(f, a), (3, 3))
            reverse = gradient(f, a)
            differences = np.reshape([_slopes(f, a, e.reshape(3, 3)) for e in np.eye(9)], (3, 3, 4))
    except np.linalg.LinAlgError:
        return
    exists = np.ptp(differences, axis=2) < 1e-2 * (1 + np.abs(differences[..., 0]))
    for got in (forward, reverse):
        finite = np.isfinite(got)
        assert exists[finite].all()
        np.testing.assert_allclose(got[finite], differences[..., 0][finite], rtol=1e-3, atol=1e-3)


def _partials(f, a):
    """The derivatives of f with respect to each element, by forward mode."""
    traced = trace(f, [a])
    forward = jvp(traced.func, [0])
    return [evaluate(forward, [a, *traced.captured, e.reshape(3, 3)])[-1] for e in np.eye(9)]


def _slopes(f, a, e):
    """The slopes to the right and to the left, at two steps."""
    here = f(a)
    return [(f(a + h * e) - here) / h for h in (1e-5, -1e-5, 4e-6, -4e-6)]


@pytest.mark.parametrize("f, raises",
                         [(lambda a, b: la.lstsq(a, b)[0], False),
                          (lambda a, b: la.lstsq(a, b)[0] + la.lstsq(a, b)[2], False),
                                       (lambda a, b: la.lstsq(a, b)[1], True)])
def test_a_residual_that_there_is_not_is_an_error_where_it_is_read(f, raises):
    full, deficient, b = np.array([[1.0, 2.0], [2.0, 5.0],
                                   [3.0,
                                    6.5]]), np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), np.array([1.0, 0.0, 3.0])
    g = jit(f, fallback=False)
    np.testing.assert_allclose(g(full, b), f(full, b), atol=1e-12)
    if not raises:
        np.testing.assert_allclose(g(deficient, b), f(deficient, b), atol=1e-12)
        return
    with pytest.raises(ValueError, match="rank is deficient"):
        g(deficient, b)


@pytest.mark.parametrize("tier", ["never", "now"])
def test_a_complex_root_of_a_real_matrix_wants_the_matrix_as_complex(tier):
    a = np.array([[1.0, 2.0], [3.0, -4.0]])
    with pytest.raises(np.linalg.LinAlgError, match=r"A \+ 0j"):
        jit(lambda a: la.sqrtm(a), compile=tier)(a)
    np.testing.assert_allclose(jit(lambda a: la.sqrtm(a + 0j), compile=tier)(a), la.sqrtm(a), rtol=1e-10)
