"""Arguments of staged functions: their leaves are data or part of the program, and a key tells programs apart."""
from typing import Any, NamedTuple

import numpy as np

from ...ir.build import Value
from ...ir.types import is_too_large, require_plain
from ...util import tree
from ...util.array import ArrayOrNumber
from ...util.by_identity import ById
from ...util.config import config
from ...util.interrupts import is_hashable


def level_of(leaves: list) -> int:
    """0 for plain arrays, 1 where a Tensor is among the leaves, 2 where a traced value is."""
    return max([getattr(x, "__fad_level__", 0) for x in leaves], default=0)


def call_on_tensors(function: object, leaves: list, args: tuple, kwargs: dict) -> Any:
    """The call as the first Tensor among the leaves makes it."""
    carrier = next(x for x in leaves if getattr(x, "__fad_level__", 0) == 1)
    return carrier.__fad_call__(function, args, kwargs)


def leaf_key(position: int, x: object, varying: set, static_leaves: frozenset) -> Any:
    """The properties of a data leaf that the program depends on; None for a leaf that is not data but part of the
    program.

    Of an array: its dtype, its rank and which extents are 0 or 1. Of a number: its type.
    """
    if position in static_leaves:
        return None
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "biufc":
            return None
        shape = x.shape
        if type(x) is not np.ndarray:                         # the function may ask which class it is of
            require_plain(x)
            return x.dtype, tuple([n if n < 2 else -1 for n in shape]), type(x)
        return (x.dtype, tuple([n if n < 2 else -1 for n in shape])) if shape else (x.dtype, ())
    cls = type(x)
    if cls is float or cls is complex:
        return cls
    if cls is int:
        return cls if position in varying and not is_too_large(x) else None
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        return x.dtype
    return None


def static_key(x: object) -> Any:
    """The key of a static value; one that cannot be hashed stands for itself."""
    return (type(x), x) if is_hashable(x) else ById(x)


class Signature(NamedTuple):
    """A call's kind, decided once: another thread may find at any time that a number varies.

    key: what tells programs apart, the settings that they are made under among it; data: the leaves that are data;
    places: which leaves these are
    """

    key: Any
    data: list
    places: list


def signature_of(leaves: list, structure: tree.Structure, varying: set, static_leaves: frozenset) -> Signature:
    """The signature of a call with these leaves."""
    parts: list = [config.now().shape, structure]
    data: list = []
    places: list = []
    for k, x in enumerate(leaves):
        key = leaf_key(k, x, varying, static_leaves)
        if key is None:
            parts.append(static_key(x))
        else:
            parts.append(key)
            data.append(x)
            places.append(k)
    return Signature(tuple(parts), data, places)


def of_its_own(t: object) -> Any:
    """The tree with copies of its arrays, traced or not: values, and no array that the function was given."""
    return tree.map_leaves(_copied, t)


def _copied(x: ArrayOrNumber) -> ArrayOrNumber:
    if isinstance(x, np.ndarray):
        return x.copy("K")
    return x.copy() if isinstance(x, Value) and x.ndim else x  # type: ignore[attr-defined]  # methods are set by name
