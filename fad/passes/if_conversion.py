"""If-conversion: both branches of a loop's body are computed, and each result is selected.

    if c: g[i] += v                      g[i] += where(c, v, w)
    else: g[i] += w; g[i - 1] += x  ->   g[i - 1] += where(c, -0.0, x)

Straight code can become slices and vectors. The work for a branch that is not taken is lost, so it must be little. All
elements that it reads must be there. Adding -0.0 leaves every number as it is (J. Allen et al., "Conversion of
control dependence to data dependence", POPL 1983).
"""
from itertools import zip_longest

from ..ir.graph import Atom, Equation, Func, Literal, Var, has_effect, is_branch
from ..ir.types import BOOL, Type
from ..ir.views import BranchView, LoopView
from .dependence_test import Places
from .rewrite import emit
from .window_candidates import defined_within, is_inside, place_of, shifts_in

MOST = 40                                                    # equations of both branches


def without_branches(eqn: Equation, places: Places) -> "Equation | None":
    """The loop with selections in place of its branches; None if one of them cannot be computed in every iteration."""
    loop = LoopView(eqn)
    if loop.index not in places.nests:
        return None
    converted = _Converted(loop, places)
    equations: list[Equation] = []
    for e in loop.body.equations:
        if not is_branch(e):
            equations.append(e)
        elif not converted.add(BranchView(e), equations):
            return None
    return loop.replace(body=loop.body.replace(equations=equations))


class _Converted:
    """The branches of a loop's body as straight code."""

    def __init__(self, loop: LoopView, places: Places):
        self.places, self.nest = places, places.nests[loop.index]
        self.shifts, self.inside = shifts_in(loop), defined_within(loop.body)

    def add(self, branch: BranchView, equations: list) -> bool:
        """Add the equations in place of a branch; whether that is possible."""
        regions, where = branch.branches[::-1], branch.eqn.where                     # if it is true, and else
        if branch.selector.type.dtype != BOOL or sum(len(r.equations) for r in regions) > MOST:
            return False
        if not all(self._is_straight(region) for region in regions):
            return False
        equations += [e for region in regions for e in region.equations if not e.writes_part]
        for result in branch.results:
            yielded = branch.yielded(result)[::-1]
            new = self._selected(branch.selector, regions, yielded, result, equations, where)
            if new is None:
                return False
            equations.append(new)
        return True

    def _is_straight(self, region: Func) -> bool:
        """Whether a branch consists of cheap operations on numbers, reads of elements that are there, of arrays as they
        were before the branch, and writes to elements."""
        written = {e.outputs[0] for e in region.equations if e.writes_part}
        for e in region.equations:
            may_raise = e.op.traits.guard is not None and any(a.type.dtype.kind in "iu" for a in e.inputs)
            is_plain = e.op.kind == "elementwise" and e.op.traits.is_cheap and not may_raise
            if e.regions or has_effect(e) or any(a.type.shape for a in e.inputs[e.op.traits.selects and 1:]):
                return False
            if not is_plain and not e.writes_part:
                if not e.reads_part or e.inputs[0] in written or not is_inside(e, self.places, self.nest):
                    return False
        return True

    def _selected(self, c: Atom, regions: tuple, yielded: list, result: Var, equations: list,
                  where: object) -> "Equation | None":
        """Add the equations that lead to a result of the branch, and return the one that makes it."""
        if not result.type.shape:
            emit(equations, "where", (c, *yielded), result.type, where)
            return equations.pop().replace(outputs=(result,))
        found = [_writes(region, last) for region, last in zip(regions, yielded)]
        chains, (first, other) = zip(*found)
        if first is not other:
            return None
        merged = self._merged(c, chains, first, equations, where)
        for e, value in merged or ():
            out = Var(result.type, result.name)
            equations.append(Equation(e.op, (first, value, *e.inputs[2:]), (out,), e.params, (), where))
            first = out
        return equations.pop().replace(outputs=(result,)) if merged else None

    def _merged(self, c: Atom, chains: tuple, array: Atom, equations: list, where: object) -> "list | None":
        """(an equation that writes, the value) of the writes to one array, those of both branches to an element in one;
        None if that is not possible."""
        writes = [e for chain in chains for e in chain]
        found = {e: place_of(e, self.shifts, self.inside) for e in writes}
        dtype, adds = array.type.dtype, [e.adds_part for e in writes]
        if None in found.values() or dtype.kind != "f" or any(e.inputs[1].type.dtype != dtype for e in writes):
            return None
        if len({row for row, _ in found.values()}) > 1 or not (all(adds) or (      # type: ignore[misc]
                not any(adds) and max(map(len, chains)) == 1 and len(set(found.values())) == 1)):
            return None
        merged = []
        for place in dict.fromkeys(found.values()):
            for pair in zip_longest(*[[e for e in chain if found[e] == place] for chain in chains]):
                e = next(e for e in pair if e is not None)
                if None in pair and not is_inside(e, self.places, self.nest):
                    return None
                values = [self._kept(e, array, equations) if w is None else w.inputs[1] for w in pair]
                value = values[0] if _are_equal(*values) else emit(
                    equations, "where", (c, *values), Type(dtype, ()), where)
                merged.append((e, value))
        return merged

    @staticmethod
    def _kept(e: Equation, array: Atom, equations: list) -> Atom:
        """The number with which a write leaves the element as it is."""
        if e.adds_part:
            return Literal(-0.0, Type(array.type.dtype, ()))
        return emit(equations, "index", (array, *e.inputs[2:]), Type(array.type.dtype, ()), e.where,
                    spec=e.params["spec"], at=0)


def _are_equal(a: Atom, b: Atom) -> bool:
    return a is b or (isinstance(a, Literal) and isinstance(b, Literal) and repr(a.value) == repr(b.value))


def _writes(region: Func, last: Atom) -> "tuple[list, Atom]":
    """The writes that make the last version of an array, in order, and the version before them."""
    made = {e.outputs[0]: e for e in region.equations}
    chain: list[Equation] = []
    while last in made and made[last].writes_part:
        chain.insert(0, made[last])
        last = made[last].inputs[0]
    return chain, last
