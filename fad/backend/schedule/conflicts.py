"""The dependence test of the scheduler: what steps touch, and which of two must keep their order.

Two steps conflict if they touch the same array and one of them writes. Additions commute. Two steps in one loop are
apart where each iteration touches a part of its own: both subscript some axis of the array alike, by the loop's axis
alone.
"""
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...ir.graph import Var
from .buffer_reuse import ArrayOwners
from .indexmap import Axis, Elem, elements_in
from .loop_ir import Step
from .views import Views

READ, WRITE, ADD = "r", "w", "+"


class Access(NamedTuple):
    """An array or scalar that a step touches: its root, the place in it (None: all of it), and how."""

    root: Var
    place: Any
    mode: str


def accesses(step: Step, views: Views, storage: ArrayOwners) -> list[Access]:
    """Every array and scalar that the step touches."""
    if step.touches is None:
        step.touches = _accesses(step, views, storage)
    return step.touches


def _accesses(step: Step, views: Views, storage: ArrayOwners) -> list[Access]:
    root = storage.root
    found = [Access(root(e.var), e.at, READ) for e in step.reads()]
    found += [Access(root(v), None, READ) for v in step.arrays]
    if step.body is not None:
        used = dict.fromkeys(root(v) for v in step.body.inputs(views))
        found += [Access(r, None, READ) for r in used]
        found += [Access(r, None, WRITE) for r in _written_inside(step, views, storage) if r in used]
    whole = step.kind in ("fill", "call", "control")
    mode = ADD if step.kind == "add" else WRITE
    found += [Access(root(v), None if whole else step.target, mode) for v in step.outs]
    found += [
        Access(root(e.var), (), READ) for v in step.outs for n in v.type.shape for e in elements_in(views.number(n))
    ]
    return found + [Access(whole, None, mode) for r, _, mode in found for whole in storage.arrays_of(r)[1:]]


def _written_inside(step: Step, views: Views, storage: ArrayOwners) -> dict:
    """The roots that the steps of a step's regions write to: arrays from around that are free, too."""
    inside = [s for body in step.body.bodies for s in body.steps]
    return dict.fromkeys(a.root for s in inside for a in accesses(s, views, storage) if a.mode != READ)


def in_order(one: Access, other: Access) -> bool:
    """Whether two accesses of one root must keep their order."""
    if one.mode == other.mode == READ or one.mode == other.mode == ADD and _may_mix(one.place, other.place):
        return False
    return not _never_meet(one.place, other.place)


def _never_meet(one: "tuple | None", other: "tuple | None") -> bool:
    """Whether two places differ in a subscript that is the same in all iterations of the loops around (rows k and k + 1
    of an array).
    """
    if one is None or other is None:
        return False
    return any(
        i.terms == j.terms and i.const != j.const and all(isinstance(s, Var) for s, _ in i.terms)
        for i, j in zip(one, other)
    )


class Touched:
    """The accesses so far, with the steps that made them. Reads are kept apart from writes: they are many (every step
    reads an extent), and they do not conflict with each other.
    """

    def __init__(self) -> None:
        self._found: dict[tuple, dict[tuple, None]] = {}     # (root, mode) -> {(who, place): None}

    def add(self, who: object, access: Access) -> None:
        """Note an access."""
        self._found.setdefault((access.root, access.mode), {})[who, access.place] = None

    def before(self, access: Access) -> Iterator[tuple]:
        """(who, place) of the accesses that must stay before this one, each once."""
        for mode in (WRITE, ADD) if access.mode == READ else (READ, WRITE, ADD):
            for who, place in self._found.get((access.root, mode), ()):
                if in_order(Access(access.root, place, mode), access):
                    yield who, place


def _may_mix(one: tuple, other: tuple) -> bool:
    """Whether additions to these places may share a loop freely. Vectors of one row may not: they would wait for each
    other's stores.
    """
    return not (one and other) or len(other) > 1 or any(isinstance(s, Elem) for i in (*one, *other) for s, _ in i.terms)


def apart(other: Any, where: Any, axis: Axis, shared: Axis) -> bool:
    """Whether each iteration of the shared loop touches a part of its own: at `where` in terms of axis, at `other` in
    terms of the loop's.
    """
    if other is None or where is None:
        return False
    table = {axis: shared}
    for i, k in zip(where, other):
        if k.moves_only_with(shared) and i.substitute(table) == k:
            return True
    return False
