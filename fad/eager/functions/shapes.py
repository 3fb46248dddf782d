"""Shapes of tensors, and parts of them as views."""
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray
from ..graph import view_kinds
from ..graph.inplace import copy_
from ..graph.views import reshape_view, transpose_view
from ..tensors.errors import mismatch, not_expandable, refuse_if, told
from ..tensors.tensor import Size, Tensor, stored, way_of
from .registry import FUNCTIONS, define, function, one_dim, sizes_of

UNSIGNED = 1 << 64  # what PyTorch's nodes show of a dimension counted from the end is counted modulo this


def unsigned(dim: object) -> Any:
    """Dimensions as PyTorch's nodes show them."""
    return tuple([d % UNSIGNED for d in dim]) if isinstance(dim, (tuple, list)) else dim % UNSIGNED


def _completed(size: tuple, count: int, shape: tuple) -> tuple:
    """A shape with its -1 worked out."""
    if any(n < -1 for n in size):
        k = next(k for k, n in enumerate(size) if n < -1)
        raise RuntimeError(f"invalid shape dimension {size[k]} at index {k} of shape {list(size)}")
    if -1 in size:
        refuse_if(size.count(-1) > 1, "only one dimension can be inferred")
        known = -math.prod(size)
        refuse_if(known == 0 == count, f"cannot reshape tensor of 0 elements into shape {list(size)} because the "
                  "unspecified dimension size -1 can be any value and is ambiguous")
        refuse_if(known == 0 or count % known, f"shape '{list(size)}' is invalid for input of size {count}")
        return tuple([count // known if n == -1 else n for n in size])
    refuse_if(math.prod(size) != count, f"shape '{list(size)}' is invalid for input of size {count}")
    return size


@function("reshape")
def reshape(self: Tensor, *shape: object) -> Tensor:
    """The elements in another shape, as a view where that is possible."""
    size = _completed(sizes_of(shape), self._a.size if isinstance(self, Tensor)
                      else int(np.prod(self.shape, dtype=int)), self.shape)
    return reshape_view(self, size) if isinstance(self, Tensor) else op["reshape"](self, *size)


@function(only_method=True)
def view(self: Tensor, *shape: object) -> Tensor:
    """The elements in another shape, sharing memory; an error where that is impossible."""
    if len(shape) == 1 and isinstance(shape[0], (np.dtype, type)):
        return view_kinds.as_dtype_of(self, np.dtype(shape[0]))
    a = stored(self)
    size = _completed(sizes_of(shape), a.size, a.shape)
    refuse_if(a.size and not np.shares_memory(a, a.reshape(size)), "view size is not compatible with input tensor's "
              "size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) "
              "instead.")
    return reshape_view(self, size)


define("view_as", lambda self, other: view(self, other._a.shape),
       "The elements in the other's shape.", only_method=True)


Tensor.reshape_as = lambda self, other: reshape(self, other.shape)


define("ravel", lambda self: contiguous(flatten(self)), "All elements in one dimension, in row-major order.")


@function()
def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions from start_dim to end_dim made one."""
    shape = self.shape
    first, last = one_dim(start_dim, len(shape)), one_dim(end_dim, len(shape))
    if not shape:
        return reshape(self, 1)
    refuse_if(first > last, "flatten() has invalid args: start_dim cannot come after end_dim")
    return self if first == last else reshape(self, *shape[:first], int(math.prod(shape[first:last + 1])),
                                              *shape[last + 1:])


@function()
def unflatten(self: Tensor, dim: int, sizes: Sequence) -> AnyArray:
    """A dimension split into several."""
    ax = one_dim(dim, len(self.shape))
    refuse_if(not len(sizes), "unflatten: sizes must be non-empty")
    try:
        sizes = _completed(tuple(sizes), self.shape[ax], self.shape)
    except RuntimeError:
        raise RuntimeError(f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
                           f"({self.shape[ax]}) in the input tensor") from None
    return reshape(self, *self.shape[:ax], *sizes, *self.shape[ax + 1:])


@function()
def squeeze(self: Tensor, dim: object = None) -> Tensor:
    """Without dimensions of size 1."""
    shape = self.shape
    several = isinstance(dim, (tuple, list))
    dims = range(len(shape)) if dim is None else [one_dim(d, len(shape)) for d in (dim if several else (dim,))]
    size = tuple([n for k, n in enumerate(shape) if n != 1 or k not in dims])
    if dim is None:
        return reshape_view(self, size, label="SqueezeBackward0")
    return reshape_view(self, size, label=f"SqueezeBackward{1 + several}", note={"dim": unsigned(dim)})


@function()
def unsqueeze(self: object, dim: int) -> Tensor:
    """With a new dimension of size 1."""
    ax = one_dim(dim, len(self.shape) + 1)
    return reshape_view(self, self.shape[:ax] + (1,) + self.shape[ax:], label="UnsqueezeBackward0",
                        note={"dim": unsigned(dim)})


@function()
def permute(self: Tensor, *axes: object, dims: "tuple | None" = None) -> Tensor:
    """The dimensions in another order."""
    given = sizes_of(axes if dims is None else (dims,))
    refuse_if(len(given) != len(self.shape), "permute(sparse_coo): number of dimensions in the tensor input does not "
              f"match the length of the desired ordering of dimensions i.e. input.dim() = {len(self.shape)} is not "
              f"equal to len(dims) = {len(given)}")
    order = tuple([one_dim(d, len(self.shape)) for d in given])
    refuse_if(len(set(order)) != len(order), "permute(): duplicate dims are not allowed.")
    return transpose_view(self, order)


@function("transpose", "swapdims")
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    axes = list(range(len(self.shape)))
    a, b = one_dim(dim0, len(axes)), one_dim(dim1, len(axes))
    if axes:
        axes[a], axes[b] = axes[b], axes[a]
    return transpose_view(self, tuple(axes), label="TransposeBackward0",
                          note={"dim0": dim0 % UNSIGNED, "dim1": dim1 % UNSIGNED})


define("swapaxes", lambda self, axis0, axis1: transpose(self, axis0, axis1), "Two dimensions exchanged.")


@function()
def t(self: Tensor) -> AnyArray:
    """A matrix transposed."""
    refuse_if(len(self.shape) > 2, f"t() expects a tensor with <= 2 dimensions, but self is {len(self.shape)}D")
    return transpose_view(self, tuple(range(len(self.shape)))[::-1], label="TBackward0")


@function()
def movedim(self: object, source: object, destination: object) -> AnyArray:
    """Dimensions moved to other places."""
    n = len(self.shape)
    try:
        order = np.moveaxis(np.empty(range(max(n, 1))), source, destination).shape           # axis k has extent k
    except ValueError as error:
        raise told(error) from None
    return transpose_view(self, order[:n])


Tensor.moveaxis, FUNCTIONS["moveaxis"] = movedim, movedim
Tensor.T = property(lambda self: transpose_view(self, tuple(range(self._a.ndim))[::-1]))


def _matrices(name: str) -> Callable:
    """The function that transposes matrices, called so; those with an H (or adjoint) conjugate too."""
    def call(self: Tensor) -> Tensor:
        rank, batched = len(self.shape), name != "H"
        if rank == 1 or rank > 2 and not batched:
            what = "matrices or batches of matrices" if batched else "matrices (2-D tensors)"
            rest = " For batches of matrices, consider using tensor.mH" if rank > 2 else ""
            raise RuntimeError(f"tensor.{name} is only supported on {what}. Got {rank}-D tensor.{rest}")
        turned = transpose(self, -1, -2) if rank else self
        return turned if name == "mT" else turned.conj()
    call.__name__, call.__doc__ = (name.strip("()"),
                                   "Matrices transposed" + (" and conjugated." if name != "mT" else "."))
    return call


Tensor.mT, Tensor.H, Tensor.mH = [property(_matrices(name)) for name in ("mT", "H", "mH")]
Tensor.adjoint = FUNCTIONS["adjoint"] = _matrices("adjoint()")


@function(only_method=True)
def expand(self: Tensor, *sizes: object) -> Tensor:
    """Dimensions of size 1 repeated, without copying; -1 keeps a size."""
    size = sizes_of(sizes)
    extra = len(size) - self._a.ndim
    if any(n == -1 for n in size[:max(extra, 0)]):
        raise RuntimeError("The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension "
                           f"{next(k for k, n in enumerate(size) if n == -1)}")
    shape = tuple([self._a.shape[k - extra] if n == -1 and extra >= 0 else n for k, n in enumerate(size)])
    if any(n < 0 for n in shape) and extra >= 0:
        raise RuntimeError(f"expand: there are no negative sizes, but they are {list(size)}")
    try:
        return view_kinds.expand_view(self, shape)
    except ValueError:
        raise RuntimeError(not_expandable(self._a.shape, shape, self._a.dtype)) from None


Tensor.expand_as = lambda self, other: expand(self, other.shape)
FUNCTIONS["broadcast_to"] = Tensor.broadcast_to = lambda self, *size: expand(self, *size)


@function(method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple:
    """Tensors expanded to their common shape."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    try:
        shape = np.broadcast_shapes(*[t.shape for t in given])
    except ValueError:
        raise RuntimeError(mismatch(*[tuple(t.shape) for t in given][:2])) from None
    return tuple([expand(t, shape) for t in given])


@function(method=False)
def view_as_real(self: Tensor) -> Tensor:
    """A complex tensor's real and imaginary parts, along a new last dimension of its memory."""
    refuse_if(self._a.dtype.kind != "c", "view_as_real is only supported for complex tensors")
    refuse_if(way_of(self) is not None, "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the "
              "conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that the "
              "resulting tensor will NOT alias the original.")
    return view_kinds.as_real_view(self)


@function(method=False)
def view_as_complex(self: Tensor) -> Tensor:
    """A real tensor's last dimension, of size 2, as the parts of complex numbers."""
    a = self._a
    refuse_if(a.dtype.kind != "f", "view_as_complex is only supported for floating point tensors")
    refuse_if(not a.ndim, "Input tensor must have one or more dimensions")
    refuse_if(a.shape[-1] != 2, "Tensor must have a last dimension of size 2")
    refuse_if(a.size and a.strides[-1] != a.itemsize, "Tensor must have a last dimension with stride 1")
    if a.size and any(s % (2 * a.itemsize) for s in a.strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    return view_kinds.as_complex_view(self)


def _real(self: Tensor) -> Tensor:
    """The real part, sharing memory."""
    if self._a.dtype.kind != "c":
        return self
    return _part(view_kinds.conj_view(self) if way_of(self) is np.conjugate else self, 0)


def _part(x: Tensor, k: int) -> Tensor:
    """The real (0) or imaginary (1) part of what is stored of a complex tensor."""
    return view_kinds.index_view(view_kinds.as_real_view(x), (Ellipsis, k), label="SelectBackward0")


def _imag(self: Tensor) -> Tensor:
    """The imaginary part, sharing memory."""
    refuse_if(self._a.dtype.kind != "c", "imag is not implemented for tensors with non-complex dtypes.")
    if way_of(self) is not np.conjugate:
        return _part(self, 1)
    parts = view_kinds.as_real_view(view_kinds.conj_view(self))
    return view_kinds.index_view(view_kinds.neg_view(parts), (Ellipsis, 1), label="SelectBackward0")


Tensor.real = property(_real, lambda self, value: copy_(_real(self), value))
Tensor.imag = property(_imag, lambda self, value: copy_(_imag(self), value))
FUNCTIONS["real"], FUNCTIONS["imag"] = _real, _imag


@function()
def contiguous(self: AnyArray, memory_format: object = None) -> AnyArray:
    """The tensor in row-major order (or another memory format): itself, or a copy."""
    if self.is_contiguous(memory_format):
        return self
    return self.clone(memory_format=FUNCTIONS["contiguous_format"] if memory_format is None else memory_format)


@function()
def select(self: Tensor, dim: int, index: int) -> Tensor:
    """One index along a dimension, which goes."""
    refuse_if(not len(self.shape), "select() cannot be applied to a 0-dim tensor.", IndexError)
    ax = one_dim(dim, len(self.shape))
    if not -self.shape[ax] <= int(index) < self.shape[ax]:
        raise IndexError(f"select(): index {int(index)} out of range for tensor of size {list(self.shape)} at "
                         f"dimension {ax}")
    return view_kinds.index_view(self, (slice(None),) * ax + (int(index),), label="SelectBackward0")


@function()
def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """A stretch of a dimension."""
    refuse_if(not len(self.shape), "narrow() cannot be applied to a 0-dim tensor.")
    if isinstance(start, Tensor) and (start._a.ndim or start._a.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    ax, start = one_dim(dim, len(self.shape)), int(start)
    n = self.shape[ax]
    refuse_if(length < 0, "narrow(): length must be non-negative.")
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start = start + n if start < 0 else start
    refuse_if(start + length > n, f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return view_kinds.index_view(self, (slice(None),) * ax + (slice(start, start + int(length)),))


@function("diagonal")
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two dimensions, sharing memory."""
    first, second = one_dim(dim1, len(self.shape)), one_dim(dim2, len(self.shape))
    refuse_if(first == second, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return view_kinds.diagonal_view(self, offset, first, second)


@function()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All stretches of this size along a dimension, a step apart, sharing memory."""
    ax = one_dim(dimension, len(self.shape))
    refuse_if(size < 0, f"size is {size} but must be >= 0")
    if not self.shape:
        return reshape(self, 1)[:size]
    if size > self.shape[ax] or step <= 0:
        raise RuntimeError(f"maximum size for tensor at dimension {ax} is {self.shape[ax]} but size is {size}"
                           if step > 0 else f"step is {step} but must be > 0")
    return view_kinds.windows_view(self, ax, int(size), int(step))


@function(method=False)
def broadcast_shapes(*shapes: object) -> Size:
    """The shape that shapes are broadcast to.

    >>> broadcast_shapes((2, 1), 3)
    torch.Size([2, 3])
    """
    given = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(n < 0 for s in given for n in s):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    try:
        return Size(np.broadcast_shapes(*given))
    except ValueError as error:
        raise told(error) from None
