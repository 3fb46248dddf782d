"""The memory behind tensors: storages, views of any strides, memory formats."""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..util.array import DTypeLike
from .devices import CPU, device, on_cpu
from .errors import scalar_name
from .memory import address, memory, offset_of
from .registry import FUNCTIONS, define, function, sizes_of
from .state import now
from .tensor import Lazy, Tensor, wrap
from .view_kinds import dtype_view, strided_view
from .views import reshape_view


class Storage:
    """The memory of a tensor, as a sequence of numbers.

    >>> import fad
    >>> s = fad.arange(4.0)[1:3].storage()
    >>> len(s), s[1]
    (4, 1.0)
    """

    def __init__(self, a: np.ndarray):
        self.row = memory(a)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return address(self.row)

    def size(self) -> int:
        """The number of elements."""
        return self.row.size

    def nbytes(self) -> int:
        """The number of bytes."""
        return self.row.nbytes

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self.row.tolist()

    __len__ = size

    def __getitem__(self, k: int) -> Any:
        return self.row[k].item()


Tensor.storage = Tensor.untyped_storage = lambda self: Storage(self._a)  # type: ignore[attr-defined]
Tensor.storage_offset = lambda self: offset_of(self._a)  # type: ignore[attr-defined]
Tensor.layout = property(lambda self: "strided", doc="How the elements are kept: in memory at regular steps.")  # type: ignore[attr-defined]


@function()
def as_strided(self: Tensor, size: Sequence, stride: Sequence, storage_offset: "int | None" = None) -> Tensor:
    """A view of any shape and strides of a tensor's memory."""
    a, size, stride = self._a, sizes_of((size,)), sizes_of((stride,))
    check_inside(a, size, stride, offset_of(a) if storage_offset is None else storage_offset)
    if storage_offset is not None and now().of_an_example:
        raise RuntimeError("as_strided: a storage_offset counts from the first of all examples, and vmap shows one of "
                           "them; leave it out, and take a slice first")
    ahead = 0 if storage_offset is None else storage_offset - offset_of(a)
    return strided_view(self, size, stride, ahead, storage_offset, a.strides)


def check_inside(a: np.ndarray, size: tuple, stride: tuple, offset: int) -> None:
    """Raise unless elements at these steps lie in the memory of a."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    needed = offset + reach(size, stride) if 0 not in size else 0
    have = memory(a).size
    if offset < 0 or needed > have:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
                           f"itemsize {a.itemsize} requiring a storage "
                           f"size of {needed * a.itemsize} are out of bounds for storage of size {have * a.itemsize}")


def reach(size: tuple, stride: tuple) -> int:
    """The number of elements between the first and the last one of a view, both counted."""
    return 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0


@function(method=False)
@on_cpu
def empty_strided(size: Sequence, stride: Sequence, *, dtype: DTypeLike = None, requires_grad: bool = False) -> Tensor:
    """A tensor of this shape and these steps, whose values are to be written."""
    size, stride = sizes_of((size,)), sizes_of((stride,))
    row = FUNCTIONS["zeros"](reach(size, stride), dtype=dtype)._a
    t = wrap(np.lib.stride_tricks.as_strided(row, size, [s * row.itemsize for s in stride]))
    t._rg = requires_grad
    return t


def as_dtype_of(x: Tensor, dtype: np.dtype) -> Tensor:
    """The bytes of x as elements of another dtype; not part of a graph."""
    if isinstance(x, Lazy):
        raise RuntimeError("torch.Tensor.view is not supported for conjugate view tensors when converting to a "
                           "different dtype.")
    a, old, new = x._a, x._a.dtype.itemsize, dtype.itemsize
    if dtype == a.dtype:
        return reshape_view(x, a.shape)
    size, steps = list(a.shape), [s * old for s in x.stride()]  # type: ignore[attr-defined]
    why = f"to view {scalar_name(a.dtype)} as {scalar_name(dtype)} (different element sizes)"
    if old != new:
        if not a.ndim:
            raise RuntimeError(f"self.dim() cannot be 0 {why}")
        if steps[-1] != old:
            raise RuntimeError(f"self.stride(-1) must be 1 {why}, but got {steps[-1] // old}")
        if new > old:
            _check_multiples(a, steps, new // old, why)
        size[-1], steps[-1] = size[-1] * old // new, new
    return dtype_view(x.detach() if x.requires_grad else x, dtype, tuple(size), tuple(steps))  # type: ignore[attr-defined]


def _check_multiples(a: np.ndarray, steps: list, ratio: int, why: str) -> None:
    named_sizes = {"size(-1)": a.shape[-1], "storage_offset()": offset_of(a),
                   **{f"stride({k})": s // a.itemsize for k, s in enumerate(steps[:-1])}}
    for name, n in named_sizes.items():
        if n % ratio:
            raise RuntimeError(f"self.{name} must be divisible by {ratio} {why}, but got {n}")


define("get_device", lambda self: -1, "The number of the device: -1, the CPU.")


# -- memory formats ----------------------------------------------------------------------------------------------------


class MemoryFormat:
    """An order of dimensions in memory."""

    def __init__(self, name: str, order: "tuple | None" = None):
        self.name, self.order = name, order

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def is_of(self, a: np.ndarray) -> bool:
        """Whether an array is laid out so, without gaps."""
        if self.order is None:
            return a.flags.c_contiguous
        return a.ndim == len(self.order) and a.transpose(self.order).flags.c_contiguous

    def copy(self, a: np.ndarray) -> np.ndarray:
        """A copy of an array, laid out so."""
        if self.order is None:
            return np.array(a, order="K" if self.name == "preserve_format" else "C")
        if a.ndim != len(self.order):
            raise RuntimeError(f"required rank {len(self.order)} tensor to use {self.name} format")
        return np.array(a.transpose(self.order), order="C").transpose(np.argsort(self.order))


FORMATS = {f.name: f for f in (MemoryFormat("contiguous_format"), MemoryFormat("preserve_format"),
                               MemoryFormat("channels_last", (0, 2, 3, 1)),
                               MemoryFormat("channels_last_3d", (0, 2, 3, 4, 1)))}
Tensor.device = property(lambda self: CPU, doc="Where the memory is: the CPU.")  # type: ignore[attr-defined]
Tensor.new_empty_strided = on_cpu(
    lambda self, size, stride, *, dtype=None, requires_grad=False: empty_strided(  # type: ignore[attr-defined]
        size, stride, dtype=dtype or self._a.dtype, requires_grad=requires_grad
    )
)
for _name in ("pin_memory", "share_memory_", "to_dense", "coalesce"):
    setattr(Tensor, _name, lambda self: self)
for _name in ("is_pinned", "is_shared"):
    setattr(Tensor, _name, lambda self: False)
FUNCTIONS.update(FORMATS, strided="strided", device=device)  # type: ignore[arg-type]
