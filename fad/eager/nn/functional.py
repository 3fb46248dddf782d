"""nn.functional: what layers compute, as functions of tensors (or of traced arrays: only ops and faces are used)."""
import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.face import BY_NAME
from ...ops.faces.arguments import fixed
from ...ops.table import TABLE as op
from ...util.errors import UnsupportedFunctionError
from ..composites import batch_norm as batch_norm_step
from ..composites import layer_norm as layer_norm_step
from ..composites import log_softmax as log_softmax_step
from ..composites import relu as relu_step
from ..composites import softmax as softmax_step
from ..creation import source
from ..inplace import in_place
from ..products import addmm, matmul
from ..registry import named
from ..tensor import Tensor, raw, wrap
from . import composites as steps


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """A function of NumPy or SciPy by its face."""
    return BY_NAME[name].call(*args, **kwargs)


def sizes(x: Any) -> tuple:
    """x's extents as ints; those of a traced array become part of the program."""
    return tuple([fixed(n, "an extent of a layer's input") for n in x.shape])


def swapped(x: Any, a: int = -1, b: int = -2) -> Any:
    """x with two axes exchanged."""
    axes = list(range(len(x.shape)))
    axes[a], axes[b] = axes[b], axes[a]
    return op["transpose"](x, axes=tuple(axes))


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias."""
    if len(weight.shape) < 2:
        y = op["matmul"](input, weight)
        return y if bias is None else y + bias
    flipped = weight.t() if isinstance(weight, Tensor) else swapped(weight)
    if bias is None or len(input.shape) < 2 or not isinstance(input, Tensor):
        y = matmul(input, flipped)
        return y if bias is None else named(y + bias, "AddmmBackward0")
    if len(input.shape) == 2:
        return addmm(bias, input, flipped)
    rows = addmm(bias, input.reshape(-1, input.shape[-1]), flipped)                         # type: ignore[attr-defined]
    return rows.reshape(*input.shape[:-1], weight.shape[0])


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x1^T A_k x2 + b_k for every k."""
    y = call("numpy.einsum", "...i,kij,...j->...k", input1, weight, input2)
    return y if bias is None else y + bias


def in_their_place(f: Callable) -> Callable:
    """An activation that with inplace=True writes its values over its input."""
    place = list(inspect.signature(f).parameters).index("inplace")

    @functools.wraps(f)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.pop("inplace", False) or len(args) >= place and args[place - 1]
        options = args[:place - 1]
        return f(input, *options, **kwargs) if not wanted else in_place(input, lambda old: f(old, *options, **kwargs))
    return call


# -- activations ---------------------------------------------------------------------------------------------------------------


@in_their_place
def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0), with derivative 0 at 0."""
    return relu_step(input) if input.dtype.kind == "f" else input.relu()


@in_their_place
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where positive, else negative_slope * x."""
    return steps.leaky_relu(input, slope=negative_slope)


@in_their_place
def relu6(input: Any, inplace: bool = False) -> Any:
    """x between 0 and 6."""
    return hardtanh(input, 0.0, 6.0)


@in_their_place
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x between two bounds; at the bounds the derivative is 0."""
    return steps.hardtanh(input, low=min_val, high=max_val)


@in_their_place
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, else alpha (e^x - 1)."""
    return steps.elu(input, alpha=alpha, scale=1.0)


@in_their_place
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, else alpha (e^(x / alpha) - 1)."""
    positive = input > 0
    return op["where"](positive, input, alpha * op["expm1"](op["where"](positive, 0.0, input) / alpha))


@in_their_place
def selu(input: Any, inplace: bool = False) -> Any:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al., 2017)."""
    return steps.elu(input, alpha=1.6732632423543772848170429916717, scale=1.0507009873554804934193349852946)


def gelu(input: Any, approximate: str = "none") -> Any:
    """x times the normal distribution function at x."""
    return steps.gelu_tanh(input) if approximate == "tanh" else steps.gelu(input)


@in_their_place
def silu(input: Any, inplace: bool = False) -> Any:
    """x times the logistic function of x."""
    return steps.silu(input)


@in_their_place
def mish(input: Any, inplace: bool = False) -> Any:
    """x tanh(softplus(x))."""
    return steps.mish(input)


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + e^(beta x)) / beta."""
    return steps.softplus(input, beta=beta)


def softsign(input: Any) -> Any:
    """x / (1 + |x|)."""
    return input / (1.0 + abs(input))


def logsigmoid(input: Any) -> Any:
    """log of the logistic function."""
    return op["log_expit"](input)


@in_their_place
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """A logistic function of straight pieces."""
    return steps.hardsigmoid(input)


@in_their_place
def hardswish(input: Any, inplace: bool = False) -> Any:
    """x hardsigmoid(x)."""
    return steps.hardswish(input)


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return op["tanh"](input)


def sigmoid(input: Any) -> Any:
    """The logistic function."""
    return op["expit"](input)


def prelu(input: Any, weight: Any) -> Any:
    """x where positive, else weight * x; a weight for each channel."""
    if len(input.shape) > 1 and weight.shape[0] > 1:
        weight = op["reshape"](weight, *[weight.shape[0] if k == 1 else 1 for k in range(len(input.shape))])
    return op["where"](input > 0, input, weight * input)


def softmax(input: Any, dim: int = -1, dtype: Any = None) -> Any:
    """exp(x), divided by its sum along a dimension."""
    return softmax_step(input, axis=dim % len(input.shape)) if len(input.shape) else input * 0.0 + 1.0


def softmin(input: Any, dim: int = -1) -> Any:
    """softmax(-x)."""
    return softmax(-input, dim)


def log_softmax(input: Any, dim: int = -1, dtype: Any = None) -> Any:
    """log(softmax(x))."""
    return log_softmax_step(input, axis=dim % len(input.shape)) if len(input.shape) else input - input


def glu(input: Any, dim: int = -1) -> Any:
    """The first half, gated by the second."""
    ax, n = dim % len(input.shape), input.shape[dim] // 2
    return op["slice_axis"](input, ax, 0, n) * op["expit"](op["slice_axis"](input, ax, n, n))


# -- dropout, embedding, normalisation --------------------------------------------------------------------------------------------


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """In training, each element zero with probability p, the others scaled up."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    if getattr(input, "__fad_level__", 0) == 2:
        raise UnsupportedFunctionError("dropout draws random numbers, which a traced program would draw once and for all",
                                       do="call the model in eval() mode, or run this part on tensors")
    keep = (source(None).random(tuple(input.shape)) >= p) / (1.0 - p if p < 1 else 1.0)
    return input * (wrap(keep.astype(raw(input).dtype)) if isinstance(input, Tensor) else keep)


def embedding(input: Any, weight: Any, padding_idx: "int | None" = None, max_norm: Any = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Any:
    """Rows of weight at the indices; the row padding_idx gets no gradient."""
    index = raw(input)
    if padding_idx is not None:
        rows = np.arange(weight.shape[0]) == padding_idx % weight.shape[0]
        weight = op["where"](rows[:, None], op["stop_gradient"](weight), weight)
    return named(weight[index], "EmbeddingBackward0")


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Rows of the identity at the classes."""
    a = raw(tensor)
    return wrap(np.eye(int(a.max()) + 1 if num_classes < 0 else num_classes, dtype=np.int64)[a])


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""
    shape = tuple(normalized_shape)
    axes = tuple(range(len(input.shape) - len(shape), len(input.shape)))
    return layer_norm_step(input, weight, bias, axes=axes, shape=shape, eps=eps)


def batch_norm(input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 in every channel, over the batch in training, by the running statistics else."""
    axes = tuple(k for k in range(len(input.shape)) if k != 1)
    wide = [n if k == 1 else 1 for k, n in enumerate(input.shape)]
    if training:
        count = math.prod(sizes(input)[k] for k in axes)
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(input.shape)}")
        if running_mean is not None and keeps(input, running_mean):
            x = raw(input)
            follow(running_mean, call("numpy.mean", x, axis=axes), raw(momentum), 1.0)
            follow(running_var, call("numpy.var", x, axis=axes), raw(momentum), count / (count - 1))
        return batch_norm_step(input, weight, bias, axes=axes, shape=tuple(wide), eps=eps)
    y = (input - op["reshape"](running_mean, *wide)) / op["sqrt"](op["reshape"](running_var, *wide) + eps)
    y = y if weight is None else y * op["reshape"](weight, *wide)
    return named(y if bias is None else y + op["reshape"](bias, *wide), "NativeBatchNormBackward0")


def keeps(input: Any, running: Any) -> bool:
    """Whether running statistics follow this input: those of a tensor, and in a program those that are part of it."""
    return isinstance(input, Tensor) or getattr(running, "__fad_level__", 0) == 2


def follow(running: Any, new: Any, momentum: Any, scale: float) -> None:
    """Move running statistics towards new ones, in place."""
    a = raw(running)
    a[...] = (1 - momentum) * a + momentum * scale * new
    if isinstance(running, Tensor):
        running._vc[0] += 1


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 in groups of channels."""
    shape = sizes(input)
    grouped = op["reshape"](input, shape[0], num_groups, math.prod(shape[1:]) // num_groups)
    y = op["reshape"](layer_norm(grouped, grouped.shape[2:], eps=eps), *shape)
    wide = [n if k == 1 else 1 for k, n in enumerate(shape)]
    y = y if weight is None else y * op["reshape"](weight, *wide)
    return y if bias is None else y + op["reshape"](bias, *wide)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """x, divided by its norm along a dimension."""
    if not len(input.shape):
        return op["reshape"](normalize(op["reshape"](input, 1), p, 0, eps), *())
    size = call("numpy.sum", abs(input) ** p, axis=dim, keepdims=True) ** (1.0 / p)
    return input / op["maximum"](size, eps)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along a dimension."""
    if not len(x1.shape) and not len(x2.shape):
        x1, x2 = op["reshape"](x1, 1), op["reshape"](x2, 1)
    product = call("numpy.sum", x1 * x2, axis=dim)
    sizes = [op["sqrt"](call("numpy.sum", x * x, axis=dim)) for x in (x1, x2)]
    return product / (op["maximum"](sizes[0], eps) * op["maximum"](sizes[1], eps))


_WAYS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _repeated(x: Any, widths: list, extents: Any, mode: str) -> Any:
    """Padding by elements of x: the places that they come from are what NumPy's padding makes of 0, 1, 2, ..."""
    if mode not in _WAYS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    for k, ((before, after), n) in enumerate(zip(widths, extents)):
        if not before and not after:
            continue
        if mode == "reflect" and max(before, after) >= n:
            raise RuntimeError("Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                               f"({before}, {after}) at dimension {k} of input {list(extents)}")
        if mode == "circular" and max(before, after) > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        places = np.pad(np.arange(n), (max(before, 0), max(after, 0)), mode=_WAYS[mode])[max(-before, 0):]                     # type: ignore[call-overload]
        places = places[:len(places) - max(-after, 0)]
        spec = tuple("a" if j == k else ":" for j in range(len(extents)))
        x = op["index"](x, places, spec=spec, at=k)
    return named(x, {"reflect": "Reflection", "replicate": "Replication", "circular": "Circular"}[mode] + "PadBackward0")


def pad(input: Any, pad: Any, mode: str = "constant", value: "float | None" = None) -> Any:
    """More elements at both ends of the last dimensions: (last before, last after, the one before it before, after, ...)."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > len(input.shape):
        raise RuntimeError(f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and input of "
                           f"dimension {len(input.shape)}")
    widths = [(0, 0)] * (len(input.shape) - len(pad) // 2) + [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    extents = sizes(input)
    if mode != "constant":
        return _repeated(input, widths, extents, mode)
    shape = [n + a + b for n, (a, b) in zip(extents, widths)]
    spec, operands = tuple(("s", 1) for _ in shape), [v for n, (a, _) in zip(extents, widths) for v in (a, n)]
    return named(op["update"](np.full(shape, value or 0.0, input.dtype), input, *operands, spec=spec, at=0), "ConstantPadNdBackward0")
