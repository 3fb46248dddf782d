"""Modules that call a function of nn.functional with the options given when they were made; and transposed convolutions."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import convolution, functional, losses, shrinking, spatial
from .init import uniform_
from .layers import ConvLayer, as_module, empty
from .module import Module, Parameter, typed

Hardshrink = as_module("Hardshrink", shrinking.hardshrink, "lambd")
Softshrink = as_module("Softshrink", shrinking.softshrink, "lambd")
Tanhshrink = as_module("Tanhshrink", shrinking.tanhshrink)
Threshold = as_module("Threshold", shrinking.threshold, "threshold", "value", "inplace")
Softmin = as_module("Softmin", functional.softmin, "dim")
CosineSimilarity = as_module("CosineSimilarity", functional.cosine_similarity, "dim", "eps")
PairwiseDistance = as_module("PairwiseDistance", shrinking.pairwise_distance, "p", "eps", "keepdim")
TripletMarginLoss = as_module("TripletMarginLoss", shrinking.triplet_margin_loss, "margin", "p", "eps", "swap", "size_average", "reduce", "reduction")
CosineEmbeddingLoss = as_module("CosineEmbeddingLoss", shrinking.cosine_embedding_loss, "margin", "size_average", "reduce", "reduction")
MultiLabelSoftMarginLoss = as_module("MultiLabelSoftMarginLoss", shrinking.multilabel_soft_margin_loss, "weight", "size_average", "reduce", "reduction")
HingeEmbeddingLoss = as_module("HingeEmbeddingLoss", losses.hinge_embedding_loss, "margin", "reduction")
MarginRankingLoss = as_module("MarginRankingLoss", losses.margin_ranking_loss, "margin", "reduction")
AdaptiveAvgPool1d = as_module("AdaptiveAvgPool1d", spatial.adaptive_avg_pool1d, "output_size")
AdaptiveAvgPool2d = as_module("AdaptiveAvgPool2d", spatial.adaptive_avg_pool2d, "output_size")
AdaptiveAvgPool3d = as_module("AdaptiveAvgPool3d", spatial.adaptive_avg_pool3d, "output_size")
AdaptiveMaxPool1d = as_module("AdaptiveMaxPool1d", spatial.adaptive_max_pool1d, "output_size")
AdaptiveMaxPool2d = as_module("AdaptiveMaxPool2d", spatial.adaptive_max_pool2d, "output_size")
MaxPool3d = as_module("MaxPool3d", spatial.max_pool3d, "kernel_size", "stride", "padding", "dilation")
AvgPool3d = as_module("AvgPool3d", spatial.avg_pool3d, "kernel_size", "stride", "padding")
PixelShuffle = as_module("PixelShuffle", spatial.pixel_shuffle, "upscale_factor")
PixelUnshuffle = as_module("PixelUnshuffle", spatial.pixel_unshuffle, "downscale_factor")
ChannelShuffle = as_module("ChannelShuffle", spatial.channel_shuffle, "groups")
Upsample = as_module("Upsample", spatial.interpolate, "size", "scale_factor", "mode", "align_corners")
Unfold = as_module("Unfold", spatial.unfold, "kernel_size", "dilation", "padding", "stride")
Fold = as_module("Fold", spatial.fold, "output_size", "kernel_size", "dilation", "padding", "stride")
LocalResponseNorm = as_module("LocalResponseNorm", shrinking.local_response_norm, "size", "alpha", "beta", "k")


def _padding(name: str, mode: str, rank: int) -> type:
    """The module that pads the last dimensions."""
    def padded(x: Any, padding: Any, value: float = 0.0) -> Any:
        """More elements around the last dimensions."""
        return functional.pad(x, _sides(padding, rank), mode, value if mode == "constant" else None)
    module = as_module(f"{name}Pad{rank}d", padded, "padding", *(("value",) if name == "Constant" else ()))
    module.__doc__ = f"More elements around the last dimension{'s' if rank > 1 else ''}: {'a value' if mode == 'constant' else mode}."
    return module


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_padding("Constant", "constant", rank) for rank in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_padding("Zero", "constant", rank) for rank in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_padding("Reflection", "reflect", rank) for rank in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_padding("Replication", "replicate", rank) for rank in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_padding("Circular", "circular", rank) for rank in (1, 2, 3))


def _sides(padding: Any, rank: int) -> tuple:
    return (padding,) * 2 * rank if isinstance(padding, int) else tuple(padding)


class _WhileTraining(Module):
    """A function that does something else while training."""

    function: Any = None

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.p, self.training)


def _training_module(name: str, function: Any) -> type:
    return type(name, (_WhileTraining,), {"function": staticmethod(function), "__doc__": function.__doc__, "__module__": __name__})


Dropout1d, Dropout2d, Dropout3d, AlphaDropout = (_training_module(name, function) for name, function in {
    "Dropout1d": shrinking.dropout1d, "Dropout2d": shrinking.dropout2d, "Dropout3d": shrinking.dropout3d, "AlphaDropout": shrinking.alpha_dropout}.items())


class RReLU(Module):
    """x where positive, else a multiple of it, drawn while training."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        return shrinking.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class Unflatten(Module):
    """A dimension split into several."""

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)


class RMSNorm(Module):
    """The last dimensions divided by their root mean square, times a learned weight."""

    @typed
    def __init__(self, normalized_shape: Any, eps: "float | None" = None, elementwise_affine: bool = True):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.weight = empty(*self.normalized_shape) if elementwise_affine else None
        if self.weight is not None:
            self.weight._a[...] = 1

    def forward(self, input: Any) -> Any:
        return shrinking.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class Conv3d(ConvLayer):
    """Correlation along three dimensions."""

    rank = 3
    convolve: Callable = staticmethod(spatial.conv3d)


class _ConvTranspose(Module):
    """A learned transposed convolution: weight (C, out / groups, *kernel)."""

    rank = 1

    @typed
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                 bias: bool = True, dilation: Any = 1):
        super().__init__()
        size = convolution.spread(kernel_size, self.rank)
        self.stride, self.padding, self.output_padding, self.groups, self.dilation = stride, padding, output_padding, groups, dilation
        self.weight = empty(in_channels, out_channels // groups, *size)
        self.bias: Parameter | None = empty(out_channels) if bias else None
        bound = 1 / math.sqrt(out_channels // groups * int(np.prod(size)))
        uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return spatial._transposed(input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation, self.rank)


class ConvTranspose1d(_ConvTranspose):
    """A learned transposed convolution along one dimension."""


class ConvTranspose2d(_ConvTranspose):
    """A learned transposed convolution along two dimensions."""

    rank = 2


class ConvTranspose3d(_ConvTranspose):
    """A learned transposed convolution along three dimensions."""

    rank = 3
