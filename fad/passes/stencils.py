"""stencils: additions to parts of an array that are shifted against each other become one sum where all of them meet.

    g[1:] += v; g[:-1] += w        ->        g[1:-1] += v[:-1] + w[1:], and one addition at each end

Scatters become a gather. Source: J. Hückelheim, N. Kukreja, S. Narayanan, F. Luporini, G. Gorman, P. Hovland,
"Automatic differentiation for adjoint stencil loops" (2019).
"""
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var, free_vars
from ..ir.op import registry
from ..ir.types import Type
from ..ops.selection import walk_spec
from .parts import Integers, part_of_part
from .rewrite import as_atom
from .simplify import adds_nothing

FURTHEST = 8                                                 # shift that is worth it
SHORTEST = 16                                                # extent that is, where it is known
SIMPLE = {"mul", "neg", "add", "sub"}                        # ops that are done again for each shift rather than kept
DEPTH = 3


def stencils(func: Func) -> Func:
    """A stencil's derivative becomes a gather: one pass over the array in place of one for each neighbour, with the
    same numbers, added in the same order. The few elements at the ends, which get fewer terms, follow.

        g[:n] += v; g[2:n + 2] += w   ->   g[2:n] += v[2:] + w[:n - 2]; g[:2] += v[:2]; g[n:n + 2] += w[n - 2:]
    """
    equations = [_with_regions(e) for e in func.equations]
    made = {v: e for e in equations for v in e.outputs}
    uses = Counter(a for e in equations for a in _used(e)) + Counter(a for a in func.outputs if isinstance(a, Var))
    replaced: dict[Equation, list] = {}
    for eqn in reversed(equations):
        chain = _chain(eqn, made, uses) if eqn.op.name == "index_add" and eqn not in replaced else []
        if len({a.start for a in chain}) > 1:
            replaced.update(dict.fromkeys([a.eqn for a in chain], []))
            replaced[eqn] = _Gathered(chain, made).equations
    return Func(func.name, func.inputs, [new for e in equations for new in replaced.get(e, [e])], func.outputs)


def _with_regions(eqn: Equation) -> Equation:
    if not eqn.regions:
        return eqn
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, tuple([stencils(r) for r in eqn.regions]), eqn.where)


def _used(eqn: Equation) -> list:
    return [a for a in eqn.inputs if isinstance(a, Var)] + [v for region in eqn.regions for v in free_vars(region)]


class _Addition(NamedTuple):
    """An addition to a part of an array: a slice along one axis, which begins at the number `start` from `base`, and `others` along the others."""

    eqn: Equation
    axis: int
    base: Any
    start: int
    extent: Any
    others: tuple


def _chain(last: Equation, made: dict, uses: Counter) -> list:
    """Consecutive additions that differ by where a slice begins."""
    found: list[_Addition] = []
    axes = [k for k, entry in enumerate(last.params["spec"]) if entry == ("s", 1)]
    for axis in reversed(axes):
        eqn, found = last, []
        while eqn is not None and eqn.op.name == "index_add" and (not found or uses[eqn.outputs[0]] == 1):
            addition = _addition(eqn, axis, made)
            if addition is None or not _fits(addition, found):
                break
            found.append(addition)
            eqn = made.get(eqn.inputs[0])
        if len({a.start for a in found}) > 1:
            break
    return found[::-1]


def _fits(addition: _Addition, found: list) -> bool:
    if not found:
        return True
    starts = [a.start for a in found] + [addition.start]
    return addition[1:3] + addition[4:] == found[0][1:3] + found[0][4:] and max(starts) - min(starts) <= FURTHEST


def _addition(eqn: Equation, axis: int, made: dict) -> "_Addition | None":
    spec, operands = eqn.params["spec"], eqn.inputs[2:]
    if "a" in spec or spec[axis] != ("s", 1):
        return None
    entries = [(entry, given) for _, entry, given in walk_spec(spec, operands)]
    start, extent = entries[axis][1]
    if not isinstance(extent, Var) and extent.value < SHORTEST:
        return None
    base, shift = _from_base(start, made)
    others = tuple([(entry, tuple([getattr(a, "value", a) for a in given])) for k, (entry, given) in enumerate(entries) if k != axis])
    value = eqn.inputs[1]
    kept = [k for k, (entry, _) in enumerate(entries) if entry != "i"]
    if value.type.dtype != eqn.outputs[0].type.dtype or (value.type.shape and value.type.rank != len(kept)):
        return None
    whole = not value.type.shape or _same(value.type.shape[kept.index(axis)], extent)
    if not whole or not _is_simple(value, made, DEPTH):
        return None
    return _Addition(eqn, axis, base, shift, getattr(extent, "value", extent), others)


def _is_simple(v: Any, made: dict, depth: int) -> bool:
    """Whether a part of the term follows by few operations from arrays in memory. Other terms are computed once, not
    for each shift.
    """
    if not isinstance(v, Var) or not v.type.shape or v not in made:
        return True
    eqn = made[v]
    if eqn.op.name in SIMPLE:
        return depth > 0 and all(a.type.shape in ((), v.type.shape) and _is_simple(a, made, depth - 1) for a in eqn.inputs)
    return _is_simple(eqn.inputs[0], made, depth) if eqn.op.name == "index" else bool(eqn.regions) or eqn.op.name in ("update", "index_add")


def _same(n: Any, extent: Any) -> bool:
    return n == getattr(extent, "value", extent)


def _from_base(start: Any, made: dict) -> tuple:
    """An integer as (a variable or None, the number that is added to it)."""
    if isinstance(start, Literal):
        return None, start.value
    eqn = made.get(start)
    if eqn is not None and eqn.op.name in ("add", "sub") and isinstance(eqn.inputs[1], Literal):
        return eqn.inputs[0], eqn.inputs[1].value * (1 if eqn.op.name == "add" else -1)
    return start, 0


def _states(array: Any, made: dict) -> Iterator:
    """An array, and what it was before each of the writes that made it."""
    yield array
    while array in made and made[array].op.name in ("update", "index_add"):
        array = made[array].inputs[0]
        yield array


class _Gathered:
    """The equations in place of a chain of additions."""

    def __init__(self, chain: list, made: dict):
        self.chain, self.made, self.last = chain, made, chain[-1].eqn
        self.axis, self.extent = chain[0].axis, as_atom(chain[0].extent)
        self.integers = Integers(self.last.where)
        self.equations = self.integers.equations
        self.first, self.final = min(a.start for a in chain), max(a.start for a in chain)
        self.written = set(_states(chain[0].eqn.inputs[0], made))
        inner = self.integers.larger(self.integers.sum(self.extent, as_atom(self.first - self.final)), as_atom(0))
        state = self._middle(chain[0].eqn.inputs[0], inner)
        for addition in chain:
            state = self._ends(addition, state)
        self._rename(state)

    def _middle(self, array: Any, extent: Any) -> Any:
        """The array with all additions where they meet."""
        place = self._place(self.final, extent)
        before = [] if self._is_zeros(array) else [self._part(array, place, self.last.params["spec"])]
        total, *others = [*before, *[self._value(a, as_atom(self.final - a.start), extent) for a in self.chain]]
        t = self._selected(array, place, self.last.params["spec"])
        for v in others:
            total = self._emit("add", (total, v), t)
        return self._emit("update", (array, total, *place), array.type, spec=self.last.params["spec"], at=0)

    def _is_zeros(self, array: Any) -> bool:
        eqn = self.made.get(array)
        return eqn is not None and eqn.op.name == "full" and adds_nothing(eqn.inputs[0], array)

    def _ends(self, a: _Addition, array: Any) -> Any:
        """The array with one addition where not all of them meet."""
        below, above, integers = a.start - self.first, self.final - a.start, self.integers
        if above:
            array = self._add(a, array, as_atom(0), integers.smaller(as_atom(above), self.extent))
        if below:
            rest = integers.larger(integers.sum(self.extent, as_atom(-above)), as_atom(0))
            extent = integers.smaller(as_atom(below), rest)
            array = self._add(a, array, integers.sum(self.extent, integers.product(extent, as_atom(-1))), extent)
        return array

    def _add(self, a: _Addition, array: Any, start: Any, extent: Any) -> Any:
        """The array with a part of what is added, at its place."""
        place = self._place(a.start, extent, start)
        return self._emit("index_add", (array, self._value(a, start, extent), *place), array.type, spec=a.eqn.params["spec"], at=0)

    def _place(self, start: int, extent: Any, more: Any = None) -> list:
        """The operands of the selection with another slice along the axis."""
        base = self.chain[0].base
        first = self.integers.sum(as_atom(start) if base is None else self.integers.sum(base, as_atom(start)), as_atom(0) if more is None else more)
        operands: list = []
        for k, _, given in walk_spec(self.last.params["spec"], self.last.inputs[2:]):
            operands += [first, extent] if k == self.axis else given
        return operands

    def _value(self, a: _Addition, start: Any, extent: Any) -> Any:
        """A part of what is added, along the axis."""
        value = a.eqn.inputs[1]
        if not value.type.shape:
            return value
        kept = [k for k, entry in enumerate(a.eqn.params["spec"]) if entry != "i"]
        return self._part_of(value, kept.index(self.axis), start, extent)

    def _part_of(self, v: Any, axis: int, start: Any, extent: Any) -> Any:
        """A slice of an array along an axis; cheap operations are done on the slice."""
        if not isinstance(v, Var) or not v.type.shape:
            return v
        eqn = self.made.get(v)
        t = Type(v.type.dtype, tuple([getattr(extent, "value", extent) if k == axis else n for k, n in enumerate(v.type.shape)]))
        if eqn is not None and eqn.op.name in SIMPLE:
            parts = tuple([self._part_of(a, axis, start, extent) for a in eqn.inputs])
            return self._emit(eqn.op.name, parts, t, **eqn.params)
        spec = tuple([("s", 1) if k == axis else ":" for k in range(v.type.rank)])
        return self._part(v, [start, extent], spec, t)

    def _part(self, v: Any, operands: list, spec: tuple, t: "Type | None" = None) -> Any:
        """A part of an array. A part of a part is a part of the original, unless the additions change the original."""
        eqn = self.made.get(v)
        found = None
        if eqn is not None and eqn.op.name == "index" and eqn.inputs[0] not in self.written:
            found = part_of_part((eqn.inputs[1:], eqn.params["spec"]), (tuple(operands), spec), self.integers)
        array, (given, chosen) = (v, (operands, spec)) if found is None else (eqn.inputs[0], found)
        return self._emit("index", (array, *given), t or self._selected(v, operands, spec), spec=chosen, at=0)

    def _selected(self, v: Any, operands: list, spec: tuple) -> Type:
        shape = []
        for k, entry, given in walk_spec(spec, tuple(operands)):
            shape += [v.type.shape[k]] if entry == ":" else [] if entry == "i" else [getattr(given[1], "value", given[1])]
        return Type(v.type.dtype, tuple(shape))

    def _emit(self, name: str, inputs: tuple, t: Type, **params: Any) -> Var:
        out = Var(t)
        self.equations.append(Equation(registry[name], inputs, (out,), params, (), self.last.where))
        return out

    def _rename(self, state: Var) -> None:
        """The last state is what the chain made."""
        last = self.equations.pop()
        self.equations.append(Equation(last.op, last.inputs, self.last.outputs, last.params, (), last.where))
