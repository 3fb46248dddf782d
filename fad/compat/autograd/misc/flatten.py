"""Trees of arrays as one vector, and back."""
from collections.abc import Callable
from typing import Any

from ....api.calls.ravel import ravel


def flatten(value: object) -> "tuple[Any, Callable]":
    """(vector, unflatten) of numbers, arrays and containers of them; dicts in the order of their sorted keys.

    >>> import numpy as np
    >>> vector, unflatten = flatten((1.0, [np.array([2.0, 3.0])]))
    >>> vector
    array([1., 2., 3.])
    >>> unflatten(vector)[1]
    [array([2., 3.])]
    """
    return ravel(value)


def flatten_func(func: Callable, example: object) -> "tuple[Callable, Callable, Any]":
    """(func on vectors, unflatten, the example as a vector)."""
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector
