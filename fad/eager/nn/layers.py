"""Layers: linear, convolutions, normalisation, dropout, embedding; activations and losses as modules."""
import inspect
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..record import default
from ..tensor import Tensor, wrap
from . import convolution, functional, init, losses
from .module import Module, Parameter, typed


def empty(*shape: int) -> Parameter:
    """A parameter whose values are to be drawn."""
    return Parameter(wrap(np.zeros(shape, default.dtype)))


class Identity(Module):
    """The input itself."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """x W^T + b."""

    @typed
    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = empty(out_features, in_features)
        self.register_parameter("bias", empty(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(max(1, self.in_features))
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1^T A x2 + b."""

    @typed
    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True):
        super().__init__()
        self.weight = empty(out_features, in1_features, in2_features)
        self.register_parameter("bias", empty(out_features) if bias else None)
        bound = 1 / math.sqrt(in1_features)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return functional.bilinear(input1, input2, self.weight, self.bias)


class ConvLayer(Module):
    """Base of learned correlations."""

    rank = 1
    convolve: Callable = staticmethod(convolution.conv1d)

    @typed
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros"):
        super().__init__()
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got padding_mode='{padding_mode}'")
        self.padding_mode = padding_mode
        if in_channels % groups or out_channels % groups:
            raise ValueError("in_channels and out_channels must be divisible by groups")
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, convolution.spread(kernel_size, self.rank)
        self.weight = empty(out_channels, in_channels // groups, *self.kernel_size)
        self.register_parameter("bias", empty(out_channels) if bias else None)
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias:
            bound = 1 / math.sqrt(init.fans(self.weight)[0])
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        if self.padding_mode == "zeros":
            return self.convolve(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        around = functional.pad(input, [p for pair in self._sides()[::-1] for p in pair], self.padding_mode)
        return self.convolve(around, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

    def _sides(self) -> list:
        """How much is padded before and after each dimension."""
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding != "same":
            return [(p, p) for p in convolution.spread(self.padding, self.rank)]
        totals = [d * (k - 1) for d, k in zip(convolution.spread(self.dilation, self.rank), self.kernel_size)]
        return [(n // 2, n - n // 2) for n in totals]

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"


class Conv1d(ConvLayer):
    """Correlation along one dimension."""


class Conv2d(ConvLayer):
    """Correlation along two dimensions."""

    rank = 2
    convolve: Callable = staticmethod(convolution.conv2d)


class ChannelNorm(Module):
    """Base of layers that normalise channels, by statistics that may be kept over the batches."""

    def __init__(self, num_features: int, eps: float, momentum: "float | None", affine: bool, track_running_stats: bool):
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine, self.track_running_stats = num_features, eps, momentum, affine, track_running_stats
        self.register_parameter("weight", Parameter(wrap(np.ones(num_features, default.dtype))) if affine else None)
        self.register_parameter("bias", Parameter(wrap(np.zeros(num_features, default.dtype))) if affine else None)
        self.register_buffer("running_mean", wrap(np.zeros(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("running_var", wrap(np.ones(num_features, default.dtype)) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", wrap(np.zeros((), np.int64)) if track_running_stats else None)

    def extra_repr(self) -> str:
        """What the layer is written with."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, track_running_stats={self.track_running_stats}"


class _BatchNorm(ChannelNorm):
    ranks: tuple = (2, 3)

    @typed
    def __init__(self, num_features: int, eps: float = 1e-5, momentum: "float | None" = 0.1, affine: bool = True, track_running_stats: bool = True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, input: Any) -> Any:
        if len(input.shape) not in self.ranks:
            raise ValueError(f"expected {' or '.join(f'{r}D' for r in self.ranks)} input (got {len(input.shape)}D input)")
        share = self.momentum or 0.0
        if self.training and self.track_running_stats and functional.keeps(input, self.running_mean):
            self._count()
            share = 1.0 / self.num_batches_tracked if self.momentum is None else self.momentum
        by_batch = self.training or self.running_mean is None
        return functional.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, share, self.eps)

    def _count(self) -> None:
        if isinstance(self.num_batches_tracked, Tensor):
            self.num_batches_tracked._a += 1
            self.num_batches_tracked._vc[0] += 1
        else:                                                 # within a program, a new value
            self.num_batches_tracked = self.num_batches_tracked + 1


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C) or (N, C, L)."""


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 in every channel of (N, C, H, W)."""

    ranks = (4,)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions."""

    @typed
    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.register_parameter("weight", Parameter(wrap(np.ones(self.normalized_shape, default.dtype))) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(wrap(np.zeros(self.normalized_shape, default.dtype))) if elementwise_affine and bias else None)

    def forward(self, input: Any) -> Any:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Module):
    """Mean 0 and variance 1 in groups of channels."""

    @typed
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True):
        super().__init__()
        self.num_groups, self.eps = num_groups, eps
        self.register_parameter("weight", Parameter(wrap(np.ones(num_channels, default.dtype))) if affine else None)
        self.register_parameter("bias", Parameter(wrap(np.zeros(num_channels, default.dtype))) if affine else None)

    def forward(self, input: Any) -> Any:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class Dropout(Module):
    """In training, elements are zero with probability p, the others scaled up."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p

    def forward(self, input: Any) -> Any:
        return functional.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Embedding(Module):
    """Rows of a table, by index."""

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: "int | None" = None):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.weight = empty(num_embeddings, embedding_dim)
        init.normal_(self.weight)
        if padding_idx is not None:
            self.weight._a[padding_idx] = 0

    def forward(self, input: Any) -> Any:
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class Flatten(Module):
    """Dimensions made one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        shape = functional.sizes(input)
        last = self.end_dim % len(shape)
        return input.reshape((*shape[:self.start_dim], math.prod(shape[self.start_dim:last + 1]), *shape[last + 1:]))


class PReLU(Module):
    """x where positive, else a learned multiple of it."""

    @typed
    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.weight = Parameter(wrap(np.full(num_parameters, init, default.dtype)))

    def forward(self, input: Any) -> Any:
        return functional.prelu(input, self.weight)


def as_module(name: str, function: Callable, *options: str, inputs: int = 1) -> type:
    """A module that calls a function with the options given when it was made, which are its attributes."""
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        given = {**dict(zip(options, args)), **kwargs}
        self._options = tuple(given)
        for key, value in given.items():
            setattr(self, key, value)

    def forward(self: Any, *args: Any) -> Any:
        return function(*args, **{key: getattr(self, key) for key in self._options})

    def extra_repr(self: Any) -> str:
        return ", ".join(f"{key}={getattr(self, key)}" for key in self._options)
    plain = inspect.unwrap(function)
    names, values = plain.__code__.co_varnames[:plain.__code__.co_argcount], plain.__defaults__ or ()
    defaults = {key: value for key, value in zip(names[len(names) - len(values):], values) if key in options}
    return type(name, (Module,), {**defaults, "__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": function.__doc__,
                                  "__module__": sys._getframe(1).f_globals["__name__"]})


ReLU = as_module("ReLU", functional.relu, "inplace")
LeakyReLU = as_module("LeakyReLU", functional.leaky_relu, "negative_slope", "inplace")
ReLU6 = as_module("ReLU6", functional.relu6, "inplace")
ELU = as_module("ELU", functional.elu, "alpha", "inplace")
CELU = as_module("CELU", functional.celu, "alpha", "inplace")
SELU = as_module("SELU", functional.selu, "inplace")
GELU = as_module("GELU", functional.gelu, "approximate")
SiLU = as_module("SiLU", functional.silu, "inplace")
Mish = as_module("Mish", functional.mish, "inplace")
Softplus = as_module("Softplus", functional.softplus, "beta", "threshold")
Softsign = as_module("Softsign", functional.softsign)
Tanh = as_module("Tanh", functional.tanh)
Sigmoid = as_module("Sigmoid", functional.sigmoid)
LogSigmoid = as_module("LogSigmoid", functional.logsigmoid)
Hardtanh = as_module("Hardtanh", functional.hardtanh, "min_val", "max_val", "inplace")
Hardsigmoid = as_module("Hardsigmoid", functional.hardsigmoid, "inplace")
Hardswish = as_module("Hardswish", functional.hardswish, "inplace")
Softmax = as_module("Softmax", functional.softmax, "dim")
LogSoftmax = as_module("LogSoftmax", functional.log_softmax, "dim")
GLU = as_module("GLU", functional.glu, "dim")
MaxPool1d = as_module("MaxPool1d", convolution.max_pool1d, "kernel_size", "stride", "padding", "dilation")
MaxPool2d = as_module("MaxPool2d", convolution.max_pool2d, "kernel_size", "stride", "padding", "dilation")
AvgPool1d = as_module("AvgPool1d", convolution.avg_pool1d, "kernel_size", "stride", "padding")
AvgPool2d = as_module("AvgPool2d", convolution.avg_pool2d, "kernel_size", "stride", "padding")
MSELoss = as_module("MSELoss", losses.mse_loss, "reduction")
L1Loss = as_module("L1Loss", losses.l1_loss, "reduction")
SmoothL1Loss = as_module("SmoothL1Loss", losses.smooth_l1_loss, "reduction", "beta")
HuberLoss = as_module("HuberLoss", losses.huber_loss, "reduction", "delta")
BCELoss = as_module("BCELoss", losses.binary_cross_entropy, "weight", "reduction")
BCEWithLogitsLoss = as_module("BCEWithLogitsLoss", losses.binary_cross_entropy_with_logits, "weight", "reduction", "pos_weight")
NLLLoss = as_module("NLLLoss", losses.nll_loss, "weight", "ignore_index", "reduction")
CrossEntropyLoss = as_module("CrossEntropyLoss", losses.cross_entropy, "weight", "ignore_index", "reduction", "label_smoothing")
KLDivLoss = as_module("KLDivLoss", losses.kl_div, "reduction", "log_target")
PoissonNLLLoss = as_module("PoissonNLLLoss", losses.poisson_nll_loss, "log_input", "full", "eps", "reduction")
GaussianNLLLoss = as_module("GaussianNLLLoss", losses.gaussian_nll_loss, "full", "eps", "reduction")
SoftMarginLoss = as_module("SoftMarginLoss", losses.soft_margin_loss, "reduction")
