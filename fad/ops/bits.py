"""Unions of bit sets, for finding sparsity patterns (transforms/dependence): an int64 holds a set of up to 64 numbers,
one per bit.

The union of two sets is `bitwise_or`; here are the union along axes, and the union with a selected part of an array.
"""
from typing import Any

import numpy as np

from ..ir.op import Op, registry
from ..ir.spec import walk_spec
from ..ir.traits import Reduction, nought
from .extents import product
from .index import index, infer_write, update
from .kinds import Zero, shape_of
from .reduce import own_dtype, reduction
from .selection import array_rank, move_axes, natural_place, numpy_index, selected_shape
from .shape import broadcast_to, reshape, transpose


def _sets(*shape: int, axes: tuple) -> Any:
    return lambda rng: ((rng.integers(0, 1 << 62, shape),), {"axes": axes})


union = reduction("union", np.bitwise_or.reduce, own_dtype, Zero(), Reduction("bitwise_or", nought),
                  (_sets(5, axes=(0,)), _sets(2, 3, 4, axes=(0, 2))),
                  "The bitwise or of the (integer) elements along axes: the union of bit sets")


def _run_join(x: object, v: Any, *operands: object, spec: tuple, at: int) -> Any:
    out = np.array(x)
    basic, arrays = numpy_index(operands, spec)
    if "a" not in spec:
        out[basic] |= v
        return out
    part = out[basic]                                        # a view of out, whatever the slices
    rank, place = array_rank(arrays), natural_place(arrays)
    chosen = move_axes(part[arrays], rank, place, at)
    np.bitwise_or.at(part, arrays, move_axes(np.broadcast_to(v, chosen.shape), rank, at, place))
    return out


def _expand_join(x: object, v: object, *operands: object, spec: tuple, at: int) -> Any:
    """A loop over the selected rows, since indices may recur."""
    chosen = {"spec": spec, "at": at}
    if "a" not in spec:
        return update(x, index(x, *operands, **chosen) | v, *operands, **chosen)
    part = selected_shape(shape_of(x), operands, spec, at)
    indices = [given[0] for _, entry, given in walk_spec(spec, operands) if entry == "a"]
    rank, n = len(shape_of(indices[0])), product(shape_of(indices[0]))
    order = (*range(at, at + rank), *range(at), *range(at + rank, len(part)))
    rest = (*part[:at], *part[at + rank:])
    rows = reshape(transpose(broadcast_to(v, *part), axes=order), n, *rest)
    lists = [reshape(i, n) for i in indices]
    alone = tuple("i" if entry == "a" else entry for entry in spec)

    def body(k: object, x: object) -> tuple:
        numbers = iter([index(i, k, spec=("i",), at=0) for i in lists])
        here = [o for _, entry, given in walk_spec(spec, operands)
                for o in ([next(numbers)] if entry == "a" else given)]
        row = index(rows, k, spec=("i", *[":"] * len(rest)), at=0)
        return (update(x, index(x, *here, spec=alone, at=0) | row, *here, spec=alone, at=0),)
    return registry["for"].run_regions([0, n, 1, x], (body,))[0]


def _join_samples() -> tuple:
    again = np.array([[1, 0, 1], [2, 2, 0]])
    return (lambda rng: ((rng.integers(0, 99, (3, 4)), rng.integers(0, 99, (2, 3, 4)), again),
                         {"spec": ("a", ":"), "at": 0}),
            lambda rng: ((rng.integers(0, 99, (4, 3)), rng.integers(0, 99, (4, 2, 3)), again),
                         {"spec": (":", "a"), "at": 1}),
            lambda rng: ((rng.integers(0, 99, 5), rng.integers(0, 99, 2), 1, 2), {"spec": (("s", 2),), "at": 0}))


index_join = Op("index_join", _run_join, infer_write, kind="opaque", derivative=Zero(), expand=_expand_join,
                samples=_join_samples(),
                doc="x, bit sets, with the sets v joined to those of the selected part (of indices that recur, all)")
