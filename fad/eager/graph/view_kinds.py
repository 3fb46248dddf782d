"""The ways of viewing: how each kind of view is taken from an array, and how its cotangent goes back."""
import numpy as np

from ...ir.op import registry
from ...ops.subscript import read_subscript
from ...util.array import AnyArray
from ...util.array_views import address
from ..tensors.errors import refuse_if, scalar_name
from ..tensors.tensor import Lazy, Tensor
from .saved import Meta
from .views import ViewOp, reshape_view


def memory(a: np.ndarray) -> np.ndarray:
    """All of the memory that an array is part of, as one row of elements of its dtype.

    >>> memory(np.arange(6.0).reshape(2, 3)[:, 1])
    array([0., 1., 2., 3., 4., 5.])
    """
    owner = a
    while True:
        below = owner.base
        if below is not None and not isinstance(below, np.ndarray):          # as_strided puts an object between
            below = getattr(below, "base", None)
        if not isinstance(below, np.ndarray):
            break
        owner = below
    row = owner.transpose(np.argsort([-s for s in owner.strides], kind="stable")).reshape(-1)
    if not np.shares_memory(row, owner) and owner.size:                       # memory that has gaps: not NumPy's own
        row = a.reshape(-1)
    return row if row.dtype == a.dtype else row.view(a.dtype)


def offset_of(a: np.ndarray) -> int:
    """The number of elements of its memory before an array's first one."""
    return (address(a) - address(memory(a))) // a.itemsize if a.size else 0


def steps_of_rows(shape: tuple) -> tuple:
    """The steps of a tensor without elements, as if there were one along each axis."""
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def _index_rule(meta: Meta, key: tuple) -> tuple:
    selection = read_subscript(meta, key)
    return registry["index"], selection.operands, selection.params()


def _run_index(a: np.ndarray, key: tuple) -> np.ndarray:
    return a[tuple(key) + (Ellipsis,)] if Ellipsis not in key else a[key]


def _pull_index(g: AnyArray, meta: Meta, key: tuple) -> AnyArray:
    if not isinstance(g, Tensor):
        gx = np.zeros(meta.shape, meta.dtype if g.dtype.kind != "c" else g.dtype)
        gx[key] = g
        return gx
    op, operands, params = _index_rule(meta, tuple([k for k in key if k is not None]))
    g = registry["reshape"](g, *selected(meta, key)) if None in key else g
    return registry["index_add"](np.zeros(meta.shape, meta.dtype), g, *operands, **params)


def _selecting(meta: Meta, key: tuple) -> dict:
    """The last of the items that select, as PyTorch tells it: the dimension, and the index or the bounds."""
    dim, found = 0, {}
    for s in key:
        if s is Ellipsis:
            dim = meta.ndim - sum(k is not None for k in key[key.index(s) + 1:])
        elif s is None:
            found = {"dim": dim}
            dim += 1
        elif isinstance(s, slice):
            if s != slice(None):
                found = {"dim": dim, "start": s.start or 0, "end": (1 << 63) - 1 if s.stop is None else s.stop,
                         "step": s.step or 1}
            dim += 1
        else:
            found = {"dim": dim, "index": s}
    return found


def selected(meta: Meta, key: tuple) -> tuple:
    """The shape of what a key without its new axes selects."""
    return np.empty(meta.shape, np.int8)[tuple([k for k in key if k is not None])].shape


def real_parts(a: np.ndarray) -> np.ndarray:
    """A complex array's memory as real and imaginary parts, along a last axis of two."""
    return np.lib.stride_tricks.as_strided(a.real, (*a.shape, 2), (*a.strides, a.itemsize // 2))


def _pull_as_real(g: AnyArray, meta: Meta) -> AnyArray:
    return registry["make_complex"](g[..., 0], g[..., 1])


def _pull_as_complex(g: AnyArray, meta: Meta) -> AnyArray:
    parts = [registry["reshape"](registry[part](g), *meta.shape[:-1], 1) for part in ("real", "imag")]
    return registry["concatenate"](*parts, axis=len(meta.shape) - 1)


def _diagonal_rule(meta: Meta, offset: int, axis1: int, axis2: int) -> tuple:
    n, m = meta.shape[axis1], meta.shape[axis2]
    count = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    rows, columns = np.arange(count) + max(0, -offset), np.arange(count) + max(0, offset)
    spec = tuple("a" if k in (axis1, axis2) else ":" for k in range(len(meta.shape)))
    operands = (rows, columns) if axis1 < axis2 else (columns, rows)
    return registry["index"], operands, {"spec": spec, "at": len(meta.shape) - 2}


def _run_diagonal(a: np.ndarray, offset: int, axis1: int, axis2: int) -> np.ndarray:
    rest = [k for k in range(a.ndim) if k not in (axis1, axis2)]
    a = a.transpose(*rest, axis1, axis2)
    a = a[..., offset:] if offset >= 0 else a[..., -offset:, :]
    return np.lib.stride_tricks.as_strided(a, (*a.shape[:-2], min(a.shape[-2:])),
                                           (*a.strides[:-2], a.strides[-2] + a.strides[-1]))


def _run_expand(a: np.ndarray, shape: tuple) -> np.ndarray:
    b, extra = np.broadcast_to(a, shape), len(shape) - a.ndim
    steps = [a.strides[k - extra] if k >= extra and n == a.shape[k - extra] else s
             for k, (n, s) in enumerate(zip(shape, b.strides))]
    return np.lib.stride_tricks.as_strided(a, shape, steps, writeable=a.flags.writeable)


def _run_strided(a: np.ndarray, shape: tuple, strides: tuple, offset: int, given: "int | None",
                 layout: tuple) -> np.ndarray:
    """offset counts from a's first element; given: the user's offset, or None; layout: of what was viewed."""
    refuse_if(a.strides != layout and a.size > 1, "as_strided of a tensor that is not contiguous cannot be part of a "
              "graph here: call contiguous() first")
    return np.lib.stride_tricks.as_strided(memory(a)[offset_of(a) + offset:], shape, [s * a.itemsize for s in strides])


def _places(shape: tuple, strides: object) -> np.ndarray:
    """For each element at these steps its distance from the first one."""
    places = np.zeros(shape, np.int64)
    for k, (n, s) in enumerate(zip(shape, strides)):
        places += (np.arange(n) * s).reshape([-1 if j == k else 1 for j in range(len(shape))])
    return places


def _pull_strided(g: AnyArray, meta: Meta, shape: tuple, strides: tuple, offset: int, given: "int | None",
                  layout: tuple) -> AnyArray:
    """Cotangents go by memory: to the result, and from there to the operand, shared where elements overlap."""
    there, here = _places(shape, strides) + offset, _places(meta.shape, [s // meta.dtype.itemsize for s in layout])
    start = min(there.min(initial=0), 0)
    count = int(max(there.max(initial=0), here.max(initial=0)) - start + 1)
    row = registry["index_add"](np.zeros(count, meta.dtype), g, there - start, spec=("a",), at=0)
    gx = registry["index"](row, here - start, spec=("a",), at=0)
    several = np.bincount((here - start).reshape(-1), minlength=count)
    return gx if several.max(initial=1) == 1 else gx / several[here - start].astype(meta.dtype)


def as_dtype_view(a: np.ndarray, dtype: np.dtype, shape: tuple, strides: tuple) -> np.ndarray:
    """The bytes of an array's memory as elements of another dtype, at these steps (in bytes)."""
    row = memory(a).view(np.uint8)[offset_of(a) * a.itemsize:]
    return np.lib.stride_tricks.as_strided(row[:row.size // dtype.itemsize * dtype.itemsize].view(dtype), shape,
                                           strides)


def _run_windows(a: np.ndarray, axis: int, size: int, step: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(a, size, axis, writeable=a.flags.writeable)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


def _pull_windows(g: AnyArray, meta: Meta, axis: int, size: int, step: int) -> AnyArray:
    at = np.arange((meta.shape[axis] - size) // step + 1)[:, None] * step + np.arange(size)
    rank = len(meta.shape)
    # the windows' elements beside their places
    g = registry["transpose"](g, axes=(*range(axis + 1), rank, *range(axis + 1, rank)))
    spec = tuple("a" if k == axis else ":" for k in range(rank))
    return registry["index_add"](np.zeros(meta.shape, meta.dtype), g, at, spec=spec, at=axis)


index_view = ViewOp("SliceBackward0", _run_index, _index_rule, _pull_index, _selecting)
expand_view = ViewOp("ExpandBackward0", _run_expand, lambda meta, shape: (registry["broadcast_to"], shape, {}))
diagonal_view = ViewOp("DiagonalBackward0", _run_diagonal, _diagonal_rule, saved=("offset", "dim1", "dim2"))
as_real_view = ViewOp("ViewAsRealBackward0", real_parts, None, _pull_as_real)
as_complex_view = ViewOp("ViewAsComplexBackward0", lambda a: a.view(np.result_type(a.dtype, np.complex64))[..., 0],
                         None, _pull_as_complex)
strided_view = ViewOp("AsStridedBackward0", _run_strided, None, _pull_strided, ("size", "stride", "", "storage_offset"))
windows_view = ViewOp("UnfoldBackward0", _run_windows, None, _pull_windows, ("dim", "size", "step"))
dtype_view = ViewOp("ViewBackward1", lambda a, dtype, shape, strides: as_dtype_view(a, dtype, shape, strides))
conj_view = ViewOp("ConjBackward0", np.conjugate, None,
                   lambda g, meta: registry["conj"](g) if g.dtype.kind == "c" else g)
neg_view = ViewOp("NegViewBackward0", np.negative, None, lambda g, meta: -g)
conj_view.way, neg_view.way = np.conjugate, np.negative
alias_view = ViewOp("AliasBackward0", lambda a: a[...], None, lambda g, meta: g)


def as_dtype_of(x: Tensor, dtype: np.dtype) -> Tensor:
    """The bytes of x as elements of another dtype; not part of a graph."""
    refuse_if(isinstance(x, Lazy), "torch.Tensor.view is not supported for conjugate view tensors when converting to a "
              "different dtype.")
    a, old, new = x._a, x._a.dtype.itemsize, dtype.itemsize
    if dtype == a.dtype:
        return reshape_view(x, a.shape)
    size, steps = list(a.shape), [s * old for s in x.stride()]
    why = f"to view {scalar_name(a.dtype)} as {scalar_name(dtype)} (different element sizes)"
    if old != new:
        refuse_if(not a.ndim, f"self.dim() cannot be 0 {why}")
        if steps[-1] != old:
            raise RuntimeError(f"self.stride(-1) must be 1 {why}, but got {steps[-1] // old}")
        if new > old:
            _check_multiples(a, steps, new // old, why)
        size[-1], steps[-1] = size[-1] * old // new, new
    return dtype_view(x.detach() if x.requires_grad else x, dtype, tuple(size), tuple(steps))


def _check_multiples(a: np.ndarray, steps: list, ratio: int, why: str) -> None:
    named_sizes = {"size(-1)": a.shape[-1], "storage_offset()": offset_of(a),
                   **{f"stride({k})": s // a.itemsize for k, s in enumerate(steps[:-1])}}
    for name, n in named_sizes.items():
        refuse_if(n % ratio, f"self.{name} must be divisible by {ratio} {why}, but got {n}")
