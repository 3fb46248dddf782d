"""Layers with learned weights: linear maps, convolutions, PReLU."""
import math
from collections.abc import Callable

import numpy as np

from ...util.array import AnyArray, ArrayOrNumber
from ..promotion import default
from ..tensor import wrap
from . import activations, convolution, functional, init
from .module import Module, Parameter, empty, typed


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

    def forward(self, input: object) -> ArrayOrNumber:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class ConvLayer(Module):
    """Base of learned correlations."""

    rank = 1
    convolve: Callable = staticmethod(convolution.conv1d)

    @typed
    def __init__(self, in_channels: int, out_channels: int, kernel_size: object, stride: int = 1, padding: object = 0,
                 dilation: int = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros"):
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        ways = ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in ways:
            raise ValueError(f"padding_mode must be one of {ways}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.groups, self.padding_mode = groups, padding_mode
        self.kernel_size, self.stride, self.dilation = (convolution.spread(v, self.rank)
                                                        for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else convolution.spread(padding, self.rank)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self.weight = empty(out_channels, in_channels // groups, *self.kernel_size)
        self.register_parameter("bias", empty(out_channels) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        if not self.weight._a.size:
            return
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(init.fans(self.weight)[0])
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        told = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        told += self._unusual(padding=(0,) * self.rank, dilation=(1,) * self.rank, groups=1)
        return told + (", bias=False" if self.bias is None else "") + self._unusual(padding_mode="zeros")

    def forward(self, input: object) -> AnyArray:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: object, weight: object, bias: object) -> AnyArray:
        if self.padding_mode == "zeros":
            return type(self).convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        around = functional.pad(input, [p for pair in self._sides()[::-1] for p in pair], self.padding_mode)
        return type(self).convolve(around, weight, bias, self.stride, 0, self.dilation, self.groups)

    def _sides(self) -> list:
        """The padding before and after each dimension."""
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding != "same":
            return [(p, p) for p in self.padding]
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return [(n // 2, n - n // 2) for n in totals]


def _check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    """Raise unless the channels divide into groups."""
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if channels % groups:
            raise ValueError(f"{name} must be divisible by groups")


class Conv1d(ConvLayer):
    """Correlation along one dimension."""


class Conv2d(ConvLayer):
    """Correlation along two dimensions."""

    rank = 2
    convolve: Callable = staticmethod(convolution.conv2d)


class PReLU(Module):
    """x where positive, else a learned multiple of it."""

    @typed
    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(wrap(np.full(num_parameters, init, default.dtype)))

    def forward(self, input: object) -> AnyArray:
        return activations.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
