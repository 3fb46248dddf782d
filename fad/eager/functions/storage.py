"""The memory behind tensors: storages, views of any strides, memory formats; other shapes and memory in place."""
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...util.array import DTypeLike
from ...util.array_views import address
from ..graph.inplace import check_in_place, requires_grad
from ..graph.view_kinds import memory, offset_of, steps_of_rows, strided_view
from ..graph.views import tangent_of
from ..tensors import errors
from ..tensors.dtypes import CPU, device, on_cpu
from ..tensors.errors import refuse_if
from ..tensors.state import changed, now
from ..tensors.tensor import Tensor, alias, look_at, stored, wrap
from .registry import FUNCTIONS, attached, define, function, sizes_of
from .shapes import squeeze, t, transpose, unsqueeze


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


Tensor.storage = Tensor.untyped_storage = lambda self: Storage(stored(self))
Tensor.storage_offset = lambda self: offset_of(stored(self))
Tensor.layout = property(lambda self: "strided", doc="How the elements are kept: in memory at regular steps.")


@function()
def as_strided(self: Tensor, size: Sequence, stride: Sequence, storage_offset: "int | None" = None) -> Tensor:
    """A view of any shape and strides of a tensor's memory."""
    a, size, stride = stored(self), sizes_of((size,)), sizes_of((stride,))
    check_inside(a, size, stride, offset_of(a) if storage_offset is None else storage_offset)
    refuse_if(storage_offset is not None and now().of_an_example, "as_strided: a storage_offset counts from the first "
              "of all examples, and vmap shows one of them; leave it out, and take a slice first")
    ahead = 0 if storage_offset is None else storage_offset - offset_of(a)
    return strided_view(self, size, stride, ahead, storage_offset, a.strides)


def check_inside(a: np.ndarray, size: tuple, stride: tuple, offset: int) -> None:
    """Raise unless elements at these steps lie in the memory of a."""
    refuse_if(len(size) != len(stride), "mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    needed = offset + reach(size, stride) if 0 not in size else 0
    have = memory(a).size
    refuse_if(offset < 0 or needed > have, f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
              f"{offset}, and itemsize {a.itemsize} requiring a storage size of {needed * a.itemsize} are out of "
              f"bounds for storage of size {have * a.itemsize}")


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
        refuse_if(a.ndim != len(self.order), f"required rank {len(self.order)} tensor to use {self.name} format")
        return np.array(a.transpose(self.order), order="C").transpose(np.argsort(self.order))


FORMATS = {f.name: f for f in (MemoryFormat("contiguous_format"), MemoryFormat("preserve_format"),
                               MemoryFormat("channels_last", (0, 2, 3, 1)),
                               MemoryFormat("channels_last_3d", (0, 2, 3, 4, 1)))}
Tensor.device = property(lambda self: CPU, doc="Where the memory is: the CPU.")
Tensor.new_empty_strided = on_cpu(
    lambda self, size, stride, *, dtype=None, requires_grad=False: empty_strided(
        size, stride, dtype=dtype or self._a.dtype, requires_grad=requires_grad
    )
)
for _name in ("pin_memory", "share_memory_", "to_dense", "coalesce"):
    setattr(Tensor, _name, lambda self: self)
for _name in ("is_pinned", "is_shared"):
    setattr(Tensor, _name, lambda self: False)
FUNCTIONS.update(FORMATS, strided="strided", device=device)


_CHANGED = {"TBackward0": "TBackward1", "TransposeBackward0": "TransposeBackward1",
            "UnsqueezeBackward0": "UnsqueezeBackward1", "SqueezeBackward0": "SqueezeBackward3",
            "SqueezeBackward1": "SqueezeBackward4", "SqueezeBackward2": "SqueezeBackward5"}


def _reshaping(name: str, view: Callable) -> None:
    def change(self: Tensor, *args: object, **options: object) -> Tensor:
        # a node gives gradients of the tensor's shape: no_grad does not hide that this changes
        recorded = (now().grad or self._fn is not None) and not now().inference and requires_grad(self)
        check_in_place(self, recorded, moves_only=True)
        old = alias(self)
        old._fn, old._nr, old._rg, old._view = self._fn, self._nr, self._rg, self._view
        creation = "" if self._view is None else self._view.creation
        with changed(grad=recorded):
            new = view(old, *args, **options)
        look_at(self, new)
        if recorded:
            self._fn, self._nr, self._rg = new._fn, new._nr, new._rg
            self._fn.label = _CHANGED.get(self._fn.name(), self._fn.label)
        self._vc[0] += 1
        if self._view is not None:
            self._view = new._view
            self._view.stamp, self._view.creation = self._vc[0], creation
        if self._x is not None and self._x.tangent is not None:
            with changed(dual_level=-1):
                self._x.tangent = getattr(self._x.tangent, name)(*args, **options)
        return self
    change.__name__, change.__doc__ = f"{name}_", f"{name}, in place."
    setattr(Tensor, change.__name__, change)


for _name, _view in {"unsqueeze": unsqueeze, "squeeze": squeeze, "t": t, "transpose": transpose, "swapaxes": transpose,
                     "swapdims": transpose, "as_strided": as_strided}.items():
    _reshaping(_name, _view)


def _over_storage(storage: object, offset: int, size: object, stride: object) -> np.ndarray:
    """The elements of a storage from a place on, in a shape and with these steps (with no shape: all in a row)."""
    size = (storage.row.size - offset,) if size is None else tuple(size)
    stride = steps_of_rows(size) if stride is None else tuple(stride)
    check_inside(storage.row, size, stride, offset)
    return np.lib.stride_tricks.as_strided(storage.row[offset:], size, [s * storage.row.itemsize for s in stride])


@attached
class TensorMemory:
    """Methods that give a tensor other memory."""

    def resize_(self: Tensor, *size: object, memory_format: object = None) -> Tensor:
        """Give the tensor another shape, in place: its memory in row-major order, longer where that does not suffice.
        """
        refuse_if(requires_grad(self) and not now().inference, "cannot resize variables that require grad")
        wanted = sizes_of(size)
        if wanted == self._a.shape:
            return self
        refuse_if(self._x is not None and self._x.inference and not now().inference, errors.INFERENCE_WRITE)
        count, row = int(np.prod(wanted, dtype=int)), memory(self._a)[offset_of(self._a):]
        if count > row.size:
            row = np.concatenate([row, np.zeros(count - row.size, row.dtype)])
        self._a = row[:count].reshape(wanted)
        self._vc[0] += 1
        return self

    def resize_as_(self: Tensor, other: Tensor, *, memory_format: object = None) -> Tensor:
        """resize_ to the other's shape."""
        return self.resize_(other._a.shape)

    def set_(self: Tensor, source: object = None, storage_offset: int = 0, size: "tuple | None" = None,
             stride: "tuple | None" = None) -> Tensor:
        """Give the tensor the memory, shape and strides of another one, or a storage in this shape and steps, in place.
        """
        if now().grad and not now().inference and requires_grad(self):
            raise RuntimeError(errors.LEAF_WRITE if self._fn is None
                               else "set_ of a tensor that is part of a graph is not supported: detach it first")
        if now().dual_level >= 0 and any(isinstance(t, Tensor) and tangent_of(t) is not None for t in (self, source)):
            raise NotImplementedError("Trying to use forward AD with set_ that does not support it because it has not "
                                      "been implemented yet")
        new = (np.zeros(0, self._a.dtype) if source is None else source._a if isinstance(source, Tensor)
               else _over_storage(source, storage_offset, size, stride))
        refuse_if(new.dtype != self._a.dtype, f"Could not set tensor of type {new.dtype} to a tensor of type "
                  f"{self._a.dtype}")
        self._a, self._view, self._acc = new, None, None
        self._vc[0] += 1
        return self


FUNCTIONS["resize_as_"] = TensorMemory.resize_as_
