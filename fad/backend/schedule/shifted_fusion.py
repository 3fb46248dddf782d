"""Shifted fusion: loops that read each other's results at shifted places become one loop, whose iterations pass these
results on in registers.

    for j in range(n - 1):                        for j in range(1, n):
        k[j + 1] = x[j + 1] * y[j]                    k = x[j] * y[j - 1]
    for j in range(n):                     ->         t = y[j] + 0.01 * k
        t[j] = y[j] + 0.01 * k[j]                     z[j] = x[j] * t_before
    for j in range(n - 1):                            t_before = t
        z[j + 1] = x[j + 1] * t[j]

Each step runs a fixed number of elements behind or ahead of the others (its shift), so that all that it reads is there,
and nothing is overwritten too early: difference constraints between pairs of steps, which the shifts fulfil. At the
ends, where not all steps have an element, each one tests its own range (emit_shifted.py). Values that are read up to
FAR iterations later wait in registers, and LLVM makes shuffles of vectors of them (first-order recurrences).

Sources: N. Manjikian, T. S. Abdelrahman, "Fusion of loops for parallelism and locality" (1997), shift and peel;
D. Callahan, S. Carr, K. Kennedy, "Improving register allocation for subscripted variables" (1990).
"""
from typing import Any

from ...ir.graph import Var
from .conflicts import READ, in_order
from .fuse import Scheduler
from .indexmap import Axis, Elem, Index, elements_in
from .loop_ir import Loop, Step, steps_of
from .register_rotation import Rotation
from .shift_choice import ANY, Member, choose_shifts, most_ahead
from .shifted_loop import EDGE, Bound, Ranged, ShiftedLoop
from .simd_blocking import BlockLoop

STEPS = 64
# elements that are worth it, and those that are where more than FEW values wait: the ends cost as much as 50 elements
LEAST, LONG = 32, 1000
FEW = 4


def shifted(nodes: list, scheduler: Scheduler, stored: set) -> list:
    """The nodes of a block, with loops over single steps joined where that saves memory. stored: roots that are used
    outside of the block.
    """
    found: list[Any] = []
    group = _Group(scheduler)
    for node in nodes:
        if not group.take(node):
            found += group.finished(stored, nodes)
            group = _Group(scheduler)
            if not group.take(node):
                found.append(node)
    return found + group.finished(stored, nodes)


class _Group:
    """Consecutive nodes. Some are joined; the others may stand in front."""

    def __init__(self, scheduler: Scheduler):
        self.scheduler = scheduler
        self.nodes: list[Any] = []                           # all nodes since the first of the group
        self.others: list[Any] = []                          # those that are not joined
        self.members: list[Member] = []
        self.extent: Index | None = None

    # -- collecting --------------------------------------------------------------------------------

    def take(self, node: object) -> bool:
        """Join the node, or let it stand in front; whether one of these is possible."""
        new = self._members(node)
        if new and len(self.members) + len(new) <= STEPS and self._is_related(new) and self._fits(new):
            self.members += new
            self.nodes.append(node)
            return True
        if not self.members or not _is_free(node) or self._conflicts(node):
            return False
        self.others.append(node)
        self.nodes.append(node)
        return True

    def _is_related(self, new: list) -> bool:
        """Whether there is a reason to join: a loop, the first element of an array, or use of what the group makes."""
        return any(m.axis is not None or m.step.target or m.step.kind == "fill" for m in new) or any(
            a.root is b.root and in_order(a, b)
            for m in self.members
            for a in m.accesses
            for n in new
            for b in n.accesses
        )

    def _conflicts(self, node: object) -> bool:
        touched = [a for s in steps_of(node) for a in self.scheduler.accesses(s)]
        return any(a.root is b.root and in_order(a, b) for m in self.members for a in m.accesses for b in touched)

    def _members(self, node: object) -> list:
        """The node's steps as members; none if it cannot be joined."""
        if isinstance(node, Loop):
            return self._of_loop(node, node)
        if not isinstance(node, Step):
            return []
        if node.kind == "fill" and len(node.out.type.shape) == 1 and node.args:
            return self._of_fill(node)
        return self._of_point(node) if node.kind in ("map", "add") and not node.axes and _is_affine(node) else []

    def _of_loop(self, node: object, loop: Loop) -> list:
        if isinstance(loop, BlockLoop) or not all(_is_simple(s, loop.axis) for s in loop.nodes):
            return []
        extent = self.extent if self.extent is not None else loop.axis.extent
        more = loop.axis.extent - extent
        if more.terms or not _is_long(extent, LEAST) or abs(more.const) > EDGE:
            return []
        self.extent = extent
        high = Bound(True, more.const)
        return [Member(s, node, loop.axis, Bound(False, 0), high, self.scheduler.accesses(s)) for s in loop.nodes]

    def _of_fill(self, node: Step) -> list:
        axis = Axis(self.scheduler.views.number(node.out.type.shape[0]))
        step = Step("map", None, node.out, target=(Index.of(axis),), args=node.args)
        return self._of_loop(node, Loop(axis, [step]))

    def _of_point(self, node: Step) -> list:
        accesses = self.scheduler.accesses(node)
        written = {a.root for m in self.members for a in m.accesses if a.mode != READ}
        made = (a.place for a in accesses if a.mode == READ and a.place and a.root in written)
        place = node.target or next(made, ())
        at_end = bool(place) and self._is_at_end(place)
        return [Member(node, node, None, Bound(at_end, 0), Bound(at_end, 1), accesses)]

    def _is_at_end(self, place: tuple) -> bool:
        if self.extent is None:
            return False
        rest = [i - self.extent for i in place]
        return any(not r.terms and abs(r.const) <= EDGE for r in rest)

    # -- shifts ------------------------------------------------------------------------------------

    def _fits(self, new: list) -> bool:
        """Give the new members their shifts, if there are any that keep all dependences."""
        if self.extent is not None and self._changes_extent(new):
            return False
        for k, member in enumerate(new):
            for other in (*self.members, *new[:k]):
                most = most_ahead(other, member, self.extent)
                if most is None:
                    return False
                if most is not ANY:
                    member.before.append((other, most))
            member.shift = min([o.shift + most for o, most in member.before], default=self._aligned(member))
        return True

    def _changes_extent(self, new: list) -> bool:
        roots = {self.scheduler.storage.root(e.var) for e in elements_in(self.extent)}
        return any(a.root in roots and a.mode != READ for m in (*self.members, *new) for a in m.accesses)

    def _aligned(self, member: Member) -> int:
        """The shift with which iteration j writes to element j, as far as that can be."""
        place = member.step.target
        k = member.along(place) if member.axis is not None else 0 if len(place) == 1 else None
        rest = None if k is None else member.offset(place[k], self.extent or Index())
        return -rest.const if rest is not None else 0

    # -- the loop ----------------------------------------------------------------------------------

    def finished(self, stored: set, every: list) -> list:
        """The nodes, joined if that is worth it."""
        loops = {id(m.node) for m in self.members if m.axis is not None}
        if self.extent is None or len(loops) < 2:
            return self.nodes
        choose_shifts(self.members, self.extent)
        start = min([m.low.number - m.shift for m in self.members if not m.low.at_end], default=0)
        for m in self.members:
            m.shift += start
        axis = Axis(self.extent)
        ranges = [self._ranged(m, axis) for m in self.members]
        outside = stored | {a.root for node in every if all(node is not m.node for m in self.members)
                            for s in steps_of(node) for a in self.scheduler.accesses(s)}
        rotation = Rotation(ranges, axis, self.scheduler)
        loop = ShiftedLoop(axis, ranges, rotation.found(outside), self.extent)
        least = LEAST if sum(t.depth for t in loop.rotated.values()) <= FEW else LONG
        worth_it = bool(self._saved(outside)) and _is_long(self.extent, least)
        return [*self.others, loop] if worth_it and rotation.fit and loop.is_regular else self.nodes

    def _saved(self, outside: set) -> set:
        """Arrays that several of the joined nodes use, and nobody else does."""
        users: dict[Var, set] = {}
        for m in self.members:
            for a in m.accesses:
                if a.place and a.root not in outside:
                    users.setdefault(a.root, set()).add(id(m.node))
        return {root for root, nodes in users.items() if len(nodes) > 1}

    def _ranged(self, m: Member, axis: Axis) -> Ranged:
        step = m.step
        if m.axis is not None:
            step = step.substitute({m.axis: Index.of(axis).shifted(m.shift)})
        else:
            step = _at_iteration(step, axis, m, self.extent)
        return Ranged(step, m.low.moved(-m.shift), m.high.moved(-m.shift))


def _at_iteration(step: Step, axis: Axis, member: Member, extent: object) -> Step:
    """A step that runs once, with places on the axes that it shares with others in terms of the iteration."""
    origin = extent if member.low.at_end else Index()

    def moved(place: tuple) -> tuple:
        rest = place[0] - origin if len(place) == 1 else None
        return (Index.of(axis).shifted(rest.const + member.shift),) if rest is not None and not rest.terms else place

    new = step.substitute({})
    new.target = moved(step.target)
    new.args = tuple([Elem(a.var, moved(a.at)) if isinstance(a, Elem) else a for a in step.args])
    return new


def _is_simple(step: object, axis: Axis) -> bool:
    """Whether the step of a loop writes one element of an array, and the program tells which ones it touches."""
    return (
        isinstance(step, Step) and step.kind in ("map", "add") and step.body is None and not step.axes
        and sum(axis in i.axes() for i in step.target) == 1 and _is_affine(step)
    )


def _is_affine(step: Step) -> bool:
    places = [*step.target, *[i for e in step.reads() for i in e.at]]
    return all(isinstance(s, (Axis, Var)) for i in places for s, _ in i.terms)


def _is_long(extent: Index, least: int) -> bool:
    """Whether there are elements enough, as far as the first call's arguments tell."""
    hints = [getattr(s, "hint", None) for s, _ in extent.terms]
    return None in hints or extent.const + sum(c * hint for (_, c), hint in zip(extent.terms, hints)) >= least


def _is_free(node: object) -> bool:
    """Whether the node may change places with others that do not touch the same things."""
    return all(s.kind in ("map", "add", "reduce", "fill", "scan", "place") for s in steps_of(node))
