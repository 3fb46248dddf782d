"""The problems that fad is measured on: plain NumPy functions, their data, and derivatives written by hand in Numba loops."""
import math

import numba
import numpy as np

rng = np.random.default_rng(0)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def network(params, X, y):
    """A two-layer network with a squared loss."""
    W1, b1, W2, b2 = params
    h = np.tanh(X @ W1 + b1)
    return np.mean((h @ W2 + b2 - y) ** 2)


def gp(theta, D2, y):
    """Negative log marginal likelihood of a Gaussian process with a squared exponential kernel (Rasmussen & Williams, eq. 5.8)."""
    n = y.shape[0]
    K = np.exp(theta[0]) * np.exp(-0.5 * D2 * np.exp(-2 * theta[1])) + np.exp(theta[2]) * np.eye(n)
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(K, y)
    return 0.5 * y @ a + np.sum(np.log(np.diag(L))) + 0.5 * n * math.log(2 * math.pi)


def mixture(alphas, means, precisions, x):
    """Log-likelihood of a Gaussian mixture with upper triangular Cholesky factors of the precisions, in broadcasting style."""
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


def network_data(n=200, inputs=10, hidden=32):
    params = (rng.standard_normal((inputs, hidden)) * 0.3, np.zeros(hidden), rng.standard_normal(hidden) * 0.3, 0.1)
    return params, rng.standard_normal((n, inputs)), rng.standard_normal(n)


def gp_data(n=100):
    x = np.sort(rng.uniform(-3, 3, n))
    return np.array([0.1, -0.2, -2.0]), (x[:, None] - x[None, :]) ** 2, np.sin(x) + 0.1 * rng.standard_normal(n)


PROBLEMS = {
    "rosenbrock, n = 100": (rosenbrock, (rng.standard_normal(100),), 0),
    "logistic, 500 x 10": (logistic, (rng.standard_normal(10) * 0.1, rng.standard_normal((500, 10)), np.sign(rng.standard_normal(500))), 0),
    "network, 200 x 10 x 32": (network, network_data(), 0),
    "GP likelihood, n = 100": (gp, gp_data(), 0),
    "mixture, 1000 x 10, K = 25": (mixture, mixture_data(), (0, 1, 2)),
}
