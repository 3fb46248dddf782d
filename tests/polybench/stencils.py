"""Stencils in time: relaxation, heat, waves, alternating directions, recursive filters."""
import numpy as np

from .registry import kernel, normal


@kernel(lambda r, n: (3, n, normal(r, n, n)), large=100)
def seidel_2d(steps, n, A):
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            A[i, 1:-1] += (A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1]
                           + A[i + 1, 2:])
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0


@kernel(lambda r, n: (3, normal(r, n, n)), large=200)
def seidel_by_item(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = ((A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1]
                            + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0)


@kernel(lambda r, n: (4, normal(r, n), normal(r, n)), small=9, large=100000)
def jacobi_1d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@kernel(lambda r, n: (4, normal(r, n, n), normal(r, n, n)), large=300)
def jacobi_2d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@kernel(lambda r, n: (3, normal(r, n, n, n), normal(r, n, n, n)), small=5, large=50)
def heat_3d(steps, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1, 1:-1] = (0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
                               + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
                               + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
                               + A[1:-1, 1:-1, 1:-1])
        A[1:-1, 1:-1, 1:-1] = (0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
                               + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
                               + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
                               + B[1:-1, 1:-1, 1:-1])


@kernel(lambda r, n: (4, normal(r, n, n + 1), normal(r, n, n + 1), normal(r, n, n + 1), normal(r, 4)), large=200)
def fdtd_2d(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel(lambda r, n: (3, n, normal(r, n, n)), large=80)
def adi(steps, n, u):
    """Alternating directions, Peaceman and Rachford: implicit along columns, then along rows, each by the Thomas
    algorithm."""
    v, p, q = np.empty(u.shape, dtype=u.dtype), np.empty(u.shape, dtype=u.dtype), np.empty(u.shape, dtype=u.dtype)
    a = -n * n / steps
    b = 1.0 - 2.0 * a
    d = a / 2.0
    e = 1.0 - 2.0 * d
    for _ in range(1, steps + 1):
        v[0, 1:n - 1] = 1.0
        p[1:n - 1, 0] = 0.0
        q[1:n - 1, 0] = v[0, 1:n - 1]
        for j in range(1, n - 1):
            pivot = a * p[1:n - 1, j - 1] + b
            p[1:n - 1, j] = -a / pivot
            q[1:n - 1, j] = ((-d * u[j, 0:n - 2] + (1.0 + 2.0 * d) * u[j, 1:n - 1] - d * u[j, 2:n]
                              - a * q[1:n - 1, j - 1]) / pivot)
        v[n - 1, 1:n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:n - 1] = p[1:n - 1, j] * v[j + 1, 1:n - 1] + q[1:n - 1, j]
        u[1:n - 1, 0] = 1.0
        p[1:n - 1, 0] = 0.0
        q[1:n - 1, 0] = u[1:n - 1, 0]
        for j in range(1, n - 1):
            p[1:n - 1, j] = -d / (d * p[1:n - 1, j - 1] + e)
            q[1:n - 1, j] = ((-a * v[0:n - 2, j] + (1.0 + 2.0 * a) * v[1:n - 1, j] - a * v[2:n, j]
                              - d * q[1:n - 1, j - 1]) / (d * p[1:n - 1, j - 1] + e))
        u[1:n - 1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:n - 1, j] = p[1:n - 1, j] * u[1:n - 1, j + 1] + q[1:n - 1, j]


@kernel(lambda r, n: (0.25, normal(r, n, n + 2)), large=100)
def deriche(alpha, image):
    """Deriche's recursive smoothing: causal and anticausal second-order filters along rows, then along columns."""
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + alpha * 2.0 * decay - decay * decay)
    a1, a2, a3, a4 = k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 ** (-alpha), -decay * decay
    left = np.empty_like(image)
    left[:, 0] = a1 * image[:, 0]
    left[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * left[:, 0]
    for j in range(2, image.shape[1]):
        left[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * left[:, j - 1] + b2 * left[:, j - 2]
    right = np.empty_like(image)
    right[:, -1] = 0.0
    right[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        right[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * right[:, j + 1] + b2 * right[:, j + 2]
    result = left + right
    left[0, :] = a1 * result[0, :]
    left[1, :] = a1 * result[1, :] + a2 * result[0, :] + b1 * left[0, :]
    for i in range(2, image.shape[0]):
        left[i, :] = a1 * result[i, :] + a2 * result[i - 1, :] + b1 * left[i - 1, :] + b2 * left[i - 2, :]
    right[-1, :] = 0.0
    right[-2, :] = a3 * result[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        right[i, :] = a3 * result[i + 1, :] + a4 * result[i + 2, :] + b1 * right[i + 1, :] + b2 * right[i + 2, :]
    return left + right


@kernel(lambda r, n: (normal(r, n + 4, n + 4, 3), np.zeros((n, n, 3)), normal(r, n, n, 3)), large=100)
def hdiff(field, result, coefficient):
    """Limited horizontal diffusion of a weather model: Laplacian, fluxes set to zero where they run up the gradient,
    divergence."""
    rows, cols = result.shape[0], result.shape[1]
    laplace = (4.0 * field[1:rows + 3, 1:cols + 3, :]
               - (field[2:rows + 4, 1:cols + 3, :] + field[0:rows + 2, 1:cols + 3, :] + field[1:rows + 3, 2:cols + 4, :]
                  + field[1:rows + 3, 0:cols + 2, :]))
    flux = laplace[1:, 1:cols + 1, :] - laplace[:-1, 1:cols + 1, :]
    flux_x = np.where(flux * (field[2:rows + 3, 2:cols + 2, :] - field[1:rows + 2, 2:cols + 2, :]) > 0, 0, flux)
    flux = laplace[1:rows + 1, 1:, :] - laplace[1:rows + 1, :-1, :]
    flux_y = np.where(flux * (field[2:rows + 2, 2:cols + 3, :] - field[2:rows + 2, 1:cols + 2, :]) > 0, 0, flux)
    result[:, :, :] = (field[2:rows + 2, 2:cols + 2, :]
                       - coefficient * (flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]))


@kernel(lambda r, n: (normal(r, n, n, 8), normal(r, n, n, 8), normal(r, n + 1, n, 8), normal(r, n, n, 8),
                      normal(r, n, n, 8), 3.0), small=4, large=30)
def vadv(tendency_stage, u_stage, w, u, tendency, rate):
    """Implicit vertical advection of a weather model: one tridiagonal system for each column, forward sweep and back
    substitution."""
    rows, cols, levels = tendency_stage.shape[0], tendency_stage.shape[1], tendency_stage.shape[2]
    upper = np.ndarray((rows, cols, levels), dtype=tendency_stage.dtype)
    right = np.ndarray((rows, cols, levels), dtype=tendency_stage.dtype)
    last = np.ndarray((rows, cols), dtype=tendency_stage.dtype)
    for k in range(levels):
        below = -0.25 * (w[1:, :, k] + w[:-1, :, k]) if k > 0 else np.zeros((rows, cols))
        above = 0.25 * (w[1:, :, k + 1] + w[:-1, :, k + 1]) if k < levels - 1 else np.zeros((rows, cols))
        diagonal = rate - 0.5 * below - 0.5 * above
        change = 0.0
        if k > 0:
            change = change - 0.5 * below * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        if k < levels - 1:
            change = change - 0.5 * above * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        upper[:, :, k] = 0.5 * above
        right[:, :, k] = rate * u[:, :, k] + tendency[:, :, k] + tendency_stage[:, :, k] + change
        if k > 0:
            pivot = 1.0 / (diagonal - upper[:, :, k - 1] * 0.5 * below)
            right[:, :, k] = (right[:, :, k] - right[:, :, k - 1] * 0.5 * below) * pivot
        else:
            pivot = 1.0 / diagonal
            right[:, :, k] *= pivot
        upper[:, :, k] *= pivot
    last[:] = right[:, :, levels - 1]
    tendency_stage[:, :, levels - 1] = rate * (last - u[:, :, levels - 1])
    for k in range(levels - 2, -1, -1):
        column = right[:, :, k] - upper[:, :, k] * last[:, :]
        last[:] = column
        tendency_stage[:, :, k] = rate * (column - u[:, :, k])
