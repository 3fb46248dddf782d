"""sum_at_once: where loops add to an array, and only its sums along one axis are read, the array of the sums is enough.

    for i, j: g[i, :] += y[j, :] * w[i, j]                for i, j: s[i] += sum(y[j, :]) * w[i, j]
    for i: h[i] += sum(g[i, :])                    ───►   for i: h[i] += s[i]

The cotangent of something that all points share is such an array where the points are lanes (transforms/vectorise). Its
rows went to memory and came back for each product. A sum moves in front of the factor that all its terms share, as in
factor_sums. One walk, and another one over each loop that begins with zeros.
"""
from collections import Counter
from typing import Any

from ..ir.graph import Atom, Equation, Func, Var, is_branch, is_loop, traced_value
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import Type
from ..ir.uses import operands, use_counts
from ..ir.views import BranchView, LoopView
from .factor_sums import scaled_operand, scales
from .rewrite import as_atom
from .zeros import filling, is_number

LONG = 16                                                    # terms of a sum that are worth a loop of their own


def sum_at_once(func: Func) -> Func:
    """The Func in which arrays that begin with zeros, and whose rows are only added to and summed, are the sums.

        g = full(0, n, p); g = for i: yield index_add(g, mul(y, w), i); s = for i: yield update(s, sum(index(g, i)), i)
            ->   g = full(0, n); g = for i: yield index_add(g, mul(sum(y), w), i); s = for i: yield update(s, g[i], i)
    """
    if not _may_have_some(func):
        return func
    uses = use_counts(func)
    return _block(func, uses)


def _may_have_some(func: Func) -> bool:
    return any((is_loop(eqn) and any(v.type.rank > 1 for v in eqn.outputs)) or any(map(_may_have_some, eqn.regions))
               for eqn in func.equations)


def _block(func: Func, uses: Counter) -> Func:
    """The Func or region with such arrays of its own replaced, and those of the regions in it."""
    equations = [e.replace(regions=tuple([_block(r, uses) for r in e.regions])) if e.regions else e
                 for e in func.equations]
    made_by = {v: e for e in equations for v in e.outputs}
    k = 0
    while k < len(equations):
        loop = LoopView(equations[k]) if is_loop(equations[k]) else None
        for j, a in enumerate(() if loop is None else loop.init):
            array = _summed(equations[k:], j, func.outputs, uses) if _is_zeros(a, made_by) else None
            if array is not None:
                rest = array.replaced(equations[k:], a, made_by[a])
                equations[k:] = rest
                k += 1                                       # the zeros of the sums are in front
        k += 1
    return func.replace(equations=equations)


def _is_zeros(a: Atom, made_by: dict) -> bool:
    return isinstance(a, Var) and a.type.rank > 1 and a.type.dtype.kind in "fc" and is_number(
        filling(a, made_by.get), 0)


def _summed(equations: list, j: int, outputs: tuple, uses: Counter) -> "_Summed | None":
    """The array that begins as the j-th carry of the first equation, a loop, if only sums along one axis are read."""
    for axis, n in enumerate(equations[0].outputs[j].type.shape):
        if (traced_value(n) or 0) >= LONG:
            found = _Summed(axis, uses)
            found.begins(LoopView(equations[0]), j)
            if found.follow(equations[1:]) and found.has_sums and not found.holds_any(outputs):
                return found
    return None


class _Summed:
    """An array whose sums along an axis are read, and nothing else of it.

    states: the variables that hold it; rows: {what is read of it: which axis of that is summed}; sums: {row: its sum}
    """

    def __init__(self, axis: int, uses: Counter):
        self.axis, self.uses = axis, uses
        self.states: set[Var] = set()
        self.rows: dict[Var, int] = {}
        self.sums: dict[Var, Var] = {}
        self.fits = True
        self.now: dict[Var, Var] = {}

    @property
    def has_sums(self) -> bool:
        return bool(self.sums)

    def holds_any(self, atoms: tuple) -> bool:
        return any(isinstance(a, Var) and (a in self.states or a in self.rows) for a in atoms)

    # -- what happens to it ------------------------------------------------------------------------

    def follow(self, equations: list) -> bool:
        """Whether these equations only add to it, set rows to zero, and sum what they read."""
        for eqn in equations:
            if self.fits and self.holds_any(tuple(operands(eqn))):
                self.fits = self._step(eqn)
        return self.fits

    def begins(self, loop: LoopView, *places: int) -> None:
        """A loop carries it."""
        for k in places:
            self.states.update((loop.results[k], *[loop.carries_of(region)[k] for region in loop.eqn.regions]))
        for region in loop.eqn.regions:
            self.follow(region.equations)
        ends = [k for k, a in enumerate(loop.next) if self.holds_any((a,))]
        others = () if loop.test is None else loop.test.outputs
        self.fits &= (ends == list(places) and not loop.eqn.params["extents"] and not self.holds_any(others)
                      and all(loop.next[k] in self.states for k in ends))

    def _step(self, eqn: Equation) -> bool:
        if is_loop(eqn):
            loop = LoopView(eqn)
            places = [k for k, a in enumerate(loop.init) if a in self.states]
            if self.holds_any(loop.bounds) or any(a in self.rows for a in loop.init):
                return False
            self.begins(loop, *places)
            return self.fits
        if is_branch(eqn):
            return self._branches(BranchView(eqn))
        if eqn.writes_part or eqn.reads_part:
            return self._part(eqn)
        if eqn.op.name == "sum":
            row, axes = eqn.inputs[0], eqn.params["axes"]
            if axes != (self.rows.get(row),) or row in self.sums or eqn.outputs[0].type.dtype != row.type.dtype:
                return False
            self.sums[row] = eqn.outputs[0]
            return True
        return self._linear(eqn)

    def _branches(self, branch: BranchView) -> bool:
        if any(not self.follow(region.equations) for region in branch.branches):
            return False
        for out in branch.results:
            held = [a in self.states for a in branch.yielded(out)]
            if any(held) != all(held) or any(a in self.rows for a in branch.yielded(out)):
                return False
            if all(held):
                self.states.add(out)
        return not branch.eqn.params["extents"]

    def _part(self, eqn: Equation) -> bool:
        """Whether a part is read or written that has the whole axis."""
        array, *others = eqn.inputs
        subscripts = subscripts_of(eqn)
        if array not in self.states or self.holds_any(tuple(others)) or subscripts[self.axis][0] != ":" or any(
                entry == "a" for entry, _ in subscripts):
            return False
        if eqn.reads_part:
            self.rows[eqn.outputs[0]] = self._place(eqn)
            return True
        self.states.add(eqn.outputs[0])
        v = eqn.inputs[1]
        if eqn.replaces_part:
            return is_number(v, 0)
        kept = tuple([n for (entry, given), n in zip(subscripts, array.type.shape) if entry == ":"])
        return (v.type.dtype == array.type.dtype and v.type.shape == kept
                and all(entry in (":", "i") for entry, _ in subscripts))

    def _place(self, eqn: Equation) -> int:
        """The summed axis among those of the part."""
        return sum(entry != "i" for entry in eqn.params["spec"][:self.axis])

    def _linear(self, eqn: Equation) -> bool:
        """Whether a sum may be taken in front of this operation in place of behind."""
        k = _passed(eqn)
        if k is None or eqn.inputs[k] not in self.rows or eqn.outputs[0].type.shape != eqn.inputs[k].type.shape:
            return False
        if self.holds_any(tuple([a for j, a in enumerate(eqn.inputs) if j != k])):
            return False
        self.rows[eqn.outputs[0]] = self.rows[eqn.inputs[k]]
        return True

    # -- in its place ------------------------------------------------------------------------------

    def replaced(self, equations: list, zeros: Var, full: Equation) -> list:
        """The equations with the sums in place of the array, which the first one, a loop, begins with these zeros."""
        begin = self._of(zeros, self.axis)
        shape = tuple(map(as_atom, begin.type.shape))
        made = full.replace(inputs=(full.inputs[0], *shape), outputs=(begin,))
        loop, place = LoopView(equations[0]), next(k for k, v in enumerate(equations[0].outputs) if v in self.states)
        init = tuple([begin if k == place else a for k, a in enumerate(loop.init)])
        return [made, *self._equations([loop.replace(init=init), *equations[1:]])]

    def _of(self, v: Var, axis: int) -> Var:
        """The sum that replaces a state or a row."""
        if v not in self.now:
            shape = v.type.shape
            self.now[v] = self.sums.get(v) or Var(Type(v.type.dtype, shape[:axis] + shape[axis + 1:]), v.name)
        return self.now[v]

    def _atom(self, a: Atom) -> Atom:
        if not isinstance(a, Var):
            return a
        return self._of(a, self.axis) if a in self.states else self._of(a, self.rows[a]) if a in self.rows else a

    def _atoms(self, atoms: tuple) -> tuple:
        return tuple(map(self._atom, atoms))

    def _region(self, region: Func) -> Func:
        return region.replace(inputs=self._atoms(region.inputs), equations=self._equations(region.equations),
                              outputs=self._atoms(region.outputs))

    def _equations(self, equations: list) -> list:
        found: list[Equation] = []
        made_by = {v: e for e in equations for v in e.outputs}
        for eqn in equations:
            if eqn.op.name == "sum" and eqn.inputs[0] in self.rows:
                continue                                     # its result is what stands for the row
            inputs = self._atoms(eqn.inputs)
            if eqn.adds_part and eqn.inputs[0] in self.states:
                inputs = (inputs[0], self._sum(inputs[1], self._place(eqn), made_by, found, eqn), *inputs[2:])
            params = eqn.params
            if (eqn.reads_part or eqn.writes_part) and eqn.inputs[0] in self.states:
                spec = params["spec"]
                params = params | {"spec": spec[:self.axis] + spec[self.axis + 1:]}
            found.append(eqn.replace(inputs=inputs, outputs=self._atoms(eqn.outputs), params=params,
                                     regions=tuple(map(self._region, eqn.regions))))
        return found

    def _sum(self, v: Any, axis: int, made_by: dict, found: list, add: Equation) -> Var:
        """The sum of what is added, behind the operations that all its terms share."""
        made = made_by.get(v) if self.uses[v] == 1 else None
        k = None if made is None else _passed(made)
        out = Var(Type(v.type.dtype, v.type.shape[:axis] + v.type.shape[axis + 1:]), v.name)
        if made is None or k is None or made.inputs[k].type.shape != v.type.shape:
            found.append(Equation(registry["sum"], (v,), (out,), {"axes": (axis,)}, (), add.where))
            return out
        inputs = list(made.inputs)
        inputs[k] = self._sum(inputs[k], axis, made_by, found, add)
        found.append(made.replace(inputs=tuple(inputs), outputs=(out,)))
        return out


def _passed(eqn: Equation) -> "int | None":
    """The operand in which the sum of an operation's results may be taken; None if it has none."""
    if eqn.op.name == "guarded_mul":
        return 0 if scales(eqn, 0) else None
    return scaled_operand(eqn)



