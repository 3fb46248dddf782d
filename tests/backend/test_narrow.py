"""Products of narrow integers wrap around in compiled loops as they do in NumPy, wherever the product stands."""
import numpy as np
import pytest

import fad

A = {"int8": [3, 100, 7, 2], "uint8": [3, 200, 7, 2], "int16": [3, 30_000, 7, 2], "int32": [3, 2 ** 31 - 5, 7, 2],
     "uint32": [3, 2 ** 32 - 5, 7, 2]}
V = np.array([0.7, -1.2, 0.4, 2.1])


@pytest.mark.parametrize("dtype", A)
@pytest.mark.parametrize("f", [
    lambda v, a: v @ np.outer(a, a), lambda v, a: (np.einsum("i,j->ij", a, a) * v).sum(0), lambda v,
    a: np.tensordot(a, a, 0) @ v, lambda v, a: np.einsum("i,i->i", a, a) * v, lambda v, a: np.dot(a, a) * v, lambda v,
    a: (np.outer(a, a) @ a) * v, lambda v, a: (a[:, None] * a) @ v, lambda v, a: np.cumprod(a) * v, lambda v,
    a: (a + a) * v, lambda v, a: (-a) * v, lambda v, a: a ** 2 * v, lambda v, a: np.square(a) * v, lambda v,
    a: np.abs(a * a) * v, lambda v, a: (a << 1) * v, lambda v, a: np.sum(a, dtype=a.dtype) * v, lambda v,
    a: np.convolve(a, a)[:4] * v, lambda v, a: np.kron(a, a)[:4] * v, lambda v, a: np.vander(a, 3)[:, 0] * v, lambda v,
    a: np.diff(a) * v[:3], lambda v, a: np.prod(a, dtype=a.dtype) * v,
], ids=["outer", "einsum_outer", "tensordot", "einsum", "dot", "matmul", "product", "cumprod", "sum", "negative", "power", "square", "abs", "shift", "total",
        "convolve", "kron", "vander", "diff", "prod"])
def test_integers_wrap_around(f, dtype):
    a = np.array(A[dtype]).astype(dtype)
    with np.errstate(all="ignore"):
        want = f(V, a)
    np.testing.assert_allclose(fad.jit(f, compile="now", fallback=False)(V, a), want, rtol=1e-13)
