"""SciPy's sparse matrices in traced functions: products with traced arrays, the matrix as an input from outside."""
import numpy as np
import pytest
import scipy.sparse as sparse

import fad
from fad.util.errors import ExtentError, UnsupportedFunctionError

A = sparse.random(5, 4, density=0.5, format="csr", random_state=0)
FORMATS = [make(A).asformat(name) for make in (sparse.csr_matrix, sparse.csr_array)
           for name in ("csr", "csc", "coo", "dia")]
PRODUCTS = (
    lambda a, x: a @ x[0], lambda a, x: a @ x.T, lambda a, x: x @ a.T, lambda a, x: (a @ x[1]) @ a,
    lambda a, x: a.T @ (a @ x.T) if isinstance(a, sparse.sparray) else a.T * (a * x.T))


@pytest.mark.parametrize("a", FORMATS, ids=[f"{type(a).__name__}" for a in FORMATS])
@pytest.mark.parametrize("product", PRODUCTS)
def test_products(a, product):
    x = np.random.default_rng(1).normal(size=(3, 4))
    dense = a.toarray()
    np.testing.assert_allclose(fad.jit(product)(a, x), product(a, x), rtol=1e-13)

    def of_dense(x):
        y = product(a, x)
        return np.sum(np.sin(y))
    by_hand = {0: dense @ x[0], 1: dense @ x.T, 2: x @ dense.T, 3: (dense @ x[1]) @ dense,
               4: dense.T @ (dense @ x.T)}[PRODUCTS.index(product)]
    np.testing.assert_allclose(product(a, x), by_hand, rtol=1e-12)
    directions = np.random.default_rng(2).normal(size=x.shape)
    h = 1e-6
    slope = (of_dense(x + h * directions) - of_dense(x - h * directions)) / (2 * h)
    np.testing.assert_allclose(np.sum(fad.grad(of_dense)(x) * directions), slope, rtol=1e-6)
    np.testing.assert_allclose(fad.jvp(of_dense, (x,), (directions,))[1], slope, rtol=1e-6)


def test_a_matrix_is_an_input_from_outside():
    a = A.copy()
    gradient = fad.grad(lambda v: np.sum((a @ v) ** 2))
    v = np.arange(4.0)
    first = gradient(v)
    a.data *= 2.0                                             # in place
    np.testing.assert_allclose(gradient(v), 4 * first)
    a.data = a.data / 2.0                                     # another array
    np.testing.assert_allclose(gradient(v), first)
    a[4, 3] = 5.0                                             # other places too
    np.testing.assert_allclose(gradient(v), 2 * a.T @ (a @ v))


def test_a_loop_of_products():
    laplace = sparse.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(6, 6))

    def heat(u):
        for _ in range(50):
            u = u + 0.1 * (laplace @ u)
        return u
    u = np.sin(np.arange(6.0))
    step = np.eye(6) + 0.1 * laplace.toarray()
    np.testing.assert_allclose(fad.jacobian(heat)(u), np.linalg.matrix_power(step, 50), rtol=1e-9, atol=1e-12)


def test_what_cannot_be_is_refused():
    with pytest.raises(UnsupportedFunctionError, match="tocsr"):
        fad.jit(lambda v: A.tolil() @ v, fallback=False)(np.ones(4))
    with pytest.raises(ExtentError):
        fad.jit(lambda v: A @ v, fallback=False)(np.ones(3))
