"""Losses, as functions."""
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..tensor import raw
from .functional import call, log_softmax


def reduced(loss: Any, reduction: str) -> Any:
    """The mean, the sum or the elements of a loss."""
    if reduction == "mean":
        return call("numpy.mean", loss)
    if reduction == "sum":
        return call("numpy.sum", loss)
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared difference."""
    d = input - target
    return reduced(d * d, reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute difference."""
    return reduced(abs(input - target), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Quadratic for differences below beta, linear above."""
    d = abs(input - target)
    return reduced(op["where"](d < beta, 0.5 * d * d / (beta or 1.0), d - 0.5 * beta), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Quadratic for differences below delta, linear above, with slope delta there."""
    d = abs(input - target)
    return reduced(op["where"](d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """-(t log p + (1 - t) log(1 - p)), the logarithms at least -100."""
    low = -100.0
    loss = -(target * op["maximum"](op["log"](input), low) + (1.0 - target) * op["maximum"](op["log1p"](-input), low))
    return reduced(loss if weight is None else loss * weight, reduction)


def binary_cross_entropy_with_logits(input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> Any:
    """The binary cross entropy of the logistic function of the input, without overflow."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({tuple(target.shape)}) must be the same as input size ({tuple(input.shape)})")
    if pos_weight is None:
        loss = op["logaddexp"](input, 0.0) - target * input
    else:
        loss = (1.0 - target) * input + (1.0 + (pos_weight - 1.0) * target) * op["logaddexp"](-input, 0.0)
    return reduced(loss if weight is None else loss * weight, reduction)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """Minus the input at the target's class; input (N, C, ...), target (N, ...)."""
    classes = raw(target)
    if len(input.shape) == 1:
        input, classes = op["reshape"](input, 1, *input.shape), classes.reshape(1)
    kept = classes != ignore_index
    safe = np.where(kept, classes, 0)
    others = np.ix_(*[np.arange(n) for n in safe.shape])
    key = (np.broadcast_to(others[0], safe.shape), safe, *[np.broadcast_to(o, safe.shape) for o in others[1:]])
    shares = kept.astype(float) if weight is None else raw(weight)[safe] * kept
    loss = -input[tuple(np.ascontiguousarray(k) for k in key)] * shares
    if reduction == "mean":
        return call("numpy.sum", loss) / float(shares.sum())
    return reduced(loss, reduction)


def cross_entropy(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """The negative log likelihood of softmax(input); the target holds classes, or probabilities in the input's shape."""
    ax = 1 if len(input.shape) > 1 else 0
    logs = log_softmax(input, ax)
    if raw(target).dtype.kind in "iu":
        loss = nll_loss(logs, target, weight, ignore_index, reduction)
        if not label_smoothing:
            return loss
        return (1.0 - label_smoothing) * loss - label_smoothing * reduced(call("numpy.mean", logs, axis=ax), reduction)
    n = input.shape[ax]
    goal = target if not label_smoothing else target * (1.0 - label_smoothing) + label_smoothing / n
    terms = logs * goal if weight is None else logs * goal * op["reshape"](weight, *[n if k == ax else 1 for k in range(len(input.shape))])
    loss = -call("numpy.sum", terms, axis=ax)
    return reduced(loss, reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """target (log target - input), the input being logarithms; "batchmean" divides the sum by the batch."""
    loss = op["exp"](target) * (target - input) if log_target else op["xlogy"](target, target) - target * input
    return call("numpy.sum", loss) / input.shape[0] if reduction == "batchmean" else reduced(loss, reduction)


def poisson_nll_loss(input: Any, target: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> Any:
    """Minus the log likelihood of Poisson counts."""
    loss = op["exp"](input) - target * input if log_input else input - target * op["log"](input + eps)
    return reduced(loss, reduction)


def gaussian_nll_loss(input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Any:
    """Minus the log likelihood of normal observations."""
    var = op["maximum"](var, eps)
    d = input - target
    loss = 0.5 * (op["log"](var) + d * d / var) + (0.5 * float(np.log(2 * np.pi)) if full else 0.0)
    return reduced(loss, reduction)


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    """The input where the target is 1, else max(0, margin - input)."""
    return reduced(op["where"](target == 1, input, op["maximum"](margin - input, 0.0)), reduction)


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    """max(0, -target (input1 - input2) + margin)."""
    return reduced(op["maximum"](-target * (input1 - input2) + margin, 0.0), reduction)


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """log(1 + exp(-target input))."""
    return reduced(op["logaddexp"](-target * input, 0.0), reduction)
