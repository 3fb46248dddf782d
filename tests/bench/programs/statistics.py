"""Statistics in vectors and matrices: likelihoods, sums over points, covariance, histograms."""
import math

import numpy as np
import scipy.special

from .record import Program, for_all_others


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def vector(rng, n):
    return (rng.standard_normal(n),)


def damped_sine(x):
    return np.sum(np.exp(-x * x) * np.sin(x))


def logistic(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w)))


def logistic_data(rng, n, d):
    return 0.1 * rng.standard_normal(d), rng.standard_normal((n, d)), np.sign(rng.standard_normal(n))


def logistic_torch(torch):
    return lambda w, X, y: torch.mean(torch.nn.functional.softplus(-y * (X @ w)))


def gaussian_process(theta, D2, y):
    """Negative logarithm of the marginal likelihood with a squared exponential kernel (Rasmussen & Williams, eq.
    5.8)."""
    n = y.shape[0]
    K = np.exp(theta[0]) * np.exp(-0.5 * D2 * np.exp(-2 * theta[1])) + np.exp(theta[2]) * np.eye(n)
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(K, y)
    return 0.5 * y @ a + np.sum(np.log(np.diag(L))) + 0.5 * n * math.log(2 * math.pi)


def gaussian_process_data(rng, n):
    x = np.sort(rng.uniform(-3, 3, n))
    return np.array([0.1, -0.2, -2.0]), (x[:, None] - x[None, :]) ** 2, np.sin(x) + 0.1 * rng.standard_normal(n)


def log_sum_exp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def kmeans(centres, points):
    d2 = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(d2, axis=1))


def kmeans_data(rng, n, k, d):
    return rng.uniform(size=(k, d)), rng.uniform(size=(n, d))


def weighted_histogram(x, place, bins):
    """How far the mean of a quantity differs from bin to bin."""
    count = np.histogram(place, bins)[0]
    mass = np.histogram(place, bins, weights=np.sqrt(1.0 + x * x))[0]
    return np.sum((mass / (count + 1.0)) ** 2)


def weighted_histogram_torch(torch):
    def f(x, place, bins):
        low, high = torch.min(place), torch.max(place)
        at = torch.clamp(((place - low) / (high - low) * bins).long(), max=bins - 1)
        count = torch.bincount(at, minlength=bins)
        mass = torch.zeros(bins).index_add(0, at, torch.sqrt(1.0 + x * x))
        return torch.sum((mass / (count + 1.0)) ** 2)
    return f


def histogram_data(rng, n, bins):
    return rng.standard_normal(n), rng.uniform(size=n), bins


def covariance(data, target):
    """Column by column, the lower triangle as a copy of the upper one."""
    n, m = data.shape
    data = data - np.mean(data, axis=0)
    found = np.zeros((m, m))
    for i in range(m):
        found[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
        found[i:, i] = found[i, i:]
    return np.sum((found - target) ** 2)


def covariance_at_once(data, target):
    data = data - np.mean(data, axis=0)
    return np.sum((data.T @ data / (data.shape[0] - 1.0) - target) ** 2)


def correlation(data, target):
    data = data - np.mean(data, axis=0)
    data = data / np.sqrt(np.sum(data * data, axis=0))
    return np.sum((data.T @ data - target) ** 2)


def table(rng, n, m):
    return rng.standard_normal((n, m)) @ (np.eye(m) + 0.1 * rng.standard_normal((m, m))), np.eye(m)


def option_prices(volatility, spot, strike, years, rate):
    """The squared prices of European calls by the formula of Black and Scholes."""
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility ** 2) * years) / spread
    normal = (0.5 * (1.0 + scipy.special.erf(d1 / math.sqrt(2))),
              0.5 * (1.0 + scipy.special.erf((d1 - spread) / math.sqrt(2))))
    price = spot * normal[0] - strike * np.exp(-rate * years) * normal[1]
    return np.sum(price * price)


def prices_with(np, erf):
    def f(volatility, spot, strike, years, rate):
        spread = volatility * np.sqrt(years)
        d1 = (np.log(spot / strike) + (rate + 0.5 * volatility ** 2) * years) / spread
        normal = 0.5 * (1.0 + erf(d1 / math.sqrt(2))), 0.5 * (1.0 + erf((d1 - spread) / math.sqrt(2)))
        price = spot * normal[0] - strike * np.exp(-rate * years) * normal[1]
        return np.sum(price * price)
    return f


def options(rng, n):
    return rng.uniform(0.1, 0.5, n), rng.uniform(80, 120, n), rng.uniform(80, 120, n), rng.uniform(0.1, 2, n), 0.03


PROGRAMS = [
    Program("Rosenbrock, n = 100", rosenbrock, vector, (100,), (5,)),
    Program("sum of exp(-x²) sin x, 1,000", damped_sine, vector, (1000,), (5,)),
    Program("sum of exp(-x²) sin x, 1,000,000", damped_sine, vector, (1_000_000,), (6,)),
    Program("logistic regression, 500 x 10", logistic, logistic_data, (500, 10), (6, 3),
            texts={"PyTorch": logistic_torch}),
    Program("logistic regression, 100,000 x 50", logistic, logistic_data, (100_000, 50), (7, 3),
            texts={"PyTorch": logistic_torch}),
    Program("Gaussian process, n = 100", gaussian_process, gaussian_process_data, (100,), (5,)),
    Program("log-sum-exp, 160,000", log_sum_exp, vector, (160_000,), (6,)),
    Program("k-means, 10,000 x 16, 100 centres", kmeans, kmeans_data, (10_000, 100, 16), (9, 3, 2)),
    Program("weighted histogram, 400,000, 1,000 bins", weighted_histogram, histogram_data, (400_000, 1000), (40, 4),
            texts={"PyTorch": weighted_histogram_torch},
            left_out={"autograd": "it has no histogram and no sums by index"}),
    Program("covariance by columns, 300 x 200", covariance, table, (300, 200), (6, 4),
            texts=for_all_others(covariance_at_once)),
    Program("correlation, 300 x 200", correlation, table, (300, 200), (6, 4)),
    Program("Black–Scholes prices, 10,000", option_prices, options, (10_000,), (5,), texts={
        "JAX": lambda jax: prices_with(jax.numpy, jax.scipy.special.erf),
        "PyTorch": lambda torch: prices_with(torch, torch.erf),
        "autograd": lambda autograd: prices_with(autograd.numpy, autograd.scipy.special.erf)}),
]
