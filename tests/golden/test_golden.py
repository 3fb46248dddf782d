"""The text of twelve programs' derivatives, word for word: what a program costs can be read off it."""
import numpy as np
import pytest

import fad
from fad.backend.emission.emit import source

from .files import assert_is_as_in_file, values


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def chain(x):
    return np.sum(np.exp(-x * x) * np.sin(x))


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def smooth(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[2:]) / 2
    return y @ y


def network(params, X, y):
    W, b, v = params
    return np.mean((np.tanh(X @ W + b) @ v - y) ** 2)


def garch(p, returns):
    h, total = p[0], 0.0
    for r in returns:
        total += np.log(h) + r * r / h
        h = p[0] + p[1] * r * r + p[2] * h
    return total


def heat(u, steps):
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u @ u


def upwind(u, steps):
    for _ in range(steps):
        half = u - 0.1 * np.concatenate((u[:1], u[1:] - u[:-1]))
        u = u - 0.2 * np.concatenate((half[:1], half[1:] * (half[1:] - half[:-1])))
    return u @ u


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = (x + a / x) / 2
    return x


def huber(x):
    total = 0.0
    for v in x:
        total += v * v / 2 if abs(v) < 1.0 else abs(v) - 0.5
    return total


def bones(angles, W, base, places):
    a = np.zeros(9)
    a[places] = angles
    turns = np.stack([np.stack([np.cos(a), -np.sin(a)], -1), np.stack([np.sin(a), np.cos(a)], -1)], -2)
    return np.einsum("vij,vj->vi", np.einsum("vb,bij->vij", W, turns), base)


CASES = [(rosenbrock, (9,)), (chain, (9,)), (logistic, (3,), (5, 3), (5,)), (softmax, (4, 3)), (smooth, (9,)),
         (network, [(3, 4), (4,), (4,)], (20, 3), (20,)), (garch, (3,), (20,)), (heat, (20,), 50),
         (upwind, (2000,), 50), (newton, 2.0), (huber, (20,))]


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES], ids=[c[0].__name__ for c in CASES])
def test_text_is_what_it_was(f, args):
    program, _ = fad.value_and_grad(f).program_for(*values(args))
    text = source(program.runner.func, f.__name__, guards=program.traced.guards)
    assert_is_as_in_file(f"programs/{f.__name__}", text)


def test_text_of_a_jacobian():
    args = values([(3,), (150, 9), (150, 2), np.array([7, 2, 4])])
    program, _ = fad.jacobian(bones).program_for(*args)
    text = source(program.runner.func, "bones", guards=program.traced.guards)
    assert_is_as_in_file("programs/bones", text)
