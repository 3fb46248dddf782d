"""Nests over many points run in blocks whose points are SIMD lanes, with the results of the plain order."""
import re

import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

from .support import check

rng = np.random.default_rng(0)
K, D = 3, 2
MEANS, SHAPES = rng.standard_normal((K, D)), rng.standard_normal((K, D, D))


def mixture(weights, means, shapes, X):
    diff = X[:, None, :] - means[None]
    q = np.einsum("kde,nke->nkd", shapes, diff)
    s = weights - 0.5 * np.sum(q * q, axis=2)
    m = np.max(s, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(s - m), axis=1)) + m[:, 0])


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def joined(X, w):
    """The array that is read point by point has an extent that the program computes."""
    C = np.cumsum(np.concatenate([X, X[:, :1] * w[0]], axis=1), axis=0)
    return np.sum(np.exp(-C)[:, :, None] * np.sin(C[:, :, None] * w), axis=2)


def rows(X, w):
    return np.exp(X @ w)[:, None] * X, np.sum(np.sin(X), axis=1)


@pytest.mark.parametrize("n", [130, 256])
@pytest.mark.parametrize("f, args",
                         [(mixture, (rng.standard_normal(K), MEANS, SHAPES)), (logistic, (MEANS[0],)), (rows, ()),
                          (joined, ())],
                         ids=["mixture", "logistic", "rows", "joined"])
def test_blocks_agree(f, args, n):
    X = rng.standard_normal((n, D))
    args = {mixture: (*args, X), logistic: (*args, X, np.sign(rng.standard_normal(n))), rows: (X, MEANS[0]),
            joined: (X, MEANS[0])}[f]
    traced = trace(f, list(args))
    values = [*args, *traced.captured]
    gs = [rng.standard_normal(np.shape(y))[()] for y in evaluate(traced.func, values)]
    text = check(optimise(vjp(traced.func, tuple(range(len(args))))), values + gs, traced.guards, jit=n == 130)
    assert text.count("for start") == 1, "the reverse sweep follows the forward sweep in the same pass"
    check(optimise(traced.func), values, traced.guards)


def fitted(means, X):
    """Iterations of k-means with soft assignments: a loop whose body has a long axis, and a tape over it."""
    for _ in range(3):
        weights = np.exp(-0.5 * np.sum((X[:, None, :] - means) ** 2, axis=2))
        weights = weights / np.sum(weights, axis=1, keepdims=True)
        means = (weights.T @ X) / np.sum(weights, axis=0)[:, None]
    return np.sum(means ** 2)


def test_bodies_of_loops_run_in_blocks():
    X = rng.standard_normal((130, D))
    traced = trace(fitted, [MEANS, X])
    values = [MEANS, X, *traced.captured]
    assert "    for start in range(0, " in check(optimise(traced.func), values, traced.guards)
    text = check(optimise(vjp(traced.func, (0, 1))), [*values, 1.0], traced.guards, jit=True)
    assert text.count("        for start") == 2, "one pass an iteration forward, one an iteration backward"


def gathered(X, w, rows, columns, V):
    """Rows of X, of a transposed array and of a vector, found by indices that the block computes."""
    shifted = rows + 1
    P = np.einsum("ni,ij->nj", X[shifted], w) * V[rows][:, None]
    return np.sum(np.tanh(P[:, :, None] + X.T[:, columns].T[:, None, :]), axis=2)


@pytest.mark.parametrize("n", [128, 300])
def test_gathered_rows_are_copied_once_a_block(n):
    X, w, V = rng.standard_normal((700, 5)), rng.standard_normal((5, 4)), rng.standard_normal(700)
    values = [X, w, rng.integers(0, 690, n), rng.integers(-700, 700, n), V]
    traced = trace(gathered, values)
    text = check(optimise(traced.func), [*values, *traced.captured], traced.guards, jit=n == 128)
    inner = [line for line in text.splitlines() if "+= " in line or "tanh" in line]
    assert inner and not any("X[" in line for line in inner), "the products read copies of the rows"
    gs = [rng.standard_normal(np.shape(y)) for y in evaluate(traced.func, [*values, *traced.captured])]
    check(optimise(vjp(traced.func, (0, 1, 4))), [*values, *traced.captured, *gs], traced.guards)


def camera(z):
    return np.array([z[0] * z[1] / z[2], np.sin(z[1]) * z[2] + z[0] * z[0]])


@pytest.mark.parametrize("n", [130, 256])
def test_cotangents_belong_to_the_block(n):
    """The columns of a point's gradient are added to in the block, not in an array of all points."""
    Z = 2.0 + rng.uniform(size=(n, 3))
    f = fad.vmap(fad.jacrev(camera))
    text = fad.source(f, Z)
    assert "for start in range(0, n, 128):" in text
    assert "np.zeros((n" not in text
    assert not [line for line in text.splitlines() if "start" in line
                and "+=" in line], "additions go to a block's rows"
    rows = np.stack([fad.jacrev(camera)(z) for z in Z])
    np.testing.assert_allclose(fad.jit(f, compile="now")(Z), rows, rtol=1e-12)


def columns(X, w):
    """Arrays that start as one number: read again, returned, read at another point, and written to as a whole."""
    g, h, q = np.zeros((len(X), 3)), np.full((len(X), 2, 2), 0.5), np.zeros((len(X), 2))
    g[:, 0] += np.sin(X[:, 0]) * w[0]
    g[:, 1:] += np.exp(X)
    h[:, 0] *= g[:, :2]
    h[:, 1, 1] = X[:, 1]
    q[:, 1] += X[::-1, 0]
    q += np.cumsum(q, axis=0)
    return g, h, q, np.sum(np.tanh(g[:, :, None] * h[:, :1]))


@pytest.mark.parametrize("n", [130, 256])
def test_arrays_that_start_as_one_number(n):
    X = rng.standard_normal((n, D))
    traced = trace(columns, [X, MEANS[0]])
    values = [X, MEANS[0], *traced.captured]
    check(optimise(traced.func), values, traced.guards, jit=n == 130)
    gs = [rng.standard_normal(np.shape(y))[()] for y in evaluate(traced.func, values)]
    check(optimise(vjp(traced.func, (0, 1))), values + gs, traced.guards, jit=n == 130)


def clustered(points, centres):
    d = points[:, None, :] - centres
    return np.sum(np.min(np.sum(d * d, axis=2), axis=1))


def test_a_difference_is_computed_again_behind_the_sum():
    points, centres = rng.standard_normal((130, 4)), rng.standard_normal((7, 4))
    traced = trace(clustered, [points, centres])
    text = check(optimise(vjp(traced.func, (0, 1))), [points, centres, *traced.captured, 1.0], traced.guards, jit=True)
    assert not re.search(r"np.empty\(\(\w+, \w+, 128\)\)", text), "no array of points x centres x dimensions"
