"""The log-likelihood of a Gaussian mixture whose precisions have lower triangular Cholesky factors, in three styles."""
import numpy as np

from .record import Program


def log_sum_exp(v):
    top = np.max(v, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(v - top), axis=1)) + top[:, 0])


def factors(diagonal, lower):
    """The factors from the logarithms of their diagonals, and the entries below."""
    k, d = diagonal.shape
    L = np.zeros((k, d, d))
    rows, columns = np.tril_indices(d, -1)
    L[:, rows, columns] = lower
    L[:, np.arange(d), np.arange(d)] = np.exp(diagonal)
    return L


def by_einsum(weights, means, diagonal, lower, x):
    L = factors(diagonal, lower)
    z = np.einsum("kij,nkj->nki", L, x[:, None, :] - means[None, :, :])
    return log_sum_exp(weights + np.sum(diagonal, axis=1) - 0.5 * np.sum(z * z, axis=2))


def by_product(weights, means, diagonal, lower, x):
    k, d = diagonal.shape
    L = factors(diagonal, lower)
    z = (x @ L.reshape(k * d, d).T).reshape(x.shape[0], k, d) - np.einsum("kij,kj->ki", L, means)
    return log_sum_exp(weights + np.sum(diagonal, axis=1) - 0.5 * np.sum(z * z, axis=2))


def by_loops(weights, means, diagonal, lower, x):
    n, d = x.shape
    k = weights.shape[0]
    scale = np.exp(diagonal)
    apart, z, terms = np.empty(d), np.empty(d), np.empty(k)
    total = 0.0
    for p in range(n):
        for c in range(k):
            for i in range(d):
                apart[i] = x[p, i] - means[c, i]
                z[i] = scale[c, i] * apart[i]
            at = 0
            for i in range(d):
                for j in range(i):
                    z[i] += lower[c, at] * apart[j]
                    at += 1
            terms[c] = weights[c]
            for i in range(d):
                terms[c] += diagonal[c, i] - 0.5 * z[i] * z[i]
        top = terms[0]
        for c in range(1, k):
            top = max(top, terms[c])
        s = 0.0
        for c in range(k):
            s += np.exp(terms[c] - top)
        total += np.log(s) + top
    return total


def _with(np, factors, style, amax):
    """A style's text in another library, with its own way to fill the factors."""
    def log_sum_exp(v):
        top = amax(v)
        return np.sum(np.log(np.sum(np.exp(v - top), axis=1)) + top[:, 0])

    def einsum(weights, means, diagonal, lower, x):
        z = np.einsum("kij,nkj->nki", factors(diagonal, lower), x[:, None, :] - means[None, :, :])
        return log_sum_exp(weights + np.sum(diagonal, axis=1) - 0.5 * np.sum(z * z, axis=2))

    def product(weights, means, diagonal, lower, x):
        k, d = diagonal.shape
        L = factors(diagonal, lower)
        z = (x @ L.reshape(k * d, d).T).reshape(x.shape[0], k, d) - np.einsum("kij,kj->ki", L, means)
        return log_sum_exp(weights + np.sum(diagonal, axis=1) - 0.5 * np.sum(z * z, axis=2))
    return product if style == "product" else einsum


def texts(style):
    """The other libraries broadcast over the points; each fills the triangles in its own way."""
    def in_jax(jax):
        np = jax.numpy

        def factors(diagonal, lower):
            k, d = diagonal.shape
            rows, columns = np.tril_indices(d, -1)
            L = np.zeros((k, d, d)).at[:, rows, columns].set(lower)
            return L.at[:, np.arange(d), np.arange(d)].set(np.exp(diagonal))
        return _with(np, factors, style, lambda v: np.max(v, axis=1, keepdims=True))

    def in_torch(torch):
        def factors(diagonal, lower):
            k, d = diagonal.shape
            rows, columns = torch.tril_indices(d, d, -1)
            L = torch.diag_embed(torch.exp(diagonal))
            L[:, rows, columns] = lower
            return L
        return _with(torch, factors, style, lambda v: torch.amax(v, dim=1, keepdim=True))

    def in_autograd(autograd):
        anp = autograd.numpy

        def factors(diagonal, lower):
            k, d = diagonal.shape
            one_hot = np.zeros((lower.shape[1], d, d))
            rows, columns = np.tril_indices(d, -1)
            one_hot[np.arange(lower.shape[1]), rows, columns] = 1.0
            return (lower @ one_hot.reshape(-1, d * d)).reshape(k, d, d) + anp.exp(diagonal)[:, :, None] * np.eye(d)
        return _with(anp, factors, style, lambda v: anp.max(v, axis=1, keepdims=True))
    return {"JAX": in_jax, "PyTorch": in_torch, "autograd": in_autograd}


def data(rng, n, d, k):
    return (rng.standard_normal(k), rng.standard_normal((k, d)), 0.2 * rng.standard_normal((k, d)),
            0.2 * rng.standard_normal((k, d * (d - 1) // 2)), rng.standard_normal((n, d)))


ALL = (0, 1, 2, 3)
PROGRAMS = [
    Program("Gaussian mixture, d = 10, by einsum", by_einsum, data, (1000, 10, 25), (5, 3, 2), ALL,
            texts=texts("einsum")),
    Program("Gaussian mixture, d = 32, by einsum", by_einsum, data, (1000, 32, 50), (6, 3, 2), ALL,
            texts=texts("einsum")),
    Program("Gaussian mixture, d = 10, by one product", by_product, data, (1000, 10, 25), (5, 3, 2), ALL,
            texts=texts("product")),
    Program("Gaussian mixture, d = 10, by scalar loops", by_loops, data, (1000, 10, 25), (5, 3, 2), ALL,
            texts=texts("einsum")),
]
