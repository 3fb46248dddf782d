"""Element by element, second part: implicit steps, recursive filters, weather, networks, bodies, Fourier transforms,
dynamic programming."""
import math

import numpy as np

from .registry import kernel, normal


@kernel(lambda r, n: (2, normal(r, n, n)), large=110)
def adi_by_item(steps, u):
    n = u.shape[0]
    v, p, q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    dx, dt = 1.0 / n, 1.0 / steps
    mul = dt / (dx * dx)
    a = -mul / 2.0
    b = 1.0 + mul
    for _ in range(steps):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + b)
                q[i, j] = ((-a * u[j, i - 1] + (1.0 + 2.0 * a) * u[j, i] - a * u[j, i + 1] - a * q[i, j - 1])
                           / (a * p[i, j - 1] + b))
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + b)
                q[i, j] = ((-a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - a * v[i + 1, j] - a * q[i, j - 1])
                           / (a * p[i, j - 1] + b))
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


@kernel(lambda r, n: (0.25, normal(r, n, n + 2)), large=250)
def deriche_by_item(alpha, image):
    w, h = image.shape
    k = ((1.0 - math.exp(-alpha)) * (1.0 - math.exp(-alpha))
         / (1.0 + 2.0 * alpha * math.exp(-alpha) - math.exp(2.0 * alpha)))
    a1 = a5 = k
    a2 = a6 = k * math.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * math.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * math.exp(-2.0 * alpha)
    b1, b2 = 2.0 ** (-alpha), -math.exp(-2.0 * alpha)
    y1, y2, out = np.empty((w, h)), np.empty((w, h)), np.empty((w, h))
    for i in range(w):
        ym1 = ym2 = xm1 = 0.0
        for j in range(h):
            y1[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for i in range(w):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(h - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]
    for j in range(h):
        tm1 = ym1 = ym2 = 0.0
        for i in range(w):
            y1[i, j] = a5 * out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    for j in range(h):
        tp1 = tp2 = yp1 = yp2 = 0.0
        for i in range(w - 1, -1, -1):
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    for i in range(w):
        for j in range(h):
            out[i, j] = y1[i, j] + y2[i, j]
    return out


@kernel(lambda r, n: (normal(r, n + 4, n + 4, 4), normal(r, n, n, 4)), small=4, large=90)
def hdiff_by_item(field, coefficient):
    rows, cols, levels = coefficient.shape
    lap, fx, fy = np.zeros((rows + 2, cols + 2)), np.zeros((rows + 1, cols)), np.zeros((rows, cols + 1))
    out = np.empty((rows, cols, levels))
    for k in range(levels):
        for i in range(rows + 2):
            for j in range(cols + 2):
                lap[i, j] = (4.0 * field[i + 1, j + 1, k]
                             - (field[i + 2, j + 1, k] + field[i, j + 1, k] + field[i + 1, j + 2, k]
                                + field[i + 1, j, k]))
        for i in range(rows + 1):
            for j in range(cols):
                flux = lap[i + 1, j + 1] - lap[i, j + 1]
                fx[i, j] = 0.0 if flux * (field[i + 2, j + 2, k] - field[i + 1, j + 2, k]) > 0 else flux
        for i in range(rows):
            for j in range(cols + 1):
                flux = lap[i + 1, j + 1] - lap[i + 1, j]
                if flux * (field[i + 2, j + 2, k] - field[i + 2, j + 1, k]) > 0:
                    flux = 0.0
                fy[i, j] = flux
        for i in range(rows):
            for j in range(cols):
                out[i, j, k] = (field[i + 2, j + 2, k]
                                - coefficient[i, j, k] * (fx[i + 1, j] - fx[i, j] + fy[i, j + 1] - fy[i, j]))
    return out


@kernel(lambda r, n: (normal(r, n, n, 20), normal(r, n + 1, n, 20), normal(r, n, n, 20), 3.0), small=2, large=40)
def vadv_by_item(stage, w, u, rate):
    rows, cols, levels = stage.shape
    out = np.zeros((rows, cols, levels))
    c, d = np.zeros(levels), np.zeros(levels)
    for i in range(rows):
        for j in range(cols):
            for k in range(levels):
                if k == 0:
                    up = 0.25 * (w[i + 1, j, 1] + w[i, j, 1])
                    cs, bs = 0.5 * up, rate - 0.5 * up
                    change = -0.5 * up * (u[i, j, 1] - u[i, j, 0])
                    div = 1.0 / bs
                    c[0] = cs * div
                    d[0] = (rate * u[i, j, 0] + stage[i, j, 0] + change) * div
                elif k < levels - 1:
                    low, up = -0.25 * (w[i + 1, j, k] + w[i, j, k]), 0.25 * (w[i + 1, j, k + 1] + w[i, j, k + 1])
                    asub, cs = 0.5 * low, 0.5 * up
                    bs = rate - asub - cs
                    change = -asub * (u[i, j, k - 1] - u[i, j, k]) - cs * (u[i, j, k + 1] - u[i, j, k])
                    div = 1.0 / (bs - c[k - 1] * asub)
                    c[k] = cs * div
                    d[k] = (rate * u[i, j, k] + stage[i, j, k] + change - d[k - 1] * asub) * div
                else:
                    low = -0.25 * (w[i + 1, j, k] + w[i, j, k])
                    asub = 0.5 * low
                    change = -asub * (u[i, j, k - 1] - u[i, j, k])
                    div = 1.0 / (rate - asub - c[k - 1] * asub)
                    d[k] = (rate * u[i, j, k] + stage[i, j, k] + change - d[k - 1] * asub) * div
            last = d[levels - 1]
            out[i, j, levels - 1] = rate * (last - u[i, j, levels - 1])
            for k in range(levels - 2, -1, -1):
                last = d[k] - c[k] * last
                out[i, j, k] = rate * (last - u[i, j, k])
    return out


@kernel(lambda r, n: (normal(r, 2, n, n, 2), normal(r, 3, 3, 2, 4), normal(r, 4)), large=40)
def conv2d_by_item(x, weights, bias):
    K, _, C, F = weights.shape
    N, H, W = x.shape[0], x.shape[1] - K + 1, x.shape[2] - K + 1
    y = np.zeros((N, H, W, F))
    for n in range(N):
        for i in range(H):
            for j in range(W):
                for f in range(F):
                    s = bias[f]
                    for a in range(K):
                        for b in range(K):
                            for c in range(C):
                                s += x[n, i + a, j + b, c] * weights[a, b, c, f]
                    y[n, i, j, f] = s
    return y


@kernel(lambda r, n: (normal(r, 20, n),), large=2000)
def softmax_by_item(x):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > largest:
                largest = x[i, j]
        total = 0.0
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - largest)
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] /= total
    return y


@kernel(lambda r, n: (normal(r, n, n + 2), normal(r, n + 2, n), normal(r, n), normal(r, n, 4), normal(r, 4)), large=100)
def mlp_by_item(x, w1, b1, w2, b2):
    out = np.zeros((x.shape[0], w2.shape[1]))
    hidden = np.zeros(w1.shape[1])
    for n in range(x.shape[0]):
        for j in range(w1.shape[1]):
            s = b1[j]
            for i in range(w1.shape[0]):
                s += x[n, i] * w1[i, j]
            hidden[j] = max(s, 0.0)
        total = 0.0
        for k in range(w2.shape[1]):
            s = b2[k]
            for j in range(w1.shape[1]):
                s += hidden[j] * w2[j, k]
            out[n, k] = math.exp(s)
            total += out[n, k]
        for k in range(w2.shape[1]):
            out[n, k] /= total
    return out


@kernel(lambda r, n: (2 * normal(r, n, 3), normal(r, n, 3), r.uniform(0.5, 1.5, n), 3), small=5, large=80)
def nbody_by_item(place, velocity, mass, steps):
    n = len(mass)
    pull = np.zeros((n, 3))
    for _ in range(steps):
        for i in range(n):
            pull[i, 0] = pull[i, 1] = pull[i, 2] = 0.0
            for j in range(n):
                if i != j:
                    dx, dy, dz = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1], place[j, 2] - place[i, 2]
                    inv = (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
                    pull[i, 0] += mass[j] * dx * inv
                    pull[i, 1] += mass[j] * dy * inv
                    pull[i, 2] += mass[j] * dz * inv
        for i in range(n):
            for k in range(3):
                velocity[i, k] += 0.01 * pull[i, k]
                place[i, k] += 0.01 * velocity[i, k]


@kernel(lambda r, n: (r.uniform(0, 1, n * n), r.uniform(0, 1, n * n), n), large=250, fixed=(1,))
def azimint_by_item(values, radius, bins):
    largest = 0.0
    for r in radius:
        largest = max(largest, r)
    sums, counts = np.zeros(bins), np.zeros(bins)
    for k in range(len(values)):
        b = min(int(radius[k] / largest * bins), bins - 1)
        sums[b] += values[k]
        counts[b] += 1
    for b in range(bins):
        if counts[b] > 0:
            sums[b] /= counts[b]
    return sums


@kernel(lambda r, n: tuple(r.uniform(0.1, 1.2, n) for _ in range(4)), large=20000)
def arc_distance_by_item(theta1, phi1, theta2, phi2):
    d = np.empty(len(theta1))
    for i in range(len(theta1)):
        t = (math.sin((theta2[i] - theta1[i]) / 2) ** 2
             + math.cos(theta1[i]) * math.cos(theta2[i]) * math.sin((phi2[i] - phi1[i]) / 2) ** 2)
        d[i] = 2 * math.atan2(math.sqrt(t), math.sqrt(1 - t))
    return d


@kernel(lambda r, n: (normal(r, n, n), normal(r, n, n), 4, 3, 9), large=600)
def compute_by_item(x, y, a, b, c):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            t = x[i, j]
            if t < -0.3:
                t = -0.3
            elif t > 0.4:
                t = 0.4
            out[i, j] = t * a + y[i, j] * b + c
    return out


@kernel(lambda r, n: (r.integers(0, n, (n, 3)), normal(r, n, 3, 2, 2, 2), normal(r, 2, n, n, 2, 2),
                      normal(r, 2, 2, n, 3, 2, 2)), small=2, large=8)
def scattering_by_item(neighbours, dH, G, D):
    sigma = np.zeros(G.shape)
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    if E - w < 0:
                        continue
                    for a in range(neighbours.shape[0]):
                        for b in range(neighbours.shape[1]):
                            f = neighbours[a, b]
                            for i in range(D.shape[-2]):
                                for j in range(D.shape[-1]):
                                    for m in range(2):
                                        for n in range(2):
                                            for l in range(2):
                                                for o in range(2):
                                                    sigma[k, E, a, m, n] += (
                                                        G[k, E - w, f, m, l] * dH[a, b, i, l, o] * dH[a, b, j, o, n]
                                                        * D[q, w, a, b, i, j])
    return sigma


@kernel(lambda r, n: (r.standard_normal(2 ** n) + 1j * r.standard_normal(2 ** n),), small=3, large=12)
def fft_by_item(signal):
    n = len(signal)
    x, y = signal.copy(), np.empty_like(signal)
    span, stride = n, 1
    while span > 1:
        half = span // 2
        for p in range(half):
            w = np.exp(-2j * np.pi * p / span)
            for q in range(stride):
                a, b = x[q + stride * p], x[q + stride * (p + half)]
                y[q + stride * 2 * p] = a + b
                y[q + stride * (2 * p + 1)] = (a - b) * w
        x, y = y, x
        span = half
        stride *= 2
    return x


@kernel(lambda r, n: (r.uniform(0.5, 2.0, (n, n)),), large=60)
def nussinov_scored(score):
    n = score.shape[0]
    table = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + score[i, j])
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table[0]
