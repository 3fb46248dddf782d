"""Sums over chunks that Dask keeps, in its workers: fad.dask.

    chunk 0 ──► kernel ──► value, gradient ─┐
    chunk 1 ──► kernel ──► value, gradient ─┼─► sum ─┐
    ...                                     ┘        ├─► sum
    chunk 8 ──► kernel ──► value, gradient ───► sum ─┘

Dask decides where and when a chunk is loaded, and runs a task again if its worker dies. The tree of sums depends on the
number of chunks alone, and each kernel runs compiled and on one thread. So the result has the same bits whatever the
order, the workers and the failures.
"""
import functools
import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...trace.frontend.travel import keep_texts, texts_behind
from ...util import tree
from ...util.config import config
from ...util.errors import ArgumentError
from ...util.keywords import named_as_here
from ...util.lazy import optional
from ..calls.ravel import ravel
from ..calls.staged import check_callable
from .derivative import jit
from .derivative import value_and_grad as value_and_grad_of
from .jacobian import hessian as hessian_of
from .jacobian import jacobian
from .products import hvp as product_of

FAN = 8         # results that one task adds up
KEPT = 32       # functions that a worker keeps compiled
_LOADED: "OrderedDict[bytes, Callable]" = OrderedDict()


class GaussNewton(NamedTuple):
    """The quadratic model of half a sum of squares: its value, its gradient and its Gauss-Newton matrix.

    The gradient (n) and the matrix (n, n) refer to the vector ``fad.ravel(params)[0]`` of n parameters.
    """

    value: Any
    gradient: Any
    matrix: Any


# -- what users call ------------------------------------------------------------------------------


@named_as_here
def value_and_grad(loss: Callable) -> "OverChunks":
    """
    Return a function that computes the value and the gradient of a sum over chunks of data.

    Parameters
    ----------
    loss : callable
        A function ``loss(params, *data)`` of one chunk. It returns a real number. The numbers of the chunks are added,
        so write a sum and not a mean.

    Returns
    -------
    OverChunks
        A function ``g(params, *data)`` that returns the pair ``(value, gradient)``. The gradient has the structure of
        `params`. ``g.delayed(params, *data)`` returns a `dask.delayed` object in place of numbers.

    Raises
    ------
    ArgumentError
        If no argument has chunks, or if two have different ones. It is a `TypeError` and a `ValueError`.

    See Also
    --------
    hvp : Multiply the Hessian of the sum with a vector.
    gauss_newton : Compute the quadratic model of a sum of squares.

    Notes
    -----
    These arguments have chunks: Dask arrays in chunks along their first axis, bags (a chunk is the stack of the items
    of a partition), lists of `dask.delayed` objects or futures, and structures of these. Every call of `loss` gets all
    other arguments whole.

    Each process compiles `loss` once, for all sizes of chunks. The sum has the same bits for every order of the chunks,
    every number of workers, and after failures of workers.

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da                               # doctest: +SKIP
    >>> import fad
    >>> def loss(w, X, y):
    ...     return np.sum((X @ w - y) ** 2)
    >>> X = da.ones((1_000_000, 3), chunks=(100_000, 3))      # doctest: +SKIP
    >>> y = da.zeros(1_000_000, chunks=100_000)               # doctest: +SKIP
    >>> fad.dask.value_and_grad(loss)(np.ones(3), X, y)       # doctest: +SKIP
    (9000000.0, array([6000000., 6000000., 6000000.]))
    """
    return OverChunks(_value_and_grad, check_callable(loss, "dask.value_and_grad"))


@named_as_here
def hvp(loss: Callable) -> "OverChunks":
    """
    Return a function that multiplies the Hessian of a sum over chunks with a vector.

    Parameters
    ----------
    loss : callable
        A function ``loss(params, *data)`` of one chunk that returns a real number.

    Returns
    -------
    OverChunks
        A function ``h(params, vector, *data)``. `vector` and the result have the structure of `params`. SciPy takes it
        as `hessp`.

    See Also
    --------
    hessian : Compute the whole Hessian.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> product = fad.dask.hvp(lambda w, X: np.sum((X @ w) ** 4))
    >>> product
    <fad.dask.hvp of <lambda>>
    """
    return OverChunks(_hvp, check_callable(loss, "dask.hvp"), whole=2)


@named_as_here
def hessian(loss: Callable) -> "OverChunks":
    """
    Return a function that computes the Hessian of a sum over chunks.

    Parameters
    ----------
    loss : callable
        A function ``loss(params, *data)`` of one chunk that returns a real number.

    Returns
    -------
    OverChunks
        A function ``h(params, *data)`` that returns a matrix (n, n) for the n elements of ``fad.ravel(params)[0]``. Its
        inverse holds the squares of standard errors if `loss` is a negative log likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.dask.hessian(lambda w, X: np.sum((X @ w) ** 4))
    <fad.dask.hessian of <lambda>>
    """
    return OverChunks(_hessian, check_callable(loss, "dask.hessian"))


@named_as_here
def gauss_newton(residual: Callable) -> "OverChunks":
    """
    Return a function that computes the Gauss-Newton model of a sum of squares over chunks.

    Parameters
    ----------
    residual : callable
        A function ``residual(params, *data)`` of one chunk that returns an array, or a structure of arrays.

    Returns
    -------
    OverChunks
        A function ``m(params, *data)`` that returns a `GaussNewton`: `value`, half the sum of squares r·r/2;
        `gradient`, the vector Jᵀr; `matrix`, JᵀJ. They refer to the elements of ``fad.ravel(params)[0]``.

    Notes
    -----
    A step of the Gauss-Newton method solves ``matrix @ step = -gradient``. Only these small results travel between the
    workers; no Jacobian leaves its chunk.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> fad.dask.gauss_newton(lambda w, X, y: X @ w - y)
    <fad.dask.gauss_newton of <lambda>>
    """
    return OverChunks(_gauss_newton, check_callable(residual, "dask.gauss_newton"))


class OverChunks:
    """A function of data in chunks: it runs on each chunk, where Dask wants, and adds the results along a tree."""

    def __init__(self, make: Callable, f: Callable, whole: int = 1):
        self.make, self.f, self.whole = make, f, whole
        functools.update_wrapper(self, f, assigned=("__module__", "__doc__"), updated=())

    def __call__(self, params: Any, *data: Any) -> Any:
        return self.delayed(params, *data).compute()

    def delayed(self, params: object, *data: object) -> Any:
        """The result as a `dask.delayed` object, which has not been computed yet."""
        args, graphs = (params, *data), _needed("dask.highlevelgraph")
        leaves, structure = tree.flatten(args[self.whole:], is_leaf=_is_parts)
        chunked = [k for k, leaf in enumerate(leaves) if _has_chunks(leaf)]
        _check(args[:self.whole], [leaves[k] for k in chunked], repr(self))
        collections, columns = _columns([leaves[k] for k in chunked])
        rest = [None if _has_chunks(leaf) else leaf for leaf in leaves]
        places = [(k, _is_bag(leaves[k])) for k in chunked]
        function = _needed("cloudpickle").dumps((self.make, self.f, texts_behind(self.f)))
        shared = _Shared(function, args[:self.whole], rest, structure, places)
        name, tasks = _tasks(shared, list(zip(*columns)))
        graph = graphs.HighLevelGraph.from_collections(name, tasks, dependencies=collections)
        return _needed("dask.delayed").Delayed(name, graph)

    def __repr__(self) -> str:
        return f"<fad.dask.{self.make.__name__[1:]} of {getattr(self.f, '__qualname__', self.f)}>"


def _tasks(shared: "_Shared", rows: list) -> "tuple[str, dict]":
    """The graph: a task for each chunk, and the tree of sums over them. Its name is that of the last sum."""
    name, specs = f"fad-{uuid.uuid4().hex}", _needed("dask._task_spec")

    def task(key: str, function: Callable, of: Sequence) -> tuple:
        return key, specs.Task(key, function, *map(specs.TaskRef, of))
    common = f"{name}-shared"
    tasks = {common: specs.DataNode(common, shared)}
    level = [f"{name}-{k}" for k in range(len(rows))]
    tasks.update(task(key, _run, (common, *row)) for key, row in zip(level, rows))
    depth = 0
    while depth == 0 or len(level) > 1:
        groups, depth = [level[k:k + FAN] for k in range(0, len(level), FAN)], depth + 1
        level = [name] if len(groups) == 1 else [f"{name}-sum-{depth}-{k}" for k in range(len(groups))]
        tasks.update(task(key, _added, group) for key, group in zip(level, groups))
    return name, tasks


def _needed(name: str) -> Any:
    """A module that Dask brings."""
    return optional(name, "fad.dask", "Dask", "'fad-jit[dask]'")


# -- what has chunks ------------------------------------------------------------------------------


def _is_parts(x: object) -> bool:
    """Whether x is a list of delayed objects or futures, one for each chunk."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and all(map(_is_part, x))


def _is_part(x: object) -> bool:
    return _of_dask(x) and type(x).__name__ in ("Delayed", "DelayedLeaf", "DelayedAttr", "Future")


def _of_dask(x: object) -> bool:
    return type(x).__module__.partition(".")[0] in ("dask", "distributed")


def _has_chunks(x: object) -> bool:
    return _is_parts(x) or (_of_dask(x) and hasattr(x, "to_delayed"))


def _is_bag(x: object) -> bool:
    return not isinstance(x, (list, tuple)) and not hasattr(x, "numblocks")


def _columns(chunked: list) -> "tuple[list, list]":
    """The collections of Dask's that these arguments come from, and for each argument the keys of its chunks."""
    dask = _needed("dask")
    chunked = [[dask.delayed(part) for part in x] if _is_parts(x) else x for x in chunked]
    known = iter(dask.optimize(*[x for x in chunked if not isinstance(x, list)]))
    chunked = [x if isinstance(x, list) else next(known) for x in chunked]
    collections = [each for x in chunked for each in (x if isinstance(x, list) else [x])]
    flat = _needed("dask.core").flatten
    return collections, [[part.key for part in x] if isinstance(x, list) else list(flat(x.__dask_keys__()))
                         for x in chunked]


def _check(whole: tuple, chunked: list, what: str) -> None:
    """Chunks lie along the first axis and belong together row by row. The function sees to unknown lengths (nan)."""
    if any(map(_has_chunks, tree.flatten(whole, is_leaf=_is_parts)[0])):
        raise ArgumentError(f"{what} got chunks where it takes parameters", do="pass an array: x.compute()")
    counts = {_count(x, what) for x in chunked}
    if len(counts) != 1:
        why = f"the arguments have {sorted(counts)} chunks" if counts else "no argument has chunks"
        raise ArgumentError(f"{what} needs arguments in chunks", why=why,
                            do="pass Dask arrays with the same chunks along the first axis, bags or delayed parts")
    lengths = [np.asarray(x.chunks[0], float) for x in chunked if hasattr(x, "numblocks")]
    if any(np.any(np.abs(other - lengths[0]) > 0) for other in lengths):
        raise ArgumentError(f"{what} needs chunks of equal lengths",
                            why="two arrays have different chunks along the first axis",
                            do="rechunk one like the other: y.rechunk({0: X.chunks[0]})")


def _count(x: Any, what: str) -> int:
    """The number of an argument's chunks."""
    if isinstance(x, (list, tuple)):
        return len(x)
    if hasattr(x, "columns") or not (hasattr(x, "numblocks") or hasattr(x, "npartitions")):
        raise ArgumentError(f"{what} does not take a {type(x).__name__}", do="pass x.to_dask_array(lengths=True)")
    if hasattr(x, "numblocks") and (x.ndim == 0 or any(n > 1 for n in x.numblocks[1:])):
        raise ArgumentError(f"{what} needs chunks along the first axis alone",
                            why=f"an argument has {x.numblocks} blocks", do='rechunk it: x.rechunk({0: "auto", 1: -1})')
    return int(x.npartitions)


# -- what workers run -----------------------------------------------------------------------------


class _Shared:
    """The part that all chunks share: the function, as bytes, and the arguments without chunks. Dask does not look into
    it.

    places: for each argument in chunks its position among the leaves of the data, and whether it is a bag.
    """

    def __init__(self, function: bytes, whole: tuple, rest: list, structure: Any, places: list):
        self.function, self.whole, self.rest, self.structure, self.places = function, whole, rest, structure, places

    def arguments(self, parts: tuple) -> tuple:
        """The arguments of the function for the chunk that these are the parts of."""
        leaves = list(self.rest)
        for (k, is_bag), part in zip(self.places, parts):
            leaves[k] = _stacked(part) if is_bag else part
        return self.whole + self.structure.unflatten(leaves)


def _run(shared: _Shared, *parts: Any) -> Any:
    """The result for one chunk. Threads are Dask's to give."""
    with config.using(threads=1):
        return _loaded(shared.function)(*shared.arguments(parts))


def _stacked(items: Any) -> Any:
    """The items of a bag's partition as arrays, one row for each item."""
    return tree.map_leaves(lambda *rows: np.stack([np.asarray(row) for row in rows]), *items)


def _loaded(function: bytes) -> Callable:
    """The compiled function of these bytes; each process makes it once."""
    key = hashlib.sha256(function).digest()
    found = _LOADED.get(key)
    if found is None:
        make, f, texts = _needed("cloudpickle").loads(function)
        keep_texts(texts)
        found = _LOADED.setdefault(key, make(f))
        while len(_LOADED) > KEPT:
            _LOADED.popitem(last=False)
    return found


def _added(*results: object) -> Any:
    """The sum of some results, from left to right."""
    return functools.reduce(lambda a, b: tree.map_leaves(np.add, a, b), results)


def _value_and_grad(loss: Callable) -> Callable:
    return value_and_grad_of(loss, compile="now")


def _hvp(loss: Callable) -> Callable:
    return jit(lambda params, vector, *chunk: product_of(loss, params, vector, *chunk), compile="now")


def _of_vector(f: Callable, params: object, chunk: tuple) -> "tuple[Callable, Any]":
    """f of this chunk as a function from a vector to a vector (or a number), and the vector of the parameters."""
    vector, unravel = ravel(params)
    return lambda v: f(unravel(v), *chunk), vector


def _hessian(loss: Callable) -> Callable:
    def of_chunk(params: object, *chunk: object) -> Any:
        f, vector = _of_vector(loss, params, chunk)
        return hessian_of(f)(vector)
    return jit(of_chunk, compile="now")


def _gauss_newton(residual: Callable) -> Callable:
    def of_chunk(params: object, *chunk: object) -> GaussNewton:
        f, vector = _of_vector(residual, params, chunk)
        r, J = ravel(f(vector))[0], jacobian(lambda v: ravel(f(v))[0])(vector)
        return GaussNewton(0.5 * np.sum(r * r), J.T @ r, J.T @ J)
    return jit(of_chunk, compile="now")
