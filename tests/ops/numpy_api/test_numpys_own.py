"""Calls that NumPy's and SciPy's own tests make, whose results differed (found by tests/fuzz/shadow.py)."""
import numpy as np
import pytest
import scipy.linalg as la

import fad

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
    "tall polar, left": (lambda a: la.polar(a, "left"), np.array([[1.0, 2.0], [0.3, -1.0], [0.5, 2.0]])),
}


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("name", CALLS)
def test_results_and_dtypes(name, compile):
    f, x = CALLS[name]
    found, wanted = fad.jit(f, compile=compile)(x), f(x)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for got, want in pairs:
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_positions_are_integers():
    with pytest.raises(TypeError, match="only int indices permitted"):
        fad.jit(lambda i: np.unravel_index(i, (3, 4)), compile="never")(np.array([1.0]))
