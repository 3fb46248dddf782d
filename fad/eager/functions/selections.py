"""Elements of a tensor at given places: gather, sort, topk, max pooling. Each is a step that saves the places."""
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...ops.table import TABLE as op
from ...util.array import AnyArray
from ..tensors.tensor import Tensor, raw
from .composite import Composite


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


def along(index: np.ndarray, ax: int, shape: tuple) -> AnyArray:
    """The places in the flattened array of this shape of the elements that index selects along an axis.

    >>> along(np.array([[1], [0]]), 1, (2, 3)).tolist()
    [[1], [3]]
    """
    stride, rest = _layout(index.shape, ax, shape)
    flat = index if stride == 1 else index * stride
    return flat if rest is None else flat + rest


@lru_cache(maxsize=256)
def _layout(places: tuple, ax: int, shape: tuple) -> "tuple[int, AnyArray | None]":
    """The distance between elements along an axis, and where each of the places begins by its other axes (or None)."""
    rest: AnyArray | None = None
    for k, n in enumerate(places):
        if k != ax and n > 1:
            part = (np.arange(n) * math.prod(shape[k + 1:])).reshape((n,) + (1,) * (len(places) - k - 1))
            rest = part if rest is None else rest + part
    return math.prod(shape[ax + 1:]), rest


def taking(name: str, node: str, inputs: tuple, places: Callable, once: Callable = lambda **_: False,
           saves: tuple = (), **others: object) -> Composite:
    """The step that takes elements of x: places(index, shape, **params) says which ones of the flattened array; once:
    whether no element is taken twice; others: of a composite (see there)."""
    def written(x: Tensor, index: AnyArray, **params: object) -> Tensor:
        return written_at(x, places(raw(index), tuple(x.shape), **params))

    def pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, **params: object) -> tuple:
        shape = tuple(xs[0].shape)
        return added_at(gs[0], places(np.asarray(raw(xs[1])), shape, **params), shape, once(**params)), None

    def run(x: np.ndarray, index: np.ndarray, **params: object) -> np.ndarray:
        return x.take(places(index, x.shape, **params))
    return Composite(name, others.pop("written", written), pullback, others.pop("run", run), node=node, inputs=inputs,
                     saves=saves, **{"kinds": "fc", **others})


def _by_dim(index: np.ndarray, shape: tuple, dim: int) -> AnyArray:
    return along(index, dim, shape)


def _always(**_: object) -> bool:
    return True


gathered = taking("gathered", "GatherBackward0", ("self", "index"), _by_dim, saves=(0,))
in_order = taking("in_order", "SortBackward0", ("self", "indices"), _by_dim, _always)
foremost = taking("foremost", "TopkBackward0", ("self", "indices"), _by_dim, _always)


def _one_each(index: np.ndarray, shape: tuple, dim: int, keepdim: bool) -> np.ndarray:
    """The place of one element of each vector along a dimension, which goes or stays with extent 1."""
    column = index if keepdim else index[(slice(None),) * dim + (None,)]
    return along(column, dim, shape).reshape(index.shape)


chosen = taking("chosen", "MaxBackward0", ("self", "indices"), _one_each, _always, kinds="f")


def _scattered_written(x: Tensor, src: Tensor, index: AnyArray, dim: int) -> Tensor:
    shape = tuple(x.shape)
    flat = along(raw(index), dim, shape).reshape(-1)
    y = op["index_add"](op["reshape"](x, math.prod(shape)), op["reshape"](src, flat.size), flat, spec=("a",), at=0)
    return op["reshape"](y, *shape)


def _scattered_run(x: np.ndarray, src: np.ndarray, index: np.ndarray, dim: int) -> AnyArray:
    y = added_at(src, along(index, dim, x.shape), x.shape)
    y += x
    return y


def _scattered_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple, dim: int) -> tuple:
    g = gs[0]
    flat = along(raw(xs[2]), dim, tuple(g.shape)) if needs[1] else None
    return g, None if flat is None else g.take(flat) if type(g) is np.ndarray else written_at(g, flat), None


scattered = Composite("scattered", _scattered_written, _scattered_pullback, _scattered_run, node="ScatterAddBackward0",
                      edges=2, inputs=("self", "src", "index"))


# -- parts along a dimension -------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _starts_of_parts(lead: int, n: int, size: int) -> np.ndarray:
    """The places in the flattened array of the first part: (lead, 1, size) places of n parts each."""
    return np.asarray((np.arange(lead) * (n * size))[:, None, None] + np.arange(size))


def _of_parts(index: np.ndarray, shape: tuple, dim: int) -> AnyArray:
    """The places of the parts at indices (from 0) along a dimension."""
    size = math.prod(shape[dim + 1:])
    return _starts_of_parts(math.prod(shape[:dim]), shape[dim], size) + index.reshape(-1, 1) * size


def _parts_written(x: Tensor, index: AnyArray, dim: int) -> Tensor:
    return op["index"](x, raw(index), spec=tuple("a" if k == dim else ":" for k in range(len(x.shape))), at=dim)


parts, indexed, rows = (
    taking(name, node, inputs, _of_parts, written=_parts_written, run=lambda x, index, dim: x.take(index, dim))
    for name, node, inputs in (("parts", "IndexSelectBackward0", ("self", "index")),
                               ("indexed", "IndexBackward0", ("self", "indices")),        # x[indices]
                               ("rows", "EmbeddingBackward0", ("weight", "indices"))))


# -- places in planes: of images, or of signals ------------------------------------------------------------------------


def in_planes(places: AnyArray, rank: int, shape: tuple) -> AnyArray:
    """The places in the flattened array of this shape of elements at places of its planes, the last `rank` axes."""
    places = raw(places)
    starts = _starts(tuple(shape[:-rank]), rank, math.prod(shape[-rank:]))
    return places if starts is None else places + starts


@lru_cache(maxsize=256)
def _starts(planes: tuple, rank: int, n: int) -> "np.ndarray | None":
    """The places where planes of n elements begin; None of one alone."""
    count = math.prod(planes)
    return None if count == 1 else (np.arange(count) * n).reshape(planes + (1,) * rank)


def _largest(places: np.ndarray, shape: tuple, kernel_size: tuple, **_: object) -> AnyArray:
    return in_planes(places, len(kernel_size), shape)


def _are_apart(kernel_size: tuple, stride: tuple, dilation: tuple, **_: object) -> bool:
    """Whether no element is in two windows."""
    return all(s > d * (m - 1) for s, d, m in zip(stride or kernel_size, dilation, kernel_size))


pooled = taking("pooled", "MaxPool2DWithIndicesBackward0", ("self", "result1"), _largest, _are_apart, saves=(0,))
