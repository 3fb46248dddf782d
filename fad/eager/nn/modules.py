"""Modules made from functions of nn.functional: each calls its function with the options that it was made with."""
import inspect
import sys
from collections.abc import Callable
from typing import Any

from . import activations, dropping, functional, grids, losses, normalising, pooling, spatial
from .activations import softmax
from .convolution import spread
from .module import Module

BUFFERS = ("weight", "pos_weight")                        # options that are tensors: saved, and moved to other dtypes, with the module
FORMER = ("size_average", "reduce")                       # what PyTorch's losses had before `reduction`


def as_module(name: str, function: Callable, options: str = "", shown: "str | None" = None, training: bool = False, **usual: Any) -> type:
    """A module that calls a function with the options given when it was made, which are its attributes.

    options    their names, in the order of PyTorch's constructor; what they are by default is the function's affair, or stands in `usual`
    shown      the names that repr shows, or a format; by default all options (`inplace` only if set)
    training   whether the function is told if the module is training
    """
    taken = inspect.signature(function).parameters
    names = options.split()
    slots = [inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=usual[key] if key in usual else None if key in FORMER else taken[key].default)
             for key in names]
    signature = inspect.Signature(slots)
    passed = [key for key in names if key not in FORMER]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}.__init__(): {error}") from None
        given.apply_defaults()
        options = dict(given.arguments)
        size_average, reduce = (options.pop(key, None) for key in FORMER)
        if "reduction" in options:
            options["reduction"] = losses.reduction_of(size_average, reduce, options["reduction"])
        if "kernel_size" in options and options.get("stride", 0) is None and not name.startswith("LP"):
            options["stride"] = options["kernel_size"]
        for key, value in options.items():
            if key in BUFFERS:
                self.register_buffer(key, value)
            else:
                setattr(self, key, value)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if training:
            kwargs["training"] = self.training
        return function(*args, **{key: getattr(self, key) for key in passed}, **kwargs)

    def extra_repr(self: Any) -> str:
        words = [key for key in (passed if shown is None else shown.split()) if key != "inplace" and key not in BUFFERS]
        told = shown.format(**vars(self)) if shown and "{" in shown else ", ".join(f"{key}={getattr(self, key)}" for key in words)
        return ", ".join([t for t in (told, "inplace=True" if "inplace" in passed and self.inplace and not training else "") if t])
    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *slots])       # type: ignore[attr-defined]
    return type(name, (Module,), {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": function.__doc__,
                                  "__module__": sys._getframe(1).f_globals["__name__"]})


# -- activations --------------------------------------------------------------------------------------------------------------------------

ReLU = as_module("ReLU", activations.relu, "inplace")
LeakyReLU = as_module("LeakyReLU", activations.leaky_relu, "negative_slope inplace")
ReLU6 = as_module("ReLU6", activations.relu6, "inplace")
ELU = as_module("ELU", activations.elu, "alpha inplace")
CELU = as_module("CELU", activations.celu, "alpha inplace")
SELU = as_module("SELU", activations.selu, "inplace")
GELU = as_module("GELU", activations.gelu, "approximate", "approximate={approximate!r}")
SiLU = as_module("SiLU", activations.silu, "inplace")
Mish = as_module("Mish", activations.mish, "inplace")
Softplus = as_module("Softplus", activations.softplus, "beta threshold")
Softsign = as_module("Softsign", activations.softsign)
Tanh = as_module("Tanh", activations.tanh)
Sigmoid = as_module("Sigmoid", activations.sigmoid)
LogSigmoid = as_module("LogSigmoid", activations.logsigmoid)
Hardtanh = as_module("Hardtanh", activations.hardtanh, "min_val max_val inplace")
Hardsigmoid = as_module("Hardsigmoid", activations.hardsigmoid, "inplace")
Hardswish = as_module("Hardswish", activations.hardswish, "inplace")
Hardshrink = as_module("Hardshrink", activations.hardshrink, "lambd", "{lambd}")
Softshrink = as_module("Softshrink", activations.softshrink, "lambd", "{lambd}")
Tanhshrink = as_module("Tanhshrink", activations.tanhshrink)
Threshold = as_module("Threshold", activations.threshold, "threshold value inplace")
Softmax = as_module("Softmax", activations.softmax, "dim")
Softmin = as_module("Softmin", activations.softmin, "dim")
LogSoftmax = as_module("LogSoftmax", activations.log_softmax, "dim")
GLU = as_module("GLU", activations.glu, "dim")


class RReLU(Module):
    """x where positive, else a multiple of it, drawn while training."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        return activations.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Softmax2d(Module):
    """softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Any) -> Any:
        if len(input.shape) not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {len(input.shape)}D instead")
        return softmax(input, -3)


# -- dropout ------------------------------------------------------------------------------------------------------------------------------


def _dropout(name: str, function: Callable) -> type:
    made: Any = as_module(name, function, "p inplace", "p={p}, inplace={inplace}", training=True)
    bare = made.__init__

    def __init__(self: Any, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        bare(self, p, inplace)
    made.__init__, made.__module__ = __init__, __name__
    return made


Dropout = _dropout("Dropout", dropping.dropout)
Dropout1d = _dropout("Dropout1d", dropping.dropout1d)
Dropout2d = _dropout("Dropout2d", dropping.dropout2d)
Dropout3d = _dropout("Dropout3d", dropping.dropout3d)
AlphaDropout = _dropout("AlphaDropout", dropping.alpha_dropout)
FeatureAlphaDropout = _dropout("FeatureAlphaDropout", dropping.feature_alpha_dropout)

# -- pooling and sizes --------------------------------------------------------------------------------------------------------------------

_MAX, _MAX_SHOWN = "kernel_size stride padding dilation return_indices ceil_mode", "kernel_size stride padding dilation ceil_mode"
MaxPool1d = as_module("MaxPool1d", pooling.max_pool1d, _MAX, _MAX_SHOWN)
MaxPool2d = as_module("MaxPool2d", pooling.max_pool2d, _MAX, _MAX_SHOWN)
MaxPool3d = as_module("MaxPool3d", pooling.max_pool3d, _MAX, _MAX_SHOWN)
_AVG, _AVG_SHOWN = "kernel_size stride padding ceil_mode count_include_pad", "kernel_size stride padding"
AvgPool1d = as_module("AvgPool1d", pooling.avg_pool1d, _AVG, _AVG_SHOWN)
AvgPool2d = as_module("AvgPool2d", pooling.avg_pool2d, _AVG + " divisor_override", _AVG_SHOWN)
AvgPool3d = as_module("AvgPool3d", pooling.avg_pool3d, _AVG + " divisor_override", _AVG_SHOWN)
LPPool1d = as_module("LPPool1d", pooling.lp_pool1d, "norm_type kernel_size stride ceil_mode")
LPPool2d = as_module("LPPool2d", pooling.lp_pool2d, "norm_type kernel_size stride ceil_mode")
LPPool3d = as_module("LPPool3d", pooling.lp_pool3d, "norm_type kernel_size stride ceil_mode")
AdaptiveAvgPool1d = as_module("AdaptiveAvgPool1d", pooling.adaptive_avg_pool1d, "output_size")
AdaptiveAvgPool2d = as_module("AdaptiveAvgPool2d", pooling.adaptive_avg_pool2d, "output_size")
AdaptiveAvgPool3d = as_module("AdaptiveAvgPool3d", pooling.adaptive_avg_pool3d, "output_size")
AdaptiveMaxPool1d = as_module("AdaptiveMaxPool1d", pooling.adaptive_max_pool1d, "output_size return_indices", "output_size")
AdaptiveMaxPool2d = as_module("AdaptiveMaxPool2d", pooling.adaptive_max_pool2d, "output_size return_indices", "output_size")
AdaptiveMaxPool3d = as_module("AdaptiveMaxPool3d", pooling.adaptive_max_pool3d, "output_size return_indices", "output_size")


class _MaxUnpool(Module):
    """The largest elements back at their places, zeros elsewhere."""

    rank = 1

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size, self.padding = spread(kernel_size, self.rank), spread(padding, self.rank)
        self.stride = self.kernel_size if stride is None else spread(stride, self.rank)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return pooling.unpooled(input, indices, self.kernel_size, self.stride, self.padding, output_size, self.rank)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The largest elements of max_pool1d back at their places, zeros elsewhere."""


class MaxUnpool2d(_MaxUnpool):
    """The largest elements of max_pool2d back at their places, zeros elsewhere."""

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """The largest elements of max_pool3d back at their places, zeros elsewhere."""

    rank = 3


PixelShuffle = as_module("PixelShuffle", spatial.pixel_shuffle, "upscale_factor")
PixelUnshuffle = as_module("PixelUnshuffle", spatial.pixel_unshuffle, "downscale_factor")
ChannelShuffle = as_module("ChannelShuffle", spatial.channel_shuffle, "groups")
Unfold = as_module("Unfold", spatial.unfold, "kernel_size dilation padding stride")
Fold = as_module("Fold", spatial.fold, "output_size kernel_size dilation padding stride")
LocalResponseNorm = as_module("LocalResponseNorm", normalising.local_response_norm, "size alpha beta k", "{size}, alpha={alpha}, beta={beta}, k={k}")


class Upsample(Module):
    """The spatial dimensions in other sizes: see nn.functional.interpolate."""

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: "bool | None" = None,
                 recompute_scale_factor: "bool | None" = None):
        super().__init__()
        self.size, self.mode, self.align_corners, self.recompute_scale_factor = size, mode, align_corners, recompute_scale_factor
        self.scale_factor = tuple([float(s) for s in scale_factor]) if isinstance(scale_factor, tuple) else float(scale_factor) if scale_factor else None

    def forward(self, input: Any) -> Any:
        return spatial.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)

    def extra_repr(self) -> str:
        return (f"scale_factor={self.scale_factor}" if self.scale_factor is not None else f"size={self.size}") + f", mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images in another size, by the nearest elements."""

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Images in another size, linearly between neighbours, corners on corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None):
        super().__init__(size, scale_factor, "bilinear", True)


def _padding(name: str, mode: str, rank: int) -> type:
    """The module that pads the last dimensions."""
    def padded(input: Any, padding: Any, value: float = 0.0) -> Any:
        return functional.pad(input, padding, mode, value if mode == "constant" else None)
    constant = name == "Constant"
    padded.__doc__ = f"More elements around the last dimension{'s' if rank > 1 else ''}: {'a value' if mode == 'constant' else mode}."
    module: Any = as_module(f"{name}Pad{rank}d", padded, "padding value" if constant else "padding", "padding={padding}, value={value}" if constant else "{padding}",
                            **({"value": inspect.Parameter.empty} if constant else {}))
    bare = module.__init__

    def __init__(self: Any, padding: Any, *value: Any, **named: Any) -> None:
        bare(self, (padding,) * 2 * rank if isinstance(padding, int) else tuple(padding), *value, **named)
    module.__init__, module.__module__ = __init__, __name__
    return module


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_padding("Constant", "constant", rank) for rank in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_padding("Zero", "constant", rank) for rank in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_padding("Reflection", "reflect", rank) for rank in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_padding("Replication", "replicate", rank) for rank in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_padding("Circular", "circular", rank) for rank in (1, 2, 3))


class Identity(Module):
    """The input itself."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Flatten(Module):
    """Dimensions made one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        return functional.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """A dimension split into several."""

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


# -- distances and losses -------------------------------------------------------------------------------------------------------------------

CosineSimilarity = as_module("CosineSimilarity", functional.cosine_similarity, "dim eps", "")
PairwiseDistance = as_module("PairwiseDistance", losses.pairwise_distance, "p eps keepdim", "", p=2.0)
_WAYS = "size_average reduce reduction"
MSELoss = as_module("MSELoss", losses.mse_loss, _WAYS, "")
L1Loss = as_module("L1Loss", losses.l1_loss, _WAYS, "")
SmoothL1Loss = as_module("SmoothL1Loss", losses.smooth_l1_loss, f"{_WAYS} beta", "")
HuberLoss = as_module("HuberLoss", losses.huber_loss, "reduction delta", "")
BCELoss = as_module("BCELoss", losses.binary_cross_entropy, f"weight {_WAYS}", "")
BCEWithLogitsLoss = as_module("BCEWithLogitsLoss", losses.binary_cross_entropy_with_logits, f"weight {_WAYS} pos_weight", "")
NLLLoss = as_module("NLLLoss", losses.nll_loss, "weight size_average ignore_index reduce reduction", "")
CrossEntropyLoss = as_module("CrossEntropyLoss", losses.cross_entropy, "weight size_average ignore_index reduce reduction label_smoothing", "")
KLDivLoss = as_module("KLDivLoss", losses.kl_div, f"{_WAYS} log_target", "")
PoissonNLLLoss = as_module("PoissonNLLLoss", losses.poisson_nll_loss, "log_input full size_average eps reduce reduction", "")
GaussianNLLLoss = as_module("GaussianNLLLoss", losses.gaussian_nll_loss, "full eps reduction", "")
CTCLoss = as_module("CTCLoss", grids.ctc_loss, "blank reduction zero_infinity", "")
SoftMarginLoss = as_module("SoftMarginLoss", losses.soft_margin_loss, _WAYS, "")
HingeEmbeddingLoss = as_module("HingeEmbeddingLoss", losses.hinge_embedding_loss, f"margin {_WAYS}", "")
MarginRankingLoss = as_module("MarginRankingLoss", losses.margin_ranking_loss, f"margin {_WAYS}", "")
TripletMarginLoss = as_module("TripletMarginLoss", losses.triplet_margin_loss, f"margin p eps swap {_WAYS}", "")
CosineEmbeddingLoss = as_module("CosineEmbeddingLoss", losses.cosine_embedding_loss, f"margin {_WAYS}", "")
MultiLabelSoftMarginLoss = as_module("MultiLabelSoftMarginLoss", losses.multilabel_soft_margin_loss, f"weight {_WAYS}", "")
MultiMarginLoss = as_module("MultiMarginLoss", losses.multi_margin_loss, f"p margin weight {_WAYS}", "")
MultiLabelMarginLoss = as_module("MultiLabelMarginLoss", losses.multilabel_margin_loss, _WAYS, "")


class TripletMarginWithDistanceLoss(Module):
    """max(distance to the positive - distance to the negative + margin, 0), by any distance."""

    def __init__(self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"):
        super().__init__()
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap, self.reduction = margin, swap, reduction

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return losses.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
                                                        reduction=self.reduction)
