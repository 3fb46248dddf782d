"""Sums move into the contractions that they follow: less work, and the same numbers."""
import numpy as np
import pytest

import fad
from fad.ir.walk import evaluate
from fad.passes.dce import dce
from fad.passes.factor_sums import factor_sums
from fad.passes.pipeline import optimise
from fad.trace.tracing import trace
from fad.transforms.vjp import vjp

RNG = np.random.default_rng(0)
SIZES = dict(zip("abcde", (2, 3, 4, 5, 6)))


def drawn(rng, letters: str, dtype) -> np.ndarray:
    x = rng.standard_normal([SIZES[c] for c in letters])
    return x + 1j * rng.standard_normal(x.shape) if dtype is complex else x


def chain(rng, out: str):
    """A random way from a contraction to a sum, and the sum."""
    steps = []
    for _ in range(rng.integers(4)):
        kind = rng.integers(3)
        if kind == 0:
            steps.append(lambda y: -y)
        elif kind == 1:
            c = rng.standard_normal()
            steps.append(lambda y, c=c: c * y)
        else:
            order = tuple(rng.permutation(len(out)))
            steps.append(lambda y, order=order: np.transpose(y, order))
    axes = tuple(int(a) for a in np.flatnonzero(rng.integers(2, size=len(out))))

    def follow(y):
        for step in steps:
            y = step(y)
        return np.sum(y, axis=axes)
    return follow


@pytest.mark.parametrize("seed", range(150))
def test_numbers_and_derivatives_stay(seed):
    rng = np.random.default_rng(seed)
    dtype = complex if seed % 5 == 0 else float
    a, b = ("".join(rng.permutation(list("abcde"))[:rng.integers(1, 4)]) for _ in range(2))
    out = "".join(c for c in rng.permutation(sorted({*a, *b})) if (c in a) != (c in b) or rng.integers(2))
    x, y, follow = drawn(rng, a, dtype), drawn(rng, b, float), chain(rng, out)
    traced = trace(lambda x, y: follow(np.einsum(f"{a},{b}->{out}", x, y)), [x, y])
    args = [x, y, *traced.captured]
    for func, values in ((traced.func, args),
                         (vjp(traced.func, (0, 1)),
                          [*args, drawn(rng, "", dtype) * np.ones(np.shape(evaluate(traced.func, args)[0]))])):
        func = dce(func)
        for got, want in zip(evaluate(factor_sums(func), values), evaluate(func, values), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def points_multiplied(f, *args) -> set:
    """The ranks of the contractions that have an axis of 40 points."""
    func = optimise(trace(f, list(args)).func)
    n = next(v for v in func.inputs if v.type.shape).type.shape[0]
    return {len(set("".join(e.params["labels"]))) for e in func.equations if e.op.name == "contract" and n in
            {m for v in (*e.inputs, *e.outputs) for m in v.type.shape}}


X, W = RNG.standard_normal((40, 3)), RNG.standard_normal((4, 3))


def test_a_map_of_a_sum_in_place_of_a_sum_of_maps():
    assert points_multiplied(lambda X, W: np.sum(-(X @ W.T), axis=0), X, W) == set()


def test_an_axis_of_both_becomes_one_that_is_summed():
    func = optimise(trace(lambda X, Y: np.sum(np.einsum("ni,nj->nij", X, Y), axis=0), [X, X]).func)
    assert [e.op.name for e in func.equations if e.op.name in ("contract", "sum")] == ["contract"]


def test_terms_that_others_need_are_computed_once():
    def f(X, W):
        y = X @ W.T
        return np.sum(y, axis=0), np.sin(y)
    assert points_multiplied(f, X, W) != set()


def test_means_of_a_mixture_get_their_gradient_after_the_sum():
    def loss(means, Q, X):
        d = X[:, None, :] - means[None]
        y = np.einsum("kij,nkj->nki", Q, d)
        return np.sum(np.tanh(y))
    means, Q = RNG.standard_normal((5, 3)), RNG.standard_normal((5, 3, 3))
    with fad.config.using(compile="now"):
        g = fad.grad(loss)
        got = g(means, Q, X)
    h = 1e-6
    for k in np.ndindex(means.shape):
        e = np.zeros_like(means)
        e[k] = h
        np.testing.assert_allclose(got[k], (loss(means + e, Q, X) - loss(means - e, Q, X)) / (2 * h), rtol=1e-6,
                                   atol=1e-7)
    products = [line for line in fad.show(g, means, Q, X).splitlines() if " = contract(" in line]
    assert len(products) == 2 and "'kij', 'nkj'" in products[0] and "('kij', 'ki', 'kj')" in products[1]


def nested(rng, X, W, depth=3):
    """A random product of arrays, with numbers and signs somewhere within."""
    kind = rng.integers(6 if depth else 2)
    if kind < 2:
        return (X, W)[kind]
    if kind == 2:
        return -nested(rng, X, W, depth - 1)
    if kind == 3:
        return float(rng.choice([2.0, -0.5, 0.25])) * nested(rng, X, W, depth - 1)
    if kind == 4:
        return np.sin(nested(rng, X, W, depth - 1))
    return nested(rng, X, W, depth - 1) * nested(rng, X, W, depth - 1)


@pytest.mark.parametrize("seed", range(60))
def test_numbers_go_behind_sums_of_products(seed):
    X, W = RNG.standard_normal((4, 5, 3)), RNG.standard_normal((4, 1, 3))
    axis = (0, 1, 2, (0, 1), None)[seed % 5]

    def f(X, W):
        return np.sum(nested(np.random.default_rng(seed), X, W), axis=axis)
    func = dce(trace(f, [X, W]).func)
    for run in (factor_sums, optimise):
        np.testing.assert_allclose(evaluate(run(func), [X, W])[0], f(X, W), rtol=1e-12, atol=1e-13)


def test_signs_and_factors_of_a_sum():
    func = optimise(trace(lambda X, w: np.sum(-(w * (2.0 * (X - 1.0)))), [X, X]).func)
    names = [e.op.name for e in func.equations]
    assert sorted(names[names.index("sum") + 1:]) == ["mul", "neg"] and names.count("mul") == 2
