"""Correlations, histograms, distances and sums over points."""
import numpy as np

from .registry import kernel, normal


@kernel(lambda r, n: (float(n + 3), normal(r, n + 3, n)), large=60)
def correlation(count, data):
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(count) * deviation
    result = np.eye(data.shape[1], dtype=data.dtype)
    for i in range(data.shape[1] - 1):
        result[i + 1:, i] = result[i, i + 1:] = data[:, i] @ data[:, i + 1:]
    return result


@kernel(lambda r, n: (float(n + 3), normal(r, n + 3, n)), large=60)
def covariance(count, data):
    mean = np.mean(data, axis=0)
    data -= mean
    result = np.zeros((data.shape[1], data.shape[1]), dtype=data.dtype)
    for i in range(data.shape[1]):
        result[i:, i] = result[i, i:] = data[:, i] @ data[:, i:] / (count - 1.0)
    return result


@kernel(lambda r, n: (r.uniform(0, 1, n * n), r.uniform(0, 1, n * n), n), large=30, fixed=(1,))
def azimint_naive(values, radius, bins):
    largest = radius.max()
    result = np.zeros(bins)
    for i in range(bins):
        inner, outer = largest * i / bins, largest * (i + 1) / bins
        ring = np.logical_and(inner <= radius, radius < outer)
        result[i] = values[ring].mean()
    return result


@kernel(lambda r, n: (r.uniform(0, 1, n * n), r.uniform(0, 1, n * n), n), large=100, fixed=(1,))
def azimint_hist(values, radius, bins):
    counts = np.histogram(radius, bins)[0]
    sums = np.histogram(radius, bins, weights=values)[0]
    return sums / counts


@kernel(lambda r, n: (normal(r, n, n),), large=900)
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@kernel(lambda r, n: (normal(r, n, n), normal(r, n, n), 4, 3, 9), large=600)
def compute(x, y, a, b, c):
    return np.clip(x, 0.25, 1.7) * a + y * b + c


@kernel(lambda r, n: tuple(r.uniform(0.1, 1.2, n) for _ in range(4)), large=20000)
def arc_distance(theta1, phi1, theta2, phi2):
    h = np.sin((theta2 - theta1) / 2) ** 2 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))


@kernel(lambda r, n: (n, r.uniform(0.5, 10.0, (n, n))), large=100)
def floyd_warshall(n, path):
    for k in range(n):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


@kernel(lambda r, n: (r.uniform(0.5, 10.0, (n, n)),), large=100)
def floyd_by_item(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
