"""Convolutions and their adjoints.

y = C(x, w) is linear in x and in w, as are gx = X(g, w) and gw = W(x, g), its two adjoints; each of the three has the
other two as its derivatives. So a convolution, a transposed one (X) and the gradients of both, to any order, are made
of these three.
"""
import itertools
import math
from functools import lru_cache

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ..functions.composite import Composite
from ..functions.registry import named
from ..tensors.errors import c_name, override, refuse_if
from ..tensors.tensor import Tensor
from .functional import pad, sizes


def spread(x: object, rank: int) -> tuple:
    """One number for each spatial dimension; one number alone is that of all."""
    x = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    return x * rank if len(x) == 1 else x


def counts(extents: object, size: tuple, stride: tuple, dilation: tuple) -> tuple:
    """The number of windows along each dimension of these (padded) extents."""
    found = tuple([(n - d * (m - 1) - 1) // s + 1 for n, m, s, d in zip(extents, size, stride, dilation)])
    if min(found) < 1:
        raise RuntimeError(f"Calculated padded input size per channel: ({' x '.join(map(str, extents))}). Kernel size: "
                           f"({' x '.join(str(d * (m - 1) + 1) for m, d in zip(size, dilation))}). Kernel size can't "
                           "be greater than actual input size")
    return found


@lru_cache(maxsize=256)
def places_of(extents: tuple, count: tuple, size: tuple, stride: tuple, padding: tuple, dilation: tuple) -> np.ndarray:
    """The places in the flattened input of the elements of each window, windows and elements flattened, too; of
    elements outside: behind the last.

    >>> places_of((4,), (2,), (3,), (2,), (1,), (1,)).tolist()
    [[4, 0, 1], [1, 2, 3]]
    """
    rank, n = len(extents), math.prod(extents)
    at: AnyArray = np.zeros((), np.int64)
    outside: AnyArray = np.zeros((), bool)
    for k, (m, c, s, p, d) in enumerate(zip(size, count, stride, padding, dilation)):
        shape = [1] * (2 * rank)
        shape[k], shape[rank + k] = c, m
        along = ((np.arange(c) * s - p)[:, None] + np.arange(m) * d).reshape(shape)
        at = at + along * math.prod(extents[k + 1:])
        outside = outside | (along < 0) | (along >= extents[k])
    return np.where(outside, n, at).reshape(math.prod(count), -1)


# -- on arrays: windows as columns, then matrix products ---------------------------------------------------------------


def _padded(x: np.ndarray, padding: tuple) -> np.ndarray:
    if not any(padding):
        return x
    rank = len(padding)
    wide = np.zeros((*x.shape[:-rank], *[n + 2 * p for n, p in zip(x.shape[-rank:], padding)]), x.dtype)
    wide[_inside(x.shape[-rank:], padding)] = x
    return wide


def _inside(extents: tuple, padding: tuple) -> tuple:
    """The subscript of what is no padding."""
    return (Ellipsis, *[slice(p, p + n) for n, p in zip(extents, padding)])


def _columns(x: np.ndarray, size: tuple, places: tuple, stride: tuple, padding: tuple, dilation: tuple,
             groups: int) -> np.ndarray:
    """The windows of x (N, C, *spatial) as columns: (N, groups, C / groups * prod(size), prod(places))."""
    x = np.ascontiguousarray(_padded(x, padding))
    steps = x.strides[2:]
    seen = np.ndarray((*x.shape[:2], *size, *places), x.dtype, x, 0,
                      (*x.strides[:2], *[s * d for s, d in zip(steps, dilation)],
                       *[s * t for s, t in zip(steps, stride)]))
    return seen.reshape(x.shape[0], groups, x.shape[1] // groups * math.prod(size), math.prod(places))


def _rows(w: np.ndarray, groups: int) -> np.ndarray:
    """A weight (O, C / groups, *size) as matrices (groups, O / groups, C / groups * prod(size))."""
    return w.reshape(groups, w.shape[0] // groups, -1)


def _forth(x: np.ndarray, w: np.ndarray, stride: tuple, padding: tuple, dilation: tuple, groups: int,
           out: tuple) -> np.ndarray:
    columns = _columns(x, w.shape[2:], out, stride, padding, dilation, groups)
    y = np.matmul(_rows(w, groups), columns) if groups > 1 else np.matmul(_rows(w, 1)[0], columns[:, 0])
    return y.reshape(x.shape[0], w.shape[0], *out)


def _turned(w: np.ndarray, groups: int) -> np.ndarray:
    """The weight whose convolution, of windows close together, is the adjoint of w's: channels and kernels turned."""
    out, channels, *size = w.shape
    w = w.reshape(groups, out // groups, channels, *size).swapaxes(1, 2)
    w = w.reshape(groups * channels, out // groups, *size)
    return w[(slice(None), slice(None)) + (slice(None, None, -1),) * len(size)]


def _back(g: np.ndarray, w: np.ndarray, stride: tuple, padding: tuple, dilation: tuple, groups: int,
          out: tuple) -> np.ndarray:
    n, size, places = g.shape[0], w.shape[2:], g.shape[2:]
    free = [d * (m - 1) - p for d, m, p in zip(dilation, size, padding)]
    if max(stride) == 1 and min(free) >= 0 and all(n == c + f - p for n, c, f, p in zip(out, places, free, padding)):
        return _forth(g, _turned(w, groups), stride, tuple(free), dilation, groups, out)
    columns = np.matmul(_rows(w, groups).transpose(0, 2, 1),
                        g.reshape(n, groups, w.shape[0] // groups, math.prod(g.shape[2:])))
    columns = columns.reshape(n, groups * w.shape[1], *size, *places)
    wide = np.zeros((n, groups * w.shape[1], *[m + 2 * p for m, p in zip(out, padding)]), columns.dtype)
    for at in itertools.product(*[range(m) for m in size]):
        there = (Ellipsis,
                 *[slice(k * d, k * d + s * (c - 1) + 1, s) for k, d, s, c in zip(at, dilation, stride, places)])
        here = (slice(None), slice(None), *at)
        wide[there] += columns[here]
    return np.ascontiguousarray(wide[_inside(out, padding)])


def _convolution_run(x: np.ndarray, w: np.ndarray, b: "np.ndarray | None", transposed: bool,
                     **params: object) -> np.ndarray:
    y = (_back if transposed else _forth)(x, w, **params)
    if b is not None:
        y += b.reshape(-1, *[1] * (y.ndim - 2))
    return y


def _weight_run(x: np.ndarray, g: np.ndarray, stride: tuple, padding: tuple, dilation: tuple, groups: int,
                size: tuple) -> np.ndarray:
    n, out = g.shape[:2]
    columns = _columns(x, size, g.shape[2:], stride, padding, dilation, groups)
    w = np.add.reduce(np.matmul(g.reshape(n, groups, out // groups, math.prod(g.shape[2:])),
                                columns.transpose(0, 1, 3, 2)), 0)
    return w.reshape(out, x.shape[1] // groups, *size)


# -- in ops ------------------------------------------------------------------------------------------------------------


def _grouped(x: ArrayOrNumber, size: tuple, places: tuple, stride: tuple, padding: tuple, dilation: tuple,
             groups: int) -> AnyArray:
    """Windows: (N, groups, C / groups, prod(places), prod(size))."""
    n, channels, *extents = sizes(x)
    flat = places_of(tuple(extents), places, size, stride, padding, dilation)
    x = op["reshape"](x, n, channels, math.prod(extents))
    seen = op["index"](pad(x, (0, 1)) if any(padding) else x, flat, spec=(":", ":", "a"), at=2)
    return op["reshape"](seen, n, groups, channels // groups, *flat.shape)


def _kernel(w: ArrayOrNumber, groups: int) -> AnyArray:
    out, channels, *size = sizes(w)
    return op["reshape"](w, groups, out // groups, channels, math.prod(size))


def _forth_written(x: ArrayOrNumber, w: ArrayOrNumber, stride: tuple, padding: tuple, dilation: tuple, groups: int,
                   out: tuple) -> AnyArray:
    seen = _grouped(x, sizes(w)[2:], out, stride, padding, dilation, groups)
    products = override("numpy.einsum", "ngcpk,gock->ngop", seen, _kernel(w, groups))
    return op["reshape"](products, sizes(x)[0], sizes(w)[0],
                         *out)


def _back_written(g: ArrayOrNumber, w: ArrayOrNumber, stride: tuple, padding: tuple, dilation: tuple, groups: int,
                  out: tuple) -> AnyArray:
    (n, channels), places, kernel = sizes(g)[:2], sizes(g)[2:], _kernel(w, groups)
    parts = op["reshape"](g, n, groups, channels // groups, math.prod(places))
    flat = places_of(out, places, sizes(w)[2:], stride, padding, dilation)
    inputs, extent, outside = groups * sizes(w)[1], math.prod(out), int(any(padding))
    columns = op["reshape"](override("numpy.einsum", "ngop,gock->ngcpk", parts, kernel), n, inputs, *flat.shape)
    x = op["index_add"](np.zeros((n, inputs, extent + outside), g.dtype), columns, flat, spec=(":", ":", "a"), at=2)
    return op["reshape"](op["slice_axis"](x, 2, 0, extent) if outside else x, n, inputs, *out)


def _convolution_written(x: ArrayOrNumber, w: ArrayOrNumber, b: "AnyArray | None", transposed: bool,
                         **params: object) -> AnyArray:
    y = (_back_written if transposed else _forth_written)(x, w, **params)
    return y if b is None else y + op["reshape"](b, sizes(b)[0], *[1] * (len(y.shape) - 2))


def _weight_written(x: AnyArray, g: AnyArray, stride: tuple, padding: tuple, dilation: tuple, groups: int,
                    size: tuple) -> AnyArray:
    n, out, *places = sizes(g)
    seen = _grouped(x, size, tuple(places), stride, padding, dilation, groups)
    parts = op["reshape"](g, n, groups, out // groups, math.prod(places))
    return op["reshape"](override("numpy.einsum", "ngcpk,ngop->gock", seen, parts), out, sizes(x)[1] // groups, *size)


# -- as steps ----------------------------------------------------------------------------------------------------------


def _convolution_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, transposed: bool, out: tuple,
                          **params: object) -> tuple:
    g, (x, w, _) = gs[0], xs
    gx = convolution(g, w, None, transposed=not transposed, out=tuple(x.shape[2:]), **params) if needs[0] else None
    gw = (convolution_weight(*((g, x) if transposed else (x, g)), size=tuple(w.shape[2:]), **params) if needs[1]
          else None)
    axes = (0, *range(2, len(g.shape)))
    gb = None if not needs[2] else np.add.reduce(g, axes) if type(g) is np.ndarray else op["sum"](g, axes=axes)
    return gx, gw, gb


def _weight_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, size: tuple, **params: object) -> tuple:
    h, (x, g) = gs[0], xs
    gx = convolution(g, h, None, transposed=True, out=tuple(x.shape[2:]), **params) if needs[0] else None
    return gx, convolution(x, h, None, transposed=False, out=tuple(g.shape[2:]), **params) if needs[1] else None


convolution = Composite("convolution", _convolution_written, _convolution_pullback, _convolution_run,
                        node="ConvolutionBackward0", edges=3, inputs=("input", "weight", "bias"))
convolution_weight = Composite("convolution_weight", _weight_written, _weight_pullback, _weight_run,
                               node="ConvolutionBackwardBackward0", edges=2, inputs=("input", "grad_output"))


def _convolve(input: AnyArray, weight: AnyArray, bias: "AnyArray | None", stride: object, padding: object,
              dilation: object, groups: int, rank: int) -> ArrayOrNumber:
    for name, other in ("weight", weight), ("bias", bias):
        if other is not None and other.dtype != input.dtype:
            raise RuntimeError(f"Input type ({c_name(input.dtype)}) and {name} type ({c_name(other.dtype)}) should be "
                               "the same")
    given = [tuple(v) if v.__class__ is list else v for v in (stride, padding, dilation)]
    more, options = _options_of(sizes(input), sizes(weight), *given, groups, rank)
    if more:
        input = pad(input, list(more))
    is_alone = len(input.shape) == rank + 1                    # one example is a batch of one
    if is_alone:
        input = input.unsqueeze(0) if isinstance(input, Tensor) else op["reshape"](input, 1, *input.shape)
    y = named(convolution(input, weight, bias, **options), output_padding=(0,) * rank)
    return y if not is_alone else y.squeeze(0) if isinstance(y, Tensor) else op["reshape"](y, *y.shape[1:])


@lru_cache(maxsize=256)
def _options_of(extents: tuple, kernel: tuple, stride: object, padding: object, dilation: object, groups: int,
                rank: int) -> "tuple[tuple, dict]":
    """The padding that an input of these extents gets first, and the parameters of its convolution."""
    stride, dilation = spread(stride, rank), spread(dilation, rank)
    if padding == "same" and any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    refuse_if(any(d <= 0 for d in dilation), "dilation should be greater than zero")
    if not isinstance(padding, str) and any(p < 0 for p in spread(padding, rank)):
        raise RuntimeError("negative padding is not supported")
    refuse_if(len(kernel) != rank + 2, f"Expected {len(kernel)}-dimensional input for {len(kernel)}-dimensional weight "
              f"{list(kernel)}, but got {len(extents)}-dimensional input of size {list(extents)} instead")
    refuse_if(len(extents) not in (rank + 1, rank + 2), f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) "
              f"input to conv{rank}d, but got input of size: {list(extents)}")
    channels, size = extents[-rank - 1], kernel[2:]
    if channels != kernel[1] * groups:
        batch = extents if len(extents) == rank + 2 else (1, *extents)
        raise RuntimeError(f"Given groups={groups}, weight of size {list(kernel)}, expected input{list(batch)} to have "
                           f"{kernel[1] * groups} channels, but got {channels} channels instead")
    total = [d * (m - 1) for d, m in zip(dilation, size)]
    edges = (tuple([t // 2 for t in total]) if padding == "same" else (0,) * rank if padding == "valid"
             else spread(padding, rank))
    odd = [t % 2 if padding == "same" else 0 for t in total]
    more = tuple([v for t in reversed(odd) for v in (0, t)]) if any(odd) else ()
    out = counts([n + t + 2 * p for n, t, p in zip(extents[-rank:], odd, edges)], size, stride, dilation)
    return more, {"transposed": False, "stride": stride, "padding": edges, "dilation": dilation, "groups": groups,
                  "out": out}


def conv1d(input: Tensor, weight: Tensor, bias: "Tensor | None" = None, stride: object = 1, padding: object = 0,
           dilation: object = 1, groups: int = 1) -> ArrayOrNumber:
    """Correlation along one dimension: input (N, C, L), weight (out, C / groups, K)."""
    return _convolve(input, weight, bias, stride, padding, dilation, groups, 1)


def conv2d(input: AnyArray, weight: object, bias: object = None, stride: object = 1, padding: object = 0,
           dilation: object = 1, groups: int = 1) -> ArrayOrNumber:
    """Correlation along two dimensions: input (N, C, H, W), weight (out, C / groups, KH, KW)."""
    return _convolve(input, weight, bias, stride, padding, dilation, groups, 2)
