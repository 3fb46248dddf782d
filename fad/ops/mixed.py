"""Results whose kind depends on the path: after a branch an int or a float, after a loop the initial kind or a wider
one.

The program gives such a result one type that has room for all kinds. Python's later code may still depend on the kind:
it asks for the class, rounds, divides by //. So this module notes the kinds, and the trace runs once more for each
kind that is not the result's own (see trace/regions/joins.py).
"""
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..ir.build import Value, current
from ..ir.graph import Literal
from ..ir.op import registry
from ..ir.types import Type, type_of
from ..util.array import AnyArray
from ..util.where import here


class DtypeKind(NamedTuple):
    """The dtype and strength of a value; `known` is its number, if known; is_exact: the result's type has room for it.
    """

    dtype: np.dtype
    weak: bool
    known: Any = None
    is_exact: bool = True

    @property
    def own(self) -> tuple:
        return self.dtype, self.weak

    @property
    def order(self) -> tuple:
        return "biufc".index(self.dtype.kind), self.dtype.itemsize, not self.weak


class Supposed(NamedTuple):
    """In a trace that supposes a result to be of one kind: the result, and the kind."""

    result: Any
    kind: DtypeKind


def of_kinds(y: object, name: str, given: Iterable) -> Any:
    """y, a region's result of this name, which is one of the given values. If the trace supposes one of their kinds, y
    in that kind."""
    if not isinstance(y, Value):
        return y
    kinds = [k for k in _kinds(given, y.type) if k.own != (y.type.dtype, y.type.weak)]
    if not kinds:
        return y
    root, site = current().root, (here(), name)
    root.trace.mixed[y.atom] = site, kinds
    kind = next((k for k in kinds if k.own == root.trace.supposing.get(site)), None)
    return y if kind is None else in_kind(y, kind)


def in_kind(y: Value, kind: DtypeKind) -> AnyArray:
    """y, supposed to be of this kind."""
    builder = current()
    x = builder.emit(registry["cast"], (y,), (Type(kind.dtype, y.type.shape, kind.weak),),
                     {"dtype": kind.dtype, "weak": kind.weak})[0]
    builder.trace.supposed[x.atom] = Supposed(y.atom, kind)
    return x


def _kinds(given: Iterable, t: Type) -> list:
    """The kinds of these values, for a result of the type t."""
    found: dict[tuple, list] = {}
    for x in given:
        own = type_of(x)
        found.setdefault((own.dtype, own.weak), []).append(_known(x))
    return [DtypeKind(dtype, weak, _the_one(numbers), _has_room(t.dtype, dtype, numbers))
            for (dtype, weak), numbers in found.items()]


def _known(x: object) -> Any:
    """The number that a value is, if it is one that is known; else None."""
    x = x.atom if isinstance(x, Value) else x
    if isinstance(x, Literal):
        return x.value
    shape = getattr(x, "shape", ())
    return None if hasattr(x, "type") or shape else x


def _the_one(numbers: list) -> Any:
    return numbers[0] if len({repr(x) for x in numbers}) == 1 else None


def _has_room(wide: np.dtype, dtype: np.dtype, numbers: list) -> bool:
    """Whether numbers of this dtype (or these, where they are known) are in the wide one what they are."""
    with np.errstate(all="ignore"):
        return (np.can_cast(dtype, wide, "safe")
                or all(x is not None and bool(np.asarray(x).astype(wide) == x) for x in numbers))
