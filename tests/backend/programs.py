"""Programs whose loops and branches are written as region ops, as capture writes them."""
from typing import Any

import numpy as np

from fad.ops.control import COND, FOR, WHILE
from fad.ops.table import TABLE as op

from ..bench.plain import in_place

rng = np.random.default_rng(0)


def loop(count: Any, body: Any, *init: Any, names: tuple, start: Any = 0) -> Any:
    results = FOR.run_regions((start, count, 1, *init), (body,), names=names)
    return results[0] if len(results) == 1 else results


def put(x: Any, value: Any, *where: Any) -> Any:
    return op["update"](x, value, *where, spec=("i",) * len(where), at=0)


def garch(w, x):
    def body(t, h, s):
        h = w[0] + w[1] * x[t - 1] ** 2 + w[2] * h
        return h, s + np.log(h) + x[t] ** 2 / h
    return loop(x.shape[0], body, 1.0, x[0] ** 2, names=("h", "s"), start=1)[1]


def heat(u):
    def body(t, u):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return (new,)
    u = loop(20, body, u, names=("u",))
    return np.sum(u * u)


def pairwise(X):
    def outer(i, e):
        def inner(j, e):
            d = X[i] - X[j]
            return (e + 1.0 / np.sqrt(d @ d + 0.01),)
        return (loop(i, inner, e, names=("e",)),)
    return loop(X.shape[0], outer, 0.0, names=("e",))


def newton(a):
    def better(r):
        return (0.5 * (r + a / r),)
    return WHILE.run_regions((a,), (lambda r: abs(r * r - a) > 1e-13, better), names=("r",))[0]


def branches(x):
    def body(i, t):
        v = x[i]
        return COND.run_regions((v > 0.5,), (lambda: (t - 3 * v,), lambda: (t + v * v,)), names=("t",))
    return loop(x.shape[0], body, 0.0, names=("t",))


def fill(x):
    y = loop(x.shape[0], lambda k, y: (put(y, np.sin(x[k]) * k, k),), np.zeros(x.shape[0]), names=("y",))
    return np.sum(y ** 2)


def seidel(A):
    n = A.shape[0]

    def row(i, A):
        def element(j, A):
            return (put(A, (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0, i, j),)
        return (loop(n - 1, element, A, names=("A",), start=1),)
    A = loop(n - 1, row, A, names=("A",), start=1)
    return np.sum(A * A)


def change_in_a_branch(x):
    def body(i, y):
        return COND.run_regions((y[i] > 0.5,), (lambda: (y,), lambda: (put(y, y[i] * 2.0, i),)), names=("y",))
    return loop(x.shape[0], body, x, names=("y",))


def change_hands(x, y):
    return loop(5, lambda i, a, b: (b, a * 2.0), x, y, names=("a", "b"))


def same_twice(x):
    a, b = loop(3, lambda i, a, b: (put(a, 7.0, i), a), x, x * 2.0, names=("a", "b"))
    return a - b


def reversed_and_shifted(x):
    y = np.exp(x)
    y[1:] = y[:-1] * 2.0
    z = y[::-1] + x
    z[0] = y[1]
    return z, np.sum(y * z)


def start_is_read(x):
    """Iterations read the array that the carry starts as, as it is and reversed."""
    y = np.sin(x)

    def body(i, z):
        return (z * 0.5 + y[::-1],)
    return np.sum(loop(3, body, y, names=("z",)))


def old_number_in_branch(x):
    """A branch computes a carry anew, and then uses its old value."""
    def body(i, a, b):
        def change():
            return a * 1.5, b + 2.0 * a

        def keep():
            return a, b
        return COND.run_regions([x[i] > 0.5], (keep, change), names=("a", "b"))
    return loop(x.shape[0], body, 1.0, 0.5, names=("a", "b"))


def read_before_one_branch_changes_it(x):
    """An element of an array, which one branch takes over and changes, is read in front of the branch."""
    small = x[0] < 2.0
    y, = COND.run_regions([small], (lambda: [np.zeros(2) * x[1]], lambda: [x[:2] * 0.7]), names=("y",))
    read = y[1] * 0.3
    z, = COND.run_regions([small], (lambda: [x[:2] * x[1]], lambda: [put(y, y[1] + 1.0, 1)]), names=("z",))
    return read + z[1] * 0.3


def moved_within(x):
    """What is written is read from the same array: shifted, by places, and added."""
    y = np.sin(x)
    y[1:] = y[:-1]
    y[np.array([0, 2])] = y[np.array([2, 0])]
    y[:-1] += y[1:]
    z = y.reshape(2, 3) * 1.0
    z[:, 1:] = z[:, :-1]
    return y, np.sum(z * np.arange(3.0))


def multiples_of_remainders(x):
    """Subscripts that are a multiple of a remainder, and a remainder of a multiple."""
    def body(i, y):
        y = put(y, 0.5 * x[2 * (i % 3)] + y[::-1][i % 3], 2 * (i % 2))
        return (put(y, y[(2 * i) % 3] + 0.1, (3 * i) % 4),)
    return loop(5, body, np.sin(x), names=("y",))


def many_axes(x):
    return np.sum(np.sin(x) * x, axis=(0, 6))


PROGRAMS = [
    (garch, np.array([0.1, 0.2, 0.7]), rng.standard_normal(50)), (heat, rng.uniform(size=12)),
    (pairwise, rng.standard_normal((6, 3))), (newton, 7.3), (branches, rng.uniform(-1, 1, 12)),
    (fill, rng.uniform(size=9)), (seidel, rng.uniform(size=(6, 6))), (change_in_a_branch, rng.uniform(size=9)),
    (change_hands, rng.uniform(size=4), rng.uniform(size=4)), (same_twice, rng.uniform(size=5)),
    (in_place, rng.uniform(size=6)), (reversed_and_shifted, rng.uniform(size=7)), (start_is_read, rng.uniform(size=5)),
    (old_number_in_branch, rng.uniform(size=8)), (read_before_one_branch_changes_it, rng.uniform(size=3)),
    (moved_within, rng.uniform(size=6)), (multiples_of_remainders, rng.uniform(size=6)),
    (many_axes, rng.uniform(size=(2, 3, 2, 2, 3, 2, 2))),
]
