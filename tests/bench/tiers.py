"""How long a user waits for N calls of a function, by tiers and in the better of both worlds: `python -m
tests.bench.tiers`.

Each row: seconds for 1, 3, 10, 100 and 10,000 calls interpreted and compiled at once, both estimated from a few of
them, and as fad makes them, as a multiple of the less of both. No kernel is on disk.
"""
import sys
import time
from collections.abc import Callable

import numpy as np

import fad
from fad.backend.running import compile as kernels

COUNTS = 1, 3, 10, 100, 10_000
LONGEST = 3.0                                                 # seconds: nobody plays more calls than fit


def polynomial(x):
    return np.sum(x ** 3 - 2.0 * x * x + x)


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def network(p, X):
    h = np.tanh(X @ p["a"] + p["b"])
    return np.mean((np.tanh(h @ p["c"]) @ p["d"]) ** 2)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def recurrence(x, n):
    s = 0.0
    for i in range(n):
        s = 0.999 * s + np.sin(x * i)
    return s


def heat(u, steps):
    for _ in range(steps):
        u = u.copy()
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def garch(w, x):
    h, s = 1.0, x[0] ** 2
    for t in range(1, x.size):
        h = w[0] + w[1] * x[t - 1] ** 2 + w[2] * h
        s += np.log(h) + x[t] ** 2 / h
    return s


def pairwise(X):
    d = X[:, None, :] - X[None, :, :]
    return np.sum(1.0 / np.sqrt(np.sum(d * d, axis=2) + 0.01))


def solve(A, b):
    x = np.linalg.solve(A, b)
    return np.sum(x * x)


def layers(x):
    for k in range(30):
        x = np.tanh(x * (1.0 + 0.01 * k)) + np.sin(x)
    return np.sum(x)


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(np.log(np.sum(e, axis=1)))


def chain(x):
    return np.sum(np.exp(-x * x) * np.sin(x))


def programs() -> dict:
    """Name -> the function, its arguments."""
    rng = np.random.default_rng(0)
    normal = rng.standard_normal
    p = {"a": normal((20, 30)), "b": normal(30), "c": normal((30, 30)), "d": normal((30, 2))}
    return {"polynomial": (polynomial, (normal(10),)),
            "logistic": (logistic, (normal(10) * 0.1, normal((500, 10)), np.sign(normal(500)))),
            "network": (network, (p, normal((100, 20)))),
            "newton": (newton, (2.0,)),
            "recurrence": (recurrence, (0.3, 20_000)),
            "heat": (heat, (normal(200), 100)),
            "garch": (garch, (np.array([0.1, 0.2, 0.7]), normal(300))),
            "pairwise": (pairwise, (normal((100, 3)),)),
            "solve": (solve, (normal((20, 20)) + 9.0 * np.eye(20), normal(20))),
            "layers": (layers, (normal(1000),)),
            "softmax": (softmax, (normal((200, 50)),)),
            "chain": (chain, (normal(200_000),))}


def played(g: Callable, args: tuple, count: int) -> float:
    """The seconds of so many calls; once there is a kernel and LONGEST is over, the rest as the latest of them."""
    started, latest = time.perf_counter(), []
    for k in range(count):
        before = time.perf_counter()
        g(*args)
        now = time.perf_counter()
        latest = [*latest[-8:], now - before]
        if now - started > LONGEST and len(latest) == 9 and (g.compilations or now - started > 3 * LONGEST):
            return now - started + (count - k - 1) * sorted(latest)[4]
    return time.perf_counter() - started


def anew(f: Callable, policy: str) -> Callable:
    """The derivative, as if for the first time in this process."""
    kernels._last.clear()
    g = fad.jit(fad.grad(f), compile=policy)
    g.clear()
    return g


def by_one_tier(f: Callable, args: tuple, policy: str) -> tuple:
    """The seconds of the first call, and of each later one."""
    g = anew(f, policy)
    first = played(g, args, 1)
    later = min(played(g, args, 3) / 3 for _ in range(3))
    g.clear()
    return first, later


def ratios(f: Callable, args: tuple, counts: tuple = COUNTS) -> list:
    """For each number of calls, the time by tiers over the less of the times by one tier."""
    tiers = [by_one_tier(f, args, policy) for policy in ("never", "now")]
    found = []
    for count in counts:
        best = min(first + (count - 1) * later for first, later in tiers)
        g = anew(f, "auto")
        found.append(played(g, args, count) / best)
        g.clear()
    return found


def main(names: list) -> None:
    """The table."""
    anew(polynomial, "now")(np.ones(3))                       # Numba's start is not what is measured
    print(f"{'':12}" + "".join(f"{count:>9}" for count in COUNTS))
    worst = []
    with fad.config.using(cache_dir=None):
        for name, (f, args) in programs().items():
            if not names or name in names:
                found = ratios(f, args)
                worst.append(max(found))
                print(f"{name:12}" + "".join(f"{r:9.2f}" for r in found), flush=True)
    print(f"worst {max(worst):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
