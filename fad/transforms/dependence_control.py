"""Bit sets on their way through loops, branches and calls (see dependence.py).

A loop carries the sets of its active carries beside the values of those that do not vary. Where varying values decide
the number of iterations, the loop runs until the sets grow no more; they only grow, so this ends. A branch that varying
values choose is the union of all branches.
"""
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.build import as_extent, building
from ..ir.graph import Atom, Equation, Func, Var
from ..ir.op import registry
from ..ir.types import Type
from ..ir.views import BranchView, LoopView
from ..ir.walk import bind_outputs
from ..ops.control import COND, FOR, WHILE
from ..ops.kinds import shape_of
from .activity import is_continuous, spread_activity
from .sweeps import DependenceSweep
from .varying import find_varying, is_decided_by_data


class Carried:
    """The carries of a loop (or results of a branch) that go along: `fixed` by their values, `moving` by their sets."""

    def __init__(self, sweep: DependenceSweep, eqn: Equation, variables: Any):
        self.params = eqn.params
        self.fixed = [k for k, v in enumerate(variables) if not sweep.varies(v)]
        self.moving = [k for k, v in enumerate(variables) if v in sweep.active]
        self.place = {k: j for j, k in enumerate(self.fixed)}

    def names(self) -> tuple:
        names = self.params["names"]
        return tuple([names[k] for k in self.fixed] + [f"{names[k]}_set" if names[k] else "" for k in self.moving])

    def extents(self) -> tuple:
        """Extents that are carried, for values and for sets; sets of arrays whose extents vary have none."""
        links = [(k, axis, self.place[j]) for k, axis, j in self.params["extents"] if j in self.place]
        sets = {k: len(self.fixed) + j for j, k in enumerate(self.moving)
                if all(i in self.place for c, _, i in self.params["extents"] if c == k)}
        return tuple([(self.place[k], axis, j) for k, axis, j in links if k in self.place]
                     + [(sets[k], axis, j) for k, axis, j in links if k in sets])

    def bind(self, sweep: DependenceSweep, outputs: tuple, results: tuple) -> None:
        sweep.env.update(zip([outputs[k] for k in self.fixed], results))
        sweep.sets.update(zip([outputs[k] for k in self.moving], results[len(self.fixed):]))


def _start(sweep: DependenceSweep, loop: LoopView, carried: Carried) -> list:
    carries, init = loop.carries, loop.init
    known = dict(zip(carries, init))
    values = [sweep.value(init[k]) for k in carried.fixed]
    return values + [sweep.fitted(sweep.set_of(init[k]), _shape_of_carry(sweep, sweep, carries[k], known))
                     for k in carried.moving]


def _shape_of_carry(around: Any, at: Any, carry: Var, known: dict) -> Any:
    """The shape in which a carry's sets travel, extents read where the sweep `at` is; None where they vary."""
    return None if any(around.varies(n) for n in carry.type.shape) else at.shape(carry, known)


def _iteration(sweep: DependenceSweep, loop: LoopView, carried: Carried, lead: tuple, values: tuple) -> tuple:
    """The sets and values that an iteration hands on."""
    region, carries = loop.body, loop.carries
    inner, count = sweep.inner(), len(carried.fixed)
    inner.env.update(lead)
    inner.env.update(zip([carries[k] for k in carried.fixed], values))
    inner.sets.update(zip([carries[k] for k in carried.moving], values[count:]))
    inner.run(region)
    known = dict(zip(carries, region.outputs))
    fixed = [inner.value(region.outputs[k]) for k in carried.fixed]
    return tuple(fixed + [inner.fitted(inner.set_of(region.outputs[k]),
                                       _shape_of_carry(sweep, inner, carries[k], known)) for k in carried.moving])


def _for(sweep: DependenceSweep, eqn: Equation) -> None:
    if is_decided_by_data(eqn, sweep.varying):
        _until_stable(sweep, eqn)
        return
    loop = LoopView(eqn)
    carried = Carried(sweep, eqn, loop.carries)
    bounds = [sweep.value(a) for a in loop.bounds]
    results = FOR.run_regions(bounds + _start(sweep, loop, carried),
                              (lambda i, *values: _iteration(sweep, loop, carried, ((loop.index, i),), values),),
                              names=carried.names(), extents=carried.extents())
    carried.bind(sweep, eqn.outputs, results)


def _while(sweep: DependenceSweep, eqn: Equation) -> None:
    if is_decided_by_data(eqn, sweep.varying):
        _until_stable(sweep, eqn)
        return
    loop = LoopView(eqn)
    test: Any = loop.test
    carried = Carried(sweep, eqn, loop.carries)

    def holds(*values: object) -> Any:
        inner = sweep.inner()
        inner.env.update(zip([test.inputs[k] for k in carried.fixed], values))
        inner.run(test)
        return inner.value(test.outputs[0])
    results = WHILE.run_regions(_start(sweep, loop, carried),
                                (holds, lambda *values: _iteration(sweep, loop, carried, (), values)),
                                names=carried.names(), extents=carried.extents())
    carried.bind(sweep, eqn.outputs, results)


def _until_stable(sweep: DependenceSweep, eqn: Equation) -> None:
    """The least fixed point of the sets. No value is carried, since all vary."""
    loop = LoopView(eqn)
    carried = Carried(sweep, eqn, loop.carries)

    def iteration(*values: object) -> tuple:
        before = values[:-1]
        after = tuple([a | b for a, b in zip(before, _iteration(sweep, loop, carried, (), before))])
        grown = [registry["not_equal"](a, b) for a, b in zip(before, after)]
        grown = [registry["any"](g, axes=tuple(range(len(shape_of(g))))) if shape_of(g) else g for g in grown]
        more = np.bool_(False)
        for g in grown:
            more = registry["logical_or"](more, g)
        return (*after, more)
    start = _start(sweep, loop, carried)
    if start:
        results = WHILE.run_regions([*start, np.bool_(True)], (lambda *values: values[-1], iteration),
                                    names=(*carried.names(), ""), extents=())
        carried.bind(sweep, eqn.outputs, results[:-1])


def _cond(sweep: DependenceSweep, eqn: Equation) -> None:
    carried = Carried(sweep, eqn, eqn.outputs)
    if is_decided_by_data(eqn, sweep.varying):
        ways = [_branch(sweep, eqn, region, carried) for region in eqn.regions]
        for j, k in enumerate(carried.moving):
            total = ways[0][j]
            for way in ways[1:]:
                total = total | way[j]
            sweep.sets[eqn.outputs[k]] = total
        return
    results = COND.run_regions([sweep.value(BranchView(eqn).selector)],
                               tuple([lambda r=r: _branch(sweep, eqn, r, carried) for r in eqn.regions]),
                               names=carried.names(), extents=carried.extents())
    carried.bind(sweep, eqn.outputs, results)


def _branch(sweep: DependenceSweep, eqn: Equation, region: Func, carried: Carried) -> tuple:
    inner = sweep.inner()
    inner.run(region)
    known = dict(zip(eqn.outputs, region.outputs))
    fixed = [inner.value(region.outputs[k]) for k in carried.fixed]
    return tuple(fixed + [inner.fitted(inner.set_of(region.outputs[k]),
                                       _shape_of_carry(sweep, inner, eqn.outputs[k], known)) for k in carried.moving])


# -- calls -----------------------------------------------------------------------------------------


def _call(sweep: DependenceSweep, eqn: Equation) -> None:
    """A call whose derivative is that of what it calls."""
    _run_call(sweep, eqn, eqn.regions[0])


def _run_call(sweep: DependenceSweep, eqn: Equation, region: Func) -> None:
    inner = sweep.inner()
    for v, a in zip(region.inputs, eqn.inputs):
        if not sweep.varies(a):
            inner.env[v] = sweep.value(a)
        elif sweep.set_of(a) is not None:
            inner.sets[v] = sweep.set_of(a)
    inner.run(region)
    for y, a in zip(eqn.outputs, region.outputs):
        if not sweep.varies(y):
            sweep.env[y] = inner.value(a)
        elif inner.set_of(a) is not None and is_continuous(y):
            sweep.sets[y] = inner.fitted(inner.set_of(a), inner.shape(a))


def _custom(sweep: DependenceSweep, eqn: Equation) -> None:
    """A call with its own derivative: the dependence of its tangents if it has a rule for them; else every result
    depends on every argument.
    """
    if not any(sweep.varies(a) for a in eqn.inputs):
        inner = sweep.inner()
        inner.env.update(zip(eqn.regions[0].inputs, [sweep.value(a) for a in eqn.inputs]))
        inner.run(eqn.regions[0])
        bind_outputs(eqn, tuple([inner.value(a) for a in eqn.regions[0].outputs]), sweep.env)
        return
    sets, rule = [sweep.set_of(a) for a in eqn.inputs], eqn.params["rule"]
    extra = len(eqn.outputs) - rule.results if rule.jvp is not None else 0
    outputs = eqn.outputs[extra:]
    if all(s is None for s in sets):
        return
    if rule.jvp is None or any(sweep.shape(a) is None for a in (*eqn.inputs, *outputs)):
        found = [sweep.union(sets)] * len(outputs)
    else:
        found = _of_tangents(sweep, eqn, rule, sets)
    for v, s in zip(outputs, found):
        if s is not None and is_continuous(v):
            sweep.sets[v] = sweep.fitted(s, sweep.shape(v))


def _of_tangents(sweep: DependenceSweep, eqn: Equation, rule: Any, sets: list) -> list:
    """The sets of the tangents that a rule gives, from the program that it is."""
    with building("tangents", region=True) as builder:
        xs = [_stand_in(sweep, builder, a) for a in eqn.inputs]
        dxs = [None if s is None else _stand_in(sweep, builder, a, tangent=True) for a, s in zip(eqn.inputs, sets)]
        dys = rule.jvp(xs, dxs)[1]
        moved = [dy for dy in dys if dy is not None]
        func = builder.finish(tuple(moved))
    inner = sweep.inner()
    tangents = {d.atom: s for d, s in zip(dxs, sets) if d is not None}
    inner.varying = find_varying(func, set(sweep.varying) | set(tangents)
                                 | {x.atom for x, a in zip(xs, eqn.inputs) if sweep.varies(a)})
    inner.active = set(sweep.active) | set(tangents)
    spread_activity(func, inner.active)
    inner.sets.update(tangents)
    inner.run(func)
    found = iter([inner.set_of(a) for a in func.outputs])
    return [None if dy is None else next(found) for dy in dys]


def _stand_in(sweep: DependenceSweep, builder: Any, atom: Atom, tangent: bool = False) -> Any:
    """An operand of the rule: the value itself, or an input of its type in place of one that varies."""
    if not tangent and not sweep.varies(atom):
        return sweep.value(atom)
    return builder.input(Type(atom.type.dtype, tuple([as_extent(n) for n in sweep.shape(atom)])))


OF_CONTROL: dict[str, Callable[[Any, Equation], None]] = {
    "for": _for, "while": _while, "cond": _cond, "checkpoint": _call, "custom": _custom}
