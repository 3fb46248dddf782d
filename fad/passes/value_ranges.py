"""Value ranges: bounds of the integers of loops, of those that a search finds (argmax) and that a branch chooses, too.

An integer that follows from loop indices and from invariants is known exactly, as an affine form of these. Any other
integer lies in one of at most MOST_RANGES ranges, whose ends are affine forms.
"""
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from ..ir.affine import Affine
from ..ir.graph import Atom, Equation, Literal, Var, is_branch, is_counted, is_loop
from ..ir.integers import Integers
from ..ir.spec import subscripts_of
from ..ir.types import INT
from ..ir.views import BranchView, LoopView

ANYWHERE = ((None, None),)
MOST_RANGES = 8                                              # of one integer; beyond that it may be anything


class Ranges:
    """The integers of a loop and of all that is in it.

    loops: {index: its loop}, outer ones first; around: {loop: the indices of the loops around it}; made: {variable: the
    equation that makes it}; carried: {what a loop carries: (what it begins with, what an iteration leaves of it, the
    loop)}; outside: the forms of variables that nothing in the loop makes; integers: what is known of the variables in
    these.
    """

    def __init__(self, outside: Callable[[Var], Affine], integers: Integers) -> None:
        self.outside, self.integers = outside, integers
        self.loops: dict[Var, Equation] = {}
        self.around: dict[Equation, frozenset] = {}
        self.made: dict[Var, Equation] = {}
        self.carried: dict[Var, tuple] = {}
        self.inside: set[Var] = set()
        self.known: dict[tuple, tuple] = {}
        self.pending: set[Var] = set()
        self.all: frozenset = frozenset()

    def enter(self, loop: Equation, outer: Iterable) -> None:
        """Take up a loop; outer: those around it."""
        view = LoopView(loop)
        self.around[loop] = frozenset(i for i in map(index_of, outer) if i is not None)
        i = index_of(loop)
        if i is not None:
            self.loops[i] = loop
        for region in loop.regions:
            self.inside.update(region.inputs)
            for own, carry, init, end in zip(view.carries_of(region), view.carries, view.init, view.next):
                self.carried[own] = (init, end, loop) if own is carry else (carry, carry, loop)

    def add(self, eqn: Equation) -> None:
        """Take up an equation in one of the loops."""
        self.made.update(dict.fromkeys(eqn.outputs, eqn))
        self.inside.update(eqn.outputs)

    # -- ranges ------------------------------------------------------------------------------------

    def of(self, a: Any, around: frozenset) -> tuple:
        """The ranges (least, largest) for an integer, or for each element of an array: it lies in one of them; an exact
        one is a point.

        around: the indices of loops that stand for themselves; those of other loops are known by their bounds.
        """
        if isinstance(a, Literal) and a.type.dtype.kind not in "iu":
            return ANYWHERE
        if isinstance(a, (int, Literal)):
            return _exact(Affine.constant(int(a.value if isinstance(a, Literal) else a)))
        if (a, around) in self.known:
            return self.known[a, around]
        found = tuple(dict.fromkeys(self._found(a, around)))
        if len(found) > MOST_RANGES:
            found = self._opaque(a)
        if not any(self._mentions(form, self.pending) for pair in found for form in pair):
            self.known[a, around] = found
        return found

    def of_slice(self, start: Atom, extent: Atom, step: int, around: frozenset) -> tuple:
        """The ranges of the indices in a slice."""
        ends = product(self.of(start, around), self.of(extent, around))
        found = [(first, _sum(first, _scaled((shifted(n[0], -1), shifted(n[1], -1)), step), 1)) for first, n in ends]
        return tuple((first[0], last[1]) if step > 0 else (last[0], first[1]) for first, last in found)

    def spans(self, eqn: Equation, around: frozenset) -> list:
        """The ranges, along each axis of an array, of the indices that an equation reads or writes; None if they are
        unknown.
        """
        return [self._span(entry, given, around) for entry, given in subscripts_of(eqn)]

    def _span(self, entry: Any, given: tuple, around: frozenset) -> "tuple | None":
        if entry[0] != "s":
            return None if entry == ":" else self.of(given[0], around)
        return self.of_slice(given[0], given[1], entry[1], around)

    def exact(self, a: object, around: frozenset) -> "Affine | None":
        """The form of an integer, where it has one."""
        ranges = self.of(a, around)
        return ranges[0][0] if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else None

    @staticmethod
    def _opaque(a: Atom) -> tuple:
        """The range of an integer that is only known by name; an array's elements may differ."""
        return ANYWHERE if a.type.shape else _exact(Affine.of(a))

    @staticmethod
    def _mentions(form: "Affine | None", variables: set) -> bool:
        return form is not None and any(v in variables for v, _ in form.terms)

    def _found(self, a: Var, around: frozenset) -> tuple:
        if a in self.loops:
            return _exact(Affine.of(a)) if a in around else self._between(*self._ends(self.loops[a]), around)
        if a in self.carried:
            return self._kept(a, around)
        if a.type.dtype != INT or a not in self.made:
            if a.type.dtype != INT or a.type.shape or a in self.inside:
                return self._opaque(a)
            return _exact(self.outside(a))
        found = self._made(self.made[a], a, around)
        return self._opaque(a) if found in (None, (), ANYWHERE) else found          # type: ignore[return-value]

    def _ends(self, loop: Equation) -> tuple[Any, Any, int, int]:
        """The least value of a loop's index, and the bound that it stays below."""
        view = LoopView(loop)
        return (*view.ends, 0, -1) if view.step > 0 else (*view.ends, 1, 0)          # type: ignore[operator]

    def _between(self, low: object, high: Atom, more: int, less: int, around: frozenset) -> tuple:
        """From one integer, and some more, to another one, and some more."""
        return tuple((shifted(x, more), shifted(y, less))
                     for (x, _), (_, y) in product(self.of(low, around), self.of(high, around)))

    def _kept(self, carry: Var, around: frozenset) -> tuple:
        """A carry is its first value, or the result of some iteration, in terms of that iteration's indices. One that
        no iteration makes smaller is at least its first value, one that none makes larger is at most that.
        """
        if carry in self.pending or carry.type.shape:
            return self._opaque(carry)
        init, end, loop = self.carried[carry]
        self.pending.add(carry)
        found = self.of(init, around & self.around[loop]) + self.of(end, around & self.around[loop])
        self.pending.discard(carry)
        steps = [pair for pair in found if self._mentions(pair[0], {carry}) or self._mentions(pair[1], {carry})]
        rises, falls = [all(self._moves(pair[k], carry, sign) for pair in steps) for k, sign in ((0, 1), (1, -1))]
        if not rises and not falls:
            return self._opaque(carry)
        return tuple((low if rises else None, high if falls else None) for low, high in found
                     if (low, high) not in steps)

    @staticmethod
    def _moves(form: "Affine | None", carry: Var, sign: int) -> bool:
        """Whether a form is a carry and a number of this sign, or zero, more."""
        more = None if form is None else form - Affine.of(carry)
        return more is not None and more.is_constant and more.const * sign >= 0

    def _made(self, eqn: Equation, a: Var, around: frozenset) -> "tuple | None":
        name, traits = eqn.op.name, eqn.op.traits
        if name in ("add", "sub"):
            return tuple(_sum(x, y, 1 if name == "add" else -1)
                         for x, y in product(*[self.of(b, around) for b in eqn.inputs]))
        if name == "neg" or name == "mul" and any(isinstance(b, Literal) for b in eqn.inputs):
            factor = next((int(b.value) for b in eqn.inputs if isinstance(b, Literal)), -1)
            return tuple(_scaled(x, factor) for b in eqn.inputs[:2] if isinstance(b, Var) for x in self.of(b, around))
        if name == "mod" and isinstance(eqn.inputs[1], Literal) and eqn.inputs[1].value > 0:
            return ((Affine.constant(0), Affine.constant(int(eqn.inputs[1].value) - 1)),)
        if name in ("maximum", "minimum") and (chosen := self._extreme_of(eqn, around)) is not None:
            return _exact(chosen)
        if traits.chosen_from is not None:
            return self._one_of(eqn.inputs[traits.chosen_from:], around)
        if is_branch(eqn):
            return self._one_of(BranchView(eqn).yielded(a), around)
        if is_loop(eqn):
            return self.of(LoopView(eqn).carries[eqn.outputs.index(a)], around)
        if traits.places is not None:
            extent = a.type.shape[0] if eqn.op.creation else eqn.inputs[0].type.shape[eqn.params.get("axis", -1)]
            return self._between(0, extent, 0, traits.places - 1, around)
        if name == "cast" and eqn.inputs[0].type.dtype.kind in "iu" or eqn.reads_part:
            return self.of(eqn.inputs[0], around)
        return self._wrapped(eqn, around) if name == "wrap_index" else None

    def _extreme_of(self, eqn: Equation, around: frozenset) -> "Affine | None":
        """The form of the larger or the smaller of two integers, where it is known which one that is."""
        a, b = [self.exact(x, around) for x in eqn.inputs]
        if a is None or b is None:
            return None
        larger = a if self.is_nowhere_negative(a - b) else b if self.is_nowhere_negative(b - a) else None
        return larger if larger is None or eqn.op.name == "maximum" else a + b - larger

    def _one_of(self, choices: Iterable, around: frozenset) -> tuple:
        return tuple(pair for b in choices for pair in self.of(b, around))

    def _wrapped(self, eqn: Equation, around: frozenset) -> "tuple | None":
        """An index that is never negative stays as it is."""
        return self.of(eqn.inputs[0], around) if self.is_natural(eqn.inputs[0]) else None

    def is_natural(self, a: Atom) -> bool:
        """Whether an integer is never negative."""
        found = [low for low, _ in self.of(a, self.everywhere())]
        return all(low is not None and self.is_nowhere_negative(low) for low in found)

    # -- their extremes ----------------------------------------------------------------------------

    def extreme(self, form: "Affine | None", loops: Iterable, sign: int) -> "Affine | None":
        """The largest (sign 1) or the smallest (sign -1) value of a form over all iterations of these loops, in terms
        of the indices of the loops around; None if a bound is unknown.
        """
        for loop in reversed([*loops]) if form is not None else ():
            i = index_of(loop)
            c = form.coefficient(i)                                              # type: ignore[union-attr]
            if c:
                bound = self._bound(loop, c * sign)
                if bound is None:
                    return None
                form = form.without(i) + bound.scaled(c)                         # type: ignore[union-attr]
        if form is not None and all(v in self.loops or v not in self.inside for v, _ in form.terms):
            return form
        return None

    def is_at_least(self, bound: int, form: "Affine | None", loops: Iterable) -> bool:
        """Whether a form is so large, in all iterations of these loops."""
        least = self.extreme(form, loops, -1)
        return least is not None and self.integers.proves_nonnegative(least.shifted(-bound))

    def is_less(self, a: Atom, b: Atom) -> bool:
        """Whether an integer is less than another one, in all iterations of the loops around them."""
        ends = product(self.of(a, self.everywhere()), self.of(b, self.everywhere()))
        gaps = [_sum(y, x, -1)[0] for x, y in ends]
        return all(gap is not None and self.is_nowhere_negative(gap.shifted(-1)) for gap in gaps)

    def is_nowhere_negative(self, form: Affine) -> bool:
        """Whether a form is not negative, in all iterations of the loops whose indices it has."""
        return self.is_at_least(0, form, self._nest_of(form))

    def everywhere(self) -> frozenset:
        """The indices of all loops."""
        if len(self.all) < len(self.loops):
            self.all = frozenset(self.loops)
        return self.all

    def _nest_of(self, form: Affine) -> list:
        """The nest of the innermost loop whose index a form has, outermost loop first."""
        found = [self.loops[v] for v, _ in form.terms if v in self.loops]
        inner = max(found, key=lambda loop: len(self.around[loop]), default=None)
        nest = [] if inner is None else [*map(self.loops.get, self.around[inner]), inner]
        return sorted(nest, key=lambda loop: len(self.around[loop]))              # type: ignore[index]

    def _bound(self, loop: Equation, sign: int) -> "Affine | None":
        """The largest or the smallest value of a loop's index."""
        ends = {pair[sign > 0] for pair in self._between(*self._ends(loop), self.around[loop])}
        return ends.pop() if len(ends) == 1 else None


def index_of(loop: Equation) -> "Var | None":
    """The index of a loop whose step is a number."""
    view = LoopView(loop) if is_counted(loop) else None
    return view.index if view is not None and view.step is not None else None


def shifted(form: "Affine | None", by: int) -> "Affine | None":
    return None if form is None else form.shifted(by)


def _exact(form: Affine) -> tuple:
    return ((form, form),)


def _sum(x: tuple, y: tuple, sign: int) -> tuple:
    """The range of x + y or x - y."""
    return tuple(None if a is None or b is None else a + b.scaled(sign) for a, b in zip(x, y if sign > 0 else y[::-1]))


def _scaled(x: tuple, k: int) -> tuple:
    low, high = [None if form is None else form.scaled(k) for form in x]
    return (low, high) if k >= 0 else (high, low)
