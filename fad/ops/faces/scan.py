"""NumPy's scans and differences: cumsum, cumprod, cumulative_sum, cumulative_prod, diff, ediff1d, gradient, trapezoid."""
from typing import Any

from ...ir.op import Op, registry
from ..face import face
from .arguments import along, in_dtype, into

cumsum_, cumprod_ = registry["cumsum"], registry["cumprod"]


def _running(op: Op, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    x, ax = along(a, axis)
    return into(out, op(in_dtype(x, dtype), axis=ax, reverse=False))


@face("numpy.cumsum", method="cumsum", samples=("np.cumsum(x)", "np.cumsum(x, axis=1)", "x.cumsum()"))
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(cumsum_, a, axis, dtype, out)


@face("numpy.cumprod", method="cumprod", samples=("np.cumprod(x)", "np.cumprod(x, axis=0)"))
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return _running(cumprod_, a, axis, dtype, out)
