"""Reverse mode of loops.

    for i in range(n): c = body(i, c)      ->      for i in range(n): save; c = body(i, c)
                                                   for i in reversed(range(n)): restore; gc = pullback(i, gc)

The reverse loop carries the cotangents of the carries and of the variables around the loop, and the arrays that it
restores (undo_log.py). save_or_recompute.py chooses what an iteration saves. The saved values reach the reverse loop
in one of three ways, unless an iteration's reverse sweep need not wait (at_once.py):

    Taped          each iteration saves it (see tape.py); of a loop of unknown length, too
    Blocked        each block of iterations saves what it starts from, and computes the rest again (see blocks.py)
    Checkpointed   segments save what they start from, within a budget of memory (see checkpointing.py)
"""
from collections.abc import Callable
from typing import Any

from ..ir.build import current
from ..ir.graph import Equation, has_loop
from ..ir.op import registry
from ..ir.views import LoopView
from ..ir.walk import bind_outputs, closure, run_equation
from ..ops.control import FOR, WHILE, integer, iteration_number, loop_index, trip_count
from ..passes.induction import counters
from ..util.array import AnyArray, Extent
from .at_once import AtOnce
from .blocks import BlockedSweeps, again_in_blocks
from .checkpointing import vjp_in_segments
from .control_vjp import active_outputs, demanded, note_restored, take, total
from .cost_model import bytes_of, iterations_guess
from .joint import JointProgram
from .last_write import final_reads
from .memory_budget import CheckpointPlan, for_the_body, is_small, plan_for, share_of
from .save_or_recompute import Division
from .sweeps import ReverseSweep
from .tape import FIRST_EXTENT, Iterations, Tape, is_inside_a_loop
from .undo_log import carried_trails


class LoopBody:
    """The reverse mode of one iteration: the body's joint program (see joint.py), divided.

    carried    numbers of the carries that a derivative flows through
    counters   {number of a carry: its Counter}, of those that the number of the iteration tells
    share      the bytes that the loop may save, None: any
    inner      the same, if the loops in the body have a part of it; else None
    final      {equation: the part of the final array that holds the values it reads}
    ends       {part: what it holds}, while the reverse sweep runs
    """

    def __init__(self, sweep: ReverseSweep, eqn: Equation, index: "Callable | None"):
        self.sweep, self.eqn, self.view, self.index = sweep, eqn, LoopView(eqn), index
        self.carried = [k for k, v in enumerate(self.view.carries) if v in sweep.active]
        self.counters = counters(self.view)
        self.share, self.inner = share_of(sweep.loops), None
        self._divide()
        if self.share is not None and self.has_loops and not is_small(eqn, self.division.saved, self.share):
            self.inner = self.share
            self._divide()

    @property
    def has_loops(self) -> bool:
        """Whether there are loops in the body."""
        return any(has_loop(e) for e in self.view.body.equations)

    @property
    def count(self) -> int:
        """The number of the loop's carries."""
        return len(self.view.carries)

    @property
    def names(self) -> tuple:
        """The names of the carries."""
        return self.eqn.params["names"]

    def plan(self, count: "Extent | None") -> "CheckpointPlan | None":
        """The segments in which the loop runs, None where it does not. count: of its iterations, None where nobody
        knows.
        """
        kept = [self.eqn.outputs[k] for k in self.division.kept_carries()]
        return plan_for(self.eqn, self.division.saved, kept, count, self.share)

    def lines(self) -> dict:
        """The user's line of each value of the body; a carry's is the loop's."""
        lines = dict.fromkeys(self.joint.builder.inputs, self.eqn.where)
        return lines | {v: e.where for e in self.division.equations for v in e.outputs}

    def _divide(self) -> None:
        """Trace and divide the body; once more, with inner loops that restore more arrays, if that saves less."""
        with for_the_body(self.eqn, self.inner):
            trails = carried_trails(self.view, self.sweep.active)
            self.final = self._final_reads(trails)
            wanted = set(demanded(self.sweep, self.eqn))
            self.joint, self.division = self.divided(trails, wanted)
            missing = trails.keys() - self.joint.histories.keys()
            if missing and self.division.would_gain([trails[k] for k in missing]):
                joint, division = self.divided(trails, wanted | missing)
                if division.cost < self.division.cost:
                    self.joint, self.division = joint, division

    def divided(self, trails: dict, wanted: set) -> tuple:
        """The joint program and its division; wanted: numbers of the carries that the loops and branches in the body
        restore.
        """
        versions = [v for k in wanted & trails.keys() for v in trails[k].versions]
        joint = JointProgram(self.sweep, self.eqn, self.view.body, self.carried, self.index, trails=trails,
                             restoring=trails, counters=self.counters, final=self.final, demanded=versions)
        return joint, Division(joint, demanded(self.sweep, self.eqn), self._states(trails))

    def _final_reads(self, trails: dict) -> dict:
        if self.view.index is None:
            return {}
        changed = [k for k in trails if self.eqn.outputs[k] in self.sweep.trails]
        found = final_reads(self.eqn, trails, self.sweep.active, changed, self.sweep.env).items()
        return {eqn: part for eqn, part in found if eqn not in self.sweep.finals}

    def _states(self, trails: dict) -> dict:
        """{number of a carry: an iteration's share of the cost of its last value in the reverse sweep}.

        At the top it costs nothing. If the loop around restores it, it costs what is overwritten outside this loop.
        """
        if not is_inside_a_loop(current()):
            return {}
        iterations, costs = iterations_guess(self.eqn), {}
        for k, trail in trails.items():
            v = self.eqn.outputs[k]
            cost = self.sweep.trails[v] - trail.cost * iterations if v in self.sweep.trails else bytes_of(v)
            costs[k] = max(cost // max(iterations, 1), 1)
        return costs

    # -- the reverse sweep ---------------------------------------------------------------------------------------------

    def pull(self, backward: Callable) -> None:
        """Run the reverse sweep, if anything is asked of it.

        backward(carries) -> what they are after the first iteration: the cotangents of the carries, those of the
        variables around the loop, and the arrays to be restored.
        """
        sweep, outputs = self.sweep, self.eqn.outputs
        gs = take(sweep, self.eqn, self.carried)
        if gs is None:
            return
        self.ends = {part: part.of(sweep.env.read(outputs[part.number]), sweep.env) for part in self.joint.finals}
        arrays = [sweep.env.read(outputs[k]) for k in self.division.restored]
        self._finish(backward(gs + [total(sweep, v) for v in self.joint.totals_out] + arrays))

    def _finish(self, results: tuple) -> None:
        n, m = len(self.carried), len(self.carried) + len(self.joint.totals_out)
        self.sweep.cotangents.update(zip(self.joint.totals_out, results[n:m]))
        for k, g in zip(self.carried, results):
            self.sweep.add(self.view.init[k], g)
        for k, array in zip(self.division.restored, results[m:]):
            note_restored(self.sweep, self.view.init[k], self.eqn.outputs[k], array)

    def pulled_back(self, lead: list, carries: tuple, k: AnyArray, reader: Callable) -> list:
        """The carries after one iteration of the reverse loop; reader: see Division.run_reverse."""
        division, joint = self.division, self.joint
        env = division.environment(lead, ())
        env.update(self.counted(k))
        inputs = [g.atom for g in joint.gs] + [joint.totals[v].atom for v in joint.totals_out]
        inputs += [joint.histories[k].state.atom for k in division.restored]
        env.update(zip(inputs, carries))
        env.update((end.atom, self.ends[part]) for part, end in joint.finals.items())
        gxs, totals, arrays = division.run_reverse(env, reader)
        return gxs + totals + arrays

    def counted(self, k: object) -> dict:
        """The counters in the iteration number k."""
        read, carries, init = self.sweep.env.read, self.joint.carries, self.view.init
        return {carries[j].atom: c.at(k, read(init[j]), read(c.step)) for j, c in self.counters.items()}

    def reverse_links(self) -> tuple:
        """The links of the cotangents' extents that change from iteration to iteration: those of the forward loop."""
        place = {k: j for j, k in enumerate(self.carried)}
        return tuple([(place[k], axis, None) for k, axis, _ in self.eqn.params["extents"] if k in place])


# -- strategies: run(init) runs the loop forward, binds its results, and notes its pullback ---------------------------


class Checkpointed:
    """Segments that save what they start from."""

    def __init__(self, body: LoopBody, plan: CheckpointPlan):
        self.body, self.plan = body, plan

    def run(self, init: tuple) -> None:
        vjp_in_segments(self.body.sweep, self.body.eqn, self.plan, self.body.inner)


class Blocked:
    """Blocks that compute again what is saved; arrays are computed again, too, and not restored."""

    def __init__(self, body: LoopBody, blocks: BlockedSweeps):
        self.body, self.blocks = body, blocks

    @classmethod
    def of(cls, body: LoopBody, iterations: Iterations) -> "Blocked | None":
        """The loop in blocks, None where it had better save all that it needs."""
        joint, division = body.joint, body.division
        if division.restored and not body.has_loops and not is_inside_a_loop(current()):
            joint, division = body.divided({}, set())
        known = iterations._replace(index=joint.lead[0].atom)
        again = again_in_blocks(division, body.eqn, known)
        if again is None:
            return None
        body.joint, body.division = joint, division
        return cls(body, BlockedSweeps(body, again, known, body.lines()))

    def run(self, init: tuple) -> None:
        bind_outputs(self.body.eqn, self.blocks.forward(init, self.body.names), self.body.sweep.env)
        self.body.sweep.pullbacks.append(lambda: self.body.pull(self.blocks.backward))


class Taped:
    """Each iteration saves what its reverse iteration needs. iterations: None where their number is not known."""

    def __init__(self, body: LoopBody, iterations: "Iterations | None"):
        known = None if iterations is None else iterations._replace(index=body.joint.lead[0].atom)
        self.body, self.tape = body, Tape(body.division.saved, known, body.lines())

    def forward_step(self, lead: list, carries: tuple, k: AnyArray) -> list:
        """One iteration forward: carries and tape."""
        division, count = self.body.division, self.body.count
        outputs, values = division.run_forward(division.environment(lead, carries[:count]))
        return outputs + self.tape.push(list(carries[count:]), values, k)

    def reverse_step(self, lead: list, carries: tuple, k: AnyArray) -> list:
        """One iteration backward: carries and the stacks' pointers."""
        count = len(carries) - len(self.tape.pointers)
        reader = self.tape.reader(carries[count:], k)
        return self.body.pulled_back(lead, carries[:count], k, reader) + reader.state

    def links(self, offset: int) -> tuple:
        """The linked extents of carries and tape, the first of the tape's carries being number `offset`."""
        return self.body.eqn.params["extents"] + self.tape.links(offset)

    def finish_forward(self, results: tuple, tape: tuple, backward: Callable) -> None:
        """Bind the results, and let backward(carries) run in the reverse sweep, the stacks' pointers at their end."""
        bind_outputs(self.body.eqn, results, self.body.sweep.env)
        end = list(tape)
        self.body.sweep.pullbacks.append(
            lambda: self.body.pull(lambda carries: backward([*carries, *self.tape.start_reverse(end)])))


class TapedFor(Taped):
    """A counted loop."""

    def __init__(self, body: LoopBody, iterations: Iterations, stop: Extent):
        super().__init__(body, iterations)
        self.iterations, self.stop = iterations, stop

    def run(self, init: tuple) -> None:
        count, start, step, _ = self.iterations
        stop, n = self.stop, self.body.count

        def forward(i: AnyArray, *carries: AnyArray) -> list:
            return self.forward_step([i], carries, iteration_number(i, start, step))

        def backward(i: AnyArray, *carries: AnyArray) -> list:
            return self.reverse_step([i], carries, iteration_number(i, start, step))

        def sweep_back(carries: list) -> tuple:
            first = stop - step if isinstance(step, int) and abs(step) == 1 else start + (count - 1) * step
            bounds = [first, start - step, -step]
            return FOR.run_regions([*bounds, *carries], (backward,), extents=self.body.reverse_links())
        results = FOR.run_regions([start, stop, step, *init, *self.tape.init], (forward,), names=self.body.names,
                                  extents=self.links(n))
        self.finish_forward(results[:n], results[n:], sweep_back)


class TapedWhile(Taped):
    """A loop with a test: a count of the iterations is among its carries."""

    def __init__(self, body: LoopBody):
        super().__init__(body, None)
        self.test = closure(body.view.test, body.sweep.env)   # type: ignore[arg-type]

    def run(self, init: tuple) -> None:
        n, tape = self.body.count, self.tape
        results = (self._in_stretches if tape.grows else self._at_once)(init)
        iterations, saved = results[n], results[n + 1:]

        def backward(k: AnyArray, *carries: AnyArray) -> list:
            return self.reverse_step([], carries, k)

        def sweep_back(carries: list) -> tuple:
            return FOR.run_regions([iterations - 1, -1, -1, *carries], (backward,), extents=self.body.reverse_links())
        kept = tape.used(saved, iterations) if tape.grows and is_inside_a_loop(current()) else saved
        self.finish_forward(results[:n], tuple(kept), sweep_back)

    def _step(self, *carries: AnyArray) -> list:
        n = self.body.count
        done = self.forward_step([], carries[:n] + carries[n + 1:], carries[n])
        return done[:n] + [carries[n] + 1] + done[n:]

    def _goes_on(self, *carries: AnyArray) -> tuple:
        return self.test(*carries[:self.body.count])

    def _at_once(self, init: tuple) -> tuple:
        """The loop: its carries, the count of its iterations, its tape."""
        return WHILE.run_regions([*init, 0, *self.tape.init], (self._goes_on, self._step), names=self.body.names,
                                 extents=self.links(self.body.count + 1))

    def _in_stretches(self, init: tuple) -> tuple:
        """The same as a loop of stretches; before each, the rows double."""
        n, tape, names = self.body.count, self.tape, self.body.names

        def stretch(*carries: AnyArray) -> tuple:
            count, room = carries[n:n + 2]
            room = registry["where"](count < room, room, room * 2)

            def more(*inner: AnyArray) -> AnyArray:
                return registry["logical_and"](inner[n] < room, self._goes_on(*inner)[0])
            kept = tape.grown(list(carries[n + 2:]), room)
            begun = [*carries[:n + 1], *kept]
            done = WHILE.run_regions(begun, (more, self._step), names=names, extents=self.links(n + 1))
            return *done[:n + 1], room, *done[n + 1:]
        extents = self.body.eqn.params["extents"] + tape.links(n + 2, room=n + 1)
        begun = [*init, 0, FIRST_EXTENT, *tape.init]
        results = WHILE.run_regions(begun, (self._goes_on, stretch), names=names, extents=extents)
        return *results[:n + 1], *results[n + 2:]


# -- the ops ----------------------------------------------------------------------------------------------------------


def vjp_for(sweep: ReverseSweep, eqn: Equation) -> None:
    if not active_outputs(sweep, eqn):
        run_equation(eqn, sweep.env)
        return
    view = LoopView(eqn)
    start, stop, step = [integer(sweep.env.read(a)) for a in view.bounds]
    init = tuple(map(sweep.env.read, view.init))
    at_once = AtOnce.of(sweep, eqn)
    if at_once is not None and at_once.is_of_lanes:
        at_once.run([start, stop, step], init)
        return
    body = LoopBody(sweep, eqn, lambda builder: (loop_index(builder, start, stop, step),))
    if at_once is not None and at_once.is_better_than(body.division.saved):
        at_once.run([start, stop, step], init)
        return
    iterations = Iterations(trip_count(start, stop, step), start, step)
    plan = body.plan(iterations.count)
    strategy: Any = Checkpointed(body, plan) if plan is not None else Blocked.of(body, iterations)
    (strategy or TapedFor(body, iterations, stop)).run(init)


def vjp_while(sweep: ReverseSweep, eqn: Equation) -> None:
    if not active_outputs(sweep, eqn):
        run_equation(eqn, sweep.env)
        return
    init = tuple(map(sweep.env.read, eqn.inputs))
    body = LoopBody(sweep, eqn, None)
    plan = body.plan(None)
    (TapedWhile(body) if plan is None else Checkpointed(body, plan)).run(init)
