"""scatter_to_gather: additions to shifted parts of an array become one sum over the place where all of them meet.

    g[1:] += v; g[:-1] += w        ->        g[1:-1] += v[:-1] + w[1:], and one addition at each end

Scatters become a gather. Source: J. Hückelheim, N. Kukreja, S. Narayanan, F. Luporini, G. Gorman, P. Hovland,
"Automatic differentiation for adjoint stencil loops" (2019).
"""
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var
from ..ir.spec import subscripts_of, walk_spec
from ..ir.traits import FLOP
from ..ir.types import Type
from ..ir.uses import DefUse
from .rewrite import as_atom, as_extent, emit, in_regions
from .subscripts import IntegerArithmetic, part_of_part
from .zeros import is_nothing

FURTHEST = 8                                                 # shift that is worth it
SHORTEST = 16                                                # extent that is, where it is known
DEPTH = 3                                                    # sums and products that may be done again for each shift


def scatter_to_gather(func: Func) -> Func:
    """A stencil's derivative becomes a gather: one pass over the array in place of one for each neighbour, with the
    same numbers, added in the same order. The few elements at the ends, which get fewer terms, follow.

        g[:n] += v; g[2:n + 2] += w   ->   g[2:n] += v[2:] + w[:n - 2]; g[:2] += v[:2]; g[n:n + 2] += w[n - 2:]
    """
    equations = [in_regions(e, scatter_to_gather) for e in func.equations]
    chains = DefUse(equations, func.outputs)
    replaced: dict[Equation, list] = {}
    for eqn in reversed(equations):
        chain = _chain(eqn, chains) if eqn.adds_part and eqn not in replaced else []
        if len({a.start for a in chain}) > 1:
            replaced.update(dict.fromkeys([a.eqn for a in chain], []))
            replaced[eqn] = _Gathered(chain, chains).equations
    return func.replace(equations=[new for e in equations for new in replaced.get(e, [e])])


def is_gathered(last: Equation, chains: DefUse) -> bool:
    """Whether the additions that end with this one, all of them, would become one sum."""
    chain = _chain(last, chains)
    before = chains.definition(chain[0].eqn.inputs[0]) if chain else None
    return len({a.start for a in chain}) > 1 and (before is None or not before.adds_part)


class _Addition(NamedTuple):
    """An addition to a part of an array: along one axis a slice from `start` after `base`; `others` select along the
    other axes."""

    eqn: Equation
    axis: int
    base: Any
    start: int
    extent: Any
    others: tuple


def _chain(last: Equation, chains: DefUse) -> list:
    """Consecutive additions that differ by where a slice begins."""
    found: list[_Addition] = []
    axes = [k for k, entry in enumerate(last.params["spec"]) if entry == ("s", 1)]
    for axis in reversed(axes):
        eqn: Equation | None = last
        found = []
        while eqn is not None and eqn.adds_part and (not found or chains.use_count(eqn.outputs[0]) == 1):
            addition = _addition(eqn, axis, chains)
            if addition is None or not _fits(addition, found):
                break
            found.append(addition)
            eqn = chains.definition(eqn.inputs[0])
        if len({a.start for a in found}) > 1:
            break
    return found[::-1]


def _fits(addition: _Addition, found: list) -> bool:
    if not found:
        return True
    starts = [a.start for a in found] + [addition.start]
    return addition[1:3] + addition[4:] == found[0][1:3] + found[0][4:] and max(starts) - min(starts) <= FURTHEST


def _addition(eqn: Equation, axis: int, chains: DefUse) -> "_Addition | None":
    spec, entries = eqn.params["spec"], subscripts_of(eqn)
    if "a" in spec or spec[axis] != ("s", 1):
        return None
    start, extent = entries[axis][1]
    if not isinstance(extent, Var) and extent.value < SHORTEST:
        return None
    base, shift = _from_base(start, chains)
    others = tuple([(entry, tuple(map(as_extent, given))) for k, (entry, given) in enumerate(entries) if k != axis])
    value = eqn.inputs[1]
    kept = [k for k, (entry, _) in enumerate(entries) if entry != "i"]
    if value.type.dtype != eqn.outputs[0].type.dtype or (value.type.shape and value.type.rank != len(kept)):
        return None
    whole = not value.type.shape or value.type.shape[kept.index(axis)] == as_extent(extent)
    if not whole or not _is_simple(value, chains, DEPTH):
        return None
    return _Addition(eqn, axis, base, shift, as_extent(extent), others)


def _is_simple(v: Any, chains: DefUse, depth: int) -> bool:
    """Whether a part of the term follows by few operations from arrays in memory. Other terms are computed once, not
    for each shift.
    """
    eqn = chains.definition(v)
    if eqn is None or not v.type.shape:
        return True
    if _is_instruction(eqn):
        left = depth - (eqn.op.traits.cost is FLOP)
        return left >= 0 and all(a.type.shape in ((), v.type.shape) and _is_simple(a, chains, left)
                                 for a in eqn.inputs)
    return _is_simple(eqn.inputs[0], chains, depth) if eqn.reads_part else bool(eqn.regions) or eqn.writes_part


def _is_instruction(eqn: Equation) -> bool:
    """Whether an element of the result is one instruction: a sum, a product, a comparison, a selection."""
    traits = eqn.op.traits
    return traits.cost is FLOP or (eqn.op.kind == "elementwise" and traits.is_cheap and not traits.rounds)


def _from_base(start: object, chains: DefUse) -> tuple:
    """An integer as (a variable or None, the number that is added to it)."""
    if isinstance(start, Literal):
        return None, start.value
    eqn = chains.definition(start)
    if eqn is not None and eqn.op.name in ("add", "sub") and isinstance(eqn.inputs[1], Literal):
        base, more = _from_base(eqn.inputs[0], chains)
        return base, more + eqn.inputs[1].value * (1 if eqn.op.name == "add" else -1)
    return start, 0


def _states(array: object, chains: DefUse) -> Iterator:
    """An array, and what it was before each of the writes that made it."""
    yield array
    while (eqn := chains.definition(array)) is not None and eqn.writes_part:
        array = eqn.inputs[0]
        yield array


class _Gathered:
    """The equations in place of a chain of additions."""

    def __init__(self, chain: list, chains: DefUse):
        self.chain, self.chains, self.last = chain, chains, chain[-1].eqn
        self.axis, self.extent = chain[0].axis, as_atom(chain[0].extent)
        self.integers = IntegerArithmetic(self.last.where)
        self.equations = self.integers.equations
        self.first, self.final = min(a.start for a in chain), max(a.start for a in chain)
        self.written = set(_states(chain[0].eqn.inputs[0], chains))
        inner = self.integers.larger(self.integers.sum(self.extent, as_atom(self.first - self.final)), as_atom(0))
        state = self._middle(chain[0].eqn.inputs[0], inner)
        for addition in chain:
            state = self._ends(addition, state)
        self._rename(state)

    def _middle(self, array: Any, extent: object) -> Any:
        """The array with all additions where they meet."""
        place = self._place(self.final, extent)
        before = ([] if is_nothing(array, self.chains.definition)
                  else [self._part(array, place, self.last.params["spec"])])
        total, *others = [*before, *[self._value(a, as_atom(self.final - a.start), extent) for a in self.chain]]
        t = self._selected(array, place, self.last.params["spec"])
        for v in others:
            total = self._emit("add", (total, v), t)
        return self._emit("update", (array, total, *place), array.type, spec=self.last.params["spec"], at=0)

    def _ends(self, a: _Addition, array: object) -> Any:
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
        return self._emit("index_add", (array, self._value(a, start, extent), *place), array.type,
                          spec=a.eqn.params["spec"], at=0)

    def _place(self, start: int, extent: object, more: object = None) -> list:
        """The operands of the selection with another slice along the axis."""
        base = self.chain[0].base
        first = self.integers.sum(as_atom(start) if base is None else self.integers.sum(base, as_atom(start)),
                                  as_atom(0) if more is None else more)
        operands: list = []
        for k, (_, given) in enumerate(subscripts_of(self.last)):
            operands += [first, extent] if k == self.axis else given
        return operands

    def _value(self, a: _Addition, start: object, extent: object) -> Any:
        """A part of what is added, along the axis."""
        value = a.eqn.inputs[1]
        if not value.type.shape:
            return value
        kept = [k for k, entry in enumerate(a.eqn.params["spec"]) if entry != "i"]
        return self._part_of(value, kept.index(self.axis), start, extent)

    def _part_of(self, v: object, axis: int, start: object, extent: object) -> Any:
        """A slice of an array along an axis; cheap operations are done on the slice."""
        if not isinstance(v, Var) or not v.type.shape:
            return v
        eqn = self.chains.definition(v)
        t = Type(v.type.dtype, tuple([as_extent(extent) if k == axis else n for k, n in enumerate(v.type.shape)]))
        if eqn is not None and _is_instruction(eqn):
            parts = tuple([self._part_of(a, axis, start, extent) for a in eqn.inputs])
            return self._emit(eqn.op.name, parts, t, **eqn.params)
        spec = tuple([("s", 1) if k == axis else ":" for k in range(v.type.rank)])
        return self._part(v, [start, extent], spec, t)

    def _part(self, v: object, operands: list, spec: tuple, t: "Type | None" = None) -> Any:
        """A part of an array. A part of a part is a part of the original, unless the additions change the original."""
        eqn = self.chains.definition(v)
        array, given, chosen = v, operands, spec
        if eqn is not None and eqn.reads_part and eqn.inputs[0] not in self.written:
            found = part_of_part((eqn.inputs[1:], eqn.params["spec"]), (tuple(operands), spec), self.integers)
            if found is not None:
                array, (given, chosen) = eqn.inputs[0], found
        return self._emit("index", (array, *given), t or self._selected(v, operands, spec), spec=chosen, at=0)

    def _selected(self, v: Any, operands: list, spec: tuple) -> Type:
        shape = []
        for k, entry, given in walk_spec(spec, tuple(operands)):
            shape += [v.type.shape[k]] if entry == ":" else [] if entry == "i" else [as_extent(given[1])]
        return Type(v.type.dtype, tuple(shape))

    def _emit(self, name: str, inputs: tuple, t: Type, **params: object) -> Var:
        return emit(self.equations, name, inputs, t, self.last.where, **params)

    def _rename(self, state: Var) -> None:
        """The last state is what the chain made."""
        last = self.equations.pop()
        self.equations.append(last.replace(outputs=self.last.outputs))
