"""Names and attributes that end every iteration of a loop as one array."""
import numpy as np
import pytest

import fad

from ..fuzz.differences import slope


class Network:
    """State of a training loop: two attributes are one array after each iteration."""

    def __init__(self):
        self.w, self.out, self.guess = np.ones(2), np.zeros(2), np.full(2, 3.0)

    def forward(self, x):
        self.out = np.tanh(self.w * x + self.guess)
        return self.out

    def train(self, x, count):
        for _ in range(count):
            self.guess = self.forward(x)
            self.w = self.w + 0.1 * self.guess
        return self.guess.sum()


def two_names(x):
    first, second = np.zeros(2), np.ones(2)
    for _ in range(5):
        first = np.tanh(x + second)
        second = first
    first *= 2.0
    return first.sum() * second[0]


def test_two_attributes_are_one_array_after_a_loop():
    network, plain = Network(), Network()
    g = fad.value_and_grad(lambda x: network.train(x, 6), fallback=False)
    x = np.array([0.3, 0.8])
    for _ in range(3):
        value, gradient = g(x)
        before = plain.w.copy(), plain.guess.copy()

        def f(x, before=before):
            plain.w, plain.guess = before
            return plain.train(x, 6)
        np.testing.assert_allclose(gradient, [slope(f, x, e)[0] for e in np.eye(2)], rtol=1e-6)
        assert value == f(x)
        assert network.guess is network.out
        np.testing.assert_array_equal(network.w, plain.w)


def test_two_names_are_one_array_after_a_loop():
    x = np.array([0.3, 0.8])
    value, gradient = fad.value_and_grad(two_names, fallback=False)(x)
    assert value == pytest.approx(two_names(x), rel=1e-14)
    np.testing.assert_allclose(gradient, [slope(two_names, x, e)[0] for e in np.eye(2)], rtol=1e-6)


def test_two_names_may_be_one_array_after_no_iteration():
    """Where nobody knows whether there is an iteration, a write to one of the two is refused."""
    def f(x, n):
        first, second = np.zeros(2), np.ones(2)
        for _ in range(n):
            first = np.tanh(x + second)
            second = first
        first *= 2.0
        return first.sum() * second[0] + x.sum()
    x = np.array([0.3, 0.8])
    for n in (0, 1, 4):
        assert fad.value_and_grad(f)(x, n)[0] == pytest.approx(f(x, n), rel=1e-14)
