"""Extents that depend on data: how many elements are true, and where.

The extent comes first, as an integer of the program (count_true). The array of that extent takes it as an input, like
all arrays of computed extents. So `x[x > 0]` counts, finds the places, and gathers.
"""
from typing import Any

import numpy as np

from ..ir.build import Value, as_extent, current
from ..ir.op import Op, registry
from ..ir.traits import ANY_WIDENING, Reduction, Traits, nought
from ..ir.types import BOOL, INT, Type, type_of
from ..util.array import AnyArray, ArrayOrNumber
from . import extents
from .kinds import Explicit, Zero, shape_of


def _batch_count(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return registry["sum"](xs[0], axes=(1,))


def _batch_places(op: Op, xs: tuple, batched: tuple, params: dict) -> Any:
    return NotImplemented                             # each example has a count of its own


def _count_sample(rng: np.random.Generator) -> tuple:
    return (rng.uniform(size=7) < 0.5,), {"axes": (0,)}


def _places_sample(rng: np.random.Generator) -> tuple:
    mask = rng.uniform(size=7) < 0.5
    return (mask, int(mask.sum())), {}


count_true = Op("count_true", lambda mask, axes: int(np.count_nonzero(mask)), lambda mask, axes: Type(INT, (), True),
                kind="reduce", derivative=Zero(), batch=_batch_count, samples=(_count_sample,),
                doc="How many elements of a boolean vector are true: an extent, which promotes as a Python number",
                traits=Traits(widens=ANY_WIDENING, reduction=Reduction("add", nought), order="first"))
places_true = Op("places_true", lambda mask, count: np.flatnonzero(mask), lambda mask, count: Type(INT, (count,)),
                 kind="opaque", kernel="filters.places_true", kernel_params=(), derivative=Zero(), batch=_batch_places,
                 samples=(_places_sample,),
                 doc="The indices of the true elements of a boolean vector, of which there are `count`")


def flatnonzero(mask: object) -> AnyArray:
    """The indices, in the raveled array, of the elements that are not zero."""
    if type_of(mask).dtype != BOOL:
        mask = mask != 0
    if len(shape_of(mask)) != 1:
        mask = registry["reshape"](mask, extents.product(shape_of(mask)))
    count = count_true(mask, axes=(0,))
    if isinstance(count, Value):
        _bound(count, shape_of(mask)[0])
    return places_true(mask, count)


def _bound(count: Value, most: ArrayOrNumber) -> None:
    facts = current().integers
    facts.low[count.atom], facts.high[count.atom] = 0, facts.form(as_extent(most))


# The effect of elements that are cut off is unknown: with any element the sum of x without its zeros changes, its
# first element does not. So the derivative along them is nan.


def _cut_off_jvp(ys: tuple, xs: tuple, dxs: tuple) -> tuple:
    (y, _, dropped), (dy, dx, _) = xs, dxs
    dy = registry["nothing_like"](y) if dy is None else dy
    if dx is None:
        return (dy,)
    lost = registry["guarded_mul"](registry["where"](dropped, dx, 0.0), float("nan"))
    return (dy + registry["sum"](lost, axes=(0,)),)


def _cut_off_pullback(gs: tuple, ys: tuple, xs: tuple, needs: tuple) -> tuple:
    _, x, dropped = xs
    return gs[0], registry["where"](dropped, float("nan"), registry["nothing_like"](x)) if needs[1] else None, None


cut_off = Op("cut_off", lambda y, x, dropped: y, lambda y, x, dropped: type_of(y), kind="opaque",
             expand=lambda y, x, dropped: y, batch=_batch_places, derivative=Explicit(_cut_off_jvp, _cut_off_pullback),
             doc="y, a part of the vector x without the elements of a mask, along which its derivative is nan")


def nonzero(x: object) -> tuple:
    """The indices of the elements that are not zero, an array an axis, in C order.

    >>> nonzero(np.array([[1, 0], [2, 3]]))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    places, indices = flatnonzero(x), []
    for n in reversed(shape_of(x)[1:]):
        indices.append(places % n)
        places = places // n
    return (places, *reversed(indices))


registry["nonzero"] = nonzero          # type: ignore[assignment]  # what a mask in a subscript stands for, not an op
