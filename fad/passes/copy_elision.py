"""elide_copies: copy elision. An array that is filled and then copied into a part of another is filled there."""
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Var, is_loop
from ..ir.spec import operands_of
from ..ir.types import Type
from ..ir.uses import DefUse, operands, reads
from ..ir.views import LoopView
from ..ops.selection import selected_shape
from .rewrite import as_extent, in_regions
from .subscripts import IntegerArithmetic, flat_part, part_of_part


def elide_copies(func: Func) -> Func:
    """An empty array that loops fill, and that is then put into a part of another array, is that part. Nothing is
    copied: the values that an inner loop saves go straight to the array that keeps them for all iterations.

        t = unwritten(n); t = for i: yield t[i] = x[i] * c; T[k] = t   ->   T = for i: yield T[k, i] = x[i] * c
    """
    block = _Block([in_regions(e, elide_copies) for e in func.equations], func.outputs)
    for v in [e.outputs[0] for e in block.equations if e.replaces_part]:
        block.fill_in_place(v)
    return func.replace(equations=block.equations)


class _Block:
    """The equations of a Func or region."""

    def __init__(self, equations: list, outputs: tuple):
        self.equations, self.outputs = equations, outputs
        self.chains = DefUse(equations, outputs)

    def fill_in_place(self, whole: Var) -> None:
        """If the array that is put into `whole` was filled for nothing else, fill it there."""
        end: Any = self.chains.position(whole)
        last = self.equations[end]
        place = _place_of(last, self)
        start = None if place is None else self._start(place.array, end)
        if place is None or start is None or self._is_read(last.inputs[0], start, end):
            return
        before = self._needed(last, start, end)
        if before is None:
            return
        moved = _Moved(place, {self.equations[start].outputs[0]: last.inputs[0]}, whole)
        reshaped = None if place.array is last.inputs[1] else last.inputs[1:2]
        rest = [self.equations[k] for k in range(start + 1, end) if k not in before]
        try:
            filled = [new for e in rest if e.outputs != reshaped for new in moved.equation(e)]
        except _Impossible:
            return
        self.equations[start:end + 1] = [self.equations[k] for k in before] + filled
        self.chains = DefUse(self.equations, self.outputs)

    def _is_read(self, v: Var, start: int, end: int) -> bool:
        """Whether the array is used after `start` except at `end`: it would have to be copied before the write."""
        return (v in self.outputs
                or any(v in operands(e) for k, e in enumerate(self.equations[start:], start) if k != end))

    def _start(self, filled: Var, end: int) -> "int | None":
        """The equation that makes the array, empty, if each of its states before the last one is used once, and nobody
        reads the last one behind `end`.
        """
        v = filled
        while (eqn := self.chains.definition(v)) is not None and (v is filled or self.chains.use_count(v) == 1):
            if eqn.op.name == "unwritten":
                return None if v is filled or self._is_read(filled, end, end) else self.chains.position(v)
            if eqn.writes_part:
                v = eqn.inputs[0]
            elif is_loop(eqn):
                v = LoopView(eqn).start_of(v)
            else:
                return None
        return None

    def _needed(self, last: Equation, start: int, end: int) -> "list | None":
        """The equations between that make the other array and the place, in order; None if they need the filled array.
        """
        found: set[int] = set()
        waiting = [a for a in (last.inputs[0], *operands_of(last)) if isinstance(a, Var)]
        while waiting:
            k = self.chains.position(waiting.pop())
            if k is None or k < start or k in found:
                continue
            if k == start or self.equations[k].regions:
                return None
            found.add(k)
            waiting += reads(self.equations[k])
        return sorted(found)


class _Place(NamedTuple):
    """The part of an array that another one is put into; flat: whether its elements lie one behind the other, in any
    extents.
    """

    array: Var
    operands: tuple
    spec: tuple
    flat: bool


def _place_of(last: Equation, block: _Block) -> "_Place | None":
    target, v, *operands = last.inputs
    spec, flat = last.params["spec"], False
    if not isinstance(target, Var) or not isinstance(v, Var) or v.type.dtype != target.type.dtype or "a" in spec:
        return None
    if v.type.shape != tuple(map(as_extent,
                                 selected_shape(target.type.shape, tuple(operands), spec, last.params["at"]))):
        return None
    made = block.chains.definition(v)
    is_flat = made is not None and made.op.name == "reshape" and isinstance(made.inputs[0], Var)
    if made is not None and is_flat and spec == (("s", 1),) and block.chains.use_count(v) == 1:
        v, flat = made.inputs[0], made.inputs[0].type.rank != 1
    return _Place(v, tuple(operands), spec, flat)


class _Impossible(Exception):
    """The array is used in a way that needs it as it is."""


class _Moved:
    """Equations that write to a part of an array, in place of their own array. states: {a state of their own: one of
    the part}; whole: the last one of these.
    """

    def __init__(self, place: _Place, states: dict, whole: Var):
        self.place, self.states, self.whole = place, states, whole

    def equation(self, eqn: Equation) -> list:
        """The equations in place of one."""
        used = [v for v in operands(eqn) if v in self.states]
        if not used:
            return [eqn]
        if self.place.array in (LoopView(eqn).init if is_loop(eqn) else eqn.inputs[:1] if eqn.writes_part else ()):
            raise _Impossible                                 # it goes on from there, and what is copied does not
        if eqn.op.traits.selects and used == [eqn.inputs[0]]:
            return self._part(eqn)
        if is_loop(eqn):
            return [self._loop(LoopView(eqn))]
        raise _Impossible

    def _part(self, eqn: Equation) -> list:
        """Reading a part or writing to it."""
        integers, chosen = IntegerArithmetic(eqn.where), (operands_of(eqn), eqn.params["spec"])
        within = flat_part(eqn.inputs[0].type.shape, chosen, integers) if self.place.flat else chosen
        found = within and part_of_part((self.place.operands, self.place.spec), within, integers)
        if found is None:
            raise _Impossible
        params = eqn.params | {"spec": found[1], "at": 0}
        inputs = (self.states[eqn.inputs[0]], *eqn.inputs[1:eqn.op.traits.selects], *found[0])
        new = eqn.replace(inputs=inputs, outputs=self._outputs(eqn), params=params)
        return [*integers.equations, new]

    def _outputs(self, eqn: Equation) -> tuple:
        """The results; of a write, another state."""
        if eqn.reads_part:
            return eqn.outputs
        self._renamed(eqn.outputs[0])
        return self._now(eqn.outputs)

    def _type(self) -> Type:
        return next(iter(self.states.values())).type

    def _loop(self, loop: LoopView) -> Equation:
        """A loop that carries it, or reads it."""
        carried = [k for k, a in enumerate(loop.init) if a in self.states]
        linked = {k for carry, _, extent in loop.eqn.params["extents"] for k in (carry, extent)}
        if len(carried) > 1 or any(a in self.states for a in loop.bounds) or not linked.isdisjoint(carried):
            raise _Impossible
        test = None if loop.test is None else self._region(loop, loop.test, carried, [])
        body = self._region(loop, loop.body, carried, carried)
        for k in carried:
            self._renamed(loop.results[k])
        return loop.replace(init=self._now(loop.init), test=test, body=body, results=self._now(loop.results))

    def _region(self, loop: LoopView, region: Func, carried: list, handed_on: list) -> Func:
        """A loop's test or body, and which of its results it is."""
        for k in carried:
            self._renamed(loop.carries_of(region)[k])
        equations = [new for e in region.equations for new in self.equation(e)]
        if [k for k, a in enumerate(region.outputs) if a in self.states] != handed_on:
            raise _Impossible
        return region.replace(inputs=self._now(region.inputs), equations=equations, outputs=self._now(region.outputs))

    def _renamed(self, v: Var) -> None:
        """Let a variable be another state of it."""
        self.states[v] = self.whole if v is self.place.array else Var(self._type(), v.name)

    def _now(self, atoms: tuple) -> tuple:
        """The atoms, those that are a state of the array as what stands for them."""
        return tuple([self.states.get(a, a) if isinstance(a, Var) else a for a in atoms])
