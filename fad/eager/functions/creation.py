"""Making tensors: from data, filled, in steps, at random."""
import functools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.array import DTypeLike
from ..engine.engine import queue_callback
from ..graph.inplace import number, wanted
from ..tensors.dtypes import as_data, as_dtype, fitting, is_complex, is_floating_point, on_cpu, promote_types, required
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.generators import normal, uniform
from ..tensors.grad_mode import note_creation
from ..tensors.promotion import default
from ..tensors.state import now
from ..tensors.tensor import Size, Tensor, is_floating, way_of, wrap
from .registry import FUNCTIONS, add, define, delivered, function, sizes_of


def leaf(a: np.ndarray, requires_grad: bool = False) -> Tensor:
    """A new leaf around an array."""
    t = note_creation(wrap(a)) if now().inference else wrap(a)
    if requires_grad:
        refuse_if(not is_floating(a.dtype), "Only Tensors of floating point and complex dtype can require gradients")
        t._rg = True
    return t


@function(method=False)
@on_cpu
def tensor(data: object, *, dtype: DTypeLike = None, requires_grad: bool = False) -> Tensor:
    """A tensor with a copy of the data.

    >>> tensor([1, 2.5])
    tensor([1.0000, 2.5000])
    """
    return leaf(np.array(as_data(data, dtype), order="K"), requires_grad)


@function(method=False)
def as_tensor(data: object, dtype: DTypeLike = None, device: object = None) -> Tensor:
    """The data as a tensor, sharing memory where that is possible; a tensor is itself."""
    required(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(as_dtype(dtype))
    return leaf(as_data(data, dtype))


@function(method=False)
def from_numpy(a: np.ndarray) -> Tensor:
    """A tensor sharing memory with an ndarray."""
    refuse_if(not isinstance(a, np.ndarray), f"expected np.ndarray (got {type(a).__name__})", TypeError)
    return leaf(as_data(a))


define("from_dlpack", lambda x: leaf(np.from_dlpack(x)),
       "A tensor sharing memory with what exports DLPack.", method=False)


def _dlpack(self: Tensor, **options: object) -> Any:
    """The protocol by which other libraries share this tensor's memory."""
    refuse_if(wanted(self), "Can't export tensors that require gradient, use tensor.detach()", BufferError)
    refuse_if(way_of(self) is np.conjugate, "Can't export tensors with the conjugate bit set", BufferError)
    return self._a.__dlpack__(**options)


Tensor.__dlpack__ = _dlpack
Tensor.__dlpack_device__ = lambda self: self._a.__dlpack_device__()


def _extents(name: str, size: tuple) -> tuple:
    if len(size) == 1 and isinstance(size[0], (float, str)):
        raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {type(size[0]).__name__}")
    for k, n in enumerate(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size):
        refuse_if(isinstance(n, (float, str)), f"{name}(): argument 'size' (position 1) must be tuple of ints, but "
                  f"found element of type {type(n).__name__} at pos {k}", TypeError)
    extents = sizes_of(size)
    refuse_if(any(n < 0 for n in extents), f"{name}: Dimension size must be non-negative.")
    refuse_if(math.prod(extents) >= 1 << 60, f"Storage size calculation overflowed with sizes={list(extents)}")
    return extents


def _dtype_for(dtype: DTypeLike, out: object) -> "np.dtype | None":
    """The dtype that is asked for: out's, where that is given."""
    dtype = None if dtype is None else as_dtype(dtype)                      # None itself is a dtype to NumPy
    if out is not None and dtype is not None and dtype != out._a.dtype:
        raise RuntimeError(f"dtype {scalar_name(dtype)} does not match dtype of out parameter "
                           f"({scalar_name(out._a.dtype)})")
    return dtype if out is None else out._a.dtype


def _maker(name: str, make: Callable, doc: str) -> Callable:
    @on_cpu
    def call(*sizes: object, size: object = None, dtype: object = None, requires_grad: bool = False, out: object = None,
             generator: object = None) -> Tensor:
        kind = _dtype_for(dtype, out) or default.dtype
        if not sizes and size is None:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        a = make(_extents(name, sizes if size is None else (size,)), as_dtype(kind), generator)
        return delivered(leaf(a, requires_grad), out, name)
    call.__name__, call.__doc__ = name, doc
    return call


MAKERS = {"zeros": (lambda size, dtype, _: np.zeros(size, dtype), "Zeros of a shape."),
          "ones": (lambda size, dtype, _: np.ones(size, dtype), "Ones of a shape."),
          "empty": (lambda size, dtype, _: np.zeros(size, dtype),
                    "A tensor of a shape whose values are to be written."),
          "rand": (uniform, "Numbers drawn evenly from [0, 1)."),
          "randn": (normal, "Numbers drawn from the standard normal distribution.")}
for _name, (_make, _doc) in MAKERS.items():
    add(_name, _maker(_name, _make, _doc), method=False)


def creating(make: Callable) -> Callable:
    """make(..., dtype) -> array, with PyTorch's options of creation; dtype: None where nothing says which it is."""
    name = make.__name__

    @functools.wraps(make)
    def call(*args: object, dtype: object = None, out: object = None, requires_grad: bool = False,
             **options: object) -> Tensor:
        kind = _dtype_for(dtype, out)
        made = make(*args, dtype=kind, **options)
        return delivered(made if isinstance(made, Tensor) else leaf(np.asarray(made), requires_grad), out, name)
    FUNCTIONS[name] = on_cpu(call)
    return FUNCTIONS[name]


@creating
def full(size: object, fill_value: object, *, dtype: DTypeLike) -> np.ndarray:
    """A shape filled with one number."""
    if isinstance(size, (int, float)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    fill_value = number(fill_value, "full", "fill_value")
    given = as_data(fill_value.item() if isinstance(fill_value, np.generic) else fill_value, dtype)
    return np.full(sizes_of((size,)), given, given.dtype)


@creating
def eye(n: int, m: "int | None" = None, *, dtype: DTypeLike) -> np.ndarray:
    """Ones on the diagonal."""
    for name, size in (("n", n), ("m", m)):
        refuse_if(size is not None and size < 0, f"{name} must be greater or equal to 0, got {size}")
    return np.eye(n, m, dtype=dtype or default.dtype)


def ranks(*bounds: object) -> None:
    """Raise where a bound has dimensions."""
    found = [b._a.ndim if isinstance(b, Tensor) else 0 for b in bounds]
    if any(found):
        raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, but got start with {found[0]} "
                           f"dimension(s) and end with {found[1]} dimension(s).")


def numbers(function: str, **given: object) -> list:
    """Numbers; of tensors, what is in them."""
    ranks(*given.values())
    return [number(x, function, name) for name, x in given.items()]


# -- like another tensor -----------------------------------------------------------------------------------------------


def laid_like(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """An array's values in memory that is laid out as x's is, where that is dense."""
    if x.flags.c_contiguous:
        return a
    out = np.empty_like(x, a.dtype, order="K", subok=False)
    out[...] = a
    return out


def _kind(dtype: DTypeLike, x: Tensor) -> np.dtype:
    """The dtype that is asked for: a tensor's, where none is."""
    return x._a.dtype if dtype is None else as_dtype(dtype)


def _like(name: str) -> None:
    make = MAKERS[name][0]

    @on_cpu
    def call(input: Tensor, *, dtype: DTypeLike = None, requires_grad: bool = False,
             generator: object = None) -> Tensor:
        return leaf(laid_like(make(input._a.shape, _kind(dtype, input), generator), input._a), requires_grad)
    define(f"{name}_like", call, f"fad.{name} in the shape and dtype of a tensor.", method=False)

    @on_cpu
    def new(self: Tensor, *size: object, dtype: DTypeLike = None, requires_grad: bool = False) -> Tensor:
        return leaf(make(sizes_of(size), _kind(dtype, self), None), requires_grad)
    define(f"new_{name}", new, f"fad.{name} in the dtype of this tensor.", only_method=True)


for _name in MAKERS:
    _like(_name)


@function(method=False)
@on_cpu
def full_like(input: Tensor, fill_value: object, *, dtype: DTypeLike = None, requires_grad: bool = False) -> Tensor:
    """One number in the shape and dtype of a tensor."""
    value, = numbers("full_like", fill_value=fill_value)
    kind = _kind(dtype, input)
    return leaf(laid_like(np.full(input._a.shape, fitting(value, kind), kind), input._a), requires_grad)


@function(only_method=True)
@on_cpu
def new_full(self: Tensor, size: tuple, fill_value: object, *, dtype: DTypeLike = None,
             requires_grad: bool = False) -> Tensor:
    """A shape filled with one number, in the dtype of this tensor."""
    kind = _kind(dtype, self)
    return leaf(np.full(sizes_of((size,)), fitting(number(fill_value, "new_full", "fill_value"), kind), kind),
                requires_grad)


Tensor.new_tensor = on_cpu(lambda self, data, *, dtype=None, requires_grad=False: tensor(
    data, dtype=dtype or self._a.dtype, requires_grad=requires_grad))


@function(method=False)
def fill(input: Tensor, value: object) -> Tensor:
    """A tensor of this shape with one value."""
    return input.clone().fill_(value)


def is_tensor(x: object) -> bool:
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)


class _TensorsAreInstances(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor)


class _Engine:
    """The methods of Variable._execution_engine."""

    queue_callback = staticmethod(queue_callback)


class Variable(metaclass=_TensorsAreInstances):
    """Deprecated: Variable(data) is a tensor around the data; write fad.tensor(data, requires_grad=...)."""

    _execution_engine = _Engine

    def __new__(cls, data: object, requires_grad: bool = False) -> Tensor:
        t = wrap(data._a if isinstance(data, Tensor) else np.asarray(data))
        t._rg = requires_grad
        return t


FUNCTIONS.update(tensor=tensor, Size=Size, is_tensor=is_tensor,
                 is_floating_point=is_floating_point, is_complex=is_complex, promote_types=promote_types,
                 finfo=np.finfo, iinfo=np.iinfo, inf=np.inf, nan=np.nan, pi=np.pi)


def save(obj: dict, f: object) -> None:
    """Write tensors, or containers of them, to a file."""
    if hasattr(f, "write"):
        pickle.dump(obj, f)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file)


_SAFE = {("fad.eager.functions.attributes", "_rebuild"), ("fad.eager.tensors.tensor", "Tensor"),
         ("fad.eager.nn.module", "Parameter"),
         ("collections", "Counter"), ("collections", "OrderedDict"), ("numpy", "ndarray"), ("numpy", "dtype"),
         ("numpy._core.multiarray", "_reconstruct"), ("numpy.core.multiarray", "_reconstruct"),
         ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"), ("builtins", "set"),
         ("builtins", "complex")}


class _Weights(pickle.Unpickler):
    """Reads tensors and containers, and runs no other code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _SAFE:
            raise pickle.UnpicklingError(f"Weights only load failed: {module}.{name} is neither a tensor nor a "
                                         "container. Load with weights_only=False only "
                                         "what comes from a source that you trust: such files can run any code.")
        return super().find_class(module, name)


def load(f: object, *, weights_only: bool = True, map_location: object = None) -> Any:
    """Read what save wrote: tensors and containers of them; anything, code included, only with weights_only=False."""
    read = _Weights if weights_only else pickle.Unpickler
    if hasattr(f, "read"):
        return read(f).load()
    with open(f, "rb") as file:
        return read(file).load()


FUNCTIONS.update(save=save, load=load)
