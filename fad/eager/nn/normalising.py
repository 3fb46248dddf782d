"""Normalisations: to mean 0 and variance 1 over the batch, the last dimensions, groups of channels; and by norms."""
import math

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes
from ..composite import Composite, sample
from ..errors import face
from ..normalisation import batch_norm as batch_norm_step
from ..normalisation import layer_norm as layer_norm_step
from ..registry import delivered, noting
from ..tensor import Tensor, raw
from ..together import step
from .functional import sizes


def _ends_in(input: object, shape: tuple) -> None:
    """Raise unless the last dimensions have this shape."""
    if isinstance(input, Tensor) and not shape:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
                           "element, but got normalized_shape = []")
    if isinstance(input, Tensor) and tuple(input.shape[-len(shape):]) != shape:
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[{', '.join(['*', *map(str, shape)])}], but got input of size{list(input.shape)}")


def layer_norm(input: object, normalized_shape: object, weight: object = None, bias: object = None,
               eps: float = 1e-5) -> AnyArray:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""
    if isinstance(normalized_shape, int):
        raise TypeError("layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not int")
    shape = tuple(normalized_shape)
    _ends_in(input, shape)
    axes = tuple(range(len(input.shape) - len(shape), len(input.shape)))
    return noting(layer_norm_step(input, weight, bias, axes=axes, shape=shape, eps=eps), normalized_shape=shape)


def batch_norm(input: object, running_mean: object, running_var: object, weight: object = None, bias: object = None,
               training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> AnyArray:
    """Mean 0 and variance 1 in every channel, over the batch in training, by the running statistics else."""
    axes = tuple(k for k in range(len(input.shape)) if k != 1)
    for name, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is not None and isinstance(input, Tensor) and math.prod(p.shape) != input.shape[1]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {math.prod(p.shape)}")
    wide = [n if k == 1 else 1 for k, n in enumerate(input.shape)]
    if training:
        count = math.prod(sizes(input)[k] for k in axes)
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        if running_mean is not None and keeps(input, running_mean):
            x = raw(input)
            follow(running_mean, face("numpy.mean", x, axis=axes), raw(momentum), 1.0)
            follow(running_var, face("numpy.var", x, axis=axes), raw(momentum), count / (count - 1))
        return noting(batch_norm_step(input, weight, bias, axes=axes, shape=tuple(wide), eps=eps), training=True)
    return noting(_by_known(input, running_mean, running_var, weight, bias, wide, eps), training=False)


@step("NativeBatchNormBackward0", "input weight bias", "input weight running_mean running_var", "eps")
def _by_known(input: Tensor, running_mean: Tensor, running_var: Tensor, weight: "Tensor | None", bias: "Tensor | None",
              wide: list, eps: float) -> Tensor:
    """Scaled and shifted by statistics that are known."""
    y = (input - op["reshape"](running_mean, *wide)) / op["sqrt"](op["reshape"](running_var, *wide) + eps)
    y = y if weight is None else y * op["reshape"](weight, *wide)
    return y if bias is None else y + op["reshape"](bias, *wide)


def keeps(input: object, running: ArrayOrNumber) -> bool:
    """Whether running statistics follow this input: those of a tensor, and in a program those that are part of it."""
    return isinstance(input, Tensor) or getattr(running, "__fad_level__", 0) == 2


def follow(running: object, new: AnyArray, momentum: ArrayOrNumber, scale: float) -> None:
    """Move running statistics towards new ones, in place."""
    a = raw(running)
    a[...] = (1 - momentum) * a + momentum * scale * new
    if isinstance(running, Tensor):
        running._vc[0] += 1


def group_norm(input: object, num_groups: int, weight: "Tensor | None" = None, bias: "Tensor | None" = None,
               eps: float = 1e-5) -> AnyArray:
    """Mean 0 and variance 1 in groups of channels."""
    shape = sizes(input)
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups:
        raise RuntimeError(f"Expected number of channels in input to be divisible by num_groups, but got input of "
                           f"shape {list(shape)} and num_groups={num_groups}")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != (shape[1],):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but "
                               f"got {name} of shape {list(p.shape)} and input of shape {list(shape)}")
    y = group_norm_step(input, weight, bias, num_groups=num_groups, eps=eps)
    return noting(y, N=shape[0], C=shape[1], HxW=math.prod(shape[2:]), group=num_groups)


def _in_groups(x: AnyArray, num_groups: int) -> "tuple[AnyArray, dict]":
    """x by groups of channels, and what normalises it there."""
    n, channels, *rest = sizes(x)
    options = {"axes": (2, 3), "shape": (1, num_groups, channels // num_groups, 1)}
    return op["reshape"](x, n, num_groups, channels // num_groups, math.prod(rest)), options


def _grouped_written(x: Tensor, weight: "Tensor | None", bias: "Tensor | None", num_groups: int, eps: float) -> Tensor:
    grouped, options = _in_groups(x, num_groups)
    return op["reshape"](batch_norm_step.written(grouped, weight, bias, eps=eps, **options), *sizes(x))


def _grouped_run(x: np.ndarray, weight: "AnyArray | None", bias: "AnyArray | None", num_groups: int,
                 eps: float) -> np.ndarray:
    grouped, options = _in_groups(x, num_groups)
    return batch_norm_step.run(grouped, weight, bias, eps=eps, **options).reshape(x.shape)


def _grouped_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, num_groups: int, eps: float) -> tuple:
    x, weight, bias = xs
    (g, _), (grouped, options) = _in_groups(gs[0], num_groups), _in_groups(x, num_groups)
    gx, *others = batch_norm_step.pullback((g,), ys, (grouped, weight, bias), needs, eps=eps, **options)
    return gx if gx is None else op["reshape"](gx, *sizes(x)), *others


group_norm_step = Composite("group_norm", _grouped_written, _grouped_pullback, _grouped_run,
                            node="NativeGroupNormBackward0", edges=3, inputs=("input", "weight", "bias"),
                            samples=(sample((2, 4, 3), (4,), (4,), num_groups=2, eps=1e-5),
                                     sample((3, 2), None, None, num_groups=1, eps=1e-3)))


def normalize(input: AnyArray, p: float = 2.0, dim: Axes = 1, eps: float = 1e-12, out: object = None) -> Tensor:
    """x, divided by its norm along a dimension (or several)."""
    if isinstance(input, Tensor):
        return delivered(input / input.norm(p, dim, True).clamp_min(eps), out, "normalize")  # type: ignore[attr-defined]
    size = face("numpy.sum", abs(input) ** p, axis=dim, keepdims=True) ** (1.0 / p)
    return input / op["maximum"](size, eps)
