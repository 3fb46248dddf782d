"""destinations: copy elision. An array that is filled and then copied into a part of another is filled there."""
from collections import Counter
from typing import Any, NamedTuple

from ..ir.graph import Equation, Func, Literal, Var, extents_of, free_vars
from ..ir.types import Type
from ..ops.selection import selected_shape
from .parts import Integers, flat_part, part_of_part

_WRITES = ("update", "index_add")


def destinations(func: Func) -> Func:
    """An empty array that loops fill, and that is then put into a part of another array, is that part. Nothing is
    copied: the values that an inner loop saves go straight to the array that keeps them for all iterations.

        t = unwritten(n); t = for i: yield t[i] = x[i] * c; T[k] = t   ->   T = for i: yield T[k, i] = x[i] * c
    """
    block = _Block([_with_regions(e) for e in func.equations], func.outputs)
    for v in [e.outputs[0] for e in block.equations if e.op.name == "update"]:
        block.fill_in_place(v)
    return Func(func.name, func.inputs, block.equations, func.outputs)


def _with_regions(eqn: Equation) -> Equation:
    if not eqn.regions:
        return eqn
    return Equation(eqn.op, eqn.inputs, eqn.outputs, eqn.params, tuple([destinations(r) for r in eqn.regions]), eqn.where)


def _used(eqn: Equation) -> set:
    """The variables that an equation uses, those of its regions and types among them."""
    inside = {v for region in eqn.regions for v in free_vars(region)}
    return {a for a in eqn.inputs if isinstance(a, Var)} | inside | set(extents_of(eqn.outputs)) - set(eqn.outputs)


class _Block:
    """The equations of a Func or region."""

    def __init__(self, equations: list, outputs: tuple):
        self.equations, self.outputs = equations, outputs
        self._look()

    def _look(self) -> None:
        """Find the producer of each variable and count its uses."""
        self.made = {v: k for k, e in enumerate(self.equations) for v in e.outputs}
        self.uses = Counter(v for e in self.equations for v in _used(e)) + Counter(a for a in self.outputs if isinstance(a, Var))

    def fill_in_place(self, whole: Var) -> None:
        """If the array that is put into `whole` was filled for nothing else, fill it there."""
        end = self.made[whole]
        last = self.equations[end]
        place = _place_of(last, self)
        start = None if place is None else self._start(place.array)
        if place is None or start is None or self._is_read(last.inputs[0], start, end):
            return
        before = self._needed(last, start, end)
        if before is None:
            return
        moved = _Moved(place, {self.equations[start].outputs[0]: last.inputs[0]})
        reshaped = None if place.array is last.inputs[1] else last.inputs[1:2]
        rest = [self.equations[k] for k in range(start + 1, end) if k not in before]
        try:
            filled = [new for e in rest if e.outputs != reshaped for new in moved.equation(e)]
        except _Impossible:
            return
        state = moved.states[place.array]
        self.equations[start:end + 1] = [self.equations[k] for k in before] + [_with_output(e, state, whole) for e in filled]
        self._look()

    def _is_read(self, v: Any, start: int, end: int) -> bool:
        """Whether the array is used after `start` except at `end`: it would have to be copied before the write."""
        return v in self.outputs or any(v in _used(e) for k, e in enumerate(self.equations[start:], start) if k != end)

    def _start(self, v: Var) -> "int | None":
        """The equation that makes the array, empty, if each of its states before `v` is used once."""
        while isinstance(v, Var) and v in self.made and self.uses[v] == 1:
            eqn = self.equations[self.made[v]]
            if eqn.op.name == "unwritten":
                return self.made[v]
            if eqn.op.name in _WRITES:
                v = eqn.inputs[0]
            elif eqn.op.name in ("for", "while"):
                v = eqn.inputs[len(eqn.inputs) - len(eqn.outputs) + eqn.outputs.index(v)]
            else:
                return None
        return None

    def _needed(self, last: Equation, start: int, end: int) -> "list | None":
        """The equations between that make the other array and the place, in order; None if they need the filled array.
        """
        found: set[int] = set()
        waiting = [a for a in (last.inputs[0], *last.inputs[2:]) if isinstance(a, Var)]
        while waiting:
            k = self.made.get(waiting.pop(), -1)
            if k == start or (k > start and self.equations[k].regions):
                return None
            if k > start and k not in found:
                found.add(k)
                waiting += _used(self.equations[k])
        return sorted(found)


def _with_output(eqn: Equation, old: Var, new: Var) -> Equation:
    """The equation with another name for a result."""
    if old not in eqn.outputs:
        return eqn
    return Equation(eqn.op, eqn.inputs, tuple([new if v is old else v for v in eqn.outputs]), eqn.params, eqn.regions, eqn.where)


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
    if v.type.shape != tuple(map(_extent, selected_shape(target.type.shape, tuple(operands), spec, last.params["at"]))):
        return None
    made = block.equations[block.made[v]] if v in block.made else None
    if made is not None and made.op.name == "reshape" and spec == (("s", 1),) and block.uses[v] == 1 and isinstance(made.inputs[0], Var):
        v, flat = made.inputs[0], made.inputs[0].type.rank != 1
    return _Place(v, tuple(operands), spec, flat)


def _extent(n: Any) -> Any:
    return n.value if isinstance(n, Literal) else n


class _Impossible(Exception):
    """The array is used in a way that needs it as it is."""


class _Moved:
    """Equations that write to a part of an array, in place of their own array. states: {a state of their own: one of
    the part}.
    """

    def __init__(self, place: _Place, states: dict):
        self.place, self.states = place, states

    def equation(self, eqn: Equation) -> list:
        """The equations in place of one."""
        used = [v for v in _used(eqn) if v in self.states]
        if not used:
            return [eqn]
        if eqn.op.name in (*_WRITES, "index") and used == [eqn.inputs[0]] and eqn.inputs.count(used[0]) == 1:
            return self._part(eqn)
        if eqn.op.name in ("for", "while"):
            return [self._loop(eqn)]
        raise _Impossible

    def _part(self, eqn: Equation) -> list:
        """Reading a part or writing to it."""
        first = 1 if eqn.op.name == "index" else 2
        integers = Integers(eqn.where)
        chosen = (eqn.inputs[first:], eqn.params["spec"])
        within = flat_part(eqn.inputs[0].type.shape, chosen, integers) if self.place.flat else chosen
        found = within and part_of_part((self.place.operands, self.place.spec), within, integers)
        if found is None:
            raise _Impossible
        params = eqn.params | {"spec": found[1], "at": 0}
        new = Equation(eqn.op, (self.states[eqn.inputs[0]], *eqn.inputs[1:first], *found[0]), self._outputs(eqn), params, (), eqn.where)
        return [*integers.equations, new]

    def _outputs(self, eqn: Equation) -> tuple:
        """The results; of a write, another state."""
        if eqn.op.name == "index":
            return eqn.outputs
        self.states[eqn.outputs[0]] = Var(self._type(), eqn.outputs[0].name)
        return (self.states[eqn.outputs[0]],)

    def _type(self) -> Type:
        return next(iter(self.states.values())).type

    def _loop(self, eqn: Equation) -> Equation:
        """A loop that carries it, or reads it."""
        lead = len(eqn.inputs) - len(eqn.outputs)
        carried = [k for k, a in enumerate(eqn.inputs[lead:]) if a in self.states]
        if len(carried) > 1 or any(a in self.states for a in eqn.inputs[:lead]) or any(k in (link[0], link[2]) for k in carried for link in eqn.params["extents"]):
            raise _Impossible
        *tests, body = eqn.regions
        regions = (*[self._region(r, 0, carried, []) for r in tests], self._region(body, len(body.inputs) - len(eqn.outputs), carried, carried))
        outputs = list(eqn.outputs)
        for k in carried:
            outputs[k] = self.states[eqn.outputs[k]] = Var(self._type(), eqn.outputs[k].name)
        inputs = tuple([self.states.get(a, a) if isinstance(a, Var) else a for a in eqn.inputs])
        return Equation(eqn.op, inputs, tuple(outputs), eqn.params, regions, eqn.where)

    def _region(self, region: Func, lead: int, carried: list, handed_on: list) -> Func:
        """A loop's test or body, and which of its results it is."""
        inputs, outputs = list(region.inputs), list(region.outputs)
        for k in carried:
            inputs[lead + k] = self.states[region.inputs[lead + k]] = Var(self._type(), region.inputs[lead + k].name)
        equations = [new for e in region.equations for new in self.equation(e)]
        if [k for k, a in enumerate(outputs) if isinstance(a, Var) and a in self.states] != handed_on:
            raise _Impossible
        for k in handed_on:
            outputs[k] = self.states[outputs[k]]
        return Func(region.name, tuple(inputs), equations, tuple(outputs))
