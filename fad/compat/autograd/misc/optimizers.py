"""Optimizers of trees of arrays: optimizer(grad, x0, callback=None, ...) with grad(x, iteration) and callback(x,
iteration, gradient)."""
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .flatten import flatten


def unflatten_optimizer(optimize: Callable) -> Callable:
    """An optimizer of vectors as one of trees."""
    @functools.wraps(optimize)
    def on_trees(grad: Callable, x0: object, callback: "Callable | None" = None, *args: object,
                 **kwargs: object) -> Any:
        start, unflatten = flatten(x0)
        told = None if callback is None else lambda x, i, g: callback(unflatten(x), i, unflatten(g))
        return unflatten(optimize(lambda x, i: flatten(grad(unflatten(x), i))[0], start, told, *args, **kwargs))
    return on_trees


def _descend(grad: Callable, x: object, callback: "Callable | None", num_iters: int, step: Callable) -> Any:
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        x = x + step(g, i)
    return x


@unflatten_optimizer
def sgd(grad: Callable, x: Any, callback: "Callable | None" = None, num_iters: int = 200, step_size: float = 0.1,
        mass: float = 0.9) -> Any:
    """Gradient descent with momentum, each gradient weighed by 1 - mass."""
    velocity = np.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal velocity
        velocity = mass * velocity - (1.0 - mass) * g
        return step_size * velocity
    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def rmsprop(grad: Callable, x: Any, callback: "Callable | None" = None, num_iters: int = 100, step_size: float = 0.1,
            gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """Gradient descent scaled by a running root mean square of the gradient (Tieleman and Hinton, 2012)."""
    square = np.ones(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal square
        square = square * gamma + g ** 2 * (1 - gamma)
        return -step_size * g / (np.sqrt(square) + eps)
    return _descend(grad, x, callback, num_iters, step)


@unflatten_optimizer
def adam(grad: Callable, x: Any, callback: "Callable | None" = None, num_iters: int = 100, step_size: float = 0.001,
         b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam, with bias correction (Kingma and Ba, 2015, algorithm 1)."""
    mean, square = np.zeros(len(x)), np.zeros(len(x))

    def step(g: Any, i: int) -> Any:
        nonlocal mean, square
        mean, square = (1 - b1) * g + b1 * mean, (1 - b2) * g ** 2 + b2 * square
        return -step_size * mean / (1 - b1 ** (i + 1)) / (np.sqrt(square / (1 - b2 ** (i + 1))) + eps)
    return _descend(grad, x, callback, num_iters, step)
