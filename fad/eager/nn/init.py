"""nn.init: first values of parameters."""
import math
import warnings

import numpy as np

from ...util.array import ArrayOrNumber
from ..tensors.errors import refuse_if
from ..tensors.generators import source
from ..tensors.state import changed
from ..tensors.tensor import Tensor


def _set(tensor: Tensor, a: ArrayOrNumber) -> Tensor:
    with changed(grad=False):
        tensor._a[...] = a
        tensor._vc[0] += 1
    return tensor


def calculate_gain(nonlinearity: str, param: "float | None" = None) -> float:
    """By how much the values before a nonlinearity are scaled up.

    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity == "leaky_relu":
        if isinstance(param, bool) or not isinstance(param, (int, float, type(None))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {**dict.fromkeys((f"conv{way}{rank}d" for way in ("", "_transpose") for rank in (1, 2, 3)), 1.0),
             "linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 0.75}
    refuse_if(nonlinearity not in gains, f"Unsupported nonlinearity {nonlinearity}", ValueError)
    return gains[nonlinearity]


def fans(tensor: Tensor) -> "tuple[int, int]":
    """The number of inputs of an output, and of outputs of an input."""
    shape = tensor._a.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: object = None) -> Tensor:
    """Drawn evenly from [a, b)."""
    return _set(tensor, source(generator).uniform(a, b, tensor._a.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: object = None) -> Tensor:
    """Drawn from a normal distribution."""
    return _set(tensor, source(generator).normal(mean, std, tensor._a.shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value."""
    return _set(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _set(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _set(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity."""
    refuse_if(tensor._a.ndim != 2, "Only tensors with 2 dimensions are supported", ValueError)
    return _set(tensor, np.eye(*tensor._a.shape))


def _none_to_draw(tensor: Tensor) -> bool:
    if 0 not in tensor._a.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans(tensor)[mode.lower() == "fan_out"]


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: object = None) -> Tensor:
    """Evenly from +-gain sqrt(6 / (fan in + fan out)) (Glorot & Bengio, 2010)."""
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: object = None) -> Tensor:
    """Normal with variance 2 gain^2 / (fan in + fan out)."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: object = None) -> Tensor:
    """Evenly, so that the variance is gain^2 / fan (He et al., 2015)."""
    if _none_to_draw(tensor):
        return tensor
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: object = None) -> Tensor:
    """Normal with variance gain^2 / fan."""
    if _none_to_draw(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: object = None) -> Tensor:
    """Orthonormal rows or columns, times gain (Saxe et al., 2013)."""
    refuse_if(tensor._a.ndim < 2, "Only tensors with 2 or more dimensions are supported", ValueError)
    if not tensor._a.size:
        return tensor
    rows, columns = tensor._a.shape[0], math.prod(tensor._a.shape[1:])
    q, r = np.linalg.qr(source(generator).standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))
    return _set(tensor, gain * (q.T if rows < columns else q).reshape(tensor._a.shape))


def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
                  generator: object = None) -> Tensor:
    """Normal, drawn again where outside [a, b]."""
    rng = source(generator)
    x = rng.normal(mean, std, tensor._a.shape)
    while ((x < a) | (x > b)).any():
        x = np.where((x < a) | (x > b), rng.normal(mean, std, x.shape), x)
    return _set(tensor, x)
