"""Outer-loop vectorisation: LANES iterations of a loop around loops at once, where they are independent.

    for i in range(n):                      for block in range(n // 64):
        for j in range(m):                      for j in range(m):
            t[j] = x[i, j] * w[j]     --->          t[j, :] = x[64 * block : 64 * block + 64, j] * w[j]
        s += f(t[0])                            s += sum(f(t[0, :]))
                                            for i in range(n - n % 64, n): as before

Compilers make vector instructions of innermost loops, which are short here, or sums in a fixed order. The lanes are the
last axis of what differs between iterations (D. Nuzman, A. Zaks, "Outer-loop vectorization: revisited for short SIMD
architectures", PACT 2008). independence.py says which loops qualify. A block is a `checkpoint`: the reverse sweep
computes it again, so that it holds what one block saves and not what all iterations do.
"""
from collections.abc import Callable, Collection
from typing import NamedTuple

from ..ir import stack
from ..ir.build import Builder, at_line, building, current
from ..ir.graph import Equation, Func, Literal, Var, all_equations, has_loop, is_branch, is_counted, traced_value
from ..ir.op import registry
from ..ir.uses import use_counts
from ..ir.views import LoopView
from ..ir.walk import Environment, bind_outputs, closure, run_equation
from ..ops.carry import convert
from ..ops.control import FOR, integer, trip_count
from ..ops.custom import checkpoint
from ..ops.extents import assume_at_least
from ..passes.dce import dce
from ..util.array import AnyArray, ArrayOrNumber
from .blocks import operations
from .checkpointing import at_most
from .cost_model import USUAL_EXTENT
from .independence import OWN, PRIVATE, SAME, SUM, Role, roles_of
from .lane_costs import LONG, pays, size_of
from .lane_parts import LANES, NAME, Ramp, part_of, with_part
from .lanes import Block, Refused
from .masks import behind_choices, chooses, is_masked
from .varying import find_varying

MANY = 4 * LANES                                             # iterations that are worth a program for blocks
MOST = 0.8                                                   # of the work
LARGE = 1 << 18                                              # bytes of a block's arrays: they stay in the cache


def vectorise(func: Func) -> "tuple[Func, Builder | None]":
    """The Func with its independent loops in blocks of lanes, and the builder that made it, which has further guards.

    The Func itself if there is no such loop, or if all have few iterations; None if there are no guards then.
    """
    if stack.is_live() or not any(map(_has_nest, func.equations)):
        return func, None
    swept = dce(func)
    uses = use_counts(swept)
    found = {eqn: candidate for eqn in all_equations(swept) if (candidate := _Candidate.of(eqn, uses))}
    if not found:
        return func, None
    with building(func.name, region=bool(stack.builders())) as builder:
        env = _same_inputs(builder, swept)
        many = {eqn: candidate for eqn, candidate in found.items() if candidate.has_many()}
        for eqn in found.keys() - many.keys():
            found[eqn].hold_few()
        if not many:
            return func, builder
        walk = _Walk(many)
        new = builder.finish(walk.run(swept, env))
    return (new, builder) if walk.found else (func, builder)


class _Candidate(NamedTuple):
    """A loop that may run in lanes, and gains by it: its carries' roles, what varies, the inner loops that are short.
    """

    loop: LoopView
    roles: list
    varying: set
    short: list

    @classmethod
    def of(cls, eqn: Equation, uses: Collection) -> "_Candidate | None":
        """The candidate that an equation is, if it is one."""
        if not is_counted(eqn) or not _has_nest(eqn):
            return None
        loop = LoopView(eqn)
        if loop.step != 1 or eqn.params["extents"] or eqn.params.get("checkpoint") is not None or _is_seen(loop.body):
            return None
        roles = roles_of(loop, uses)
        if roles is None or all(role.kind == SAME for role in roles) or _bytes_of(loop, roles) > LARGE:
            return None
        varying = find_varying(loop.body, {loop.index, *[c for c, r in zip(loop.carries, roles) if r.kind != SAME]})
        short = pays(loop, roles, varying, uses)
        return None if short is None else cls(loop, roles, varying, short)

    def has_many(self) -> bool:
        """Whether there were iterations enough when the function was traced."""
        start, stop = map(traced_value, self.loop.bounds[:2])
        return start is not None and stop is not None and stop - start >= MANY

    def hold_few(self) -> None:
        """Hold the program to few iterations, as far as extents of inputs tell."""
        builder, (start, stop) = current(), self.loop.bounds[:2]
        if isinstance(stop, Var) and builder.sees(stop) and isinstance(start, Literal):
            facts = builder.integers
            facts.assume_nonnegative(facts.form(MANY - 1 + int(start.value)) - facts.form(stop))

    def hold_short(self, env: Environment) -> None:
        """Hold the program to inner loops that are short, as far as extents of inputs tell."""
        facts = current().integers
        for loop in self.short:
            stop = loop.bounds[1]
            if isinstance(stop, Var) and stop in env:
                n = env.read(stop)
                facts.assume_nonnegative(facts.form(LONG - 1) - facts.form(getattr(n, "atom", n)))


def _has_nest(eqn: Equation) -> bool:
    """Whether a counted loop with a loop in it is in an equation."""
    return (is_counted(eqn) and any(map(has_loop, LoopView(eqn).body.equations))) or any(
        _has_nest(inner) for region in eqn.regions for inner in region.equations)


def _is_seen(region: Func) -> bool:
    """Whether people may see how often the region runs: it prints, or calls Python."""
    return any(eqn.op.traits.tells or eqn.op.kind == "host" for eqn in all_equations(region))


def _same_inputs(builder: Builder, func: Func) -> Environment:
    """The inputs of the new Func, which are those of the old one."""
    env = Environment()
    for var in func.inputs:
        for n in var.type.shape:
            if isinstance(n, Var) and not builder.sees(n):
                builder.integers.dims.add(n)
                builder.integers.low[n] = 2
                env[n] = builder.own(n)
        builder.inputs.append(var)
        env[var] = builder.own(var)
    return env


class _Walk:
    """A Func's equations in the current builder, these loops in blocks. found: whether one could be."""

    def __init__(self, candidates: dict):
        self.candidates, self.found = candidates, False

    def run(self, region: Func, env: Environment) -> tuple:
        for eqn in region.equations:
            self._step(eqn, env)
        return tuple([env.read(a) for a in region.outputs])

    def _step(self, eqn: Equation, env: Environment) -> None:
        results = self._in_blocks(eqn, env) if eqn in self.candidates else None
        if results is not None:
            self.found = True
            bind_outputs(eqn, results, env)
        elif (is_counted(eqn) or is_branch(eqn)) and self._is_around(eqn):
            args, params = [env.read(a) for a in eqn.inputs], eqn.params
            regions = tuple([self._closure(r, env) for r in eqn.regions])
            with at_line(eqn.where):
                bind_outputs(eqn, eqn.op.run_regions(args, regions, **params), env)
        else:
            run_equation(eqn, env)

    def _is_around(self, eqn: Equation) -> bool:
        """Whether one of the loops is in an equation."""
        return any(inner in self.candidates for region in eqn.regions for inner in all_equations(region))

    def _closure(self, region: Func, env: Environment) -> Callable:
        def run(*args: ArrayOrNumber) -> tuple:
            inner = Environment(env)
            inner.update(zip(region.inputs, args))
            return self.run(region, inner)
        return run

    def _in_blocks(self, eqn: Equation, env: Environment) -> "tuple | None":
        """The loop's results; None if it stays as it is."""
        candidate, builder = self.candidates[eqn], current()
        mark = len(builder.equations)
        with at_line(eqn.where):
            try:
                results = BlockedLoop(candidate, env).results()
            except Refused:
                builder.take_back(mark)
                return None
        candidate.hold_short(env)
        return results


class BlockedLoop:
    """An independent loop in blocks of lanes, and the iterations that are left over one by one."""

    def __init__(self, candidate: _Candidate, env: Environment):
        self.loop, self.roles, self.varying, self.env = candidate.loop, candidate.roles, candidate.varying, env
        self.start, self.stop = [integer(env.read(a)) for a in self.loop.bounds[:2]]
        self.count = trip_count(self.start, self.stop, 1)
        self.kept = [k for k, role in enumerate(self.roles) if role.kind in (SUM, OWN)]

    def results(self) -> tuple:
        """The carries after the last iteration."""
        loop, names = self.loop, self.loop.eqn.params["names"]
        carries = [self.env.read(a) for a in loop.init]
        self.overlaps = self._may_overlap()
        blocks = (self.count + LANES - 1 if self.overlaps else self.count) // LANES
        after = FOR.run_regions([0, blocks, 1, *[carries[k] for k in self.kept]], (self._block,),
                                names=tuple([names[k] for k in self.kept]) if names else ())
        for k, x in zip(self.kept, after):
            carries[k] = x
        if self.overlaps:
            return tuple(carries)
        rest = [self.stop - self.count % LANES, self.stop, 1, *carries]
        return FOR.run_regions(rest, (closure(loop.body, self.env),), names=names)

    def _may_overlap(self) -> bool:
        """Whether the last block may begin within the one before, so that no iteration is left over.

        Iterations only add to sums, so that those of two blocks can be left out of one; there is a block at least; and
        products of cotangents are guarded in any case, since those of the lanes that are left out are zeros.
        """
        if any(role.kind == OWN for role in self.roles) or not _is_behind_choices(self.loop.body):
            return False
        return assume_at_least(self.count, LANES)

    def _block(self, number: AnyArray, *carries: AnyArray) -> list:
        """The carries that are kept, after a block."""
        first = begin = self.start + number * LANES
        if self.overlaps:
            first = at_most(first, self.stop - LANES)
            self.unseen = registry["less_equal"](begin, Ramp(first).lanes())
        arrays = dict(zip(self.kept, carries))
        loaded = [k for k in self.kept if self.roles[k].kind == OWN and not self.roles[k].is_new]
        parts = tuple([part_of(arrays[k], self.roles[k].axis, first) for k in loaded])

        def block(*given: AnyArray) -> list:
            return self._lanes(first, dict(zip(loaded, given)))
        found = checkpoint.run_regions(parts, (block,), name=NAME)
        return [self._joined(k, carry, y, first) for k, carry, y in zip(self.kept, carries, found)]

    def _joined(self, k: int, carry: AnyArray, y: AnyArray, first: AnyArray) -> ArrayOrNumber:
        if self.roles[k].kind == OWN:
            return with_part(carry, y, self.roles[k].axis, first)
        return convert(carry + y, self.loop.carries[k].type)

    def _lanes(self, first: AnyArray, loaded: dict) -> list:
        """The sums and the own parts of one block."""
        loop, env = self.loop, Environment(self.env)
        axes = {v: role.axis for role in self.roles if role.kind == OWN for v in role.versions}
        block = Block(self.varying, axes)
        env[loop.index] = Ramp(first)
        for k, (carry, role) in enumerate(zip(loop.carries, self.roles)):
            if role.kind == SAME:
                env[carry] = self.env.read(loop.init[k])
            elif k in loaded:
                env[carry] = loaded[k]
            else:
                extents = map(self.env.read, role.part_of(carry))
                env[carry] = registry["full"](0, *extents, LANES, dtype=carry.type.dtype)
        block.run(loop.body, env)
        ends = [(self.roles[k].kind, block.lanes_of(loop.next[k], env, loop.carries[k].type)) for k in self.kept]
        return [self._sum(y) if kind == SUM else y for kind, y in ends]

    def _sum(self, y: ArrayOrNumber) -> AnyArray:
        """The sum over the lanes whose iterations no block before had."""
        return registry["sum"](registry["where"](self.unseen, y, 0.0) if self.overlaps else y, axes=(0,))


def _is_behind_choices(body: Func) -> bool:
    """Whether nearly all of an iteration's work is behind a choice (see masks.py)."""
    masked, everything, guarded = behind_choices(body), 0.0, 0.0
    for eqn in body.equations:
        work = operations(eqn)
        everything += work
        guarded += work if chooses(eqn) or is_masked(eqn, masked) else 0
    return guarded >= MOST * everything


def _bytes_of(loop: LoopView, roles: "list[Role]") -> int:
    """The bytes of a block's arrays, as far as is known."""
    return LANES * sum(c.type.dtype.itemsize * size_of(role.part_of(c), USUAL_EXTENT)
                       for c, role in zip(loop.carries, roles) if role.kind in (PRIVATE, OWN))

