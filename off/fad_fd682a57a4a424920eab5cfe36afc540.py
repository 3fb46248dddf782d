import numpy as np
from fad.kernels.vecmath import exp, log, maximum, sign


def jit(alphas, means, precisions, x):
    """alphas: float64[n], means: float64[n, m], precisions: float64[n, p, m], x: float64[q, m]; returns float64, float64[n], float64[n, m], float64[n, p, m]"""
    n = alphas.shape[0]
    if means.shape[0] != n:
        raise ValueError('means has another extent along axis 0 than n')
    m = means.shape[1]
    if precisions.shape[0] != n:
        raise ValueError('precisions has another extent along axis 0 than n')
    p = precisions.shape[1]
    if precisions.shape[2] != m:
        raise ValueError('precisions has another extent along axis 2 than m')
    q = x.shape[0]
    if x.shape[1] != m:
        raise ValueError('x has another extent along axis 1 than m')
    if m - p < 0:
        raise ValueError('this program is for m - p >= 0')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    if q < 2:
        raise ValueError('this program is for q >= 2')
    t = np.zeros((n, m, p))
    ratio = np.empty((n, p))
    t_2 = np.empty((n, p))
    t_3 = np.empty(n)
    for i in range(n):
        total = 0.0                                         # logdet = np.sum(np.log(np.abs(np.diagonal(precisions, axis1=-1, axis2=-2))), axis=1)
        for j in range(p):
            size = abs(precisions[i, j, j])
            total += log(size)
            ratio[i, j] = 1.0 / size
            t_2[i, j] = sign(precisions[i, j, j])
        t_3[i] = alphas[i] + total                          # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
    total_2 = 0.0                                           # return np.sum(np.log(np.sum(np.exp(terms - top), axis=0)) + top)
    total_3 = np.zeros(n)                                   # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
    dot = np.zeros((n, m, p))                               # z = d @ np.swapaxes(precisions,1,2)
    total_4 = np.zeros((n, m))                              # d = x[None, :, :] - means[:, None, :]
    block = np.empty((m, 128))
    top = np.empty(128)
    d = np.empty((n, m, 128))
    total_5 = np.empty(128)
    dot_2 = np.empty((n, p, 128))
    d_2 = np.empty((n, 128))
    total_6 = np.empty(128)
    total_7 = np.empty(128)
    e = np.empty((n, 128))
    t_4 = np.empty((n, 128))
    ratio_2 = np.empty(128)
    total_8 = np.empty(128)
    t_5 = np.empty((n, 128))
    ratio_3 = np.empty(128)
    t_6 = np.empty(128)
    dot_3 = np.empty((m, 128))
    t_7 = np.empty((p, 128))
    for start in range(0, q, 128):
        count = min(128, q - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = x[j + start, i]
        top[:] = -np.inf                                    # top = np.max(terms, axis=0)
        for i in range(n):
            for j in range(m):
                for k in range(count):
                    d[i, j, k] = block[j, k] - means[i, j]  # d = x[None, :, :] - means[:, None, :]
            total_5[:] = 0.0                                # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
            for j in range(p):
                dot_2[i, j, :] = 0.0                        # z = d @ np.swapaxes(precisions,1,2)
                for k in range(m):
                    for l in range(count):
                        dot_2[i, j, l] += d[i, k, l] * precisions[i, j, k]
                for k in range(count):
                    total_5[k] += dot_2[i, j, k] * dot_2[i, j, k]  # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
            for j in range(count):
                d_2[i, j] = t_3[i] - 0.5 * total_5[j]
                top[j] = maximum(top[j], d_2[i, j])         # top = np.max(terms, axis=0)
        total_6[:] = 0.0                                    # return np.sum(np.log(np.sum(np.exp(terms - top), axis=0)) + top)
        total_7[:] = 0.0                                    # top = np.max(terms, axis=0)
        for i in range(n):
            for j in range(count):
                e[i, j] = exp(d_2[i, j] - top[j])           # return np.sum(np.log(np.sum(np.exp(terms - top), axis=0)) + top)
                total_6[j] += e[i, j]
                t_4[i, j] = (1.0 if d_2[i, j] == top[j] else 0.0)  # top = np.max(terms, axis=0)
                total_7[j] += t_4[i, j]
        for i in range(count):
            total_2 += log(total_6[i]) + top[i]             # return np.sum(np.log(np.sum(np.exp(terms - top), axis=0)) + top)
            ratio_2[i] = 1.0 / total_6[i]
        total_8[:] = 0.0
        for i in range(n):
            for j in range(count):
                t_5[i, j] = ratio_2[j] * e[i, j]
                total_8[j] += -t_5[i, j]
        for i in range(count):
            ratio_3[i] = (1.0 + total_8[i]) / total_7[i]    # top = np.max(terms, axis=0)
        for i in range(n):
            partial = 0.0                                   # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
            for j in range(count):
                t_8 = t_5[i, j] + ratio_3[j] * t_4[i, j]    # top = np.max(terms, axis=0)
                partial += t_8                              # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
                t_6[j] = -t_8 * 0.5
            total_3[i] += partial
            dot_3[:, :] = 0.0                               # z = d @ np.swapaxes(precisions,1,2)
            for j in range(p):
                for k in range(count):
                    t_9 = t_6[k] * dot_2[i, j, k]           # terms = (alphas + logdet)[:,None] - 0.5 * np.sum(z * z, axis=2)
                    t_7[j, k] = t_9 + t_9
                for k in range(m):
                    for l in range(count):
                        dot_3[k, l] += t_7[j, l] * precisions[i, j, k]  # z = d @ np.swapaxes(precisions,1,2)
            for j in range(m):
                for k in range(p):
                    partial = 0.0
                    for l in range(count):
                        partial += d[i, j, l] * t_7[k, l]
                    dot[i, j, k] += partial
                partial = 0.0                               # d = x[None, :, :] - means[:, None, :]
                for k in range(count):
                    partial += -dot_3[j, k]
                total_4[i, j] += partial
    gprecisions = np.empty((n, p, m))
    for i in range(n):
        for j in range(p):
            t[i, j, j] += total_3[i] * ratio[i, j] * t_2[i, j]  # logdet = np.sum(np.log(np.abs(np.diagonal(precisions, axis1=-1, axis2=-2))), axis=1)
            for k in range(m):
                gprecisions[i, j, k] = t[i, k, j] + dot[i, k, j]  # z = d @ np.swapaxes(precisions,1,2)
    return total_2, total_3, total_4, gprecisions


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
