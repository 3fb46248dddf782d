"""Selections on a batch of arrays, of indices, or of both.

If only arrays come in a batch, the selection gets one more whole axis. If indices do, each example selects something
else: every index that varies becomes an array over the batch, and the example's number indexes the array's own batch
axis.
"""
from typing import Any, NamedTuple

from ..ir.op import Op, registry
from ..ir.spec import walk_spec
from ..ir.types import INT
from ..util.array import AnyArray
from .batching import batch_extent, pad_rank, spread_batch
from .kinds import shape_of
from .selection import selected_shape


class Gathered(NamedTuple):
    """A selection over a batch: its description, and the order of axes that undoes what the gathering did to it."""

    operands: tuple
    spec: tuple
    at: int
    order: tuple


def _pairs(spec: tuple, batched: tuple) -> list:
    return [flags for _, _, flags in walk_spec(spec, batched)]


def _gathered_shape(spec: tuple, operands: tuple, batched: tuple) -> tuple:
    """The extents of the index arrays, without the batch's."""
    for (_, entry, given), flags in zip(walk_spec(spec, operands), _pairs(spec, batched)):
        if entry == "a":
            return shape_of(given[0])[1:] if flags[0] else shape_of(given[0])
    return ()


def _placed(x: object, n: object, batched: bool, axes: tuple, full: tuple) -> Any:
    """x, whose own axes are `axes` of the batch's index arrays, broadcast to all of them."""
    own = dict(zip(axes, shape_of(x)[1:] if batched else shape_of(x)))
    lead = n if batched else 1
    return registry["broadcast_to"](registry["reshape"](x, lead, *[own.get(k, 1) for k in range(len(full))]), n, *full)


def gather(spec: tuple, operands: tuple, at: int, batched: tuple, n: object, x_batched: bool) -> Gathered:
    """The selection in which each of n examples has indices of its own."""
    own = _gathered_shape(spec, operands, batched)
    entries = list(zip(walk_spec(spec, operands), _pairs(spec, batched)))
    moving = [axis for (axis, entry, _), flags in entries if entry[0] == "s" and flags[0]]
    extents = [given[1] for (axis, entry, given), _ in entries if axis in moving]
    full = tuple(own) + tuple(extents)
    new_spec: list = ["a"] if x_batched else []
    new: list = [_placed(registry["iota"](n, dtype=INT), n, True, (), full)] if x_batched else []
    for (axis, entry, given), flags in entries:
        if entry == "a":
            new_spec.append("a")
            new.append(_placed(given[0], n, flags[0], tuple(range(len(own))), full))
        elif entry == "i" and flags[0]:
            new_spec.append("a")
            new.append(_placed(given[0], n, True, (), full))
        elif axis in moving:
            new_spec.append("a")
            steps = registry["iota"](given[1], dtype=INT) * entry[1]
            place = len(own) + moving.index(axis)
            new.append(_placed(given[0], n, True, (), full) + _placed(steps, n, False, (place,), full))
        else:
            new_spec.append(entry)
            new.extend(given)
    return Gathered(tuple(new), tuple(new_spec), 0, _order(spec, at, len(own), moving))


def _order(spec: tuple, at: int, rank: int, moving: list) -> tuple:
    """The axis of the gathered selection that is each axis of the batch of selections."""
    kept = [axis for axis, entry in enumerate(spec) if entry == ":" or entry[0] == "s"]
    gathered = [("array", k) for k in range(rank)]
    have: list = ["batch", *gathered, *moving, *[axis for axis in kept if axis not in moving]]
    wanted: list = ["batch", *kept[:at], *gathered, *kept[at:]]
    return tuple(have.index(label) for label in wanted)


def _same_for_all(batched: tuple) -> bool:
    return not any(batched)


def _extent_varies(spec: tuple, batched: tuple) -> bool:
    return any(entry[0] == "s" and flags[1]
               for (_, entry, _), flags in zip(walk_spec(spec, batched), _pairs(spec, batched)))


def batch_index(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    """Reading, over a batch."""
    spec, at, flags = params["spec"], params["at"], batched[1:]
    if _extent_varies(spec, flags):
        return NotImplemented
    if _same_for_all(flags):
        return op(*xs, spec=(":", *spec), at=at + 1)
    g = gather(spec, xs[1:], at, flags, batch_extent(xs, batched), batched[0])
    return registry["transpose"](op(xs[0], *g.operands, spec=g.spec, at=g.at), axes=g.order)


def batch_write(op: Op, xs: tuple, batched: tuple, params: dict) -> AnyArray:
    """Writing and adding, over a batch."""
    spec, at, operands, flags = params["spec"], params["at"], xs[2:], batched[2:]
    rest = {name: value for name, value in params.items() if name == "unique"}
    if _extent_varies(spec, flags):
        return NotImplemented
    n = batch_extent(xs, batched)
    x = spread_batch(xs[0], n, batched[0])
    if _same_for_all(flags):
        rank = len(selected_shape(shape_of(x)[1:], operands, spec, at))
        return op(x, pad_rank(xs[1], rank) if batched[1] else xs[1], *operands, spec=(":", *spec), at=at + 1, **rest)
    examples = [o if not b else _first(o) for o, b in zip(operands, flags)]
    part = selected_shape(shape_of(x)[1:], tuple(examples), spec, at)
    g = gather(spec, operands, at, flags, n, True)
    v = registry["broadcast_to"](pad_rank(xs[1], len(part)) if batched[1] else xs[1], n, *part)
    inverse = tuple(g.order.index(k) for k in range(len(g.order)))
    return op(x, registry["transpose"](v, axes=inverse), *g.operands, spec=g.spec, at=g.at, **rest)


def _first(operand: object) -> Any:
    """One example of a batched operand, for its extents."""
    return registry["index"](operand, 0, spec=("i", *[":"] * (len(shape_of(operand)) - 1)), at=0)
