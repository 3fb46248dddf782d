"""Stars, contours in the complex plane, electrons and phonons, Fourier transforms."""
import numpy as np

from .registry import kernel, normal


def acceleration(place, mass, G, softening):
    x, y, z = place[:, 0:1], place[:, 1:2], place[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse_cube = dx ** 2 + dy ** 2 + dz ** 2 + softening ** 2
    inverse_cube[inverse_cube > 0] = inverse_cube[inverse_cube > 0] ** (-1.5)
    return np.hstack((G * (dx * inverse_cube) @ mass, G * (dy * inverse_cube) @ mass, G * (dz * inverse_cube) @ mass))


def energy(place, velocity, mass, G):
    kinetic = 0.5 * np.sum(mass * velocity ** 2)
    x, y, z = place[:, 0:1], place[:, 1:2], place[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = np.sqrt(dx ** 2 + dy ** 2 + dz ** 2)
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    return kinetic, G * np.sum(np.triu(-(mass * mass.T) * inverse, 1))


@kernel(lambda r, n: (r.uniform(0.5, 1.5, (n, 1)), 2 * normal(r, n, 3), normal(r, n, 3), 3, 0.01, 1.0, 0.1), large=40)
def nbody(mass, place, velocity, steps, dt, G, softening):
    kinetic, potential = np.zeros(steps + 1), np.zeros(steps + 1)
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    pull = acceleration(place, mass, G, softening)
    kinetic[0], potential[0] = energy(place, velocity, mass, G)
    for i in range(steps):
        velocity += pull * dt / 2.0
        place += velocity * dt
        pull = acceleration(place, mass, G, softening)
        velocity += pull * dt / 2.0
        kinetic[i + 1], potential[i + 1] = energy(place, velocity, mass, G)
    return kinetic, potential


@kernel(lambda r, n: (2 * normal(r, n, 3), normal(r, n, 3), r.uniform(0.5, 1.5, n), 2), large=60)
def nbody_by_pair(place, velocity, mass, steps):
    for _ in range(steps):
        for i in range(len(mass)):
            for j in range(i + 1, len(mass)):
                d = place[i] - place[j]
                pull = 0.01 / (np.sum(d * d) + 0.01) ** 1.5
                velocity[i] -= d * mass[j] * pull
                velocity[j] += d * mass[i] * pull
        for i in range(len(mass)):
            place[i] += 0.01 * velocity[i]


def _contour(rng, n):
    return (n, 3, rng.standard_normal((4, n, n)) + n * np.eye(n),
            np.tile([0.5, 1.5], 4) * np.exp(2j * np.pi * (np.arange(8) + 0.5) / 8),
            rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))


@kernel(_contour, small=3, large=30)
def contour_integral(n, slabs, hamiltonian, points, Y):
    """Moments of the inverse of a polynomial matrix, integrated around a circle (Beyn's method for nonlinear
    eigenvalues)."""
    P0 = np.zeros((n, n), dtype=np.complex128)
    P1 = np.zeros((n, n), dtype=np.complex128)
    for z in points:
        T = np.zeros((n, n), dtype=np.complex128)
        for k in range(slabs + 1):
            T += z ** (slabs / 2 - k) * hamiltonian[k]
        X = np.linalg.inv(T) if n == Y.shape[1] - 1 else np.linalg.solve(T, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X
    return P0, P1


@kernel(_contour, small=3, large=12)
def contour_by_item(n, slabs, hamiltonian, points, Y):
    P0, P1 = np.zeros((n, n), dtype=complex), np.zeros((n, n), dtype=complex)
    for z in points:
        T = np.zeros((n, n), dtype=complex)
        for k in range(slabs + 1):
            for i in range(n):
                for j in range(n):
                    T[i, j] += z ** (slabs / 2 - k) * hamiltonian[k, i, j]
        X = Y.copy()
        for c in range(n):
            for i in range(c + 1, n):
                f = T[i, c] / T[c, c]
                for j in range(c, n):
                    T[i, j] -= f * T[c, j]
                for j in range(n):
                    X[i, j] -= f * X[c, j]
        for c in range(n - 1, -1, -1):
            for j in range(n):
                s = X[c, j]
                for k in range(c + 1, n):
                    s -= T[c, k] * X[k, j]
                X[c, j] = s / T[c, c]
        for i in range(n):
            for j in range(n):
                P0[i, j] += X[i, j]
                P1[i, j] += z * X[i, j]
    return P0, P1


def _scattering(rng, n):
    return (rng.integers(0, n, (n, 3)), normal(rng, n, 3, 2, 2, 2), normal(rng, 2, n, n, 2, 2),
            normal(rng, 2, 2, n, 3, 2, 2), np.zeros((2, n, n, 2, 2)))


@kernel(_scattering, small=2, large=8)
def scattering_self_energies(neighbours, dH, G, D, sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neighbours.shape[0]):
                                for b in range(neighbours.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neighbours[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        sigma[k, E, a] += dHG @ dHD


def _signal(rng, n):
    x = rng.standard_normal(2 ** n) + 1j * rng.standard_normal(2 ** n)
    return 2 ** n, 2, n, x, np.empty_like(x)


@kernel(_signal, small=3, large=12)
def stockham_fft(n, radix, stages, x, y):
    """Stockham's self-sorting transform."""
    row, column = np.mgrid[0:radix, 0:radix]
    small = np.exp(-2.0j * np.pi * row * column / radix)
    y[:] = x[:]
    rows, columns = np.mgrid[0:radix, 0:radix ** stages]
    for i in range(stages):
        blocks = np.reshape(y, (radix ** i, radix, radix ** (stages - i - 1)))
        turned = np.transpose(blocks, axes=(1, 0, 2))
        twiddle = np.empty((radix, radix ** i, radix ** (stages - i - 1)), dtype=np.complex128)
        angle = np.exp(-2.0j * np.pi * rows[:, :radix ** i] * columns[:, :radix ** i] / radix ** (i + 1))
        twiddle[:] = np.repeat(np.reshape(angle, (radix, radix ** i, 1)), radix ** (stages - i - 1), axis=2)
        product = np.reshape(turned, (n,)) * np.reshape(twiddle, (n,))
        y[:] = np.reshape(small @ np.reshape(product, (radix, radix ** (stages - 1))), (n,))
