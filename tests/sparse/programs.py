"""Functions with sparse derivatives, as users write them."""
import numpy as np


def stencil(x):
    return np.concatenate((x[:1], x[1:-1] * (x[:-2] - x[2:]) + np.sin(x[1:-1]), x[-1:]))


def stencil_loop(x):
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = x[i - 1] * x[i + 1] + np.sin(x[i])
    return y


def running(x):
    """Lower triangular: each result depends on all before it."""
    y, s = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i] ** 2
        y[i] = s
    return y


def laplace(u):
    """The five-point stencil on a square, and a reaction term."""
    m = int(np.sqrt(len(u)))
    u = u.reshape(m, m)
    w = np.zeros((m + 2, m + 2))
    w[1:-1, 1:-1] = u
    return (4 * u - w[2:, 1:-1] - w[:-2, 1:-1] - w[1:-1, 2:] - w[1:-1, :-2] + np.exp(u)).ravel()


def elements(x, corners):
    """Finite elements: gathered from three corners each, added up at the first of them."""
    e, y = x[corners], np.zeros(len(x))
    np.add.at(y, corners[:, 0], e[:, 0] * e[:, 1] * e[:, 2])
    return y


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_loop(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return s


def arrow(x):
    return np.sum(x[0] * x ** 2)


def by_parity(x):
    y = np.zeros(len(x))
    for i in range(len(x) - 1):
        if i % 2:
            y[i] = x[i] ** 2
        else:
            y[i] = x[i + 1] ** 3
    return y


def by_sign(x):
    """Which neighbour a result depends on is decided by the data."""
    y = np.zeros(len(x))
    for i in range(len(x) - 1):
        y[i] = x[i] ** 2 if x[i] > 0 else x[i + 1] ** 3
    return y


def until_small(x):
    """How far values spread is decided by the data."""
    while np.max(np.abs(x)) > 0.5:
        x = np.concatenate((x[:1] * 0.4, x[1:] * 0.3 + x[:-1] * 0.3))
    return x


def at_largest(x):
    return x * x[np.argmax(x)]


def with_part_raised(x):
    y = x * 2.0
    y[np.argmin(x)] += x[0] ** 2
    return y


JACOBIANS = {                                                # name: function, whether the pattern has no place to spare
    "stencil": (stencil, True), "stencil_loop": (stencil_loop, True), "running": (running, True),
    "laplace": (laplace, True),
    "by_parity": (by_parity, True), "by_sign": (by_sign, False), "until_small": (until_small, False),
    "at_largest": (at_largest, False),
    "with_part_raised": (with_part_raised, False),
}
HESSIANS = {"rosenbrock": rosenbrock, "rosenbrock_loop": rosenbrock_loop, "arrow": arrow}
