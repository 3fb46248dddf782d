"""nn.utils: what is done to the parameters of a module, or their gradients, as one."""
from collections.abc import Iterable

import numpy as np

from ..errors import refuse_if
from ..joining import cat
from ..promotion import default
from ..state import changed
from ..tensor import Tensor, wrap


def _gradients(parameters: object) -> list:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p._g for p in given if p._g is not None]


def get_total_norm(tensors: list, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                   foreach: object = None) -> Tensor:
    """The norm of all elements of all tensors, as one vector's."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    total = (float(np.linalg.norm([np.linalg.norm(g._a.reshape(-1), norm_type) for g in given], norm_type)) if given
             else 0.0)
    refuse_if(error_if_nonfinite and not np.isfinite(total), f"The total norm of order {norm_type} for gradients from "
              "`parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by "
              "the non-finite norm anyway, set `error_if_nonfinite=False`")
    return wrap(np.asarray(total, given[0]._a.real.dtype if given else default.dtype))


def clip_grads_with_norm_(parameters: list, max_norm: float, total_norm: Tensor, foreach: object = None) -> None:
    """Scale all gradients, in place, by max_norm / total_norm if that is less than 1."""
    factor = np.minimum(max_norm / (float(total_norm) + 1e-6), 1.0)
    with changed(grad=False):
        for g in _gradients(parameters):
            g.mul_(float(factor))


def clip_grad_norm_(parameters: object, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                    foreach: object = None) -> Tensor:
    """Scale all gradients, in place, to a norm (as one vector's) of at most max_norm; returns the norm before."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_value_(parameters: object, clip_value: float, foreach: object = None) -> None:
    """Clamp every element of every gradient to [-clip_value, clip_value], in place."""
    with changed(grad=False):
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters: Iterable) -> Tensor:
    """All elements of all parameters, one after the other."""
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable) -> None:
    """Give parameters their values, one after the other, from a vector."""
    start = 0
    for p in parameters:
        n = p.numel()
        p.data = vec.data[start:start + n].view_as(p).clone()
        start += n


__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
           "vector_to_parameters"]
