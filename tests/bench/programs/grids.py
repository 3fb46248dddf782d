"""Stencils, sums over pairs and linear algebra in loops: differential equations, energies, a Cholesky factorization, a
sparse Jacobian."""
import math

import numpy as np

from .record import Program, for_all_others


def heat(u, steps, c):
    for _ in range(steps):
        new = u.copy()
        new[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u * u)


def heat_jax(jax):
    np = jax.numpy

    def f(u, steps, c):
        step = lambda u, _: (u.at[1:-1].add(c * (u[2:] - 2 * u[1:-1] + u[:-2])), None)
        return np.sum(jax.lax.scan(step, u, None, length=steps)[0] ** 2)
    return f


def heat_with(np):
    def f(u, steps, c):
        for _ in range(steps):
            u = np.concatenate((u[:1], u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]))
        return np.sum(u * u)
    return f


def slope(x, y):
    return np.concatenate((x[:1], x[1:] * y[:-1]))


def chain_of_products(x, steps):
    """Each element's derivative is a product with its left neighbour's state; by Runge and Kutta from zero to two."""
    h = 2.0 / steps
    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + h / 2 * k1)
        k3 = slope(x, y + h / 2 * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y)


def chain_of_products_jax(jax):
    np = jax.numpy

    def f(x, steps):
        h = 2.0 / steps
        slope = lambda y: np.concatenate((x[:1], x[1:] * y[:-1]))

        def step(y, _):
            k1 = slope(y)
            k2 = slope(y + h / 2 * k1)
            k3 = slope(y + h / 2 * k2)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + h * k3)), None
        return np.sum(jax.lax.scan(step, np.zeros_like(x), None, length=steps)[0])
    return f


def energy(X):
    """Pair by pair, in nested loops."""
    e = 0.0
    for i in range(X.shape[0]):
        for j in range(i):
            d = X[i] - X[j]
            e += 1.0 / math.sqrt(d @ d + 0.01)
    return e


def energy_at_once(X):
    d = X[:, None, :] - X[None, :, :]
    return 0.5 * (np.sum(1.0 / np.sqrt(np.sum(d * d, axis=2) + 0.01)) - X.shape[0] / math.sqrt(0.01))


def products_of_tables(A, C):
    """The kernel doitgen of PolyBench, and the squares summed."""
    r, q, p = A.shape
    return np.sum((A.reshape(r, q, 1, p) @ C).reshape(r, q, p) ** 2)


def cholesky(A):
    """The factor of a matrix, entry by entry; its log-determinant and its cubes summed."""
    L = np.zeros_like(A)
    for i in range(A.shape[0]):
        for j in range(i):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
        L[i, i] = math.sqrt(A[i, i] - L[i, :i] @ L[i, :i])
    return np.sum(np.log(np.diag(L))) + np.sum(L ** 3)


def cholesky_jax(jax):
    np = jax.numpy

    def f(A):
        rows = np.arange(A.shape[0])

        def step(A, j):
            column = np.where(rows >= j, A[:, j], 0.0) / np.sqrt(A[j, j])
            return A - np.outer(column, column), column
        L = jax.lax.scan(step, A, rows)[1].T
        return np.sum(np.log(np.diag(L))) + np.sum(L ** 3)
    return f


def cholesky_with(np, mask):
    """For libraries with Python's loop: column by column."""
    def f(A):
        n = A.shape[0]
        columns = []
        for j in range(n):
            below = A[:, j] * mask(n, j) / np.sqrt(A[j, j])
            columns.append(below)
            A = A - np.outer(below, below)
        L = np.stack(columns, 1)
        return np.sum(np.log(np.diag(L))) + np.sum(L ** 3)
    return f


def reaction(u, n, strength):
    """A reaction and diffusion on a grid: the residuals, each with the five unknowns of its stencil."""
    v = np.zeros((n + 2, n + 2))
    v[1:-1, 1:-1] = u.reshape(n, n)
    inner = v[1:-1, 1:-1]
    return (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * inner + strength * np.exp(inner)).ravel()


def seeds(n):
    """Five directions that see no residual's unknowns together."""
    i, j = np.divmod(np.arange(n * n), n)
    return ((i + 2 * j) % 5 == np.arange(5)[:, None]).astype(float)


def reaction_jax(jax):
    np = jax.numpy

    def f(u, n, strength):
        def residual(u):
            v = np.pad(u.reshape(n, n), 1)
            inner = v[1:-1, 1:-1]
            return (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * inner
                    + strength * np.exp(inner)).ravel()
        return jax.vmap(lambda du: jax.jvp(residual, (u,), (du,))[1])(seeds(n))
    return f


def reaction_torch(torch):
    directions = {}

    def f(u, n, strength):
        def residual(u):
            v = torch.nn.functional.pad(u.reshape(n, n), (1, 1, 1, 1))
            inner = v[1:-1, 1:-1]
            return (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4 * inner
                    + strength * torch.exp(inner)).ravel()
        if n not in directions:
            directions[n] = torch.tensor(seeds(n))
        return torch.func.vmap(lambda du: torch.func.jvp(residual, (u,), (du,))[1])(directions[n])
    return f


def compressed(J):
    return (J @ seeds(math.isqrt(J.shape[0])).T).T


def definite(rng, n):
    B = rng.standard_normal((n, n))
    return (B @ B.T / n + np.eye(n),)


PROGRAMS = [
    Program("heat equation, 200 points, 500 steps", heat, lambda rng, n, steps: (rng.uniform(0, 1, n), steps, 0.1),
            (200, 500), (6, 3),
            texts={"JAX": heat_jax, "PyTorch": heat_with, "autograd": lambda autograd: heat_with(autograd.numpy)}),
    Program("chain of products by Runge–Kutta, 10,000 x 20", chain_of_products,
            lambda rng, n, steps: (rng.uniform(0, 1, n), steps), (10_000, 20), (6, 3),
            texts={"JAX": chain_of_products_jax}),
    Program("pairwise energy by loops, 200 points", energy, lambda rng, n: (rng.standard_normal((n, 3)),), (200,), (4,),
            texts=for_all_others(energy_at_once)),
    Program("products of tables (doitgen), 50 x 40 x 60", products_of_tables,
            lambda rng, r, q, p: (rng.uniform(0, 1, (r, q, p)), rng.uniform(0, 1, (p, p))),
            (50, 40, 60), (3, 2, 4), (0, 1)),
    Program("Cholesky factor by loops, n = 60", cholesky, definite, (60,), (4,), texts={
        "JAX": cholesky_jax,
        "PyTorch": lambda torch: cholesky_with(torch, lambda n, j: (torch.arange(n) >= j).double()),
        "autograd": lambda autograd: cholesky_with(autograd.numpy, lambda n, j: (np.arange(n) >= j) * 1.0)}),
    Program("sparse Jacobian of a stencil, 50 x 50 grid", reaction, lambda rng, n: (rng.uniform(0, 1, n * n), n, 0.3),
            (50,), (4,), what="sparse",
            texts={"JAX": reaction_jax, "PyTorch": reaction_torch}, dense=compressed,
            left_out={"autograd": "its Jacobian takes a reverse sweep an output, and it has no vmap"}),
]
