"""Matrices on which the laws try the ops of linear algebra: well conditioned, real and complex, single and stacked."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.array import DTypeLike


def matrix(rng: Any, *shape: int, dtype: object = float) -> np.ndarray:
    """Entries of a normal distribution."""
    x = rng.standard_normal(shape)
    return x.astype(dtype) if dtype is float else (x + 1j * rng.standard_normal(shape)).astype(dtype)


def regular(rng: np.random.Generator, *shape: int, dtype: DTypeLike = float) -> np.ndarray:
    """Square matrices far from singular, with distinct positive eigenvalues near 2, 3, 4, ... where real."""
    n = shape[-1]
    return 0.2 * matrix(rng, *shape, dtype=dtype) + np.diag(np.arange(n) + 2.0)


def positive(rng: np.random.Generator, *shape: int, dtype: DTypeLike = float) -> np.ndarray:
    """Hermitian positive definite matrices."""
    x = regular(rng, *shape, dtype=dtype)
    return x @ np.conj(np.swapaxes(x, -1, -2))


KINDS = (((3, 3), float), ((2, 3, 3), float), ((3, 3), complex), ((2, 2, 2), complex))


def of_each_kind(make: Callable, kinds: tuple = KINDS, **params: object) -> tuple:
    """One sample for each shape and dtype: make(rng, *shape, dtype=dtype) is its argument, or the tuple of its
    arguments."""
    return tuple(_sample(make, shape, dtype, params) for shape, dtype in kinds)


def _sample(make: Callable, shape: tuple, dtype: object, params: dict) -> Callable:
    def sample(rng: np.random.Generator) -> tuple:
        made = make(rng, *shape, dtype=dtype)
        return (made if isinstance(made, tuple) else (made,)), params
    return sample
