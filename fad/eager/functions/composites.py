"""Composites of arithmetic, statistics and linear algebra; n is the number of elements that are averaged."""
import math
from collections.abc import Callable

import numpy as np

from ...ops.override import BY_NAME
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..tensors.errors import override
from .composite import Composite, elementwise, of_one, quietly

_sum = op["sum"]


def wide(y: AnyArray, x: ArrayOrNumber, axes: tuple) -> AnyArray:
    """y, reduced along axes (kept or not), in a shape that broadcasts against x."""
    if len(y.shape) == len(x.shape):
        return y
    return op["reshape"](y, *[1 if k in axes else n for k, n in enumerate(x.shape)])


def count(x: AnyArray, axes: tuple) -> int:
    """The number of elements along axes."""
    return math.prod([x.shape[k] for k in axes])


def kept_sum(x: AnyArray, axes: tuple) -> ArrayOrNumber:
    """The sum along axes, which stay with extent 1."""
    return wide(_sum(x, axes=axes), x, axes)


# -- mean, variance ----------------------------------------------------------------------------------------------------


mean = of_one(
    "mean", lambda x, axes, keep: override("numpy.mean", x, axis=axes, keepdims=keep),
    lambda g, y, x, axes, keep: op["broadcast_to"](wide(g / (count(x, axes) or math.nan), x, axes), *x.shape),
    quietly(lambda x, axes, keep: np.add.reduce(x, axis=axes, keepdims=keep) / (count(x, axes) or math.nan)),
    node="MeanBackward0", kinds="fc")


def centred(x: AnyArray, axes: tuple) -> AnyArray:
    return x - kept_sum(x, axes) / count(x, axes)


def _free(x: AnyArray, axes: tuple, correction: int) -> float:
    """Degrees of freedom; nan-making 0 where there are none left."""
    return max(count(x, axes) - correction, 0) or math.nan


def _var_run(x: np.ndarray, axes: tuple, keep: bool, correction: int) -> AnyArray:
    d = np.asarray(x - np.add.reduce(x, axis=axes, keepdims=True) / (count(x, axes) or math.nan))
    np.multiply(d, d, out=d)
    return np.add.reduce(d, axis=axes, keepdims=keep) / _free(x, axes, correction)


def _share(g: AnyArray, y: AnyArray) -> AnyArray:
    """g / y; where y is 0, of elements that all are 0 or equal, the subgradient 0."""
    none = y == 0
    return op["where"](none, 0.0, g / op["where"](none, 1.0, y))


def _spread(name: str, run: Callable, slope: Callable) -> Composite:
    """slope(g, y): what is carried to the centred elements, but for the degrees of freedom."""
    override = BY_NAME[f"numpy.{name}"]
    return of_one(name, lambda x, axes, keep, correction: override.call(x, axis=axes, ddof=correction, keepdims=keep),
                  lambda g, y, x, axes, keep, correction: wide(slope(g, y) / _free(x, axes, correction), x, axes)
                  * centred(x, axes), quietly(run), node=f"{name.capitalize()}Backward0")


var = _spread("var", _var_run, lambda g, y: g * 2.0)
std = _spread("std", lambda x, **params: np.sqrt(_var_run(x, **params)), _share)

# -- softmax and its kin -----------------------------------------------------------------------------------------------


def _log_sum(x: np.ndarray, axes: tuple) -> np.ndarray:
    top = np.maximum.reduce(x, axes, None, None, True, -np.inf)
    total = np.add.reduce(np.exp(x - top), axes, None, None, True)
    if not math.isfinite(np.add.reduce(total, None)):               # of infinities
        top = np.where(np.isfinite(top), top, 0.0).astype(x.dtype)
        total = np.add.reduce(np.exp(x - top), axes, None, None, True)
    return np.log(total) + top


def _logsumexp_slope(g: AnyArray, y: AnyArray, x: AnyArray, axes: tuple, keep: bool) -> AnyArray:
    y = wide(y, x, axes)
    return wide(g, x, axes) * op["exp"](x - op["where"](y == -math.inf, 0.0, y))


logsumexp = of_one("logsumexp", lambda x, axes, keep: override("scipy.special.logsumexp", x, axis=axes, keepdims=keep),
                   _logsumexp_slope,
                   quietly(lambda x, axes, keep: _log_sum(x, axes) if keep else np.squeeze(_log_sum(x, axes), axes)),
                   node="LogsumexpBackward0")


def _softmax_run(x: np.ndarray, axis: int) -> np.ndarray:
    e = x - np.maximum.reduce(x, axis, None, None, True, -np.inf)
    np.exp(e, e)
    e /= np.add.reduce(e, axis, None, None, True)
    return e


softmax = of_one("softmax", lambda x, axis: override("scipy.special.softmax", x, axis=axis),
                 lambda g, y, x, axis: y * (g - kept_sum(g * y, (axis,))), quietly(_softmax_run),
                 node="SoftmaxBackward0")


def _log_softmax_run(x: np.ndarray, axis: int) -> np.ndarray:
    y = x - np.maximum.reduce(x, axis, None, None, True, -np.inf)
    y -= np.log(np.add.reduce(np.exp(y), axis, None, None, True))
    return y


log_softmax = of_one("log_softmax",
                     lambda x, axis: x - override("scipy.special.logsumexp", x, axis=axis, keepdims=True),
                     lambda g, y, x, axis: g - op["exp"](y) * kept_sum(g, (axis,)), _log_softmax_run,
                     node="LogSoftmaxBackward0")

# -- powers and sums of products ---------------------------------------------------------------------------------------


# nothing is multiplied: the cotangent may be infinite
relu = of_one("relu", lambda x: op["where"](x > 0, x, 0.0), lambda g, y, x: op["where"](y <= 0, 0.0, g),
              lambda x: np.maximum(x, x.dtype.type(0)), node="ReluBackward0")
rsqrt = elementwise("rsqrt", lambda x: 1.0 / op["sqrt"](x), lambda y, x: y * y * y * -0.5,
                    quietly(lambda x: 1.0 / np.sqrt(x)), node="RsqrtBackward0")


def _norm_written(x: AnyArray, axes: tuple, keep: bool) -> ArrayOrNumber:
    size = op["abs"](x)
    squares = _sum(size * size, axes=axes)
    none = squares == 0
    y = op["where"](none, 0.0, op["sqrt"](op["where"](none, 1.0, squares)))
    return wide(y, x, axes) if keep else y


norm = of_one("norm", _norm_written, lambda g, y, x, axes, keep: wide(_share(g, y), x, axes) * x,
              node="LinalgVectorNormBackward0")

_MATRICES = ("ij", "jk", "ik")


def _addmm_written(x: AnyArray, a: AnyArray, b: AnyArray, beta: float, alpha: float) -> AnyArray:
    product = op["contract"](a, b, labels=_MATRICES)
    x = x if beta == 1 else x * beta if beta != 0 else op["where"](False, x, 0)         # nan * 0 is not 0
    return x + (product if alpha == 1 else product * alpha)


def _addmm_run(x: np.ndarray, a: np.ndarray, b: np.ndarray, beta: float, alpha: float) -> np.ndarray:
    y = np.dot(a, b)
    if alpha != 1:
        y *= alpha
    if beta != 0:                                                # nan * 0 is not 0
        y += x if beta == 1 else x * beta
    return y


def _addmm_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, beta: float, alpha: float) -> tuple:
    g, (x, a, b) = gs[0], xs
    scaled = g if alpha == 1 else g * alpha
    if type(g) is np.ndarray:
        gx = np.add.reduce(g, 0) if needs[0] and len(x.shape) == 1 and x.shape == g.shape[1:] else g
        return (None if not needs[0] else gx if beta == 1 else gx * beta,
                np.dot(scaled, b.T) if needs[1] else None, np.dot(a.T, scaled) if needs[2] else None)
    gx = None if not needs[0] else g if beta == 1 else g * beta
    return (gx, op["contract"](scaled, b, labels=("ik", "jk", "ij")) if needs[1] else None,
            op["contract"](a, scaled, labels=("ij", "ik", "jk")) if needs[2] else None)


addmm = Composite("addmm", _addmm_written, _addmm_pullback, _addmm_run, node="AddmmBackward0", edges=3,
                  inputs=("self", "mat1", "mat2"))

# -- element by element ------------------------------------------------------------------------------------------------

frac = elementwise("frac", lambda x: x - op["trunc"](x), lambda y, x: 1.0, node="FracBackward0")


def _finite(x: AnyArray, nan: float, high: float, low: float) -> AnyArray:
    y = op["where"](op["isnan"](x), nan, x)
    y = op["where"](y == math.inf, high, y)
    return op["where"](y == -math.inf, low, y)


nan_to_num = elementwise("nan_to_num", _finite, lambda y, x, **limits: op["cast"](op["isfinite"](x), dtype=y.dtype),
                         node="NanToNumBackward0")

# -- rearranged --------------------------------------------------------------------------------------------------------


trace = of_one("trace", lambda x: override("numpy.trace", x), lambda g, y, x: g * np.eye(*x.shape, dtype=x.dtype),
               lambda x: np.trace(x), node="TraceBackward0")


def _stack_written(*xs: AnyArray, axis: int) -> AnyArray:
    return op["concatenate"](*[op["reshape"](x, *x.shape[:axis], 1, *x.shape[axis:]) for x in xs], axis=axis)


def _stack_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int) -> tuple:
    rest = (":",) * (len(gs[0].shape) - axis - 1)
    return tuple([op["index"](gs[0], k, spec=(":",) * axis + ("i",) + rest, at=0) if need else None
                  for k, need in enumerate(needs)])


stack = Composite("stack", _stack_written, _stack_pullback, node="StackBackward0", edges=None, inputs=tuple("abc"))


def _repeat_parts(x: AnyArray, sizes: tuple) -> "tuple[tuple, tuple]":
    """x's extents behind new ones of 1 up to as many as sizes; the shape that has each extent after its count."""
    shape = (1,) * (len(sizes) - len(x.shape)) + tuple(x.shape)
    return shape, tuple([k for pair in zip(sizes, shape) for k in pair])


def _repeat_written(x: AnyArray, sizes: tuple) -> AnyArray:
    shape, split = _repeat_parts(x, sizes)
    wide = op["broadcast_to"](op["reshape"](x, *[k for n in shape for k in (1, n)]), *split)
    return op["reshape"](wide, *[m * n for m, n in zip(sizes, shape)])


def _repeat_slope(g: AnyArray, y: AnyArray, x: AnyArray, sizes: tuple) -> AnyArray:
    _, split = _repeat_parts(x, sizes)
    return op["reshape"](_sum(op["reshape"](g, *split), axes=tuple(range(0, len(split), 2))), *x.shape)


repeat = of_one("repeat", _repeat_written, _repeat_slope, node="RepeatBackward0", kinds="fc")
