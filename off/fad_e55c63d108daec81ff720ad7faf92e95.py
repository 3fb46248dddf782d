import numpy as np
from fad.kernels.vecmath import exp, log


def jit(alphas, means, precisions, x):
    """alphas: float64[n], means: float64[n, m], precisions: float64[n, m, m], x: float64[p, m]; returns float64, float64[n], float64[n, m], float64[n, m, m]"""
    n = alphas.shape[0]
    if means.shape[0] != n:
        raise ValueError('means has another extent along axis 0 than n')
    m = means.shape[1]
    if precisions.shape[0] != n:
        raise ValueError('precisions has another extent along axis 0 than n')
    if precisions.shape[1] != m:
        raise ValueError('precisions has another extent along axis 1 than m')
    if precisions.shape[2] != m:
        raise ValueError('precisions has another extent along axis 2 than m')
    p = x.shape[0]
    if x.shape[1] != m:
        raise ValueError('x has another extent along axis 1 than m')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    ratio = 1.0 / p                                         # return np.mean(np.logaddexp.reduce(alphas - 0.5*q, axis=1)) if False else np.mean(np.log(np.sum(np.exp(alphas - 0.5*q), axis=1)))
    total = 0.0
    galphas = np.zeros(n)
    dot = np.zeros((n, m, m))                               # q = np.einsum("nki,kij,nkj->nk", d, precisions, d)
    total_2 = np.zeros((n, m))                              # d = x[:, None, :] - means[None, :, :]
    block = np.empty((m, 128))
    total_3 = np.empty(128)
    dot_2 = np.empty((n, m, 128))
    d = np.empty((n, m, 128))
    dot_3 = np.empty(128)
    e = np.empty((n, 128))
    t = np.empty(128)
    t_2 = np.empty(128)
    dot_4 = np.empty((m, 128))
    dot_5 = np.empty((m, 128))
    dot_6 = np.empty(128)
    for start in range(0, p, 128):
        count = min(128, p - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = x[j + start, i]
        total_3[:] = 0.0                                    # return np.mean(np.logaddexp.reduce(alphas - 0.5*q, axis=1)) if False else np.mean(np.log(np.sum(np.exp(alphas - 0.5*q), axis=1)))
        for i in range(n):
            dot_2[i, :, :] = 0.0                            # q = np.einsum("nki,kij,nkj->nk", d, precisions, d)
            for j in range(m):
                for k in range(count):
                    d[i, j, k] = block[j, k] - means[i, j]  # d = x[:, None, :] - means[None, :, :]
                for k in range(m):
                    for l in range(count):
                        dot_2[i, k, l] += d[i, j, l] * precisions[i, j, k]  # q = np.einsum("nki,kij,nkj->nk", d, precisions, d)
            dot_3[:] = 0.0
            for j in range(m):
                for k in range(count):
                    dot_3[k] += d[i, j, k] * dot_2[i, j, k]
            for j in range(count):
                e[i, j] = exp(alphas[i] - 0.5 * dot_3[j])   # return np.mean(np.logaddexp.reduce(alphas - 0.5*q, axis=1)) if False else np.mean(np.log(np.sum(np.exp(alphas - 0.5*q), axis=1)))
                total_3[j] += e[i, j]
        for i in range(count):
            total += log(total_3[i])
            t[i] = ratio * (1.0 / total_3[i])
        for i in range(n):
            partial = 0.0
            for j in range(count):
                t_3 = t[j] * e[i, j]
                partial += t_3
                t_2[j] = -t_3 * 0.5
            galphas[i] += partial
            for j in range(m):
                for k in range(count):
                    dot_4[j, k] = t_2[k] * dot_2[i, j, k]   # q = np.einsum("nki,kij,nkj->nk", d, precisions, d)
                    dot_5[j, k] = d[i, j, k] * t_2[k]
            for j in range(m):
                dot_6[:] = 0.0
                for k in range(m):
                    partial = 0.0
                    for l in range(count):
                        dot_6[l] += dot_5[k, l] * precisions[i, j, k]
                        partial += d[i, j, l] * dot_5[k, l]
                    dot[i, j, k] += partial
                partial = 0.0                               # d = x[:, None, :] - means[None, :, :]
                for k in range(count):
                    partial += -(dot_4[j, k] + dot_6[k])
                total_2[i, j] += partial
    ratio_2 = total / p                                     # return np.mean(np.logaddexp.reduce(alphas - 0.5*q, axis=1)) if False else np.mean(np.log(np.sum(np.exp(alphas - 0.5*q), axis=1)))
    return ratio_2, galphas, total_2, dot


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
