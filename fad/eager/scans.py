"""Scans: what the elements up to each place along a dimension come to."""
from collections.abc import Callable

import numpy as np

from ..ops.table import TABLE as op
from ..util.array import AnyArray
from .errors import face
from .joining import stack
from .reductions import in_dtype, summed
from .registry import define, function, named, one_dim, run
from .results import Extreme
from .tensor import Tensor, wrap
from .together import together

define("cumsum", lambda self, dim, *, dtype=None: _accumulated("cumsum", self, dim, dtype),
       "Sums of the elements up to each place along a dimension.", changing=True)
define("cumprod", lambda self, dim, *, dtype=None: _accumulated("cumprod", self, dim, dtype),
       "Products of the elements up to each place along a dimension.", changing=True)


def _accumulated(name: str, self: Tensor, dim: int, dtype: "np.dtype | None") -> AnyArray:
    ax = one_dim(dim, len(self.shape))
    x, kind = summed(self, dtype)
    y = face(f"numpy.{name}", x, axis=ax) if len(x.shape) else x.clone()
    return in_dtype(named(y, f"{name.capitalize()}Backward0"), kind)


@function()
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
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
    return run(op["cumlogaddexp"], self, axis=one_dim(dim, len(self.shape)), reverse=False,
               label="LogcumsumexpBackward0")


def _running(self: Tensor, dim: int, better: Callable, label: str) -> tuple:
    """The best element up to each place, the latest of equal ones, and its index."""
    ax = one_dim(dim, len(self.shape))
    if not len(self.shape):
        return Extreme(self.clone(), wrap(np.zeros((), np.int64)))
    a = self._a
    best = better.accumulate(a, ax)
    places = np.arange(a.shape[ax]).reshape([-1 if k == ax else 1 for k in range(a.ndim)])
    index = np.maximum.accumulate(np.where((a == best) | (a != a), places, 0), ax)
    return Extreme(named(self.gather(ax, index), label), wrap(index))


define("cummax", lambda self, dim: _running(self, dim, np.maximum, "CummaxBackward0"),
       "(values, indices) of the largest element up to each place.")
define("cummin", lambda self, dim: _running(self, dim, np.minimum, "CumminBackward0"),
       "(values, indices) of the smallest element up to each place.")
