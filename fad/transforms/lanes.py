"""LANES iterations of a loop's body at once: what differs between them gets a further axis, the last one.

    x: f64 = index(X, i, j)            x: f64[64] = index(X, first, 64, j, spec=(("s", 1), "i"))
    y: f64 = mul(x, w)          --->   y: f64[64] = mul(x, w)
    t' = update(t, y, j)               t' = update(t, y, j, spec=("i", ":"))

Loops have the same iterations in all lanes. A branch that differs is computed in all of them, and each lane takes what
is its own (if-conversion: J. Allen et al., "Conversion of control dependence to data dependence", POPL 1983):

    y = cond(c): x | f(x)        --->   y = where(c, f(where(c, x, 1)), x)

A lane that does not take the branch computes with ones, and writes back what it has read.
"""
from collections.abc import Collection
from typing import Any

from ..ir.build import Value, at_line, current
from ..ir.graph import Atom, Equation, Func, Var, all_equations, has_effect, is_branch, is_counted
from ..ir.op import registry
from ..ir.spec import subscripts_of
from ..ir.types import INT, Type, type_of
from ..ir.uses import defined_in, operands
from ..ir.views import BranchView, LoopView
from ..ir.walk import Environment, bind_outputs, run_equation
from ..ops.contract import new_letters
from ..ops.control import COND, FOR
from ..ops.kinds import shape_of
from ..passes.coverage import Accesses
from ..util.array import AnyArray, ArrayOrNumber, Extent
from .lane_parts import LANES, Ramp, Subscript, in_each_lane, read_by_lanes
from .varying import find_varying
from .vmap import in_dtype, in_dtypes, promoted_operands

SMALL = 1 << 40                                              # no size of an array is larger
STEP = 1 << 20                                               # 64 bits hold as many of these as a machine adds


class Refused(Exception):
    """The body does something that lanes do not do together."""


class Block:
    """The iterations of one block.

    varying: the variables that differ between lanes; axes: {version of an array of whose parts each lane owns one: the
    axis of the parts}, which the array lacks here; mask: which lanes get here, None: all.
    """

    def __init__(self, varying: Collection, axes: dict, mask: "AnyArray | None" = None):
        self.varying, self.axes, self.mask = varying, axes, mask

    # -- values ------------------------------------------------------------------------------------

    def lanes_of(self, atom: Atom, env: Environment, t: Type) -> ArrayOrNumber:
        """The values of all lanes, in this dtype."""
        x = self._read(atom, env)
        if atom not in self.varying:
            shape = shape_of(x)
            if not isinstance(x, Value):
                return registry["full"](x, LANES, dtype=t.dtype)
            x = registry["reshape"](x, *shape, 1) if shape else x
            return in_dtype(registry["broadcast_to"](x, *shape, LANES), t.dtype)
        return in_dtype(x, t.dtype)

    def _read(self, atom: Atom, env: Environment) -> Any:
        x = env.read(atom)
        return x.lanes() if isinstance(x, Ramp) else x

    # -- equations ---------------------------------------------------------------------------------

    def run(self, region: Func, env: Environment) -> None:
        """The region's equations in all lanes."""
        for eqn in region.equations:
            if any(v in self.varying for v in operands(eqn)):
                with at_line(eqn.where):
                    self._step(eqn, env)
            elif self.mask is not None and has_effect(eqn):
                self._check_for_some(eqn, env)
            else:
                run_equation(eqn, env)

    def _step(self, eqn: Equation, env: Environment) -> None:
        if is_counted(eqn):
            self._loop(LoopView(eqn), env)
        elif is_branch(eqn):
            self._branch(BranchView(eqn), env)
        elif eqn.reads_part:
            env[eqn.outputs[0]] = self._part(eqn, env)
        elif eqn.writes_part:
            env[eqn.outputs[0]] = self._written(eqn, env)
        elif eqn.op.name == "check_index" and eqn.inputs[1] not in self.varying:
            self._check_index(eqn, env)
        elif eqn.op.batch == "elementwise" and not eqn.op.effect:
            env[eqn.outputs[0]] = self._moved(eqn, env) or self._elementwise(eqn, env)
        elif eqn.op.kind == "reduce":
            env[eqn.outputs[0]] = eqn.op(self._read(eqn.inputs[0], env), **eqn.params)
        elif eqn.op.kind == "contract":
            env[eqn.outputs[0]] = self._contraction(eqn, env)
        else:
            raise Refused(eqn.op.name)

    def _moved(self, eqn: Equation, env: Environment) -> "Ramp | None":
        """The index with something added that is the same in all lanes."""
        if eqn.op.name not in ("add", "sub") or eqn.outputs[0].type.dtype != INT or eqn.outputs[0].type.shape:
            return None
        x, y = [env.read(a) for a in eqn.inputs]
        if isinstance(x, Ramp) and eqn.inputs[1] not in self.varying:
            return Ramp(eqn.op(x.start, y))
        if eqn.op.name == "add" and isinstance(y, Ramp) and eqn.inputs[0] not in self.varying:
            return Ramp(x + y.start)
        return None

    def _elementwise(self, eqn: Equation, env: Environment) -> Any:
        flags = tuple([a in self.varying for a in eqn.inputs])
        if _is_pythons(eqn.outputs[0]) and eqn.op.traits.grows and not self._stays_small(eqn, flags, env):
            raise Refused("Python's integers, which do not wrap around")
        xs = tuple([self._read(a, env) for a in eqn.inputs])
        if self.mask is not None and not eqn.op.traits.affine and eqn.outputs[0].type.dtype.kind in "fc":
            xs = tuple([self._where(x, 1) if flag and a.type.dtype.kind in "fc" else x
                        for x, a, flag in zip(xs, eqn.inputs, flags)])
        xs = promoted_operands(eqn, xs, flags)
        xs = tuple([x if flag else self._spread(x) for x, flag in zip(xs, flags)])
        return in_dtypes(eqn.op(*xs, **eqn.params), eqn.outputs)

    @staticmethod
    def _stays_small(eqn: Equation, flags: tuple, env: Environment) -> bool:
        """Whether results are of a size with a loop's index, if the operands that vary are."""
        if eqn.op.traits.grows != "steps" or (all(flags) and eqn.op.name == "mul"):
            return False
        return all(flag or _is_small(env.read(a)) for a, flag in zip(eqn.inputs, flags))

    @staticmethod
    def _spread(x: ArrayOrNumber) -> Any:
        """The value of all lanes, so that it broadcasts along them."""
        return registry["reshape"](x, *shape_of(x), 1) if shape_of(x) else x

    def _contraction(self, eqn: Equation, env: Environment) -> ArrayOrNumber:
        """A sum of products in each lane: the lanes are a further axis of the operands that differ, and of the result.
        """
        *words, out = eqn.params["labels"]
        lane = new_letters(1, "".join(eqn.params["labels"]))
        words = [word + lane if a in self.varying else word for word, a in zip(words, eqn.inputs)]
        return eqn.op(*[self._read(a, env) for a in eqn.inputs], labels=(*words, out + lane))

    def _where(self, x: ArrayOrNumber, other: ArrayOrNumber) -> ArrayOrNumber:
        """x in the lanes that get here."""
        return x if self.mask is None else in_dtype(registry["where"](self.mask, x, other), type_of(x).dtype)

    def _check_index(self, eqn: Equation, env: Environment) -> None:
        """A check of the lanes that get here. The others have the index 0 from here on."""
        index, extent = eqn.inputs[0], env.read(eqn.inputs[1])
        i = self._read(index, env)
        if self.mask is not None:
            if not _is_positive(extent):
                raise Refused("an index into what may be empty")
            i = env[index] = self._where(i, 0)
        eqn.op(i, extent, **eqn.params)

    def _check_for_some(self, eqn: Equation, env: Environment) -> None:
        """A check of an index that is the same in all lanes, where any lane gets here. Else the index is 0."""
        if eqn.op.name != "check_index" or not _is_positive(env.read(eqn.inputs[1])):
            raise Refused("a check that only some lanes get to")
        index, extent = eqn.inputs
        i = registry["where"](registry["any"](self.mask, axes=(0,)), env.read(index), 0)
        eqn.op(i, env.read(extent), **eqn.params)
        if isinstance(index, Var):
            env[index] = i
        elif index.value:
            raise Refused("an element that may not be there")

    # -- parts of arrays ---------------------------------------------------------------------------

    def _part(self, eqn: Equation, env: Environment) -> ArrayOrNumber:
        array = eqn.inputs[0]
        entries = self._entries(eqn, env)
        if array not in self.varying:
            return read_by_lanes(env.read(array), entries)
        if not entries:                                      # of an array with one element a lane
            return env.read(array)
        operands, params = in_each_lane(entries)
        return eqn.op(env.read(array), *operands, **params)

    def _written(self, eqn: Equation, env: Environment) -> ArrayOrNumber:
        array, value = eqn.inputs[:2]
        entries, t = self._entries(eqn, env), array.type
        x = self.lanes_of(array, env, t)
        if not entries:
            v = self.lanes_of(value, env, t)
            return self._where(registry["add"](x, v) if eqn.adds_part else v, x)
        operands, params = in_each_lane(entries)
        v = self._read(value, env) if value in self.varying else self._spread(env.read(value))
        if self.mask is not None:
            old = 0 if eqn.adds_part else registry["index"](x, *operands, **params)
            v = self._where(self.lanes_of(value, env, t), old)
        unique = {} if eqn.adds_part or "a" not in params["spec"] else {"unique": True}
        return eqn.op(x, v, *operands, **params, **unique)

    def _entries(self, eqn: Equation, env: Environment) -> list:
        """The subscript of each axis of the array; without the axis whose parts the lanes own."""
        own = self.axes.get(eqn.inputs[0])
        found = []
        for axis, (entry, given) in enumerate(subscripts_of(eqn)):
            varies = any(a in self.varying for a in given)
            if entry == "a" or (varies and entry != "i"):
                raise Refused("parts that differ in place or size")
            if axis != own:
                found.append(Subscript(entry, tuple(map(env.read, given)), varies))
        return found

    # -- control flow ------------------------------------------------------------------------------

    def _loop(self, loop: LoopView, env: Environment) -> None:
        params = loop.eqn.params
        if any(a in self.varying for a in loop.bounds) or params["extents"]:
            raise Refused("iterations that differ in number")
        if any(_may_grow(loop.body, c) for c in loop.carries if c in self.varying and _is_pythons(c)):
            raise Refused("Python's integers, which may grow from iteration to iteration")

        def body(index: AnyArray, *values: AnyArray) -> list:
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
        if params["extents"]:
            raise Refused("branches whose results differ in shape")
        if branch.selector in self.varying:
            self._both(branch, env)
            return

        def run(region: Func) -> Any:
            def taken() -> list:
                inner = Environment(env)
                self.run(region, inner)
                return [self._carried(y, a, inner) for y, a in zip(branch.results, region.outputs)]
            return taken
        regions = tuple(map(run, branch.branches))
        bind_outputs(branch.eqn, COND.run_regions([env.read(branch.selector)], regions, **params), env)

    def _both(self, branch: BranchView, env: Environment) -> None:
        """A branch that some lanes take and others do not."""
        if len(branch.branches) != 2 or branch.selector.type.dtype.kind != "b":
            raise Refused("more than two ways")
        taken = self._read(branch.selector, env)
        ways = []
        for region, mask in zip(branch.branches, (registry["logical_not"](taken), taken)):
            if self.mask is not None:
                mask = registry["logical_and"](self.mask, mask)
            inner = Environment(env)
            Block(self.varying, self.axes, mask).run(region, inner)
            ways.append(inner)
        for out in branch.results:
            no, yes = branch.yielded(out)
            if out.type.shape:
                written = [k for k in (0, 1) if _is_written_in(branch, (no, yes), k)]
                if written:
                    env[out] = self.lanes_of((no, yes)[written[0]], ways[written[0]], out.type)
                    continue
            xs = [self.lanes_of(a, inner, out.type) for a, inner in zip((yes, no), reversed(ways))]
            env[out] = registry["where"](taken, *xs)

    def _carried(self, v: Var, atom: Atom, env: Environment) -> ArrayOrNumber:
        """The facts that an atom hands on to a variable."""
        return self.lanes_of(atom, env, v.type) if v in self.varying else env.read(atom)


def _is_written_in(branch: BranchView, atoms: tuple, k: int) -> bool:
    """Whether branch k writes to an array that the other one leaves as it is."""
    before, after = atoms[1 - k], atoms[k]
    return before not in defined_in(branch.branches[1 - k]) and after in Accesses(branch.branches[k], before).versions


def _is_pythons(v: Var) -> bool:
    return v.type.weak and v.type.dtype == INT


def _may_grow(body: Func, carry: Var) -> bool:
    """Whether one of Python's integers that a loop carries may leave 64 bits: it gets larger by more than small steps.
    """
    from_it = find_varying(body, {carry})
    for eqn in all_equations(body):
        moved = [a for a in eqn.inputs if a in from_it]
        if moved and eqn.op.traits.grows and _is_pythons(eqn.outputs[0]):
            others = [a for a in eqn.inputs if a not in moved]
            if eqn.op.traits.grows != "steps" or eqn.op.name == "mul" or not all(map(_is_step, others)) or not others:
                return True
    return False


def _is_step(a: Atom) -> bool:
    return not isinstance(a, Var) and abs(a.value) <= STEP


def _is_small(n: Any) -> bool:
    """Whether an integer is known to be of a size with an array's extents."""
    if not isinstance(n, Value):
        return abs(int(n)) <= SMALL
    facts = current().integers
    return all(v in facts.dims or (v in facts.high and v in facts.low) for v, _ in facts.form(n.atom).terms)


def _is_positive(n: Extent) -> bool:
    """Whether an extent is known to be at least 1."""
    if not isinstance(n, Value):
        return int(n) > 0
    facts = current().integers
    return facts.proves_nonnegative(facts.form(n.atom) - facts.form(1))
