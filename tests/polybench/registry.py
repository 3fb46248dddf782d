"""The list of kernels: each is a NumPy function as its users write it, with a maker of its arguments and the sizes it
is tried at."""
from dataclasses import dataclass

import numpy as np

KERNELS = {}


@dataclass(frozen=True)
class Kernel:
    """A function, `make(rng, n)` for its arguments, the size `small` for tests and the size `large` at which it takes
    about a millisecond.

    `smooth` is False for kernels that compute with integers. `fixed` are the places of float arguments in which the
    kernel jumps (what is compared with bounds), `symmetric` those that hold a symmetric matrix.
    """
    run: object
    make: object
    small: int
    large: int
    smooth: bool = True
    fixed: tuple = ()
    symmetric: tuple = ()

    @property
    def name(self):
        return self.run.__name__

    def arguments(self, n=None, seed=0):
        """Fresh arguments of size n."""
        return self.make(np.random.default_rng(seed), n or self.small)


def kernel(make, small=6, large=60, **facts):
    """Put the function below on the list."""
    def enlist(f):
        KERNELS[f.__name__] = Kernel(f, make, small, large, **facts)
        return f
    return enlist


def positive_definite(rng, n):
    """A symmetric matrix with eigenvalues of at least n."""
    A = rng.standard_normal((n, n))
    return A @ A.T / n + n * np.eye(n)


def dominant(rng, n):
    """A matrix whose diagonal dominates, so that elimination needs no pivots."""
    return rng.standard_normal((n, n)) + n * np.eye(n)


def normal(rng, *shape):
    """Standard normal numbers, scaled down so that products of a few stay near one."""
    return rng.standard_normal(shape) * 0.5
