"""nn.functional: what layers compute, as functions of tensors (or of traced arrays: only ops and overrides are used).
"""
import math
import time

import numpy as np

from ...ops.numpy_api.arguments import fixed
from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..functions.composites import addmm as addmm_step
from ..functions.products import addmm, matmul
from ..functions.registry import named
from ..graph.inplace import number
from ..graph.single_node import step
from ..tensors.errors import override, refuse_if
from ..tensors.promotion import result_type
from ..tensors.state import now
from ..tensors.tensor import Tensor, raw, wrap


def sizes(x: object) -> tuple:
    """x's extents as ints; those of a traced array become part of the program."""
    return x._a.shape if isinstance(x, Tensor) else tuple([fixed(n, "an extent of a layer's input") for n in x.shape])


def swapped(x: object, a: int = -1, b: int = -2) -> AnyArray:
    """x with two axes exchanged."""
    axes = list(range(len(x.shape)))
    axes[a], axes[b] = axes[b], axes[a]
    return op["transpose"](x, axes=tuple(axes))


def flatten(input: object, start_dim: int = 1, end_dim: int = -1) -> AnyArray:
    """Dimensions made one."""
    if isinstance(input, Tensor):
        return input.flatten(start_dim, end_dim)
    shape, last = input.shape, end_dim % len(input.shape)
    first = start_dim % len(shape)
    return op["reshape"](input, *shape[:first], math.prod(sizes(input)[first:last + 1]), *shape[last + 1:])


def linear(input: object, weight: object, bias: object = None) -> ArrayOrNumber:
    """input @ weight.T + bias."""
    profiler = now().profiler
    if profiler is None:
        return _linear(input, weight, bias)
    started = time.perf_counter_ns()
    y = _linear(input, weight, bias)
    profiler.note("aten::linear", started, [list(t.shape) for t in (input, weight, bias) if t is not None])
    return y


def _linear(input: AnyArray, weight: object, bias: object) -> ArrayOrNumber:
    if isinstance(input, Tensor) and isinstance(weight, Tensor) and isinstance(bias, Tensor):
        x, w, b = input._a, weight._a, bias._a
        fit = x.ndim == w.ndim == 2 and b.shape == w.shape[:1] and x.shape[1] == w.shape[1]
        if fit and x.dtype is w.dtype is b.dtype:
            return addmm_step(bias, input, weight.t(), beta=1, alpha=1)
    if bias is not None and len(bias.shape) > 1 and isinstance(input, Tensor):
        return input @ weight.t() + bias
    if len(weight.shape) < 2:
        y = op["matmul"](input, weight)
        return y if bias is None else y + bias
    flipped = weight.t() if isinstance(weight, Tensor) else swapped(weight)
    if bias is None or len(input.shape) < 2 or not isinstance(input, Tensor):
        y = matmul(input, flipped)
        return y if bias is None else named(y + bias, "AddmmBackward0")
    if len(input.shape) == 2:
        return addmm(bias, input, flipped)
    rows = addmm(bias, input.reshape(-1, input.shape[-1]), flipped)
    return rows.reshape(*input.shape[:-1], weight.shape[0])


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Rows of the identity at the classes."""
    a = raw(tensor)
    refuse_if(a.dtype != np.int64, "one_hot is only applicable to index tensor of type LongTensor.")
    refuse_if(a.size and a.min() < 0, "Class values must be non-negative.")
    refuse_if(num_classes < 0 and not a.size, "Can not infer total number of classes from empty tensor.")
    refuse_if(num_classes >= 0 and a.size and a.max() >= num_classes, "Class values must be smaller than num_classes.")
    return wrap(np.eye(int(a.max()) + 1 if num_classes < 0 else num_classes, dtype=np.int64)[a])


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along a dimension."""
    if not len(x1.shape) and not len(x2.shape):
        x1, x2 = op["reshape"](x1, 1), op["reshape"](x2, 1)
    if isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype != x2.dtype:
        dtype = result_type((x1, x2))
        x1, x2 = (x if x.dtype == dtype else op["cast"](x, dtype=dtype) for x in (x1, x2))
    x1, x2 = override("numpy.broadcast_arrays", x1, x2)
    product = override("numpy.sum", x1 * x2, axis=dim)
    squares = [override("numpy.sum", x * x, axis=dim) for x in (x1, x2)]
    norms = [op["sqrt"](op["where"](s > eps * eps, s, eps * eps)) for s in squares]
    return product / (norms[0] * norms[1])


_TITLES = {"reflect": "Reflection", "replicate": "Replication", "circular": "Circular"}
_WAYS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _title(given: dict) -> str:
    return f"{_TITLES[given['mode']]}Pad{sum(w != (0, 0) for w in given['widths'])}DBackward0"


def _repeated(x: Tensor, widths: list, extents: tuple, mode: str) -> Tensor:
    """Padding by elements of x: the places that they come from are what NumPy's padding makes of 0, 1, 2, ..."""
    refuse_if(mode not in _WAYS, f"Unrecognised padding mode {mode}", NotImplementedError)
    for k, ((before, after), n) in enumerate(zip(widths, extents)):
        if not before and not after:
            continue
        if mode == "reflect" and max(before, after) >= n:
            raise RuntimeError("Argument #4: Padding size should be less than the corresponding input dimension, but "
                               f"got: padding ({before}, {after}) at dimension {k} of input {list(extents)}")
        refuse_if(mode == "circular" and max(before, after) > n, "Padding value causes wrapping around more than once.")
        added, places = (max(before, 0), max(after, 0)), np.arange(n)
        kept = slice(max(-before, 0), None if after >= 0 else after)
        # A circle is what is left of x; the other ways go on from x as it was.
        places = (np.pad(places[kept], added, mode="wrap") if mode == "circular"
                  else np.pad(places, added, mode=_WAYS[mode])[kept])
        spec = tuple("a" if j == k else ":" for j in range(len(extents)))
        x = op["index"](x, places, spec=spec, at=k)
    return x


# of a circle nothing is saved
_repeated_saving, _repeated_plainly = step(_title, "x", "self=x")(_repeated), step(_title, "x")(_repeated)


def pad(input: object, pad: object, mode: str = "constant", value: "float | None" = None) -> ArrayOrNumber:
    """More elements at both ends of the last dimensions: (last before, last after, the one before it before, ...)."""
    refuse_if(len(pad) % 2, "Padding length must be divisible by 2")
    refuse_if(len(pad) // 2 > len(input.shape), "Padding length should be less than or equal to two times the input "
              f"dimension but got padding length {len(pad)} and input of dimension {len(input.shape)}")
    widths = [(0, 0)] * (len(input.shape) - len(pad) // 2) + [(pad[k], pad[k + 1]) for k in range(0, len(pad), 2)][::-1]
    extents = sizes(input)
    if mode != "constant":
        if not 1 <= len(extents) - len(pad) // 2 <= 2:
            raise NotImplementedError(f"Padding size {len(pad)} is not supported for {len(extents)}D input tensor.")
        if mode == "circular":
            return _repeated_plainly(input, widths, extents, mode)
        return named(_repeated_saving(input, widths, extents, mode), padding=tuple(pad))
    if any(w < 0 for pair in widths for w in pair):
        refuse_if(any(n + a + b < 0 for n, (a, b) in zip(extents, widths)), f"The input size {list(extents)}, plus "
                  f"negative padding {list(pad)}, resulted in a negative output size, which is invalid.")
        input = input[tuple([slice(max(-a, 0), max(n + min(b, 0), 0)) for n, (a, b) in zip(extents, widths)])]
        extents, widths = sizes(input), [(max(a, 0), max(b, 0)) for a, b in widths]
    value = number(value, "pad", "value")
    shape = [n + a + b for n, (a, b) in zip(extents, widths)]
    spec, operands = tuple(("s", 1) for _ in shape), [v for n, (a, _) in zip(extents, widths) for v in (a, n)]
    return named(op["update"](np.full(shape, value or 0.0, input.dtype), input, *operands, spec=spec, at=0),
                 "ConstantPadNdBackward0", pad=tuple(pad))
