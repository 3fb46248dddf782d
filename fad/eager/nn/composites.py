"""Composites of layers: activations and losses as one step each, with their derivatives."""
import math
from collections.abc import Callable

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray
from ..functions.composite import Composite, elementwise, quietly
from ..functions.composites import mean
from ..functions.selections import along
from ..tensors.errors import OptionError, face, refuse_if
from ..tensors.tensor import Tensor, raw

_where, _expit, _exp = op["where"], op["expit"], op["exp"]


def _one(x: AnyArray, condition: AnyArray) -> AnyArray:
    """1 where a condition holds, 0 elsewhere, in x's dtype."""
    return op["cast"](condition, dtype=x.dtype)


# -- activations: written and differentiated element by element --------------------------------------------------------


def _leaky_partial(y: AnyArray, x: AnyArray, slope: float) -> AnyArray:
    return _where(x > 0, _one(x, x > 0), slope)


leaky_relu = elementwise("leaky_relu", lambda x, slope: _where(x > 0, x, x * slope), _leaky_partial,
                         node="LeakyReluBackward0")
hardtanh = elementwise("hardtanh", lambda x, low, high: _where(x <= low, low, _where(x >= high, high, x)),
                       lambda y, x, low, high: ~((x <= low) | (x >= high)), node="HardtanhBackward0", passes=True)


def _elu(x: AnyArray, alpha: float, scale: float) -> AnyArray:
    positive = x > 0
    return scale * _where(positive, x, alpha * op["expm1"](_where(positive, 0.0, x)))


def _elu_partial(y: AnyArray, x: AnyArray, alpha: float, scale: float) -> AnyArray:
    positive = x > 0
    return scale * _where(positive, _one(x, positive), alpha * _exp(_where(positive, 0.0, x)))


elu = elementwise("elu", _elu, _elu_partial, node="EluBackward0")


def _gelu(x: AnyArray) -> AnyArray:
    return x * (0.5 * (1.0 + op["erf"](x * math.sqrt(0.5))))


def _gelu_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    density = _exp(-0.5 * x * x) * (1.0 / math.sqrt(2.0 * math.pi))
    return 0.5 * (1.0 + op["erf"](x * math.sqrt(0.5))) + x * density


gelu = elementwise("gelu", _gelu, _gelu_partial, node="GeluBackward0")


def _gelu_inner(x: AnyArray) -> AnyArray:
    return op["tanh"](math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x))


def _gelu_tanh_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    t = _gelu_inner(x)
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * (math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * 0.044715 * x * x))


gelu_tanh = elementwise("gelu_tanh", lambda x: 0.5 * x * (1.0 + _gelu_inner(x)), _gelu_tanh_partial,
                        node="GeluBackward0")


def _silu_partial(y: AnyArray, x: AnyArray) -> AnyArray:
    s = _expit(x)
    return s * (1.0 + x * (1.0 - s))


silu = elementwise("silu", lambda x: x * _expit(x), _silu_partial, node="SiluBackward0")
softplus = elementwise("softplus", lambda x, beta, threshold: _where(x * beta > threshold, x,
                                                                     op["logaddexp"](x * beta, 0.0) / beta),
                       lambda y, x, beta, threshold: _where(x * beta > threshold, 1.0, _expit(x * beta)),
                       node="SoftplusBackward0")

# -- losses: an elementwise function of input and target, then its mean or sum -----------------------------------------


def reduced(loss: AnyArray, reduction: str) -> AnyArray:
    """The mean, the sum or the elements of a loss."""
    axes = tuple(range(len(loss.shape)))
    if reduction == "mean":
        return mean(loss, axes=axes, keep=False) if isinstance(loss, Tensor) else face("numpy.mean", loss)
    if reduction == "sum":
        return op["sum"](loss, axes=axes)
    refuse_if(reduction != "none", f"{reduction} is not a valid value for reduction", OptionError)
    return loss


def _share(g: AnyArray, x: AnyArray, reduction: str) -> AnyArray:
    """The cotangent of a loss' elements, given that of what it was reduced to."""
    return g / (math.prod(x.shape) or math.nan) if reduction == "mean" else g


def _loss(name: str, written: Callable, partials: Callable, node: str, inputs: tuple = ("self", "target")) -> Composite:
    """A loss of equally shaped input and target; partials(x, t, *others, needs, **params): its derivatives."""
    def whole(x: AnyArray, t: AnyArray, *others: "AnyArray | None", reduction: str, **params: object) -> AnyArray:
        return reduced(written(x, t, *others, **params), reduction)

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, reduction: str, **params: object) -> tuple:
        g = _share(gs[0], xs[0], reduction)
        parts = partials(*xs, needs=needs, **params)
        return tuple([None if p is None else g * p for p in parts]) + (None,) * (len(xs) - 2)
    return Composite(name, whole, pullback, quietly(whole), node=node, edges=2, inputs=inputs, alike=True)


def _opposite(d: AnyArray, needs: tuple) -> tuple:
    """Derivatives of a function of the difference."""
    return d, -d if needs[1] else None


def _smooth_partials(x: AnyArray, t: AnyArray, needs: tuple, beta: float) -> tuple:
    d = x - t
    return _opposite(_where(abs(d) < beta, d / (beta or 1.0), op["sign"](d)), needs)


def _smooth(x: AnyArray, t: AnyArray, beta: float) -> AnyArray:
    d = abs(x - t)
    return _where(d < beta, 0.5 * d * d / (beta or 1.0), d - 0.5 * beta)


def _huber(x: AnyArray, t: AnyArray, delta: float) -> AnyArray:
    d = abs(x - t)
    return _where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def _huber_partials(x: AnyArray, t: AnyArray, needs: tuple, delta: float) -> tuple:
    d = x - t
    return _opposite(_where(abs(d) <= delta, d, delta * op["sign"](d)), needs)


def _square(x: AnyArray, t: AnyArray) -> AnyArray:
    d = x - t
    return d * d


mse_loss = _loss("mse_loss", _square, lambda x, t, needs: _opposite(2.0 * (x - t), needs), "MseLossBackward0")
smooth_l1_loss = _loss("smooth_l1_loss", _smooth, _smooth_partials, "SmoothL1LossBackward0")
huber_loss = _loss("huber_loss", _huber, _huber_partials, "HuberLossBackward0")


def _weighted(loss: AnyArray, weight: "AnyArray | None") -> AnyArray:
    return loss if weight is None else loss * weight


def _entropy(x: AnyArray, t: AnyArray, weight: "AnyArray | None") -> AnyArray:
    low = -100.0
    return _weighted(-(t * op["maximum"](op["log"](x), low) + (1.0 - t) * op["maximum"](op["log1p"](-x), low)), weight)


def _entropy_partials(x: AnyArray, t: AnyArray, weight: "AnyArray | None", needs: tuple) -> tuple:
    of_x = (x - t) / op["maximum"](x * (1.0 - x), 1e-12)
    of_t = op["maximum"](op["log1p"](-x), -100.0) - op["maximum"](op["log"](x), -100.0) if needs[1] else None
    return _weighted(of_x, weight), None if of_t is None else _weighted(of_t, weight)


binary_cross_entropy = _loss("binary_cross_entropy", _entropy, _entropy_partials, "BinaryCrossEntropyBackward0")


def _logits(x: AnyArray, t: AnyArray, weight: "AnyArray | None", pos_weight: "AnyArray | None") -> AnyArray:
    if pos_weight is None:
        return _weighted(op["logaddexp"](x, 0.0) - t * x, weight)
    return _weighted((1.0 - t) * x + (1.0 + (pos_weight - 1.0) * t) * op["logaddexp"](-x, 0.0), weight)


def _logits_partials(x: AnyArray, t: AnyArray, weight: "AnyArray | None", pos_weight: "AnyArray | None",
                     needs: tuple) -> tuple:
    if pos_weight is None:
        return _weighted(_expit(x) - t, weight), _weighted(-x, weight) if needs[1] else None
    of_x = (1.0 - t) - (1.0 + (pos_weight - 1.0) * t) * _expit(-x)
    return (_weighted(of_x, weight),
            _weighted((pos_weight - 1.0) * op["logaddexp"](-x, 0.0) - x, weight) if needs[1] else None)


binary_cross_entropy_with_logits = _loss("binary_cross_entropy_with_logits", _logits, _logits_partials,
                                         "BinaryCrossEntropyWithLogitsBackward0")

# -- classes -----------------------------------------------------------------------------------------------------------


def _shares(classes: AnyArray, weight: "AnyArray | None", ignore: int, dtype: np.dtype) -> "tuple[AnyArray, AnyArray]":
    """The classes with 0 for those to be ignored (None: no class is), and how much each example counts."""
    kept = classes == classes if ignore is None else classes != ignore
    safe = _where(kept, classes, 0)
    counts = op["cast"](kept, dtype=dtype)
    return safe, counts if weight is None else counts * op["index"](weight, safe, spec=("a",), at=0)


def _picked(x: AnyArray, classes: AnyArray) -> tuple:
    """The operands and parameters that select each row's class."""
    return (face("numpy.arange", classes.shape[0]), classes), {"spec": ("a", "a"), "at": 0}


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
        return quietly(_nll)(x, classes, weight, ignore, reduction)
    safe, shares = _shares_now(classes, weight, ignore, x.dtype)
    loss = x.take(along(safe[:, None], 1, x.shape))[:, 0]
    if shares is None:
        over = -len(loss)
    else:
        with np.errstate(all="ignore"):
            loss = np.where(shares == 0, x.dtype.type(0), loss * shares)
            over = -np.add.reduce(shares, None)
            return (-loss if reduction == "none"
                    else np.add.reduce(loss, None) / (over if reduction == "mean" else x.dtype.type(-1)))
    if reduction == "none":
        return -loss
    return np.add.reduce(loss, None) / (over if reduction == "mean" else -1)


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


nll_loss = Composite("nll_loss", _nll, _nll_pullback, _nll_run, node="NllLossBackward0",
                     inputs=("self", "target", "weight"), saves=(0,))
