"""What everyday code asks of tensors beside arithmetic: predicates, files, windows, devices that are none, names of old."""
import math
import pickle
from typing import Any

import numpy as np

from ..ops.face import BY_NAME
from ..util.lazy import LazyModule
from .anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .creation import leaf
from .devices import CPU, device, on_cpu
from .dtypes import as_dtype
from .generators import source
from .inplace import copy_, in_place, number, requires_grad, wanted
from .promotion import castable, default
from .registry import FUNCTIONS, function, tensor_of
from .reshaping import resize_as_
from .sorting import distinct
from .tensor import Size, Tensor, raw, wrap

activations = LazyModule("fad.eager.nn.activations")             # of fad.nn, which is imported when it is asked for
Tensor.device = property(lambda self: CPU, doc="Where the memory is: the CPU.")                                # type: ignore[attr-defined]
FUNCTIONS.update(is_anomaly_enabled=is_anomaly_enabled, is_anomaly_check_nan_enabled=is_anomaly_check_nan_enabled)
FUNCTIONS.update(device=device, dtype=np.dtype, is_inference=Tensor.is_inference, detach=Tensor.detach, detach_=Tensor.detach_)  # type: ignore[attr-defined, arg-type]


def _asked(name: str, answer: Any, doc: str) -> None:
    def call(self: Tensor) -> Any:
        return answer(self)
    call.__name__, call.__doc__ = name, doc
    function(name)(call)


_asked("is_signed", lambda x: x._a.dtype.kind not in "ub", "Whether the dtype has negative numbers.")
_asked("is_nonzero", lambda x: _truth(x), "Whether the one element is not zero.")
_asked("get_device", lambda x: -1, "The number of the device: -1, the CPU.")
for _name in ("pin_memory", "share_memory_", "to_dense", "coalesce"):
    setattr(Tensor, _name, lambda self: self)
for _name in ("is_pinned", "is_shared"):
    setattr(Tensor, _name, lambda self: False)


@function(only_method=True)
def prelu(self: Tensor, weight: Any) -> Tensor:
    """x where positive, else weight * x; a weight for each channel."""
    return activations.prelu(self, weight)


@function(only_method=True)
def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """x where |x| is more than lambd, else 0."""
    return activations.hardshrink(self, lambd)



def _truth(x: Tensor) -> bool:
    if x._a.size != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'more than one value' if x._a.size else 'no values'} is ambiguous")
    return bool(x._a.item())


@function()
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return self._a.shape == other._a.shape


@function(method=False)
@on_cpu
def scalar_tensor(value: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor without axes."""
    return leaf(np.asarray(value, default.dtype if dtype is None else as_dtype(dtype)), requires_grad)


@function(method=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of this shape with one value."""
    return input.clone().fill_(value)                                                          # type: ignore[attr-defined]


FUNCTIONS.update(fill_=Tensor.fill_, zero_=Tensor.zero_, resize_as_=resize_as_)                                # type: ignore[attr-defined]


def apply_(self: Tensor, f: Any) -> Tensor:
    """Every element replaced by f of it, in place; not part of a graph."""
    if requires_grad(self):
        raise TypeError("apply_ is only supported on tensors that don't require gradients: detach() it first")
    new = np.asarray([f(v) for v in self._a.reshape(-1).tolist()], self._a.dtype).reshape(self._a.shape)
    return in_place(self, lambda old: wrap(new))


def map_(self: Tensor, other: Tensor, f: Any) -> Tensor:
    """Every element replaced by f of it and the other's, in place; not part of a graph."""
    if requires_grad(self) or requires_grad(other):
        raise TypeError("map_ is only supported on tensors that don't require gradients: detach() them first")
    pairs = zip(self._a.reshape(-1).tolist(), np.broadcast_to(other._a, self._a.shape).reshape(-1).tolist())
    return copy_(self, wrap(np.asarray([f(a, b) for a, b in pairs]).reshape(self._a.shape)))


Tensor.apply_, Tensor.map_ = apply_, map_                                                                      # type: ignore[attr-defined]
Tensor.__reversed__ = lambda self: self.flip(0) if self._a.ndim else self                                      # type: ignore[attr-defined]
Tensor.new_empty_strided = on_cpu(lambda self, size, stride, *, dtype=None, requires_grad=False: FUNCTIONS["empty_strided"](   # type: ignore[attr-defined]
    size, stride, dtype=dtype or self._a.dtype, requires_grad=requires_grad))
for _name, _dtype in {"byte": np.uint8, "char": np.int8}.items():
    setattr(Tensor, _name, lambda self, _dtype=_dtype: self.to(np.dtype(_dtype)))

# -- drawn --------------------------------------------------------------------------------------------------------------------


@function(method=False)
def poisson(input: Tensor, *, generator: Any = None) -> Tensor:
    """Numbers drawn from Poisson distributions of these rates."""
    return leaf(np.asarray(source(generator).poisson(input._a)).astype(input._a.dtype))


@function(method=False)
def binomial(count: Tensor, prob: Tensor, *, generator: Any = None) -> Tensor:
    """Numbers of successes drawn from binomial distributions."""
    return leaf(np.asarray(source(generator).binomial(count._a.astype(np.int64), prob._a)).astype(prob._a.dtype))


# -- windows ------------------------------------------------------------------------------------------------------------------


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> np.ndarray:
    alpha, beta = number(alpha, "hamming_window", "alpha"), number(beta, "hamming_window", "beta")
    return alpha - beta * np.cos(2 * np.pi * np.arange(n) / max(n - 1, 1))


def _window(name: str, values: Any) -> None:
    @on_cpu
    def call(window_length: int, periodic: bool = True, *args: Any, dtype: Any = None, requires_grad: bool = False, **kwargs: Any) -> Tensor:
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        a = values(window_length + bool(periodic), *args, **kwargs) if window_length != 1 else np.ones(1)
        return leaf(a[:window_length].astype(default.dtype if dtype is None else as_dtype(dtype)), requires_grad)
    call.__name__, call.__doc__ = name, f"The {name.replace('_', ' ')}: one period of it, or (periodic=False) symmetric."
    function(name, method=False)(call)


for _name, _values in {"hann_window": np.hanning, "hamming_window": _hamming, "blackman_window": np.blackman, "bartlett_window": np.bartlett,
                       "kaiser_window": lambda n, beta=12.0: np.kaiser(n, number(beta, "kaiser_window", "beta"))}.items():
    _window(_name, _values)

# -- files --------------------------------------------------------------------------------------------------------------------


def save(obj: Any, f: Any) -> None:
    """Write tensors, or containers of them, to a file."""
    if hasattr(f, "write"):
        pickle.dump(obj, f)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file)


_SAFE = {("fad.eager.attributes", "_rebuild"), ("fad.eager.tensor", "Tensor"), ("fad.eager.nn.module", "Parameter"), ("collections", "Counter"),
         ("collections", "OrderedDict"), ("numpy", "ndarray"), ("numpy", "dtype"), ("numpy._core.multiarray", "_reconstruct"),
         ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "scalar"), ("numpy._core.numeric", "_frombuffer"), ("builtins", "set"),
         ("builtins", "complex")}


class _Weights(pickle.Unpickler):
    """Reads tensors and containers, and runs no other code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _SAFE:
            raise pickle.UnpicklingError(f"Weights only load failed: {module}.{name} is neither a tensor nor a container. Load with weights_only=False only "
                                         "what comes from a source that you trust: such files can run any code.")
        return super().find_class(module, name)


def load(f: Any, *, weights_only: bool = True, map_location: Any = None) -> Any:
    """Read what save wrote: tensors and containers of them; anything, code included, only with weights_only=False."""
    read = _Weights if weights_only else pickle.Unpickler
    if hasattr(f, "read"):
        return read(f).load()
    with open(f, "rb") as file:
        return read(file).load()


FUNCTIONS.update(save=save, load=load, can_cast=lambda a, b: castable(as_dtype(a), as_dtype(b)))


@function(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes are broadcast to.

    >>> broadcast_shapes((2, 1), 3)
    torch.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(n < 0 for s in given for n in s):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    common: tuple = ()
    for k, shape in enumerate(given):
        for place in range(-min(len(shape), len(common)), 0):
            if shape[place] != common[place] and 1 not in (shape[place], common[place]):
                raise RuntimeError(f"Attempting to broadcast a dimension of length {shape[place]} at {place}! Mismatching argument at index {k} had {shape}; "
                                   f"but expected shape should be broadcastable to {list(common)}")
        common = np.broadcast_shapes(common, shape)
    return Size(common)


@function(method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple:
    """The coordinates of elements, from their places in row-major order."""
    if indices._a.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got torch.{indices._a.dtype}")
    sizes = (shape,) if isinstance(shape, int) else shape
    if not isinstance(sizes, (tuple, list)) or not all(isinstance(n, (int, np.integer)) for n in sizes):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape).__name__}")
    if any(n < 0 for n in sizes):
        raise ValueError("'shape' cannot have negative values, but got " + str(tuple(sizes)))
    return tuple([wrap(np.asarray(k)) for k in np.unravel_index(indices._a % max(math.prod(sizes), 1), tuple(sizes))])


@function(method=False)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """The bytes of a buffer as a tensor, sharing memory."""
    try:
        size = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    kind = as_dtype(dtype)
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1")
    if count < 0 and (size - offset) % kind.itemsize:
        raise ValueError(f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({kind.itemsize})")
    if count > 0 and offset + count * kind.itemsize > size:
        raise ValueError(f"requested buffer length ({count} * {kind.itemsize} bytes) after offset ({offset} bytes) must not be greater than actual buffer length "
                         f"({size} bytes)")
    return leaf(np.frombuffer(buffer, kind, count, offset), requires_grad)


@function()
def histogram(self: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> tuple:
    """(counts, edges): how many elements lie in each interval."""
    edges = bins._a.copy() if isinstance(bins, Tensor) else bins
    counts, edges = BY_NAME["numpy.histogram"].call(self._a, edges, range, weights=weight, density=density)
    for x in (self, bins):
        if wanted(x):                                              # the edges hang on them, and with density the counts
            return tuple([distinct(x, raw(y).astype(self._a.dtype), "histogram") for y in (counts, edges)])
    return tuple([t.to(self._a.dtype) for t in (tensor_of(counts), tensor_of(edges))])
