"""Losses, as functions."""
import math
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ..tensor import raw
from . import composites as steps
from .composites import reduced
from .functional import call, log_softmax


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The squared difference."""
    return steps.mse_loss(input, target, reduction=reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """The absolute difference."""
    return reduced(abs(input - target), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """Quadratic for differences below beta, linear above."""
    return steps.smooth_l1_loss(input, target, beta=beta, reduction=reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Quadratic for differences below delta, linear above, with slope delta there."""
    return steps.huber_loss(input, target, delta=delta, reduction=reduction)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, reduction: str = "mean") -> Any:
    """-(t log p + (1 - t) log(1 - p)), the logarithms at least -100."""
    return steps.binary_cross_entropy(input, target, weight, reduction=reduction)


def binary_cross_entropy_with_logits(input: Any, target: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> Any:
    """The binary cross entropy of the logistic function of the input, without overflow."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({tuple(target.shape)}) must be the same as input size ({tuple(input.shape)})")
    return steps.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction=reduction)


def nll_loss(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """Minus the input at the target's class; input (N, C, ...), target (N, ...)."""
    shape, classes = target.shape, raw(target)
    if len(input.shape) == 1:
        input, classes = op["reshape"](input, 1, *input.shape), op["reshape"](classes, 1)
    elif len(input.shape) > 2:                                     # every place is an example
        order = (0, *range(2, len(input.shape)), 1)
        input = op["reshape"](op["transpose"](input, axes=order), math.prod(shape), input.shape[1])
        classes = op["reshape"](classes, math.prod(shape))
    loss = steps.nll_loss(input, classes, raw(weight), ignore=ignore_index, reduction=reduction)
    return op["reshape"](loss, *shape) if reduction == "none" and len(shape) != 1 else loss


def cross_entropy(input: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """The negative log likelihood of softmax(input); the target holds classes, or probabilities in the input's shape."""
    ax = 1 if len(input.shape) > 1 else 0
    logs = log_softmax(input, ax)
    if target.dtype.kind in "iu":
        loss = nll_loss(logs, target, weight, ignore_index, reduction)
        if not label_smoothing:
            return loss
        return (1.0 - label_smoothing) * loss + label_smoothing * _smoothing(logs, raw(target), weight, ignore_index, ax, reduction)
    n = input.shape[ax]
    goal = target if not label_smoothing else target * (1.0 - label_smoothing) + label_smoothing / n
    terms = logs * goal if weight is None else logs * goal * op["reshape"](weight, *[n if k == ax else 1 for k in range(len(input.shape))])
    loss = -call("numpy.sum", terms, axis=ax)
    return reduced(loss, reduction)


def _smoothing(logs: Any, classes: Any, weight: Any, ignore: int, ax: int, reduction: str) -> Any:
    """The loss of evenly distributed probabilities: what is left out and what counts more is as with the classes themselves."""
    n = logs.shape[ax]
    terms = logs if weight is None else logs * op["reshape"](weight, *[n if k == ax else 1 for k in range(len(logs.shape))])
    kept = classes != ignore
    loss = op["where"](kept, -call("numpy.mean", terms, axis=ax), 0.0)
    if reduction != "mean":
        return reduced(loss, reduction)
    shares = op["cast"](kept, dtype=logs.dtype)
    if weight is not None:
        shares = shares * op["index"](weight, op["where"](kept, classes, 0), spec=("a",), at=0)
    return call("numpy.sum", loss) / call("numpy.sum", shares)


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
