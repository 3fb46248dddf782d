import numpy as np
from fad.kernels.vecmath import tanh


def jit(params_0, params_1, params_2, params_3, X, y):
    """params_0: float64[n, m], params_1: float64[m], params_2: float64[m], params_3: float64, X: float64[p, n], y: float64[p]; returns float64, float64[n, m], float64[m], float64[m], float64"""
    n = params_0.shape[0]
    m = params_0.shape[1]
    if params_1.shape[0] != m:
        raise ValueError('params_1 has another extent along axis 0 than m')
    if params_2.shape[0] != m:
        raise ValueError('params_2 has another extent along axis 0 than m')
    p = X.shape[0]
    if X.shape[1] != n:
        raise ValueError('X has another extent along axis 1 than n')
    if y.shape[0] != p:
        raise ValueError('y has another extent along axis 0 than p')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    ratio = 1.0 / p                                         # return np.mean((h @ W2 + b2 - y) ** 2)
    total = 0.0
    gparams_3 = 0.0
    dot = np.zeros(m)
    gparams_1 = np.zeros(m)                                 # h = np.tanh(X @ W1 + b1)
    dot_2 = np.zeros((n, m))
    dot_3 = np.empty((m, 64))
    block = np.empty((n, 64))
    dot_4 = np.empty(64)
    t = np.empty((m, 64))
    t_2 = np.empty((m, 64))
    t_3 = np.empty(64)
    t_4 = np.empty((m, 64))
    for start in range(0, p, 64):
        count = min(64, p - start)
        dot_3[:, :] = 0.0
        for i in range(n):
            for j in range(count):
                block[i, j] = X[j + start, i]
            for j in range(m):
                for k in range(count):
                    dot_3[j, k] += block[i, k] * params_0[i, j]
        dot_4[:] = 0.0                                      # return np.mean((h @ W2 + b2 - y) ** 2)
        for i in range(m):
            for j in range(count):
                t[i, j] = tanh(dot_3[i, j] + params_1[i])   # h = np.tanh(X @ W1 + b1)
                dot_4[j] += t[i, j] * params_2[i]           # return np.mean((h @ W2 + b2 - y) ** 2)
                t_2[i, j] = (1.0 - t[i, j]) * (1.0 + t[i, j])  # h = np.tanh(X @ W1 + b1)
        for i in range(count):
            d = dot_4[i] + params_3 - y[i + start]          # return np.mean((h @ W2 + b2 - y) ** 2)
            total += d ** 2
            t_3[i] = ratio * (2.0 * d)
            gparams_3 += t_3[i]
        for i in range(m):
            partial = 0.0
            partial_2 = 0.0                                 # h = np.tanh(X @ W1 + b1)
            for j in range(count):
                partial += t[i, j] * t_3[j]                 # return np.mean((h @ W2 + b2 - y) ** 2)
                t_4[i, j] = t_3[j] * params_2[i] * t_2[i, j]  # h = np.tanh(X @ W1 + b1)
                partial_2 += t_4[i, j]
            dot[i] += partial
            gparams_1[i] += partial_2
        for i in range(n):
            for j in range(m):
                partial = 0.0
                for k in range(count):
                    partial += block[i, k] * t_4[j, k]
                dot_2[i, j] += partial
    ratio_2 = total / p                                     # return np.mean((h @ W2 + b2 - y) ** 2)
    return ratio_2, dot_2, gparams_1, dot, gparams_3


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
