"""Ranges: numbers at even steps, and powers of a base at them."""
import math
import operator
from typing import Any

import numpy as np

from ...util.array import AnyArray, DTypeLike
from ..graph.inplace import number, wanted
from ..tensors.dtypes import as_dtype, on_cpu
from ..tensors.errors import c_name, refuse_if, scalar_name
from ..tensors.promotion import default, default_complex
from ..tensors.tensor import Tensor, wrap
from .creation import creating, leaf, numbers, ranks
from .registry import function


def _in_whole(dtype: DTypeLike, *given: object) -> list:
    """Numbers without their fractions, where whole numbers are to be made from them."""
    is_whole = dtype is not None and dtype.kind in "iu"
    return [math.trunc(x) if is_whole and math.isfinite(x) else x for x in given]


_NO_END: Any = object()


@creating
def arange(start: object = 0, end: object = _NO_END, step: object = 1, *, dtype: DTypeLike) -> np.ndarray:
    """start, start + step, ... below end."""
    start, end = (0, start) if end is _NO_END or end is None else (start, end)
    refuse_if(dtype is not None and dtype.kind == "b", '"arange_cpu" not implemented for \'Bool\'', NotImplementedError)
    low, high, by = numbers("arange", start=start, end=end, step=step)
    refuse_if(not by, "step must be nonzero")
    refuse_if(not (math.isfinite(low) and math.isfinite(high)), f"unsupported range: {low} -> {high}")
    refuse_if((high - low) * by < 0, "upper bound and lower bound inconsistent with step sign")
    if dtype is not None and dtype.kind in "iu":
        return _whole_range(low, high, by, dtype)
    a = np.arange(low, high, by)
    return a.astype(dtype or (default.dtype if a.dtype.kind == "f" else np.dtype(np.int64)))


def _whole_range(low: object, high: object, by: object, dtype: np.dtype) -> np.ndarray:
    """start + k * step without their fractions; how many k there are, only 64 bits say without the fractions."""
    first, last, step = _in_whole(dtype, low, high, by)
    if dtype == np.int64:
        low, high, by = first, last, step
        refuse_if(not by, "step must be nonzero", ValueError)
    return (first + step * np.arange(math.ceil((high - low) / by))).astype(dtype)


@function(method=False)
@on_cpu
def range(start: Any, end: Any, step: Any = 1, *, dtype: DTypeLike = None, requires_grad: bool = False) -> Tensor:
    """Deprecated: start, start + step, ... up to and including end, in the default dtype; see arange."""
    low, high, by = numbers("range", start=start, end=end, step=step)
    count = int(math.floor((high - low) / by)) + 1
    return leaf((low + by * np.arange(count)).astype(default.dtype if dtype is None else as_dtype(dtype)),
                requires_grad)


def _steps(steps: object) -> int:
    refuse_if(steps < 0, "number of steps must be non-negative")
    return operator.index(steps)


def _of_bounds(dtype: Any, *bounds: Any) -> np.dtype:
    inferred = default_complex() if any(isinstance(b, complex) for b in bounds) else default.dtype
    if inferred.kind == "c" and dtype is not None and dtype.kind != "c":
        raise RuntimeError(f"torch.linspace(): inferred dtype {c_name(inferred)} can't be safely cast to passed dtype "
                           f"{scalar_name(dtype)}")
    return dtype or inferred


def _bounds(dtype: DTypeLike, *bounds: object) -> list:
    """The bounds; integers between them have no derivative."""
    is_whole = dtype is not None and dtype.kind not in "fc"
    return [b.detach() if is_whole and isinstance(b, Tensor) else b for b in bounds]


def _between(start: object, end: object, steps: object, dtype: DTypeLike) -> Any:
    """Evenly spaced numbers between bounds that require a gradient."""
    ranks(start, end)
    share = np.linspace(0.0, 1.0, _steps(steps)).astype(_of_bounds(dtype))
    return wrap(1.0 - share) * start + wrap(share) * end


@creating
def linspace(start: object, end: object, steps: int, *, dtype: DTypeLike) -> Any:
    """Evenly spaced numbers from start to end."""
    start, end = _bounds(dtype, start, end)
    if wanted(start) or wanted(end):
        return _between(start, end, steps, dtype)
    low, high = _in_whole(dtype, *numbers("linspace", start=start, end=end))
    return np.linspace(low, high, _steps(steps)).astype(_of_bounds(dtype, low, high))


@creating
def logspace(start: object, end: object, steps: int, base: object = 10.0, *, dtype: DTypeLike) -> AnyArray:
    """Powers of the base at evenly spaced exponents."""
    base = number(base, "logspace", "base")
    start, end = _bounds(dtype, start, end)
    if wanted(start) or wanted(end):
        return base ** _between(start, end, steps, dtype)
    low, high = _in_whole(dtype, *numbers("logspace", start=start, end=end))
    return np.logspace(low, high, _steps(steps), base=base).astype(_of_bounds(dtype, low, high, base))
