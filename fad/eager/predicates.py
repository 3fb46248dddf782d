"""Questions about tensors: whether they are equal, of one shape, signed."""
import numpy as np

from ..util.array import ArrayOrNumber
from .promotion import agree
from .registry import define, function, tensor_of
from .tensor import Tensor, wrap


@function()
def equal(self: ArrayOrNumber, other: ArrayOrNumber) -> bool:
    """Whether two tensors have the same shape and elements."""
    for k, x in enumerate((self, other)):
        if not isinstance(x, Tensor):
            raise TypeError(f"equal(): argument '{'other' if k else 'input'}' (position {k + 1}) must be Tensor, not "
                            f"{type(x).__name__}")
    return self._a.shape == other._a.shape and bool((self._a == other._a).all())


@function()
def allclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close to the other's."""
    return bool(isclose(self, other, rtol, atol, equal_nan)._a.all())


@function()
def isclose(self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether each element is close to the other's."""
    other = tensor_of(other)
    agree("{} did not match {}", self, other)
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound}")
    return wrap(np.asarray(np.isclose(self._a, other._a, rtol, atol, equal_nan)))


define("is_same_size", lambda self, other: self._a.shape == other._a.shape, "Whether two tensors have the same shape.")
define("is_signed", lambda self: self._a.dtype.kind not in "ub", "Whether the dtype has negative numbers.")


@function()
def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not zero."""
    if self._a.size != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'more than one value' if self._a.size else 'no values'} is "
                           "ambiguous")
    return bool(self._a.item())
