"""Incompressible flow on a grid: explicit momentum steps, and a pressure that Jacobi sweeps find; in a cavity and in a channel."""
import numpy as np

from .registry import kernel


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
        p[1:-1, 1:-1] = (((old[1:-1, 2:] + old[1:-1, 0:-2]) * dy ** 2 + (old[2:, 1:-1] + old[0:-2, 1:-1]) * dx ** 2) / (2 * (dx ** 2 + dy ** 2))
                         - dx ** 2 * dy ** 2 / (2 * (dx ** 2 + dy ** 2)) * b[1:-1, 1:-1])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def _cavity(rng, n):
    return (n, n, 3, 4, rng.standard_normal((n, n)) * 0.1, rng.standard_normal((n, n)) * 0.1, 0.02, 2 / (n - 1), 2 / (n - 1),
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
    """Periodic along the channel; steps until the flow changes little (a while loop whose length depends on the data)."""
    change, steps = 1.0, 0
    b = np.zeros_like(u)
    while change > 0.05 and steps < 60:
        old_u, old_v = u.copy(), v.copy()
        divergence_source(b, density, dt, u, v, dx, dy)
        for _ in range(sweeps):
            old = p.copy()
            east, west = np.roll(old, -1, axis=1), np.roll(old, 1, axis=1)
            p[1:-1, :] = ((east[1:-1, :] + west[1:-1, :]) * dy ** 2 + (old[2:, :] + old[:-2, :]) * dx ** 2 - dx ** 2 * dy ** 2 * b[1:-1, :]) / (2 * (dx ** 2 + dy ** 2))
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        for w, old, push, drive in ((u, old_u, (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))[1:-1] / (2 * density * dx), force),
                                    (v, old_v, (p[2:, :] - p[:-2, :]) / (2 * density * dy), 0.0)):
            east, west = np.roll(old, -1, axis=1)[1:-1], np.roll(old, 1, axis=1)[1:-1]
            middle, north, south = old[1:-1], old[2:], old[:-2]
            w[1:-1, :] = (middle - old_u[1:-1] * dt / dx * (middle - west) - old_v[1:-1] * dt / dy * (middle - south) - dt * push
                          + viscosity * dt * ((east - 2 * middle + west) / dx ** 2 + (north - 2 * middle + south) / dy ** 2) + drive * dt)
            w[0, :] = 0
            w[-1, :] = 0
        change = (np.sum(u) - np.sum(old_u)) / np.sum(u)
        steps += 1
    return steps
