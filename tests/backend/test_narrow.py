"""Products of narrow integers wrap around in compiled loops as they do in NumPy, wherever the product stands."""
import numpy as np
import pytest

import fad

A = {"int8": [3, 100, 7, 2], "uint8": [3, 200, 7, 2], "int16": [3, 30_000, 7, 2], "int32": [3, 2 ** 31 - 5, 7, 2],
     "uint32": [3, 2 ** 32 - 5, 7, 2]}
V = np.array([0.7, -1.2, 0.4, 2.1])


PRODUCTS = {
    "outer": lambda v, a: v @ np.outer(a, a), "einsum_outer": lambda v, a: (np.einsum("i,j->ij", a, a) * v).sum(0),
    "tensordot": lambda v, a: np.tensordot(a, a, 0) @ v, "einsum": lambda v, a: np.einsum("i,i->i", a, a) * v,
    "dot": lambda v, a: np.dot(a, a) * v, "matmul": lambda v, a: (np.outer(a, a) @ a) * v,
    "product": lambda v, a: (a[:, None] * a) @ v, "cumprod": lambda v, a: np.cumprod(a) * v,
    "sum": lambda v, a: (a + a) * v, "negative": lambda v, a: (-a) * v, "power": lambda v, a: a ** 2 * v,
    "square": lambda v, a: np.square(a) * v, "abs": lambda v, a: np.abs(a * a) * v,
    "shift": lambda v, a: (a << 1) * v, "total": lambda v, a: np.sum(a, dtype=a.dtype) * v,
    "convolve": lambda v, a: np.convolve(a, a)[:4] * v, "kron": lambda v, a: np.kron(a, a)[:4] * v,
    "vander": lambda v, a: np.vander(a, 3)[:, 0] * v, "diff": lambda v, a: np.diff(a) * v[:3],
    "prod": lambda v, a: np.prod(a, dtype=a.dtype) * v}


@pytest.mark.parametrize("dtype", A)
def test_integers_wrap_around(dtype):
    """All products are in one program, each of an array of its own: none takes over what another one has computed."""
    given = [np.array(A[dtype]).astype(dtype) for _ in PRODUCTS]

    def each(v, *arrays):
        return [f(v, a) for f, a in zip(PRODUCTS.values(), arrays)]
    with np.errstate(all="ignore"):
        want = each(V, *given)
    found = fad.jit(each, compile="now", fallback=False)(V, *given)
    for name, y, z in zip(PRODUCTS, found, want, strict=True):
        np.testing.assert_allclose(y, z, rtol=1e-13, err_msg=name)
