"""The joint program: the body of a region, forward and reverse together, traced once.

The equations that depend on cotangents are the reverse half. It reads values of the rest, which the forward half saves,
or which are computed again or restored: save_or_recompute.py chooses.
"""
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ..ir.build import Builder, as_extent, building
from ..ir.graph import Equation, Func, Literal, Var, extents_of, free_vars, is_branch, is_loop
from ..ir.types import Type, type_of
from ..ir.uses import defined_by, reads
from ..ir.views import LoopView
from ..ir.walk import Environment
from ..ops.kinds import guarding
from ..util.array import AnyArray
from .activity import is_continuous
from .cost_model import iterations_guess
from .inputs import dense, renamed
from .masks import chooses, is_masked
from .sweeps import ReverseSweep
from .undo_log import History, Notes, history_of


class JointProgram:
    """The joint program of one region.

    builder      holds its equations; `lead` and `carries` are its inputs, `gs` the cotangents that come in (of the
                 active outputs),
    totals       {free variable: the input that holds its cotangent so far},
    gxs, totals_out   the cotangents that go out,
    histories    {number of an output: the history of that array}, as far as all of it was logged,
    finals       {part of an output (see last_write.py): the input that holds it as the loop leaves it, in the reverse
                 half},
    again        {what was read of such arrays: the same, read in the reverse half}.

    trails: those of outputs (see undo_log.py), by number; demanded: variables of the region that its loops and
    branches restore; restoring: the outputs whose last version the reverse half will have; counters: places of the
    carries that the reverse half computes from the number of the iteration (`counted`); final: {equation: the part of
    an output that still holds what it read}.
    """

    def __init__(self, sweep: ReverseSweep, eqn: Equation, region: Func, given: list,
                 index: "Callable | None" = None, *, trails: "Mapping | None" = None, demanded: Iterable = (),
                 restoring: Iterable = (), counters: Mapping = MappingProxyType({}), final: "Mapping | None" = None):
        guarded = chooses(eqn) or is_masked(eqn, sweep.masked)
        self.region, self.given, self.trails = region, given, trails or {}
        with building("joint", region=True) as self.builder:
            self.notes = self.builder.notes = Notes()
            self.builder.known_results = {}
            inner = sweep.inner(sweep.active)
            inner.follow(self.trails.values(), demanded)
            if guarded:
                inner.masked.update(defined_by(region.equations))
            self.lead = list(index(self.builder)) if index else []
            self.carries = self._inputs(region.inputs[len(self.lead):], inner.env)
            self.counted = atoms(self.carries[k] for k in counters)
            self._note_forms(counters, eqn, sweep)
            self.changing = Changing(self.builder, set(atoms(self.carries)) - set(self.counted),
                                     iterations_guess(eqn) if is_loop(eqn) else None)
            self.builder.changing = self.changing
            inner.env.update(zip(region.inputs, self.lead + self.carries))
            self.finals = {part: self._part_of(self.carries[part.number], part)
                           for part in dict.fromkeys((final or {}).values())}
            inner.finals = sweep.finals | {eqn: (part, self.finals[part]) for eqn, part in (final or {}).items()}
            inner.note_costs([trail.versions[0] for trail in self.trails.values()])
            inner.forward(region)
            self.outputs = [inner.env.read(a) for a in region.outputs]
            self.forward_count = len(self.builder.equations)
            with guarding(guarded):
                self._backward(inner)
            self.env, self.ends = inner.env, atoms(end for _, end in inner.finals.values())
            self.histories = self._histories(restoring)

    def _note_forms(self, counters: Mapping, eqn: Equation, sweep: ReverseSweep) -> None:
        """Note the integers that the number of the iteration tells as affine forms in the loop's index."""
        loop, facts = LoopView(eqn) if counters else None, self.builder.integers
        if loop is None or loop.step not in (1, -1):
            return
        start, *init = [as_extent(sweep.env.read(a)) for a in (loop.bounds[0], *[loop.init[k] for k in counters])]
        number = facts.iteration_number(self.lead[0].atom, start, loop.step)
        for first, (k, counter) in zip(init, counters.items()):
            if isinstance(counter.step, Literal):
                facts.forms[self.carries[k].atom] = facts.form(first) + number.scaled(counter.by)

    def _histories(self, restoring: Iterable) -> dict:
        found: dict[int, History] = {}
        for k in restoring:
            start, end = [self.env.read(v) for v in (self.trails[k].versions[0], self.region.outputs[k])]
            state = self.builder.input(Type(type_of(end).dtype, end.atom.type.shape), end.atom.name)
            history = history_of(self.notes, start.atom, end.atom, state)
            if history is not None:
                found[k] = history
        return found

    def _part_of(self, x: Any, part: Any) -> Any:
        fixed = {axis for axis, _ in part.fixed}
        return self.builder.input(Type(type_of(x).dtype,
                                       tuple(n for axis, n in enumerate(x.atom.type.shape) if axis not in fixed)),
                                  x.atom.name)

    def _inputs(self, variables: tuple, env: Environment) -> list:
        """Inputs like the region's, those first that are extents of others."""
        extents = set(extents_of(variables))
        for v in sorted(variables, key=lambda v: v not in extents):
            env[v] = self.builder.input(renamed(v.type, env), v.name)
            if v in extents:
                self.builder.integers.low[env[v].atom] = 0
        return [env[v] for v in variables]

    def _backward(self, inner: Any) -> None:
        region, builder = self.region, self.builder
        self.gs = [builder.input(_cotangent_type(self.outputs[k]), "g") for k in self.given]
        self.totals: dict[Var, Any] = {}
        for v in free_vars(region):
            if v in inner.active and is_continuous(v):
                self.totals[v] = builder.input(_cotangent_type(inner.env.read(v)), f"g{v.name}")
        inner.cotangents.update(self.totals)
        for k, g in zip(self.given, self.gs):
            inner.add(region.outputs[k], g)
        self.again = inner.found_again(region)
        inner.backward()
        carried = region.inputs[len(self.lead):]
        self.gxs = {k: dense(inner.cotangents.get(v), self.carries[k]) for k, v in enumerate(carried)
                    if v in inner.active}
        self.totals_out = {v: inner.cotangents[v] for v, g in self.totals.items() if inner.cotangents[v] is not g}


class Changing:
    """The variables of a joint program that depend on the loop's carries, and so cost the reverse half something.

    iterations: how many iterations the loop is taken to have, None where the region is a branch.
    """

    def __init__(self, builder: Builder, carries: set, iterations: "int | None"):
        self.builder, self.known, self.iterations, self.seen = builder, carries, iterations, 0

    def __contains__(self, v: Var) -> bool:
        """Whether v changes in this loop or in one around it."""
        return self.here(v) or changes_around(v, self.builder)

    def here(self, v: Var) -> bool:
        """Whether v changes in this loop."""
        equations = self.builder.equations
        for eqn in equations[self.seen:]:
            if any(a in self.known for a in reads(eqn)):
                self.known.update(eqn.outputs)
        self.seen = len(equations)
        return v in self.known


def changes_around(v: Var, builder: Builder) -> bool:
    """Whether v belongs to a loop around this region that is being differentiated, and changes there."""
    around = _region_around(builder)
    return around is not None and v in around.changing


def iterations_between(v: Var, builder: Builder) -> int:
    """The estimated number of runs of a loop or branch while v, which changes in a loop around it, stays as it is."""
    around, iterations = _region_around(builder), 1
    while around is not None and not around.changing.here(v):
        iterations *= around.changing.iterations or 1
        around = _region_around(around)
    return max(iterations, 1)


def _region_around(builder: Builder) -> "Builder | None":
    """The builder of the next region around that is being differentiated."""
    around = builder.parent
    while around is not None and around.changing is None:
        around = around.parent
    return around


def is_at_rest(v: Var, builder: Builder) -> bool:
    """Whether a loop's iterations find an array in memory: no iteration writes to it or makes it, and no single element
    was written to just before.
    """
    around: Builder | None = builder
    while around is not None and v not in around.owned and not _is_loops(around):
        around = around.parent
    if around is None or v in around.owned:
        return False
    while around is not None and v not in around.owned:
        around = around.parent
    return around is None or not any(v in e.outputs and (e.writes_part or is_branch(e)) for e in around.equations)


def _is_loops(builder: Builder) -> bool:
    return builder.changing is not None and builder.changing.iterations is not None


def _cotangent_type(y: AnyArray) -> Type:
    t = type_of(y)
    return Type(t.dtype, tuple([as_extent(n) for n in t.shape]))


def atoms(values: Iterable) -> list:
    """The variables among these values."""
    return [x.atom for x in values if hasattr(x, "atom")]
