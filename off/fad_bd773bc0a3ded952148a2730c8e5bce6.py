import numpy as np
from fad.kernels.vecmath import exp, log, maximum


def jit(W, b, X, Y):
    """W: float64[n, m], b: float64[m], X: float64[p, n], Y: float64[p, m]; returns float64, float64[n, m], float64[m]"""
    n = W.shape[0]
    m = W.shape[1]
    if b.shape[0] != m:
        raise ValueError('b has another extent along axis 0 than m')
    p = X.shape[0]
    if X.shape[1] != n:
        raise ValueError('X has another extent along axis 1 than n')
    if Y.shape[0] != p:
        raise ValueError('Y has another extent along axis 0 than p')
    if Y.shape[1] != m:
        raise ValueError('Y has another extent along axis 1 than m')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    if p < 2:
        raise ValueError('this program is for p >= 2')
    ratio = -1.0 / p                                        # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
    t = np.full(p, ratio)
    total = 0.0
    gb = np.zeros(m)                                        # s = X@W+b
    dot = np.zeros((n, m))
    dot_2 = np.empty((m, 128))
    block = np.empty((n, 128))
    top = np.empty(128)
    total_2 = np.empty(128)
    block_2 = np.empty((m, 128))
    t_2 = np.empty((m, 128))
    t_3 = np.empty((m, 128))
    total_3 = np.empty(128)
    total_4 = np.empty(128)
    d = np.empty((m, 128))
    e = np.empty((m, 128))
    t_4 = np.empty((m, 128))
    log_of = np.empty(128)
    t_5 = np.empty(128)
    total_5 = np.empty(128)
    total_6 = np.empty(128)
    t_6 = np.empty((m, 128))
    ratio_2 = np.empty(128)
    t_7 = np.empty((m, 128))
    for start in range(0, p, 128):
        count = min(128, p - start)
        dot_2[:, :] = 0.0
        for i in range(n):
            for j in range(count):
                block[i, j] = X[j + start, i]
            for j in range(m):
                for k in range(count):
                    dot_2[j, k] += block[i, k] * W[i, j]
        top[:] = -np.inf                                    # s = s-np.max(s,axis=1,keepdims=True)
        total_2[:] = 0.0                                    # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
        for i in range(m):
            for j in range(count):
                block_2[i, j] = Y[j + start, i]
                t_2[i, j] = dot_2[i, j] + b[i]              # s = X@W+b
                top[j] = maximum(top[j], t_2[i, j])         # s = s-np.max(s,axis=1,keepdims=True)
                t_3[i, j] = t[j + start] * block_2[i, j]    # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
                total_2[j] += -t_3[i, j]
        total_3[:] = 0.0
        total_4[:] = 0.0                                    # s = s-np.max(s,axis=1,keepdims=True)
        for i in range(m):
            for j in range(count):
                d[i, j] = t_2[i, j] - top[j]
                e[i, j] = exp(d[i, j])                      # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
                total_3[j] += e[i, j]
                t_4[i, j] = (1.0 if t_2[i, j] == top[j] else 0.0)  # s = s-np.max(s,axis=1,keepdims=True)
                total_4[j] += t_4[i, j]
        for i in range(count):
            log_of[i] = log(total_3[i])                     # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
            t_5[i] = total_2[i] * (1.0 / total_3[i])
        total_5[:] = 0.0
        total_6[:] = 0.0                                    # s = s-np.max(s,axis=1,keepdims=True)
        for i in range(m):
            for j in range(count):
                total_5[j] += block_2[i, j] * (d[i, j] - log_of[j])  # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
                t_6[i, j] = t_3[i, j] + t_5[j] * e[i, j]
                total_6[j] += -t_6[i, j]                    # s = s-np.max(s,axis=1,keepdims=True)
        for i in range(count):
            total += total_5[i]                             # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
            ratio_2[i] = total_6[i] / total_4[i]            # s = s-np.max(s,axis=1,keepdims=True)
        for i in range(m):
            partial = 0.0                                   # s = X@W+b
            for j in range(count):
                t_7[i, j] = t_6[i, j] + ratio_2[j] * t_4[i, j]  # s = s-np.max(s,axis=1,keepdims=True)
                partial += t_7[i, j]                        # s = X@W+b
            gb[i] += partial
        for i in range(n):
            for j in range(m):
                partial = 0.0
                for k in range(count):
                    partial += block[i, k] * t_7[j, k]
                dot[i, j] += partial
    t_8 = -(total / p)                                      # return -np.mean(np.sum(Y*(s-np.log(np.sum(np.exp(s),axis=1,keepdims=True))),axis=1))
    return t_8, dot, gb


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
