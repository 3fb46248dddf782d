"""A Gaussian mixture in broadcasting style, and its gradient written by hand in Numba loops."""
import math

import numba
import numpy as np

rng = np.random.default_rng(0)


def mixture(alphas, means, precisions, x):
    """Log-likelihood of a Gaussian mixture with upper triangular Cholesky factors of the precisions, in broadcasting
    style."""
    d = x[:, None, :] - means[None, :, :]
    z = np.einsum("kij,nkj->nki", precisions, d)
    logdet = np.sum(np.log(np.abs(np.diagonal(precisions, axis1=-1, axis2=-2))), axis=1)
    terms = alphas + logdet - 0.5 * np.sum(z * z, axis=2)
    top = np.max(terms, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(terms - top), axis=1)) + top[:, 0])


@numba.njit(fastmath=True, error_model="numpy")
def mixture_gradient(alphas, means, precisions, x):
    """The mixture's gradient, derived by hand, in scalar loops: the speed of hand-derived C++."""
    n, dim = x.shape
    k = alphas.size
    ga, gm, gp = np.zeros(k), np.zeros((k, dim)), np.zeros((k, dim, dim))
    logdet, terms, d, z = np.zeros(k), np.empty(k), np.empty((k, dim)), np.empty((k, dim))
    for j in range(k):
        for i in range(dim):
            logdet[j] += math.log(abs(precisions[j, i, i]))
    total = 0.0
    for p in range(n):
        top = -np.inf
        for j in range(k):
            q = 0.0
            for i in range(dim):
                d[j, i] = x[p, i] - means[j, i]
            for i in range(dim):
                s = 0.0
                for m in range(dim):
                    s += precisions[j, i, m] * d[j, m]
                z[j, i] = s
                q += s * s
            terms[j] = alphas[j] + logdet[j] - 0.5 * q
            top = max(top, terms[j])
        s = 0.0
        for j in range(k):
            terms[j] = math.exp(terms[j] - top)
            s += terms[j]
        total += math.log(s) + top
        for j in range(k):
            r = terms[j] / s
            ga[j] += r
            for i in range(dim):
                c = -r * z[j, i]
                for m in range(dim):
                    gp[j, i, m] += c * d[j, m]
                    gm[j, m] -= c * precisions[j, i, m]
    for j in range(k):
        for i in range(dim):
            gp[j, i, i] += ga[j] / precisions[j, i, i]
    return total, ga, gm, gp


def mixture_data(n=1000, dim=10, k=25):
    precisions = rng.standard_normal((k, dim, dim)) * 0.1 + np.eye(dim)
    return rng.standard_normal(k), rng.standard_normal((k, dim)), precisions, rng.standard_normal((n, dim))
