import numpy as np
from fad.kernels.vecmath import cos, exp, sin


def jit(xs, w):
    """xs: float64[n, m], w: float64[m]; returns float64[n, m]"""
    n = xs.shape[0]
    m = xs.shape[1]
    if w.shape[0] != m:
        raise ValueError('w has another extent along axis 0 than m')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    if m < 2:
        raise ValueError('this program is for m >= 2')
    total = np.empty(128)
    dot = np.empty(128)
    block = np.empty((m, 128))
    e = np.empty((m, 128))
    sine = np.empty(128)
    ratio = np.empty(128)
    t = np.empty(128)
    t_2 = np.empty((m, 128))
    t_3 = np.empty((m, 128))
    t_4 = np.empty((n, m))
    for start in range(0, n, 128):
        count = min(128, n - start)
        total[:] = 0.0                                      # def vg(xs,w): return fad.vmap(fad.grad(scalar_f),in_axes=(0,None))(xs,w)
        dot[:] = 0.0
        for i in range(m):
            for j in range(count):
                block[i, j] = xs[j + start, i]
                e[i, j] = exp(-block[i, j] * w[i])
                total[j] += e[i, j]
                dot[j] += block[i, j] * block[i, j]
        for i in range(count):
            sine[i] = sin(xs[i + start, 0])
            ratio[i] = 1.0 / (1.0 + dot[i])
            t[i] = total[i] * cos(xs[i + start, 0])
        for i in range(m):
            for j in range(count):
                t_2[i, j] = ratio[j] * block[i, j] + block[i, j] * ratio[j]
                t_3[i, j] = -(sine[j] * e[i, j] * w[i])
        for i in range(count):
            t_2[0, i] += t[i]
        for i in range(m):
            for j in range(count):
                t_4[j + start, i] = t_2[i, j] + t_3[i, j]
    return t_4


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
