"""A maximum whose derivative cancels is a constant to derivatives; any other one is not."""
import numpy as np
import pytest

import fad
from fad.passes.cancels import without_cancelling
from fad.trace.tracing import trace

X, V = np.random.default_rng(0).standard_normal((6, 4)), np.random.default_rng(1).standard_normal((4, 3))


def top(x, axis):
    return np.max(x, axis=axis, keepdims=True)


def logsumexp(x):
    a = np.max(x)
    return a + np.log(np.sum(np.exp(x - a)))


def by_rows(x):
    a = top(x, 1)
    return np.squeeze(a, 1) + np.log(np.sum(np.exp(x - a), axis=1))


def halved(x):
    a = np.max(x, axis=1)
    return 0.5 * np.log(np.sum(np.exp(2.0 * (x - a[:, None])), axis=1)) + a


def softmax(x):
    e = np.exp(x - top(x, 1))
    return e / np.sum(e, axis=1, keepdims=True)


CANCELS = {
    "log-sum-exp": logsumexp, "by rows": by_rows, "halved": halved,
    "by columns": lambda x: np.sum((lambda a: np.log(np.sum(np.exp(x - a), axis=0)) + a)(np.max(x, axis=0))),
    "softmax": softmax, "softmin": lambda x: (lambda e: e / np.sum(e))(np.exp(np.min(x) - x)),
    "logsoftmax": lambda x: (lambda z: z - np.log(np.sum(np.exp(z), axis=1, keepdims=True)))(x - top(x, 1)),
    "cross entropy": lambda x: np.mean(by_rows(x) - x[:, 0]),
    "norm": lambda x: (lambda a: np.log(np.sqrt(np.sum(np.exp(x - a) ** 2))) + a)(np.max(x)),
    "transposed": lambda x: (lambda a: np.log(np.sum(np.exp(x - a[:, None]).T, axis=0)) + a)(np.max(x, axis=1)),
    "over four": lambda x: (lambda a: 4.0 * np.log(np.sum(np.exp((x - a) / 4.0))) + a)(np.max(x)),
    "the larger": lambda x: (lambda a: np.log(np.sum(np.exp(np.maximum(x - a, x[::-1] - a)))) + a)(np.max(x)),
    "broadcast": lambda x: (lambda a: np.log(np.sum(np.exp(np.broadcast_to(x - a, (2, 6, 4))), axis=(1, 2)))
                                      + a)(np.max(x)),
}
STAYS = {
    "alone": lambda x: np.max(x),
    "not added again": lambda x: np.log(np.sum(np.exp(x - np.max(x)))),
    "added twice": lambda x: (lambda a: 2.0 * a + np.log(np.sum(np.exp(x - a))))(np.max(x)),
    "of other rows": lambda x: (lambda a: a[::-1] + np.log(np.sum(np.exp(x - a[:, None]), axis=1)))(np.max(x, axis=1)),
    "summed over its own axis": lambda x: (lambda a: np.log(np.sum(np.exp(x - a[:, None])))
                                                     + np.sum(a))(np.max(x, axis=1)),
    "one term more": lambda x: (lambda a: np.log(1.0 + np.sum(np.exp(x - a))) + a)(np.max(x)),
    "cut off": lambda x: (lambda a: np.log(np.sum(np.exp(np.maximum(x - a, -1.5)))) + a)(np.max(x)),
    "returned too": lambda x: (lambda a: np.stack((a + np.log(np.sum(np.exp(x - a))), a)))(np.max(x)),
    "in a power": lambda x: (lambda a: np.sum(np.exp(x - a)) ** 2 * np.exp(a))(np.max(x)),
}


def constants(f):
    return sum(e.op.name == "stop_gradient" for e in without_cancelling(trace(f, [X]).func).equations)


@pytest.mark.parametrize("name", CANCELS)
def test_what_cancels_is_a_constant(name):
    assert constants(CANCELS[name]) > 0


@pytest.mark.parametrize("name", STAYS)
def test_what_does_not_is_none(name):
    assert constants(STAYS[name]) == 0


@pytest.mark.parametrize("name", [*CANCELS, *STAYS])
def test_derivatives_are_right(name):
    """Against differences, in both modes; the second derivative against differences of the first."""
    f, dx, h = {**CANCELS, **STAYS}[name], np.cos(np.arange(24.0)).reshape(6, 4), 1e-6
    slope = (f(X + h * dx) - f(X - h * dx)) / (2 * h)
    np.testing.assert_allclose(np.tensordot(fad.jacrev(f)(X), dx, 2), slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fad.jvp(f, (X,), (dx,))[1], slope, rtol=1e-6, atol=1e-9)
    g = fad.grad(lambda x: np.sum(np.sin(f(x))))
    np.testing.assert_allclose(fad.jvp(g, (X,), (dx,))[1], (g(X + h * dx) - g(X - h * dx)) / (2 * h), rtol=1e-5,
                               atol=1e-8)
    with fad.config.using(compile="now"):
        np.testing.assert_allclose(fad.jvp(f, (X,), (dx,))[1], slope, rtol=1e-6, atol=1e-9)
