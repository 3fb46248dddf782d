"""The dependence test: do two accesses of a loop touch the same element? Bounds of the indices tell (value_ranges.py).

It compares pairs of accesses, at most MOST_PAIRS of them in a loop.
"""
from itertools import product

from ..ir.affine import Affine
from ..ir.graph import Equation, Func, Var, extents_of, is_counted, is_loop
from ..ir.integers import Integers
from ..ir.views import LoopView
from .value_ranges import Ranges, index_of

MOST_PAIRS = 1000  # equations of a loop that are compared; unrolled code may have more


class Places:
    """The reads and writes of a program's equations. nests: {first input of a loop's body: the loops around the body,
    outermost first}.
    """

    def __init__(self, func: Func):
        self.facts = Integers()
        self.ranges = Ranges(self.facts.form, self.facts)
        self.nests: dict[Var, tuple] = {}
        self._enter(func, ())
        self.facts.low.update(dict.fromkeys(extents_of(func.inputs), 2))       # others are numbers: see Builder.dim

    def _enter(self, region: Func, loops: tuple) -> None:
        self._extents(region.inputs)
        for eqn in region.equations:
            self._extents(eqn.outputs)
            self.ranges.add(eqn)
            if is_counted(eqn):
                self.nests[LoopView(eqn).index] = (*loops, eqn)
            if is_loop(eqn):
                self.ranges.enter(eqn, loops)
            for inner in eqn.regions:
                self._enter(inner, (*loops, eqn) if is_loop(eqn) else loops)

    def _extents(self, vars: tuple) -> None:
        """No extent is negative."""
        self.facts.low.update(dict.fromkeys(extents_of(vars), 0))

    def keep_apart(self, region: Func, ones: list, others: list) -> list:
        """The equations in the body of a counted loop, each at one place in all iterations, whose elements no other of
        the equations touches in any iteration.
        """
        if len(ones) * len(others) > MOST_PAIRS:
            return []
        nest = self.nests[region.inputs[0]]
        return [e for e in ones if all(self._are_apart(e, other, nest) for other in others)]

    def _are_apart(self, one: Equation, other: Equation, nest: tuple) -> bool:
        """Whether some axis keeps them apart; an addition to a whole array is nowhere apart."""
        if "spec" not in one.params or "spec" not in other.params:
            return False
        around = frozenset(i for i in map(index_of, nest) if i is not None)
        spans = zip(self.ranges.spans(one, around), self.ranges.spans(other, around))
        return any(a and b and all(self._is_below(x, y, nest) or self._is_below(y, x, nest) for x, y in product(a, b))
                   for a, b in spans)

    def _is_below(self, x: tuple, y: tuple, nest: tuple) -> bool:
        """Whether one range ends before another one begins, whatever the iterations of the loops."""
        gap: Affine | None = None if x[1] is None or y[0] is None else y[0] - x[1]
        return self.ranges.is_at_least(1, gap, nest)
