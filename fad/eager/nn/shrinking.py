"""Less common activations, normalisations, distances and their losses, attention; dropout of whole channels."""
import math
from typing import Any

import numpy as np

from ..composites import batch_norm as batch_norm_step
from ..creation import source
from ..node import Undifferentiable
from ..pointwise import where
from ..registry import named
from ..tensor import raw, wrap
from .composites import reduced
from .functional import batch_norm, celu, elu, follow, hardtanh, in_their_place, keeps, leaky_relu, relu, selu, softmax


@in_their_place
def threshold(input: Any, threshold: Any, value: Any, inplace: bool = False) -> Any:
    """x where it is more than the threshold, else the value."""
    return named(where(input > threshold, input, value), "ThresholdBackward0", threshold=threshold, value=value)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x where |x| is more than lambd, else 0."""
    return named(where(input.abs() > lambd, input, 0.0), "HardshrinkBackward0", lambd=lambd)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, and 0 where |x| is no more than that."""
    return named(where(input > lambd, input - lambd, where(input < -lambd, input + lambd, 0.0)), "SoftshrinkBackward0", lambd=lambd)


def tanhshrink(input: Any) -> Any:
    """x - tanh(x)."""
    return input - input.tanh()


@in_their_place
def rrelu(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """x where positive, else a multiple of it: drawn from [lower, upper) while training, their mean otherwise."""
    slope = wrap(source(None).uniform(lower, upper, input.shape).astype(input.dtype)) if training else (lower + upper) / 2
    return where(input > 0, input, input * slope)


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Any:
    """A draw from the relaxed categorical distribution; hard: one-hot, with the gradient of the relaxed one."""
    noise = wrap(source(None).gumbel(size=logits.shape).astype(logits.dtype))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    place = soft.argmax(dim, True)
    return soft.detach().mul(0).scatter(dim, place, 1.0) - soft.detach() + soft


def _channels_dropped(input: Any, p: float, training: bool, rank: int) -> Any:
    if not training or p == 0:
        return input
    lead = len(input.shape) - rank
    kept = source(None).random((*input.shape[:lead], *[1] * rank)) >= p
    return input * wrap(kept.astype(input.dtype) / (1 - p if p < 1 else 1))


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels set to zero with probability p, the others scaled by 1 / (1 - p)."""
    return _channels_dropped(input, p, training, 1)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels set to zero with probability p, the others scaled by 1 / (1 - p)."""
    return _channels_dropped(input, p, training, 2)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels set to zero with probability p, the others scaled by 1 / (1 - p)."""
    return _channels_dropped(input, p, training, 3)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and variance of what selu gives (Klambauer et al., Self-normalizing neural networks, 2017)."""
    if not training or p == 0:
        return input
    alpha = -1.7580993408473766
    scale = 1 / math.sqrt(alpha ** 2 * p * (1 - p) + (1 - p))
    kept = wrap((source(None).random(input.shape) >= p).astype(input.dtype))
    return (input * kept + alpha * (1 - kept)) * scale - scale * alpha * p


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: "float | None" = None) -> Any:
    """input divided by its root mean square over the last dimensions."""
    dims = list(range(-len(tuple(normalized_shape)), 0))
    y = input / ((input * input).mean(dims, True) + (np.finfo(input.dtype).eps if eps is None else eps)).sqrt()
    return y if weight is None else y * weight


def instance_norm(input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Any:
    """Every channel of every example to mean 0 and variance 1; running statistics, where given, follow the mean over the examples."""
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    (n, c), spatial = input.shape[:2], tuple(input.shape[2:])
    count = math.prod(spatial)
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if running_mean is not None and keeps(input, running_mean):
        rows = raw(input).reshape(n, c, count)
        follow(running_mean, rows.mean((0, 2)), momentum, 1.0)
        follow(running_var, rows.var(2).mean(0), momentum, count / (count - 1))
    weight, bias = (None if p is None else p.repeat(n) for p in (weight, bias))
    y = batch_norm_step(input.reshape(1, n * c, *spatial), weight, bias, axes=(0, *range(2, len(spatial) + 2)), shape=(1, n * c, *[1] * len(spatial)), eps=eps)
    return y.reshape(n, c, *spatial)


def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """input divided by (k + alpha * the mean square of `size` neighbouring channels) ** beta."""
    square, n = input * input, input.shape[1]
    rows = np.arange(n)
    near = ((rows[None] - rows[:, None] >= -(size // 2)) & (rows[None] - rows[:, None] <= (size - 1) // 2)).astype(input.dtype)
    total = (wrap(near) @ square.reshape(square.shape[0], n, -1)).reshape(*input.shape)
    return input / (total * (alpha / size) + k) ** beta


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """max(distance to the positive - distance to the negative + margin, 0)."""
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced((pairwise_distance(anchor, positive, p, eps) - far + margin).clamp(min=0), reduction)


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: Any = None, reduce: Any = None,
                          reduction: str = "mean") -> Any:
    """1 - cos where the target is 1, max(cos - margin, 0) where it is -1."""
    dot = (input1 * input2).sum(-1)
    cos = dot / (((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)).sqrt()
    return reduced(where(target == 1, 1 - cos, (cos - margin).clamp(min=0)), reduction)


def multilabel_soft_margin_loss(input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """The mean over classes of the binary cross entropies of logits."""
    loss = (-input).logaddexp(input * 0) * target + input.logaddexp(input * 0) * (1 - target)
    return reduced((loss if weight is None else loss * weight).mean(-1), reduction)


def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
                                 scale: "float | None" = None) -> Any:
    """softmax(query key^T scale + mask) value."""
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        attn_mask = wrap(np.tri(query.shape[-2], key.shape[-2], dtype=bool))
    if attn_mask is not None:
        scores = where(attn_mask, scores, -math.inf) if attn_mask.dtype.kind == "b" else scores + attn_mask
    weights = scores.softmax(-1)
    if dropout_p:
        weights = _channels_dropped(weights, dropout_p, True, 0)
    return weights @ value


def relu_(input: Any) -> Any:
    """relu, in place."""
    return relu(input, inplace=True)


def elu_(input: Any, alpha: float = 1.0) -> Any:
    """elu, in place."""
    return elu(input, alpha, inplace=True)


def selu_(input: Any) -> Any:
    """selu, in place."""
    return selu(input, inplace=True)


def celu_(input: Any, alpha: float = 1.0) -> Any:
    """celu, in place."""
    return celu(input, alpha, inplace=True)


def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """hardtanh, in place."""
    return hardtanh(input, min_val, max_val, inplace=True)


def threshold_(input: Any, threshold: Any, value: Any) -> Any:
    """threshold, in place."""
    return _threshold(input, threshold, value, inplace=True)


def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """leaky_relu, in place; a negative slope leaves no way back."""
    y = leaky_relu(input, negative_slope, inplace=True)
    return y if negative_slope >= 0 else without_way_back(y, "leakyReLu")


def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """rrelu, in place; a negative slope leaves no way back."""
    y = rrelu(input, lower, upper, training, inplace=True)
    return y if lower >= 0 else without_way_back(y, "leakyReLu")


def without_way_back(y: Any, name: str) -> Any:
    """y, through which no gradient can go."""
    if y._fn is not None:
        y._fn = Undifferentiable((y._fn,), f"{name}Backward0", f"In-place {name} backward calculation is triggered with a negative slope which is not "
                                 "supported. This is caused by calling in-place forward function with a negative slope, please call out-of-place version "
                                 "instead.")
        y._nr = 0
    return y


_threshold = threshold
