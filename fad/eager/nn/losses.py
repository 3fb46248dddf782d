"""Losses, as functions. Their options have names only: by place, PyTorch has former options in between."""
import math
import warnings
from collections.abc import Callable

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray
from ..functions.composite import Composite, quietly
from ..functions.composites import log_softmax as log_softmax_step
from ..functions.composites import mean
from ..functions.selections import all_below, along
from ..graph.inplace import wanted
from ..graph.node_attributes import REDUCTIONS, total_weight
from ..graph.single_node import together
from ..tensors.errors import OptionError, override, refuse_if, scalar_name
from ..tensors.tensor import Tensor, raw
from .activations import log_softmax

_where = op["where"]


def reduced(loss: AnyArray, reduction: str) -> AnyArray:
    """The mean, the sum or the elements of a loss."""
    axes = tuple(range(len(loss.shape)))
    if reduction == "mean":
        return mean(loss, axes=axes, keep=False) if isinstance(loss, Tensor) else override("numpy.mean", loss)
    if reduction == "sum":
        return op["sum"](loss, axes=axes)
    refuse_if(reduction != "none", f"{reduction} is not a valid value for reduction", OptionError)
    return loss


def _loss(name: str, written: Callable, partials: Callable, node: str) -> Composite:
    """A loss of equally shaped input and target; partials(x, t, *others, needs, **params): its derivatives."""
    def whole(x: AnyArray, t: AnyArray, *others: "AnyArray | None", reduction: str, **params: object) -> AnyArray:
        return reduced(written(x, t, *others, **params), reduction)

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, reduction: str, **params: object) -> tuple:
        g = gs[0] / (math.prod(xs[0].shape) or math.nan) if reduction == "mean" else gs[0]
        parts = partials(*xs, needs=needs, **params)
        return tuple([None if p is None else g * p for p in parts]) + (None,) * (len(xs) - 2)
    return Composite(name, whole, pullback, quietly(whole), node=node, edges=2,
                     inputs=("self", "target"), alike=True)


def _of_difference(name: str, size: Callable, slope: Callable, node: str) -> Composite:
    """A loss of the difference of input and target: size(d, **params), whose derivative is slope(d, **params)."""
    def partials(x: AnyArray, t: AnyArray, needs: tuple, **params: object) -> tuple:
        d = slope(x - t, **params)
        return d, -d if needs[1] else None
    return _loss(name, lambda x, t, **params: size(x - t, **params), partials, node)


_mse = _of_difference("mse_loss", lambda d: d * d, lambda d: 2.0 * d, "MseLossBackward0")
_smooth_l1 = _of_difference(
    "smooth_l1_loss", lambda d, beta: _where(abs(d) < beta, 0.5 * d * d / (beta or 1.0), abs(d) - 0.5 * beta),
    lambda d, beta: _where(abs(d) < beta, d / (beta or 1.0), op["sign"](d)), "SmoothL1LossBackward0")
_huber = _of_difference(
    "huber_loss", lambda d, delta: _where(abs(d) <= delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)),
    lambda d, delta: _where(abs(d) <= delta, d, delta * op["sign"](d)), "HuberLossBackward0")


def _noticed(input: Tensor, target: Tensor) -> None:
    """Warn where two shapes are broadcast that were probably meant to be one."""
    if isinstance(input, Tensor) and input.shape != target.shape:
        warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
                      "will likely lead to incorrect results "
                      "due to broadcasting. Please ensure they have the same size.", stacklevel=3)


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> AnyArray:
    """The squared difference."""
    _noticed(input, target)
    return _mse(input, target, reduction=reduction)


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> AnyArray:
    """The absolute difference."""
    _noticed(input, target)
    return reduced(abs(input - target), reduction)


def smooth_l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0) -> AnyArray:
    """Quadratic for differences below beta, linear above."""
    _noticed(input, target)
    refuse_if(beta < 0, "smooth_l1_loss does not support negative values for beta.")
    return _smooth_l1(input, target, beta=beta, reduction=reduction)


def huber_loss(input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0) -> AnyArray:
    """Quadratic for differences below delta, linear above, with slope delta there."""
    _noticed(input, target)
    refuse_if(delta <= 0, "huber_loss does not support non-positive values for delta.")
    return _huber(input, target, delta=delta, reduction=reduction)


def _weighted(loss: AnyArray, weight: "AnyArray | None") -> AnyArray:
    return loss if weight is None else loss * weight


def _entropy(x: AnyArray, t: AnyArray, weight: "AnyArray | None") -> AnyArray:
    low = -100.0
    return _weighted(-(t * op["maximum"](op["log"](x), low) + (1.0 - t) * op["maximum"](op["log1p"](-x), low)), weight)


def _entropy_partials(x: AnyArray, t: AnyArray, weight: "AnyArray | None", needs: tuple) -> tuple:
    of_x = (x - t) / op["maximum"](x * (1.0 - x), 1e-12)
    of_t = op["maximum"](op["log1p"](-x), -100.0) - op["maximum"](op["log"](x), -100.0) if needs[1] else None
    return _weighted(of_x, weight), None if of_t is None else _weighted(of_t, weight)


_binary = _loss("binary_cross_entropy", _entropy, _entropy_partials, "BinaryCrossEntropyBackward0")


def _logits(x: AnyArray, t: AnyArray, weight: "AnyArray | None", pos_weight: "AnyArray | None") -> AnyArray:
    if pos_weight is None:
        return _weighted(op["logaddexp"](x, 0.0) - t * x, weight)
    return _weighted((1.0 - t) * x + (1.0 + (pos_weight - 1.0) * t) * op["logaddexp"](-x, 0.0), weight)


def _logits_partials(x: AnyArray, t: AnyArray, weight: "AnyArray | None", pos_weight: "AnyArray | None",
                     needs: tuple) -> tuple:
    if pos_weight is None:
        return _weighted(op["expit"](x) - t, weight), _weighted(-x, weight) if needs[1] else None
    of_x = (1.0 - t) - (1.0 + (pos_weight - 1.0) * t) * op["expit"](-x)
    return (_weighted(of_x, weight),
            _weighted((pos_weight - 1.0) * op["logaddexp"](-x, 0.0) - x, weight) if needs[1] else None)


_binary_with_logits = _loss("binary_cross_entropy_with_logits", _logits, _logits_partials,
                            "BinaryCrossEntropyWithLogitsBackward0")


def binary_cross_entropy(input: Tensor, target: Tensor, weight: "Tensor | None" = None, *,
                         reduction: str = "mean") -> AnyArray:
    """-(t log p + (1 - t) log(1 - p)), the logarithms at least -100."""
    refuse_if(tuple(input.shape) != tuple(target.shape), f"Using a target size ({target.shape}) that is different to "
              f"the input size ({input.shape}) is deprecated. Please ensure they have the same size.", ValueError)
    if isinstance(input, Tensor) and input._a.size and not (np.nanmin(input._a) >= 0 and np.nanmax(input._a) <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if isinstance(target, Tensor) and not ((target._a >= 0) & (target._a <= 1)).all():
        raise RuntimeError("all elements of target should be between 0 and 1")
    return _binary(input, target, weight, reduction=reduction)


def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: object = None, *,
                                     reduction: str = "mean", pos_weight: "Tensor | None" = None) -> AnyArray:
    """The binary cross entropy of the logistic function of the input, without overflow."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _binary_with_logits(input, target, weight, pos_weight, reduction=reduction)


# -- classes -----------------------------------------------------------------------------------------------------------


def _shares(classes: AnyArray, weight: "AnyArray | None", ignore: int, dtype: np.dtype) -> "tuple[AnyArray, AnyArray]":
    """The classes with 0 for those to be ignored (None: no class is), and how much each example counts."""
    kept = classes == classes if ignore is None else classes != ignore
    safe = _where(kept, classes, 0)
    counts = op["cast"](kept, dtype=dtype)
    return safe, counts if weight is None else counts * op["index"](weight, safe, spec=("a",), at=0)


def _picked(x: AnyArray, classes: AnyArray) -> tuple:
    """The operands and parameters that select each row's class."""
    return (override("numpy.arange", classes.shape[0]), classes), {"spec": ("a", "a"), "at": 0}


def _nll(x: AnyArray, classes: AnyArray, weight: "AnyArray | None", ignore: int, reduction: str) -> AnyArray:
    classes = raw(classes)
    safe, shares = _shares(classes, weight, ignore, x.dtype)
    operands, params = _picked(x, safe)
    loss = _where(op["equal"](shares, 0), 0.0, -op["index"](x, *operands, **params) * shares)
    if reduction == "mean":
        return op["sum"](loss, axes=(0,)) / op["sum"](shares, axes=(0,))
    return reduced(loss, reduction)


def _shares_now(classes: np.ndarray, weight: "AnyArray | None", ignore: object,
                dtype: np.dtype) -> "tuple[np.ndarray, np.ndarray | None]":
    """The same on arrays; None where all count the same."""
    if ignore is None:
        return classes, None if weight is None else weight.take(classes)
    kept = classes != ignore
    safe = np.where(kept, classes, 0)
    return safe, kept.astype(dtype) if weight is None else kept * weight.take(safe)


def _nll_run(x: np.ndarray, classes: np.ndarray, weight: "AnyArray | None", ignore: "int | None",
             reduction: str) -> AnyArray:
    if not classes.size or reduction not in ("mean", "sum", "none") or not (weight is None or weight.dtype is x.dtype):
        return _nll(x, classes, weight, ignore, reduction)
    safe, shares = _shares_now(classes, weight, ignore, x.dtype)
    loss = -x.take(along(safe[:, None], 1, x.shape))[:, 0]
    if shares is not None:
        loss = np.where(shares == 0, x.dtype.type(0), loss * shares)
    if reduction == "none":
        return loss
    total = np.add.reduce(loss, None)
    return total if reduction == "sum" else total / (len(loss) if shares is None else np.add.reduce(shares, None))


def _nll_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, ignore: object, reduction: str) -> tuple:
    (x, classes, weight), g = xs, gs[0]
    if type(g) is np.ndarray and classes.size and (weight is None or type(weight) is np.ndarray):
        n, m = x.shape
        safe, shares = _shares_now(np.asarray(classes), weight, ignore, x.dtype)
        gx = np.zeros(n * m, x.dtype)
        with np.errstate(all="ignore"):
            if reduction == "mean":
                g = g / (n if shares is None else np.add.reduce(shares, None))
            gx[along(safe[:, None], 1, (n, m))[:, 0]] = -g if shares is None else np.where(shares == 0, 0, -g * shares)
        return gx.reshape(n, m), None, None
    classes = raw(classes)
    safe, shares = _shares(classes, weight, ignore, x.dtype)
    operands, params = _picked(x, safe)
    g = gs[0] / op["sum"](shares, axes=(0,)) if reduction == "mean" else gs[0]
    rows = _where(op["equal"](shares, 0), 0.0, -g * shares)                 # g is no number where all are ignored
    return op["index_add"](op["zeros_like"](x), rows, *operands, **params), None, None


_likelihood = Composite("nll_loss", _nll, _nll_pullback, quietly(_nll_run), node="NllLossBackward0",
                        inputs=("self", "target", "weight"), saves=(0,))


def _is_plain(input: AnyArray, target: AnyArray, weight: "Tensor | None", ignore: int) -> bool:
    """Whether a loss is of rows and a class for each, all of which count, and count the same."""
    if input.__class__ is not Tensor or target.__class__ is not Tensor or weight is not None:
        return False
    shape, classes = input._a.shape, target._a
    return (len(shape) == 2 and classes.shape == shape[:1] and classes.dtype.kind in "iu" and classes.size > 0
            and all_below(classes, shape[1]) and not 0 <= ignore < shape[1])


def nll_loss(input: AnyArray, target: AnyArray, weight: "Tensor | None" = None, *,
             ignore_index: int = -100, reduction: str = "mean") -> AnyArray:
    """Minus the input at the target's class; input (N, C, ...), target (N, ...)."""
    if _is_plain(input, target, weight, ignore_index):
        return _likelihood(input, target, None, ignore=None, reduction=reduction)
    given, shape, classes = input, tuple(target.shape), raw(target)
    rank = len(input.shape)
    ignored = None if _check_classes(input, classes, weight, ignore_index) else ignore_index
    if rank == 1:
        input, classes = op["reshape"](input, 1, *input.shape), op["reshape"](classes, 1)
    elif rank == 2:
        classes = target                                           # watched: it may not change before backward
    else:                                                          # every place is an example
        order = (0, *range(2, len(input.shape)), 1)
        input = op["reshape"](op["transpose"](input, axes=order), math.prod(shape), input.shape[1])
        classes = op["reshape"](classes, math.prod(shape))
    loss = _likelihood(input, classes, weight if wanted(weight) else raw(weight), ignore=ignored,
                       reduction=reduction)
    loss = op["reshape"](loss, *shape) if reduction == "none" and len(shape) != 1 else loss
    if isinstance(given, Tensor) and rank > 2:
        together((loss,), "NllLoss2DBackward0", (given,), {"self": given, "target": target, "weight": weight},
                 ignore_index=ignore_index, reduction=REDUCTIONS[reduction],
                 total_weight=total_weight(given, target, weight, ignore_index, reduction))
    return loss


def _check_classes(input: AnyArray, classes: AnyArray, weight: "Tensor | None", ignore: int) -> bool:
    """Raise unless the target (an array) holds a class for every example, each of those that there are; whether it is
    known that none of them is to be ignored."""
    if not isinstance(input, Tensor) or not isinstance(classes, np.ndarray):
        return False
    shape = input._a.shape
    refuse_if(not shape, f"Expected 1 or more dimensions (got {len(shape)})", ValueError)
    if len(shape) == 1 and classes.size > 1 or len(shape) > 1 and classes.shape[:1] != shape[:1]:
        raise ValueError(f"Expected input batch_size ({shape[0] if len(shape) > 1 else 1}) to match target batch_size "
                         f"({classes.shape[0] if classes.ndim else 1}).")
    if len(shape) > 1 and classes.shape != (shape[0], *shape[2:]):
        raise RuntimeError(f"Expected target size {[shape[0], *shape[2:]]}, got {list(classes.shape)}")
    if classes.dtype.kind not in "iu":
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {scalar_name(classes.dtype)}")
    count = shape[1] if len(shape) > 1 else shape[0]
    if weight is not None and tuple(weight.shape) != (count,):
        raise RuntimeError(f"weight tensor should be defined either for all {count} classes or no classes but got "
                           f"weight tensor of shape: {list(weight.shape)}")
    if not classes.size or all_below(classes, count):
        return not 0 <= ignore < count
    wrong = (classes != ignore) & ((classes < 0) | (classes >= count))
    if wrong.any():
        raise IndexError(f"Target {classes[wrong].flat[0]} is out of bounds.")
    return False


def cross_entropy(input: AnyArray, target: AnyArray, weight: "Tensor | None" = None, *,
                  ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> AnyArray:
    """The negative log likelihood of softmax(input); the target holds classes, or probabilities in input's shape."""
    if not label_smoothing and _is_plain(input, target, weight, ignore_index):
        return _likelihood(log_softmax_step(input, axis=1), target, None, ignore=None, reduction=reduction)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    shape = tuple(input.shape)
    ax = 1 if len(shape) > 1 else 0
    logs = log_softmax_step(input, axis=ax) if shape else log_softmax(input, ax)
    as_shares = tuple(target.shape) == shape
    refuse_if(as_shares and ignore_index >= 0, "ignore_index is not supported for floating point target")
    if as_shares and target.dtype.kind not in "fc":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got "
                           f"{scalar_name(target.dtype)}")
    if not as_shares:
        loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
        if not label_smoothing:
            return loss
        return (1.0 - label_smoothing) * loss + label_smoothing * _smoothing(logs, raw(target), weight, ignore_index,
                                                                             ax, reduction)
    n = input.shape[ax]
    goal = target if not label_smoothing else target * (1.0 - label_smoothing) + label_smoothing / n
    terms = (logs * goal if weight is None
             else logs * goal * op["reshape"](weight, *[n if k == ax else 1 for k in range(len(input.shape))]))
    loss = -override("numpy.sum", terms, axis=ax)
    return reduced(loss, reduction)


def _smoothing(logs: object, classes: AnyArray, weight: "Tensor | None", ignore: int, ax: int,
               reduction: str) -> AnyArray:
    """The loss of evenly distributed probabilities, with the weights of the classes and without the ignored ones."""
    n = logs.shape[ax]
    terms = logs if weight is None else logs * op["reshape"](weight,
                                                             *[n if k == ax else 1 for k in range(len(logs.shape))])
    kept = classes != ignore
    loss = _where(kept, -override("numpy.mean", terms, axis=ax), 0.0)
    if reduction != "mean":
        return reduced(loss, reduction)
    shares = op["cast"](kept, dtype=logs.dtype)
    if weight is not None:
        shares = shares * op["index"](weight, _where(kept, classes, 0), spec=("a",), at=0)
    return override("numpy.sum", loss) / override("numpy.sum", shares)


# -- likelihoods -------------------------------------------------------------------------------------------------------


def kl_div(input: Tensor, target: Tensor, *, reduction: str = "mean", log_target: bool = False) -> AnyArray:
    """target (log target - input), the input being logarithms; "batchmean" divides the sum by the batch."""
    if reduction == "mean" and isinstance(input, Tensor):
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support "
                      "size.'batchmean' divides only by the batch size, and "
                      "aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' "
                      "in the next major release.", stacklevel=2)
    loss = op["exp"](target) * (target - input) if log_target else op["xlogy"](target, target) - target * input
    if reduction == "batchmean":
        return override("numpy.sum", loss) / input.shape[0] if len(input.shape) else override("numpy.sum", loss)
    return reduced(loss, reduction)
