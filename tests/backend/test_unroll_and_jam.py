"""Sums in blocks of points take several iterations at once: the numbers are the same, whatever is left over."""
import numpy as np
import pytest

import fad

from ..turns import in_turn

RNG = np.random.default_rng(0)


def blended(W, T, base):
    return np.einsum("vij,vj->vi", np.einsum("vb,bij->vij", W, T), base)


def weighted(Q, x, c):
    d = x[:, None, :] - c[None]
    y = np.einsum("kij,nkj->nki", Q, d)
    return np.log(np.sum(np.exp(-0.5 * np.sum(y * y, -1)), axis=1))


@pytest.mark.parametrize("bones", [2, 3, 4, 5, 6, 7, 8, 11])
def test_products_of_blocks(bones):
    W, T, base = RNG.standard_normal((300, bones)), RNG.standard_normal((bones, 3, 4)), RNG.standard_normal((300, 4))
    f = fad.jit(lambda T: blended(W, T, base), compile="now")
    np.testing.assert_allclose(f(T), blended(W, T, base), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d, k", [(2, 3), (5, 4), (7, 2)])
def test_gradients_of_sums_in_blocks(d, k):
    Q, x, c = RNG.standard_normal((k, d, d)), RNG.standard_normal((300, d)), RNG.standard_normal((k, d))

    def loss(Q, c):
        return np.sum(weighted(Q, x, c))
    g, dQ, dc = fad.jit(fad.grad(loss, (0, 1)),
                        compile="now"), RNG.standard_normal(Q.shape), RNG.standard_normal(c.shape)
    gQ, gc = g(Q, c)
    h = 1e-6
    slope = (loss(Q + h * dQ, c + h * dc) - loss(Q - h * dQ, c - h * dc)) / (2 * h)
    np.testing.assert_allclose(np.sum(gQ * dQ) + np.sum(gc * dc), slope, rtol=1e-6)


def test_extents_that_are_not_numbers_of_the_program():
    for bones in (2, 6, 9):
        W, T, base = RNG.standard_normal((200,
                                          bones)), RNG.standard_normal((bones, 3, 4)), RNG.standard_normal((200, 4))
        f = fad.jit(blended, compile="now")
        np.testing.assert_allclose(f(W, T, base), blended(W, T, base), rtol=1e-12, atol=1e-12)
        text = fad.source(f, W, T, base)
    assert ", 4):" in text and "_3 = " in text


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 8, 9])
def test_sums_of_the_points_are_added_up_together(n):
    """Each of n sums over the points has a register of its own."""
    X, w = RNG.standard_normal((300, 3)), RNG.standard_normal((2, n, 3))

    def loss(w):
        return np.sum(np.tanh(np.einsum("pi,abi->pab", X, w)))
    g = fad.jit(fad.grad(loss), compile="now")
    h = 1 - np.tanh(np.einsum("pi,abi->pab", X, w)) ** 2
    np.testing.assert_allclose(g(w), np.einsum("pab,pi->abi", h, X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", in_turn(range(12)))
def test_random_sums_over_points(seed):
    """Gradients of random contractions over points, compiled and interpreted."""
    rng = np.random.default_rng(seed)
    sizes = {"p": 150, **{c: int(rng.integers(1, 10)) for c in "abc"}}
    x, y = ("p" + "".join(c for c in "abc" if rng.integers(2)) for _ in range(2))
    out = "p" + "".join(sorted({*x, *y} - {"p"}))
    X, Y, s = (rng.standard_normal([sizes[c] for c in word]) for word in (x, y, out))

    def loss(Y, c):
        return np.sum(np.sin(np.einsum(f"{x},{y}->{out}", X, Y - c)) * s)
    c = rng.standard_normal(Y.shape[1:])
    want, got = (fad.jit(fad.grad(loss, (0, 1)), compile=policy)(Y, c) for policy in ("never", "now"))
    for a, b in zip(want, got):
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-11)


def test_indices_of_iterations_are_not_those_of_loops_around():
    """The second loop's index was i_3, and its sums took i_1, i_2 and i_3 for theirs."""
    P, x = RNG.standard_normal((5, 300, 7)), RNG.standard_normal((300, 7))

    def repeated(P, x):
        x = np.cumsum(x, axis=0)
        total = np.sum(x, axis=1)
        for i in range(len(P) - 3):
            total = total + np.sum(np.sin(P[i] * x), axis=1)
        for i in range(len(P) - 2):
            total = total - np.sum(np.sin(P[i] + x), axis=1)
        for i in range(len(P) - 1):
            total = total * np.sum(np.cos(P[i] * x), axis=1)
        return np.sum(total)
    np.testing.assert_allclose(fad.jit(repeated, compile="now")(P, x), repeated(P, x), rtol=1e-12)
    with fad.config.using(compile="never"):
        wanted = fad.grad(repeated, (0, 1))(P, x)
    for got, want in zip(fad.jit(fad.grad(repeated, (0, 1)), compile="now")(P, x), wanted):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("m, terms, n", [(4, 4, 4), (3, 3, 3), (3, 4, 8), (2, 2, 3), (4, 5, 4), (4, 4, 9)])
def test_products_of_small_matrices(m, terms, n):
    """Rows of up to eight sums of up to four terms stay in registers."""
    A, B = RNG.standard_normal((30, m, terms)), RNG.standard_normal((30, terms, n))

    def f(A, B):
        return (A.reshape(30, m, terms) @ B.reshape(30, terms, n)) * 2.0
    g = fad.jit(f, compile="now")
    want = np.zeros((30, m, n))
    for k in range(terms):
        want += A[:, :, k, None] * B[:, None, k]
    np.testing.assert_allclose(g(A, B), 2.0 * want, rtol=1e-13, atol=1e-14)
    text = str(fad.source(g, A, B))
    assert ("= 0.0 + " in text) == (terms <= 4 and n <= 8)


def test_a_product_that_goes_on_with_an_infinity():
    A, B = np.eye(3), np.array([[np.inf, 1.0, -0.0], [0.0, -1.0, 2.0], [np.nan, 3.0, 1.0]])
    stacked = np.stack([A] * 5)
    got = fad.jit(lambda A, B: A.reshape(5, 3, 3) @ B.reshape(3, 3), compile="now")(stacked, B)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, np.stack([sum(A[:, k, None] * B[k] for k in range(3))] * 5))
