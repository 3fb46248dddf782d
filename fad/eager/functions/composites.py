"""Composites of arithmetic, statistics and linear algebra; n is the number of elements that are averaged."""
import math
from collections.abc import Callable

import numpy as np

from ...ops.face import BY_NAME
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..tensors.errors import face
from .composite import Composite, elementwise, quietly

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


def _kept(y: AnyArray, x: AnyArray, axes: tuple, keep: bool) -> AnyArray:
    return wide(y, x, axes) if keep else y


# -- mean, variance ----------------------------------------------------------------------------------------------------


def _mean_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, keep: bool) -> tuple:
    x = xs[0]
    g = gs[0] / (count(x, axes) or math.nan)
    return (op["broadcast_to"](wide(g, x, axes), *x.shape),)


mean = Composite(
    "mean",
    lambda x, axes, keep: face("numpy.mean", x, axis=axes, keepdims=keep),
    _mean_pullback,
    quietly(lambda x, axes, keep: np.add.reduce(x, axis=axes, keepdims=keep) / (count(x, axes) or math.nan)),
    node="MeanBackward0",
    kinds="fc",
)


def centred(x: AnyArray, axes: tuple) -> AnyArray:
    return x - kept_sum(x, axes) / count(x, axes)


def _free(x: AnyArray, axes: tuple, correction: int) -> float:
    """Degrees of freedom; nan-making 0 where there are none left."""
    return max(count(x, axes) - correction, 0) or math.nan


def _var_run(x: np.ndarray, axes: tuple, keep: bool, correction: int) -> AnyArray:
    d = np.asarray(x - np.add.reduce(x, axis=axes, keepdims=True) / (count(x, axes) or math.nan))
    np.multiply(d, d, out=d)
    return np.add.reduce(d, axis=axes, keepdims=keep) / _free(x, axes, correction)


def _var_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, keep: bool, correction: int) -> tuple:
    x = xs[0]
    return (wide(gs[0] * (2.0 / _free(x, axes, correction)), x, axes) * centred(x, axes),)


def _std_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, keep: bool, correction: int) -> tuple:
    x, y = xs[0], ys[0]
    none = y == 0                                              # all equal: the subgradient 0
    share = op["where"](none, 0.0, gs[0] / op["where"](none, 1.0, y)) / _free(x, axes, correction)
    return (wide(share, x, axes) * centred(x, axes),)


def _spread(name: str, run: Callable, pullback: Callable) -> Composite:
    face = BY_NAME[f"numpy.{name}"]
    return Composite(name, lambda x, axes, keep, correction: face.call(x, axis=axes, ddof=correction, keepdims=keep),
                     pullback, quietly(run), node=f"{name.capitalize()}Backward0")


var = _spread("var", _var_run, _var_pullback)
std = _spread("std", lambda x, **params: np.sqrt(_var_run(x, **params)), _std_pullback)

# -- softmax and its kin -----------------------------------------------------------------------------------------------


def _log_sum(x: np.ndarray, axes: tuple) -> np.ndarray:
    top = np.maximum.reduce(x, axes, None, None, True, -np.inf)
    total = np.add.reduce(np.exp(x - top), axes, None, None, True)
    if not math.isfinite(np.add.reduce(total, None)):               # of infinities
        top = np.where(np.isfinite(top), top, 0.0).astype(x.dtype)
        total = np.add.reduce(np.exp(x - top), axes, None, None, True)
    return np.log(total) + top


def _logsumexp_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, keep: bool) -> tuple:
    x, y = xs[0], wide(ys[0], xs[0], axes)
    return (wide(gs[0], x, axes) * op["exp"](x - op["where"](y == -math.inf, 0.0, y)),)


logsumexp = Composite("logsumexp", lambda x, axes, keep: face("scipy.special.logsumexp", x, axis=axes, keepdims=keep),
                      _logsumexp_pullback,
                      quietly(lambda x, axes, keep: _log_sum(x, axes) if keep else np.squeeze(_log_sum(x, axes), axes)),
                      node="LogsumexpBackward0")


def _softmax_run(x: np.ndarray, axis: int) -> np.ndarray:
    e = x - np.maximum.reduce(x, axis, None, None, True, -np.inf)
    np.exp(e, e)
    e /= np.add.reduce(e, axis, None, None, True)
    return e


def _softmax_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int) -> tuple:
    p = gs[0] * ys[0]
    return (p - ys[0] * kept_sum(p, (axis,)),)


softmax = Composite("softmax", lambda x, axis: face("scipy.special.softmax", x, axis=axis), _softmax_pullback,
                    quietly(_softmax_run), node="SoftmaxBackward0")


def _log_softmax_run(x: np.ndarray, axis: int) -> np.ndarray:
    y = x - np.maximum.reduce(x, axis, None, None, True, -np.inf)
    y -= np.log(np.add.reduce(np.exp(y), axis, None, None, True))
    return y


def _log_softmax_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int) -> tuple:
    return (gs[0] - op["exp"](ys[0]) * kept_sum(gs[0], (axis,)),)


log_softmax = Composite("log_softmax", lambda x, axis: x - face("scipy.special.logsumexp", x, axis=axis, keepdims=True),
                        _log_softmax_pullback, _log_softmax_run, node="LogSoftmaxBackward0")

# -- powers and sums of products ---------------------------------------------------------------------------------------


# nothing is multiplied: the cotangent may be infinite
relu = Composite("relu", lambda x: op["where"](x > 0, x, 0.0),
                 lambda gs, ys, xs, needs: (op["where"](ys[0] <= 0, 0.0, gs[0]),),
                 lambda x: np.maximum(x, x.dtype.type(0)), node="ReluBackward0")
rsqrt = elementwise("rsqrt", lambda x: 1.0 / op["sqrt"](x), lambda y, x: y * y * y * -0.5,
                    quietly(lambda x: 1.0 / np.sqrt(x)), node="RsqrtBackward0")


def _norm_written(x: AnyArray, axes: tuple, keep: bool) -> ArrayOrNumber:
    size = op["abs"](x)
    squares = _sum(size * size, axes=axes)
    none = squares == 0
    return _kept(op["where"](none, 0.0, op["sqrt"](op["where"](none, 1.0, squares))), x, axes, keep)


def _norm_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, keep: bool) -> tuple:
    x, y = xs[0], ys[0]
    none = y == 0                                              # of the zero vector: the subgradient 0
    return (wide(op["where"](none, 0.0, gs[0] / op["where"](none, 1.0, y)), x, axes) * x,)


norm = Composite("norm", _norm_written, _norm_pullback, node="LinalgVectorNormBackward0")

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


trace = Composite("trace", lambda x: face("numpy.trace", x),
                  lambda gs, ys, xs, needs: (gs[0] * np.eye(*xs[0].shape, dtype=xs[0].dtype),), lambda x: np.trace(x),
                  node="TraceBackward0")


def _cat_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axis: int) -> tuple:
    g, start, out = gs[0], 0, []
    for x, need in zip(xs, needs):
        n = x.shape[axis]
        out.append(op["slice_axis"](g, axis, start, n) if need else None)
        start += n
    return tuple(out)


cat = Composite("cat", lambda *xs, axis: op["concatenate"](*xs, axis=axis), _cat_pullback, node="CatBackward0",
                edges=None, inputs=tuple("abc"))


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


def _repeat_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, sizes: tuple) -> tuple:
    _, split = _repeat_parts(xs[0], sizes)
    g = _sum(op["reshape"](gs[0], *split), axes=tuple(range(0, len(split), 2)))
    return (op["reshape"](g, *xs[0].shape),)


repeat = Composite("repeat", _repeat_written, _repeat_pullback, node="RepeatBackward0", kinds="fc")
contiguous = Composite("contiguous", lambda x: op["reshape"](op["reshape"](x, count(x, range(len(x.shape)))), *x.shape),
                       lambda gs, ys, xs, needs: (gs[0],),
                       lambda x: np.array(x, order="C"), node="CloneBackward0", kinds="fc")
