"""Functions whose derivatives take long, or are made by the thousand."""
import numpy as np


def long(x, n):
    """n iterations of a loop around another one."""
    s = x[0]
    for _ in range(n):
        for j in range(x.shape[0]):
            s = np.sin(s) + x[j]
    return s


def plain(x):
    """Elementwise."""
    return np.sum(np.exp(-x * x) * np.sin(x))


def looped(x):
    """A loop whose iterations wait for each other."""
    s = 0.0
    for i in range(x.shape[0]):
        s = s * x[i] + np.sin(x[i])
    return s


def with_linalg(x):
    """A large kernel of linear algebra."""
    return np.sum(np.linalg.cholesky(np.outer(x, x) + 2.0 * np.eye(x.shape[0])))


def cold(number):
    """A function that no cache has: its number is part of its program."""
    return eval(f"lambda x: np.sum(np.sin(x) * {number}.5)", {"np": np})
