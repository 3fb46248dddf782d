"""Plain programs beside their own gradients, at sizes where the compiled primal takes about a millisecond.

    python -m tests.bench.plain [NAME ...]

prints the table: ms of the primal, ms of the gradient, their ratio, bytes saved, seconds to the first gradient.
"""
import math
import sys
import time

import numpy as np

import fad

from .timing import minima


def running_sum(x):
    s = 0
    for k in range(len(x)):
        s += x[k] * x[k]
    return s


def fill(x):
    y = np.zeros(len(x))
    for k in range(x.shape[0]):
        y[k] = math.sin(x[k]) * k
    return np.sum(y ** 2)


def recurrence(x):
    h = np.empty_like(x)
    h[0] = 1.0
    for t in range(1, x.size):
        h[t] = 0.1 + 0.2 * x[t - 1] ** 2 + 0.7 * h[t - 1]
    return np.sum(np.log(h) + x ** 2 / h)


def in_place(x):
    y = x.copy()
    y += 1.0
    y[1:] *= y[:-1]
    y[::2] -= 0.5 * y[::2] ** 2
    row = y[:3]
    row[1] = 2.0 * row[0]
    return np.sum(y ** 3)


def branches(x):
    total = 0.0
    for value in x:
        if value > 0.5:
            total += value ** 2
        elif value > 0:
            total -= 3 * value
        else:
            continue
    return total


def early_exit(x):
    s = 1.0
    for value in x:
        s *= 1 + value
        if s > 2.5:
            break
    return s


def early_return(x):
    for k in range(x.size):
        if x[k] < 0:
            return x[k] ** 2 * k
    return np.sum(x)


def newton_roots(a):
    s = 0.0
    for value in a:
        r = value
        while abs(r * r - value) > 1e-13 * value:
            r = 0.5 * (r + value / r)
        s += r * r * r
    return s


def triangular(A):
    L = np.zeros_like(A)
    n = A.shape[0]
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j] - L[i, :j] @ L[j, :j]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(np.log(np.diag(L))) + L[n - 1, 0]


def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y * y)


def heat(u):
    for _ in range(20):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u ** 2)


def seidel(A):
    A = A.copy()
    n = A.shape[0]
    for _ in range(2):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0
    return np.sum(A * A)


def pairwise(X):
    e = 0.0
    for i in range(X.shape[0]):
        for j in range(i):
            d = X[i] - X[j]
            e += 1.0 / math.sqrt(d @ d + 0.01)
    return e


def sparse_product(v, indptr, indices, data):
    y = np.empty(indptr.size - 1)
    for i in range(indptr.size - 1):
        cols = indices[indptr[i]:indptr[i + 1]]
        y[i] = data[indptr[i]:indptr[i + 1]] @ v[cols]
    return np.sum(y ** 2)


def scatter(x, bins):
    h = np.zeros(100)
    for k, b in enumerate(bins):
        h[b] += x[k] ** 2
    np.add.at(h, bins, x)
    return np.prod(1.0 + h / x.size)


def scan_of_matrices(x):
    M = np.eye(2)
    for a, b in zip(x[:-1], x[1:]):
        M = M @ np.array([[np.cos(a), -np.sin(b)], [np.sin(a), np.cos(b)]])
    return M[0, 1]


def oscillator(x, n):
    q, p = x[0], x[1]
    for _ in range(n):
        # small steps: numbers that decay below 1e-308 take a hundred times as long
        p = p - 0.005 * (q + 0.1 * p)
        q = q + 0.005 * p
    return 0.5 * (q * q + p * p)


def logistic_map(r, n):
    x = 0.3
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def simpson(p, n):
    f = lambda t, scale=1.0: np.exp(-p * t * t) * scale
    s = f(0.0) + f(1.0)
    for k in range(1, n):
        s += (4.0 if k % 2 else 2.0) * f(k / n)
    return s / (3 * n)


def warping(a, b):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def american_option(sigma, n):
    r, S, K = 0.05, 100.0, 100.0
    dt = 1.0 / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    v = np.empty(n + 1)
    for i in range(n + 1):
        v[i] = max(K - S * u ** (n - i) * d ** i, 0.0)
    for k in range(n - 1, -1, -1):
        for i in range(k + 1):
            hold = math.exp(-r * dt) * (p * v[i] + (1 - p) * v[i + 1])
            v[i] = max(hold, K - S * u ** (k - i) * d ** i)
    return v[0]


def cases():
    """name -> (function, arguments); the gradient is with respect to the first argument."""
    rng = np.random.default_rng(1)
    B = rng.standard_normal((300, 300))
    rows = np.arange(0, 300_001, 6)
    given = [
        (running_sum, rng.uniform(0, 1, 2_000_000)), (fill, rng.uniform(0, 1, 500_000)),
        (recurrence, rng.standard_normal(300_000)),
        (in_place, rng.uniform(0, 1, 300_000)), (branches, rng.uniform(-1, 1, 2_000_000)),
        (early_exit, rng.uniform(0, 1e-7, 1_000_000)),
        (early_return, rng.uniform(0, 1, 1_500_000)), (newton_roots, rng.uniform(1, 9, 10_000)),
        (triangular, B @ B.T + 300 * np.eye(300)),
        (durbin, rng.uniform(0, 3e-4, 2000)), (heat, rng.uniform(0, 1, 100_000)),
        (seidel, rng.uniform(0, 1, (400, 400))),
        (pairwise, rng.standard_normal((2000, 3))),
        (sparse_product, rng.uniform(0, 1, 1000), rows, rng.integers(0, 1000, 300_000), rng.uniform(0, 1, 300_000)),
        (scatter, rng.uniform(0, 1, 500_000), rng.integers(0, 100, 500_000)),
        (scan_of_matrices, rng.uniform(0, 1, 50_000)),
        (oscillator, np.array([1.0, 0.2]), 300_000), (logistic_map, np.array(3.2), 300_000),
        (simpson, np.array(1.4), 300_000),
        (warping, rng.standard_normal(300), rng.standard_normal(320)), (american_option, np.array(0.2), 300),
    ]
    return {f.__name__: (f, args) for f, *args in given}


def compiled(name):
    """The primal and the gradient, which are compiled by now, and the processor's seconds to the first gradient."""
    f, args = cases()[name]
    primal, gradient = fad.jit(f, compile="now"), fad.jit(fad.grad(f), compile="now")
    primal(*args)
    start = time.process_time()
    gradient(*args)
    return lambda: primal(*args), lambda: gradient(*args), time.process_time() - start


def main(names):
    print(f"{'program':20}{'primal ms':>10}{'grad ms':>10}{'ratio':>8}{'saved bytes':>14}{'first s':>9}")
    ratios = []
    for name in names or cases():
        *runs, first = compiled(name)
        primal, gradient = minima(runs)
        ratios.append(gradient / primal)
        f, args = cases()[name]
        saved = fad.explain(fad.grad(f), *args).bytes
        print(f"{name:20}{primal * 1e3:10.3f}{gradient * 1e3:10.3f}{ratios[-1]:8.2f}{saved:14,}{first:9.2f}",
              flush=True)
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
