"""Element by element, as one writes for a compiler: the linear algebra and the stencils once more."""
import math

import numpy as np

from .products import matrices
from .registry import dominant, kernel, normal, positive_definite


@kernel(matrices((1, 1), (1, 1.2), (1.2, 1), numbers=2), large=100)
def gemm_by_item(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * A[i, k] * B[k, j]


@kernel(matrices((1, 1.2), (1.2, 1), (1, 1.1), (1, 1.1), numbers=2), large=70)
def k2mm_by_item(alpha, beta, A, B, C, D):
    T = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            T[i, j] = 0.0
            for k in range(A.shape[1]):
                T[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(A.shape[0]):
        for j in range(C.shape[1]):
            D[i, j] *= beta
            for k in range(B.shape[1]):
                D[i, j] += T[i, k] * C[k, j]


def product_by_item(A, B):
    C = np.empty((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * B[k, j]
            C[i, j] = s
    return C


@kernel(matrices((1, 1.2), (1.2, 1), (1, 1.2), (1.2, 1)), large=60)
def k3mm_by_item(A, B, C, D):
    return product_by_item(product_by_item(A, B), product_by_item(C, D))


@kernel(matrices((1, 1.2), (1.2,)), large=700)
def atax_by_item(A, x):
    y = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        t = 0.0
        for j in range(A.shape[1]):
            t += A[i, j] * x[j]
        for j in range(A.shape[1]):
            y[j] += A[i, j] * t
    return y


@kernel(matrices((1, 1.2), (1.2,), (1,)), large=700)
def bicg_by_item(A, p, r):
    s, q = np.zeros(A.shape[1]), np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
    return s, q


@kernel(matrices((1, 1), (1,), (1,), (1,), (1,), (1,), (1,), (1,), (1,), numbers=2), large=500)
def gemver_by_item(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = len(x)
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]


@kernel(matrices((1, 1), (1, 1), (1,), numbers=2), large=500)
def gesummv_by_item(alpha, beta, A, B, x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        t = 0.0
        for j in range(len(x)):
            t += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        y[i] = alpha * t + beta * y[i]
    return y


@kernel(matrices((1,), (1,), (1,), (1,), (1, 1)), large=600)
def mvt_by_item(x1, x2, y1, y2, A):
    for i in range(len(x1)):
        for j in range(len(x1)):
            x1[i] += A[i, j] * y1[j]
    for i in range(len(x1)):
        for j in range(len(x1)):
            x2[i] += A[j, i] * y2[j]


@kernel(matrices((1, 1.2), (1, 1), (1, 1.2), numbers=2), large=90)
def symm_by_item(alpha, beta, C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            t = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                t += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * t


@kernel(matrices((1, 1), (1, 1.2), numbers=2), large=120)
def syrk_by_item(alpha, beta, C, A):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]


@kernel(matrices((1, 1), (1, 1.2), (1, 1.2), numbers=2), large=100)
def syr2k_by_item(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


@kernel(matrices((1, 1), (1, 1.2), numbers=1), large=110)
def trmm_by_item(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i + 1, B.shape[0]):
                B[i, j] += A[k, i] * B[k, j]
            B[i, j] = alpha * B[i, j]


@kernel(lambda r, n: (normal(r, n, n + 1, n + 2), normal(r, n + 2, n + 2)), large=30)
def doitgen_by_item(A, C4):
    total = np.zeros(A.shape[2])
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                total[p] = 0.0
                for s in range(A.shape[2]):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(A.shape[2]):
                A[r, q, p] = total[p]


@kernel(lambda r, n: (dominant(r, n),), large=110)
def lu_by_item(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


@kernel(lambda r, n: (dominant(r, n), normal(r, n)), large=110)
def ludcmp_by_item(A, b):
    n = A.shape[0]
    x, y = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, n):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(n):
        w = b[i]
        for j in range(i):
            w -= A[i, j] * y[j]
        y[i] = w
    for i in range(n - 1, -1, -1):
        w = y[i]
        for j in range(i + 1, n):
            w -= A[i, j] * x[j]
        x[i] = w / A[i, i]
    return x, y


@kernel(lambda r, n: (positive_definite(r, n),), large=150)
def cholesky_by_item(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])


@kernel(lambda r, n: (r.uniform(0.0, 0.3 / n, n),), small=6, large=1000)
def durbin_by_item(r):
    n = len(r)
    y, z = np.zeros(n), np.zeros(n)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


@kernel(lambda r, n: (normal(r, n + 2, n) + np.eye(n + 2, n),), large=80)
def gramschmidt_by_item(A):
    m, n = A.shape
    Q, R = np.zeros((m, n)), np.zeros((n, n))
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(norm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]
    return Q, R


@kernel(lambda r, n: (dominant(r, n), normal(r, n), normal(r, n)), large=800)
def trisolv_by_item(L, x, b):
    for i in range(len(x)):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


@kernel(lambda r, n: (normal(r, n + 3, n),), large=80)
def correlation_by_item(data):
    n, m = data.shape
    mean, deviation = np.zeros(m), np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for j in range(m):
        for i in range(n):
            deviation[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation[j] = math.sqrt(deviation[j] / n)
        if deviation[j] <= 0.1:
            deviation[j] = 1.0
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
            data[i, j] /= math.sqrt(n) * deviation[j]
    result = np.empty((m, m))
    for i in range(m - 1):
        result[i, i] = 1.0
        for j in range(i + 1, m):
            result[i, j] = 0.0
            for k in range(n):
                result[i, j] += data[k, i] * data[k, j]
            result[j, i] = result[i, j]
    result[m - 1, m - 1] = 1.0
    return result


@kernel(lambda r, n: (normal(r, n + 3, n),), large=80)
def covariance_by_item(data):
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            data[i, j] -= mean[j]
    result = np.empty((m, m))
    for i in range(m):
        for j in range(i, m):
            total = 0.0
            for k in range(n):
                total += data[k, i] * data[k, j]
            result[i, j] = total / (n - 1.0)
            result[j, i] = result[i, j]
    return result


@kernel(lambda r, n: (4, normal(r, n), normal(r, n)), small=9, large=100000)
def jacobi_1d_by_item(steps, A, B):
    n = len(A)
    for _ in range(steps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


@kernel(lambda r, n: (4, normal(r, n, n), normal(r, n, n)), large=300)
def jacobi_2d_by_item(steps, A, B):
    n = len(A)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


@kernel(lambda r, n: (3, normal(r, n, n, n), normal(r, n, n, n)), small=5, large=45)
def heat_3d_by_item(steps, A, B):
    n = A.shape[0]
    for _ in range(steps):
        for old, new in ((A, B), (B, A)):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    for k in range(1, n - 1):
                        new[i, j, k] = (0.125 * (old[i + 1, j, k] - 2.0 * old[i, j, k] + old[i - 1, j, k])
                                        + 0.125 * (old[i, j + 1, k] - 2.0 * old[i, j, k] + old[i, j - 1, k])
                                        + 0.125 * (old[i, j, k + 1] - 2.0 * old[i, j, k] + old[i, j, k - 1])
                                        + old[i, j, k])


@kernel(lambda r, n: (4, normal(r, n, n + 1), normal(r, n, n + 1), normal(r, n, n + 1), normal(r, 4)), large=200)
def fdtd_2d_by_item(steps, ex, ey, hz, source):
    nx, ny = ex.shape
    for t in range(steps):
        for j in range(ny):
            ey[0, j] = source[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
