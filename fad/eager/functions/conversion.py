"""Complex tensors and their parts; other dtypes, by their old names too; copies."""
import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.custom import barrier as _identity
from ...ops.table import TABLE as op
from ...util.array import ArrayOrNumber, DTypeLike
from ..graph.view_kinds import conj_view, neg_view
from ..tensors import errors, promotion
from ..tensors.dtypes import as_data, as_dtype, required
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.promotion import agree, castable
from ..tensors.tensor import Tensor, way_of
from .composite import by_short_way
from .creation import leaf
from .registry import FUNCTIONS, attached, define, delivered, function, run, sizes_of, tensor_of


@function("conj")
def conj(self: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
    if self.dtype.kind != "c":
        return self
    return conj_view(self) if isinstance(self, Tensor) else op["conj"](self)


is_conj = define("is_conj", lambda self: way_of(self) is np.conjugate,
                 "Whether the elements are conjugated when they are read.")
is_neg = define("is_neg", lambda self: way_of(self) is np.negative,
                "Whether the elements are negated when they are read.")
define("resolve_conj", lambda self: clone(self) if is_conj(self) else self,
       "The tensor itself, or a copy of what is conjugated when it is read.")
define("resolve_neg", lambda self: clone(self) if is_neg(self) else self,
       "The tensor itself, or a copy of what is negated when it is read.")
define("_neg_view", lambda self: neg_view(self), "The negative, sharing memory.")


@function("complex", method=False)
def complex_(real: Tensor, imag: Tensor, *, out: "Tensor | None" = None) -> Tensor:
    """real + i imag."""
    _parts(real, imag)
    return delivered(op["make_complex"](tensor_of(real), imag), out, "complex")


def _parts(first: Tensor, second: Tensor) -> None:
    """Raise unless two tensors can be the parts of complex numbers."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first.dtype.kind != "f" or second.dtype.kind != "f":
            raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got "
                               f"{scalar_name(first.dtype)} and {scalar_name(second.dtype)}")
        agree("Expected object of scalar type {} but got scalar type {} for second argument", first, second)


@function(method=False, node=("PolarBackward0", "abs angle", "result", "", "abs angle"))
def polar(abs: Tensor, angle: Tensor, *, out: "Tensor | None" = None) -> Tensor:
    """The complex number of this absolute value and angle."""
    _parts(abs, angle)
    return delivered(op["make_complex"](abs * op["cos"](angle), abs * op["sin"](angle)), out, "polar")


def asked_dtype(args: tuple, device: object, dtype: DTypeLike) -> "np.dtype | None":
    """The dtype among the arguments of `to`: one, or that of a tensor; the device can only be the CPU."""
    required(device)
    for a in args:
        if isinstance(a, str):
            required(a)
        elif isinstance(a, (Tensor, np.dtype, type)):
            dtype = a._a.dtype if isinstance(a, Tensor) else a
    return None if dtype is None else as_dtype(dtype)


@function("to", only_method=True)
def to(self: Tensor, *args: object, device: object = None, dtype: DTypeLike = None, non_blocking: bool = False,
       copy: bool = False, memory_format: object = None) -> Tensor:
    """The tensor in another dtype (or that of another tensor), or another memory format; there is one device."""
    asked = asked_dtype(args, device, dtype)
    dtype = self._a.dtype if asked is None else asked
    if memory_format is not None and not memory_format.is_of(self._a):
        return to(clone(self, memory_format=memory_format), dtype=dtype)
    if dtype == self._a.dtype:
        return self.clone() if copy else self
    if self._a.dtype.kind == "c" and dtype.kind not in "cb":
        warnings.warn("Casting complex values to real discards the imaginary part", stacklevel=3)
    return run(op["cast"], self, dtype=dtype, label="ToCopyBackward0")


def _to_dtype(dtype: np.dtype) -> Callable:
    def call(self: Tensor, *, memory_format: object = None) -> Tensor:
        return to(self, dtype=dtype, memory_format=memory_format)
    return call


Tensor.type_as = lambda self, other: to(self, other.dtype)
Tensor.cpu = lambda self: self
for _name in ("double", "float", "half", "cdouble", "cfloat", "long", "int", "short", "bool", "byte", "char"):
    setattr(Tensor, _name, _to_dtype(as_dtype({"byte": "uint8", "char": "int8"}.get(_name, _name))))
Tensor.is_complex = lambda self: self._a.dtype.kind == "c"
Tensor.is_floating_point = lambda self: self._a.dtype.kind == "f"


class _Copied(type(_identity)):
    """A copy of a tensor, with its strides or in a memory format. The derivative is that of the identity."""

    def __init__(self, layout: object = None) -> None:
        self.layout = layout
        self.name, self.kind, self.facts, self.creation = "clone", "copy", {}, False
        self.derivative, self.__doc__ = _identity.derivative, "A copy"

    def run(self, x: np.ndarray) -> np.ndarray:
        return np.array(x, order="K") if self.layout is None else self.layout.copy(x)


copied = functools.cache(_Copied)                              # one op a layout: what is known of ops is kept for good


@function(method=True)
def clone(self: Tensor, *, memory_format: object = None) -> Tensor:
    """A copy, through which gradients flow, laid out as the tensor is or in a memory format."""
    if not isinstance(self, Tensor):
        return self.copy()                                   # traced
    return by_short_way(copied(memory_format), (self,), {}, "CloneBackward0")


def result_type(a: ArrayOrNumber, b: ArrayOrNumber) -> np.dtype:
    """The dtype of an operation on two tensors or numbers."""
    return promotion.result_type((a, b))


FUNCTIONS.update(result_type=result_type, can_cast=lambda a, b: castable(as_dtype(a), as_dtype(b)), dtype=np.dtype)


class TensorType(type):
    """The class of FloatTensor and its kin: calling one makes a tensor, every tensor of the dtype is an instance."""

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


@attached
class FormerMethods:
    """Methods of older versions of PyTorch."""

    def type(self: Tensor, dtype: DTypeLike = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, such as torch.FloatTensor; or the tensor in a dtype (a type, or its name)."""
        if dtype is None:
            return errors.type_name(self._a.dtype)
        if isinstance(dtype, TensorType):
            dtype = dtype.dtype
        elif isinstance(dtype, str):
            refuse_if(dtype not in _BY_TYPE, f"invalid type: '{dtype}'", ValueError)
            dtype = _BY_TYPE[dtype]
        return self.to(as_dtype(dtype))

    def new(self: Tensor, *args: object) -> Tensor:
        """A tensor of this tensor's dtype: of given sizes, or with given data."""
        return of_dtype(self._a.dtype, *args)

    @property
    def volatile(self: Tensor) -> bool:
        """Removed from PyTorch: always False."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @volatile.setter
    def volatile(self: Tensor, value: bool) -> None:
        warnings.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", UserWarning,
                      stacklevel=2)
