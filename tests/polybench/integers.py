"""Kernels that count: their values must be NumPy's; there is nothing to differentiate but floats that run along."""
import numpy as np

from .registry import kernel


@kernel(lambda r, n: (n, r.integers(0, 4, n)), large=60, smooth=False)
def nussinov(n, sequence):
    """The largest number of base pairs of an RNA strand, by dynamic programming."""
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = np.maximum(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = np.maximum(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    pair = 1 if sequence[i] + sequence[j] == 3 else 0
                    table[i, j] = np.maximum(table[i, j], table[i + 1, j - 1] + pair)
                else:
                    table[i, j] = np.maximum(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = np.maximum(table[i, j], table[i, k] + table[k + 1, j])
    return table


@kernel(lambda r, n: (r.integers(0, 256, n).astype(np.uint8),), large=50000, smooth=False)
def crc16(data, polynomial=0x8408):
    """The checksum of CCITT, bit by bit."""
    crc = 0xFFFF
    for b in data:
        current = 0xFF & b
        for _ in range(8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            current >>= 1
    crc = (~crc & 0xFFFF)
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


@kernel(lambda r, n: (-2.0, 0.5, -1.2, 1.2, n, n + 1, 12), large=40, smooth=False)
def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, iterations, horizon=2.0):
    """How many iterations each point of the plane stays within the horizon, and where it is then."""
    X = np.linspace(xmin, xmax, xn, dtype=np.float64)
    Y = np.linspace(ymin, ymax, yn, dtype=np.float64)
    C = X + Y[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(iterations):
        inside = np.less(abs(Z), horizon)
        N[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    N[N == iterations - 1] = 0
    return Z, N


@kernel(lambda r, n: (r.uniform(-2, 0.5, n), r.uniform(-1.2, 1.2, n), 12), large=30, smooth=False)
def mandelbrot_by_point(x, y, iterations):
    counts = np.zeros((len(y), len(x)), dtype=np.int64)
    for row in range(len(y)):
        for column in range(len(x)):
            c = complex(x[column], y[row])
            z = 0j
            for n in range(iterations):
                if abs(z) > 2.0:
                    break
                z = z * z + c
                counts[row, column] = n
    return counts
