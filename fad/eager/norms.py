"""Norms of tensors, and distances."""
import numpy as np

from ..ops.table import TABLE as op
from ..util.array import AnyArray, ArrayOrNumber, Axes, DTypeLike
from . import composites
from .dtypes import as_dtype
from .errors import refuse_if, scalar_name
from .indexing import getitem
from .inplace import number
from .reductions import amax, amin, sum
from .registry import define, dims_of, function
from .tensor import Tensor
from .together import step


@function()
def norm(self: AnyArray, p: object = "fro", dim: Axes = None, keepdim: bool = False,
         dtype: DTypeLike = None) -> AnyArray:
    """The p-norm of all elements or along dimensions."""
    return _norm(self if dtype is None else self.to(as_dtype(dtype)), p, dim, keepdim)


@step("LinalgVectorNormBackward0", "self", "self result", "ord=p dim keepdim")
def _norm(self: AnyArray, p: ArrayOrNumber, dim: Axes, keepdim: bool) -> AnyArray:
    if self.dtype.kind not in "fc":
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                           f"{scalar_name(self.dtype)}")
    x, axes = self, dims_of(dim, len(self.shape))
    refuse_if(isinstance(p, str) and p != "fro", f"the one p norm string here is 'fro', but got {p}")
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


define("dist", lambda self, other, p=2: norm(self - other, p),
       "The p-norm of the difference.", node="DistBackward0", edges="self other", saves="self other result", shows="p")


@function(method=False)
@step("PdistBackward0", "input", "self=input result", "p")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of every two rows."""
    refuse_if(len(input.shape) != 2, f"pdist only supports 2D tensors, got: {len(input.shape)}D")
    rows, columns = np.triu_indices(input.shape[0], 1)
    return (getitem(input, rows) - getitem(input, columns)).norm(float(number(p, "pdist", "p")), dim=-1)
