"""Helpers of batch rules: the batch's extent, and moving operands to where a leading batch axis asks for them.

A batch rule is batch(op, xs, batched, params): xs[k] has a leading batch axis where batched[k]; every result has one.
The answer NotImplemented asks for a loop over the examples (an extent differs from example to example).
"""
from typing import Any

from ..ir.op import registry
from ..util.array import AnyArray, Extent
from .kinds import shape_of


def batch_extent(xs: tuple, batched: tuple) -> Any:
    """The number of examples."""
    return next(shape_of(x)[0] for x, b in zip(xs, batched) if b)


def spread_batch(x: AnyArray, n: Extent, batched: bool) -> AnyArray:
    """x with a leading batch axis of n, repeated along it if it has none."""
    return x if batched else registry["broadcast_to"](x, n, *shape_of(x))


def pad_rank(x: AnyArray, rank: int) -> AnyArray:
    """A batched x whose examples get leading axes of extent 1, up to this rank."""
    n, *rest = shape_of(x)
    if len(rest) >= rank:
        return x
    return registry["reshape"](x, n, *[1] * (rank - len(rest)), *rest)
