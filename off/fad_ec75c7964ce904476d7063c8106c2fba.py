import numpy as np
from fad.kernels.vecmath import exp


def jit(a, C, X, y):
    """a: float64[n], C: float64[n, m], X: float64[p, m], y: float64[p]; returns float64, float64[n], float64[n, m]"""
    n = a.shape[0]
    if C.shape[0] != n:
        raise ValueError('C has another extent along axis 0 than n')
    m = C.shape[1]
    p = X.shape[0]
    if X.shape[1] != m:
        raise ValueError('X has another extent along axis 1 than m')
    if y.shape[0] != p:
        raise ValueError('y has another extent along axis 0 than p')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    ratio = 1.0 / p                                         # return np.mean((K@a-y)**2)
    total = 0.0
    dot = np.zeros(n)
    total_2 = np.zeros((n, m))                              # d = X[:,None,:]-C[None]
    block = np.empty((m, 128))
    dot_2 = np.empty(128)
    total_3 = np.empty(128)
    d = np.empty((n, m, 128))
    e = np.empty((n, 128))
    t = np.empty(128)
    t_2 = np.empty(128)
    for start in range(0, p, 128):
        count = min(128, p - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = X[j + start, i]
        dot_2[:] = 0.0                                      # return np.mean((K@a-y)**2)
        for i in range(n):
            total_3[:] = 0.0                                # K = np.exp(-0.5*np.sum(d*d,axis=2))
            for j in range(m):
                for k in range(count):
                    d[i, j, k] = block[j, k] - C[i, j]      # d = X[:,None,:]-C[None]
                    total_3[k] += d[i, j, k] * d[i, j, k]   # K = np.exp(-0.5*np.sum(d*d,axis=2))
            for j in range(count):
                e[i, j] = exp(-0.5 * total_3[j])
                dot_2[j] += e[i, j] * a[i]                  # return np.mean((K@a-y)**2)
        for i in range(count):
            d_2 = dot_2[i] - y[i + start]
            total += d_2 ** 2
            t[i] = ratio * (2.0 * d_2)
        for i in range(n):
            partial = 0.0
            for j in range(count):
                partial += e[i, j] * t[j]
                t_2[j] = t[j] * a[i] * e[i, j] * -0.5       # K = np.exp(-0.5*np.sum(d*d,axis=2))
            dot[i] += partial
            for j in range(m):
                partial = 0.0                               # d = X[:,None,:]-C[None]
                for k in range(count):
                    t_3 = t_2[k] * d[i, j, k]               # K = np.exp(-0.5*np.sum(d*d,axis=2))
                    partial += -(t_3 + t_3)                 # d = X[:,None,:]-C[None]
                total_2[i, j] += partial
    ratio_2 = total / p                                     # return np.mean((K@a-y)**2)
    return ratio_2, dot, total_2


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
