"""Products with one small extent are BLAS's, too; very small ones stay loops, which may be fused."""
import numpy as np
import pytest

import fad

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("m, k, n, is_called",
                         [(250, 1000, 10, True), (1000, 10, 250, True), (1000, 4, 100, True), (30, 30, 30, True),
                          (1000, 3, 100, False),
                                                (16, 16, 16, False), (10, 20, 10, False)])
def test_which_products_are_called(m, k, n, is_called):
    x, y = RNG.standard_normal((m, k)), RNG.standard_normal((k, n))

    def f(x, y, size=m * k * n):
        return x @ y / size
    g = fad.jit(f)
    assert ("np.dot(" in fad.source(g, x, y)) is is_called
    np.testing.assert_allclose(fad.jit(f, compile="now")(x, y), f(x, y), rtol=1e-12, atol=1e-14)
