"""Checkpointed loops: segments whose reverse sweep computes again what it does not save.

    level 1     save every iteration
    level n     chunks of level n - 1, of which only the starts are kept; the last iterations are of level 1

A counted loop leaves its last iterations to level 1, so that none of these runs twice. A `while` loop begins with level
1, goes on with chunks of level 1 as long as their starts fit, and then with chunks of level 2. Each level costs one
more run forward (Griewank & Walther, Evaluating Derivatives, SIAM 2008, section 12.2).
"""
from collections.abc import Callable
from typing import Any

from ..ir.build import Value, building, current
from ..ir.graph import Equation, Func, is_counted
from ..ir.op import registry
from ..ir.uses import defined_by, operands
from ..ir.views import LoopView
from ..ir.walk import bind_outputs, closure
from ..ops.control import FOR, WHILE, integer, trip_count
from ..ops.custom import checkpoint
from ..ops.extents import maximum, minimum
from ..util.array import AnyArray, ArrayOrNumber, Extent
from .masks import chooses, is_masked
from .memory_budget import CheckpointPlan, for_the_body
from .sweeps import ReverseSweep


def vjp_in_segments(sweep: ReverseSweep, eqn: Equation, plan: CheckpointPlan, inner: "int | None") -> None:
    """The reverse mode of a loop under a plan; inner: the share that the loops in its body divide."""
    loop = LoopView(eqn)
    bounds, init = [tuple(map(sweep.env.read, atoms)) for atoms in (loop.bounds, loop.init)]
    regions = tuple([closure(r, sweep.env) for r in eqn.regions])
    with building("segments", region=True) as builder:
        made = (_Counted if is_counted(eqn) else _Uncounted)(eqn, plan, bounds, init, regions)
        func = builder.finish(tuple(made.results()))
    with for_the_body(eqn, inner):
        _differentiate(sweep, eqn, func)


class _Segments:
    """A loop to be cut in segments."""

    def __init__(self, eqn: Equation, plan: CheckpointPlan, bounds: tuple, init: tuple, regions: tuple):
        self.plan, self.bounds, self.init, self.regions = plan, bounds, init, regions
        self.params = {"names": eqn.params["names"], "extents": eqn.params["extents"]}

    def again(self, carries: tuple, run: Callable) -> tuple:
        """run(carries) -> carries, which the reverse sweep computes again."""
        return checkpoint.run_regions(carries, (lambda *values: run(values),), name="segment")


class _Counted(_Segments):
    """`for`, by the number of the iteration: iterations lo, ..., hi - 1 of all."""

    def results(self) -> tuple:
        self.start, stop, self.step = map(integer, self.bounds)
        count = trip_count(self.start, stop, self.step)
        self.iterations = _root(count) if self.plan.iterations is None else self.plan.iterations
        return self.level(self.plan.levels, 0, count, self.init)

    def loop(self, lo: ArrayOrNumber, hi: ArrayOrNumber, carries: tuple, body: Callable) -> tuple:
        return FOR.run_regions([lo, hi, 1, *carries], (body,), checkpoint=False, **self.params)

    def iteration(self, k: AnyArray, *carries: ArrayOrNumber) -> tuple:
        return self.regions[0](self.start + k * self.step, *carries)

    def level(self, level: int, lo: Any, hi: ArrayOrNumber, carries: tuple) -> tuple:
        """The carries after the iterations lo, ..., hi - 1."""
        if level == 1:
            return self.loop(lo, hi, carries, self.iteration)
        last = maximum(hi - self.iterations, lo)
        chunk = self.iterations if level == 2 else self.plan.capacity(level - 1)

        def step(number: AnyArray, *inner: object) -> tuple:
            first = lo + number * chunk
            end = at_most(first + chunk, last)
            return self.again(inner, lambda values: self.level(level - 1, first, end, values))
        carries = self.loop(0, (last - lo + chunk - 1) // chunk, carries, step)
        return self.loop(last, hi, carries, self.iteration)


def _root(n: Extent) -> Any:
    """A number near the square root of n, at least 1."""
    if isinstance(n, int):
        return max(round(n ** 0.5), 1)
    root = registry["cast"](registry["sqrt"](registry["cast"](n, dtype="float64")), dtype="int64")
    return maximum(integer(root), 1)


def at_most(n: Extent, bound: ArrayOrNumber) -> Any:
    """min(n, bound), known to be at most the bound."""
    least = minimum(n, bound)
    if isinstance(least, Value):
        facts = current().integers
        facts.high.setdefault(least.atom, facts.form(getattr(bound, "atom", bound)))
    return least


class _Uncounted(_Segments):
    """`while`, whose number of iterations shows as it runs."""

    def results(self) -> tuple:
        carries = self.some(self.plan.iterations, self.init)
        carries = self.chunks(1, self.plan.starts, carries)
        return self.chunks(2, None, carries)

    def go_on(self, carries: tuple) -> AnyArray:
        found = self.regions[0](*carries)
        return found[0] if isinstance(found, (tuple, list)) else found

    def repeat(self, most: object, carries: tuple, body: Callable) -> tuple:
        """body again and again while the loop goes on, at most so many times."""
        def test(*values: AnyArray) -> AnyArray:
            more = self.go_on(values[:-1])
            return more if most is None else registry["logical_and"](values[-1] < most, more)
        count = len(carries)
        names = tuple(self.params["names"]) + ("",) if self.params["names"] else ()
        results = WHILE.run_regions([*carries, 0], (test, lambda *values: (*body(values[:-1]), values[-1] + 1)),
                                    checkpoint=False, names=names, extents=self.params["extents"])
        return tuple(results[:count])

    def some(self, most: object, carries: tuple) -> tuple:
        """Up to so many iterations, all of them saved."""
        return self.repeat(most, carries, lambda values: tuple(self.regions[1](*values)))

    def chunks(self, level: int, most: object, carries: tuple) -> tuple:
        """Up to so many chunks, whose starts are saved."""
        return self.repeat(most, carries, lambda values: self.again(values, lambda inner: self.chunk(level, inner)))

    def chunk(self, level: int, carries: tuple) -> tuple:
        carries = self.some(self.plan.iterations, carries)
        return carries if level == 1 else self.chunks(level - 1, self.plan.starts, carries)


def _differentiate(sweep: ReverseSweep, eqn: Equation, func: Func) -> None:
    """The equation's reverse mode by that of a Func over the values of the program being built."""
    moving = _moving(sweep, eqn)
    inner = sweep.inner(set(moving))
    if chooses(eqn) or is_masked(eqn, sweep.masked):
        inner.masked.update(defined_by(func.equations))
    inner.forward(func)
    bind_outputs(eqn, tuple([inner.env.read(a) for a in func.outputs]), sweep.env)

    def pull() -> None:
        gs = [sweep.cotangents.pop(v, None) for v in eqn.outputs]
        if all(g is None for g in gs):
            return
        inner.go_on_from(sweep, moving)
        for atom, g in zip(func.outputs, gs):
            inner.add(atom, g)
        inner.backward()
        inner.hand_back(sweep, moving)
    sweep.pullbacks.append(pull)


def _moving(sweep: ReverseSweep, eqn: Equation) -> dict:
    """{variable of the program being built: the active variable of the equation's program that it is the value of}"""
    found: dict = {}
    for v in operands(eqn):
        value = sweep.env.read(v)
        if v in sweep.active and isinstance(value, Value):
            found.setdefault(value.atom, v)
    return found
