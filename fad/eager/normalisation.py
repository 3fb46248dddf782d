"""Composites of normalisation: a sample with mean 0 and variance 1, scaled by a weight and moved by a bias.

    y = (x - mean) / sqrt(variance + eps) * weight + bias

layer_norm and batch_norm are this formula along different axes.
"""

import numpy as np

from ..ops.table import TABLE as op
from ..util.array import AnyArray, ArrayOrNumber
from .composite import Composite, sample
from .composites import centred, count, kept_sum


def _normalized_written(x: AnyArray, weight: "AnyArray | None", bias: "AnyArray | None", axes: tuple, shape: tuple,
                        eps: float) -> AnyArray:
    d = centred(x, axes)
    y = d / op["sqrt"](kept_sum(d * d, axes) / count(x, axes) + eps)
    y = y if weight is None else y * op["reshape"](weight, *shape)
    return y if bias is None else y + op["reshape"](bias, *shape)


def _standardised(x: np.ndarray, axes: tuple, eps: float) -> tuple:
    """x with mean 0 and variance 1, by how much it was scaled, and over how many elements."""
    n = count(x, axes)
    mean = np.add.reduce(x, axes, None, None, True)
    mean /= n
    d = x - mean
    scale = np.add.reduce(d * d, axes, None, None, True)
    scale /= n
    scale += eps
    np.sqrt(scale, scale)
    d /= scale
    return d, scale, n


def _normalized_run(x: np.ndarray, weight: "AnyArray | None", bias: "AnyArray | None", axes: tuple, shape: tuple,
                    eps: float) -> np.ndarray:
    y = _standardised(x, axes, eps)[0]
    if weight is not None:
        y *= weight.reshape(shape)
    if bias is not None:
        y += bias.reshape(shape)
    return y


def _normalized_now(g: np.ndarray, x: np.ndarray, weight: "AnyArray | None", bias: "AnyArray | None", needs: tuple,
                    axes: tuple, shape: tuple, eps: float) -> tuple:
    """The pullback on arrays, with as few of them as there can be."""
    d, scale, n = _standardised(x, axes, eps)
    gw = _as_weight(g * d, weight, shape) if needs[1] else None
    gx = None
    if needs[0]:
        gx = g.copy() if weight is None else g * weight.reshape(shape)
        mean, along = np.add.reduce(gx, axes, None, None, True), np.add.reduce(gx * d, axes, None, None, True)
        mean /= n
        along /= n
        d *= along
        gx -= mean
        gx -= d
        gx /= scale
    return gx, gw, _as_weight(g, bias, shape) if needs[2] else None


def _normalized_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, axes: tuple, shape: tuple, eps: float) -> tuple:
    g, (x, weight, bias) = gs[0], xs
    if type(g) is np.ndarray and type(x) is np.ndarray and g.dtype == x.dtype:
        return _normalized_now(g, x, weight, bias, needs, axes, shape, eps)
    n = count(x, axes)
    d = centred(x, axes)
    scale = 1.0 / op["sqrt"](kept_sum(d * d, axes) / n + eps)
    d = d * scale
    gx = None
    if needs[0]:
        gd = g if weight is None else g * op["reshape"](weight, *shape)
        gx = scale * (gd - kept_sum(gd, axes) / n - d * (kept_sum(gd * d, axes) / n))
    return gx, _as_weight(g * d, weight, shape) if needs[1] else None, _as_weight(g, bias, shape) if needs[2] else None


def _as_weight(g: ArrayOrNumber, weight: object, shape: tuple) -> AnyArray:
    """g summed over what the weight, seen in this shape, was broadcast along."""
    full = (1,) * (len(g.shape) - len(shape)) + tuple(shape)
    axes = tuple([k for k, n in enumerate(full) if n == 1])
    if type(g) is np.ndarray:
        return (np.add.reduce(g, axes) if axes else g).reshape(weight.shape)
    return op["reshape"](op["sum"](g, axes=axes) if axes else g, *weight.shape)


def _normalized_samples(name: str) -> tuple:
    if name == "layer_norm":
        return (sample((3, 4), (4,), (4,), axes=(1,), shape=(4,), eps=1e-5),
                sample((3, 4), None, None, axes=(0, 1), shape=(3, 4), eps=1e-3))
    return (sample((5, 3, 2), (3,), (3,), axes=(0, 2), shape=(1, 3, 1), eps=1e-5),)


def _normalized(name: str, node: str, saves: tuple = ()) -> Composite:
    return Composite(name, _normalized_written, _normalized_pullback, _normalized_run, node=node, edges=3,
                     inputs=("input", "weight", "bias"), saves=saves, samples=_normalized_samples(name))


layer_norm, batch_norm = (_normalized("layer_norm", "NativeLayerNormBackward0", (2,)),
                          _normalized("batch_norm", "NativeBatchNormBackward0"))
