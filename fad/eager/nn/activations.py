"""Activations: functions of each element; softmax and its kin; dropout."""
import functools
import inspect
import math
import warnings
from collections.abc import Callable

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber, DTypeLike
from ...util.errors import UnsupportedFunctionError
from ..functions.composite import elementwise
from ..functions.composites import relu as relu_step
from ..functions.formulas import where
from ..functions.reductions import in_dtype
from ..functions.reductions import log_softmax as log_softmax_of
from ..functions.reductions import softmax as softmax_of
from ..functions.registry import FUNCTIONS, changing_form, named, one_dim
from ..graph.inplace import number
from ..graph.node import Undifferentiable
from ..graph.single_node import step
from ..tensors.dtypes import as_dtype
from ..tensors.errors import refuse_if
from ..tensors.generators import source
from ..tensors.tensor import Tensor, raw, wrap

_where, _expit, _exp = op["where"], op["expit"], op["exp"]


def _one(x: AnyArray, condition: AnyArray) -> AnyArray:
    """1 where a condition holds, 0 elsewhere, in x's dtype."""
    return op["cast"](condition, dtype=x.dtype)


def in_their_place(f: Callable) -> Callable:
    """An activation that with inplace=True writes its values over its input."""
    place, changed = list(inspect.signature(f).parameters).index("inplace") - 1, changing_form(f.__name__, f)

    @functools.wraps(f)
    def call(input: object, *args: object, **kwargs: object) -> AnyArray:
        wanted = kwargs.pop("inplace", False) or len(args) > place and args[place]
        return (changed if wanted else f)(input, *args[:place], **kwargs)
    return call


@in_their_place
def relu(input: object, inplace: bool = False) -> AnyArray:
    """max(x, 0), with derivative 0 at 0."""
    return relu_step(input) if input.dtype.kind == "f" else input.relu()


_leaky = elementwise("leaky_relu", lambda x, slope: _where(x > 0, x, x * slope),
                     lambda y, x, slope: _where(x > 0, _one(x, x > 0), slope), node="LeakyReluBackward0")


@in_their_place
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> AnyArray:
    """x where positive, else negative_slope * x."""
    return _leaky(input, slope=negative_slope)


_bounded = elementwise("hardtanh", lambda x, low, high: _where(x <= low, low, _where(x >= high, high, x)),
                       lambda y, x, low, high: ~((x <= low) | (x >= high)), node="HardtanhBackward0", passes=True)


@in_their_place
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> AnyArray:
    """x between two bounds; at the bounds the derivative is 0."""
    refuse_if(min_val > max_val, "min_val cannot be greater than max_val", ValueError)
    refuse_if(input.dtype.kind == "b", "Bool inputs not supported for hardtanh")
    if input.dtype.kind in "iu":                               # whole numbers lie between whole ones
        return in_dtype(_bounded(input, low=math.trunc(min_val), high=math.trunc(max_val)), input.dtype)
    return _bounded(input, low=min_val, high=max_val)


def _elu_written(x: AnyArray, alpha: float, scale: float) -> AnyArray:
    positive = x > 0
    return scale * _where(positive, x, alpha * op["expm1"](_where(positive, 0.0, x)))


def _elu_partial(y: AnyArray, x: AnyArray, alpha: float, scale: float) -> AnyArray:
    positive = x > 0
    return scale * _where(positive, _one(x, positive), alpha * _exp(_where(positive, 0.0, x)))


_elu = elementwise("elu", _elu_written, _elu_partial, node="EluBackward0")


@in_their_place
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> AnyArray:
    """x where positive, else alpha (e^x - 1)."""
    return _elu(input, alpha=alpha, scale=1.0)


@in_their_place
def selu(input: Tensor, inplace: bool = False) -> AnyArray:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""
    return _elu(input, alpha=1.6732632423543772848170429916717, scale=1.0507009873554804934193349852946)


def _normal_share(x: AnyArray) -> AnyArray:
    """The normal distribution function."""
    return 0.5 * (1.0 + op["erf"](x * math.sqrt(0.5)))


_gelu = elementwise("gelu", lambda x: x * _normal_share(x),
                    lambda y, x: _normal_share(x) + x * (_exp(-0.5 * x * x) * (1.0 / math.sqrt(2.0 * math.pi))),
                    node="GeluBackward0")


def _gelu_inner(x: AnyArray) -> AnyArray:
    return op["tanh"](math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x))


def _gelu_tanh_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    t = _gelu_inner(x)
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * (math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * 0.044715 * x * x))


_gelu_tanh = elementwise("gelu_tanh", lambda x: 0.5 * x * (1.0 + _gelu_inner(x)), _gelu_tanh_partial,
                         node="GeluBackward0")


def gelu(input: AnyArray, approximate: str = "none") -> AnyArray:
    """x times the normal distribution function at x; approximate="tanh": by a formula with tanh."""
    refuse_if(approximate not in ("none", "tanh"), "approximate argument must be either none or tanh.")
    return _gelu_tanh(input) if approximate == "tanh" else _gelu(input)


def _silu_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    s = _expit(x)
    return s * (1.0 + x * (1.0 - s))


_silu = elementwise("silu", lambda x: x * _expit(x), _silu_partial, node="SiluBackward0")


@in_their_place
def silu(input: AnyArray, inplace: bool = False) -> ArrayOrNumber:
    """x times the logistic function of x."""
    if raw(input).dtype.kind == "c":
        return named(input / (1.0 + op["exp"](-input)), "SiluBackward0")
    return _silu(input)


_softplus = elementwise(
    "softplus", lambda x, beta, threshold: _where(x * beta > threshold, x, op["logaddexp"](x * beta, 0.0) / beta),
    lambda y, x, beta, threshold: _where(x * beta > threshold, 1.0, _expit(x * beta)), node="SoftplusBackward0")


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> AnyArray:
    """log(1 + e^(beta x)) / beta; x itself where beta x is above the threshold."""
    return _softplus(input, beta=beta, threshold=threshold)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (1.0 + abs(input))


tanh, sigmoid, logsigmoid = (FUNCTIONS[name] for name in ("tanh", "sigmoid", "logsigmoid"))


def prelu(input: object, weight: object) -> Tensor:
    """x where positive, else weight * x; a weight for each channel."""
    count = 1 if not len(weight.shape) else weight.shape[0]
    if count > 1:
        channels = 1 if len(input.shape) < 2 else input.shape[1]
        refuse_if(isinstance(input, Tensor) and count != channels, "Mismatch of parameter numbers and input channel "
                  f"size. Found parameter numbers = {count} and channel size = {channels}.")
    if len(input.shape) != 1:
        shape = [weight.shape[0] if k == 1 and len(weight.shape) else 1 for k in range(len(input.shape))]
        weight = weight.view(shape) if isinstance(weight, Tensor) else op["reshape"](weight, *shape)
    return _prelu(input, weight)


@step("PreluKernelBackward0", "input weight", "self=input weight")
def _prelu(input: Tensor, weight: Tensor) -> Tensor:
    return _where(input > 0, input, weight * input)


def _chosen(dim: "int | None", input: AnyArray, name: str) -> int:
    """The dimension given, or the one that PyTorch chooses."""
    n = input._a.ndim if isinstance(input, Tensor) else len(input.shape)
    if dim is None:
        warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as "
                      "an argument.", stacklevel=3)
        dim = 0 if n in (0, 1, 3) else 1
    return one_dim(dim, n)


def _in(input: AnyArray, dtype: object) -> AnyArray:
    return input if dtype is None else op["cast"](input, dtype=as_dtype(dtype))


def softmax(input: Tensor, dim: "int | None" = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> AnyArray:
    """exp(x), divided by its sum along a dimension."""
    return softmax_of(_in(input, dtype), _chosen(dim, input, "softmax"))


def log_softmax(input: object, dim: "int | None" = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> AnyArray:
    """log(softmax(x))."""
    return log_softmax_of(_in(input, dtype), _chosen(dim, input, "log_softmax"))


@in_their_place
@step("ThresholdBackward0", "input", "self=input", "threshold")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is more than the threshold, else the value."""
    return where(input <= threshold, value, input)


# -- in place ----------------------------------------------------------------------------------------------------------


relu_, elu_, selu_, hardtanh_, threshold_ = (changing_form(f.__name__, f)
                                             for f in (relu, elu, selu, hardtanh, threshold))


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu, in place; a negative slope leaves no way back."""
    y = leaky_relu(input, negative_slope, inplace=True)
    return y if negative_slope >= 0 else without_way_back(y, "leakyReLu")


def without_way_back(y: Tensor, name: str) -> Tensor:
    """y, through which no gradient can go."""
    if y._fn is not None:
        y._fn = Undifferentiable((y._fn,), f"{name}Backward0",
                                 RuntimeError(f"In-place {name} backward calculation is triggered with a negative "
                                              "slope which is not supported. This is caused by calling in-place "
                                              "forward function with a negative slope, please call out-of-place "
                                              "version instead."))
        y._nr = 0
    return y


def _kept(input: object, p: float) -> np.ndarray:
    """The elements that stay, drawn."""
    if getattr(input, "__fad_level__", 0) == 2:
        raise UnsupportedFunctionError("dropout draws random numbers, which a traced program would draw once and for "
                                       "all", do="call the model in eval() mode, or run this part on tensors")
    return source(None).random(tuple(input.shape)) >= p


@in_their_place
def _scaled(input: Tensor, factors: np.ndarray, inplace: bool = False) -> Tensor:
    """input * factors."""
    return input * (wrap(factors.astype(raw(input).dtype)) if isinstance(input, Tensor) else factors)


def dropout(input: AnyArray, p: float = 0.5, training: bool = True, inplace: bool = False) -> AnyArray:
    """In training, each element zero with probability p, the others scaled up by 1 / (1 - p)."""
    p = number(p, "dropout", "p")
    refuse_if(not 0 <= p <= 1, f"dropout probability has to be between 0 and 1, but got {p}", ValueError)
    return _scaled(input, _kept(input, p) / (1.0 - p if p < 1 else 1.0), inplace) if training and p else input
