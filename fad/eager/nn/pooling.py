"""Pooling: the largest element or the mean of windows. Interpolation: the spatial dimensions in other sizes."""
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray, ArrayOrNumber
from ...util.cached import cached_attribute
from ..functions.composite import Composite
from ..functions.reductions import in_dtype
from ..functions.selections import added_at, pooled
from ..graph.inplace import number
from ..graph.single_node import together
from ..tensors.errors import override, refuse_if
from ..tensors.tensor import Tensor, raw, wrap
from .convolution import places_of, spread
from .functional import pad, sizes

_NOT_IMAGES = "{}: Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got:{}"


class _Windows:
    """The windows of one call: sizes, strides, padding and how many there are, a number for each dimension."""

    of_rows: dict = {}                                    # number of rows -> places_of_rows, the latest

    def __init__(self, name: str, shape: tuple, size: object, stride: object, padding: object, dilation: object,
                 ceil: bool, rank: int):
        if len(shape) not in (rank + 1, rank + 2) or 0 in shape[-rank - 1:]:            # of no channel, or of nothing
            raise RuntimeError(_NOT_IMAGES.format(name, rank + 1, rank + 2, list(shape)))
        self.rank, self.extents, self.size = rank, shape[-rank:], spread(size, rank)
        self.strided = not (stride is None or stride == () or stride == [])
        self.stride = spread(stride, rank) if self.strided else self.size
        self.padding, self.dilation, self.ceil = spread(padding, rank), spread(dilation, rank), ceil
        for m, s, p, d in zip(self.size, self.stride, self.padding, self.dilation):
            refuse_if(s <= 0, "stride should not be zero")
            refuse_if(d <= 0, f"{name}() dilation must be greater than zero, but got {d}")
            refuse_if(p < 0, f"pad must be non-negative, but got pad: {p}")
            refuse_if(p > (d * (m - 1) + 1) // 2, "pad should be at most half of effective kernel size, but got "
                      f"pad={p}, kernel_size={m} and dilation={d}")
        self.counts = tuple([self._count(k) for k in range(rank)])
        self.over: dict = {}                              # by what the sums of windows are divided
        if min(self.counts) < 1:
            raise RuntimeError(f"Given input size: ({'x'.join(map(str, (shape[-rank - 1], *self.extents)))}). "
                               f"Calculated output size: ({'x'.join(map(str, (shape[-rank - 1], *self.counts)))}). "
                               "Output size is too small")

    def _count(self, k: int) -> int:
        """The number of windows of an axis; with `ceil` the last may reach beyond the end, if it begins before it."""
        n, m, s, p, d = self.extents[k], self.size[k], self.stride[k], self.padding[k], self.dilation[k]
        free = n + 2 * p - d * (m - 1) - 1
        count = (-(-free // s) if self.ceil else free // s) + 1
        return count - 1 if self.ceil and (count - 1) * s >= n + p else count

    def seen(self, input: AnyArray, places: np.ndarray, outside: "float | None") -> AnyArray:
        """The elements of all windows (both flattened) at these places; what is outside the input has a value."""
        lead = len(input.shape) - self.rank
        x = op["reshape"](input, *input.shape[:lead], math.prod(self.extents))
        x = x if outside is None else pad(x, (0, 1), value=outside)
        return op["index"](x, places, spec=(":",) * lead + ("a",), at=lead)

    def shaped(self, y: AnyArray) -> AnyArray:
        """y, which has a number for each window."""
        return op["reshape"](y, *y.shape[:-1], *self.counts)

    def elements(self, include_pad: bool) -> np.ndarray:
        """Over how many elements each window's mean goes: those of the padding are counted or not."""
        total = np.ones(())
        for c, s, m, n, p in zip(self.counts, self.stride, self.size, self.extents, self.padding):
            first = np.arange(c) * s - p
            last = np.minimum(first + m, n + p)
            many = last - first if include_pad else np.minimum(last, n) - np.maximum(first, 0)
            total = total[..., None] * many
        return total

    @cached_attribute
    def are_apart(self) -> bool:
        """Whether no element is in two windows."""
        return all(s > d * (m - 1) for s, d, m in zip(self.stride, self.dilation, self.size))

    @cached_attribute
    def shown(self) -> dict:
        """The attributes of nodes of max pooling."""
        return {"kernel_size": self.size, "stride": self.stride if self.strided else (), "padding": self.padding,
                "dilation": self.dilation, "ceil_mode": self.ceil}

    @cached_attribute
    def flat(self) -> np.ndarray:
        """The places in the flattened input of the elements of each window, windows and elements flattened too; of
        elements outside: behind the last.
        """
        return places_of(self.extents, self.counts, self.size, self.stride, self.padding, self.dilation)

    @cached_attribute
    def reaches_out(self) -> bool:
        """Whether windows have elements outside the input."""
        return bool(self.flat.max() >= math.prod(self.extents))

    @cached_attribute
    def inside(self) -> np.ndarray:
        """The same with the window's first element within the input in place of those outside: the largest of a window
        is among these, and is the first of equal ones."""
        return np.where(self.flat < math.prod(self.extents), self.flat, self.flat.min(1, keepdims=True))

    @cached_attribute
    def lacks(self) -> bool:
        """Whether a window has no element within the input."""
        return bool(self.inside.max() >= math.prod(self.extents))

    @cached_attribute
    def starts(self) -> np.ndarray:
        """The places in `inside`, flattened, at which the windows begin."""
        return np.arange(len(self.flat)) * self.flat.shape[1]

    def places_of_rows(self, rows: int) -> np.ndarray:
        """The places in so many flattened inputs, one after the other, of the elements of the windows; each input has
        one more element for those outside, where there are such.
        """
        flat = self.of_rows.get(rows)
        if flat is None:
            size = math.prod(self.extents) + self.reaches_out
            flat = np.arange(rows)[:, None, None] * size + self.flat
            self.of_rows = {rows: flat}
        return flat


def _max_pool(input: AnyArray, size: object, stride: object, padding: object, dilation: object, ceil_mode: bool,
              return_indices: bool, rank: int) -> Any:
    w = _windows_of("max_pool", input, size, stride, padding, dilation, ceil_mode, rank)
    if isinstance(input, Tensor) and not w.lacks:
        places = wrap(_places(input._a, w))
        largest = pooled(input, places, **w.shown)
        return (largest, places) if return_indices else largest
    lowest = -np.inf if input.dtype.kind == "f" else np.iinfo(input.dtype).min
    seen = w.seen(input, w.inside, lowest if w.lacks else None)
    chosen = override("numpy.argmax", seen, axis=-1, keepdims=True)  # of equal elements the first has the gradient
    largest = w.shaped(override("numpy.take_along_axis", seen, chosen, axis=-1)[..., 0])
    if not isinstance(largest, Tensor):
        return largest
    places = wrap(w.inside.take(raw(chosen)[..., 0] + w.starts).reshape(largest._a.shape))
    together((largest,), "MaxPool2DWithIndicesBackward0", (input,), {"self": input, "result1": places}, **w.shown)
    return (largest, places) if return_indices else largest


def _places(a: np.ndarray, w: _Windows) -> np.ndarray:
    """The place in its plane of the largest element of each window."""
    lead = a.shape[:-w.rank]
    chosen = a.reshape(math.prod(lead), math.prod(w.extents)).take(w.inside, 1).argmax(-1)     # of equal ones the first
    chosen += w.starts
    return w.inside.take(chosen).reshape(*lead, *w.counts)


_windows_alike = lru_cache(maxsize=256)(_Windows)


def _windows_of(name: str, input: AnyArray, size: object, stride: object, padding: object, dilation: object,
                ceil_mode: bool, rank: int) -> _Windows:
    """The windows of a call; those of calls alike are the same."""
    given = [tuple(v) if v.__class__ is list else v for v in (size, stride, padding, dilation)]
    return _windows_alike(f"{name}{rank}d", sizes(input), *given, ceil_mode, rank)


def max_pool1d(input: Tensor, kernel_size: int, stride: "int | None" = None, padding: int = 0, dilation: int = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> Any:
    """The largest element of every window; with return_indices also where it lies."""
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 1)


def max_pool2d(input: AnyArray, kernel_size: object, stride: object = None, padding: object = 0, dilation: object = 1,
               ceil_mode: bool = False, return_indices: bool = False) -> AnyArray:
    """The largest element of every window; with return_indices also where it lies in the image."""
    return _max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, 2)


def _avg_pool(input: AnyArray, size: object, stride: object, padding: object, ceil_mode: bool, include_pad: bool,
              divisor: "int | None", rank: int) -> AnyArray:
    w = _windows_of("avg_pool", input, size, stride, padding, 1, ceil_mode, rank)
    refuse_if(divisor == 0, "divisor must be not zero")
    options = {**w.shown, "count_include_pad": include_pad, "divisor_override": divisor}
    del options["dilation"]
    if isinstance(input, Tensor) and input._a.dtype.kind == "f" and input._a.size:
        return means(input, **options)
    y = _means_written(input, **options)
    if input.dtype.kind in "iu":                               # the quotients of whole numbers are whole ones, too
        return in_dtype(op["trunc"](y), input.dtype)
    return together((y,), "AvgPool2DBackward0", (input,), {"self": input}, **options)[0]


def _means_written(input: AnyArray, kernel_size: tuple, stride: tuple, padding: tuple, ceil_mode: bool,
                   count_include_pad: bool, divisor_override: "int | None") -> AnyArray:
    w = _means_windows(input, kernel_size, stride, padding, ceil_mode)
    total = override("numpy.sum", w.seen(input, w.flat, 0.0 if w.reaches_out else None), axis=-1)
    return w.shaped(total / _over(w, count_include_pad, divisor_override, input.dtype))


def _means_windows(x: AnyArray, kernel_size: tuple, stride: tuple, padding: tuple, ceil_mode: bool) -> _Windows:
    return _windows_of("avg_pool", x, kernel_size, stride, padding, 1, ceil_mode, len(kernel_size))


def _over(w: _Windows, include_pad: bool, divisor: "int | None", dtype: np.dtype) -> ArrayOrNumber:
    """The divisor of the windows' sums: a number, or one for each window."""
    if divisor or not w.reaches_out and not any(w.padding):
        return divisor or w.flat.shape[1]
    over = w.over.get((include_pad, dtype.char))
    if over is None:
        over = w.over[include_pad, dtype.char] = w.elements(include_pad).reshape(-1).astype(dtype)
    return over


def _means_run(x: np.ndarray, kernel_size: tuple, stride: tuple, padding: tuple, ceil_mode: bool,
               count_include_pad: bool, divisor_override: "int | None") -> np.ndarray:
    w = _means_windows(x, kernel_size, stride, padding, ceil_mode)
    lead, n = x.shape[:-w.rank], math.prod(w.extents)
    rows = x.reshape(math.prod(lead), n)
    if w.reaches_out:
        rows = np.concatenate((rows, np.zeros((len(rows), 1), x.dtype)), 1)
    y = np.add.reduce(rows.take(w.flat, 1), -1)
    y /= _over(w, count_include_pad, divisor_override, x.dtype)
    return y.reshape(*lead, *w.counts)


def _means_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, kernel_size: tuple, stride: tuple, padding: tuple,
                    ceil_mode: bool, count_include_pad: bool, divisor_override: "int | None") -> tuple:
    w, shape = _means_windows(xs[0], kernel_size, stride, padding, ceil_mode), tuple(xs[0].shape)
    flat, n, g = w.places_of_rows(math.prod(shape[:-w.rank])), math.prod(w.extents), gs[0]
    over, padded = _over(w, count_include_pad, divisor_override, g.dtype), (len(flat), n + w.reaches_out)
    if type(g) is np.ndarray:
        g = g.reshape(flat.shape[:2]) / over
        gx = added_at(np.repeat(g, flat.shape[2]), flat, padded, w.are_apart and not w.reaches_out)
        return ((gx[:, :n] if w.reaches_out else gx).reshape(shape),)
    g = op["reshape"](op["reshape"](g, *flat.shape[:2]) / over, *flat.shape[:2], 1)
    gx = added_at(op["broadcast_to"](g, *flat.shape), flat, padded)
    return (op["reshape"](op["slice_axis"](gx, 1, 0, n) if w.reaches_out else gx, *shape),)


means = Composite("means", _means_written, _means_pullback, _means_run, node="AvgPool2DBackward0", saves=(0,))


def avg_pool1d(input: Tensor, kernel_size: object, stride: object = None, padding: object = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> AnyArray:
    """The mean of every window; the padding's zeros are counted or not."""
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, None, 1)


def avg_pool2d(input: AnyArray, kernel_size: object, stride: object = None, padding: object = 0,
               ceil_mode: bool = False, count_include_pad: bool = True,
               divisor_override: "int | None" = None) -> AnyArray:
    """The mean of every window; the padding's zeros are counted or not, or another divisor is given."""
    return _avg_pool(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, 2)


_TITLES = {"nearest": "Nearest", "linear": "Linear", "bilinear": "Bilinear", "trilinear": "Trilinear"}
_RANKS = {"linear": 1, "bilinear": 2, "trilinear": 3}


def _linear(n: int, m: int, align: bool, scale: "float | None") -> np.ndarray:
    """The matrix that interpolates n values at m places."""
    at = (np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0.0) if align
          else np.maximum((np.arange(m) + 0.5) * (n / m if scale is None else 1.0 / scale) - 0.5, 0.0))
    below = np.minimum(at.astype(int), n - 1)
    above, part = np.minimum(below + 1, n - 1), at - below
    matrix, rows = np.zeros((m, n)), np.arange(m)
    np.add.at(matrix, (rows, below), 1 - part)
    np.add.at(matrix, (rows, above), part)
    return matrix


def interpolate(input: Tensor, size: object = None, scale_factor: object = None, mode: str = "nearest",
                align_corners: "bool | None" = None) -> Tensor:
    """The spatial dimensions in other sizes, by nearest elements or linearly ("linear", "bilinear", "trilinear")."""
    rank = len(input.shape) - 2
    if mode not in _TITLES:
        raise NotImplementedError(f"interpolate: mode {mode!r} is not supported; there are {', '.join(_TITLES)}")
    refuse_if(not 1 <= rank <= 3 or _RANKS.get(mode, rank) != rank, f"interpolate: mode {mode!r} of a "
              f"{len(input.shape)}-dimensional tensor is not supported", NotImplementedError)
    if mode == "nearest" and align_corners is not None:
        raise ValueError("align_corners option can only be set with the modes that interpolate linearly")
    if (size is None) == (scale_factor is None):
        raise ValueError("exactly one of size and scale_factor should be defined")
    given = spread(scale_factor if size is None else size, rank)
    if len(given) != rank:
        raise ValueError(f"interpolate: {len(given)} sizes or scale factors were given for {rank} spatial dimensions")
    scales: Sequence = [number(s, "interpolate", "scale_factor") for s in given] if size is None else [None] * rank
    wanted = given if size is not None else tuple([math.floor(n * s) for n, s in zip(input.shape[2:], scales)])
    y = input
    for axis, (m, s) in enumerate(zip(wanted, scales), 2):
        n = input.shape[axis]
        if mode == "nearest":
            places = (np.arange(m) * (n / m if s is None else 1.0 / s)).astype(int)
            y = y.index_select(axis, wrap(places.clip(max=n - 1)))
        else:
            matrix = wrap(_linear(n, m, bool(align_corners), s).T.astype(y.dtype))
            y = (y.movedim(axis, -1) @ matrix).movedim(-1, axis)
    notes: dict = {"scales": scales[0]} if rank == 1 else {f"scales_{axis}": s
                                                           for axis, s in zip("dhw"[3 - rank:], scales)}
    corners = {} if mode == "nearest" else {"align_corners": bool(align_corners)}
    return together((y,), f"Upsample{_TITLES[mode]}{rank}DBackward0", (input,), {"self": input}, **notes, **corners,
                    output_size=wanted)[0]
