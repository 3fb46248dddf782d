"""nn.utils: what is done to the gradients of a module as one."""
import numpy as np

from ..tensors.errors import refuse_if
from ..tensors.promotion import default
from ..tensors.state import changed
from ..tensors.tensor import Tensor, wrap


def _gradients(parameters: object) -> list:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p._g for p in given if p._g is not None]          # type: ignore[attr-defined]


def clip_grad_norm_(parameters: object, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
                    foreach: object = None) -> Tensor:
    """Scale all gradients, in place, to a norm (as one vector's) of at most max_norm; returns the norm before."""
    given = _gradients(parameters)
    total = (float(np.linalg.norm([np.linalg.norm(g._a.reshape(-1), norm_type) for g in given], norm_type)) if given
             else 0.0)
    refuse_if(error_if_nonfinite and not np.isfinite(total), f"The total norm of order {norm_type} for gradients from "
              "`parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by "
              "the non-finite norm anyway, set `error_if_nonfinite=False`")
    with changed(grad=False):
        for g in given:
            g.mul_(float(np.minimum(max_norm / (total + 1e-6), 1.0)))
    return wrap(np.asarray(total, given[0]._a.real.dtype if given else default.dtype))


def clip_grad_value_(parameters: object, clip_value: float, foreach: object = None) -> None:
    """Clamp every element of every gradient to [-clip_value, clip_value], in place."""
    with changed(grad=False):
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


__all__ = ["clip_grad_norm_", "clip_grad_value_"]
