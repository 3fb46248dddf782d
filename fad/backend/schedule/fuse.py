"""Loop fusion: steps that may share a loop are put into one nest tree.

At each level the steps are taken in the program's order (greedy fusion). A step joins the first loop over its outermost
axis that it may join, else it opens a new one. A step without axes goes to the first place where all its operands are
known. An outer product waits for its reader, so that the two share a loop and nothing is stored. Two steps that touch
the same array may share a loop if each iteration touches a part of its own: both subscript some axis of the array
alike, by the loop's axis alone (conflicts.py). Functions do not share a loop with additions to elements that are found
(histograms): the one can become vectors, the other cannot (typed fusion: K. Kennedy, K. McKinley, 1993). At last, steps
that the first loop took in though nothing else there concerns them move on to the loop that reads their results.
"""
from typing import Any

from ...ir.graph import Var
from .buffer_reuse import ArrayOwners
from .conflicts import ADD, READ, WRITE, Access, Touched, accesses, apart, in_order
from .indexmap import Axis, Elem
from .loop_ir import Begin, Loop, Step
from .pass_partitioning import Phase, phases
from .simd_blocking import BlockLoop, SimdBlocks, is_scattered
from .views import Views

MOST = 64                                                   # steps of a loop that are looked at for parts
FEW = 3                                                     # sums and products that may wait for their reader


class FusionGroup:
    """Steps at one place of a level: in a loop over `axis`, or one after another (axis None)."""

    __slots__ = ("axis", "steps", "position")

    def __init__(self, axis: "Axis | None", position: int):
        self.axis, self.position = axis, position
        self.steps: list[Step] = []


class Scheduler:
    """Arranges steps into trees of loops."""

    def __init__(self, views: Views, storage: ArrayOwners):
        self.views, self.storage = views, storage

    def arrange_block(self, steps: list, outputs: tuple, outer: set) -> list:
        """The nodes of a function's or a region's steps: the passes over the long axis in blocks, and the steps before,
        between and behind them.

        outer: the roots that are known around the region.
        """
        nodes: list[Any] = []
        found = phases(steps, self.accesses, self.views)
        for phase in found:
            if phase.axis is None:
                nodes += self.arrange(phase.steps)
            else:
                nodes += self._in_blocks(phase.axis, phase.steps, self._results(phase, found, outputs, outer))
        return nodes

    def _results(self, phase: Phase, found: list, outputs: tuple, outer: set) -> dict:
        """root -> how the phase may touch it, for arrays that it writes and that are used outside of it: the phase does
        not read their old values.
        """
        made = {a.root for s in phase.steps for a in self.accesses(s) if a.mode != READ}
        elsewhere = [a for p in found if p is not phase for s in p.steps for a in self.accesses(s)]
        before = outer | {a.root for a in elsewhere if a.mode != READ}
        used = outer | {self.storage.root(a) for a in outputs if isinstance(a, Var)} | {a.root for a in elsewhere}
        return {root: {WRITE} if root in before else {READ, WRITE, ADD} for root in made & used}

    def arrange(self, steps: list, begun: frozenset = frozenset()) -> list:
        """The nodes (steps, loops, begins) of one level, in order."""
        level = _Level(self)
        for step in steps:
            level.place(step)
        level.finish()
        level.delay()
        nodes: list[Any] = []
        for group in level.groups:
            nodes += self._nodes(group, begun)
        return nodes

    def _nodes(self, group: FusionGroup, begun: frozenset) -> list:
        if group.axis is None:
            return list(group.steps)
        starting = _starting(group.axis, group.steps, begun)
        body = self.arrange([_without(s, group.axis) for s in group.steps], begun | {s.out for s in starting})
        return [Begin(s) for s in starting] + [Loop(group.axis, body)]

    def _in_blocks(self, axis: Axis, steps: list, results: dict) -> list:
        starting = _starting(axis, steps, frozenset())
        blocks = SimdBlocks(axis, steps, self.views, self.storage, results)
        body = self.arrange(blocks.steps, frozenset([s.out for s in starting]))
        return [Begin(s) for s in starting] + [BlockLoop(axis, blocks.start, blocks.count, body)]

    def accesses(self, step: Step) -> list[Access]:
        """Every array and scalar that the step touches."""
        return accesses(step, self.views, self.storage)


def _starting(axis: "Axis | None", steps: list, begun: frozenset) -> list:
    """The steps whose results get their first values in front of the loop over the axis."""
    return [s for s in steps if s.kind in ("reduce", "scan", "place") and s.out not in begun and axis in _gone(s)]


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
        self.groups: list[FusionGroup] = []
        self.touched = Touched()                             # by the groups of the steps placed so far
        self.waiting: list[Step] = []                        # for a reader of their results
        self.floor = 0  # nothing may go before this position (a check stands there)

    def place(self, step: Step) -> None:
        """Put the step in a group, once those that wait for it, or for which it must not wait, are there."""
        partners = self._with_needed([w for w in self.waiting if self._meets(w, step)], self.waiting)
        self.waiting = [w for w in self.waiting if w not in partners]
        early = self._with_needed([w for w in partners if not self._fits(w, step)], partners)
        if partners and not early and self._goes_on(step, partners):
            self.waiting += [*partners, step]
        elif _is_spread(step):
            self.finish(partners)
            self.waiting.append(step)
        else:
            self.finish(early)
            self._put(step, [w for w in partners if w not in early])

    def finish(self, waiting: "list | None" = None) -> None:
        """Put steps (all that wait) where they may stand first, each with those whose results it goes on with."""
        steps = self.waiting if waiting is None else waiting
        left = list(steps)
        for k, step in enumerate(steps):
            if not any(self._meets(step, other) for other in steps[k + 1:]):
                together = self._with_needed([step], left)
                left = [w for w in left if w not in together]
                self._put(step, [w for w in together if w is not step])

    def delay(self) -> None:
        """Move steps that have nothing to do with the others of their loop to the first later loop that reads what they
        make: those results then need no memory.
        """
        for k in range(len(self.groups) - 2, -1, -1):
            group = self.groups[k]
            parts = self._parts(group.steps) if group.axis is not None and len(group.steps) <= MOST else []
            for part in parts if len(parts) > 1 else ():
                later = self._first_that_meets(part, k)
                if later is not None and self._may_move(part, group, later):
                    group.steps = [s for s in group.steps if s not in part]
                    later.steps = [s.joined(s.axes[0], later.axis) for s in part] + later.steps
        self.groups = [g for g in self.groups if g.steps]

    def _parts(self, steps: list) -> list:
        """The independent parts of a loop, each with its steps in order: no part uses a result of another."""
        parts: list[list] = []
        for step in steps:
            mine = [p for p in parts if any(self._meets(s, step) for s in p)]
            parts = [p for p in parts if p not in mine] + [[*(s for p in mine for s in p), step]]
        return [[s for s in steps if s in part] for part in parts]

    def _first_that_meets(self, part: list, k: int) -> "FusionGroup | None":
        """The first group behind the k-th one that must stay behind the part."""
        return next((g for g in self.groups[k + 1:] if any(self._meets(s, t) for s in part for t in g.steps)), None)

    def _may_move(self, part: list, group: FusionGroup, later: FusionGroup) -> bool:
        """Whether the steps may stand first in a later loop, and save more reads there than they share here."""
        axis, new = group.axis, later.axis
        if axis is None or new is None or axis.extent != new.extent:
            return False
        if any(s.kind != "map" or s.axes != (axis,) for s in part) or not _is_one_kind(part + later.steps):
            return False
        mine = [a for s in part for a in self.scheduler.accesses(s)]
        theirs = [a for s in later.steps for a in self.scheduler.accesses(s)]
        if not all(apart(b.place, a.place, axis, new)
                   for a in mine for b in theirs if a.root is b.root and in_order(a, b)):
            return False
        others = [a for s in group.steps if s not in part for a in self.scheduler.accesses(s)]
        made = {a.root for a in mine if a.mode != READ}
        shared = {a.root for a in mine if a.mode == READ and a.place} & {a.root for a in others}
        return len(made & {a.root for a in theirs if a.mode == READ}) > len(shared)

    def _with_needed(self, steps: list, others: list) -> list:
        """The steps and those of the others that must stand in front of one of them, in order."""
        found = list(steps)
        for w in reversed(others) if found else ():
            if w not in found and any(self._meets(w, other) for other in found):
                found.append(w)
        return [w for w in others if w in found]

    def _goes_on(self, step: Step, partners: list) -> bool:
        """Whether the step does a little more with what waiting ones make, so that it may wait with them."""
        if step.eqn is None or not step.eqn.op.traits.affine or len(partners) >= FEW or not _fills_all(step):
            return False
        made = {self.scheduler.storage.root(w.out) for w in partners}
        read = {self.scheduler.storage.root(e.var) for e in step.reads()}
        return made == made & read and all(
            _is_smaller(e, step) or self.scheduler.storage.root(e.var) in made for e in step.reads()
        )

    def _meets(self, waiting: Step, step: Step) -> bool:
        """Whether the step reads a result of the waiting one, or writes to an operand of it."""
        mine = self.scheduler.accesses(step)
        return any(a.root is b.root and in_order(a, b) for a in self.scheduler.accesses(waiting) for b in mine)

    def _fits(self, waiting: Step, step: Step) -> bool:
        """Whether the waiting step may stand right before this one in any loop over the latter's first axis."""
        if step.is_point or step.axes[0].extent != waiting.axes[0].extent:
            return False
        pairs = [
            (a, b)
            for a in self.scheduler.accesses(waiting)
            for b in self.scheduler.accesses(step)
            if a.root is b.root and in_order(a, b)
        ]
        return all(apart(b.place, a.place, waiting.axes[0], step.axes[0]) for a, b in pairs)

    def _put(self, step: Step, partners: list) -> None:
        clashes = self._clashes(self.scheduler.accesses(step))
        if step.is_point:
            group = self._point(step, clashes)
        else:
            group = self._loop([(step, clashes), *[(w, self._clashes(self.scheduler.accesses(w))) for w in partners]])
        for one in (*partners, step):
            joined = one if one.is_point or one.axes[0] is group.axis else one.joined(one.axes[0], group.axis)
            group.steps.append(joined)
            for access in self.scheduler.accesses(joined):
                self.touched.add(group, access)
        if step.kind == "check":
            self.floor = max(self.floor, group.position)

    def _clashes(self, found: list) -> dict:
        """Group -> the pairs of places that this step and the group's steps touch in conflict."""
        clashes: dict[FusionGroup, list] = {}
        for access in found:
            for group, place in self.touched.before(access):
                clashes.setdefault(group, []).append((place, access.place))
        return clashes

    def _point(self, step: Step, clashes: dict) -> FusionGroup:
        """The first place where all operands of the step are known; calls and regions keep their place."""
        after = max([g.position + (g.axis is not None) for g in clashes], default=0)
        after = max(after, self.floor)
        if step.kind in ("call", "control"):
            after = max(after, len(self.groups) - 1)
            after += after < len(self.groups) and self.groups[after].axis is not None
        if after < len(self.groups) and self.groups[after].axis is None:
            return self.groups[after]
        return self._insert(FusionGroup(None, after))

    def _insert(self, group: FusionGroup) -> FusionGroup:
        self.groups.insert(group.position, group)
        for k in range(group.position, len(self.groups)):
            self.groups[k].position = k
        return group

    def _loop(self, together: list) -> FusionGroup:
        """The group that steps, each with its clashes, may join together: the first one, or a new one over the first
        step's axis.
        """
        axis = together[0][0].axes[0]
        first = max([g.position for _, clashes in together for g in clashes], default=0)
        for group in self.groups[max(first, self.floor):]:
            if group.axis is not None and group.axis.extent == axis.extent:
                if _is_one_kind([*group.steps, *(step for step, _ in together)]) and all(
                    apart(other, where, step.axes[0], group.axis)
                    for step, clashes in together
                    for other, where in clashes.get(group, ())
                ):
                    return group
        return self._insert(FusionGroup(axis, len(self.groups)))


def _is_one_kind(steps: list) -> bool:
    """Whether no step adds to elements that are found, or none divides or calls a function."""
    return not any(s.kind == "add" and is_scattered(s) for s in steps) or not any(map(_is_slow, steps))


def _is_slow(step: Step) -> bool:
    """Whether the step is a quotient, a conversion (as of the places), a root or another function of numbers."""
    op = None if step.eqn is None else step.eqn.op
    return op is not None and op.kind == "elementwise" and op.traits.rounds and not op.traits.affine


def _is_spread(step: Step) -> bool:
    """Whether the step makes a large array of smaller ones (an outer product), which its reader should compute instead.
    """
    return _fills_all(step) and all(_is_smaller(e, step) for e in step.reads())


def _fills_all(step: Step) -> bool:
    return step.kind == "map" and len(step.axes) >= 2 and len({*step.target}) >= len(step.axes)


def _is_smaller(e: Elem, step: Step) -> bool:
    return len(set(e.axes())) < len(step.axes)
