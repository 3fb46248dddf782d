"""Products of parts of arrays: the first rows of an array have its elements, and are not the array."""
import numpy as np
import pytest

import fad

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(100, 40)), RNG.normal(size=(40, 36))
PRODUCTS = {
    "rows": lambda x, w: x[:64] @ w, "rows and columns": lambda x, w: x[:64, :30] @ w[:30],
    "turned": lambda x, w: x[:40].T @ w, "both turned": lambda x, w: w.T @ x[:36].T,
    "columns": lambda x, w: x[:64] @ w[:, :20],
    "rows of it": lambda x, w: (x[:64] @ w)[:10], "twice": lambda x, w: np.tanh(x[:64] @ w) @ w.T,
    "last rows": lambda x, w: x[36:] @ w, "steps": lambda x, w: x[::2] @ w, "reversed": lambda x, w: x[:64][::-1] @ w,
    "with itself": lambda x, w: x[:60].T @ x[:60], "dot": lambda x, w: np.dot(x[:64], w),
    "einsum": lambda x, w: np.einsum("ij,jk->ik", x[:64], w),
    "einsum, turned": lambda x, w: np.einsum("ij,ik->jk", x[:40], w),
    "a copy": lambda x, w: x[:64].copy() @ w, "as many as are given": lambda x, w: x[:w.shape[1]] @ w,
}


@pytest.mark.parametrize("f", PRODUCTS.values(), ids=PRODUCTS)
def test_products_of_parts(f):
    loss = lambda x, w: np.sum(np.sin(f(x, w)))
    with fad.config.using(compile="now"):
        value, gradients = fad.jit(f)(X, W), fad.grad(loss, (0, 1))(X, W)
    np.testing.assert_allclose(value, f(X, W), rtol=1e-12)
    with fad.config.using(compile="never"):
        for got, want in zip(gradients, fad.grad(loss, (0, 1))(X, W)):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)
