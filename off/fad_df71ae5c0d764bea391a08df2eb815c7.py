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
    t = np.empty(m, np.int64)
    for i in range(m):
        t[i] = i
    t_2 = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            t_2[i, j] = (1.0 if t[i] == t[j] else 0.0)      # def vj(cams,X,obs): return fad.vmap(fad.jacfwd(res,argnums=(0,1)))(cams,X,obs)
    t_3 = np.empty(3, np.int64)
    for i in range(3):
        t_3[i] = i
    t_4 = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            t_4[i, j] = (1.0 if t_3[i] == t_3[j] else 0.0)
    block = np.empty((m, 64))
    dot = np.empty(64)
    block_2 = np.empty((3, 64))
    dot_2 = np.empty(64)
    dot_3 = np.empty(64)
    t_5 = np.empty((m, 64))
    ratio = np.empty(64)
    t_6 = np.empty(64)
    cosine = np.empty(64)
    sine = np.empty(64)
    t_7 = np.empty(64)
    t_8 = np.empty(64)
    t_9 = np.empty(64)
    t_10 = np.empty(64)
    d = np.empty(64)
    t_11 = np.empty(64)
    t_12 = np.empty(64)
    t_13 = np.empty(64)
    t_14 = np.empty((m, 64))
    t_15 = np.empty(64)
    t_16 = np.empty((m, 64))
    t_17 = np.empty((m, 64))
    t_18 = np.empty((m, 3, 64))
    dot_4 = np.empty(64)
    ratio_2 = np.empty((3, 64))
    t_19 = np.empty((3, 64))
    t_20 = np.empty((3, 64))
    t_21 = np.empty((3, 3, 64))
    dot_5 = np.empty(64)
    ratio_3 = np.empty((3, 64))
    t_22 = np.empty((3, 64))
    joined = np.empty((3, 64))
    t_23 = np.empty((m, 3, 64))
    t_24 = np.empty((m, 3, 64))
    joined_2 = np.empty((3, 64))
    t_25 = np.empty(64)
    t_26 = np.empty(64)
    t_27 = np.empty(64)
    t_28 = np.empty((3, 64))
    t_29 = np.empty((3, 64))
    joined_3 = np.empty((3, 64))
    dot_6 = np.empty(64)
    t_30 = np.empty((3, 64))
    t_31 = np.empty((3, 64))
    t_32 = np.empty((3, 2, 64))
    t_33 = np.empty((3, 64))
    t_34 = np.empty((3, 64))
    t_35 = np.empty((m, 2, 64))
    t_36 = np.empty((m, 64))
    t_37 = np.empty((2, 64))
    t_38 = np.empty(64)
    dot_7 = np.empty(64)
    ratio_4 = np.empty((2, 64))
    t_39 = np.empty((2, 64))
    dot_8 = np.empty(64)
    dot_9 = np.empty(64)
    ratio_5 = np.empty((m, 2, 64))
    t_40 = np.empty((m, 64))
    t_41 = np.empty((m, 64))
    t_42 = np.empty((m, 64))
    t_43 = np.empty(64)
    t_44 = np.empty(64)
    t_45 = np.empty(64)
    t_46 = np.empty(64)
    t_47 = np.empty((m, 2, 64))
    dot_10 = np.empty(64)
    dot_11 = np.empty(64)
    t_48 = np.empty((2, 64))
    t_49 = np.empty(64)
    t_50 = np.empty((3, 2, 64))
    t_51 = np.empty((n, 2, m))
    t_52 = np.empty((n, 2, 3))
    for start in range(0, n, 64):
        count = min(64, n - start)
        for i in range(m):
            for j in range(count):
                block[i, j] = cams[j + start, i]
        dot[:] = 0.0
        for i in range(3):
            for j in range(count):
                block_2[i, j] = X[j + start, i]
                dot[j] += block[i, j] * block[i, j]
        for i in range(m):
            dot_2[:] = 0.0
            dot_3[:] = 0.0
            for j in range(3):
                for k in range(count):
                    dot_2[k] += t_2[i, j] * block[j, k]
                    dot_3[k] += block[j, k] * t_2[i, j]
            for j in range(count):
                t_5[i, j] = dot_2[j] + dot_3[j]
        for i in range(count):
            root = sqrt(dot[i])
            ratio[i] = 0.5 / root
            t_6[i] = root + 1e-12
            cosine[i] = cos(t_6[i])
            sine[i] = sin(t_6[i])
            t_7[i] = -sine[i]
            t_8[i] = X[i + start, 2]
            t_9[i] = X[i + start, 1]
            t_10[i] = X[i + start, 0]
            d[i] = 1.0 - cosine[i]
            t_11[i] = cams[i + start, 7]
            t_12[i] = cams[i + start, 8]
            t_13[i] = cams[i + start, 6]
        for i in range(m):
            for j in range(count):
                t_14[i, j] = where(t_5[i, j] == 0, t_5[i, j], t_5[i, j] * ratio[j])
                t_15[j] = t_14[i, j] * t_7[j]
                t_16[i, j] = t_14[i, j] * cosine[j]
                t_17[i, j] = -t_15[j]
            for j in range(3):
                for k in range(count):
                    t_18[i, j, k] = t_15[k] * block_2[j, k]
        dot_4[:] = 0.0
        for i in range(3):
            for j in range(count):
                ratio_2[i, j] = block[i, j] / t_6[j]
                t_19[i, j] = -ratio_2[i, j]
                t_20[i, j] = block_2[i, j] * cosine[j]
                dot_4[j] += ratio_2[i, j] * block_2[i, j]
            for j in range(3):
                for k in range(count):
                    t_21[i, j, k] = t_4[i, j] * cosine[k]
        for i in range(m):
            dot_5[:] = 0.0
            for j in range(3):
                for k in range(count):
                    ratio_3[j, k] = (t_2[i, j] + t_14[i, k] * t_19[j, k]) / t_6[k]
                    dot_5[k] += ratio_3[j, k] * block_2[j, k]
                    t_22[j, k] = ratio_3[j, k] * dot_4[k]
            for j in range(count):
                t_53 = ratio_3[1, j] * t_8[j] + -(ratio_3[2, j] * t_9[j])
                t_54 = ratio_3[2, j] * t_10[j] + -(ratio_3[0, j] * t_8[j])
                t_55 = ratio_3[0, j] * t_9[j] + -(ratio_3[1, j] * t_10[j])
                joined[0, j] = t_53
                joined[1, j] = t_54
                joined[2, j] = t_55
            for j in range(3):
                for k in range(count):
                    t_23[i, j, k] = joined[j, k] * sine[k]
                    t_24[i, j, k] = (t_22[j, k] + dot_5[k] * ratio_2[j, k]) * d[k]
        for i in range(count):
            d_2 = ratio_2[1, i] * X[i + start, 2] - ratio_2[2, i] * X[i + start, 1]
            d_3 = ratio_2[2, i] * X[i + start, 0] - ratio_2[0, i] * t_8[i]
            d_4 = ratio_2[0, i] * t_9[i] - ratio_2[1, i] * t_10[i]
            joined_2[0, i] = d_2
            joined_2[1, i] = d_3
            joined_2[2, i] = d_4
            t_25[i] = ratio_2[1, i]
            t_26[i] = ratio_2[2, i]
            t_27[i] = ratio_2[0, i]
        for i in range(3):
            for j in range(count):
                t_28[i, j] = ratio_2[i, j] * dot_4[j]
                t_56 = t_20[i, j] + joined_2[i, j] * sine[j] + t_28[i, j] * d[j]
                t_29[i, j] = t_56 + block[i + 3, j]
                joined_3[0, j] = t_4[i, 2] * t_25[j] + -(t_4[i, 1] * t_26[j])
                joined_3[1, j] = t_4[i, 0] * t_26[j] + -(t_4[i, 2] * t_27[j])
                joined_3[2, j] = t_4[i, 1] * t_27[j] + -(t_4[i, 0] * t_25[j])
            dot_6[:] = 0.0
            for j in range(3):
                for k in range(count):
                    t_30[j, k] = t_21[i, j, k] + joined_3[j, k] * sine[k]
                    dot_6[k] += ratio_2[j, k] * t_4[i, j]
            for j in range(3):
                for k in range(count):
                    t_31[j, k] = t_30[j, k] + dot_6[k] * ratio_2[j, k] * d[k]
            for j in range(2):
                for k in range(count):
                    t_32[i, j, k] = -t_31[j, k]
            for j in range(count):
                t_33[i, j] = t_31[2, j]
        for i in range(m):
            for j in range(3):
                for k in range(count):
                    t_57 = t_18[i, j, k] + (t_23[i, j, k] + t_16[i, k] * joined_2[j, k])
                    t_58 = t_57 + (t_24[i, j, k] + t_17[i, k] * t_28[j, k])
                    t_34[j, k] = t_58 + t_2[i, j + 3]
            for j in range(2):
                for k in range(count):
                    t_35[i, j, k] = -t_34[j, k]
            for j in range(count):
                t_36[i, j] = t_34[2, j]
        for i in range(2):
            for j in range(count):
                t_37[i, j] = -t_29[i, j]
        for i in range(count):
            t_38[i] = t_29[2, i]
        dot_7[:] = 0.0
        for i in range(2):
            for j in range(count):
                ratio_4[i, j] = t_37[i, j] / t_38[j]
                t_39[i, j] = -ratio_4[i, j]
                dot_7[j] += ratio_4[i, j] * ratio_4[i, j]
        for i in range(m):
            dot_8[:] = 0.0
            dot_9[:] = 0.0
            for j in range(2):
                for k in range(count):
                    ratio_5[i, j, k] = (t_35[i, j, k] + t_36[i, k] * t_39[j, k]) / t_38[k]
                    dot_8[k] += ratio_5[i, j, k] * ratio_4[j, k]
                    dot_9[k] += ratio_4[j, k] * ratio_5[i, j, k]
            for j in range(count):
                t_40[i, j] = dot_8[j] + dot_9[j]
                t_41[i, j] = t_2[i, 7] * dot_7[j] + t_40[i, j] * t_11[j]
                t_42[i, j] = (t_2[i, 8] * dot_7[j] + t_40[i, j] * t_12[j]) * dot_7[j]
        for i in range(count):
            t_43[i] = cams[i + start, 8] * dot_7[i]
            t_44[i] = 1.0 + cams[i + start, 7] * dot_7[i] + t_43[i] * dot_7[i]
            t_45[i] = cams[i + start, 6] * t_44[i]
        for i in range(m):
            for j in range(count):
                t_59 = t_41[i, j] + (t_42[i, j] + t_40[i, j] * t_43[j])
                t_46[j] = t_2[i, 6] * t_44[j] + t_59 * t_13[j]
            for j in range(2):
                for k in range(count):
                    t_47[i, j, k] = t_46[k] * ratio_4[j, k] + ratio_5[i, j, k] * t_45[k]
        for i in range(3):
            dot_10[:] = 0.0
            dot_11[:] = 0.0
            for j in range(2):
                for k in range(count):
                    ratio_6 = (t_32[i, j, k] + t_33[i, k] * t_39[j, k]) / t_38[k]
                    dot_10[k] += ratio_6 * ratio_4[j, k]
                    dot_11[k] += ratio_4[j, k] * ratio_6
                    t_48[j, k] = ratio_6 * t_45[k]
            for j in range(count):
                t_60 = dot_10[j] + dot_11[j]
                t_61 = t_60 * t_11[j] + (t_60 * t_12[j] * dot_7[j] + t_60 * t_43[j])
                t_49[j] = t_61 * t_13[j]
            for j in range(2):
                for k in range(count):
                    t_50[i, j, k] = t_49[k] * ratio_4[j, k] + t_48[j, k]
        for i in range(2):
            for j in range(m):
                for k in range(count):
                    t_51[k + start, i, j] = t_47[j, i, k]
            for j in range(3):
                for k in range(count):
                    t_52[k + start, i, j] = t_50[j, i, k]
    return t_51, t_52


import numba  # noqa: E402

jit = numba.njit(fastmath={'contract', 'reassoc', 'nsz', 'arcp', 'afn'}, error_model='numpy', boundscheck=False, cache=True)(jit)
