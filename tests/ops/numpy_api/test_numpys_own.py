"""Calls that NumPy's and SciPy's own tests make, whose results differed (found by tests/fuzz/shadow.py)."""
import numpy as np
import pytest
import scipy.fft
import scipy.linalg as la
import scipy.special as sp
from scipy import integrate, interpolate, ndimage, signal, stats

import fad

from ...turns import in_tiers

V, NAN = np.array([0.5, 2.0, 1.0]), float("nan")

CALLS = {
    "hermitian svd": (lambda m: np.linalg.svd(m, hermitian=True), np.array([[1.0, 0.0], [0.0, 0.0]])),
    "cov of one row": (lambda m: np.cov(m, rowvar=False, ddof=0), np.ones((1, 3))),
    "unwrap, odd": (lambda p: np.unwrap(p, period=255), np.array([0, 75, 150, 225, 45])),
    "unwrap, even": (lambda p: np.unwrap(p, period=4), np.array([0, 2, 4, 6, 9, 1])),
    "trim no axis": (lambda x: np.trim_zeros(x, axis=()), np.array([0.0, 1.0, 0.0])),
    "small positions": (lambda i: np.ravel_multi_index(i, (100, 80)), np.array([[1, 90], [3, 70]], np.int8)),
    "unravelled": (lambda i: np.unravel_index(i, (10, 80)), np.array([1, 90], np.int8)),
    "det": (lambda a: la.det(a), np.eye(2, dtype=np.float32)),
    "wide polar": (lambda a: la.polar(a), np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]])),
    "points beside an infinity": (lambda y: np.interp([1.0, 2.0, 2.5, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], y),
                                  np.array([1.0, 2.0, np.inf, 4.0])),
    "complex nans": (lambda z: (np.nanmin(z), np.nanmax(z, initial=9.0)), np.array([NAN + 0j, 5.0, 6.0])),
    "edges in float32": (lambda x: np.histogram2d(x, x, 2)[1], V.astype(np.float32)),
    "Bessel functions of negative numbers": (
        lambda x: tuple(f(n, x, d) for f in (sp.spherical_jn, sp.spherical_yn, sp.spherical_in, sp.spherical_kn)
                        for n in (2, 3) for d in (False, True)), np.array([-1.5, -0.3, 2.0])),
    "imaginary parts on the diagonal": (lambda m: la.solveh_banded(m, V), np.array([[0.0, 1j, 0.5], [4 + 1j, 5, 6]])),
    "ends of a geometric sequence": (lambda x: np.geomspace(1 + 0 * x[1], 10 ** (6 * x[0]), 7, dtype=int), V * 2),
    "samples at one place": (lambda x: (integrate.simpson(x, x=[1.0, 1, 2]), integrate.simpson(x, x=[1.0, 1, 1]),
                                        integrate.simpson(np.append(x, x), x=[1.0, 2.0, 2.0, 3.0, 3.0, 3.0])), V),
    "perfect and constant correlation": (
        lambda x: (*stats.pearsonr(x[:2], x[1:]), *stats.pearsonr(x, 0 * x + 0.1),
                   *stats.pearsonr(x * 1e-200, x ** 2), np.stack(stats.linregress(x[:2], x[1:])[:4])), V * 1.1),
    "few chances in many trials": (lambda p: stats.binom.pmf([0, 1, 2], 15e14, p), np.array([1e-18])),
    "signals of integers": (lambda n: (signal.convolve(n, n[:2]), signal.correlate(n, n), signal.fftconvolve(n, n),
                                       signal.convolve2d(n[:, None], n[None])), np.array([3, 4, 5], np.int32)),
    "measures of integers": (lambda n: (ndimage.sum(n), ndimage.minimum(n, n > 3), ndimage.maximum(n)),
                             np.array([3, 4, 5], np.int8)),
    "ranks of large integers": (lambda n: stats.rankdata(n), 2 ** 60 + np.array([1, 0, 2])),
    "choices beside numbers": (lambda x: (np.choose([0, 1, 2], [x, 2, 4.0]), np.choose([1, 0], [2, 4 + 0 * x[:2]])),
                               V.astype(np.float32)),
    "spread without freedom": (lambda x: (stats.variation(x, ddof=3), stats.variation(x, ddof=4)), V),
    "responses in their dtype": (lambda b: (*signal.freqz(b * 1j, 1, np.array([0.1, 0.2])),
                                            *signal.freqz(b, np.float32(1), 3)), V.astype(np.float32)),
    "powers below the floats": (lambda x: np.array(stats.boxcox_llf(-8, x)), np.array([198.0, 233, 233, 392])),
    "shifts in single precision": (lambda z: ndimage.fourier_shift(z, 0.5), V.astype(np.complex64)),
    "many degrees of freedom": (lambda x: stats.chi.mean(1e14 * x), V),
    "one point": (lambda y: interpolate.interp1d([1.5], y, bounds_error=False, fill_value=(2, 10))(y), V[:1]),
    "tall polar, left": (lambda a: la.polar(a, "left"), np.array([[1.0, 2.0], [0.3, -1.0], [0.5, 2.0]])),
}


@pytest.mark.parametrize("name, compile", in_tiers(CALLS))
def test_results_and_dtypes(name, compile):
    f, x = CALLS[name]
    found, wanted = fad.jit(f, compile=compile)(x), f(x)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for got, want in pairs:
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        is_single = want.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(got, want, rtol=1e-5 if is_single else 1e-7, atol=1e-6 if is_single else 1e-12)


ERRORS = {
    "sides of zeros": (ValueError, lambda x: np.trim_zeros(x, "front")),
    "complex bins": (TypeError, lambda x: np.digitize(x, x * 1j)),
    "broken frequencies": (TypeError, lambda x: np.cov(x, fweights=x)),
    "negative weights": (ValueError, lambda x: np.cov(x, aweights=-x)),
    "negative length": (ValueError, lambda x: np.bincount([0, 1, 2], x, minlength=-1)),
    "nothing but nan": (ValueError, lambda x: np.nanargmin(x * (NAN + 0j))),
    "degrees of freedom twice": (ValueError, lambda x: np.nanvar(x, ddof=1, correction=1)),
    "a mask for indices": (IndexError, lambda x: np.take_along_axis(x, np.array([True, False, True]), 0)),
    "indices of two axes": (ValueError, lambda x: np.take_along_axis(x, np.array([[1], [0]]), None)),
    "an end of another kind": (TypeError, lambda x: np.ediff1d(np.array([1, 2]), to_end=x)),
    "a range backwards": (ValueError, lambda x: np.histogram(x, range=(x[1], x[0]))),
    "an endless range": (ValueError, lambda x: np.histogram(x / 0.0)),
    "edges in disorder": (ValueError, lambda x: np.histogram(x, x)),
    "too many bins": (ValueError, lambda x: np.histogram(1.0 + np.array([0.0, 2e-16]) + 0 * x[0], 10)),
    "a shape with a zero": (ValueError, lambda x: np.ravel_multi_index((x > 0, x > 0), (2, 0), mode="clip")),
    "no matrix": (ValueError, lambda x: np.poly(x[:0].reshape(0, 0))),
    "negative windows": (ValueError, lambda x: np.lib.stride_tricks.sliding_window_view(x, -1)),
    "infinity of complex numbers": (TypeError, lambda x: np.isposinf(x + 1j)),
    "too few outputs": (TypeError, lambda x: np.frexp(x, out=x * 1.0)),
    "too many outputs": (ValueError, lambda x: np.add(x, x, out=(x * 1.0, x * 1.0))),
    "a quotient folded twice": (ValueError, lambda x: np.divide.reduce(x.reshape(3, 1), axis=(0, 1))),
    "more axes than the output": (ValueError, lambda x: np.positive(x[:1], out=np.array(0.0))),
    "an output of other axes": (ValueError, lambda x: np.concatenate([x, x], out=np.zeros((1, 6)))),
    "an output and a dtype": (TypeError, lambda x: np.stack([x, x], out=np.zeros((2, 3)), dtype=float)),
    "a sorter that is too short": (ValueError, lambda x: np.searchsorted(x, 1.0, sorter=np.array([0, 1]))),
    "a sorter out of range": (ValueError, lambda x: np.searchsorted(x, 0.0, sorter=np.array([-1, 0, 1]))),
    "more lengths than axes": (ValueError, lambda x: scipy.fft.fftn(x, (2, 3))),
    "a first sum": (ValueError, lambda x: integrate.cumulative_trapezoid(x, initial=1.0)),
    "a base below zero": (ValueError, lambda x: stats.entropy(x, base=-2)),
    "an imaginary border": (ValueError, lambda x: signal.convolve2d(x[None], x[None], fillvalue=1j)),
    "a way to extrapolate": (ValueError, lambda x: interpolate.UnivariateSpline([1, 2, 3, 4], [1, 4, 2, 3])(x, ext=-1)),
    "places in a number": (ValueError, lambda x: np.nonzero(x[0] + np.array(0.0))),
    "two shapes to rotate": (ValueError, lambda x: la.orthogonal_procrustes(np.diag(x), np.diag(x)[:, :2])),
    "a relation folded": (TypeError, lambda x: np.less.reduce(x)),
    "a singular diagonal": (np.linalg.LinAlgError, lambda x: la.solve(np.diag(x * 0), x, assume_a="diagonal")),
}


def test_containers_and_numbers_are_numpys():
    edges = fad.jit(lambda x: np.histogramdd(x[:, None], 2), compile="never")(V)[1]
    assert isinstance(edges, list)
    assert isinstance(fad.jit(lambda x: np.average(x, returned=True), compile="never")(V)[1], np.float64)


def test_bounds_that_meet_hold_what_lies_between():
    x = np.array([0.0, 0.5])
    for low, high, slope in ((0.0, 0.0, 0.0), (0.0, 0.5, 1.0), (1.0, 0.0, 0.0)):
        got = fad.grad(lambda x, low, high: np.sum(np.clip(x, low, high)), compile="never")(x, low, high)
        np.testing.assert_array_equal(got, slope)


def test_other_orders_of_bytes_are_refused():
    with pytest.raises(fad.FadError, match="order of bytes"):
        fad.jit(lambda x: np.stack([x, x], dtype=">f8"), fallback=False)(V)


def test_polar_factors_keep_half_of_the_digits_or_raise():
    u, v = (np.linalg.qr(np.vander(x))[0] for x in ([0.5, 1.0, 2.0], [0.3, 1.5, -1.0]))
    polar = fad.jit(lambda a: la.polar(a), compile="never")
    a = u * [1.0, 1e-3, 1e-6] @ v
    np.testing.assert_allclose(polar(a)[0], la.polar(a)[0], atol=1e-7)
    with pytest.raises(ValueError, match="rank is deficient"):
        polar(u * [1.0, 1e-3, 1e-17] @ v)
    with pytest.raises(ValueError, match="rank is deficient"):
        fad.jit(lambda a: la.orthogonal_procrustes(a[:2], a[1:]), compile="never")(a)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    error, f = ERRORS[name]
    with pytest.raises(error):
        f(V)
    with pytest.raises((error, fad.FadError)):
        fad.jit(f, compile="never")(V)


def test_arrays_of_objects_are_refused():
    ages = np.array([127, 39, 93, 87, 46], dtype=object)
    with pytest.raises(fad.FadError, match="array of objects"):
        fad.jit(lambda ddof: np.std(ages, ddof=ddof), fallback=False)(0.5)


def test_positions_are_integers():
    with pytest.raises(TypeError, match="only int indices permitted"):
        fad.jit(lambda i: np.unravel_index(i, (3, 4)), compile="never")(np.array([1.0]))
