"""A tree of arrays as one vector, and back."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import registry
from ...ir.types import type_of
from ...ops.extents import product
from ...ops.kinds import shape_of
from ...trace.tracing import is_data
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber
from ...util.errors import ArgumentError, ExtentError
from ...util.keywords import named_as_here


@named_as_here
def ravel(t: object) -> "tuple[Any, Callable]":
    """Put the arrays of a structure into one vector.

    Parameters
    ----------
    t : structure of arrays
        Numbers and arrays in lists, tuples, dictionaries, dataclasses or registered classes.

    Returns
    -------
    vector : ndarray
        All elements, one array after the other, in the promoted dtype.
    unravel : callable
        A function that turns such a vector into a structure again. Each array has its own shape and dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import fad
    >>> vector, unravel = fad.ravel({"a": np.array([1.0, 2.0]), "b": 3.0})
    >>> vector
    array([1., 2., 3.])
    >>> unravel(2 * vector)["a"]
    array([2., 4.])
    """
    leaves, structure = tree.flatten(t)
    data = [x for x in leaves if _is_data(x)]
    if not data:
        return np.zeros(0), lambda v: t
    sizes = [product(shape_of(x)) for x in data]
    flat = [registry["reshape"](x, n) if hasattr(x, "shape") else registry["reshape"](np.asarray(x), 1)
            for x, n in zip(data, sizes)]

    def unravel(v: AnyArray) -> Any:
        _check_length(v, sizes)
        start: Any = 0
        parts = []
        for x, n in zip(data, sizes):
            parts.append(_like(registry["slice_axis"](v, 0, start, n), x))
            start = start + n
        remaining = iter(parts)
        return structure.unflatten([next(remaining) if _is_data(x) else x for x in leaves])
    return registry["concatenate"](*flat, axis=0), unravel


def _is_data(x: AnyArray) -> bool:
    """Whether a leaf has numbers: an array, a number or a tensor."""
    return is_data(x) or getattr(x, "__fad_level__", 0) == 1


def _dtype(x: Any) -> np.dtype:
    return x.dtype if getattr(x, "__fad_level__", 0) == 1 else type_of(x).dtype


def _check_length(v: AnyArray, sizes: list) -> None:
    if len(shape_of(v)) != 1:
        raise ArgumentError(f"unravel takes a vector, not an array with {len(shape_of(v))} axes",
                            do="pass a vector of as many elements as the structure has (x.reshape(-1))")
    total = sum(n for n in sizes if isinstance(n, int))
    have = shape_of(v)[0]
    if isinstance(have, int) and all(isinstance(n, int) for n in sizes) and have != total:
        raise ExtentError(f"unravel takes a vector of {total} elements, not {have}")


def _like(part: AnyArray, x: ArrayOrNumber) -> AnyArray:
    shape = shape_of(x)
    y = registry["reshape"](part, *shape) if shape else registry["index"](part, 0, spec=("i",), at=0)
    dtype = _dtype(x)
    if dtype.kind != "c" and _dtype(y).kind == "c":
        y = registry["real"](y)
    return y if _dtype(y) == dtype or dtype.kind not in "fc" else registry["cast"](y, dtype=dtype)
