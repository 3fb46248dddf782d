import numpy as np
from fad.kernels.vecmath import expit, logaddexp, where


def jit(w, X, y):
    """w: float64[n], X: float64[m, n], y: float64[m]; returns float64, float64[n]"""
    n = w.shape[0]
    m = X.shape[0]
    if X.shape[1] != n:
        raise ValueError('X has another extent along axis 1 than n')
    if y.shape[0] != m:
        raise ValueError('y has another extent along axis 0 than m')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    ratio = 1.0 / m                                         # return np.mean(np.logaddexp(0.0, -y * (X @ w)))
    total = 0.0
    dot = np.zeros(n)
    dot_2 = np.empty(64)
    block = np.empty((n, 64))
    t = np.empty(64)
    for start in range(0, m, 64):
        count = min(64, m - start)
        dot_2[:] = 0.0
        for i in range(n):
            for j in range(count):
                block[i, j] = X[j + start, i]
                dot_2[j] += block[i, j] * w[i]
        for i in range(count):
            t_2 = -y[i + start]
            t_3 = t_2 * dot_2[i]
            total += logaddexp(0.0, t_3)
            t[i] = ratio * expit(where(t_3 == 0.0, 0.0, t_3)) * t_2
        for i in range(n):
            partial = 0.0
            for j in range(count):
                partial += block[i, j] * t[j]
            dot[i] += partial
    ratio_2 = total / m
    return ratio_2, dot


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
