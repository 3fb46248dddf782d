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
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..util import tree
from ..util.config import config
from ..util.errors import ArgumentError
from ..util.keywords import named_as_here
from ..util.lazy import imported
from .derivative import jit
from .derivative import value_and_grad as value_and_grad_of
from .jacobian import hessian as hessian_of
from .jacobian import jacobian
from .products import hvp as product_of
from .ravel import ravel
from .staged import check_callable

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

    def delayed(self, params: Any, *data: Any) -> Any:
        """The result as a `dask.delayed` object, which has not been computed yet."""
        delayed = _needed("dask").delayed
        rows = _rows((params, *data), self.whole, repr(self))
        payload = delayed(_needed("cloudpickle").dumps((self.make, self.f)), pure=False)
        common = delayed(_Whole((params, *data[:self.whole - 1])), pure=False, traverse=False)
        run, add = delayed(_run, pure=False), delayed(_added, pure=False)
        results = [run(payload, common, row) for row in rows]
        while len(results) > 1:
            results = [add(results[k:k + FAN]) for k in range(0, len(results), FAN)]
        return results[0]

    def __repr__(self) -> str:
        return f"<fad.dask.{self.make.__name__[1:]} of {getattr(self.f, '__qualname__', self.f)}>"


def _needed(name: str) -> Any:
    """A module that Dask brings."""
    try:
        return imported(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError("fad.dask needs Dask. do: pip install 'fad-jit[dask]'", name=name) from None


# -- what has chunks ------------------------------------------------------------------------------


def _rows(args: tuple, whole: int, what: str) -> list:
    """For each chunk, the arguments that follow the whole ones."""
    leaves, structure = tree.flatten(args[whole:], is_leaf=_is_parts)
    if any(map(_has_chunks, tree.flatten(args[:whole])[0])):
        raise ArgumentError(f"{what} got chunks where it takes parameters", do="pass an array: x.compute()")
    parts = [_parts(leaf, what) if _has_chunks(leaf) else None for leaf in leaves]
    counts = {len(part) for part in parts if part is not None}
    if len(counts) != 1 or counts == {0}:
        why = "no argument has chunks" if counts <= {0} else f"the arguments have {sorted(counts)} chunks"
        raise ArgumentError(f"{what} needs arguments in chunks", why=why,
                            do="pass Dask arrays with the same chunks along the first axis, bags or delayed parts")
    _check_lengths(leaves, what)
    return [structure.unflatten([leaf if part is None else part[k] for leaf, part in zip(leaves, parts)])
            for k in range(counts.pop())]


def _is_parts(x: Any) -> bool:
    """Whether x is a list of delayed objects or futures, one for each chunk."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and all(map(_is_part, x))


def _is_part(x: Any) -> bool:
    module = type(x).__module__.partition(".")[0]
    return module in ("dask", "distributed") and type(x).__name__ in ("Delayed", "DelayedLeaf", "DelayedAttr", "Future")


def _has_chunks(x: Any) -> bool:
    return _is_parts(x) or (type(x).__module__.startswith("dask") and hasattr(x, "to_delayed"))


def _parts(x: Any, what: str) -> list:
    """The chunks of an argument, in order."""
    if isinstance(x, (list, tuple)):
        return list(x)
    if not hasattr(x, "numblocks"):
        if not hasattr(x, "npartitions") or hasattr(x, "columns"):
            raise ArgumentError(f"{what} does not take a {type(x).__name__}", do="pass x.to_dask_array(lengths=True)")
        return [_needed("dask").delayed(_stacked, pure=False)(part) for part in x.to_delayed()]
    if any(n > 1 for n in x.numblocks[1:]) or x.ndim == 0:
        raise ArgumentError(f"{what} needs chunks along the first axis alone",
                            why=f"an argument has {x.numblocks} blocks",
                            do='rechunk it: x.rechunk({0: "auto", 1: -1})')
    return list(x.to_delayed().ravel())


def _check_lengths(leaves: list, what: str) -> None:
    """Chunks of arrays belong together row by row. Unknown lengths (nan) are left to the function."""
    lengths = [np.asarray(x.chunks[0], float) for x in leaves if hasattr(x, "chunks") and hasattr(x, "numblocks")]
    for other in lengths[1:]:
        if np.any(np.abs(other - lengths[0]) > 0):
            raise ArgumentError(f"{what} needs chunks of equal lengths",
                                why="two arrays have different chunks along the first axis",
                                do="rechunk one like the other: y.rechunk({0: X.chunks[0]})")


def _stacked(items: Any) -> Any:
    """The items of a bag's partition as arrays, one row for each item."""
    items = list(items)
    return tree.map_leaves(lambda *rows: np.stack([np.asarray(row) for row in rows]), *items)


# -- what workers run -----------------------------------------------------------------------------


class _Whole:
    """The arguments that each chunk shares: one object, which Dask does not look into."""

    def __init__(self, args: tuple):
        self.args = args


def _run(payload: bytes, common: _Whole, row: tuple) -> Any:
    """The result for one chunk. Threads are Dask's to give."""
    with config.using(threads=1):
        return _loaded(payload)(*common.args, *row)


def _loaded(payload: bytes) -> Callable:
    """The compiled function of these bytes; each process makes it once."""
    key = hashlib.sha256(payload).digest()
    found = _LOADED.get(key)
    if found is None:
        make, f = _needed("cloudpickle").loads(payload)
        found = _LOADED.setdefault(key, make(f))
        while len(_LOADED) > KEPT:
            _LOADED.popitem(last=False)
    return found


def _added(results: list) -> Any:
    """The sum of some results, from left to right."""
    return functools.reduce(lambda a, b: tree.map_leaves(np.add, a, b), results)


def _value_and_grad(loss: Callable) -> Callable:
    return value_and_grad_of(loss, compile="now")


def _hvp(loss: Callable) -> Callable:
    return jit(lambda params, vector, *chunk: product_of(loss, params, vector, *chunk), compile="now")


def _of_vector(f: Callable, params: Any, chunk: tuple) -> "tuple[Callable, Any]":
    """f of this chunk as a function from a vector to a vector (or a number), and the vector of the parameters."""
    vector, unravel = ravel(params)
    return lambda v: f(unravel(v), *chunk), vector


def _hessian(loss: Callable) -> Callable:
    def of_chunk(params: Any, *chunk: Any) -> Any:
        f, vector = _of_vector(loss, params, chunk)
        return hessian_of(f)(vector)
    return jit(of_chunk, compile="now")


def _gauss_newton(residual: Callable) -> Callable:
    def of_chunk(params: Any, *chunk: Any) -> GaussNewton:
        f, vector = _of_vector(residual, params, chunk)
        r, J = ravel(f(vector))[0], jacobian(lambda v: ravel(f(v))[0])(vector)
        return GaussNewton(0.5 * np.sum(r * r), J.T @ r, J.T @ J)
    return jit(of_chunk, compile="now")
