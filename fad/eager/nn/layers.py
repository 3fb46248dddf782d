"""Layers: those with learned weights (linear maps, convolutions, PReLU, embeddings), and those made from functions."""
import inspect
import math
import sys
from collections.abc import Callable

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..functions.selections import all_below, rows
from ..graph.single_node import step
from ..tensors.errors import refuse_if
from ..tensors.promotion import default
from ..tensors.state import changed
from ..tensors.tensor import Tensor, raw, wrap
from . import activations, convolution, functional, init, losses, pooling
from .module import Module, Parameter, empty, typed


class Linear(Module):
    """x W^T + b."""

    _shown = "in_features={in_features}, out_features={out_features}, bias={bias}"

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
    refuse_if(groups <= 0, "groups must be a positive integer", ValueError)
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        refuse_if(channels % groups, f"{name} must be divisible by groups", ValueError)


class Conv1d(ConvLayer):
    """Correlation along one dimension."""


class Conv2d(ConvLayer):
    """Correlation along two dimensions."""

    rank = 2
    convolve: Callable = staticmethod(convolution.conv2d)


class PReLU(Module):
    """x where positive, else a learned multiple of it."""

    _shown = "num_parameters={num_parameters}"

    @typed
    def __init__(self, num_parameters: int = 1, init: float = 0.25):
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(wrap(np.full(num_parameters, init, default.dtype)))

    def forward(self, input: object) -> AnyArray:
        return activations.prelu(input, self.weight)


def _place(padding_idx: "int | None", count: int) -> "int | None":
    """The row that counts for nothing, counted from the front."""
    if padding_idx is None:
        return None
    refuse_if(not -count <= padding_idx < count, "Padding_idx must be within num_embeddings", AssertionError)
    return padding_idx % count


def _indices(input: object, count: ArrayOrNumber) -> AnyArray:
    index = raw(input)
    if isinstance(index, np.ndarray):
        refuse_if(index.dtype.kind not in "iu", "Expected tensor for argument #1 'indices' to have one of the "
                  f"following scalar types: Long, Int; but got {index.dtype} instead")
        refuse_if(index.size and not all_below(index, count), "index out of range in self", IndexError)
    return index


def embedding(input: object, weight: object, padding_idx: "int | None" = None) -> AnyArray:
    """Rows of weight at the indices; the row padding_idx gets no gradient."""
    refuse_if(len(weight.shape) != 2, "'weight' must be 2-D")
    index = _indices(input, weight.shape[0])
    if isinstance(weight, Tensor) and padding_idx is None and index.ndim:
        return rows(weight, input if isinstance(input, Tensor) else wrap(index), dim=0)
    return _rows(input, weight, index, _place(padding_idx, weight.shape[0]), padding_idx)


@step("EmbeddingBackward0", "weight", "weight indices=input", "padding_idx")
def _rows(input: AnyArray, weight: object, index: ArrayOrNumber, padding: "int | None",
          padding_idx: "int | None") -> AnyArray:
    if padding is not None:
        weight = op["where"]((np.arange(weight.shape[0]) == padding)[:, None], op["stop_gradient"](weight), weight)
    return weight[index]


class Embedding(Module):
    """Rows of a table, by index."""

    _shown = "{num_embeddings}, {embedding_dim}"
    _usual = {"padding_idx": None}

    @typed
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: "int | None" = None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _place(padding_idx, num_embeddings)
        self.weight = empty(num_embeddings, embedding_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with changed(grad=False):
                self.weight[self.padding_idx] = 0.0

    def forward(self, input: object) -> AnyArray:
        return embedding(input, self.weight, self.padding_idx)


BUFFERS = ("weight", "pos_weight")  # options that are tensors: saved, and moved to other dtypes, with the module


def as_module(name: str, function: Callable, options: str = "", shown: "str | None" = None) -> type:
    """A module that calls a function with the options given when it was made, which are its attributes.

    A function of `training` is told whether the module is in that mode.

    options    their names, in the order of PyTorch's constructor; what they are by default is the function's affair
    shown      the names that repr shows, or a format; by default all options (`inplace` only if set)
    """
    taken = inspect.signature(function).parameters
    names = options.split()
    slots = [inspect.Parameter(key, taken[key].kind, default=taken[key].default) for key in names]
    signature = inspect.Signature(slots)
    given = names + ["training"] * ("training" in taken)

    def __init__(self: object, *args: object, **kwargs: object) -> None:
        Module.__init__(self)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}.__init__(): {error}") from None
        bound.apply_defaults()
        options = dict(bound.arguments)
        if "kernel_size" in options and options.get("stride", 0) is None:
            options["stride"] = options["kernel_size"]
        for key, value in options.items():
            if key in BUFFERS:
                self.register_buffer(key, value)
            else:
                setattr(self, key, value)

    def forward(self: object, *args: ArrayOrNumber, **kwargs: object) -> AnyArray:
        return function(*args, **{key: getattr(self, key) for key in given}, **kwargs)

    told = shown if shown and "{" in shown else ", ".join(
        f"{key}={{{key}}}" for key in (names if shown is None else shown.split()) if key not in ("inplace", *BUFFERS))
    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *slots])
    return type(name, (Module,), {"__init__": __init__, "forward": forward, "_shown": told,
                                  "_usual": {"inplace": False} if "inplace" in names else {},
                                  "__doc__": function.__doc__, "__module__": sys._getframe(1).f_globals["__name__"]})


# -- activations -------------------------------------------------------------------------------------------------------

ReLU = as_module("ReLU", activations.relu, "inplace")
LeakyReLU = as_module("LeakyReLU", activations.leaky_relu, "negative_slope inplace")
ELU = as_module("ELU", activations.elu, "alpha inplace")
SELU = as_module("SELU", activations.selu, "inplace")
GELU = as_module("GELU", activations.gelu, "approximate", "approximate={approximate!r}")
SiLU = as_module("SiLU", activations.silu, "inplace")
Softplus = as_module("Softplus", activations.softplus, "beta threshold")
Softsign = as_module("Softsign", activations.softsign)
Tanh = as_module("Tanh", activations.tanh)
Sigmoid = as_module("Sigmoid", activations.sigmoid)
LogSigmoid = as_module("LogSigmoid", activations.logsigmoid)
Hardtanh = as_module("Hardtanh", activations.hardtanh, "min_val max_val inplace")
Softmax = as_module("Softmax", activations.softmax, "dim")
LogSoftmax = as_module("LogSoftmax", activations.log_softmax, "dim")

# -- dropout -----------------------------------------------------------------------------------------------------------


class Dropout(Module):
    """In training, each element zero with probability p, the others scaled up by 1 / (1 - p)."""

    _shown = "p={p}, inplace={inplace}"

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        refuse_if(not 0 <= p <= 1, f"dropout probability has to be between 0 and 1, but got {p}", ValueError)
        self.p, self.inplace = p, inplace

    def forward(self, input: AnyArray) -> AnyArray:
        return activations.dropout(input, self.p, self.training, self.inplace)


# -- pooling and sizes -------------------------------------------------------------------------------------------------

_MAX, _MAX_SHOWN = ("kernel_size stride padding dilation return_indices ceil_mode",
                    "kernel_size stride padding dilation ceil_mode")
MaxPool1d = as_module("MaxPool1d", pooling.max_pool1d, _MAX, _MAX_SHOWN)
MaxPool2d = as_module("MaxPool2d", pooling.max_pool2d, _MAX, _MAX_SHOWN)
_AVG, _AVG_SHOWN = "kernel_size stride padding ceil_mode count_include_pad", "kernel_size stride padding"
AvgPool1d = as_module("AvgPool1d", pooling.avg_pool1d, _AVG, _AVG_SHOWN)
AvgPool2d = as_module("AvgPool2d", pooling.avg_pool2d, _AVG + " divisor_override", _AVG_SHOWN)


class Identity(Module):
    """The input itself."""

    def __init__(self, *args: object, **kwargs: object):
        super().__init__()

    def forward(self, input: AnyArray) -> AnyArray:
        return input


Flatten = as_module("Flatten", functional.flatten, "start_dim end_dim")

# -- losses ------------------------------------------------------------------------------------------------------------

MSELoss = as_module("MSELoss", losses.mse_loss, "reduction", "")
L1Loss = as_module("L1Loss", losses.l1_loss, "reduction", "")
SmoothL1Loss = as_module("SmoothL1Loss", losses.smooth_l1_loss, "reduction beta", "")
HuberLoss = as_module("HuberLoss", losses.huber_loss, "reduction delta", "")
BCELoss = as_module("BCELoss", losses.binary_cross_entropy, "weight reduction", "")
BCEWithLogitsLoss = as_module("BCEWithLogitsLoss", losses.binary_cross_entropy_with_logits,
                              "weight reduction pos_weight", "")
NLLLoss = as_module("NLLLoss", losses.nll_loss, "weight ignore_index reduction", "")
CrossEntropyLoss = as_module("CrossEntropyLoss", losses.cross_entropy,
                             "weight ignore_index reduction label_smoothing", "")
KLDivLoss = as_module("KLDivLoss", losses.kl_div, "reduction log_target", "")
