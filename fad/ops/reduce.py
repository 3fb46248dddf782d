"""Reductions and scans along axes. `axes` is a sorted tuple of non-negative axes; none are kept."""
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.types import INT, Type, type_of
from .kinds import Linear, shape_of


def without(shape: tuple, axes: tuple) -> tuple:
    return tuple(n for k, n in enumerate(shape) if k not in axes)


def put_back(y: Any, x: Any, axes: tuple) -> Any:
    """y, whose axes were reduced away, with extent 1 in their places, ready to broadcast against x."""
    return registry["reshape"](y, *[1 if k in axes else n for k, n in enumerate(shape_of(x))])


def sum_dtype(x: Any) -> np.dtype:
    dtype = type_of(x).dtype
    return INT if dtype.kind in "b" or (dtype.kind == "i" and dtype.itemsize < 8) else dtype


def _infer_sum(x: Any, axes: tuple) -> Type:
    return Type(sum_dtype(x), without(shape_of(x), axes))


def _sum_transpose(g: Any, xs: tuple, axes: tuple) -> Any:
    return registry["broadcast_to"](put_back(g, xs[0], axes), *shape_of(xs[0]))


sum = Op("sum", lambda x, axes: np.sum(x, axis=axes), _infer_sum, kind="reduce", derivative=Linear(_sum_transpose))
