"""Changes of shape in place: the tensor becomes a view of what it was; and resize_ and set_, which give it other
memory."""
from collections.abc import Callable

import numpy as np

from . import errors
from .inplace import check_in_place, requires_grad
from .memory import memory, offset_of
from .registry import FUNCTIONS, sizes_of
from .shapes import squeeze, t, transpose, unsqueeze
from .state import changed, now
from .storage import as_strided
from .tensor import Tensor, alias, look_at
from .views import tangent_of

_CHANGED = {"TBackward0": "TBackward1", "TransposeBackward0": "TransposeBackward1",
            "UnsqueezeBackward0": "UnsqueezeBackward1", "SqueezeBackward0": "SqueezeBackward3",
            "SqueezeBackward1": "SqueezeBackward4", "SqueezeBackward2": "SqueezeBackward5"}


def _reshaping(name: str, view: Callable) -> None:
    def change(self: Tensor, *args: object, **options: object) -> Tensor:
        recorded = now().grad and not now().inference and requires_grad(self)
        check_in_place(self, recorded, moves_only=True)
        old = alias(self)
        old._fn, old._nr, old._rg, old._view = self._fn, self._nr, self._rg, self._view
        creation = "" if self._view is None else self._view.creation
        new = view(old, *args, **options)
        look_at(self, new)
        if recorded:
            self._fn, self._nr, self._rg = new._fn, new._nr, new._rg
            self._fn.label = _CHANGED.get(self._fn.name(), self._fn.label)
        self._vc[0] += 1
        if self._view is not None:
            self._view = new._view
            self._view.stamp, self._view.creation = self._vc[0], creation
        _turn_tangent(self, name, args, options)
        return self
    change.__name__, change.__doc__ = f"{name}_", f"{name}, in place."
    setattr(Tensor, change.__name__, change)


def _turn_tangent(x: Tensor, name: str, args: tuple, options: dict) -> None:
    if x._x is not None and x._x.tangent is not None:
        with changed(dual_level=-1):
            x._x.tangent = getattr(x._x.tangent, name)(*args, **options)


for _name, _view in {"unsqueeze": unsqueeze, "squeeze": squeeze, "t": t, "transpose": transpose, "swapaxes": transpose,
                     "swapdims": transpose,
                     "as_strided": as_strided}.items():
    _reshaping(_name, _view)


def resize_(self: Tensor, *size: object, memory_format: object = None) -> Tensor:
    """Give the tensor another shape, in place: its memory in row-major order, longer where that does not suffice."""
    if requires_grad(self) and not now().inference:
        raise RuntimeError("cannot resize variables that require grad")
    wanted = sizes_of(size)
    if wanted == self._a.shape:
        return self
    if self._x is not None and self._x.inference and not now().inference:
        raise RuntimeError(errors.INFERENCE_WRITE)
    count, row = int(np.prod(wanted, dtype=int)), memory(self._a)[offset_of(self._a):]
    if count > row.size:
        row = np.concatenate([row, np.zeros(count - row.size, row.dtype)])
    self._a = row[:count].reshape(wanted)
    self._vc[0] += 1
    return self


def resize_as_(self: Tensor, other: Tensor, *, memory_format: object = None) -> Tensor:
    """resize_ to the other's shape."""
    return resize_(self, other._a.shape)


def _over_storage(storage: object, offset: int, size: object, stride: object) -> np.ndarray:
    """The elements of a storage from a place on, in a shape and with these steps (all of them in a row if no shape is
    given)."""
    size = (storage.row.size - offset,) if size is None else tuple(size)
    stride = (tuple(np.cumprod((1, *[max(n, 1) for n in size[:0:-1]])).tolist()[::-1])
              if stride is None else tuple(stride))
    needed = 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    if offset + needed > storage.row.size:
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
                           f"itemsize {storage.row.itemsize} requiring a storage "
                           f"size of {(offset + needed) * storage.row.itemsize} are out of bounds for storage of size "
                           f"{storage.row.nbytes}")
    return np.lib.stride_tricks.as_strided(storage.row[offset:], size, [s * storage.row.itemsize for s in stride])


def set_(self: Tensor, source: object = None, storage_offset: int = 0, size: "tuple | None" = None,
         stride: "tuple | None" = None) -> Tensor:
    """Give the tensor the memory, the shape and the strides of another one, or a storage in this shape and with these
    steps, in place."""
    if now().grad and not now().inference and requires_grad(self):
        raise RuntimeError(errors.LEAF_WRITE if self._fn is None
                           else "set_ of a tensor that is part of a graph is not supported: detach it first")
    if now().dual_level >= 0 and any(isinstance(t, Tensor) and tangent_of(t) is not None for t in (self, source)):
        raise NotImplementedError("Trying to use forward AD with set_ that does not support it because it has not been "
                                  "implemented yet")
    new = (np.zeros(0, self._a.dtype) if source is None else source._a if isinstance(source, Tensor)
           else _over_storage(source, storage_offset, size, stride))
    if new.dtype != self._a.dtype:
        raise RuntimeError(f"Could not set tensor of type {new.dtype} to a tensor of type {self._a.dtype}")
    self._a, self._view, self._acc = new, None, None
    self._vc[0] += 1
    return self


FUNCTIONS["resize_as_"] = resize_as_
Tensor.resize_, Tensor.resize_as_, Tensor.set_ = resize_, resize_as_, set_  # type: ignore[attr-defined]
