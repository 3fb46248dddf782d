"""Less common functions of tensors."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..ops.table import TABLE as op
from . import promotion
from .inplace import number
from .joining import stack
from .reductions import Extreme, amax, amin, sum
from .registry import FUNCTIONS, by_number, function, named, one_dim, run
from .tensor import wrap
from .together import step, together


class Bounds(NamedTuple):
    """What aminmax returns."""

    min: Any
    max: Any


@function()
def logcumsumexp(self: Any, dim: int) -> Any:
    """log of the sums of exp of the elements up to each place along a dimension."""
    if not len(self.shape):
        one_dim(dim, 0)
        return self.clone()
    if self.dtype.kind == "c":
        parts = list(self.unbind(dim))
        for k in range(1, len(parts)):
            parts[k] = parts[k - 1].logaddexp(parts[k])
        y = stack(parts, dim) if parts else self.clone()
        return together((y,), "LogcumsumexpBackward0", (self,), {"self": self, "result": y}, dim=dim)[0]
    return run(op["cumlogaddexp"], self, axis=one_dim(dim, len(self.shape)), reverse=False, label="LogcumsumexpBackward0")


def _running(self: Any, dim: int, better: Callable, label: str) -> Extreme:
    """The best element up to each place, the latest of equal ones, and its index."""
    ax = one_dim(dim, len(self.shape))
    if not len(self.shape):
        return Extreme(self.clone(), wrap(np.zeros((), np.int64)))
    a = self._a
    best = better.accumulate(a, ax)
    places = np.arange(a.shape[ax]).reshape([-1 if k == ax else 1 for k in range(a.ndim)])
    index = np.maximum.accumulate(np.where((a == best) | (a != a), places, 0), ax)
    return Extreme(named(self.gather(ax, index), label), wrap(index))


@function()
def cummax(self: Any, dim: int) -> Extreme:
    """(values, indices) of the largest element up to each place."""
    return _running(self, dim, np.maximum, "CummaxBackward0")


@function()
def cummin(self: Any, dim: int) -> Extreme:
    """(values, indices) of the smallest element up to each place."""
    return _running(self, dim, np.minimum, "CumminBackward0")


@function()
@step("NansumBackward0", "self", "self", "dim keepdim")
def nansum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum, nan counting as zero."""
    if self.dtype.kind not in "fc":
        return sum(self, dim, keepdim, dtype=dtype)
    return sum(op["where"](op["isnan"](self), 0.0, self), dim, keepdim, dtype=dtype)


@function()
@step("AminmaxBackward0", "self", "self min=result max=indices", "dim keepdim")
def aminmax(self: Any, *, dim: Any = None, keepdim: bool = False) -> tuple:
    """The smallest and the largest element."""
    return Bounds(amin(self, dim, keepdim), amax(self, dim, keepdim))


@function()
def msort(self: Any) -> Any:
    """Sorted along the first dimension."""
    return self.sort(0)[0]


@function()
def sum_to_size(self: Any, *size: Any) -> Any:
    """Summed over the dimensions that broadcasting to this shape's tensors would stretch."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    extra = len(self.shape) - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, self.shape[extra:])):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(self.shape)}}}.")
    axes = tuple(range(extra)) + tuple([extra + k for k, n in enumerate(shape) if n == 1 and self.shape[extra + k] != 1])
    return sum(self, axes).reshape(*shape) if axes else self


@function(method=False)
def trapezoid(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral by the trapezoidal rule."""
    n = y.shape[dim]
    middle = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    return sum(by_number(middle, 0.5 * dx) if x is None else by_number(middle, 0.5) * x.diff(dim=dim), dim)


@function(method=False)
@step("CdistBackward0", "x1 x2", "x1 x2 result", "p")
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The p-norm of the difference of every row of x1 and every row of x2; compute_mode is taken for PyTorch's sake."""
    for name, x in (("X1", x1), ("X2", x2)):
        if len(x.shape) < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {len(x.shape)}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    p = number(p, "cdist", "p")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, dim=-1)


def result_type(a: Any, b: Any) -> np.dtype:
    """The dtype of an operation on two tensors or numbers."""
    return promotion.result_type((a, b))


FUNCTIONS["result_type"] = result_type
