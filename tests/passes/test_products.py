"""Products move in front of loops, and sums move in front of products, where that is less work; numbers stay."""
import numpy as np
import pytest

import fad
from fad.passes.common_factors import common_factors
from fad.passes.merge_axes import merge_axes
from fad.passes.raise_products import raise_products
from fad.passes.splits import split_early
from fad.trace.tracing import trace

RNG = np.random.default_rng(0)
X, Y, Z = RNG.standard_normal((40, 50)), RNG.standard_normal((40, 60)), RNG.standard_normal((40, 40))


def columns(x, y):
    s = np.zeros((x.shape[1], y.shape[1]))
    for i in range(x.shape[1]):
        s[i] = x[:, i] @ y
    return s * s


def triangle(x, y):
    s = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        s[i:, i] = s[i, i:] = x[:, i] @ x[:, i:] + y[0, 0]
    return np.sin(s)


def last_first(x, y):
    s = np.zeros((y.shape[1], x.shape[1]))
    for i in range(x.shape[1] - 1, -1, -1):
        s[:, i] = y.T @ x[:, i]
    return s * s


def turned(x, y):
    s, z = np.zeros((y.shape[1], x.shape[1])), y.T
    for i, row in enumerate(x.T):
        s[:, i] = z @ row
    return s * s


def changed(x, y):
    """The rows change as the loop goes on."""
    x, s = x.copy(), np.zeros((x.shape[1], y.shape[1]))
    for i in range(x.shape[1]):
        s[i] = x[:, i] @ y
        x[0] = x[0] * 0.5
    return s


def few(x, y):
    """A few rows of many."""
    s = np.zeros((x.shape[1], y.shape[1]))
    for i in range(5):
        s[i] = x[:, i] @ y
    return s


def streamed(x, y):
    """There is no array of the size of the product."""
    total = 0.0
    for i in range(x.shape[1]):
        total += np.max(x[:, i] @ y)
    return total


def neighbour(x, y):
    s = np.zeros((x.shape[1], y.shape[1]))
    for i in range(x.shape[1] - 1):
        s[i] = x[:, i + 1] @ y
    return s


def scaled(x, y):
    """Nothing is summed."""
    s = np.zeros((y.shape[1], x.shape[0]))
    for i in range(x.shape[1]):
        s = s + np.einsum("n,nk->kn", x[:, i], y)
    return np.sin(s)


def part(x, y):
    """A part of each row alone."""
    s = np.zeros((x.shape[1], y.shape[1]))
    for i in range(x.shape[1]):
        s[i] = x[2:30, i] @ y[2:30]
    return s


@pytest.mark.parametrize("f, raised",
                         [(columns, 1), (triangle, 1), (last_first, 1), (turned, 1), (changed, 0), (few, 0),
                                       (streamed, 0), (neighbour, 0), (scaled, 0), (part, 0)],
                         ids=lambda f: getattr(f, "__name__", ""))
def test_products_of_rows_are_one_product(f, raised):
    func = raise_products(trace(f, [X, Y]).func)
    assert sum(e.op.name == "contract" for e in func.equations) == raised
    _numbers_stay(f)


def _numbers_stay(f):
    weights = RNG.standard_normal(np.shape(f(X, Y)))
    want = np.sum(f(X, Y) * weights)
    for tier in ("never", "now"):
        with fad.config.using(compile=tier):
            value, (gx, gy) = fad.value_and_grad(lambda x, y: np.sum(f(x, y) * weights), argnums=(0, 1))(X, Y)
        np.testing.assert_allclose(value, want, rtol=1e-11)
        h, k = RNG.standard_normal(X.shape), RNG.standard_normal(Y.shape)
        e = 1e-6
        slope = np.sum((f(X + e * h, Y + e * k) - f(X - e * h, Y - e * k)) * weights) / (2 * e)
        np.testing.assert_allclose(np.sum(gx * h) + np.sum(gy * k), slope, rtol=1e-5, atol=1e-6)


SUMS = {
    "one order": (lambda x, y, z: x @ y + x @ z, 1),
    "transposed": (lambda x, y, z: x @ y + x @ z.T, 1),
    "from the left": (lambda x, y, z: y @ x + z.T @ x, 1),
    "transposed products": (lambda x, y, z: (x @ y).T + z @ x.T, 1),
    "the other way round": (lambda x, y, z: x @ y + x.T @ z, 2),
    "rows and columns": (lambda x, y, z: x @ y + z @ x, 2),
    "read again": (lambda x, y, z: (lambda p: p + x @ z + p[0])(x @ y), 2),
    "a vector": (lambda x, y, z: x[0] @ y + x[0] @ z, 2),
}


@pytest.mark.parametrize("name", SUMS)
def test_a_common_factor_is_multiplied_once(name):
    f, products = SUMS[name]
    args = [RNG.standard_normal((12, 12)) for _ in range(3)]
    func = common_factors(trace(f, args).func)
    assert sum(e.op.name == "contract" for e in func.equations) == products
    for tier in ("never", "now"):
        with fad.config.using(compile=tier):
            np.testing.assert_allclose(fad.jit(f)(*args), f(*args), rtol=1e-11, atol=1e-12)


STACKS = {
    "rows of a stack": ("ijk,kl->ijl", (6, 7, 40), (40, 50), 1),
    "an axis of one": ("iojk,kl->iojl", (6, 1, 7, 40), (40, 50), 1),
    "summed over both": ("ijk,ijl->kl", (6, 7, 40), (6, 7, 50), 1),
    "columns of both": ("ik,jlk->ijl", (40, 40), (6, 7, 40), 1),
    "another order": ("ijk,kl->jil", (6, 7, 40), (40, 50), 1),
    "a batch of both": ("ijk,ikl->ijl", (6, 40, 40), (6, 40, 50), 0),
    "parts between": ("ikj,kl->ijl", (40, 40, 6), (40, 50), 0),
    "few columns": ("ijk,kl->ijl", (6, 7, 40), (40, 5), 0),
}


@pytest.mark.parametrize("name", STACKS)
def test_stacks_that_are_matrices_are_one_product(name):
    labels, left, right, merged = STACKS[name]
    args = [RNG.standard_normal(left), RNG.standard_normal(right)]
    f = lambda x, y: np.einsum(labels, np.sin(x), y)
    func = merge_axes(trace(f, args).func)
    assert any(e.op.name == "reshape" for e in func.equations) == bool(merged)
    weights = RNG.standard_normal(f(*args).shape)
    for given in (args, [np.asfortranarray(x) for x in args], [np.repeat(x, 2, axis=-1)[..., ::2] for x in args]):
        np.testing.assert_allclose(fad.jit(f, compile="now")(*given), f(*given), rtol=1e-11, atol=1e-12)
        both = [fad.jit(fad.grad(lambda x, y: np.sum(weights * f(x, y)), (0, 1)), compile=tier)(*given)
                for tier in ("now", "never")]
        for compiled, interpreted in zip(*both):
            np.testing.assert_allclose(compiled, interpreted, rtol=1e-11, atol=1e-12)


def flat(y):
    return y.reshape(y.shape[0], y.shape[1] * y.shape[2])


# function, columns of x, whether no operand is flattened
SPLIT = {
    "sums over rows": (lambda x, y: (x.T @ flat(np.sin(y))).reshape(x.shape[1], y.shape[1], y.shape[2]), 10, True),
    "turned": (lambda x, y: (x.T @ flat(np.sin(y))).T.reshape(y.shape[1], y.shape[2], x.shape[1]), 10, True),
    "other way round": (lambda x, y: (flat(np.sin(y)).T @ x).reshape(y.shape[1], y.shape[2], x.shape[1]), 10, True),
    "both": (lambda x, y: (flat(np.sin(y)).T @ x).T.reshape(x.shape[1], y.shape[1], y.shape[2]), 10, True),
    "many products": (lambda x, y: (x.T @ flat(np.sin(y))).reshape(x.shape[1], y.shape[1], y.shape[2]), 40, False),
    "an array that is there": (lambda x, y: (x.T @ flat(y)).reshape(x.shape[1], y.shape[1], y.shape[2]), 10, False),
    "another split": (lambda x, y: (x.T @ flat(np.sin(y))).reshape(x.shape[1], y.shape[2], y.shape[1]), 10, False),
}


@pytest.mark.parametrize("name", SPLIT)
def test_operands_of_sums_over_rows_are_not_laid_out_flat(name):
    f, columns, splits = SPLIT[name]
    args = [RNG.standard_normal((300, columns)), RNG.standard_normal((300, 7, 5))]
    assert any(e.op.name == "reshape" for e in split_early(trace(f, args).func).equations) != splits
    weights = RNG.standard_normal(f(*args).shape)
    g = [fad.jit(fad.value_and_grad(lambda x, y: np.sum(weights * np.cos(f(x, y))), (0, 1)), compile=tier)(*args)
         for tier in ("now", "never")]
    assert np.isclose(g[0][0], np.sum(weights * np.cos(f(*args))))
    for slope, other in zip(g[0][1], g[1][1]):
        np.testing.assert_allclose(slope, other, rtol=1e-11, atol=1e-12)


def test_the_gradient_of_a_product_that_is_split_is_a_sum_over_rows():
    """A pass over the points holds the cotangents of a block: no array of points x components x dimensions."""
    def f(x, q):
        k, d, e = q.shape
        return np.sum(np.exp(-0.1 * (x @ q.reshape(k * d, e).T).reshape(x.shape[0], k, d) ** 2))
    args = RNG.standard_normal((1000, 10)), RNG.standard_normal((25, 10, 10))
    g = fad.value_and_grad(f, 1, compile="now")
    assert "np.dot" not in fad.source(g, *args)
    value, slope = g(*args)
    want, other = fad.value_and_grad(f, 1, compile="never")(*args)
    assert np.isclose(value, want)
    np.testing.assert_allclose(slope, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("f",
                         [lambda x: np.einsum(",->", x[0], x[1]), lambda x: np.einsum(",i->i", x[0], x),
                          lambda x: np.einsum("i,->", x, x[0])])
def test_contractions_of_operands_without_axes(f):
    x = np.linspace(0.1, 1.0, 40)
    g = fad.value_and_grad(lambda x: np.sum(f(x)), compile="now")
    value, slope = g(x)
    assert np.isclose(value, np.sum(f(x)))
    np.testing.assert_allclose(slope, [np.sum(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(40)], rtol=1e-6,
                               atol=1e-8)
