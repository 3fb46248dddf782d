"""drop_dead_stores: dead store elimination for arrays. An array that is written everywhere before it is read needs no
fill, and elements that no reader looks at need not be written. (S. Muchnick, Advanced Compiler Design and
Implementation, 1997, section 18.10.)

    new = full(0.0, n); new[0] = a; for i in range(1, n): new[i] = x[i]   ->   new = unwritten(n); new[0] = a; ...
    g[1:n] = 0.0; s += g[0]                                               ->   s += g[0]

A store writes to a box. A list of boxes holds the elements that are not written yet; each store is taken away from it.
The ends of boxes are affine forms. Where bounds do not tell which of two is larger, the boxes that are left are larger
than they need be, and the fill stays. An addition to a box of which nothing is written yet becomes an assignment.
"""
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ..ir.affine import Affine
from ..ir.graph import Equation, Func, Var, all_equations, is_counted
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.uses import DefUse, defined_in
from ..ir.views import LoopView
from .dead_initialisation import assigned
from .dependence_test import Places
from .rewrite import as_atom, in_regions
from .value_ranges import Ranges
from .zeros import is_number

MOST_BOXES = 16                                              # that are not written yet; a fill costs little beside them


class Interval(NamedTuple):
    """Indices from `first` on, in front of `end`; none if the end is not behind the first."""

    first: Affine
    end: Affine


Box = tuple[Interval, ...]                                   # an interval for each axis


def drop_dead_stores(func: Func) -> Func:
    """An array of one number is made without it if all of its elements are written before it is read; a part of an
    array is not written if all readers look elsewhere.

        g = full(0.0, n); g[1:n] = v; g[0] += w   ->   g = unwritten(n); g[1:n] = v; g[0] = w
    """
    return _Stores(Places(func).ranges).region(func) if any(map(_is_store, all_equations(func))) else func


def _is_store(eqn: Equation) -> bool:
    return _is_fill(eqn) or eqn.replaces_part


def _is_fill(eqn: Equation) -> bool:
    return eqn.op.name == "full" and bool(eqn.outputs[0].type.shape)


class _Stores:
    """The stores of a program, whose integers lie in these ranges."""

    def __init__(self, ranges: Ranges):
        self.ranges = ranges

    def region(self, region: Func) -> Func:
        """The region, and those in it, without dead stores."""
        equations = self._without_unread([in_regions(e, self.region) for e in region.equations], region.outputs)
        chains = DefUse(equations, region.outputs)
        replaced: dict[Equation, tuple] = {}
        for fill in filter(_is_fill, equations):
            replaced.update(self._without_fill(fill, chains))
        return region.replace(equations=[new for e in equations for new in replaced.get(e, (e,))])

    def _without_unread(self, equations: list, outputs: tuple) -> list:
        """The equations without stores that all readers look past."""
        chains, older, found = DefUse(equations, outputs), dict[object, Var](), []
        for eqn in equations:
            if eqn.replaces_part and self._is_unread(eqn, chains):
                older[eqn.outputs[0]] = older.get(eqn.inputs[0], eqn.inputs[0])
            else:
                found.append(eqn.replace(inputs=(older.get(eqn.inputs[0], eqn.inputs[0]), *eqn.inputs[1:]))
                             if eqn.inputs and eqn.inputs[0] in older else eqn)
        return found

    def _is_unread(self, store: Equation, chains: DefUse) -> bool:
        """Whether the version of an array that a store leaves is only read where the store does not write."""
        (state,) = store.outputs
        users = chains.users(state)
        box = self._selected(store)
        return len(users) == chains.use_count(state) and all(
            e.reads_part and e.inputs.count(state) == 1 and self._are_apart([box], [self._selected(e)])
            for e in users)

    def _without_fill(self, fill: Equation, chains: DefUse) -> dict:
        """The equations that stand for a fill and for additions to it; none if the fill stays.

        A matrix that no loop writes to is filled in the pass that writes to it, which costs nothing.
        """
        number, (state,), new = fill.inputs[0], fill.outputs, dict[Equation, tuple]()
        left, written = [self._whole(state)], list["Box | None"]()
        is_slow = state.type.rank == 1
        for eqn, version in _writers(state, chains):
            boxes = self._written_by(eqn, version)
            if eqn.adds_part and self._are_apart(written, boxes):
                if not is_number(number, 0) or eqn.inputs[1].type.dtype != state.type.dtype:
                    return {}
                new[eqn] = assigned(eqn, number)
            elif eqn.adds_part and not self._are_apart(left, boxes):
                return {}
            for box in boxes:
                left = left if box is None else self._without_box(left, box)
            if len(left) > MOST_BOXES:
                return {}
            written += boxes
            is_slow |= not eqn.writes_part
            if not left:
                break
        t = fill.outputs[0].type
        made = Equation(registry["unwritten"], tuple(map(as_atom, t.shape)), fill.outputs, {"dtype": t.dtype}, (),
                        fill.where)
        return {**new, fill: (made,)} if is_slow and not left else {}

    # -- what is written -----------------------------------------------------------------------------------------------

    def _written_by(self, eqn: Equation, state: Var) -> list:
        """The boxes of an array that an equation is sure to write to, which leaves this version of it; None for one
        that is not known.
        """
        if eqn.writes_part:
            return [self._selected(eqn)]
        loop = LoopView(eqn)
        carry = loop.carries[loop.results.index(state)]
        found = [box for inner in _writers(carry, DefUse.of(loop.body)) for box in self._written_by(*inner)]
        return [None if box is None else self._in_all_iterations(box, loop) for box in found]

    def _selected(self, eqn: Equation) -> "Box | None":
        """The box that a read or a write selects."""
        found = []
        for (entry, given), n in zip(subscripts_of(eqn), eqn.inputs[0].type.shape):
            if entry not in (":", "i", ("s", 1)):
                return None
            first, extent = {":": (0, n), "i": (*given, 1)}.get(entry, given)
            ends = [self._form(a) for a in (first, extent)]
            if ends[0] is None or ends[1] is None:
                return None
            found.append(Interval(ends[0], ends[0] + ends[1]))
        return tuple(found)

    def _in_all_iterations(self, box: Box, loop: LoopView) -> "Box | None":
        """The box that all iterations of a loop write to, where one of them writes to this one: along one axis the box
        moves by one place an iteration."""
        low, high = [self._form(a) for a in loop.ends]
        own, moving = defined_in(loop.body) - {loop.index}, []
        for axis, interval in enumerate(box):
            if any(v in own for form in interval for v, _ in form.terms):
                return None
            if any(form.coefficient(loop.index) for form in interval):
                moving.append(axis)
        if low is None or high is None or len(moving) != 1:
            return None
        more = 0 if loop.step == 1 else 1
        least, largest = low.shifted(more), high.shifted(more - 1)
        k = moving[0]
        interval = box[k]
        c = interval.first.coefficient(loop.index)
        if abs(c) != 1 or interval.end.coefficient(loop.index) != c or not self._is_filled(interval):
            return None
        ends = (least, largest) if c == 1 else (largest, least)
        whole = Interval(*[form.without(loop.index) + end.scaled(c) for form, end in zip(interval, ends)])
        return (*box[:k], whole, *box[k + 1:])

    def _whole(self, array: Var) -> Box:
        return tuple([Interval(Affine.constant(0), self.ranges.exact(as_atom(n), self.ranges.everywhere())
                               or Affine.of(n)) for n in array.type.shape])

    def _form(self, a: object) -> "Affine | None":
        return self.ranges.exact(as_atom(a), self.ranges.everywhere())

    # -- boxes ---------------------------------------------------------------------------------------------------------

    def _is_at_most(self, a: Affine, b: Affine) -> bool:
        return self.ranges.is_nowhere_negative(b - a)

    def _is_filled(self, interval: Interval) -> bool:
        return self._is_at_most(interval.first.shifted(1), interval.end)

    def _are_apart(self, some: list, others: list) -> bool:
        """Whether no element is in one of some boxes and in one of the others."""
        return all(one is not None and other is not None and any(
            self._is_at_most(a.end, b.first) or self._is_at_most(b.end, a.first) for a, b in zip(one, other))
            for one, other in product(some, others))

    def _without_box(self, boxes: list, taken: Box) -> list:
        """Boxes that cover what is left of these without another one."""
        found: list[Box] = []
        for box in boxes:
            rest = list(box)
            for k, ((first, end), (low, high)) in enumerate(zip(box, taken)):
                below = Interval(first, low if self._is_at_most(low, end) else end)
                above = Interval(high if self._is_at_most(first, high) else first, end)
                found += [(*rest[:k], part, *rest[k + 1:]) for part in (below, above)
                          if not self._is_at_most(part.end, part.first)]
                rest[k] = Interval(low if self._is_at_most(first, low) else first,
                                   high if self._is_at_most(high, end) else end)
        return found


def _writers(state: Var, chains: DefUse) -> Iterator[tuple]:
    """The equations that write to an array, one after another, as long as nothing else reads or returns the version
    that they begin with. Each comes with the version that it leaves.
    """
    while chains.use_count(state) == len(users := chains.users(state)) == 1:
        (eqn,), before = users, state
        if eqn.writes_part and eqn.inputs[0] is before:
            (state,) = eqn.outputs
        elif is_counted(eqn) and LoopView(eqn).step in (1, -1) and _only_replaces(LoopView(eqn), before):
            state = LoopView(eqn).results[LoopView(eqn).init.index(before)]
        else:
            return
        yield eqn, state


def _only_replaces(loop: LoopView, state: Var) -> bool:
    """Whether an iteration of a loop, which begins with an array, only writes to it."""
    if state not in loop.init:
        return False
    k, chains = loop.init.index(state), DefUse.of(loop.body)
    writers = [*_writers(loop.carries[k], chains)]
    last = writers[-1][1] if writers else loop.carries[k]
    return last is loop.next[k] and chains.use_count(last) == 1 and not any(eqn.adds_part for eqn, _ in writers)
