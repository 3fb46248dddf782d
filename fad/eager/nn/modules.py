"""Modules made from functions of nn.functional: each calls its function with the options that it was made with."""
import inspect
import sys
from collections.abc import Callable

from ...util.array import AnyArray, ArrayOrNumber
from . import activations, dropping, functional, losses, pooling
from .module import Module

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

    def extra_repr(self: object) -> str:
        words = [key for key in (names if shown is None else shown.split()) if key != "inplace" and key not in BUFFERS]
        told = (shown.format(**vars(self)) if shown and "{" in shown
                else ", ".join(f"{key}={getattr(self, key)}" for key in words))
        return ", ".join([t for t in (told, "inplace=True" if "inplace" in names and self.inplace else "") if t])

    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *slots])  # type: ignore[attr-defined]
    return type(name, (Module,),
                {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": function.__doc__,
                 "__module__": sys._getframe(1).f_globals["__name__"]})


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

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: AnyArray) -> AnyArray:
        return dropping.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


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


def _flattened(input: object, start_dim: int = 1, end_dim: int = -1) -> AnyArray:
    """Dimensions made one."""
    return functional.flatten(input, start_dim, end_dim)


Flatten = as_module("Flatten", _flattened, "start_dim end_dim")

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
