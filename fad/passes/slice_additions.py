"""slice_additions: a loop that adds to neighbouring elements becomes additions to slices, which scatter_to_gather sums.

    for i in range(1, n):                       g[1:n] += x[1:n]
        g[i] += x[i]; g[i - 1] += y[i]     ->   g[0:n - 1] += y[1:n]

An iteration of the loop waits for the stores of the one before; those of a gather are independent. The terms of an
element keep their order. One walk over the program.
"""
from typing import Any

from ..ir.graph import Equation, Func, Var, has_effect, is_branch, is_counted
from ..ir.spec import subscripts_of
from ..ir.types import Type
from ..ir.uses import DefUse, defined_in
from ..ir.views import LoopView
from .dependence_test import Places
from .if_conversion import without_branches
from .reduction_recognition import Sums
from .rewrite import Scope, as_atom, as_extent, rewrite
from .scatter_to_gather import is_gathered
from .subscripts import IntegerArithmetic
from .window_candidates import place_of, shifts_in


def slice_additions(func: Func) -> Func:
    """An innermost loop of step 1 or -1 whose iterations add to shifted elements of an array, and are independent
    beside that, computes with slices, if the additions become a gather.

        for i in range(1, n): g[i] += x[i]; g[i - 1] += y[i]   ->   g[1:n] += x[1:n]; g[0:n - 1] += y[1:n]
    """
    places: list[Places] = []                                # of the func, once a branch asks for them

    def visit(eqn: Equation, scope: Scope) -> "tuple | None":
        if is_counted(eqn) and LoopView(eqn).step in (1, -1) and any(map(is_branch, LoopView(eqn).body.equations)):
            places[:] = places or [Places(func)]
            return _visit(without_branches(eqn, places[0]), scope)
        return _visit(eqn, scope)
    return rewrite(func, visit)


def _visit(eqn: "Equation | None", scope: Scope) -> "tuple | None":
    loop = LoopView(eqn) if eqn is not None and is_counted(eqn) else None
    if loop is None or loop.step not in (1, -1) or any(e.regions or has_effect(e) for e in loop.body.equations):
        return None
    sliced = _Sliced(loop)
    if not sliced.is_possible():
        return None
    results = sliced.written_out()
    if results is None or not _gains(sliced.equations, results, scope):
        return None
    for new in sliced.equations:
        scope.add(new)
    return results


def _gains(equations: list, results: tuple, scope: Scope) -> bool:
    """Whether scatter_to_gather makes one sum of all additions to each array."""
    chains = DefUse([*scope.equations, *equations], results)
    return all(is_gathered(e, chains) for e in equations if e.adds_part and e.outputs[0] in results)


class _Sliced:
    """The equations in place of a loop.

    shifts: {an integer of the body: what is added to the index}; meaning: {a variable of the body: what stands for it};
    sums: {the number of a carry that iterations only add to: {an addition: its place}}.
    """

    def __init__(self, loop: LoopView):
        self.loop, self.inside = loop, defined_in(loop.body)
        self.shifts = shifts_in(loop)
        self.meaning: dict[Any, Any] = dict(zip(loop.carries, loop.init))
        self.sums: dict[int, dict] = {}
        self.integers = IntegerArithmetic(loop.eqn.where)
        self.equations = self.integers.equations
        self.low: Any = None
        self.extent: Any = None

    def is_possible(self) -> bool:
        """Whether iterations only add to some carries, to one of them at several places, and have an element of their
        own of each other one.
        """
        chains, most = Sums(self.loop.body), 0
        for k in range(len(self.loop.carries)):
            steps = chains.steps(k)
            places = {e: place_of(e, self.shifts, self.inside) for e in steps or ()}
            if not steps or None in places.values():
                return False
            if all(e.adds_part for e in steps):
                self.sums[k] = places
                most = max(most, len(set(places.values())))
            elif len(set(places.values())) > 1:
                return False
        return most > 1

    # -- the equations -------------------------------------------------------------------------------------------------

    def written_out(self) -> "tuple | None":
        """Write all equations and return the final carries; None if an equation has no form with slices."""
        low, high = self.loop.ends
        count = self.integers.sum(high, self.integers.product(low, as_atom(-1)))
        self.extent = self.integers.larger(count, as_atom(0))
        self.low = low if self.loop.step == 1 else self.integers.sum(low, as_atom(1))
        adds = {e for steps in self.sums.values() for e in steps}
        rest = [e for e in self.loop.body.equations if e not in adds and e.outputs[0] not in self.shifts]
        if not all(map(self._write, rest)):
            return None
        after = [self._summed(k) if k in self.sums else self.meaning[v] for k, v in enumerate(self.loop.next)]
        return None if None in after else tuple(after)

    def _summed(self, k: int) -> Any:
        """A carry with all that is added to it, in the order in which an element gets it."""
        total, is_forward, places = self.loop.init[k], self.loop.step == 1, self.sums[k]
        for e in sorted(places, key=lambda e: places[e][1], reverse=is_forward):
            value = self._meaning(e.inputs[1])
            if value is None:
                return None
            total = self._selected(e, (total, value), total.type)
        return total

    def _write(self, e: Equation) -> bool:
        """Write an equation of the body for all iterations; whether that is possible."""
        inputs = [self._meaning(a) for a in e.inputs]
        if e.reads_part or e.writes_part:
            if place_of(e, self.shifts, self.inside) is None or None in inputs[:e.op.traits.selects]:
                return False
            t = inputs[0].type if e.writes_part else Type(e.outputs[0].type.dtype, (as_extent(self.extent),))
            self.meaning[e.outputs[0]] = self._selected(e, tuple(inputs[:e.op.traits.selects]), t)
            return True
        if e.op.kind != "elementwise" or None in inputs or any(v.type.shape for v in e.outputs):
            return False
        shape = (as_extent(self.extent),) if any(a.type.shape for a in inputs) else ()
        self.meaning[e.outputs[0]] = self._made(e, tuple(inputs), Type(e.outputs[0].type.dtype, shape))
        return True

    def _meaning(self, a: object) -> Any:
        """The vector or number that replaces an atom of the body; None for an index, which has no vector."""
        return self.meaning.get(a) if a in self.inside else a

    def _selected(self, e: Equation, arrays: tuple, t: Type) -> Var:
        """The equation with slices along the axis of the index."""
        spec: list = []
        given: list = []
        for _, (i,) in subscripts_of(e):
            if i in self.shifts:
                given += [self.integers.sum(self.low, as_atom(self.shifts[i])), self.extent]
            else:
                given.append(i)
            spec.append(("s", 1) if i in self.shifts else "i")
        return self._made(e, (*arrays, *given), t, {**e.params, "spec": tuple(spec), "at": 0})

    def _made(self, e: Equation, inputs: tuple, t: Type, params: "dict | None" = None) -> Var:
        out = Var(t, e.outputs[0].name)
        self.equations.append(Equation(e.op, inputs, (out,), e.params if params is None else params, (), e.where))
        return out
