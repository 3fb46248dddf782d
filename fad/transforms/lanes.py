"""LANES iterations of a loop's body at once: what differs between them gets a further axis, the last one.

    x: f64 = index(X, i, j)            x: f64[64] = index(X, first, 64, j, spec=(("s", 1), "i"))
    y: f64 = mul(x, w)          --->   y: f64[64] = mul(x, w)
    t' = update(t, y, j)               t' = update(t, y, j, spec=("i", ":"))

Control flow has to be the same in all lanes.
"""
from collections.abc import Collection
from typing import Any

from ..ir.build import Value, at_line, current
from ..ir.graph import Equation, Func, Var, is_branch, is_counted
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import INT, Type, type_of
from ..ir.uses import operands
from ..ir.views import BranchView, LoopView
from ..ir.walk import Environment, bind_outputs, run_equation
from ..ops.control import COND, FOR
from ..ops.kinds import shape_of
from .vmap import in_dtypes, promoted_operands

LANES = 64                                                   # a multiple of all vectors, in a few cache lines
SMALL = 1 << 40                                              # no size of an array is larger


class Refused(Exception):
    """The body does something that lanes do not do together."""


class Ramp:
    """An integer that is one more in each lane than in the one before."""

    __slots__ = ("start", "_lanes")

    def __init__(self, start: Any):
        self.start = start

    def lanes(self) -> Any:
        """The integers as an array."""
        return registry["add"](registry["iota"](LANES, dtype=INT), self.start)


def first_of_block(start: Any, number: Any) -> Any:
    """The index of a block's first iteration."""
    return start + number * LANES


def part_of(array: Any, axis: int, first: Any) -> Any:
    """The part of an array that a block's iterations own, lanes last."""
    part = registry["index"](array, first, LANES, spec=_slice_of(array, axis), at=0)
    others = [k for k in range(len(shape_of(array))) if k != axis]
    return registry["transpose"](part, axes=(*others, axis)) if others else part


def with_part(array: Any, part: Any, axis: int, first: Any) -> Any:
    """The array with what a block's iterations have made of their part."""
    rank = len(shape_of(array))
    if rank > 1:
        order = list(range(rank - 1))
        order.insert(axis, rank - 1)
        part = registry["transpose"](part, axes=tuple(order))
    return registry["update"](array, part, first, LANES, spec=_slice_of(array, axis), at=0)


def _slice_of(array: Any, axis: int) -> tuple:
    return tuple([("s", 1) if k == axis else ":" for k in range(len(shape_of(array)))])


class Block:
    """The iterations of one block.

    varying: the variables that differ between lanes; axes: {version of an array of whose parts each lane owns one: the
    axis of the parts}, which the array lacks here.
    """

    def __init__(self, varying: Collection, axes: dict):
        self.varying, self.axes = varying, axes

    # -- values ------------------------------------------------------------------------------------

    @staticmethod
    def ramp(first: Any) -> Ramp:
        """The loop's index in all lanes."""
        return Ramp(first)

    @staticmethod
    def filled(value: Any, extents: list, dtype: Any) -> Any:
        """An array of one number for each lane."""
        return registry["full"](value, *extents, LANES, dtype=dtype)

    @staticmethod
    def sum(lanes: Any) -> Any:
        """The sum over the lanes of a number."""
        return registry["sum"](lanes, axes=(0,))

    def lanes_of(self, atom: Any, env: Environment, t: Type) -> Any:
        """The values of all lanes, in this dtype."""
        x = self._read(atom, env)
        if not self._varies(atom):
            shape = shape_of(x)
            if not isinstance(x, Value):
                return registry["full"](x, LANES, dtype=t.dtype)
            x = registry["reshape"](x, *shape, 1) if shape else x
            return self._cast(registry["broadcast_to"](x, *shape, LANES), t)
        return self._cast(x, t)

    @staticmethod
    def _cast(x: Any, t: Type) -> Any:
        return x if type_of(x).dtype == t.dtype else registry["cast"](x, dtype=t.dtype)

    def _varies(self, atom: Any) -> bool:
        return isinstance(atom, Var) and atom in self.varying

    def _read(self, atom: Any, env: Environment) -> Any:
        x = env.read(atom)
        return x.lanes() if isinstance(x, Ramp) else x

    # -- equations ---------------------------------------------------------------------------------

    def run(self, region: Func, env: Environment) -> None:
        """The region's equations in all lanes."""
        for eqn in region.equations:
            if any(v in self.varying for v in operands(eqn)):
                with at_line(eqn.where):
                    self._step(eqn, env)
            else:
                run_equation(eqn, env)

    def _step(self, eqn: Equation, env: Environment) -> None:
        if is_counted(eqn):
            self._loop(LoopView(eqn), env)
        elif is_branch(eqn):
            self._branch(BranchView(eqn), env)
        elif eqn.reads_part:
            env[eqn.outputs[0]] = self._element(eqn, env)
        elif eqn.writes_part:
            env[eqn.outputs[0]] = self._written(eqn, env)
        elif eqn.op.name == "check_index" and not self._varies(eqn.inputs[1]):
            eqn.op(self._read(eqn.inputs[0], env), env.read(eqn.inputs[1]), **eqn.params)
        elif eqn.op.batch == "elementwise" and not eqn.op.effect:
            env[eqn.outputs[0]] = self._moved(eqn, env) or self._elementwise(eqn, env)
        else:
            raise Refused(eqn.op.name)

    def _moved(self, eqn: Equation, env: Environment) -> "Ramp | None":
        """The index with something added that is the same in all lanes."""
        if eqn.op.name not in ("add", "sub") or eqn.outputs[0].type.dtype != INT or eqn.outputs[0].type.shape:
            return None
        x, y = [env.read(a) for a in eqn.inputs]
        if isinstance(x, Ramp) and not self._varies(eqn.inputs[1]):
            return Ramp(eqn.op(x.start, y))
        if eqn.op.name == "add" and isinstance(y, Ramp) and not self._varies(eqn.inputs[0]):
            return Ramp(x + y.start)
        return None

    def _elementwise(self, eqn: Equation, env: Environment) -> Any:
        flags = tuple(map(self._varies, eqn.inputs))
        if _is_pythons(eqn.outputs[0]) and eqn.op.traits.grows and not self._stays_small(eqn, flags, env):
            raise Refused("Python's integers, which do not wrap around")
        xs = promoted_operands(eqn, tuple([self._read(a, env) for a in eqn.inputs]), flags)
        xs = tuple([registry["reshape"](x, *shape_of(x), 1) if shape_of(x) and not flag else x
                    for x, flag in zip(xs, flags)])
        return in_dtypes(eqn.op(*xs, **eqn.params), eqn.outputs)

    @staticmethod
    def _stays_small(eqn: Equation, flags: tuple, env: Environment) -> bool:
        """Whether results are of a size with a loop's index, if the operands that vary are."""
        if eqn.op.traits.grows != "steps" or (all(flags) and eqn.op.name == "mul"):
            return False
        return all(flag or _is_small(env.read(a)) for a, flag in zip(eqn.inputs, flags))

    # -- elements ----------------------------------------------------------------------------------

    def _element(self, eqn: Equation, env: Environment) -> Any:
        array = eqn.inputs[0]
        indices = self._indices(eqn, env)
        if not self._varies(array):
            return self._gathered(env.read(array), indices)
        if not indices:                                      # of an array with one element a lane
            return env.read(array)
        spec, given = self._of_lanes(indices)
        return eqn.op(env.read(array), *given, spec=spec, at=0)

    def _written(self, eqn: Equation, env: Environment) -> Any:
        array, value = eqn.inputs[:2]
        indices, t = self._indices(eqn, env), array.type
        x = self.lanes_of(array, env, t)
        v = self._read(value, env)
        if not indices:
            v = self.lanes_of(value, env, t)
            return registry["add"](x, v) if eqn.adds_part else v
        spec, given = self._of_lanes(indices)
        unique = {} if eqn.adds_part or "a" not in spec else {"unique": True}
        return eqn.op(x, v, *given, spec=spec, at=0, **unique)

    def _indices(self, eqn: Equation, env: Environment) -> list:
        """(the index, whether it varies) for each axis of the array; without the axis whose parts the lanes own."""
        own = self.axes.get(eqn.inputs[0])
        found = []
        for axis, (entry, given) in enumerate(subscripts_of(eqn)):
            if entry != "i":
                raise Refused("parts of arrays")
            if axis != own:
                found.append((env.read(given[0]), self._varies(given[0])))
        return found

    def _gathered(self, x: Any, indices: list) -> Any:
        """Elements of an array that is the same in all lanes."""
        moving = [i for i, varies in indices if varies]
        if len(moving) == 1 and isinstance(moving[0], Ramp):
            given = [n for i, varies in indices for n in ((i.start, LANES) if varies else (i,))]
            spec: list = [("s", 1) if varies else "i" for _, varies in indices]
        else:
            given = [i.lanes() if isinstance(i, Ramp) else i for i, _ in indices]
            spec = ["a" if varies else "i" for _, varies in indices]
        return registry["index"](x, *given, spec=tuple(spec), at=0)

    @staticmethod
    def _of_lanes(indices: list) -> tuple:
        """The subscripts of an element in each lane: (spec, operands)."""
        given = [i.lanes() if isinstance(i, Ramp) else i for i, _ in indices]
        if not any(varies for _, varies in indices):
            return ("i",) * len(indices) + (":",), given
        spec = tuple(["a" if varies else "i" for _, varies in indices]) + ("a",)
        return spec, [*given, registry["iota"](LANES, dtype=INT)]

    # -- control flow ------------------------------------------------------------------------------

    def _loop(self, loop: LoopView, env: Environment) -> None:
        params = loop.eqn.params
        if any(map(self._varies, loop.bounds)) or params["extents"]:
            raise Refused("iterations that differ in number")

        def body(index: Any, *values: Any) -> list:
            inner = Environment(env)
            inner[loop.index] = index
            inner.update(zip(loop.carries, values))
            self.run(loop.body, inner)
            return [self._carried(c, a, inner) for c, a in zip(loop.carries, loop.next)]
        init = [self._carried(c, a, env) for c, a in zip(loop.carries, loop.init)]
        bounds = [env.read(a) for a in loop.bounds]
        bind_outputs(loop.eqn, FOR.run_regions([*bounds, *init], (body,), **params), env)

    def _branch(self, branch: BranchView, env: Environment) -> None:
        params = branch.eqn.params
        if self._varies(branch.selector) or params["extents"]:
            raise Refused("branches that differ")

        def run(region: Func) -> Any:
            def taken() -> list:
                inner = Environment(env)
                self.run(region, inner)
                return [self._carried(y, a, inner) for y, a in zip(branch.results, region.outputs)]
            return taken
        regions = tuple(map(run, branch.branches))
        bind_outputs(branch.eqn, COND.run_regions([env.read(branch.selector)], regions, **params), env)

    def _carried(self, v: Var, atom: Any, env: Environment) -> Any:
        """What an atom hands on to a variable."""
        if v in self.varying and _is_pythons(v):
            raise Refused("Python's integers, which may grow from iteration to iteration")
        return self.lanes_of(atom, env, v.type) if v in self.varying else env.read(atom)


def _is_pythons(v: Var) -> bool:
    return v.type.weak and v.type.dtype == INT


def _is_small(n: Any) -> bool:
    """Whether an integer is known to be of a size with an array's extents."""
    if not isinstance(n, Value):
        return abs(int(n)) <= SMALL
    facts = current().integers
    return all(v in facts.dims or (v in facts.high and v in facts.low) for v, _ in facts.form(n.atom).terms)
