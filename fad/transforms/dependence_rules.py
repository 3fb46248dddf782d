"""Bit sets on their way through one equation, by the kind of its op (see dependence.py): rule(sweep, eqn, sets) -> the
result's sets.

Operands without a set have None in `sets`. A rule may return sets in a shape that broadcasts to the result's own. For
an op without a rule here, every element of the result depends on all elements of every operand.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.graph import Equation
from ..ir.op import registry
from ..ir.spec import walk_spec
from ..ir.types import INT
from ..ops.kinds import Partials, shape_of
from ..util.array import AnyArray
from .sweeps import DependenceSweep


def everything(found: object) -> Any:
    """The union of all sets of an array."""
    rank = len(shape_of(found))
    return registry["union"](found, axes=tuple(range(rank))) if rank else found


def along(found: object, axes: tuple) -> Any:
    """The union along axes, which keep the extent 1."""
    if not axes:
        return found
    return registry["reshape"](registry["union"](found, axes=axes),
                               *[1 if k in axes else n for k, n in enumerate(shape_of(found))])


def joined(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a | b


def zeros(shape: tuple) -> Any:
    return registry["full"](0, *shape, dtype=INT) if shape else np.int64(0)


def _elementwise(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    partials = eqn.op.derivative.partials if isinstance(eqn.op.derivative, Partials) else sets
    total = None
    for s, p in zip(sets, partials):
        total = total if p is None else joined(total, s)
    return total


def _where(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    """Exact where the condition does not vary."""
    chosen, x, y = eqn.inputs[0], *sets[1:]
    if sweep.varies(chosen):
        return joined(x, y)
    return registry["where"](sweep.value(chosen), np.int64(0) if x is None else x, np.int64(0) if y is None else y)


def _moved(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    """The op itself, on sets."""
    return eqn.op(sets[0], *[sweep.value(a) for a in eqn.inputs[1:]], **eqn.params)


def _full(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    return sets[0]


def _each(sweep: DependenceSweep, eqn: Equation, sets: list) -> AnyArray:
    return eqn.op(*[zeros(sweep.shape(a)) if s is None else s for a, s in zip(eqn.inputs, sets)], **eqn.params)


def _reduce(sweep: DependenceSweep, eqn: Equation, sets: list) -> AnyArray:
    return registry["union"](sets[0], axes=eqn.params["axes"])


def _scan(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    total = None
    for s in sets:
        total = joined(total, s)
    return along(total, (eqn.params["axis"],))


def along_last(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    return along(sets[0], (len(shape_of(sets[0])) - 1,))


def _contract(sweep: DependenceSweep, eqn: Equation, sets: list) -> Any:
    *operands, out = eqn.params["labels"]
    total = None
    for letters, s in zip(operands, sets):
        if s is not None:
            s = registry["union"](s, axes=tuple(k for k, c in enumerate(letters) if c not in out))
            left = [c for c in letters if c in out]
            s = registry["transpose"](s, axes=tuple(left.index(c) for c in out if c in left)) if len(left) > 1 else s
            extents = iter(shape_of(s))
            total = joined(total, registry["reshape"](s, *[next(extents) if c in left else 1 for c in out]) if out
                           else s)
    return total


# -- selections ------------------------------------------------------------------------------------


def _operands(sweep: DependenceSweep, eqn: Equation, first: int) -> tuple:
    """The operands of a selection, its spec, and the axes along which a varying operand may pick anything; 0 stands for
    such an operand.
    """
    operands, spec, anywhere = [], [], []
    for axis, entry, given in walk_spec(eqn.params["spec"], eqn.inputs[first:]):
        if sweep.varies(given[0]) if given else False:
            anywhere.append(axis)
            operands += [zeros(sweep.shape(given[0])), *[sweep.value(a) for a in given[1:]]]
            spec.append(("s", 1) if entry[0] == "s" else entry)
        else:
            operands += [sweep.value(a) for a in given]
            spec.append(entry)
    return tuple(operands), {"spec": tuple(spec), "at": eqn.params["at"]}, tuple(anywhere)


def _index(sweep: DependenceSweep, eqn: Equation, sets: list) -> AnyArray:
    operands, chosen, anywhere = _operands(sweep, eqn, 1)
    whole = sets[0]
    if anywhere:
        whole = registry["broadcast_to"](along(whole, anywhere), *shape_of(whole))
    return registry["index"](whole, *operands, **chosen)


def _has_known_shape(sweep: DependenceSweep, eqn: Equation) -> bool:
    """Whether the selected part of an array that is written to has extents that do not vary."""
    return all(sweep.shape(given[0]) is not None and not any(sweep.varies(n) for n in given[1:])
               for _, _, given in walk_spec(eqn.params["spec"], eqn.inputs[2:]) if given)


def _write(sweep: DependenceSweep, eqn: Equation, sets: list) -> AnyArray:
    """Replaced elements lose their sets, if it is known which elements are replaced."""
    shape = sweep.shape(eqn.inputs[0])
    if shape is None:
        return sweep.union(sets)
    before, new = (zeros(shape) if sets[0] is None else sets[0]), (np.int64(0) if sets[1] is None else sets[1])
    if sweep.shape(eqn.inputs[1]) is None or not _has_known_shape(sweep, eqn):
        return before | everything(new)
    operands, chosen, anywhere = _operands(sweep, eqn, 2)
    if anywhere:
        if sets[1] is None:
            return before
        written = along(registry["index_join"](zeros(shape), new, *operands, **chosen), anywhere)
        return before | registry["broadcast_to"](written, *shape)
    if eqn.replaces_part:
        return registry["update"](before, new, *operands, **chosen,
                                  **({"unique": True} if eqn.params.get("unique") else {}))
    return before if sets[1] is None else _added(before, new, operands, chosen)


def _added(before: object, new: object, operands: tuple, chosen: dict) -> Any:
    if "a" in chosen["spec"]:
        return registry["index_join"](before, new, *operands, **chosen)
    return registry["update"](before, registry["index"](before, *operands, **chosen) | new, *operands, **chosen)


RULES: dict[str, Callable] = {
    "elementwise": _elementwise, "where": _where, "broadcast_to": _moved, "reshape": _moved, "transpose": _moved,
    "resize": _moved, "full": _full, "concatenate": _each, "pack": _each, "reduce": _reduce, "scan": _scan,
    "contract": _contract, "index": _index, "update": _write, "index_add": _write,
}
