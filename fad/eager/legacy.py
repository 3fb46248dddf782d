"""Old ways that code still takes: the type of a tensor as a class or a string, new(), volatile."""
import warnings
from typing import Any

import numpy as np

from ..util.array import DTypeLike
from . import errors
from .creation import leaf
from .dtypes import as_data, as_dtype
from .registry import FUNCTIONS, sizes_of
from .tensor import Tensor


class TensorType(type):
    """The class of FloatTensor and its kin: calling one makes a tensor, and every tensor of the dtype is an
    instance."""

    dtype: Any = None

    def __instancecheck__(cls, x: Tensor) -> bool:
        return isinstance(x, Tensor) and x._a.dtype == cls.dtype

    def __call__(cls, *args: object, **kwargs: object) -> Tensor:
        return of_dtype(cls.dtype, *args)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def of_dtype(dtype: np.dtype, *args: object) -> Tensor:
    """A tensor of given sizes (integers, or a shape), or with given data."""
    if (all(isinstance(a, (int, np.integer)) for a in args)
            or len(args) == 1 and hasattr(args[0], "numel") and isinstance(args[0], tuple)):
        return leaf(np.zeros(sizes_of(args), dtype) if args else np.zeros(0, dtype))
    (data,) = args
    return leaf(np.array(as_data(data)).astype(dtype))


for _name, _dtype in {"DoubleTensor": np.float64, "FloatTensor": np.float32, "LongTensor": np.int64,
                      "IntTensor": np.int32, "ByteTensor": np.uint8, "BoolTensor": np.bool_}.items():
    FUNCTIONS[_name] = TensorType(_name, (), {"dtype": np.dtype(_dtype), "__doc__": f"Tensors of {np.dtype(_dtype)}."})
_BY_TYPE = {f"torch.{name}": kind.dtype for name, kind in FUNCTIONS.items() if isinstance(kind, TensorType)}
_BY_TYPE.update({"torch.ComplexDoubleTensor": np.dtype(np.complex128),
                 "torch.ComplexFloatTensor": np.dtype(np.complex64)})


def type_(self: Tensor, dtype: DTypeLike = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, such as torch.FloatTensor; with a dtype (or a type, or its name): the tensor in
    that dtype."""
    if dtype is None:
        return errors.type_name(self._a.dtype)
    if isinstance(dtype, TensorType):
        dtype = dtype.dtype
    elif isinstance(dtype, str):
        if dtype not in _BY_TYPE:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = _BY_TYPE[dtype]
    return self.to(as_dtype(dtype))                                            # type: ignore[attr-defined]


def new(self: Tensor, *args: object) -> Tensor:
    """A tensor of this tensor's dtype: of given sizes, or with given data."""
    return of_dtype(self._a.dtype, *args)


def volatile(self: Tensor) -> bool:
    """Removed from PyTorch: always False."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


def _set_volatile(self: Tensor, value: bool) -> None:
    warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning,
                  stacklevel=2)


Tensor.type, Tensor.new = type_, new                                           # type: ignore[attr-defined]
Tensor.volatile = property(volatile, _set_volatile, doc=volatile.__doc__)      # type: ignore[attr-defined]
__all__ = ["TensorType", "of_dtype", "type_", "new"]
