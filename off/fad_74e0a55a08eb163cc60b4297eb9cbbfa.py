import numpy as np
from fad.kernels.vecmath import cos, sin, sqrt, where


def jit(cams, X, obs):
    """cams: float64[n, m], X: float64[n, 3], obs: float64[n, 2]; returns float64[n, 2, m], float64[n, 2, 3]"""
    n = cams.shape[0]
    m = cams.shape[1]
    if X.shape[0] != n:
        raise ValueError('X has another extent along axis 0 than n')
    if X.shape[1] != 3:
        raise ValueError('X has another extent along axis 1 than 3')
    if obs.shape[0] != n:
        raise ValueError('obs has another extent along axis 0 than n')
    if obs.shape[1] != 2:
        raise ValueError('obs has another extent along axis 1 than 2')
    if m < 9:
        raise ValueError('this program is for m >= 9')
    if n < 2:
        raise ValueError('this program is for n >= 2')
    t = np.zeros((n, 2, m))
    t_2 = np.zeros((n, 2, 3))
    t_3 = np.empty(2, np.int64)
    for i in range(2):
        t_3[i] = i
    t_4 = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            t_4[i, j] = (1.0 if t_3[i] == t_3[j] else 0.0)  # def vjr(cams,X,obs): return fad.vmap(fad.jacrev(res,argnums=(0,1)))(cams,X,obs)
    block = np.empty((m, 128))
    dot = np.empty(128)
    block_2 = np.empty((3, 128))
    t_5 = np.empty(128)
    cosine = np.empty(128)
    sine = np.empty(128)
    d = np.empty(128)
    t_6 = np.empty(128)
    t_7 = np.empty(128)
    t_8 = np.empty(128)
    t_9 = np.empty(128)
    t_10 = np.empty(128)
    t_11 = np.empty(128)
    t_12 = np.empty(128)
    ratio = np.empty(128)
    dot_2 = np.empty(128)
    ratio_2 = np.empty((3, 128))
    t_13 = np.empty((3, 128))
    t_14 = np.empty((3, 128))
    joined = np.empty((3, 128))
    t_15 = np.empty(128)
    t_16 = np.empty(128)
    t_17 = np.empty(128)
    t_18 = np.empty((3, 128))
    t_19 = np.empty((3, 128))
    t_20 = np.empty((2, 128))
    t_21 = np.empty(128)
    dot_3 = np.empty(128)
    ratio_3 = np.empty((2, 128))
    t_22 = np.empty((2, 128))
    t_23 = np.empty(128)
    t_24 = np.empty(128)
    t_25 = np.empty(128)
    total = np.empty(128)
    t_26 = np.empty((2, 128))
    t_27 = np.empty((2, 128))
    t_28 = np.empty((2, 2, 128))
    dot_4 = np.empty((2, 2, 128))
    total_2 = np.empty(128)
    total_3 = np.empty(128)
    total_4 = np.empty((2, 128))
    total_5 = np.empty(128)
    total_6 = np.empty(128)
    t_29 = np.empty((3, 128))
    t_30 = np.empty((3, 128))
    t_31 = np.empty((2, 3, 128))
    t_32 = np.empty(128)
    t_33 = np.empty((2, 128))
    t_34 = np.empty(128)
    t_35 = np.empty((2, 128))
    t_36 = np.empty(128)
    t_37 = np.empty((2, 128))
    t_38 = np.empty(128)
    t_39 = np.empty((3, 128))
    total_7 = np.empty(128)
    ratio_4 = np.empty((3, 128))
    t_40 = np.empty((2, 128))
    t_41 = np.empty((2, 3, 128))
    dot_5 = np.empty((2, 3, 128))
    dot_6 = np.empty((2, 3, 128))
    t_42 = np.empty((n, 2, 3))
    for start in range(0, n, 128):
        count = min(128, n - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = cams[j + start, i]
        dot[:] = 0.0
        for i in range(3):
            for j in range(count):
                block_2[i, j] = X[j + start, i]
                dot[j] += block[i, j] * block[i, j]
        for i in range(count):
            root = sqrt(dot[i])
            t_5[i] = root + 1e-12
            cosine[i] = cos(t_5[i])
            sine[i] = sin(t_5[i])
            d[i] = 1.0 - cosine[i]
            t_6[i] = cams[i + start, 6]
            t_7[i] = cams[i + start, 8]
            t_8[i] = cams[i + start, 7]
            t_9[i] = X[i + start, 0]
            t_10[i] = X[i + start, 1]
            t_11[i] = X[i + start, 2]
            t_12[i] = -sine[i]
            ratio[i] = 0.5 / root
        dot_2[:] = 0.0
        for i in range(3):
            for j in range(count):
                ratio_2[i, j] = block[i, j] / t_5[j]
                t_13[i, j] = block_2[i, j] * cosine[j]
                dot_2[j] += ratio_2[i, j] * block_2[i, j]
                t_14[i, j] = -ratio_2[i, j]
        for i in range(count):
            d_2 = ratio_2[1, i] * X[i + start, 2] - ratio_2[2, i] * X[i + start, 1]
            d_3 = ratio_2[2, i] * X[i + start, 0] - ratio_2[0, i] * X[i + start, 2]
            d_4 = ratio_2[0, i] * X[i + start, 1] - ratio_2[1, i] * X[i + start, 0]
            joined[0, i] = d_2
            joined[1, i] = d_3
            joined[2, i] = d_4
            t_15[i] = ratio_2[1, i]
            t_16[i] = ratio_2[0, i]
            t_17[i] = ratio_2[2, i]
        for i in range(3):
            for j in range(count):
                t_18[i, j] = ratio_2[i, j] * dot_2[j]
                t_43 = t_13[i, j] + joined[i, j] * sine[j] + t_18[i, j] * d[j]
                t_19[i, j] = t_43 + block[i + 3, j]
        for i in range(2):
            for j in range(count):
                t_20[i, j] = -t_19[i, j]
        for i in range(count):
            t_21[i] = t_19[2, i]
        dot_3[:] = 0.0
        for i in range(2):
            for j in range(count):
                ratio_3[i, j] = t_20[i, j] / t_21[j]
                dot_3[j] += ratio_3[i, j] * ratio_3[i, j]
                t_22[i, j] = -ratio_3[i, j]
        for i in range(count):
            t_23[i] = cams[i + start, 8] * dot_3[i]
            t_24[i] = 1.0 + cams[i + start, 7] * dot_3[i] + t_23[i] * dot_3[i]
            t_25[i] = cams[i + start, 6] * t_24[i]
        for i in range(2):
            total[:] = 0.0
            for j in range(2):
                for k in range(count):
                    total[k] += t_4[i, j] * ratio_3[j, k]
                    t_26[j, k] = t_4[i, j] * t_25[k]
            for j in range(count):
                t_44 = total[j] * t_6[j]
                t_45 = t_44 * dot_3[j]
                t[j + start, i, 8] += t_45 * dot_3[j]
                t_27[i, j] = t_44 * t_23[j] + t_45 * t_7[j] + t_44 * t_8[j]
                t[j + start, i, 7] += t_45
                t[j + start, i, 6] += total[j] * t_24[j]
            for j in range(2):
                for k in range(count):
                    t_28[i, j, k] = t_26[j, k] + t_27[i, k] * ratio_3[j, k]
        for i in range(2):
            for j in range(2):
                for k in range(count):
                    dot_4[j, i, k] = ratio_3[i, k] * t_27[j, k]
        for i in range(2):
            total_2[:] = 0.0
            for j in range(2):
                for k in range(count):
                    ratio_5 = (t_28[i, j, k] + dot_4[i, j, k]) / t_21[k]
                    total_2[k] += ratio_5 * t_22[j, k]
                    t_2[k + start, i, j] -= ratio_5
            for j in range(count):
                t_2[j + start, i, 2] += total_2[j]
            total_3[:] = 0.0
            total_4[i, :] = 0.0
            total_5[:] = 0.0
            total_6[:] = 0.0
            for j in range(3):
                for k in range(count):
                    t[k + start, i, j + 3] += t_2[k + start, i, j]
                    t_46 = t_2[k + start, i, j] * d[k]
                    total_3[k] += t_2[k + start, i, j] * t_18[j, k]
                    t_29[j, k] = t_46 * dot_2[k]
                    total_4[i, k] += t_46 * ratio_2[j, k]
                    t_30[j, k] = t_2[k + start, i, j] * sine[k]
                    total_5[k] += t_2[k + start, i, j] * joined[j, k]
                    t_31[i, j, k] = t_2[k + start, i, j] * cosine[k]
                    total_6[k] += t_2[k + start, i, j] * block_2[j, k]
            for j in range(count):
                t_47 = t_30[2, j]
                t_48 = t_30[1, j]
                t_49 = t_30[0, j]
                t_50 = -t_47
                t_51 = -t_48
                t_32[j] = t_47 * t_10[j] + t_51 * t_11[j]
                t_33[i, j] = t_50 * t_15[j] + t_48 * t_17[j]
                t_52 = -t_49
                t_34[j] = t_48 * t_9[j] + t_52 * t_10[j]
                t_35[i, j] = t_47 * t_16[j] + t_52 * t_17[j]
                t_36[j] = t_50 * t_9[j] + t_49 * t_11[j]
                t_37[i, j] = t_51 * t_16[j] + t_49 * t_15[j]
                t_38[j] = total_5[j] * cosine[j] + (-total_3[j] + total_6[j]) * t_12[j]
            for j in range(3):
                for k in range(count):
                    t_39[j, k] = t_29[j, k] + total_4[i, k] * block_2[j, k]
            for j in range(count):
                t_39[2, j] += t_34[j]
                t_39[1, j] += t_36[j]
                t_39[0, j] += t_32[j]
            total_7[:] = 0.0
            for j in range(3):
                for k in range(count):
                    ratio_4[j, k] = t_39[j, k] / t_5[k]
                    total_7[k] += ratio_4[j, k] * t_14[j, k]
            for j in range(count):
                t_53 = t_38[j] + total_7[j]
                t_40[i, j] = where(t_53 == 0, t_53, t_53 * ratio[j])
            for j in range(3):
                for k in range(count):
                    t_41[i, j, k] = ratio_4[j, k] + t_40[i, k] * block[j, k]
        for i in range(3):
            for j in range(2):
                for k in range(count):
                    dot_5[j, i, k] = ratio_2[i, k] * total_4[j, k]
                    dot_6[j, i, k] = block[i, k] * t_40[j, k]
        for i in range(2):
            for j in range(count):
                dot_5[i, 2, j] += t_37[i, j]
                dot_5[i, 1, j] += t_35[i, j]
                dot_5[i, 0, j] += t_33[i, j]
            for j in range(3):
                for k in range(count):
                    t[k + start, i, j] += t_41[i, j, k] + dot_6[i, j, k]
                    t_42[k + start, i, j] = dot_5[i, j, k] + t_31[i, j, k]
    return t, t_42


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
