"""autograd.numpy.numpy_vjps: what rules of users' own need of broadcasting."""
from collections.abc import Callable
from typing import Any

import numpy as np


def unbroadcast(x: Any, target_meta: tuple, broadcast_idx: int = 0) -> Any:
    """The sum of x over the axes along which an array of target_meta (shape, ndim, dtype, iscomplex) was broadcast."""
    shape, ndim, _, iscomplex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    for axis, size in enumerate(shape):
        if size == 1:
            x = np.sum(x, axis=axis, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not iscomplex else x


def unbroadcast_f(target: object, f: Callable) -> Callable:
    """g -> f(g), summed to the shape of the target."""
    meta = metadata(target)
    return lambda g: unbroadcast(f(g), meta)


def metadata(a: Any) -> tuple:
    """(shape, ndim, dtype, iscomplex) of an array or number."""
    return np.shape(a), np.ndim(a), np.result_type(a), np.iscomplexobj(a)
