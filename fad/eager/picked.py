"""Elements of a tensor at given places: what gather, sort, topk and max pooling come to. Each is one step that saves
the places, with a way back of its own."""
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..ops.table import TABLE as op
from ..util.array import AnyArray
from .composite import Composite
from .tensor import Tensor, raw


def written_at(x: Tensor, flat: AnyArray) -> Tensor:
    """The elements of x at places of the flattened array, in ops."""
    return op["index"](op["reshape"](x, math.prod(x.shape)), flat, spec=("a",), at=0)


def added_at(g: AnyArray, flat: np.ndarray, shape: tuple, once: bool = False) -> AnyArray:
    """Zeros of a shape with g added at places of the flattened array; once: no place occurs twice."""
    n = math.prod(shape)
    if type(g) is np.ndarray:
        if not once and g.dtype == np.float64:
            return np.bincount(flat.ravel(), g.ravel(), n).reshape(shape)
        gx = np.zeros(n, g.dtype)
        if once:
            gx[flat.ravel()] = g.ravel()
        else:
            np.add.at(gx, flat.ravel(), g.ravel())
        return gx.reshape(shape)
    gx = op["index_add"](np.zeros(n, g.dtype), op["reshape"](g, flat.size), flat.reshape(-1), spec=("a",), at=0)
    return op["reshape"](gx, *shape)


def all_below(i: np.ndarray, n: int) -> bool:
    """Whether indices are at least 0 and below n: as numbers without a sign, negative ones are large."""
    if i.size < 33:                                          # a list is quicker than a call of NumPy
        values = i.ravel().tolist()
        return not values or min(values) >= 0 and max(values) < n
    unsigned = i if i.dtype.kind == "u" else i.view(f"u{i.itemsize}")
    return bool(np.maximum.reduce(unsigned, None) < n)


def along(index: np.ndarray, ax: int, shape: tuple) -> np.ndarray:
    """The places in the flattened array of this shape of the elements that index selects along an axis.

    >>> along(np.array([[1], [0]]), 1, (2, 3)).tolist()
    [[1], [3]]
    """
    stride, rest = _layout(index.shape, ax, shape)
    flat = index if stride == 1 else index * stride
    return flat if rest is None else flat + rest


@lru_cache(maxsize=256)
def _layout(places: tuple, ax: int, shape: tuple) -> "tuple[int, np.ndarray | None]":
    """The distance between elements along an axis, and the beginning of each of the places by its other axes (None: at
    0).
    """
    rest: Any = None
    for k, n in enumerate(places):
        if k != ax and n > 1:
            part = (np.arange(n) * math.prod(shape[k + 1:])).reshape((n,) + (1,) * (len(places) - k - 1))
            rest = part if rest is None else rest + part
    return math.prod(shape[ax + 1:]), rest


def _selection(name: str, node: str, index_name: str, samples: tuple, once: bool) -> Composite:
    """The step that takes from x what indices select along dimension dim; once: none of them twice."""
    def written(x: Tensor, index: AnyArray, dim: int) -> Tensor:
        return written_at(x, along(raw(index), dim, tuple(x.shape)))

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, dim: int) -> tuple:
        shape = tuple(xs[0].shape)
        return added_at(gs[0], along(raw(xs[1]), dim, shape), shape, once), None
    return Composite(name, written, pullback, lambda x, index, dim: x.take(along(index, dim, x.shape)), node=node,
                     inputs=("self", index_name), kinds="fc", samples=samples, saves=() if once else (0,))


def _sample(index: list, dim: int) -> Callable:
    return lambda rng: ((rng.standard_normal((3, 4)), np.array(index)), {"dim": dim})


_ONCE = _sample([[0, 2], [3, 1]], 1), _sample([[0, 2, 1, 1], [2, 0, 0, 2]], 0)
gathered = _selection("gathered", "GatherBackward0", "index", (_sample([[1, 1, 3], [0, 2, 0]], 1), *_ONCE), False)
in_order = _selection("in_order", "SortBackward0", "indices", _ONCE, True)
foremost = _selection("foremost", "TopkBackward0", "indices", _ONCE, True)


def _scattered_written(x: Tensor, src: Tensor, index: AnyArray, dim: int) -> Tensor:
    shape = tuple(x.shape)
    flat = along(raw(index), dim, shape).reshape(-1)
    y = op["index_add"](op["reshape"](x, math.prod(shape)), op["reshape"](src, flat.size), flat, spec=("a",), at=0)
    return op["reshape"](y, *shape)


def _scattered_run(x: np.ndarray, src: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    y = added_at(src, along(index, dim, x.shape), x.shape)
    y += x
    return y


def _scattered_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, dim: int) -> tuple:
    g = gs[0]
    flat = along(raw(xs[2]), dim, tuple(g.shape)) if needs[1] else None
    return g, None if flat is None else g.take(flat) if type(g) is np.ndarray else written_at(g, flat), None


def _scattered_sample(rng: np.random.Generator) -> tuple:
    return (rng.standard_normal((3, 4)), rng.standard_normal((2, 3)), np.array([[1, 1, 3], [0, 2, 0]])), {"dim": 1}


scattered = Composite("scattered", _scattered_written, _scattered_pullback, _scattered_run, node="ScatterAddBackward0",
                      edges=2, inputs=("self", "src", "index"), samples=(_scattered_sample,))


def _with_axis(index: Any, dim: int, keepdim: bool) -> np.ndarray:
    index = raw(index)
    return index if keepdim else index[(slice(None),) * dim + (None,)]


def _chosen_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, dim: int, keepdim: bool) -> tuple:
    shape = tuple(xs[0].shape)
    return added_at(gs[0], along(_with_axis(np.asarray(raw(xs[1])), dim, keepdim), dim, shape), shape, True), None


def _chosen_run(x: np.ndarray, index: np.ndarray, dim: int, keepdim: bool) -> np.ndarray:
    return x.take(along(_with_axis(index, dim, keepdim), dim, x.shape)).reshape(index.shape)


def _chosen_sample(index: list, keepdim: bool) -> Callable:
    return lambda rng: ((rng.standard_normal((3, 4)), np.array(index)), {"dim": 1, "keepdim": keepdim})


# One element of each vector along a dimension, which goes or stays with extent 1.
chosen = Composite("chosen", lambda x, index, dim, keepdim: op["reshape"](
                       written_at(x, along(_with_axis(index, dim, keepdim), dim, tuple(x.shape))), *raw(index).shape),
                   _chosen_pullback, _chosen_run, node="MaxBackward0", inputs=("self", "indices"),
                   samples=(_chosen_sample([1, 3, 0], False), _chosen_sample([[1], [1], [2]], True)))


# -- parts along a dimension -------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _starts_of_parts(lead: int, n: int, size: int) -> np.ndarray:
    """The places in the flattened array of the first part: (lead, 1, size) places of n parts each."""
    return np.asarray((np.arange(lead) * (n * size))[:, None, None] + np.arange(size))


def _parts_written(x: Tensor, index: AnyArray, dim: int, **params: object) -> Tensor:
    return op["index"](x, raw(index), spec=tuple("a" if k == dim else ":" for k in range(len(x.shape))), at=dim)


def _parts_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, dim: int, **params: object) -> tuple:
    shape, index = tuple(xs[0].shape), np.asarray(raw(xs[1]))
    size = math.prod(shape[dim + 1:])
    flat = _starts_of_parts(math.prod(shape[:dim]), shape[dim], size) + (index.reshape(-1, 1) * size)
    return added_at(gs[0], flat, shape), None


def _parts(name: str, node: str, inputs: tuple, **params: object) -> Composite:
    """The step that takes parts of x at indices (from 0) along dimension dim."""
    return Composite(
        name,
        _parts_written,
        _parts_pullback,
        lambda x, index, dim: x.take(index, dim),
        node=node,
        inputs=inputs,
        kinds="fc",
        samples=(
            lambda rng: ((rng.standard_normal((2, 3, 2)), np.array([2, 0, 2])), {"dim": 1}),
            lambda rng: ((rng.standard_normal((4, 3)), np.array([[3, 1], [1, 1]])), {"dim": 0}),
        ),
    )


parts = _parts("parts", "IndexSelectBackward0", ("self", "index"))
indexed = _parts("indexed", "IndexBackward0", ("self", "indices"))                 # x[indices]
rows = _parts("rows", "EmbeddingBackward0", ("weight", "indices"))


# -- places in planes: of images, or of signals ------------------------------------------------------------------------


def in_planes(places: Any, rank: int, shape: tuple) -> np.ndarray:
    """The places in the flattened array of this shape of elements at places of its planes, the last `rank` dimensions.
    """
    places = raw(places)
    starts = _starts(tuple(shape[:-rank]), rank, math.prod(shape[-rank:]))
    return places if starts is None else places + starts


@lru_cache(maxsize=256)
def _starts(planes: tuple, rank: int, n: int) -> "np.ndarray | None":
    """The places where planes of n elements begin; None of one alone."""
    count = math.prod(planes)
    return None if count == 1 else (np.arange(count) * n).reshape(planes + (1,) * rank)


def _pooled_written(x: Tensor, places: AnyArray, kernel_size: tuple, **params: object) -> Tensor:
    return written_at(x, in_planes(places, len(kernel_size), tuple(x.shape)))


def _pooled_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, kernel_size: tuple, stride: tuple, dilation: tuple,
                     **params: object) -> tuple:
    shape = tuple(xs[0].shape)
    apart = all(s > d * (m - 1) for s, d, m in zip(stride or kernel_size, dilation, kernel_size))
    return added_at(gs[0], in_planes(xs[1], len(kernel_size), shape), shape, apart), None


def _pooled_sample(places: list, stride: tuple) -> Callable:
    params = {"kernel_size": (2,), "stride": stride, "padding": (0,), "dilation": (1,), "ceil_mode": False}
    return lambda rng: ((rng.standard_normal((2, 4)), np.array(places)), params)


pooled = Composite("pooled", _pooled_written, _pooled_pullback,
                   lambda x, places, kernel_size, **params: x.take(in_planes(places, len(kernel_size), x.shape)),
                   node="MaxPool2DWithIndicesBackward0", inputs=("self", "result1"), kinds="fc", saves=(0,),
                   samples=(_pooled_sample([[1, 1, 2], [0, 2, 2]], (1,)), _pooled_sample([[0, 3], [1, 2]], ())))
