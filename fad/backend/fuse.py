"""Fusion: steps that may share a loop are put into one nest tree.

At each level the steps are taken in the program's order. A step joins the first loop over its outermost axis that it may join, else it
opens a new one; a step without axes goes to the first place where all it reads is known. Two steps that touch the same array may share a
loop if each turn of it touches a part of its own: some axis of the array is subscripted alike by both, by the loop's axis alone.
"""
from typing import Any

from ..ir.graph import Var
from .indexmap import Axis, Elem, elements_in
from .lanes import BlockLoop, Blocks, worth_it
from .reuse import Storage
from .steps import Begin, Loop, Step
from .views import Views

READ, WRITE, ADD = "r", "w", "+"


class Group:
    """Steps at one place of a level: in a loop over `axis`, or one after another (axis None)."""

    __slots__ = ("axis", "steps", "position")

    def __init__(self, axis: "Axis | None", position: int):
        self.axis, self.position = axis, position
        self.steps: list[Step] = []


class Scheduler:
    """Arranges steps into trees of loops."""

    def __init__(self, views: Views, storage: Storage):
        self.views, self.storage = views, storage

    def arrange(self, steps: list, begun: frozenset = frozenset(), top: bool = False) -> list:
        """The nodes (steps, loops, begins) of one level, in order; the nests of the function itself (top) may run in blocks."""
        level = _Level(self)
        for step in steps:
            level.place(step)
        nodes: list[Any] = []
        for group in level.groups:
            nodes += self._nodes(group, begun, top)
        return nodes

    def _nodes(self, group: Group, begun: frozenset, top: bool) -> list:
        if group.axis is None:
            return list(group.steps)
        starting = [s for s in group.steps if s.kind in ("reduce", "scan", "place") and s.out not in begun and group.axis in _gone(s)]
        now = begun | {s.out for s in starting}
        if top and worth_it(group.axis, group.steps):
            blocks = Blocks(group.axis, group.steps, self.storage)
            return [Begin(s) for s in starting] + [BlockLoop(group.axis, blocks.start, blocks.count, self.arrange(blocks.steps, now))]
        inner = [_without(s, group.axis) for s in group.steps]
        body = self.arrange(inner, now)
        return [Begin(s) for s in starting] + [Loop(group.axis, body)]

    def accesses(self, step: Step) -> list:
        """(root, place or None for all of it, mode) of every array and scalar that the step touches."""
        if step.touches is None:
            step.touches = self._accesses(step)
        return step.touches

    def _accesses(self, step: Step) -> list:
        root = self.storage.root
        found = [(root(e.var), e.at, READ) for e in step.reads()]
        found += [(root(v), None, READ) for v in step.arrays]
        if step.body is not None:
            found += [(root(v), None, READ) for v in step.body.inputs(self.views)]
        whole = step.kind in ("fill", "call", "control")
        mode = ADD if step.kind == "add" else WRITE
        found += [(root(v), None if whole else step.target, mode) for v in step.outs]
        found += [(root(e.var), (), READ) for v in step.outs for n in v.type.shape for e in elements_in(self.views.number(n))]
        base = self.storage.base
        return found + [(base[r], None, mode) for r, _, mode in found if r in base]


def _gone(step: Step) -> tuple:
    return (step.along,) if step.kind == "scan" else step.reduced


def _without(step: Step, axis: Axis) -> Step:
    """The step inside the loop: the axis is no longer one of its own."""
    new = step.on(axis, axis)
    new.reduced = step.reduced
    return new


class _Level:
    """One level being arranged."""

    def __init__(self, scheduler: Scheduler):
        self.scheduler = scheduler
        self.groups: list[Group] = []
        self.touched: dict[Var, list] = {}                   # root -> (group, place, mode) of the steps placed so far
        self.floor = 0                                       # nothing may go before this position (a check stands there)

    def place(self, step: Step) -> None:
        accesses = self.scheduler.accesses(step)
        clashes = self._clashes(accesses)
        if step.is_point:
            group = self._point(step, clashes)
        else:
            group, step = self._loop(step, clashes)
            accesses = self.scheduler.accesses(step)
        group.steps.append(step)
        for root, where, mode in accesses:
            self.touched.setdefault(root, []).append((group, where, mode))
        if step.kind == "check":
            self.floor = max(self.floor, group.position)

    def _clashes(self, accesses: list) -> dict:
        """Group -> the pairs of places that this step and the group's steps touch in conflict."""
        found: dict[Group, list] = {}
        for root, where, mode in accesses:
            for group, other, other_mode in self.touched.get(root, ()):
                if (mode != READ or other_mode != READ) and not (mode == ADD and other_mode == ADD and _may_mix(other, where)):
                    found.setdefault(group, []).append((other, where))
        return found

    def _point(self, step: Step, clashes: dict) -> Group:
        """The first place where all that the step reads is known; calls and regions stay where the program has them."""
        after = max([g.position + (g.axis is not None) for g in clashes], default=0)
        after = max(after, self.floor)
        if step.kind in ("call", "control"):
            after = max(after, len(self.groups) - 1)
            after += after < len(self.groups) and self.groups[after].axis is not None
        if after < len(self.groups) and self.groups[after].axis is None:
            return self.groups[after]
        return self._insert(Group(None, after))

    def _insert(self, group: Group) -> Group:
        self.groups.insert(group.position, group)
        for k in range(group.position, len(self.groups)):
            self.groups[k].position = k
        return group

    def _loop(self, step: Step, clashes: dict) -> tuple:
        """The group of the step, and the step in terms of that group's axis."""
        axis = step.axes[0]
        extent = axis.extent
        first = max([g.position for g in clashes], default=0)
        for group in self.groups[max(first, self.floor):]:
            if group.axis is not None and group.axis.extent == extent:
                if all(_apart(other, where, axis, group.axis) for other, where in clashes.get(group, ())):
                    joined = _join(step, axis, group.axis)
                    return group, joined
        return self._insert(Group(axis, len(self.groups))), step


def _join(step: Step, axis: Axis, shared: Axis) -> Step:
    """The step with its axis replaced by the loop's (which it still counts among its own)."""
    new = step.on(axis, shared)
    new.axes = tuple([shared if a is axis else a for a in step.axes])
    new.reduced = tuple([shared if a is axis else a for a in step.reduced])
    return new


def _may_mix(other: Any, where: Any) -> bool:
    """Whether additions to these places may share a loop freely: not vectors of one row, which would wait for each other's stores."""
    return not (other and where) or len(where) > 1 or any(isinstance(s, Elem) for i in (*other, *where) for s, _ in i.terms)


def _apart(other: Any, where: Any, axis: Axis, shared: Axis) -> bool:
    """Whether each turn of the shared loop touches a part of its own."""
    if other is None or where is None:
        return False
    table = {axis: shared}
    for i, k in zip(where, other):
        if k.moves_only_with(shared) and i.substitute(table) == k:
            return True
    return False
