"""Programs of plain loops beside their gradients written by hand in Numba: what a perfect generator of derivatives
could reach.

    python -m tests.bench.loops [NAME ...]        the table: time by hand, time of fad's derivative, their ratio
"""
import math
import sys
from functools import cache

import numba
import numpy as np

import fad

from .timing import minima

njit = numba.njit(fastmath=True, error_model="numpy", boundscheck=False)


# -- ordinary differential equations ---------------------------------------------------------------

def lorenz(p, y0, n, h):
    y, s = y0, 0.0
    for _ in range(n):
        y = y + h * np.array([p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]])
        s += y @ y
    return s


@njit
def lorenz_by_hand(p, y0, n, h):
    x, y, z, s = y0[0], y0[1], y0[2], 0.0
    tape = np.empty((n + 1, 3))
    tape[0, 0], tape[0, 1], tape[0, 2] = x, y, z
    for i in range(n):
        x, y, z = x + h * p[0] * (y - x), y + h * (x * (p[1] - z) - y), z + h * (x * y - p[2] * z)
        tape[i + 1, 0], tape[i + 1, 1], tape[i + 1, 2] = x, y, z
        s += x * x + y * y + z * z
    gx = gy = gz = g0 = g1 = g2 = 0.0
    for i in range(n - 1, -1, -1):
        gx += 2 * tape[i + 1, 0]
        gy += 2 * tape[i + 1, 1]
        gz += 2 * tape[i + 1, 2]
        x, y, z = tape[i, 0], tape[i, 1], tape[i, 2]
        g0 += h * (y - x) * gx
        g1 += h * x * gy
        g2 -= h * z * gz
        gx, gy, gz = (gx - h * p[0] * gx + h * (p[1] - z) * gy + h * y * gz, gy + h * p[0] * gx - h * gy + h * x * gz,
                      gz - h * x * gy - h * p[2] * gz)
    return s, np.array([g0, g1, g2])


def orbit(q, v, n, h):
    s = 0.0
    for _ in range(n):
        r = math.sqrt(q @ q)
        v = v - h * q / r ** 3
        q = q + h * v
        s += q[0]
    return s


@njit
def orbit_by_hand(q, v, n, h):
    a, b, c, d, s = q[0], q[1], v[0], v[1], 0.0
    A, B = np.empty(n), np.empty(n)
    for i in range(n):
        A[i], B[i] = a, b
        r2 = a * a + b * b
        k = h / (r2 * math.sqrt(r2))
        c, d = c - k * a, d - k * b
        a, b = a + h * c, b + h * d
        s += a
    ga = gb = gc = gd = 0.0
    for i in range(n - 1, -1, -1):
        a, b = A[i], B[i]
        ga += 1.0
        gc += h * ga
        gd += h * gb
        r2 = a * a + b * b
        k = h / (r2 * math.sqrt(r2))
        m = 3 * k / r2 * (gc * a + gd * b)
        ga += m * a - k * gc
        gb += m * b - k * gd
    return s, np.array([ga, gb])


# -- recurrences -----------------------------------------------------------------------------------

def autoregression(w, x):
    s = 0.0
    for t in range(2, x.size):
        s += (x[t] - w[0] * x[t - 1] - w[1] * x[t - 2]) ** 2
    return s


@njit
def autoregression_by_hand(w, x):
    s = a = b = 0.0
    for t in range(2, x.size):
        e = x[t] - w[0] * x[t - 1] - w[1] * x[t - 2]
        s += e * e
        a -= 2 * e * x[t - 1]
        b -= 2 * e * x[t - 2]
    return s, np.array([a, b])


def kalman(w, x):
    m, P, s = 0.0, 1.0, 0.0
    for t in range(x.size):
        P = P + w[0]
        S = P + w[1]
        e = x[t] - m
        s += np.log(S) + e * e / S
        K = P / S
        m = m + K * e
        P = (1 - K) * P
    return s


@njit
def kalman_by_hand(w, x):
    n = x.size
    M, Q = np.empty(n), np.empty(n)
    m, P, s = 0.0, 1.0, 0.0
    for t in range(n):
        M[t], Q[t] = m, P
        P += w[0]
        S = P + w[1]
        e = x[t] - m
        s += math.log(S) + e * e / S
        K = P / S
        m += K * e
        P = (1 - K) * P
    gm = gP = g0 = g1 = 0.0
    for t in range(n - 1, -1, -1):
        P = Q[t] + w[0]
        r = 1 / (P + w[1])
        e = x[t] - M[t]
        K = P * r
        gK = gm * e - gP * P
        ge = gm * K + 2 * e * r
        gPP = gP * (1 - K) + gK * r
        gS = r - e * e * r * r - gK * K * r
        gm -= ge
        gP = gPP + gS
        g0 += gP
        g1 += gS
    return s, np.array([g0, g1])


def smoothing(a, x):
    m = np.empty_like(x)
    m[0] = x[0]
    for t in range(1, x.size):
        m[t] = a[0] * x[t] + (1 - a[0]) * m[t - 1]
    return np.sum((x[1:] - m[:-1]) ** 2)


@njit
def smoothing_by_hand(a, x):
    n, w = x.size, a[0]
    m = np.empty(n)
    m[0], s = x[0], 0.0
    for t in range(1, n):
        e = x[t] - m[t - 1]
        s += e * e
        m[t] = w * x[t] + (1 - w) * m[t - 1]
    g = ga = 0.0
    for t in range(n - 1, 0, -1):
        ga += g * (x[t] - m[t - 1])
        g = g * (1 - w) - 2 * (x[t] - m[t - 1])
    return s, np.array([ga])


def hidden_markov(A, B, observed):
    alpha, s = np.full(A.shape[0], 1.0 / A.shape[0]), 0.0
    for k in observed:
        alpha = (alpha @ A) * B[:, k]
        c = np.sum(alpha)
        alpha = alpha / c
        s += np.log(c)
    return s


@njit
def hidden_markov_by_hand(A, B, observed):
    K, n, s = A.shape[0], observed.size, 0.0
    alphas, scales = np.empty((n + 1, K)), np.empty(n)
    for j in range(K):
        alphas[0, j] = 1.0 / K
    for t in range(n):
        k, c = observed[t], 0.0
        for j in range(K):
            a = 0.0
            for i in range(K):
                a += alphas[t, i] * A[i, j]
            alphas[t + 1, j] = a * B[j, k]
            c += alphas[t + 1, j]
        for j in range(K):
            alphas[t + 1, j] /= c
        scales[t] = c
        s += math.log(c)
    gA, g, h = np.zeros((K, K)), np.zeros(K), np.empty(K)
    for t in range(n - 1, -1, -1):
        k, dot = observed[t], 0.0
        for j in range(K):
            dot += g[j] * alphas[t + 1, j]
        for j in range(K):
            h[j] = (g[j] - dot + 1.0) / scales[t] * B[j, k]
        for i in range(K):
            total = 0.0
            for j in range(K):
                gA[i, j] += alphas[t, i] * h[j]
                total += A[i, j] * h[j]
            g[i] = total
    return s, gA


# -- stencils --------------------------------------------------------------------------------------

def wave(u, steps, c):
    old = u.copy()
    for _ in range(steps):
        new = 2 * u - old
        new[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
        old, u = u, new
    return np.sum(u * u)


@njit
def wave_by_hand(u, steps, c):
    n = u.size
    old, now, new = u.copy(), u.copy(), np.empty(n)
    for _ in range(steps):
        new[0], new[n - 1] = 2 * now[0] - old[0], 2 * now[n - 1] - old[n - 1]
        for i in range(1, n - 1):
            new[i] = 2 * now[i] - old[i] + c * (now[i + 1] - 2 * now[i] + now[i - 1])
        old, now, new = now, new, old
    s = 0.0
    g, gold, b = np.empty(n), np.zeros(n), np.empty(n)
    for i in range(n):
        s += now[i] * now[i]
        g[i] = 2 * now[i]
    for _ in range(steps):
        b[0], b[n - 1] = 2 * g[0] + gold[0] + c * g[1], 2 * g[n - 1] + gold[n - 1] + c * g[n - 2]
        b[1] = (2 - 2 * c) * g[1] + c * g[2] + gold[1]
        b[n - 2] = (2 - 2 * c) * g[n - 2] + c * g[n - 3] + gold[n - 2]
        for i in range(2, n - 2):
            b[i] = (2 - 2 * c) * g[i] + c * (g[i + 1] + g[i - 1]) + gold[i]
        for i in range(n):
            gold[i] = -g[i]
        g, b = b, g
    for i in range(n):
        g[i] += gold[i]
    return s, g


def plate(u, steps, c):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = (u[1:-1, 1:-1]
                           + c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]))
        u = new
    return np.sum(u * u)


@njit
def plate_by_hand(u0, steps, c):
    n, m = u0.shape
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = u[i, j] + c * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j])
        u, v = v, u
    s = 0.0
    g, b = 2 * u, np.empty((n, m))
    for i in range(n):
        for j in range(m):
            s += u[i, j] * u[i, j]
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                b[i, j] = g[i, j] if i == 0 or j == 0 or i == n - 1 or j == m - 1 else (1 - 4 * c) * g[i, j]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i - 1, j] += c * g[i, j]
            for j in range(1, m - 1):
                b[i + 1, j] += c * g[i, j]
            for j in range(1, m - 1):
                b[i, j - 1] += c * g[i, j]
            for j in range(1, m - 1):
                b[i, j + 1] += c * g[i, j]
        g, b = b, g
    return s, g


def advection(u, steps, c):
    for _ in range(steps):
        new = np.empty_like(u)
        new[0] = u[0]
        for i in range(1, u.size):
            new[i] = u[i] - c * (u[i] - u[i - 1])
        u = new
    return np.sum(u * u)


@njit
def advection_by_hand(u0, steps, c):
    n = u0.size
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        v[0] = u[0]
        for i in range(1, n):
            v[i] = u[i] - c * (u[i] - u[i - 1])
        u, v = v, u
    s = 0.0
    g, b = 2 * u, np.empty(n)
    for i in range(n):
        s += u[i] * u[i]
    for _ in range(steps):
        b[0], b[n - 1] = g[0] + c * g[1], (1 - c) * g[n - 1]
        for i in range(1, n - 1):
            b[i] = (1 - c) * g[i] + c * g[i + 1]
        g, b = b, g
    return s, g


# -- sums over pairs -------------------------------------------------------------------------------

def lennard_jones(X):
    e = 0.0
    for i in range(X.shape[0]):
        for j in range(i):
            d = X[i] - X[j]
            r2 = np.sum(d * d) + 0.5
            q = 1.0 / r2 ** 3
            e += 4 * (q * q - q)
    return e


@njit
def lennard_jones_by_hand(X):
    n, e, g = X.shape[0], 0.0, np.zeros(X.shape)
    for i in range(n):
        for j in range(i):
            a, b, c = X[i, 0] - X[j, 0], X[i, 1] - X[j, 1], X[i, 2] - X[j, 2]
            r = 1 / (a * a + b * b + c * c + 0.5)
            q = r * r * r
            e += 4 * (q * q - q)
            k = -24 * (2 * q - 1) * q * r
            g[i, 0] += k * a
            g[i, 1] += k * b
            g[i, 2] += k * c
            g[j, 0] -= k * a
            g[j, 1] -= k * b
            g[j, 2] -= k * c
    return e, g


def gaussian_kernel(X, w):
    s = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[0]):
            d = X[i] - X[j]
            s += w[i] * w[j] * np.exp(-0.5 * d @ d)
    return s


@njit
def gaussian_kernel_by_hand(X, w):
    n, s, g = X.shape[0], 0.0, np.zeros(X.shape)
    for i in range(n):
        for j in range(n):
            a, b = X[i, 0] - X[j, 0], X[i, 1] - X[j, 1]
            k = w[i] * w[j] * math.exp(-0.5 * (a * a + b * b))
            s += k
            g[i, 0] -= k * a
            g[i, 1] -= k * b
            g[j, 0] += k * a
            g[j, 1] += k * b
    return s, g


# -- recursions over tables and iterations ---------------------------------------------------------

def alignment(x, y):
    n, m = x.size, y.size
    D = np.zeros((n + 1, m + 1))
    for i in range(n):
        D[i + 1, 0] = D[i, 0] + 1.0
    for j in range(m):
        D[0, j + 1] = D[0, j] + 1.0
    for i in range(n):
        for j in range(m):
            D[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(D[i, j], D[i, j + 1], D[i + 1, j])
    return D[n, m]


@njit
def alignment_by_hand(x, y):
    n, m = x.size, y.size
    D, g, gx = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1)), np.zeros(n)
    for i in range(n):
        D[i + 1, 0] = D[i, 0] + 1.0
    for j in range(m):
        D[0, j + 1] = D[0, j] + 1.0
    for i in range(n):
        for j in range(m):
            D[i + 1, j + 1] = (x[i] - y[j]) ** 2 + min(D[i, j], D[i, j + 1], D[i + 1, j])
    g[n, m] = 1.0
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            k = g[i + 1, j + 1]
            gx[i] += 2 * k * (x[i] - y[j])
            a, b, c = D[i, j], D[i, j + 1], D[i + 1, j]
            if a <= b and a <= c:
                g[i, j] += k
            elif b <= c:
                g[i, j + 1] += k
            else:
                g[i + 1, j] += k
    return D[n, m], gx


def horner(c, x):
    s = 0.0
    for k in range(x.size):
        p = 0.0
        for j in range(c.size):
            p = p * x[k] + c[j]
        s += p * p
    return s


@njit
def horner_by_hand(c, x):
    n, s, g = c.size, 0.0, np.zeros(c.size)
    for k in range(x.size):
        p = 0.0
        for j in range(n):
            p = p * x[k] + c[j]
        s += p * p
        b = 2 * p
        for j in range(n - 1, -1, -1):
            g[j] += b
            b *= x[k]
    return s, g


def newton(a, n):
    s = 0.0
    for k in range(a.size):
        r = 1.0
        for _ in range(n):
            r = r - (r ** 3 - a[k]) / (3 * r ** 2)
        s += r
    return s


@njit
def newton_by_hand(a, n):
    s, g, tape = 0.0, np.zeros(a.size), np.empty(n)
    for k in range(a.size):
        r = 1.0
        for i in range(n):
            tape[i] = r
            r = r - (r * r * r - a[k]) / (3 * r * r)
        s += r
        b = 1.0
        for i in range(n - 1, -1, -1):
            r = tape[i]
            q = 1 / (3 * r * r)
            g[k] += b * q
            b *= 2.0 / 3.0 - 2 * a[k] * q / r
    return s, g


@cache
def cases():
    """name -> (function, arguments, gradient by hand); the gradient is with respect to the first argument."""
    rng = np.random.default_rng(0)
    x1000, x200 = rng.standard_normal(1000), rng.uniform(0, 1, 200)
    A, B = rng.uniform(0.1, 1, (4, 4)), rng.uniform(0.1, 1, (4, 6))
    A, B = A / A.sum(1, keepdims=True), B / B.sum(1, keepdims=True)
    given = [
        (lorenz, (np.array([10.0, 28.0, 2.667]), np.array([1.0, 1.0, 1.0]), 1000, 0.001), lorenz_by_hand),
        (orbit, (np.array([1.0, 0.1]), np.array([0.1, 0.9]), 1000, 0.01), orbit_by_hand),
        (autoregression, (np.array([0.5, 0.2]), x1000), autoregression_by_hand),
        (kalman, (np.array([0.1, 0.5]), x1000), kalman_by_hand),
        (smoothing, (np.array([0.3]), x1000), smoothing_by_hand),
        (hidden_markov, (A, B, rng.integers(0, 6, 500)), hidden_markov_by_hand),
        (wave, (x200, 200, 0.3), wave_by_hand),
        (plate, (rng.uniform(0, 1, (40, 50)), 50, 0.1), plate_by_hand),
        (advection, (x200, 200, 0.4), advection_by_hand),
        (lennard_jones, (2 * rng.standard_normal((150, 3)),), lennard_jones_by_hand),
        (gaussian_kernel, (rng.standard_normal((100, 2)), rng.standard_normal(100)), gaussian_kernel_by_hand),
        (alignment, (rng.standard_normal(60), rng.standard_normal(70)), alignment_by_hand),
        (horner, (rng.standard_normal(10), rng.uniform(-1, 1, 1000)), horner_by_hand),
        (newton, (rng.uniform(1, 5, 200), 12), newton_by_hand),
    ]
    return {f.__name__: (f, args, by_hand) for f, args, by_hand in given}


def measured(name, rounds=25):
    """(seconds by hand, seconds of fad's derivative), once the two agree."""
    f, args, by_hand = cases()[name]
    g = fad.jit(fad.value_and_grad(f), compile="now")
    for ours, theirs in zip(g(*args), by_hand(*args)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    return minima([lambda: by_hand(*args), lambda: g(*args)], rounds)


def main(names):
    print(f"{'program':20}{'by hand us':>12}{'fad us':>12}{'ratio':>8}")
    ratios = []
    for name in names or cases():
        by_hand, ours = measured(name)
        ratios.append(ours / by_hand)
        print(f"{name:20}{by_hand * 1e6:12.1f}{ours * 1e6:12.1f}{ratios[-1]:8.2f}", flush=True)
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}, worst {max(ratios):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
