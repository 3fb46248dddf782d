"""Norms of vectors and matrices, by PyTorch's names: the p-norms, the nuclear norm and distances."""

import numpy as np

from ..ops.table import TABLE as op
from ..util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from . import composites
from .dtypes import as_dtype
from .errors import face, scalar_name
from .indexing import getitem
from .inplace import number
from .reductions import amax, amin, kept, sum
from .registry import define, dims_of, function, one_dim
from .tensor import Tensor
from .together import step


@function()
def norm(self: AnyArray, p: object = "fro", dim: Axes = None, keepdim: bool = False,
         dtype: DTypeLike = None) -> AnyArray:
    """The p-norm of all elements or along dimensions."""
    x = self if dtype is None else self.to(as_dtype(dtype))
    return _nuclear(x, dim, keepdim) if p == "nuc" else _norm(x, p, dim, keepdim)


@step("LinalgVectorNormBackward0", "self", "self result", "ord=p dim keepdim")
def _norm(self: AnyArray, p: ArrayOrNumber, dim: Axes, keepdim: bool) -> AnyArray:
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_name(self.dtype)}")
    x, axes = self, dims_of(dim, len(self.shape))
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"Only valid p norm strings are 'fro' and 'nuc' but got {p}")
    p = number(p, "norm", "p")
    if p in ("fro", 2, None):
        return composites.norm(x, axes=axes, keep=keepdim)
    size = op["abs"](x)
    if p == np.inf:
        return amax(size, axes, keepdim)
    if p == -np.inf:
        return amin(size, axes, keepdim)
    if p == 0:
        # constant but where an element is zero: its gradient is zero
        return sum(op["sign"](op["where"](op["isnan"](size), 1.0, size)), axes, keepdim)
    if p == 1:
        return sum(size, axes, keepdim)
    empty = size == 0
    # 0 ** (p - 1) would be infinite
    power = size ** p if p >= 1 else op["where"](empty, 0.0, op["where"](empty, 1.0, size) ** p)
    total = sum(power, axes, keepdim)
    none = total == 0
    return op["where"](none, 0.0, op["where"](none, 1.0, total) ** (1.0 / p))


@step("NuclearNormBackward0", "x", copies="x")
def _nuclear(x: AnyArray, dim: object, keepdim: bool) -> AnyArray:
    """The sum of the singular values of matrices."""
    if dim is None and len(x.shape) != 2 or dim is not None and (isinstance(dim, int) or len(dim) != 2):
        raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple" if dim is not None
                           else f"norm(): nuclear norm requires a matrix, got {len(x.shape)} dimensions")
    n = len(x.shape)
    rows, columns = (0, 1) if dim is None else [one_dim(d, n) for d in dim]
    order = (*[k for k in range(n) if k not in (rows, columns)], rows, columns)
    total = sum(face("numpy.linalg.svd", op["transpose"](x, axes=order), compute_uv=False), -1)
    return kept(total, x, (rows, columns)) if keepdim else total


define("dist", lambda self, other, p=2: norm(self - other, p),
       "The p-norm of the difference.", node="DistBackward0", edges="self other", saves="self other result", shows="p")


@function(method=False)
@step("PdistBackward0", "input", "self=input result", "p")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every two rows."""
    if len(input.shape) != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {len(input.shape)}D")
    rows, columns = np.triu_indices(input.shape[0], 1)
    return (getitem(input, rows) - getitem(input, columns)).norm(float(number(p, "pdist", "p")), dim=-1)
