"""Law: eigenvectors and singular vectors have the signs and phases that NumPy and SciPy give them, interpreted and
compiled. A value must not change when a kernel takes over, and not by being differentiated.

In float32 the rounding of one BLAS or another may change a sign."""
import numpy as np
import pytest
import scipy.linalg as la

import fad

from ..turns import crossed

SQUARE = {
    "np.linalg.eigh": np.linalg.eigh, "np.linalg.eigh U": lambda a: np.linalg.eigh(a, "U"),
    "np.linalg.eig": np.linalg.eig, "la.eigh": la.eigh, "la.eigh upper": lambda a: la.eigh(a, lower=False),
    "la.eigh general": lambda a: la.eigh(a, a @ np.conj(a.T) + np.eye(len(a))), "la.eig": la.eig,
    "la.schur": lambda a: la.schur(np.real(a)),
}
ANY = {
    "np.linalg.svd": np.linalg.svd, "la.svd": la.svd, "np.linalg.qr": np.linalg.qr, "la.qr": la.qr,
    "np.linalg.svd reduced": lambda a: np.linalg.svd(a, full_matrices=False),
    "la.qr pivoting": lambda a: la.qr(a, pivoting=True),
}
SHAPES = {f"{name} {n, n}": (f, (n, n)) for name, f in SQUARE.items() for n in (2, 5)}
SHAPES |= {f"{name} {shape}": (f, shape) for name, f in ANY.items() for shape in ((4, 4), (5, 3), (3, 5))
           if not (name in ("np.linalg.svd", "la.svd", "la.qr", "la.qr pivoting") and shape[0] != shape[1])}


@pytest.mark.parametrize("name, dtype, compile", crossed(SHAPES, ["float64", "complex128"], ["never", "now"]))
def test_signs_and_phases_are_those_of_the_library(name, dtype, compile):
    f, shape = SHAPES[name]
    rng, jitted = np.random.default_rng(len(name)), fad.jit(f, compile=compile)
    for _ in range(6):
        a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0.0)
        for given in (a.astype(dtype), np.asfortranarray(a.astype(dtype))):
            if name.startswith("np.linalg.eig ") and not np.allclose(f(given)[1], la.eig(given)[1]):
                continue                                      # kernels call the LAPACK of SciPy, and NumPy has its own
            for ours, theirs in zip(jitted(given), f(given), strict=True):
                assert np.allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("compile", ["never", "now"])
@pytest.mark.parametrize("dtypes", [("float64", "complex128"), ("complex128", "float64"), ("float32", "float64")])
def test_two_matrices_of_different_dtypes_are_computed_in_their_common_one(dtypes, compile):
    """An imaginary part was dropped."""
    rng = np.random.default_rng(3)
    a, b = ((rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))).astype(dtype) if dtype[0] == "c"
            else rng.normal(size=(4, 4)).astype(dtype) for dtype in dtypes)

    def values(a, b):
        return la.eigh(a + np.conj(a.T), b @ np.conj(b.T) + np.eye(4), eigvals_only=True)
    assert np.allclose(fad.jit(values, compile=compile)(a, b), values(a, b), rtol=1e-5)


def test_the_op_refuses_a_right_side_of_another_dtype():
    from fad.ops.linalg.solve import triangular_solve
    with pytest.raises(TypeError, match="one dtype is needed"):
        fad.jit(lambda a, b: triangular_solve(a, b, lower=True, trans=0, unit=False), fallback=False)(
            np.eye(2), np.ones((2, 1)) * 1j)
