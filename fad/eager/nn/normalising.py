"""Normalisations: to mean 0 and variance 1 over the batch, the last dimensions, groups of channels; and by norms."""
import math

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, Axes
from ..functions.composite import Composite
from ..functions.composites import centred, count, kept_sum
from ..functions.registry import delivered, named
from ..graph.single_node import step
from ..tensors.errors import override, refuse_if
from ..tensors.promotion import default
from ..tensors.tensor import Tensor, raw, wrap
from . import init
from .functional import sizes
from .module import Module, Parameter, typed


def _normalized_written(x: AnyArray, weight: "AnyArray | None", bias: "AnyArray | None", axes: tuple, shape: tuple,
                        eps: float) -> AnyArray:
    d = centred(x, axes)
    return _shifted(d / op["sqrt"](kept_sum(d * d, axes) / count(x, axes) + eps), weight, bias, shape)


def _shifted(y: AnyArray, weight: "AnyArray | None", bias: "AnyArray | None", shape: tuple) -> AnyArray:
    y = y if weight is None else y * weight.reshape(shape)
    return y if bias is None else y + bias.reshape(shape)


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


def _normalized(name: str, node: str, saves: tuple = ()) -> Composite:
    return Composite(name, _normalized_written, _normalized_pullback,
                     lambda x, weight, bias, axes, shape, eps: _shifted(_standardised(x, axes, eps)[0], weight, bias,
                                                                        shape), node=node, edges=3,
                     inputs=("input", "weight", "bias"), saves=saves)


layer_norm_step, batch_norm_step = (_normalized("layer_norm", "NativeLayerNormBackward0", (2,)),
                          _normalized("batch_norm", "NativeBatchNormBackward0"))


def _ends_in(input: object, shape: tuple) -> None:
    """Raise unless the last dimensions have this shape."""
    refuse_if(isinstance(input, Tensor) and not shape, "Expected normalized_shape to be at least 1-dimensional, i.e., "
              "containing at least one element, but got normalized_shape = []")
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
    return named(layer_norm_step(input, weight, bias, axes=axes, shape=shape, eps=eps), normalized_shape=shape)


def batch_norm(input: object, running_mean: object, running_var: object, weight: object = None, bias: object = None,
               training: bool = False, momentum: float = 0.1, eps: float = 1e-5) -> AnyArray:
    """Mean 0 and variance 1 in every channel, over the batch in training, by the running statistics else."""
    axes = tuple(k for k in range(len(input.shape)) if k != 1)
    for name, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is not None and isinstance(input, Tensor) and math.prod(p.shape) != input.shape[1]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {math.prod(p.shape)}")
    wide = [n if k == 1 else 1 for k, n in enumerate(input.shape)]
    refuse_if(eps < 0 or training and not eps, "batch_norm eps must be "
              f"{'positive during training' if training else 'non-negative'}, but got {eps}", ValueError)
    if training:
        count = math.prod(sizes(input)[k] for k in axes)
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        if count and running_mean is not None and keeps(input, running_mean):
            x = raw(input)
            follow(running_mean, override("numpy.mean", x, axis=axes), raw(momentum), 1.0)
            follow(running_var, override("numpy.var", x, axis=axes), raw(momentum), count / (count - 1))
        return named(batch_norm_step(input, weight, bias, axes=axes, shape=tuple(wide), eps=eps), training=True)
    return named(_by_known(input, running_mean, running_var, weight, bias, wide, eps), training=False)


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
    refuse_if(len(shape) < 2, f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    refuse_if(shape[1] % num_groups, "Expected number of channels in input to be divisible by num_groups, but got "
              f"input of shape {list(shape)} and num_groups={num_groups}")
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and tuple(p.shape) != (shape[1],):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of channels in input, but "
                               f"got {name} of shape {list(p.shape)} and input of shape {list(shape)}")
    y = group_norm_step(input, weight, bias, num_groups=num_groups, eps=eps)
    return named(y, N=shape[0], C=shape[1], HxW=math.prod(shape[2:]), group=num_groups)


def _in_groups(x: AnyArray, num_groups: int) -> "tuple[AnyArray, dict]":
    """x by groups of channels, and what normalises it there."""
    n, channels, *rest = sizes(x)
    options = {"axes": (2, 3), "shape": (1, num_groups, channels // num_groups, 1)}
    return op["reshape"](x, n, num_groups, channels // num_groups, math.prod(rest)), options


def _grouped_written(x: Tensor, weight: "Tensor | None", bias: "Tensor | None", num_groups: int, eps: float) -> Tensor:
    grouped, options = _in_groups(x, num_groups)
    return op["reshape"](batch_norm_step.written(grouped, weight, bias, eps=eps, **options), *sizes(x))


def _grouped_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, num_groups: int, eps: float) -> tuple:
    x, weight, bias = xs
    (g, _), (grouped, options) = _in_groups(gs[0], num_groups), _in_groups(x, num_groups)
    gx, *others = batch_norm_step.pullback((g,), ys, (grouped, weight, bias), needs, eps=eps, **options)
    return gx if gx is None else op["reshape"](gx, *sizes(x)), *others


group_norm_step = Composite("group_norm", _grouped_written, _grouped_pullback, node="NativeGroupNormBackward0", edges=3,
                            inputs=("input", "weight", "bias"))


def normalize(input: AnyArray, p: float = 2.0, dim: Axes = 1, eps: float = 1e-12, out: object = None) -> Tensor:
    """x, divided by its norm along a dimension (or several)."""
    if isinstance(input, Tensor):
        return delivered(input / input.norm(p, dim, True).clamp_min(eps), out, "normalize")
    size = override("numpy.sum", abs(input) ** p, axis=dim, keepdims=True) ** (1.0 / p)
    return input / op["maximum"](size, eps)


class _Affine(Module):
    """Base of layers that scale and shift what they have normalised."""

    def _scaled_and_shifted(self, shape: object, weight: bool, bias: bool) -> None:
        self.register_parameter("weight", Parameter(wrap(np.ones(shape, default.dtype))) if weight else None)
        self.register_parameter("bias", Parameter(wrap(np.zeros(shape, default.dtype))) if bias else None)

    def reset_parameters(self) -> None:
        """No scale, no shift."""
        for p, value in ((self.weight, 1.0), (getattr(self, "bias", None), 0.0)):
            if p is not None:
                init.constant_(p, value)


class _BatchNorm(_Affine):
    """Base of layers that normalise channels, by statistics that may be kept over the batches."""

    _shown = ("{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias}, "
              "track_running_stats={track_running_stats}")

    dims: tuple = ()                                           # how many dimensions an input may have

    @typed
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: "float | None" = 0.1, affine: bool = True,
                 track_running_stats: bool = True, bias: bool = True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._scaled_and_shifted(num_features, affine, affine and bias)
        self.register_buffer("running_mean",
                             wrap(np.zeros(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("running_var", wrap(np.ones(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)) if track_running_stats else None)

    def reset_running_stats(self) -> None:
        """Forget the statistics of the batches."""
        if self.track_running_stats:
            for buffer, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                init.constant_(buffer, value)

    def reset_parameters(self) -> None:
        """No scale, no shift, no statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check(self, input: object) -> None:
        n = len(input.shape)
        if n not in self.dims:
            raise ValueError(f"expected {' or '.join(f'{r}D' for r in self.dims)} input (got {n}D input)")

    def forward(self, input: object) -> AnyArray:
        self._check(input)
        share = self.momentum or 0.0
        if self.training and self.track_running_stats and keeps(input, self.running_mean):
            self._count()
            share = 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum
        by_batch = self.training or self.running_mean is None and self.running_var is None
        kept = not self.training or self.track_running_stats
        return batch_norm(input, self.running_mean if kept else None, self.running_var if kept else None, self.weight,
                          self.bias, by_batch, share, self.eps)

    def _count(self) -> None:
        if isinstance(self.num_batches_tracked, Tensor):
            self.num_batches_tracked._a += 1
            self.num_batches_tracked._vc[0] += 1
        elif self.num_batches_tracked is not None:            # within a program, a new value
            self.num_batches_tracked = self.num_batches_tracked + 1


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C) or (N, C, L)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C, H, W)."""

    dims = (4,)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions."""

    _shown = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, bias={bias}"

    @typed
    def __init__(self, normalized_shape: object, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._scaled_and_shifted(self.normalized_shape, elementwise_affine, elementwise_affine and bias)

    def forward(self, input: object) -> AnyArray:
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(_Affine):
    """Mean 0 and variance 1 in groups of channels."""

    _shown = "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"

    @typed
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, bias: bool = True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._scaled_and_shifted(num_channels, affine, affine and bias)

    def forward(self, input: object) -> AnyArray:
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)
