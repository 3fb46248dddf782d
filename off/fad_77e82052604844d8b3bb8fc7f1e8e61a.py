import numpy as np
from fad.kernels.vecmath import exp, log, maximum


def jit(alphas, means, scales, x):
    """alphas: float64[n], means: float64[n, m], scales: float64[n, m], x: float64[p, m]; returns float64, float64[n], float64[n, m], float64[n, m]"""
    n = alphas.shape[0]
    if means.shape[0] != n:
        raise ValueError('means has another extent along axis 0 than n')
    m = means.shape[1]
    if scales.shape[0] != n:
        raise ValueError('scales has another extent along axis 0 than n')
    if scales.shape[1] != m:
        raise ValueError('scales has another extent along axis 1 than m')
    p = x.shape[0]
    if x.shape[1] != m:
        raise ValueError('x has another extent along axis 1 than m')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    t = np.full(p, 1.0)
    e = np.empty((n, m))
    t_2 = np.empty(n)
    for i in range(n):
        total = 0.0                                         # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
        for j in range(m):
            e[i, j] = exp(scales[i, j])                     # d = (x[:, None, :] - means[None, :, :])*np.exp(scales)
            total += scales[i, j]                           # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
        t_2[i] = alphas[i] + total
    total_2 = 0.0                                           # return np.sum(np.log(np.sum(np.exp(terms - top), axis=1)) + top[:, 0])
    galphas = np.zeros(n)                                   # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
    total_3 = np.zeros((n, m))                              # d = (x[:, None, :] - means[None, :, :])*np.exp(scales)
    total_4 = np.zeros((n, m))
    block = np.empty((m, 128))
    top = np.empty(128)
    total_5 = np.empty(128)
    d = np.empty((n, m, 128))
    t_3 = np.empty((n, m, 128))
    d_2 = np.empty((n, 128))
    total_6 = np.empty(128)
    total_7 = np.empty(128)
    e_2 = np.empty((n, 128))
    t_4 = np.empty((n, 128))
    ratio = np.empty(128)
    total_8 = np.empty(128)
    t_5 = np.empty((n, 128))
    ratio_2 = np.empty(128)
    t_6 = np.empty(128)
    for start in range(0, p, 128):
        count = min(128, p - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = x[j + start, i]
        top[:] = -np.inf                                    # top = np.max(terms, axis=1, keepdims=True)
        for i in range(n):
            total_5[:] = 0.0                                # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
            for j in range(m):
                for k in range(count):
                    d[i, j, k] = block[j, k] - means[i, j]  # d = (x[:, None, :] - means[None, :, :])*np.exp(scales)
                    t_3[i, j, k] = d[i, j, k] * e[i, j]
                    total_5[k] += t_3[i, j, k] * t_3[i, j, k]  # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
            for j in range(count):
                d_2[i, j] = t_2[i] - 0.5 * total_5[j]
                top[j] = maximum(top[j], d_2[i, j])         # top = np.max(terms, axis=1, keepdims=True)
        total_6[:] = 0.0                                    # return np.sum(np.log(np.sum(np.exp(terms - top), axis=1)) + top[:, 0])
        total_7[:] = 0.0                                    # top = np.max(terms, axis=1, keepdims=True)
        for i in range(n):
            for j in range(count):
                e_2[i, j] = exp(d_2[i, j] - top[j])         # return np.sum(np.log(np.sum(np.exp(terms - top), axis=1)) + top[:, 0])
                total_6[j] += e_2[i, j]
                t_4[i, j] = (1.0 if d_2[i, j] == top[j] else 0.0)  # top = np.max(terms, axis=1, keepdims=True)
                total_7[j] += t_4[i, j]
        for i in range(count):
            total_2 += log(total_6[i]) + top[i]             # return np.sum(np.log(np.sum(np.exp(terms - top), axis=1)) + top[:, 0])
            ratio[i] = 1.0 / total_6[i]
        total_8[:] = 0.0
        for i in range(n):
            for j in range(count):
                t_5[i, j] = ratio[j] * e_2[i, j]
                total_8[j] += -t_5[i, j]
        for i in range(count):
            ratio_2[i] = (t[i + start] + total_8[i]) / total_7[i]  # top = np.max(terms, axis=1, keepdims=True)
        for i in range(n):
            partial = 0.0                                   # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
            for j in range(count):
                t_7 = t_5[i, j] + ratio_2[j] * t_4[i, j]    # top = np.max(terms, axis=1, keepdims=True)
                partial += t_7                              # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
                t_6[j] = -t_7 * 0.5
            galphas[i] += partial
            for j in range(m):
                partial = 0.0                               # d = (x[:, None, :] - means[None, :, :])*np.exp(scales)
                partial_2 = 0.0
                for k in range(count):
                    t_8 = t_6[k] * t_3[i, j, k]             # terms = alphas + np.sum(scales,axis=1) - 0.5 * np.sum(d*d, axis=2)
                    t_9 = t_8 + t_8
                    partial += t_9 * d[i, j, k]             # d = (x[:, None, :] - means[None, :, :])*np.exp(scales)
                    partial_2 += -(t_9 * e[i, j])
                total_3[i, j] += partial
                total_4[i, j] += partial_2
    gscales = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            gscales[i, j] = galphas[i] + total_3[i, j] * e[i, j]
    return total_2, galphas, total_4, gscales


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
