"""Incompressible flow on a grid: explicit momentum steps, and a pressure that Jacobi sweeps find; in a cavity and in a
channel."""
import numpy as np

from .registry import kernel, normal


def divergence_source(b, density, dt, u, v, dx, dy):
    """The right-hand side of the pressure's Poisson equation, in the interior."""
    ux = (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
    vy = (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)
    uy = (u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx)
    b[1:-1, 1:-1] = density * ((ux + vy) / dt - ux ** 2 - 2 * uy * vx - vy ** 2)


def pressure(sweeps, p, dx, dy, b):
    """Jacobi sweeps in place; walls with no gradient, zero at the lid."""
    for _ in range(sweeps):
        old = p.copy()
        p[1:-1, 1:-1] = (((old[1:-1, 2:] + old[1:-1, 0:-2]) * dy ** 2
                          + (old[2:, 1:-1] + old[0:-2, 1:-1]) * dx ** 2) / (2 * (dx ** 2 + dy ** 2))
                         - dx ** 2 * dy ** 2 / (2 * (dx ** 2 + dy ** 2)) * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def _cavity(rng, n):
    return (n, n, 3, 4, rng.standard_normal((n, n)) * 0.1, rng.standard_normal((n, n)) * 0.1, 0.02, 2 / (n - 1),
            2 / (n - 1),
            rng.standard_normal((n, n)) * 0.1, 1.0, 0.1)


@kernel(_cavity, large=45)
def cavity_flow(nx, ny, steps, sweeps, u, v, dt, dx, dy, p, density, viscosity):
    old_u, old_v = np.empty_like(u), np.empty_like(v)
    b = np.zeros((ny, nx))
    for _ in range(steps):
        old_u = u.copy()
        old_v = v.copy()
        divergence_source(b, density, dt, u, v, dx, dy)
        pressure(sweeps, p, dx, dy, b)
        u[1:-1, 1:-1] = (old_u[1:-1, 1:-1] - old_u[1:-1, 1:-1] * dt / dx * (old_u[1:-1, 1:-1] - old_u[1:-1, 0:-2])
                         - old_v[1:-1, 1:-1] * dt / dy * (old_u[1:-1, 1:-1] - old_u[0:-2, 1:-1])
                         - dt / (2 * density * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
                         + viscosity * (dt / dx ** 2 * (old_u[1:-1, 2:] - 2 * old_u[1:-1, 1:-1] + old_u[1:-1, 0:-2])
                                        + dt / dy ** 2 * (old_u[2:, 1:-1] - 2 * old_u[1:-1, 1:-1] + old_u[0:-2, 1:-1])))
        v[1:-1, 1:-1] = (old_v[1:-1, 1:-1] - old_u[1:-1, 1:-1] * dt / dx * (old_v[1:-1, 1:-1] - old_v[1:-1, 0:-2])
                         - old_v[1:-1, 1:-1] * dt / dy * (old_v[1:-1, 1:-1] - old_v[0:-2, 1:-1])
                         - dt / (2 * density * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
                         + viscosity * (dt / dx ** 2 * (old_v[1:-1, 2:] - 2 * old_v[1:-1, 1:-1] + old_v[1:-1, 0:-2])
                                        + dt / dy ** 2 * (old_v[2:, 1:-1] - 2 * old_v[1:-1, 1:-1] + old_v[0:-2, 1:-1])))
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def _channel(rng, n):
    return (4, rng.standard_normal((n, n)) * 0.1, rng.standard_normal((n, n)) * 0.1, 0.005, 2 / (n - 1), 2 / (n - 1),
            rng.standard_normal((n, n)) * 0.1, 1.0, 0.1, 1.0)


@kernel(_channel, large=40)
def channel_flow(sweeps, u, v, dt, dx, dy, p, density, viscosity, force):
    """Periodic along the channel; steps until the flow changes little (a while loop whose length depends on the
    data)."""
    change, steps = 1.0, 0
    b = np.zeros_like(u)
    while change > 0.05 and steps < 60:
        old_u, old_v = u.copy(), v.copy()
        divergence_source(b, density, dt, u, v, dx, dy)
        for _ in range(sweeps):
            old = p.copy()
            east, west = np.roll(old, -1, axis=1), np.roll(old, 1, axis=1)
            p[1:-1, :] = ((east[1:-1, :] + west[1:-1, :]) * dy ** 2 + (old[2:, :] + old[:-2, :]) * dx ** 2
                          - dx ** 2 * dy ** 2 * b[1:-1, :]) / (2 * (dx ** 2 + dy ** 2))
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        push_u = (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1] / (2 * density * dx)
        push_v = (p[2:, :] - p[:-2, :]) / (2 * density * dy)
        for w, old, push, drive in ((u, old_u, push_u, force), (v, old_v, push_v, 0.0)):
            east, west = np.roll(old, -1, axis=1)[1:-1], np.roll(old, 1, axis=1)[1:-1]
            middle, north, south = old[1:-1], old[2:], old[:-2]
            w[1:-1, :] = (middle - old_u[1:-1] * dt / dx * (middle - west) - old_v[1:-1] * dt / dy * (middle - south)
                          - dt * push + viscosity * dt * ((east - 2 * middle + west) / dx ** 2
                                                          + (north - 2 * middle + south) / dy ** 2) + drive * dt)
            w[0, :] = 0
            w[-1, :] = 0
        change = (np.sum(u) - np.sum(old_u)) / np.sum(u)
        steps += 1
    return steps


@kernel(lambda r, n: (normal(r, n, n) * 0.2, normal(r, n, n) * 0.2, normal(r, n, n) * 0.2, 0.005, 2 / (n - 1)),
        large=60)
def cavity_flow_by_item(u, v, p, dt, dx):
    n = u.shape[0]
    un, vn, pn, b = np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.zeros((n, n))
    for _ in range(3):
        for i in range(n):
            for j in range(n):
                un[i, j] = u[i, j]
                vn[i, j] = v[i, j]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                ux, vy = (u[i, j + 1] - u[i, j - 1]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dx)
                uy, vx = (u[i + 1, j] - u[i - 1, j]) / (2 * dx), (v[i, j + 1] - v[i, j - 1]) / (2 * dx)
                b[i, j] = (ux + vy) / dt - ux ** 2 - 2 * uy * vx - vy ** 2
        for _ in range(5):
            for i in range(n):
                for j in range(n):
                    pn[i, j] = p[i, j]
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    p[i, j] = 0.25 * (pn[i, j + 1] + pn[i, j - 1] + pn[i + 1, j] + pn[i - 1, j] - dx * dx * b[i, j])
            for i in range(n):
                p[i, n - 1] = p[i, n - 2]
                p[i, 0] = p[i, 1]
            for j in range(n):
                p[0, j] = p[1, j]
                p[n - 1, j] = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = (un[i, j] - un[i, j] * dt / dx * (un[i, j] - un[i, j - 1])
                           - vn[i, j] * dt / dx * (un[i, j] - un[i - 1, j])
                           - dt / (2 * dx) * (p[i, j + 1] - p[i, j - 1])
                           + 0.1 * dt / dx ** 2 * (un[i, j + 1] + un[i, j - 1] + un[i + 1, j] + un[i - 1, j]
                                                   - 4 * un[i, j]))
                v[i, j] = (vn[i, j] - un[i, j] * dt / dx * (vn[i, j] - vn[i, j - 1])
                           - vn[i, j] * dt / dx * (vn[i, j] - vn[i - 1, j])
                           - dt / (2 * dx) * (p[i + 1, j] - p[i - 1, j])
                           + 0.1 * dt / dx ** 2 * (vn[i, j + 1] + vn[i, j - 1] + vn[i + 1, j] + vn[i - 1, j]
                                                   - 4 * vn[i, j]))
        for k in range(n):
            u[0, k] = u[k, 0] = u[k, n - 1] = 0.0
            v[0, k] = v[n - 1, k] = v[k, 0] = v[k, n - 1] = 0.0
        for k in range(n):
            u[n - 1, k] = 1.0


@kernel(lambda r, n: (normal(r, n, n) * 0.2, normal(r, n, n) * 0.2, normal(r, n, n) * 0.2), large=60)
def channel_flow_by_item(u, v, p):
    n = u.shape[0]
    dt, dx = 0.005, 2 / (n - 1)
    pn, un, vn = p.copy(), u.copy(), v.copy()
    change, iterations = 1.0, 0
    while change > 0.001 and iterations < 4:
        un, vn = u.copy(), v.copy()
        for _ in range(3):
            pn = p.copy()
            for i in range(1, n - 1):
                for j in range(n):
                    e, w = (j + 1) % n, (j - 1) % n
                    div = (un[i, e] - un[i, w] + vn[i + 1, j] - vn[i - 1, j]) / (2 * dx)
                    p[i, j] = 0.25 * (pn[i, e] + pn[i, w] + pn[i + 1, j] + pn[i - 1, j] - dx * dx * div / dt)
            for j in range(n):
                p[0, j], p[n - 1, j] = p[1, j], p[n - 2, j]
        for i in range(1, n - 1):
            for j in range(n):
                e, w = (j + 1) % n, (j - 1) % n
                u[i, j] = (un[i, j] - un[i, j] * dt / dx * (un[i, j] - un[i, w])
                           - vn[i, j] * dt / dx * (un[i, j] - un[i - 1, j])
                           - dt / (2 * dx) * (p[i, e] - p[i, w])
                           + 0.1 * dt / dx ** 2 * (un[i, e] + un[i, w] + un[i + 1, j] + un[i - 1, j] - 4 * un[i, j])
                           + dt)
                v[i, j] = (vn[i, j] - un[i, j] * dt / dx * (vn[i, j] - vn[i, w])
                           - vn[i, j] * dt / dx * (vn[i, j] - vn[i - 1, j])
                           - dt / (2 * dx) * (p[i + 1, j] - p[i - 1, j])
                           + 0.1 * dt / dx ** 2 * (vn[i, e] + vn[i, w] + vn[i + 1, j] + vn[i - 1, j] - 4 * vn[i, j]))
        for j in range(n):
            u[0, j] = u[n - 1, j] = v[0, j] = v[n - 1, j] = 0.0
        change = abs((np.sum(u) - np.sum(un)) / np.sum(u))
        iterations += 1
