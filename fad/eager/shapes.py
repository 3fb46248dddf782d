"""Shapes, views, indexing, joining and splitting of tensors."""
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.table import TABLE as op
from . import composites
from .inplace import copy_
from .registry import FUNCTIONS, function, named, one_dim, sizes_of
from .storage import as_dtype_of
from .tensor import Tensor
from .together import together
from .views import (
    as_complex_view,
    as_real_view,
    diagonal_view,
    expand_view,
    imag_view,
    index_view,
    real_view,
    reshape_view,
    transpose_view,
    windows_view,
)


def _completed(size: tuple, count: int, shape: tuple) -> tuple:
    """A shape with its -1 worked out."""
    if -1 in size:
        known = -int(np.prod(size, dtype=int))
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
        return tuple([count // known if n == -1 else n for n in size])
    if int(np.prod(size, dtype=int)) != count:
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {count}")
    return size


@function("reshape")
def reshape(self: Any, *shape: Any) -> Any:
    """The elements in another shape, as a view where that is possible."""
    size = _completed(sizes_of(shape), int(np.prod(self.shape, dtype=int)), self.shape)
    return reshape_view(self, size) if isinstance(self, Tensor) else op["reshape"](self, *size)


@function(only_method=True)
def view(self: Tensor, *shape: Any) -> Tensor:
    """The elements in another shape, sharing memory; an error where that is impossible."""
    if len(shape) == 1 and isinstance(shape[0], (np.dtype, type)):
        return as_dtype_of(self, np.dtype(shape[0]))
    size = _completed(sizes_of(shape), self._a.size, self._a.shape)
    a = self._a.reshape(size)
    if self._a.size and not np.shares_memory(a, self._a):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
                           "subspaces). Use .reshape(...) instead.")
    return reshape_view(self, size)


@function(only_method=True)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The elements in the other's shape."""
    return view(self, other._a.shape)


Tensor.reshape_as = lambda self, other: reshape(self, other.shape)                             # type: ignore[attr-defined]


@function("flatten", "ravel")
def flatten(self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Dimensions from start_dim to end_dim made one."""
    shape = self.shape
    if not shape:
        return reshape(self, 1)
    first, last = one_dim(start_dim, len(shape)), one_dim(end_dim, len(shape))
    return self if first == last else reshape(self, *shape[:first], int(np.prod(shape[first:last + 1])), *shape[last + 1:])


@function()
def unflatten(self: Any, dim: int, sizes: Sequence) -> Any:
    """A dimension split into several."""
    ax = one_dim(dim, len(self.shape))
    sizes = _completed(tuple(sizes), self.shape[ax], self.shape)
    return reshape(self, *self.shape[:ax], *sizes, *self.shape[ax + 1:])


@function()
def squeeze(self: Any, dim: Any = None) -> Any:
    """Without dimensions of size 1."""
    shape = self.shape
    dims = range(len(shape)) if dim is None else [one_dim(d, len(shape)) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    return named(reshape_view(self, tuple([n for k, n in enumerate(shape) if n != 1 or k not in dims])), "SqueezeBackward0")


@function()
def unsqueeze(self: Any, dim: int) -> Any:
    """With a new dimension of size 1."""
    ax = one_dim(dim, len(self.shape) + 1)
    return named(reshape_view(self, self.shape[:ax] + (1,) + self.shape[ax:]), "UnsqueezeBackward0")


@function()
def permute(self: Any, *dims: Any) -> Any:
    """The dimensions in another order."""
    given = sizes_of(dims)
    if len(given) != len(self.shape):
        raise RuntimeError(f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
                           f"dimensions i.e. input.dim() = {len(self.shape)} is not equal to len(dims) = {len(given)}")
    return transpose_view(self, tuple([one_dim(d, len(self.shape)) for d in given]))


@function("transpose", "swapaxes", "swapdims")
def transpose(self: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    axes = list(range(len(self.shape)))
    if axes:
        a, b = one_dim(dim0, len(axes)), one_dim(dim1, len(axes))
        axes[a], axes[b] = axes[b], axes[a]
    return transpose_view(self, tuple(axes), label="TransposeBackward0")


@function()
def t(self: Any) -> Any:
    """A matrix transposed."""
    if len(self.shape) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(self.shape)}D")
    return transpose_view(self, tuple(range(len(self.shape)))[::-1], label="TBackward0")


@function()
def movedim(self: Any, source: Any, destination: Any) -> Any:
    """Dimensions moved to other places."""
    places = list(range(len(self.shape)))
    moved = [one_dim(d, len(places)) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    to = [one_dim(d, len(places)) for d in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    rest = [k for k in places if k not in moved]
    for target, axis in sorted(zip(to, moved)):
        rest.insert(target, axis)
    return transpose_view(self, tuple(rest))


Tensor.moveaxis, FUNCTIONS["moveaxis"] = movedim, movedim                                      # type: ignore[attr-defined]
Tensor.T = property(lambda self: transpose_view(self, tuple(range(self._a.ndim))[::-1]))       # type: ignore[attr-defined]
Tensor.mT = property(lambda self: transpose(self, -1, -2))                                     # type: ignore[attr-defined]
Tensor.H = property(lambda self: transpose(self, 0, 1).conj())                                 # type: ignore[attr-defined]
Tensor.mH = property(lambda self: transpose(self, -1, -2).conj())                             # type: ignore[attr-defined]
Tensor.adjoint = FUNCTIONS["adjoint"] = lambda self: transpose(self, -1, -2).conj()            # type: ignore[attr-defined]


@function(only_method=True)
def expand(self: Tensor, *sizes: Any) -> Tensor:
    """Dimensions of size 1 repeated, without copying; -1 keeps a size."""
    size = sizes_of(sizes)
    extra = len(size) - self._a.ndim
    shape = tuple([self._a.shape[k - extra] if n == -1 else n for k, n in enumerate(size)])
    try:
        return expand_view(self, shape)
    except ValueError:
        raise RuntimeError(_not_expandable(self._a.shape, shape)) from None


def _not_expandable(have: tuple, wanted: tuple) -> str:
    if len(have) > len(wanted):
        return (f"expand(torch.DoubleTensor{{{list(have)}}}, size={list(wanted)}): the number of sizes provided ({len(wanted)}) must be greater or equal to the "
                f"number of dimensions in the tensor ({len(have)})")
    k = next(k for k in range(1, len(have) + 1) if have[-k] not in (1, wanted[-k]))
    return (f"The expanded size of the tensor ({wanted[-k]}) must match the existing size ({have[-k]}) at non-singleton dimension {len(wanted) - k}.  "
            f"Target sizes: {list(wanted)}.  Tensor sizes: {list(have)}")


Tensor.expand_as = lambda self, other: expand(self, other.shape)                               # type: ignore[attr-defined]
FUNCTIONS["broadcast_to"] = Tensor.broadcast_to = lambda self, *size: expand(self, *size)       # type: ignore[attr-defined]


@function(method=False)
def broadcast_tensors(*tensors: Any) -> tuple:
    """Tensors expanded to their common shape."""
    shape = np.broadcast_shapes(*[t.shape for t in tensors])
    return tuple([expand(t, shape) for t in tensors])


@function(method=False)
def view_as_real(self: Tensor) -> Tensor:
    """A complex tensor's real and imaginary parts, along a new last dimension of its memory."""
    if self._a.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return as_real_view(self)


@function(method=False)
def view_as_complex(self: Tensor) -> Tensor:
    """A real tensor's last dimension, of size 2, as the parts of complex numbers."""
    a = self._a
    if a.dtype.kind != "f":
        raise RuntimeError("view_as_complex is only supported for floating point tensors")
    if not a.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if a.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if a.size and a.strides[-1] != a.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if a.size and any(s % (2 * a.itemsize) for s in a.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return as_complex_view(self)


def _real(self: Tensor) -> Tensor:
    """The real part, sharing memory."""
    return real_view(self) if self._a.dtype.kind == "c" else self


def _imag(self: Tensor) -> Tensor:
    """The imaginary part, sharing memory."""
    if self._a.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imag_view(self)


Tensor.real = property(_real, lambda self, value: copy_(_real(self), value))                    # type: ignore[attr-defined]
Tensor.imag = property(_imag, lambda self, value: copy_(_imag(self), value))                    # type: ignore[attr-defined]
FUNCTIONS["real"], FUNCTIONS["imag"] = _real, _imag


@function()
def contiguous(self: Any, memory_format: Any = None) -> Any:
    """The tensor in row-major order (or another memory format): itself, or a copy."""
    if memory_format is not None:
        return self if memory_format.is_of(self._a) else self.clone(memory_format=memory_format)
    return self if self._a.flags.c_contiguous else composites.contiguous(self)


@function()
def select(self: Tensor, dim: int, index: int) -> Tensor:
    """One index along a dimension, which goes."""
    ax = one_dim(dim, len(self.shape))
    if not -self.shape[ax] <= int(index) < self.shape[ax]:
        raise IndexError(f"select(): index {int(index)} out of range for tensor of size {list(self.shape)} at dimension {ax}")
    return index_view(self, (slice(None),) * ax + (int(index),), label="SelectBackward0")


@function()
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A stretch of a dimension."""
    ax = one_dim(dim, len(self.shape))
    if start + length > self.shape[ax]:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({self.shape[ax]}).")
    return index_view(self, (slice(None),) * ax + (slice(int(start), int(start) + int(length)),))


@function()
def unbind(self: Tensor, dim: int = 0) -> tuple:
    """The parts along a dimension, one for each index."""
    ax = one_dim(dim, len(self.shape))
    parts = [index_view(self, (slice(None),) * ax + (k,), label="SelectBackward0", creation="multi") for k in range(self.shape[ax])]
    return together(tuple(parts), "UnbindBackward0")


@function()
def split(self: Tensor, split_size: Any, dim: int = 0) -> tuple:
    """Stretches of a dimension, of one size or of given sizes."""
    ax, n = one_dim(dim, len(self.shape)), self.shape[one_dim(dim, len(self.shape))]
    if isinstance(split_size, int):
        sizes = [min(split_size, n - k) for k in range(0, n, split_size)] or [0]
    else:
        sizes = list(split_size)
        if sum(sizes) != n:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but got "
                               f"split_sizes={sizes}")
    starts = np.cumsum([0, *sizes])
    parts = [index_view(self, (slice(None),) * ax + (slice(int(s), int(s) + m),), label="SliceBackward0", creation="multi") for s, m in zip(starts, sizes)]
    return together(tuple(parts), "SplitBackward0" if isinstance(split_size, int) else "SplitWithSizesBackward0")


@function()
def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple:
    """The tensor in (at most) this many stretches of a dimension."""
    n = self.shape[one_dim(dim, len(self.shape))]
    return split(self, max(1, -(-n // chunks)), dim)


@function("diagonal")
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, sharing memory."""
    return diagonal_view(self, offset, one_dim(dim1, len(self.shape)), one_dim(dim2, len(self.shape)))


@function()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All stretches of this size along a dimension, a step apart, sharing memory."""
    ax = one_dim(dimension, len(self.shape))
    if not self.shape:
        return reshape(self, 1)[:size]
    if size > self.shape[ax] or step <= 0:
        raise RuntimeError(f"maximum size for tensor at dimension {ax} is {self.shape[ax]} but size is {size}" if step > 0 else
                           f"step is {step} but must be > 0")
    return windows_view(self, ax, int(size), int(step))
