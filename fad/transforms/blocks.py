"""Blocks: a loop keeps its arrays at the start of every few iterations and computes the saved ones again.

    forward     keep the state ─ 8 to 64 iterations ─ keep the state ─ ...       all numbers are kept
    reverse     ... ─ compute a block's arrays again ─ run the block's reverse sweep

A tape that is larger than the processor's caches goes to memory and comes back, which may take longer than all
arithmetic. A block's arrays stay in the caches. Segments within a budget (checkpointing.py) compute everything again;
a block computes only the saved arrays again, and no sum over an array twice, since such a result is a number.
"""
import math
from typing import Any, NamedTuple

from ..ir.build import current
from ..ir.graph import Equation, Var, is_branch, is_counted
from ..ir.uses import reads
from ..ir.views import LoopView
from ..ir.walk import Environment
from ..ops.control import FOR
from ..util.array import AnyArray, ArrayOrNumber
from .checkpointing import at_most
from .cost_model import bytes_of, bytes_written, extent_guess, hold_small, iterations_guess
from .joint import atoms
from .memory_budget import has_budget
from .rounding import decisive
from .rows import BlockRows
from .save_or_recompute import Division, is_cheap
from .tape import Iterations, Tape, is_fixed, padded_width, ramp_of
from .versions import versions

LARGE = 1 << 22                                              # bytes of a tape that leaves the caches
BLOCK = 1 << 19                                              # bytes that a block's iterations may save
SMALL = 1 << 10  # up to these extents of inputs a program without blocks serves
FEWEST, MOST = 8, 64                                         # iterations of a block
NARROWEST, WIDEST = 256, 1 << 18  # bytes an iteration saves; one saves numbers faster than one recomputes them
TRIP = 10  # cheap operations that take as long as eight bytes' trip to memory and back
DEAR = 16                                                    # cheap operations that take as long as exp


class Recomputation(NamedTuple):
    """The part of an iteration that is computed again.

    arrays: the saved variables that are arrays; numbers: the variables kept for all iterations; state: places of the
    carries kept at a block's start; equations: indices of the recomputed equations; forward: indices of the equations
    in the forward half; iterations: iterations of a block; versions: the arrays that are computed from their previous
    versions (see versions.py).
    """

    arrays: list
    numbers: list
    state: list
    equations: list
    forward: list
    iterations: int
    versions: dict


def again_in_blocks(division: Division, eqn: Equation, iterations: Iterations) -> "Recomputation | None":
    """The part that a loop in blocks computes again; None if the loop should save all that it needs."""
    arrays = [v for v in division.saved if v.type.shape]
    if (not arrays or has_budget() or division.restored or eqn.params["extents"]
            or eqn.params.get("checkpoint") is not None):
        return None
    equations, state, more = _slice(division, arrays)
    if _decides(division, equations, arrays):
        return None
    kept = [division.joint.carries[k].atom for k in state]
    around = current()
    if (not all(is_fixed(v, around) for v in kept)
            or not all(is_fixed(v, around) or ramp_of(v, iterations, around) for v in arrays)):
        return None
    saved = sum(map(bytes_of, arrays))
    count = min(max(BLOCK // saved, FEWEST), MOST)
    cost = sum(operations(division.equations[k]) for k in equations)
    if not NARROWEST <= saved <= WIDEST or 8 * cost > TRIP * saved or 2 * sum(map(bytes_of, kept)) > saved * count:
        return None
    if saved * iterations_guess(eqn) <= LARGE:
        hold_small([iterations.count, *(n for v in arrays for n in v.type.shape)], SMALL)
        return None
    numbers = [v for v in division.saved if not v.type.shape]
    numbers += [v for v in more if v not in numbers]
    return Recomputation(arrays, numbers, state, equations, division.forward_for(numbers), count,
                         versions(division, equations, state, arrays, iterations, around))


def _slice(division: Division, arrays: list) -> tuple:
    """The sources of the arrays: indices of equations, places of carried arrays, numbers that depend on the carries."""
    joint, equations = division.joint, division.equations
    place = {v: k for k, v in enumerate(atoms(joint.carries)) if v not in joint.counted}
    moving = set(place)
    for eqn in equations[:joint.forward_count]:
        if not moving.isdisjoint(reads(eqn)):
            moving.update(eqn.outputs)
    wanted, seen, kept, state, numbers = list(arrays), set(), set(), [], []
    while wanted:
        v = wanted.pop()
        if v in seen:
            continue
        seen.add(v)
        if not v.type.shape and v in moving:
            numbers.append(v)
        elif v in place:
            state.append(place[v])
            wanted += atoms([joint.outputs[place[v]]])
        elif (k := division.chains.position(v)) is not None:
            kept.add(k)
            wanted += reads(equations[k])
    return sorted(kept), sorted(state), numbers


def _decides(division: Division, again: list, arrays: list) -> bool:
    """Whether a decision depends on the last bits of the values to be computed again, which may differ."""
    reverse = [k for k in division.reverse if isinstance(k, int)]
    found = set(arrays).union(*[division.equations[k].outputs for k in again])
    return any(not found.isdisjoint(decisive(division.equations[k])) for k in [*again, *reverse])


def operations(eqn: Equation) -> float:
    """The number of cheap operations that an equation takes; infinite if it is unknown."""
    if is_counted(eqn):
        return iterations_guess(eqn) * sum(map(operations, LoopView(eqn).body.equations))
    if is_branch(eqn):
        return sum(operations(e) for region in eqn.regions for e in region.equations)
    if eqn.op.kind in ("shape", "check") or eqn.reads_part:
        return 0
    if eqn.writes_part:
        return bytes_written(eqn) / eqn.inputs[0].type.dtype.itemsize
    if eqn.op.kind == "elementwise":
        return _elements(eqn.outputs[0]) * (1 if is_cheap(eqn) else DEAR)
    if eqn.op.kind == "reduce":
        return _elements(eqn.inputs[0])
    return math.inf


def _elements(a: Var) -> int:
    return math.prod([extent_guess(n) for n in a.type.shape])


class BlockedSweeps:
    """The two sweeps of a loop in blocks. loop: its LoopBody (see loop_vjp.py); lines: the user's line of each kept
    value."""

    def __init__(self, loop: Any, again: Recomputation, iterations: Iterations, lines: dict):
        self.loop, self.division, self.again = loop, loop.division, again
        self.iterations, self.lines = iterations, lines
        self.number = (iterations.count + again.iterations - 1) // again.iterations
        self.state = [loop.joint.carries[k].atom for k in again.state]
        self.numbers = Tape(again.numbers, iterations, lines)
        self.starts = Tape(self.state, Iterations(self.number, 0, 1), lines)
        self.number_of = {v: k for k, v in enumerate(again.numbers)}

    def forward(self, carries: tuple, names: tuple) -> tuple:
        """The carries after the last iteration."""
        n, m = len(carries), len(carries) + len(self.numbers.init)

        def iteration(k: AnyArray, *values: ArrayOrNumber) -> list:
            env = self.division.environment([self.index(k)], values[:n])
            self.division.run(self.again.forward, env)
            kept = tuple([env.read(v) for v in self.again.numbers])
            return self.division.outputs(env) + self.numbers.push(list(values[n:]), kept, k)

        def block(q: AnyArray, *values: AnyArray) -> list:
            starts = self.starts.push(list(values[m:]), tuple([values[k] for k in self.again.state]), q)
            return [*FOR.run_regions([*self._bounds(q), 1, *values[:m]], (iteration,), names=names), *starts]
        results = FOR.run_regions([0, self.number, 1, *carries, *self.numbers.init, *self.starts.init], (block,),
                                  names=names)
        self.numbers.start_reverse(list(results[n:m]))
        self.starts.start_reverse(list(results[m:]))
        return results[:n]

    def backward(self, carries: list) -> tuple:
        """The reverse sweep's carries after the first iteration."""
        width = {v: padded_width(v, self.iterations) for v in self.again.arrays if v.type.rank == 1}

        def block(q: AnyArray, *values: AnyArray) -> tuple:
            first, end = self._bounds(q)
            rows = BlockRows(self, width, first, end)
            rows.fill(self.state_at_start(q))

            def iteration(k: AnyArray, *inner: AnyArray) -> list:
                def reader(number: int, env: Environment) -> ArrayOrNumber:
                    v = self.division.saved[number]
                    return rows.read(v, k, env) if v.type.shape else self.numbers.reader([], k)(self.number_of[v], env)
                return self.loop.pulled_back([self.index(k)], inner, k, reader)
            return FOR.run_regions([end - 1, first - 1, -1, *values], (iteration,))
        return FOR.run_regions([self.number - 1, -1, -1, *carries], (block,))

    def state_at_start(self, q: AnyArray) -> dict:
        """The carried arrays with which a block begins."""
        reader = self.starts.reader([], q)
        return {v: reader(j, Environment()) for j, v in enumerate(self.state)}

    def environment(self, k: ArrayOrNumber) -> Environment:
        """The known values of iteration number k, except carried arrays."""
        env = self.division.environment([self.index(k)], ())
        env.update(self.loop.counted(k))
        env.update((v, self.numbers.reader([], k)(j, env)) for j, v in enumerate(self.again.numbers))
        return env

    def _bounds(self, block: AnyArray) -> tuple:
        """The numbers of a block's first iteration, and of the one behind its last."""
        first = block * self.again.iterations
        return first, at_most(first + self.again.iterations, self.iterations.count)

    def index(self, k: ArrayOrNumber) -> AnyArray:
        """The loop's index in the iteration number k."""
        return self.iterations.start + k * self.iterations.step
