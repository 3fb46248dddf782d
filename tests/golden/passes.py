"""One small program for each pass, as a user would write it, in which the pass finds its work.

x and y are vectors, n is a number.
"""
import numpy as np
from scipy import linalg

import fad


def quartic(x):
    return np.sum(x ** 4)


def kept(x):
    return np.sum(fad.checkpoint(np.sin)(x) * x)


def power(x):
    k = 1
    for _ in range(len(x)):
        k = k * 3
    return x * k


def heads(W, a):
    return np.sin((W @ np.outer(a, np.arange(12.0))).reshape(len(W), 3, 4))


def batch(X, rows):
    return np.tanh(X * 2.0)[rows]


def turned(X, rows):
    return -X[rows].T


def shared(c, W, X):
    return np.sum(np.tanh((X - c) @ W))


def moved(x):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, x.size):
        y[i] = x[i] * x[i - 1]
    return np.sum(y * y)


def scatter(X, Y):
    S = np.zeros((X.shape[1], Y.shape[1]))
    for i in range(X.shape[1]):
        S[i] = X[:, i] @ Y
    return S


def gram(X, Z):
    return np.sum((X @ X.T) * Z)


def logsumexp(x):
    a = np.max(x)
    return np.log(np.sum(np.exp(x - a))) + a


def weighted(x):
    total = 0.0
    for v in x:
        total = total + 2.0 * v
    return total


def chosen(x):
    large = True if x[0] > 1.0 else False
    y = 2.0 * x
    return np.sum(y) if large else x[1]


def halves(x):
    total = 0.0
    for v in x:
        total = total + v / 2.0
    return total


def energy(x):
    total = 0.0
    for v in x:
        total = total + v * v
    return total


def cubes(x):
    total = 0.0
    for v in x:
        total = total + v ** 3
    return total


def transposed(A):
    return np.transpose(np.transpose(A)) * 1.0


def twice(x):
    return np.sin(x) * np.sin(x)


def invariant(x, c):
    total = 0.0
    for v in x:
        total = total + np.sin(c) * v
    return total


def odd(x):
    total = 0.0
    for i in range(len(x) // 2):
        total += x[2 * i + 1]
    return total


def least_squares(A, b):
    return linalg.lstsq(A, b)[0]


def pendulum(y, n):
    for _ in range(n):
        y = y + 0.01 * np.array([y[1], -np.sin(y[0])])
    return y


def summit(x):
    top = x[0]
    for v in x:
        if v > top:
            top = v
    return top


def positive(x, y):
    total = 0.0
    for i in range(x.size):
        if y[i] > 0:
            total += x[i] * y[i]
    return total


def backwards(x):
    total, k = 0.0, x.size
    for v in x:
        k -= 1
        total += v * x[k]
    return total


def pivot(x, y):
    total = 0.0
    for v in y:
        total += x[3] * v
    return total


def nearest(X):
    return np.argmin(np.abs(X - 0.5), axis=1)


def smoothed(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.7 * y[i - 1] + 0.3 * x[i]
    return y


def averages(x):
    y = x.copy()
    for k in range(len(x) - 1, 0, -1):
        for i in range(k):
            y[i] = 0.5 * (y[i] + y[i + 1])
    return y[0]


def eliminated(A):
    for k in range(3):
        for j in range(k + 1, 4):
            A[3, j] = A[3, j] - A[3, k] * A[k, j]
    return A[3, 3]


def upwind(x):
    y = x * 2.0
    z = np.zeros(len(x))
    for i in range(1, len(x)):
        z[i] = y[i] - y[i - 1]
    return np.sum(z * z)


def neighbours(x):
    for _ in range(3):
        y = x.copy()
        y[1:-1] = x[2:] + x[:-2]
        x = y
    return np.sum(x)


def distances(X, C):
    d = X[:, None, :] - C
    return np.sum(np.sqrt(np.sum(d * d, axis=2)))


def shifted(x):
    y = x.copy()
    y[1:] = x[:-1] * 2
    return y, np.sin(x)


def iterates(A):
    total = 0.0
    for x in A:
        s = 0.3
        for v in x:
            s = np.sin(s * v)
        total = 0.9 * total + s
    return total


def volatility(x):
    h = s = 1.0
    for v in x:
        h = 0.1 + 0.2 * v ** 2 + 0.7 * h
        s += np.log(h) + v ** 2 / h
    return s


def products(X, W):
    T, s = np.zeros((4, 20)), np.zeros(4)
    for i in range(4):
        for j in range(3):
            T[i] += X[:, j] * W[i, j]
    for i in range(4):
        s[i] = np.sum(T[i])
    return s


def scratch(X, W):
    t, total = np.empty(20), 0.0
    for k in range(len(W)):
        for i in range(20):
            t[i] = X[i, 0] * W[k, 0]
        for i in range(20):
            total += t[i] * t[i]
    return total


def exponentials(x):
    t = np.zeros(20)
    for i in range(20):
        t[i] = np.exp(x[i])
    return np.sum(t * t)


def columns(X, w):
    total = 0.0
    for k in range(8):
        for j in range(X.shape[1]):
            total += np.sum(X[2:18, j] * w[k])
    return total


def rectified(w, X):
    total = 0.0
    for i in range(X.shape[0]):
        y = 1.0
        for j in range(w.size):
            y = max(y, 0.5) * w[j] + X[i, 0]
        total += y
    return total


def tables(A, C):
    return np.sin(A @ C)


V, W = (20,), (20, 3)
CASES = {
    "inline": (fad.grad, kept, V),
    "overflow": (fad.jit, power, V),
    "split_early": (fad.jit, heads, (8, 5), (5,)),
    "hoist_gathers": (fad.jit, batch, W, np.array([3, 1])),
    "raise_products": (fad.jit, scatter, (40, 50), (40, 60)),
    "common_factors": (fad.grad, gram, (20, 9), (20, 20)),
    "hoist_transposes": (fad.jit, turned, W, np.array([3, 1, 3, 0, 7, 2, 5, 9, 4, 4, 1])),
    "join_equal_fills": (fad.grad, exponentials, V),
    "sum_at_once": (fad.jit, products, W, (4, 3)),
    "factor_sums": (fad.grad, shared, (3,), (3, 4), W),
    "without_cancelling": (fad.grad, logsumexp, V),
    "dce": (fad.grad, quartic, V),
    "drop_invariant_carries": (fad.grad, weighted, V),
    "known_conditions": (fad.jit, chosen, V),
    "fold": (fad.grad, halves, V),
    "simplify": (fad.jit, transposed, W),
    "cse": (fad.jit, twice, V),
    "licm": (fad.jit, invariant, V, 0.5),
    "hoist_checks": (fad.jit, odd, V),
    "legalise": (fad.jit, least_squares, W, V),
    "merge_axes": (fad.jit, tables, (6, 7, 40), (40, 50)),
    "replace_aggregates": (fad.jit, pendulum, (2,), 9),
    "reverse_loops": (fad.grad, energy, V),
    "hoist_reads": (fad.jit, pivot, V, V),
    "hoist_reads_of_carries": (fad.grad, eliminated, (4, 4)),
    "cse_of_integers": (fad.grad, positive, V, V),
    "substitute_inductions": (fad.jit, backwards, V),
    "sink_assignments": (fad.grad, summit, V),
    "promote_sums": (fad.grad, pivot, V, V),
    "drop_dead_initialisation": (fad.grad, cubes, V),
    "drop_dead_stores": (fad.grad, moved, V),
    "privatise_carries": (fad.jit, scratch, W, W),
    "pack_columns": (fad.jit, columns, W, V),
    "elide_copies": (fad.grad, iterates, W),
    "slice_additions": (fad.grad, upwind, V),
    "add_edges": (fad.grad, neighbours, V),
    "scatter_to_gather": (fad.grad, neighbours, V),
    "rotate_elements": (fad.jit, smoothed, V),
    "drop_guards": (fad.grad, averages, V),
    "distribute": (fad.jit, volatility, (40,)),
    "split_searches": (fad.jit, nearest, W),
    "rematerialise": (fad.grad, distances, W, (5, 3)),
    "read_before_write": (fad.jit, shifted, V),
    "guard_sums": (fad.grad, rectified, V, (300, 2)),
}
