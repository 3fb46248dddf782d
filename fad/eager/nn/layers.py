"""Layers with learned weights: linear maps, convolutions and their transposes, PReLU."""
import math
from collections.abc import Callable
from typing import Any

import numpy as np

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

    def forward(self, input: Any) -> Any:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1^T A x2 + b."""

    @typed
    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = empty(out_features, in1_features, in2_features)
        self.register_parameter("bias", empty(out_features) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1 / math.sqrt(self.in1_features)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
                f"bias={self.bias is not None}")


class _Windowed(Module):
    """Base of convolutions and their transposes."""

    rank = 1
    _axes = 0                                                  # of the weight, the axis of what goes in is 1 - _axes

    def _begin(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int, bias: bool,
               padding_mode: str, ways: tuple) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in ways:
            raise ValueError(f"padding_mode must be one of {ways}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride, self.dilation = (convolution.spread(v, self.rank) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else convolution.spread(padding, self.rank)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        channels = (out_channels, in_channels // groups) if not self._axes else (in_channels, out_channels // groups)
        self.weight = empty(*channels, *self.kernel_size)
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
        usual = {"padding": (0,) * self.rank, "dilation": (1,) * self.rank, "output_padding": (0,) * self.rank, "groups": 1}
        told += "".join(f", {key}={getattr(self, key)}" for key, value in usual.items() if getattr(self, key, value) != value)
        return told + (", bias=False" if self.bias is None else "") + ("" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}")


class ConvLayer(_Windowed):
    """Base of learned correlations."""

    convolve: Callable = staticmethod(convolution.conv1d)

    @typed
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
                 bias: bool = True, padding_mode: str = "zeros"):
        super().__init__()
        self._begin(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
                    ("zeros", "reflect", "replicate", "circular"))

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        if self.padding_mode == "zeros":
            return type(self).convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        around = functional.pad(input, [p for pair in self._sides()[::-1] for p in pair], self.padding_mode)
        return type(self).convolve(around, weight, bias, self.stride, 0, self.dilation, self.groups)

    def _sides(self) -> list:
        """How much is padded before and after each dimension."""
        if self.padding == "valid":
            return [(0, 0)] * self.rank
        if self.padding != "same":
            return [(p, p) for p in self.padding]
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
        return [(n // 2, n - n // 2) for n in totals]


class Conv1d(ConvLayer):
    """Correlation along one dimension."""


class Conv2d(ConvLayer):
    """Correlation along two dimensions."""

    rank = 2
    convolve: Callable = staticmethod(convolution.conv2d)


class Conv3d(ConvLayer):
    """Correlation along three dimensions."""

    rank = 3
    convolve: Callable = staticmethod(convolution.conv3d)


class _ConvTranspose(_Windowed):
    """A learned transposed convolution: weight (C, out / groups, *kernel)."""

    _axes = 1

    @typed
    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
                 bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros"):
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.output_padding = convolution.spread(output_padding, self.rank)
        self._begin(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, ("zeros",))

    def forward(self, input: Any, output_size: Any = None) -> Any:
        extra = self.output_padding if output_size is None else self._missing(input, list(output_size))
        return convolution.transposed(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation, self.rank)

    def _missing(self, input: Any, wanted: list) -> tuple:
        """The output padding that gives an output of this size."""
        lead = len(input.shape) - self.rank
        if len(wanted) == lead + self.rank:
            wanted = wanted[lead:]
        if len(wanted) != self.rank:
            raise ValueError(f"{type(self).__name__}: for {len(input.shape)}D input, output_size must have {self.rank} or {lead + self.rank} elements "
                             f"(got {len(wanted)})")
        least = [(n - 1) * s - 2 * p + d * (m - 1) + 1
                 for n, s, p, d, m in zip(input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size)]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if not all(a <= w <= b for a, w, b in zip(least, wanted, most)):
            raise ValueError(f"requested an output size of {tuple(wanted)}, but valid sizes range from {least} to {most} (for an input of {input.shape[lead:]})")
        return tuple([w - a for w, a in zip(wanted, least)])


class ConvTranspose1d(_ConvTranspose):
    """A learned transposed convolution along one dimension."""


class ConvTranspose2d(_ConvTranspose):
    """A learned transposed convolution along two dimensions."""

    rank = 2


class ConvTranspose3d(_ConvTranspose):
    """A learned transposed convolution along three dimensions."""

    rank = 3


class PReLU(Module):
    """x where positive, else a learned multiple of it."""

    @typed
    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(wrap(np.full(num_parameters, init, default.dtype)))

    def forward(self, input: Any) -> Any:
        return activations.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
